"""tools/test conformance: what counts as passed through a virtual node, and what of the suite is changed for it."""

import json
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/cluster"))

from harness.tools import conformance, conformance_score, e2e_suite  # noqa: E402
from harness.tools.conformance_score import Expected, Outcome, from_list, judge, to_list  # noqa: E402

POD = "[sig-node] Pods should run [Conformance]"
API = "[sig-apps] ReplicaSets should be listed [Conformance]"
NAMESPACES = {POD: {"pods-17", "pods-18"}}


def outcome(name: str, state: str = "passed") -> Outcome:
    return Outcome(name, state, 1.5, "" if state == "passed" else "timed out\nwaiting")


@pytest.mark.parametrize(
    "ended, away, passed, why",
    [
        ([outcome(POD)], {"pods-17"}, [POD], {}),
        ([outcome(POD)], {"pods-1"}, [], {POD: "passed, but no pod of it ran at the provider"}),
        ([outcome(POD, "failed")], {"pods-17"}, [], {POD: "failed: timed out\nwaiting"}),
        ([outcome(POD, "skipped")], set(), [], {POD: "skipped: timed out\nwaiting"}),
        ([], {"pods-17"}, [], {POD: "did not run"}),
    ],
)
def test_a_test_counts_that_passed_with_a_pod_at_the_provider(ended, away, passed, why):
    score = judge([Expected(POD, True)], ended, NAMESPACES, away)
    assert (score.passed, score.missed) == (passed, why)


def test_a_test_that_starts_no_pod_anywhere_counts_without():
    score = judge([Expected(POD, True), Expected(API, False)], [outcome(API), outcome(POD, "failed")], NAMESPACES, set())
    assert score.passed == [API] and score.percent == 50
    assert score.per_area()["sig-apps"] == (1, 1) and score.per_area()["sig-node"] == (0, 1)
    assert score.table().splitlines()[2:] == [
        "| sig-node | 0 | 1 | 0.0 |", "| sig-apps | 1 | 1 | 100.0 |", "| all | 1 | 2 | 50.0 |",
    ]  # fmt: skip


def test_the_list_of_the_plain_provider_says_which_tests_start_a_pod():
    text = to_list([outcome(POD), outcome(API), outcome("[sig-cli] x", "failed")], NAMESPACES, {"pods-17"})
    assert text == f"none {API}\npod  {POD}\n"
    assert from_list(text) == [Expected(API, False), Expected(POD, True)]
    # Of a part, the rest stays as it was, and what fails now goes.
    assert to_list([outcome(POD)], {}, set(), from_list(text)) == f"none {API}\nnone {POD}\n"
    assert to_list([outcome(API, "failed")], {}, set(), from_list(text)) == f"pod  {POD}\n"


def test_results_of_other_areas_are_left_out(tmp_path):
    told = [{"name": name, "state": "passed", "seconds": 1} for name in (POD, "[sig-windows] x [Conformance]", "")]
    (tmp_path / "results").write_text("".join(json.dumps(line) + "\n" for line in told))
    assert [found.name for found in conformance_score.read(tmp_path / "results")] == [POD]
    assert conformance_score.read(tmp_path / "none") == []


def audit_entry(verb: str, code: int, query: str = "", said: dict | None = None, **reference: str) -> str:
    pod = {"metadata": {"namespace": "pods-17-rome", "name": "one"}, "spec": {}}
    about = {"resource": "pods", "namespace": "pods-17-rome", **reference}
    line = {"verb": verb, "objectRef": about, "responseStatus": {"code": code}, "responseObject": pod}
    line |= {"requestURI": f"/api/v1/namespaces/pods-17-rome/pods{query}", "requestObject": {"status": said or {}}}
    return json.dumps(line, separators=(",", ":")) + "\n"


def test_pods_are_those_that_the_audit_log_has_as_created(tmp_path):
    lines = [audit_entry("create", 201), audit_entry("create", 403), audit_entry("create", 201, subresource="binding")]
    lines += [audit_entry("get", 200), audit_entry("create", 201, query="?dryRun=All")]
    (tmp_path / "audit.log").write_text("".join(lines))
    pods = list(conformance_score.created_pods(tmp_path / "audit.log"))
    assert conformance_score.slipped(pods) == ["pods-17-rome/one"]
    ready = {"spec": {"tolerations": [{"key": "virtual-node.liqo.io/not-allowed"}]}, "metadata": pods[0]["metadata"]}
    assert conformance_score.slipped([ready]) == []


@pytest.mark.parametrize(
    "said, has_started",
    [
        ({"phase": "Pending", "startTime": "2026-11-23T10:00:00Z"}, False),
        ({"containerStatuses": [{"name": "a", "state": {"waiting": {"reason": "startedAt\":\""}}}]}, False),
        ({"containerStatuses": [{"name": "a", "state": {"running": {"startedAt": "2026-11-23T10:00:00Z"}}}]}, True),
        ({"initContainerStatuses": [{"state": {"terminated": {"startedAt": "2026-11-23T10:00:00Z"}}}]}, True),
        ({"containerStatuses": [{"state": {"waiting": {}}, "lastState": {"terminated": {"startedAt": "2026"}}}]}, True),
        ({"containerStatuses": [{"state": {"terminated": {"exitCode": 137, "startedAt": None}}}]}, False),
    ],
)
def test_a_pod_has_started_when_a_container_of_it_has(tmp_path, said, has_started):
    log = tmp_path / "audit.log"
    log.write_text(audit_entry("patch", 200, said=said, subresource="status") + audit_entry("create", 201))
    found = conformance_score.started(log)
    assert conformance_score.at_home(found, "rome") == ({"pods-17"} if has_started else set())


def test_the_suite_says_whose_namespace_it_makes(tmp_path):
    def entry(name: str, agent: str) -> str:
        line = {"verb": "create", "requestURI": "/api/v1/namespaces", "userAgent": agent}
        about = {"objectRef": {"resource": "namespaces", "name": name}, "responseStatus": {"code": 201}}
        return json.dumps({**line, **about}, separators=(",", ":")) + "\n"

    suite = f"conformance.test/v1.35.4 (linux/amd64) kubernetes/$Format -- {POD}"
    lines = [entry("pods-17", suite), entry("pods-18", suite), entry("liqo", "kubectl/v1.35.4")]
    (tmp_path / "audit.log").write_text("".join(lines))
    assert conformance_score.namespaces_of_tests(tmp_path / "audit.log") == NAMESPACES


def test_a_draw_is_the_same_for_the_same_seed():
    names = [f"test {number}" for number in range(100)]
    drawn = conformance.sample(names, 10, 1)
    assert drawn == conformance.sample(names, 10, 1) != conformance.sample(names, 10, 2)
    assert len(set(drawn)) == 10 and conformance.sample(names, 0, 1) == names


def suite(directory: pathlib.Path, asks: str) -> pathlib.Path:
    sources = {f"apps/{name}.go": "" for name in ("daemon_set", "deployment", "disruption", "statefulset")}
    sources["framework/timeouts.go"] = "\tPodStart: 5 * time.Minute,\n" * 21 + "\tPodStartTimeout = 30 * time.Second\n"
    sources["framework/node/resource.go"] = asks
    for name, text in sources.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


def test_the_copy_waits_less_and_looks_away_from_the_taint(tmp_path):
    e2e_suite.change(suite(tmp_path, 'return isNodeUntaintedWithNonblocking(logger, node, "")\n'))
    assert (tmp_path / "framework/timeouts.go").read_text().splitlines()[20:] == [
        "\tPodStart: 2 * time.Minute,", "\tPodStartTimeout = 30 * time.Second",
    ]  # fmt: skip
    assert "framework.TestContext.NonblockingTaints)" in (tmp_path / "framework/node/resource.go").read_text()


def test_a_suite_that_has_changed_is_not_built_as_it_is(tmp_path):
    with pytest.raises(AssertionError, match="asks otherwise"):
        e2e_suite.change(suite(tmp_path, "return isFree(node)\n"))


def test_the_lists_agree():
    plain = {test.name: test for test in from_list(conformance.PLAIN.read_text())}
    assert len(plain) >= 250
    cannot = conformance_score.reasons(conformance.CANNOT.read_text())
    assert cannot.keys() <= plain.keys()
    selection = conformance.SELECTION.read_text().splitlines()
    # None of them passes without a pod, and each area is among them.
    assert all(plain[name].starts_pod for name in selection)
    assert all(any(name.startswith(f"[{area}]") for name in selection) for area in conformance_score.AREAS)
    page = (ROOT / "docs/conformance.md").read_text()
    assert [why for why in cannot.values() if why.partition(":")[2].strip() not in page.replace("\n", " ")] == []
    printed = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert printed and json.loads(printed[1]) == conformance.OPEN_POLICY
