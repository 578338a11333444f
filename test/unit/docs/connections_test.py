"""Whom liqod connects to, and as whom: docs/security.md lists every connection that the sources make, and no other."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]
ROOMS = ["src", "include", "services/liqod", "services/cli"]

# The files that make a client -> the row of the table under "What liqod connects to", and from where its credentials are.
# Everything else goes over one of these clients: watches, reviews, tokens, logs, exec, attach and port-forward, probes.
CLIENTS = {
    "services/liqod/daemon.cpp": "its own API server",
    "services/liqod/provider_link.cpp": "the API server of a peer",
    "src/usage/kubelet_clients.cpp": "a kubelet of this cluster, for the metrics of consumers' pods",
}
# Names are looked up for the clients by the library, and besides for this row.
LOOK_UPS = {
    "services/liqod/name_look_up.cpp": "the name server of this cluster's pods, for [two names](namespaces.md#names-of-home)",
}


def sources() -> dict[str, str]:
    found = (path for room in ROOMS for end in ("*.cpp", "*.hpp") for path in (ROOT / room).rglob(end))
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in found}


def having(pattern: str) -> set[str]:
    return {name for name, text in sources().items() if re.search(pattern, text)}


def rows() -> dict[str, str]:
    """Destination -> identity, of the page."""
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    part = page[page.index("## What liqod connects to") :]
    part = part[: part.index("\n## ", 1)]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.splitlines() if line.startswith("| ")]
    return {row[0]: row[1] for row in cells[2:]}


def test_the_page_names_each_connection_and_no_other():
    assert set(rows()) == {*CLIENTS.values(), *LOOK_UPS.values()}


def test_clients_and_their_credentials_are_made_in_these_files_alone():
    assert having(r"\bHttpClient\s+\w+;|make_(shared|unique)<[\w:]*HttpClient>|\bHttpClient\(") == set(CLIENTS)
    assert having(r"\bCredentials::make\(") == set(CLIENTS)


def test_no_connection_goes_round_the_clients():
    assert having(r"\basync_connect\b|\btcp::socket\b|\bSSL_connect\b|::connect\(\w+, ") == set()
    assert having(r"\btcp::resolver\b") == set(LOOK_UPS)
    library = (ROOT / "subprojects/kube/src").rglob("*.cpp")
    dialers = {path.name for path in library if "async_connect(" in path.read_text(encoding="utf-8")}
    assert dialers == {"dial.cpp"}


def test_the_credentials_of_liqod_go_to_its_own_api_server_alone():
    """Others that have a look at the configuration of home take its CA, which proves nobody."""
    text = sources()
    secret = r"\b(token|token_file|client_certificate_\w+|client_key_\w+|exec)\b"
    agent = text["services/liqod/metric_agent.cpp"]
    assert set(re.findall(r"\bhome\.(\w+)", agent)) == {"ca_pem", "ca_file"}
    assert not re.search(secret, agent)
    daemon = text["services/liqod/daemon.cpp"]
    assert re.findall(r"credentials_->\w+\(\)[^;]*;", daemon) == ["credentials_->config(), options_);"]
    assert "make_metric_agent(*process_, credentials_->config(), options_)" in daemon
    # A kubelet is shown the one token that the agent gets for it.
    kubelets = text["src/usage/kubelet_clients.cpp"]
    assert re.findall(r"\.(token|token_file|client_\w+|exec) = ([^,}]*)", kubelets) == [("token", "token_.token()")]
    # What a peer is shown comes out of the Secret that the peer's own identity is in, which may name no file.
    link = text["services/liqod/provider_link.cpp"]
    assert "KubeconfigOrigin::secret" in link and not re.search(r"\bhome\b", link)
