"""A provider that holds each exec for as long as a story wants, and then refuses it.

It stands between a consumer and the API server of a provider. Connections that speak HTTP/2 pass through as they are;
those that offer HTTP/1.1 only are upgrades, which it answers itself, with the certificate of that API server. A client
that only connects to see whether it is there gets its answer at once.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
import threading

import yaml

from ..cluster.cluster import PORT
from ..liqo.peering import Peering

_REFUSAL = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}


class SlowExec:
    """Between the clusters of `peering`; `kubeconfig` leads the consumer here. `asked` counts the attempts at exec."""

    def __init__(self, peering: Peering):
        self._provider = peering.provider
        self._server = peering.consumer.space.listen(peering.consumer.address)
        self.asked = 0
        self._may_answer = threading.Event()
        pki = self._provider.directory / "pki"
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._tls.load_cert_chain(pki / "apiserver.crt", pki / "apiserver.key")
        config = yaml.safe_load(peering.kubeconfig())
        host, port = self._server.getsockname()
        config["clusters"][0]["cluster"] |= {"server": f"https://{host}:{port}", "tls-server-name": "kubernetes"}
        self.kubeconfig = yaml.safe_dump(config)
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        """From now on no exec is answered."""
        self._may_answer.clear()

    def answer(self) -> None:
        """Refuses what is held, and all that comes."""
        self._may_answer.set()

    def close(self) -> None:
        self.answer()
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with client:
                # The ClientHello names the protocols in clear text.
                if b"\x02h2" in client.recv(16384, socket.MSG_PEEK):
                    self._pass(client)
                else:
                    self._refuse(client)
        except OSError:
            pass  # whoever has gone is told nothing

    def _pass(self, client: socket.socket) -> None:
        with self._provider.space.connect(self._provider.address, PORT) as server:
            server.settimeout(None)
            ways = {client: server, server: client}
            while True:
                for side in select.select(list(ways), [], [])[0]:
                    data = side.recv(65536)
                    if not data:
                        return
                    ways[side].sendall(data)

    def _refuse(self, client: socket.socket) -> None:
        with self._tls.wrap_socket(client, server_side=True) as stream:
            head = b""
            while b"\r\n\r\n" not in head:
                data = stream.recv(4096)
                if not data:
                    return
                head += data
            if b"/exec?" not in head:  # whether it is there at all
                stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                return
            self.asked += 1
            self._may_answer.wait(60)
            body = json.dumps({**_REFUSAL, "message": f"refused on attempt {self.asked}"}).encode()
            stream.sendall(
                b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nConnection: close\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
            )
