"""A small web shop in one file: `shop.py frontend` asks the catalog, `shop.py catalog` asks the stock.

Each answer names the node that gave it, so that one sees where a request went. Nothing is tried again.
"""

from __future__ import annotations

import hmac
import os
import signal
import socket
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NODE = os.environ.get("NODE", "nowhere")
PASSWORD = Path("/secrets/password")
PRICES = Path("/prices")
APPLES = 12
# A request that takes longer has failed.
SECONDS = 2.0


def ask(url: str, password: str = "") -> str:
    """What another part of the shop answers."""
    request = urllib.request.Request(url, headers={"X-Password": password} if password else {})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return answer.read().decode().strip()


def stock(path: str, password: str) -> str:
    if not hmac.compare_digest(password, PASSWORD.read_text()):
        raise PermissionError("the password is wrong")
    return f"{APPLES} apples"


def catalog(path: str, _: str) -> str:
    apples = ask("http://stock:8080/", PASSWORD.read_text())
    return f"{NODE} has {apples} at {(PRICES / 'apples').read_text().strip()}"


def frontend(path: str, _: str) -> str:
    if path == "/each":
        found = {entry[4][0] for entry in socket.getaddrinfo("catalog-pods", 8080, type=socket.SOCK_STREAM)}
        return "\n".join(sorted(ask(f"http://{address}:8080/") for address in found))
    return ask("http://catalog/")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        code, text = 200, "ready"
        if self.path != "/ready":
            try:
                text = PART(self.path, self.headers.get("X-Password", ""))
            except PermissionError as error:
                code, text = 403, str(error)
            except OSError as error:
                code, text = 502, f"{sys.argv[1]} on {NODE}: {error}"
        body = f"{text}\n".encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Requests are not logged."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


PART = {"frontend": frontend, "catalog": catalog, "stock": stock}[sys.argv[1]]
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
Server(("", 8080), Handler).serve_forever()
