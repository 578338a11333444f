"""A small client of a cluster's API server: JSON over one kept connection per thread, from inside its network.

It is what makes stories quick: kubectl costs a process and a discovery per call, this costs about a millisecond.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from ..wait import patient
from .namespace import Namespace
from .pki import Pair

# Where each resource that stories touch is served.
GROUPS = {
    "v1": "configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods resourcequotas "
    "secrets serviceaccounts services",
    "admissionregistration.k8s.io/v1": "mutatingwebhookconfigurations validatingwebhookconfigurations",
    "apiregistration.k8s.io/v1": "apiservices",
    "apps/v1": "daemonsets deployments replicasets statefulsets",
    "autoscaling/v2": "horizontalpodautoscalers",
    "batch/v1": "jobs",
    "certificates.k8s.io/v1": "certificatesigningrequests clustertrustbundles podcertificaterequests",
    "coordination.k8s.io/v1": "leases",
    "discovery.k8s.io/v1": "endpointslices",
    "networking.k8s.io/v1": "ingresses networkpolicies",
    "node.k8s.io/v1": "runtimeclasses",
    "policy/v1": "poddisruptionbudgets",
    "rbac.authorization.k8s.io/v1": "clusterroles clusterrolebindings roles rolebindings",
    "storage.k8s.io/v1": "csinodes storageclasses",
    "apiextensions.k8s.io/v1": "customresourcedefinitions",
    "offloading.liqo.io/v1beta1": "namespacemaps namespaceoffloadings quotas shadowendpointslices "
    "shadowpods virtualnodes vkoptionstemplates",
    "example.org/v1": "gears widgets",  # of the stories about custom resources
    "shop.example/v1": "deliveries",
    "core.liqo.io/v1beta1": "foreignclusters",
    "ipam.liqo.io/v1alpha1": "ips networks",
    "networking.liqo.io/v1beta1": "configurations",
    "authentication.liqo.io/v1beta1": "identities renews resourceslices tenants",
}
_VERSION_OF = {resource: version for version, names in GROUPS.items() for resource in names.split()}

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


def path(resource: str, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
    """The path of a collection, an object or a subresource, e.g. path("pods", "default", "one", "log")."""
    version = _VERSION_OF[resource]
    parts = ["apis" if "/" in version else "api", version]
    parts += ["namespaces", namespace] if namespace else []
    parts += [part for part in (resource, name, subresource) if part]
    return "/" + "/".join(parts)


class Refused(AssertionError):
    """The API server answered with a failure: its code, reason and words."""

    def __init__(self, method: str, where: str, code: int, status: dict):
        self.code, self.reason, self.status = code, status.get("reason", ""), status
        super().__init__(f"{method} {where}: {code} {self.reason}: {status.get('message', status)}")


class Api:
    """Requests as one user: a certificate, a token, or nobody. Safe to use from many threads."""

    def __init__(self, space: Namespace, address: str, port: int, authority: Path, user: Pair | str | None):
        self._space, self._address, self._port = space, address, port
        self._tls = ssl.create_default_context(cafile=str(authority))
        self._headers: dict[str, str] = {}
        if isinstance(user, str):
            self._headers["Authorization"] = f"Bearer {user}"
        elif user:
            self._tls.load_cert_chain(user.certificate, user.key)
        self._connections = threading.local()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        kept = getattr(self._connections, "kept", None)
        if kept is None:
            kept = http.client.HTTPConnection(self._address, self._port, timeout=timeout)
            raw = self._space.connect(self._address, self._port, timeout)
            kept.sock = self._tls.wrap_socket(raw, server_hostname=self._address)
            self._connections.kept = kept
        kept.sock.settimeout(timeout)
        return kept

    def _drop(self) -> None:
        if kept := getattr(self._connections, "kept", None):
            kept.close()
        self._connections.kept = None

    def raw(
        self,
        method: str,
        where: str,
        body: bytes | None = None,
        kind: str = "application/json",
        *,
        timeout: float = 30,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """One request; returns the status code and the body. A kept connection that has died is replaced once."""
        headers = {
            "Accept": "application/json, */*",
            **self._headers,
            **(headers or {}),
            **({"Content-Type": kind} if body is not None else {}),
        }
        fresh, timeout = getattr(self._connections, "kept", None) is None, patient(timeout)
        while True:
            try:
                connection = self._connection(timeout)
                connection.request(method, where, body, headers)
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (http.client.HTTPException, OSError) as error:
                self._drop()
                if fresh or isinstance(error, TimeoutError):
                    raise OSError(f"{method} {where}: {type(error).__name__}: {error}") from error
                fresh = True

    def request(
        self,
        method: str,
        where: str,
        body: object = None,
        kind: str = "application/json",
        *,
        timeout: float = 30,
        query: Mapping[str, object] | None = None,
    ) -> dict:
        """One request with JSON in and out; raises Refused on 400 and above. `query` goes into the URL."""
        if query:
            where += "?" + urlencode(query)
        data = None if body is None else json.dumps(body).encode()
        code, data = self.raw(method, where, data, kind, timeout=timeout)
        try:
            answer = json.loads(data) if data else {}
        except ValueError:
            answer = {"message": data.decode(errors="replace")}
        if code >= 400:
            raise Refused(method, where, code, answer if isinstance(answer, dict) else {"message": answer})
        return answer

    def get(self, resource: str, namespace: str | None = None, name: str | None = None) -> dict:
        return self.request("GET", path(resource, namespace, name))

    def find(self, resource: str, namespace: str | None, name: str) -> dict | None:
        """The object, or None if there is none."""
        try:
            return self.get(resource, namespace, name)
        except Refused as refusal:
            if refusal.code == 404:
                return None
            raise

    def list(self, resource: str, namespace: str | None = None, selector: str = "", fields: str = "") -> list[dict]:
        query = {key: value for key, value in (("labelSelector", selector), ("fieldSelector", fields)) if value}
        return self.request("GET", path(resource, namespace), query=query)["items"]

    def create(self, resource: str, namespace: str | None, body: dict) -> dict:
        body = {"apiVersion": _VERSION_OF[resource], **body}
        return self.request("POST", path(resource, namespace), body)

    def patch(
        self,
        resource: str,
        namespace: str | None,
        name: str,
        body: object,
        subresource: str | None = None,
        *,
        kind: str = MERGE,
    ) -> dict:
        return self.request("PATCH", path(resource, namespace, name, subresource), body, kind)

    def apply(self, resource: str, namespace: str | None, body: dict, subresource: str | None = None) -> dict:
        """Server-side apply, so that a story can be run again over what an earlier one left."""
        body = {"apiVersion": _VERSION_OF[resource], **body}
        where = path(resource, namespace, body["metadata"]["name"], subresource)
        return self.request("PATCH", where, body, APPLY, query={"fieldManager": "liqo-test", "force": "true"})

    def delete(self, resource: str, namespace: str | None, name: str, grace: int | None = None) -> None:
        """Deletes; an object that is gone already is fine."""
        query = {} if grace is None else {"gracePeriodSeconds": grace}
        try:
            self.request("DELETE", path(resource, namespace, name), query=query)
        except Refused as refusal:
            if refusal.code != 404:
                raise

    def delete_all(self, resource: str, namespace: str, grace: int | None = None) -> None:
        """Deletes every object of a kind in a namespace."""
        query = {} if grace is None else {"gracePeriodSeconds": grace}
        self.request("DELETE", path(resource, namespace), query=query)

    def healthy(self, what: str = "readyz") -> bool:
        """Whether the server answers /readyz (or /livez) with 200; no answer is a no."""
        try:
            return self.raw("GET", f"/{what}", timeout=3)[0] == 200
        except OSError:
            return False
