"""A small Ingress controller for the stories: rules for hosts, served by HAProxy at the address of the cluster.

It sends requests to the Services' addresses, as a controller does that leaves balancing to the cluster's proxy, and
tries nothing twice, so that its customers see whatever fails.
"""

from __future__ import annotations

import threading
from typing import Any

from .cluster import Cluster

PORT = 80
_HEAD = """\
global
    maxconn 512
defaults
    mode http
    retries 0
    timeout connect 2s
    timeout client 10s
    timeout server 10s
frontend customers
    bind {address}:{port}
"""


class Controller:
    """Looks at the Ingresses of a cluster twice a second until it is closed."""

    def __init__(self, cluster: Cluster):
        self._cluster = cluster
        self._config = cluster.directory / "haproxy.cfg"
        self._served = ""
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ends.set()
        self._thread.join()
        if "haproxy" in self._cluster.processes:
            self._cluster.kill("haproxy")

    def _run(self) -> None:
        while not self._ends.wait(0.5):
            try:
                self._look()
            except (AssertionError, OSError, LookupError):
                continue  # the API server is away, or an Ingress names what is not there: it is asked again

    def _look(self) -> None:
        ingresses = self._cluster.api.list("ingresses")
        wanted = self._configuration(ingresses)
        if wanted == self._served:
            return
        self._config.write_text(wanted)
        if "haproxy" in self._cluster.processes:
            self._cluster.kill("haproxy")
        self._cluster.run_component("haproxy", ["haproxy", "-db", "-f", self._config])
        self._served = wanted
        for ingress in ingresses:
            where = ingress["metadata"]
            status = {"status": {"loadBalancer": {"ingress": [{"ip": self._cluster.address}]}}}
            self._cluster.api.patch("ingresses", where["namespace"], where["name"], status, "status")

    def _configuration(self, ingresses: list[dict[str, Any]]) -> str:
        front, back = _HEAD.format(address=self._cluster.address, port=PORT), ""
        for ingress in ingresses:
            namespace = ingress["metadata"]["namespace"]
            for rule in ingress["spec"].get("rules", []):
                for route in rule["http"]["paths"]:
                    service = route["backend"]["service"]
                    address = self._cluster.api.get("services", namespace, service["name"])["spec"]["clusterIP"]
                    name = f"{namespace}-{ingress['metadata']['name']}-{service['name']}"
                    match = f"{{ hdr(host) {rule['host']} }} {{ path_beg {route['path']} }}"
                    front += f"    use_backend {name} if {match}\n"
                    back += f"backend {name}\n    server service {address}:{service['port']['number']}\n"
        return front + back
