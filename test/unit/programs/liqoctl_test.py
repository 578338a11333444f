"""Output and exit code of liqoctl as a process, while no cluster answers. test/unit/liqoctl has its commands."""

import pathlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
import yaml
from program import LIQOCTL, liqoctl

pytestmark = pytest.mark.skipif(not LIQOCTL.exists(), reason="liqoctl is not built")


def test_the_help_says_which_class_a_slice_gets() -> None:
    told = {verb: " ".join(liqoctl(verb, "resourceslice", "--help").stdout.split()) for verb in ("create", "generate")}
    assert "at the provider (a slice keeps its own; a new one gets default)" in told["create"]
    assert "at the provider (default default)" in told["generate"]
    assert "kubectl edit rslice NAME -n NAMESPACE" in told["create"]


def test_a_file_that_is_not_there_is_told_as_such(tmp_path: pathlib.Path) -> None:
    missing = tmp_path / "milan.yaml"
    done = liqoctl("info", "--kubeconfig", missing)
    assert done.returncode == 1 and f"there is no file {missing}\n" in done.stderr, done.stderr


class Stranger(BaseHTTPRequestHandler):
    """Refuses whatever is asked, and remembers as whom."""

    asked: ClassVar[set[str | None]] = set()

    def do_GET(self) -> None:
        self.asked.add(self.headers.get("Authorization"))
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def write_kubeconfig(path: pathlib.Path, server: str, user: dict[str, str]) -> pathlib.Path:
    document = {
        "kind": "Config",
        "apiVersion": "v1",
        "clusters": [{"name": "milan", "cluster": {"server": f"http://{server}"}}],
        "users": [{"name": "milan", "user": user}],
        "contexts": [{"name": "milan", "context": {"cluster": "milan", "user": "milan"}}],
        "current-context": "milan",
    }
    path.write_text(yaml.safe_dump(document))
    return path


def test_a_server_that_is_gone_is_told_with_its_address(tmp_path: pathlib.Path) -> None:
    with socket.socket() as unheard:  # bound, and nobody listens
        unheard.bind(("127.0.0.1", 0))
        server = f"127.0.0.1:{unheard.getsockname()[1]}"
        done = liqoctl("info", "--kubeconfig", write_kubeconfig(tmp_path / "milan.yaml", server, {}))
    assert (done.returncode, done.stdout) == (1, "")
    unreached = f"ERRO: cluster milan cannot be reached at {server}, the server that its kubeconfig names ("
    assert done.stderr.startswith(unreached), done.stderr
    assert done.stderr.endswith("): check that address, and that this machine reaches it\n"), done.stderr


def test_a_token_is_sent_and_a_refusal_told(tmp_path: pathlib.Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        server = f"127.0.0.1:{stranger.server_port}"
        done = liqoctl("info", "--kubeconfig", write_kubeconfig(tmp_path / "milan.yaml", server, {"token": "of-rome"}))
        stranger.shutdown()
    assert done.returncode == 1 and "401" in done.stderr, done.stderr
    assert Stranger.asked == {"Bearer of-rome"}


def test_standard_input_is_read_as_a_file() -> None:
    done = liqoctl("create", "tenant", "-f", "-")  # which is /dev/null
    assert (done.returncode, done.stderr) == (1, "ERRO: - has no Tenant\n")


@pytest.mark.parametrize("values", ["", "none.yaml"])
def test_values_that_cannot_be_read_are_not_the_defaults(tmp_path: pathlib.Path, values: str) -> None:
    """A directory can be opened, and fails only when it is read."""
    image = ("--set", "image.repository=localhost/liqo/liqod")
    done = liqoctl("install", "--print", "--cluster-id", "rome", *image, "-f", tmp_path / values)
    told = "there is no file " if values else f"{tmp_path} cannot be read"
    assert (done.returncode, done.stdout) == (1, "") and told in done.stderr, done.stderr
