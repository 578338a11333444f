"""A provider whose clock is an hour off is reported where people look, and other providers go on."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from harness.cluster import pki
from harness.cluster.cluster import Cluster
from harness.cluster.pki import encoded
from harness.tools.liqoctl import Liqoctl
from harness.wait import wait_for

HOME = "liqo-tenant-florence"


class Florence:
    """An API server in milan's network that has nothing, and a clock of its own."""

    def __init__(self, milan: Cluster):
        self.ahead = 3600
        pair = milan.authority.issue("florence", "kube-apiserver", names=[f"IP:{milan.address}"])
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(pair.certificate, pair.key)
        listener = milan.space.listen(milan.address)
        self.url = f"https://{milan.address}:{listener.getsockname()[1]}"
        outer = self

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def date_time_string(self, timestamp: float | None = None) -> str:
                return formatdate(time.time() + outer.ahead, usegmt=True)

            def do_GET(self) -> None:
                empty = {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}
                body = b"" if "watch=" in self.path else json.dumps(empty).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer((milan.address, 0), Answers, bind_and_activate=False)
        self.server.socket.close()
        self.server.socket = context.wrap_socket(listener, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.socket.close()


@pytest.fixture
def florence(milan: Cluster) -> Iterator[Florence]:
    made = Florence(milan)
    yield made
    made.close()


def test_a_provider_whose_clock_is_off_is_told_of_until_it_is_right(
    daemons, rome: Cluster, milan: Cluster, florence: Florence
) -> None:
    daemon = daemons.of(rome)
    rome.namespace(HOME, {"liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "florence"})
    kubeconfig = pki.kubeconfig(florence.url, milan.authority.pair.certificate, {"token": "x"}, "florence")
    labels = {"liqo.io/identity-type": "ControlPlane", "liqo.io/remote-cluster-id": "florence"}
    marks = {"liqo.io/remote-tenant-namespace": "liqo-tenant-rome"}
    metadata = {"name": "kubeconfig-controlplane-florence", "labels": labels, "annotations": marks}
    data = {"kubeconfig": encoded(kubeconfig)}
    rome.api.create("secrets", HOME, {"kind": "Secret", "metadata": metadata, "data": data})

    def condition() -> dict[str, str]:
        found = rome.api.find("foreignclusters", None, "florence") or {}
        conditions = found.get("status", {}).get("conditions", [])
        return next((one for one in conditions if one["type"] == "APIServerStatus"), {"message": ""})

    words = "its clock is 60 min ahead of ours"
    try:
        seen = wait_for(lambda: words in condition()["message"] and condition(), 60, "the ForeignCluster to tell of it")
        assert (seen["status"], seen["reason"]) == ("Established", "APIServerReady")
        assert words in Liqoctl(rome)("info")
        assert words in Liqoctl(rome)("info", "peer", "florence")
        checked = Liqoctl(rome).attempt("check")
        assert checked.code == 1 and any(
            line.startswith("✖ peer florence") and words in line for line in checked.out.splitlines()
        ), checked.out
        assert daemon.log().count("the clocks do not agree") == 1, "one line"
        ahead = daemon.metrics()['kube_server_clock_ahead_seconds{host="florence"}']
        # An answer that is read some seconds late makes the clock look that much less ahead.
        assert ahead == pytest.approx(3600, abs=25)
        florence.ahead = 0
        wait_for(lambda: condition()["message"] and "clock" not in condition()["message"], 90, "it to be right again")
        assert daemon.log().count("the clocks agree again") == 1
    finally:
        rome.api.delete("secrets", HOME, metadata["name"])
        wait_for(lambda: rome.api.find("secrets", HOME, metadata["name"]) is None, 60, "the Secret to go")
        rome.api.delete("namespaces", None, HOME)
