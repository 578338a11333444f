"""A provider that asks a consumer for heartbeats cordons it when they stop, until somebody lets it go on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

AWAY = "liqo-tenant-ithaca"


def set_limit(provider: Peer, limit: str) -> None:
    """How long a consumer may be silent."""
    flag = "--cordon-silent-tenants-after="
    command = [word for word in provider.daemon.command if not str(word).startswith(flag)]
    provider.daemon.command = [*command, flag + limit]
    provider.daemon.restart()


@pytest.fixture(scope="module")
def peers(run: Run) -> Iterator[tuple[Peer, Peer]]:
    require_programs()
    with run.borrow(ithaca=Options(), pylos=Options()) as (ithaca, pylos):
        consumer, provider = Peer(ithaca), Peer(pylos)
        set_limit(provider, "1h")
        consumer.peer_with(provider)
        yield consumer, provider


def test_a_consumer_that_falls_silent_is_cordoned_until_somebody_lets_it_go_on(peers: tuple[Peer, Peer]) -> None:
    consumer, provider = peers
    lease = lambda: provider.api.find("leases", AWAY, "liqo-heartbeat") or {}  # noqa: E731
    condition = lambda: provider.api.get("tenants", AWAY, "ithaca")["spec"].get("tenantCondition", "Active")  # noqa: E731
    wait_for(lease, SOON, "the provider to ask for heartbeats")
    wait_for(lambda: lease()["spec"].get("renewTime"), 90, "the first heartbeat")
    assert lease()["spec"]["holderIdentity"] == "ithaca"
    assert condition() == "Active"
    consumer.daemon.stop()
    # The limit is much shorter than the ten minutes between heartbeats, so the consumer soon counts as silent.
    set_limit(provider, "20s")
    wait_for(lambda: condition() == "Cordoned", 60, "the silent tenant to be cordoned")
    events = lambda: provider.cluster.events(AWAY, "ithaca")  # noqa: E731
    wait_for(lambda: [one for one in events() if one.get("reason") == "TenantSilent"], SOON, "an Event that says so")
    provider.liqoctl("uncordon", "tenant", "ithaca")
    stays(lambda: condition() == "Active", 5, "the tenant")
