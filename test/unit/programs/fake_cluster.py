"""A cluster that has just what it is given, for tests of what liqoctl says and asks."""

import json
import os
import pathlib
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import yaml

LIQOCTL = pathlib.Path(
    os.environ.get("LIQOCTL", pathlib.Path(__file__).resolve().parents[3] / "build/release/services/liqoctl/liqoctl")
)
COLLECTION = re.compile(r"/(api|apis/[^/]+)/[^/]+(/namespaces/[^/]+)?/[^/]+")
AUTHENTICATION = "/apis/authentication.liqo.io/v1beta1"
OFFLOADING = "/apis/offloading.liqo.io/v1beta1"


def liqoctl(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs it without a terminal."""
    return subprocess.run(
        [LIQOCTL, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )


class FakeCluster:
    """What its API server answers with: objects by their paths, lists of those below a path. Selectors of labels pick
    by what a label is to be, where `selects` is set, and all selectors pick all otherwise. Everybody may do everything.
    """

    selects = False

    def __init__(self, name: str, ahead: int = 0):
        self.name, self.ahead = name, ahead  # by so many seconds its clock
        self.objects: dict[str, dict] = {}
        self.forbidden: set[str] = set()  # lists
        self.endless: set[str] = set()  # lists that begin, go on, and never end
        self.unknown: set[str] = set()  # lists of kinds that it does not have
        self.locked = False  # it knows nobody
        self.broken: set[str] = set()  # reading these breaks the connection
        self.unreviewed = ""  # the webhook that no change can be asked for
        self.asked: list[str] = []
        self.tokens: set[str | None] = set()  # what reads were authorised by
        self.before_reading: Callable[[str], None] = lambda path: None
        self.add("/api/v1", "ConfigMap", "configmaps", "liqo-clusterid-configmap", "liqo", data={"CLUSTER_ID": name})

    def add(
        self, group: str, kind: str, plural: str, name: str, ns: str = "", labels: object = None, **rest: object
    ) -> None:
        path = f"{group}/namespaces/{ns}/{plural}/{name}" if ns else f"{group}/{plural}/{name}"
        version = group.removeprefix("/apis/").removeprefix("/api/")
        metadata = {"name": name, "uid": path, "labels": labels or {}} | ({"namespace": ns} if ns else {})
        self.objects[path] = {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}

    def add_tenant_namespace(self, peer: str) -> str:
        labels = {"liqo.io/remote-cluster-id": peer, "liqo.io/tenant-namespace": "true"}
        self.add("/api/v1", "Namespace", "namespaces", f"liqo-tenant-{peer}", labels=labels)
        return f"liqo-tenant-{peer}"

    def listed(self, path: str) -> list[dict]:
        """What is in a collection, in one namespace or in all."""

        def collections(one: str) -> tuple[str, str]:
            collection = one.rpartition("/")[0]
            return collection, re.sub(r"/namespaces/[^/]+(?=/)", "", collection)

        return [tree for one, tree in self.objects.items() if path in collections(one)]

    def selected(self, items: list[dict], query: str) -> list[dict]:
        """Those that have the labels that a query names, and its `key=value`."""
        wanted = parse_qs(query).get("labelSelector", [""])[0] if self.selects else ""

        def has(labels: dict, one: str) -> bool:
            key, is_equal, value = one.partition("=")
            return labels.get(key) == value if is_equal else key in labels

        def is_wanted(item: dict) -> bool:
            labels = item["metadata"].get("labels") or {}
            return all(has(labels, one) for one in wanted.split(",") if one)

        return [item for item in items if is_wanted(item)]

    @contextmanager
    def served(self, kubeconfig: pathlib.Path) -> Iterator[pathlib.Path]:
        """Answers until the end of the block to whoever uses the kubeconfig that this writes."""
        with ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self)) as server:
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            document = {
                "kind": "Config",
                "apiVersion": "v1",
                "clusters": [{"name": self.name, "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                "users": [{"name": self.name, "user": {}}],
                "contexts": [{"name": self.name, "context": {"cluster": self.name, "user": self.name}}],
                "current-context": self.name,
            }
            kubeconfig.write_text(yaml.safe_dump(document))
            yield kubeconfig
            server.shutdown()


def merged(into: object, patch: object) -> object:
    """By RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    out = dict(into) if isinstance(into, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


def handler_of(cluster: FakeCluster) -> type[BaseHTTPRequestHandler]:
    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def date_time_string(self, timestamp: float | None = None) -> str:
            return formatdate(time.time() + cluster.ahead, usegmt=True)

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            cluster.asked.append(path)
            cluster.tokens.add(self.headers.get("Authorization"))
            cluster.before_reading(path)
            if cluster.locked:
                self.fail(401, "Unauthorized")
            elif path in cluster.unknown:
                self.answer(404, {"kind": "Status", "apiVersion": "v1", "code": 404, "message": "404 page not found"})
            elif path in cluster.forbidden:
                self.fail(403, "Forbidden")
            elif path in cluster.endless:
                self.go_on_for_ever()
            elif path in cluster.broken:
                self.close_connection = True
            elif path in cluster.objects:
                self.answer(200, cluster.objects[path])
            elif COLLECTION.fullmatch(path):
                items = cluster.selected(cluster.listed(path), query)
                self.answer(200, {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items})
            else:
                self.fail(404, "NotFound")

        def do_POST(self) -> None:
            written = self.body()
            if "/selfsubjectaccessreviews" in self.path:
                self.answer(201, {**written, "status": {"allowed": True}})
                return
            path = f"{self.path.partition('?')[0]}/{written['metadata']['name']}"
            written["metadata"]["uid"] = path
            cluster.objects[path] = written
            self.answer(201, written)

        def do_PUT(self) -> None:
            path = self.path.partition("?")[0]
            if cluster.unreviewed:
                self.body()
                post = f'Post "https://liqod.liqo.svc:443/{cluster.unreviewed}?timeout=10s"'
                said = f'failed calling webhook "{cluster.unreviewed}": failed to call webhook: {post}: '
                message = f"Internal error occurred: {said}dial tcp 10.96.0.9:443: connect: connection refused"
                self.answer(500, {"kind": "Status", "apiVersion": "v1", "code": 500, "message": message})
                return
            cluster.objects[path] = self.body()
            self.answer(200, cluster.objects[path])

        def do_PATCH(self) -> None:
            """Any patch is merged; with dryRun, nothing is stored."""
            path, _, query = self.path.partition("?")
            patch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            there = merged(cluster.objects.get(path, {}), patch)
            if "dryRun" not in query:
                cluster.objects[path] = there
            self.answer(200, there)

        def do_DELETE(self) -> None:
            # What has finalizers would go later; nobody takes them off here.
            if length := int(self.headers.get("Content-Length", 0)):
                self.rfile.read(length)
            path = self.path.partition("?")[0]
            there = cluster.objects.get(path)
            if there is None:
                self.fail(404, "NotFound")
                return
            if not there["metadata"].get("finalizers"):
                del cluster.objects[path]
            self.answer(200, there)

        def body(self) -> dict:
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

        def fail(self, code: int, reason: str) -> None:
            self.answer(code, {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason})

        def answer(self, code: int, body: dict) -> None:
            content = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def go_on_for_ever(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.close_connection = True
            try:
                self.wfile.write(b'{"kind":"List","apiVersion":"v1","metadata":{},"items":[')
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.1)
            except OSError:
                pass  # whoever has asked is gone

        def log_message(self, *_: object) -> None:
            pass

    return Answers
