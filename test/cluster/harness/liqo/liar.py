"""A provider that is an API server only in name: whatever a story says stands in its lists, and all else is empty."""

from __future__ import annotations

import gzip
import json
import re
import ssl
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..cluster.cluster import Cluster
from ..wait import wait_for
from .peering import Peering

MIB = 1 << 20
_ITEMS = re.compile(r"/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/[^/]+)?/([a-z]+)(?:\?|$)")
_BEGIN, _END = b'{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[', b"]}"


def packed_list(item: bytes, least: int = 0) -> bytes:
    """A list of that item (JSON), as often as it takes to have more than so many bytes of text; as gzip."""
    packer, piece = zlib.compressobj(1, wbits=31), (item + b",") * max(1, min(least, MIB) // len(item))
    packed = [packer.compress(_BEGIN)]
    packed += [packer.compress(piece) for _ in range(least // len(piece))]
    return b"".join([*packed, packer.compress(item + _END), packer.flush()])


EMPTY = gzip.compress(_BEGIN + _END)


class Liar:
    """A provider of that name in the network of `host`, to which `consumer` has a virtual node.

    `lists` has its answers (gzip), by plural: whatever is asked for, and however much of it (`limit`), gets the same.
    """

    def __init__(self, name: str, host: Cluster, consumer: Cluster):
        self.name, self.pod_cidr = name, "10.250.0.0/16"
        self.authority = host.authority
        self._identity = f"kubeconfig-controlplane-{name}"
        self.lists: dict[str, bytes] = {}
        # When each list was asked for, and by which path.
        self.asked: list[tuple[float, str]] = []
        self._over = threading.Event()
        pair = host.authority.issue(name, "kube-apiserver", names=[f"IP:{host.address}"])
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(pair.certificate, pair.key)
        listener = host.space.listen(host.address)
        self.server = f"https://{host.address}:{listener.getsockname()[1]}"
        self._http = ThreadingHTTPServer((host.address, 0), _answers_of(self), bind_and_activate=False)
        self._http.socket.close()
        self._http.daemon_threads = True
        self._http.socket = context.wrap_socket(listener, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.peering = Peering(consumer, self, node=name)  # type: ignore[arg-type]  # as much of one as it needs

    def times(self, plural: str) -> list[float]:
        """When its lists of that kind were asked for."""
        return [at for at, where in self.asked if f"/{plural}?" in where]

    def show_twin(self, namespace: str) -> None:
        """Says that the twin is there that the consumer wants of its namespace."""
        api, peering = self.peering.consumer.api, self.peering

        def wish() -> str:
            return api.get("namespacemaps", peering.home, self.name)["spec"]["desiredMapping"][namespace]

        twin = wait_for(wish, 30, f"{namespace} to be wanted at {self.name}")
        current = {"currentMapping": {namespace: {"remoteNamespace": twin, "phase": "Accepted"}}}
        api.patch("namespacemaps", peering.home, self.name, {"status": current}, "status")

    def replicate(self) -> None:
        """Has the consumer replicate its slices and maps, and read what became of them."""
        labels = {"liqo.io/identity-type": "ControlPlane", "liqo.io/remote-cluster-id": self.name}
        metadata = {"name": self._identity, "labels": labels}
        metadata["annotations"] = {"liqo.io/remote-tenant-namespace": self.peering.away}
        data = {"kubeconfig": self.peering.kubeconfig()}
        body = {"kind": "Secret", "metadata": metadata, "stringData": data}
        self.peering.consumer.api.create("secrets", self.peering.home, body)

    def leave(self) -> None:
        """Takes away what the consumer has of it, and ends."""
        self.lists.clear()
        peering, api = self.peering, self.peering.consumer.api
        peering.dissolve()
        wait_for(lambda: peering.node_object() is None, 60, f"the node {self.name} to be gone")
        api.delete("secrets", peering.home, self._identity)
        wait_for(lambda: api.find("secrets", peering.home, self._identity) is None, 60, "its identity to go")
        self._over.set()
        self._http.shutdown()
        self._http.socket.close()

    def answer(self, where: str) -> tuple[int, bytes]:
        """Status and gzip of what a GET is answered, which is no watch."""
        if kind := _ITEMS.match(where):
            self.asked.append((time.monotonic(), where))
            return 200, self.lists.get(kind[1], EMPTY)
        if where.startswith("/api"):
            return 404, _status(404, "NotFound")
        return 200, gzip.compress(b'{"major":"1","minor":"34","gitVersion":"v1.34.0"}')

    def watches(self) -> None:
        """A watch lasts until all is over; nothing happens."""
        self._over.wait()


def _status(code: int, reason: str) -> bytes:
    return gzip.compress(json.dumps({"kind": "Status", "status": "Failure", "reason": reason, "code": code}).encode())


def _answers_of(liar: Liar) -> type[BaseHTTPRequestHandler]:
    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if "watch=" not in self.path:
                return self._send(*liar.answer(self.path))
            if "sendInitialEvents=" in self.path:
                return self._send(400, _status(400, "BadRequest"))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.flush()
            return liar.watches()

        def do_POST(self) -> None:
            """Whatever is asked is allowed, and whatever is written is stored, it says."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            body.setdefault("metadata", {}).update(uid="1", resourceVersion="1")
            if body.get("kind", "").endswith("Review"):
                body["status"] = {"allowed": True}
            self._send(201, gzip.compress(json.dumps(body).encode()))

        do_PATCH = do_PUT = do_POST  # noqa: N815 (the names are http.server's)

        def do_DELETE(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._send(404, _status(404, "NotFound"))

        def _send(self, code: int, packed: bytes) -> None:
            takes_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
            body = packed if takes_gzip else gzip.decompress(packed)
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            if takes_gzip:
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                self.close_connection = True  # it has read enough

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    return Answers
