"""`liqoctl peer` compares the clocks of the two clusters, as their API servers date what they answer."""

import json
import os
import pathlib
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIQOCTL = pathlib.Path(os.environ.get("LIQOCTL", ROOT / "build/release/services/liqoctl/liqoctl"))

pytestmark = pytest.mark.skipif(not LIQOCTL.exists(), reason="liqoctl is not built")


@contextmanager
def api_server(cluster: str, ahead: int, kubeconfig: pathlib.Path) -> Iterator[pathlib.Path]:
    """One that has the ID of its cluster and nothing else, with a clock that is so many seconds ahead."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def date_time_string(self, timestamp: float | None = None) -> str:
            return formatdate(time.time() + ahead, usegmt=True)

        def do_GET(self) -> None:
            path, _, _ = self.path.partition("?")
            status, body = 404, {"kind": "Status", "apiVersion": "v1", "code": 404, "reason": "NotFound"}
            if path.endswith("/configmaps/liqo-clusterid-configmap"):
                metadata = {"namespace": "liqo", "name": "liqo-clusterid-configmap"}
                status, body = 200, {"metadata": metadata, "data": {"CLUSTER_ID": cluster}}
            elif path.endswith(("/namespaces", "/configmaps", "/nodes", "/foreignclusters")):
                status, body = 200, {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []}
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        named = {"cluster": cluster, "user": cluster}
        document = {
            "kind": "Config",
            "apiVersion": "v1",
            "clusters": [{"name": cluster, "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
            "users": [{"name": cluster, "user": {}}],
            "contexts": [{"name": cluster, "context": named}],
            "current-context": cluster,
        }
        kubeconfig.write_text(yaml.safe_dump(document))
        yield kubeconfig
        server.shutdown()


@pytest.mark.parametrize(
    ("at_home", "there", "told"),
    [
        (0, 3600, "its clock is 60 min ahead of that of rome"),
        (0, -7200, "its clock is 120 min behind that of rome"),
        # Whose clock is right does not matter: that of whoever types it may be the one that is off.
        (3600, 0, "its clock is 60 min behind that of rome"),
        (3600, 3600, None),
        (0, 0, None),
    ],
)
def test_clocks_that_do_not_agree_are_told_of(
    tmp_path: pathlib.Path, at_home: int, there: int, told: str | None
) -> None:
    with (
        api_server("rome", at_home, tmp_path / "rome.yaml") as consumer,
        api_server("milan", there, tmp_path / "milan.yaml") as provider,
    ):
        command = [LIQOCTL, "peer", "--kubeconfig", consumer, "--remote-kubeconfig", provider, "--dry-run"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False
        )
    lines = [line for line in done.stderr.splitlines() if "clock" in line]
    # What it would do comes after the clocks were compared.
    assert "authentication-keys" in done.stderr + done.stdout, done.stderr
    assert len(lines) == (0 if told is None else 1), done.stderr
    if told:
        assert told in lines[0]
        assert "milan" in lines[0]
        assert "synchronise the clocks of both clusters" in lines[0]
