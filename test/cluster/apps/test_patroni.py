"""PostgreSQL with Patroni runs at a provider: its leader is elected in Endpoints of home, and its Service follows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.apps import pins
from harness.apps.two import Two, offload
from harness.wait import wait_for

pytestmark = [pytest.mark.apps, pytest.mark.refusals("Patroni asks for more than it has to have")]

NAMESPACE, SERVICE = "pg", "pg"
PODS = {"pg-0", "pg-1"}
MANIFEST = Path(__file__).with_name("patroni.yaml")
ELECTED = 180.0


class Database:
    """The two pods in their twin, asked there by the name of the Service."""

    def __init__(self, two: Two):
        self.two, self.home, self.away = two, two.home.cluster, two.away.cluster
        self.twin = f"{NAMESPACE}-{self.home.name}"

    def leader(self) -> str:
        """The pod that the Endpoints at home name; "" while there is none."""
        found = self.two.home.api.find("endpoints", NAMESPACE, SERVICE) or {"metadata": {}}
        return found["metadata"].get("annotations", {}).get("leader", "")

    def leads_to(self) -> list[str]:
        """The addresses of the Service at the provider."""
        slices = self.two.away.api.list("endpointslices", self.twin, f"kubernetes.io/service-name={SERVICE}")
        return [address for one in slices for each in one.get("endpoints") or [] for address in each["addresses"]]

    def address(self, pod: str) -> str:
        found = self.home.pod(NAMESPACE, pod)
        assert found, f"there is no pod {pod}"
        return found["status"].get("podIP", "")

    def follows(self, leader: str) -> bool:
        where, expected = self.leads_to(), self.address(leader)
        assert expected and where == [expected], f"the Service leads to {where}, the leader {leader} is {expected}"
        return True

    def ask(self, pod: str, statement: str) -> str:
        """The answer of whoever serves the Service to a statement that a pod of the twin sends there."""
        psql = ["/usr/lib/postgresql/15/bin/psql", "-h", SERVICE, "-U", "postgres", "-d", "postgres", "-Atc", statement]
        command = ["exec", "-n", self.twin, pod, "--", "env", "PGPASSWORD=elephant", "PGCONNECT_TIMEOUT=5", *psql]
        return self.away.kubectl(*command, timeout=30).strip()


def test_patroni_fails_over_at_a_provider_and_its_service_follows(software: Callable[[str], Two]) -> None:
    two = software("patroni")
    database = Database(two)
    offload(two, NAMESPACE, "--pod-offloading-strategy", "Remote")
    manifest = MANIFEST.read_text().replace("IMAGE", pins.image_of("patroni"))
    two.home.cluster.kubectl("apply", "-n", NAMESPACE, "-f", "-", stdin=manifest)

    first = wait_for(database.leader, ELECTED, "a leader", interval=0.5)
    assert first in PODS
    assert two.nodes(NAMESPACE) == {two.away.name}
    wait_for(lambda: database.follows(first), 60, "the Service to lead to the leader")
    other = (PODS - {first}).pop()
    count = "select count(*) from pg_stat_replication where state = 'streaming'"
    wait_for(lambda: database.ask(other, count) == "1", ELECTED, "the other to follow the leader", interval=1)
    database.ask(other, "create table birds (name text); insert into birds values ('heron')")

    # A write that was answered is on the other before the leader goes.
    replayed = "select count(*) from pg_stat_replication where replay_lsn >= pg_current_wal_lsn()"
    wait_for(lambda: database.ask(other, replayed) == "1", 60, "the other to have it", interval=0.5)
    two.home.api.delete("pods", NAMESPACE, first)
    wait_for(lambda: database.leader() == other, ELECTED, "the other to be the leader", interval=0.5)
    wait_for(lambda: database.follows(other), 60, "the Service to follow")
    wait_for(lambda: database.ask(other, "select name from birds") == "heron", 60, "the data to be there", interval=1)
    database.ask(other, "insert into birds values ('egret')")

    # The pod that is made anew becomes its standby.
    wait_for(lambda: database.ask(other, count) == "1", ELECTED, "the pod of before to follow", interval=1)
    assert database.leader() == other
