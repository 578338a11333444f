"""Webhooks that ask callers for a certificate answer the API server, and nobody else."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import objects
from harness.cluster import callers, pki
from harness.cluster.api import Refused
from harness.cluster.cluster import Cluster
from harness.cluster.components import Options
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.required import require_liqod
from harness.run import Run
from harness.wait import wait_for

UNKNOWN = "liqod_admission_unknown_callers_total"


class Guarded:
    """A cluster whose webhooks know their callers."""

    def __init__(self, cluster: Cluster, directory: Path):
        self.cluster = cluster
        self.authority = callers.authority_of(cluster.directory)
        self.ca = directory / "ca.crt"
        self.ca.write_bytes(self.authority.pair.certificate.read_bytes())
        flags = ("--webhook-client-ca-file", str(self.ca), "--webhook-client-name", callers.NAME)
        self.daemon = Liqod(cluster, chart.install(cluster), flags=flags).start()

    def ask(self, pair: pki.Pair | None = None, method: str = "POST") -> tuple[int, str]:
        return callers.ask(self.cluster, pair, method)

    def unknown(self) -> float:
        return self.daemon.metrics().get(UNKNOWN, 0)


@pytest.fixture(scope="module")
def guarded(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    require_liqod()
    with run.borrow(mycenae=Options(shows_certificate=True)) as (cluster,):
        yield Guarded(cluster, tmp_path_factory.mktemp("callers"))


def create(guarded: Guarded, cpu: str) -> dict[str, Any]:
    body = objects.quota("q", "pool", {"cpu": cpu})
    where = "/apis/offloading.liqo.io/v1beta1/namespaces/default/quotas"
    return guarded.cluster.api.request("POST", where, body, query={"dryRun": "All"})


@pytest.mark.refusals("a Quota of less than nothing")
def test_the_api_server_is_answered(guarded: Guarded) -> None:
    def asked() -> bool:
        try:
            create(guarded, "-1")
        except Refused as refusal:
            return "cannot be negative" in str(refusal)
        return False

    wait_for(asked, 60, "the API server to ask the webhooks")
    assert create(guarded, "1")["spec"]["resources"] == {"cpu": "1"}
    assert guarded.unknown() == 0


def test_nobody_else_is(guarded: Guarded) -> None:
    before = guarded.unknown()
    assert guarded.ask() == (401, "close")
    assert guarded.ask(method="GET") == (401, "close")
    # The same authority signed this certificate for something else.
    assert guarded.ask(guarded.authority.issue("other", "metrics")) == (401, "close")
    assert guarded.unknown() == before + 3
    # The cluster's authority, which signs for tenants, is another one: its certificates fail in the handshake.
    stranger = guarded.cluster.authority.issue("as-api-server", callers.NAME)
    with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
        guarded.ask(stranger)
    assert guarded.ask(guarded.authority.issue("again", callers.NAME))[0] == 200


def test_a_new_authority_is_taken_from_the_file(guarded: Guarded, tmp_path: Path) -> None:
    new = pki.Authority(tmp_path / "new", "new-callers")
    pair = new.issue("api-server", callers.NAME)
    with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
        guarded.ask(pair)
    old = guarded.authority.pair.certificate.read_bytes()
    guarded.ca.write_bytes(old + new.pair.certificate.read_bytes())
    wait_for(lambda: guarded.ask(pair)[0] == 200, 60, "the new authority to be known", interval=0.5)
    assert create(guarded, "1")["spec"]["resources"] == {"cpu": "1"}
