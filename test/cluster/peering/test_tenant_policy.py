"""A provider's administrator limits a consumer by command, mistypes a policy, and closes what it lends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import SOON, Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

POLICY = "liqo.io/pod-policy"
TYPO = '{"maxResorces": {"cpu": "3"}}'


@dataclass
class Two:
    """parma consumes from bari."""

    parma: Peer
    bari: Peer

    @property
    def tenant(self) -> str:
        return f"liqo-tenant-{self.parma.name}"

    def policy(self) -> dict:
        annotations = self.bari.api.get("namespaces", None, self.tenant)["metadata"].get("annotations", {})
        return json.loads(annotations.get(POLICY, "{}"))

    def checks(self, side: Peer) -> dict[str, tuple[str, str]]:
        """The state and the text of each line of `liqoctl check`."""
        found = json.loads(side.liqoctl.attempt("check", "-o", "json").out)["checks"]
        return {one["about"]: (one["state"], one["text"]) for one in found}


@pytest.fixture(scope="module")
def two(run: Run) -> Iterator[Two]:
    require_programs()
    with run.borrow(parma=Options(), bari=Options()) as (parma, bari):
        bari.add_kwok_nodes(1)
        with ThreadPoolExecutor(2) as pool:
            made = Two(*pool.map(Peer, (parma, bari)))
        made.parma.peer_with(made.bari, "--cpu=2", "--memory=4Gi", "--pods=20")
        yield made
        for side in (made.parma, made.bari):
            side.daemon.stop()


def test_a_consumer_is_limited_by_command(two: Two) -> None:
    parma, bari = two.parma, two.bari
    assert "+ maxResources: cpu 3" in bari.liqoctl("set", "tenant", "parma", "--max", "cpu=3", "--dry-run")
    assert two.policy() == {}
    bari.liqoctl("set", "tenant", "parma", "--allow", "hostPorts")
    bari.liqoctl("set", "tenant", "parma", "--max", "cpu=3,memory=8Gi")
    assert two.policy() == {"hostPorts": True, "maxResources": {"cpu": "3", "memory": "8Gi"}}
    assert "hostPorts, maxResources (cpu 3, memory 8Gi)" in bari.liqoctl("get", "tenant")
    assert "cpu 3, memory 8Gi" in bari.liqoctl("describe", "tenant", "parma")

    asked = ("create", "resourceslice", "batch", "--remote-cluster-id", "bari")
    done = parma.liqoctl.attempt(*asked, "--cpu=2", "--memory=1Gi", "--pods=5")
    assert done.code == 1 and "(maxResources in the policy)" in done.err, done
    bari.liqoctl("set", "tenant", "parma", "--max", "cpu=4")
    assert two.policy()["maxResources"] == {"cpu": "4", "memory": "8Gi"}
    parma.liqoctl(*asked, "--cpu=2", "--memory=1Gi", "--pods=5")

    for arguments, (code, words) in {
        ("parm", "--max", "cpu=3"): (1, "there is no tenant namespace of cluster parm here; did you mean parma?"),
        ("parma", "--max", "cpu=-1"): (2, "--max cpu: '-1' is not a valid quantity"),
        ("parma", "--max", "cpu=3,cpu=4"): (2, "--max: cpu is given twice"),
        ("parma", "--allow", "hostPort"): (2, "did you mean hostPorts?"),
        ("parma", "--forbid", "refusedServiceTypes=Loadbalancer"): (2, "did you mean LoadBalancer?"),
        ("parma", "--allow", "hostPorts", "--forbid", "hostPorts"): (2, "cannot be both allowed and forbidden"),
    }.items():
        done = bari.liqoctl.attempt("set", "tenant", *arguments)
        assert done.code == code and words in done.err and done.err.count("\n") == 1, done
    done = parma.liqoctl.attempt("set", "tenant", "bari", "--max", "cpu=3")
    assert done.code == 1 and "bari is a provider of this cluster" in done.err, done
    done = bari.liqoctl.attempt("set", "tenant", "parma")
    assert done.code == 2 and "nothing is to be set" in done.err, done
    bari.liqoctl("set", "tenant", "parma", "--unset", "hostPorts", "--unset", "maxResources")
    assert two.policy() == {}


@pytest.mark.refusals("a policy that cannot be read is refused")
def test_a_policy_that_cannot_be_read_is_refused_and_a_stored_one_is_told(two: Two) -> None:
    bari = two.bari
    annotate = ("annotate", "namespace", two.tenant, "--overwrite")
    with pytest.raises(AssertionError, match="did you mean maxResources"):
        bari.cluster.kubectl(*annotate, f"{POLICY}={TYPO}")
    assert two.policy() == {}
    # While nobody answers it is stored, and is told once somebody does.
    bari.daemon.stop()
    bari.cluster.kubectl(*annotate, f"{POLICY}={TYPO}")
    bari.daemon.start()
    bari.daemon.wait_asked()

    def told(namespace: str, about: str) -> bool:
        return any(
            event["reason"] == "PolicyUnreadable" and "liqoctl set tenant parma --unset maxResorces mends it" in event["message"]
            for event in bari.cluster.events(namespace, about)
        )

    wait_for(lambda: told(two.tenant, "parma"), SOON, "an Event on the Tenant")
    wait_for(lambda: told("default", two.tenant), SOON, "an Event on the namespace")
    state, text = two.checks(bari)["policies"]
    assert state == "bad" and "did you mean maxResources?" in text, text
    assert "✖" in bari.liqoctl("get", "tenant")
    assert "cannot be read" in bari.liqoctl("describe", "tenant", "parma")

    done = bari.liqoctl.attempt("set", "tenant", "parma", "--max", "cpu=3")
    assert done.code == 1 and "add --unset maxResorces" in done.err, done
    bari.liqoctl("set", "tenant", "parma", "--unset", "maxResorces", "--max", "cpu=9")
    assert two.policy() == {"maxResources": {"cpu": "9"}}

    # One that is no JSON is replaced as a whole.
    bari.daemon.stop()
    bari.cluster.kubectl(*annotate, f"{POLICY}={{maxResources: 3}}")
    bari.daemon.start()
    bari.daemon.wait_asked()
    assert "set tenant parma --replace" in two.checks(bari)["policies"][1]
    done = bari.liqoctl.attempt("set", "tenant", "parma", "--max", "cpu=9")
    assert done.code == 1 and "--replace begins anew" in done.err, done
    assert "- {maxResources: 3}" in bari.liqoctl("set", "tenant", "parma", "--replace", "--max", "cpu=9")
    assert two.policy() == {"maxResources": {"cpu": "9"}}
    assert two.checks(bari)["policies"][0] == "good"


def test_a_cordon_is_a_state_that_both_sides_see_and_its_pod_is_told_why(two: Two) -> None:
    parma, bari = two.parma, two.bari
    broken = {side.name: {about for about, (state, _) in two.checks(side).items() if state == "bad"} for side in (parma, bari)}
    parma.cluster.namespace("demo")
    parma.liqoctl("offload", "namespace", "demo", "--pod-offloading-strategy", "Remote")
    for name in ("bari", "batch"):
        bari.liqoctl("cordon", "resourceslice", name, "--remote-cluster-id", "parma", "--skip-confirm")

    def states() -> list[str]:
        return [line.split()[5] for line in parma.liqoctl("get", "resourceslice").splitlines()[1:]]

    wait_for(lambda: states() == ["Cordoned", "Cordoned"], SOON, "both slices to be shown as cordoned")
    assert bari.liqoctl("get", "rs").count("Cordoned") == 2
    wait_for(lambda: two.checks(parma)["peer bari"][0] == "open", SOON, "check to call it a state")
    for side, peer, words in ((parma, "bari", "is Cordoned by bari"), (bari, "parma", "is Cordoned here")):
        found = two.checks(side)
        assert words in found[f"peer {peer}"][1], found
        assert {about for about, (state, _) in found.items() if state == "bad"} == broken[side.name]
        assert words in side.liqoctl("info")
    assert "Lent:" in bari.liqoctl("info") and "Offloading status" not in bari.liqoctl("info")

    closed = lambda node: parma.api.get("nodes", None, node)["spec"]["taints"]  # noqa: E731
    for node in ("bari", "batch"):
        wait_for(lambda n=node: "virtual-node.liqo.io/closed" in str(closed(n)), SOON, f"node {node} to be closed")
    for name in ("one", "two"):
        parma.api.create("pods", "demo", busybox(name))

    def told() -> list[str]:
        events = parma.api.list("events", "demo")
        return [event["message"] for event in events if event["reason"] == "VirtualNodeClosed"]

    (words,) = wait_for(told, 60, "one of the pods to be told why it waits")
    assert words.startswith("cluster bari has cordoned node ")
    stays(lambda: len(told()) == 1, 20, "one Event a minute in the namespace")
    for name in ("bari", "batch"):
        bari.liqoctl("uncordon", "resourceslice", name, "--remote-cluster-id", "parma")
    wait_for(lambda: parma.running("demo") == 2, 60, "both pods to run")
    wait_for(lambda: two.checks(parma)["peer bari"][0] == "good", SOON, "check to find nothing wrong")


@pytest.mark.refusals
def test_a_drained_tenant_is_shown_as_such_by_both_sides(two: Two) -> None:
    parma, bari = two.parma, two.bari
    bari.liqoctl("drain", "tenant", "parma", "--skip-confirm")
    wait_for(lambda: parma.liqoctl("get", "rs").count("Drained") == 2, SOON, "the slices to be shown as drained")
    assert "Tenant parma is Drained here (liqoctl uncordon tenant parma)" in bari.liqoctl("info")
    assert two.checks(bari)["peer parma"][0] == "open"
    bari.liqoctl("activate", "tenant", "parma")
    wait_for(lambda: parma.liqoctl("get", "rs").count("Accepted") == 2, SOON, "the slices to be granted again")
