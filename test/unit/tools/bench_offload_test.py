"""tools/bench offload: what it says of figures, which writes it counts, and what it ends with."""

import copy
import pathlib
import subprocess
import sys
import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "test/cluster")]

import measure  # noqa: E402
import offload  # noqa: E402

REACHED = {
    "pods": 1000, "admission": False, "early_writes_per_pod": 3.3, "writes_per_pod": 4.2, "record_seconds": 60,
    "cpu_ms_per_pod": 4.0, "total_cpu_ms_per_pod": 26.0, "rest_mb": {"consumer": 20.0, "provider": 19.0},
    "kb_per_pod": 15.0, "latency_ms": 125.0, "plain_latency_ms": 100.0, "seconds": 10.0, "limit_seconds": 7.0,
    "deletion_seconds": 10.0,
    "details": {
        "writes_by_kind": {"rome: patch pods/status": 1.0}, "deletion_writes_by_kind": {"rome: delete pods": 1.0},
        "cpu_ms_by_process": {"rome/liqod": 1.0}, "limit_cpu_ms_by_process": {},
        "deletion_cpu_ms_by_process": {},
        "rounds": [{"disagreement": 0.0, "requests_logged": 1, "requests_counted": 1}],
    },
}  # fmt: skip
# What is too much without admission and not with it, and what is too much with it.
BETWEEN = {
    "cpu_ms_per_pod": (4.1, None), "total_cpu_ms_per_pod": (26.1, 30.1), "kb_per_pod": (15.1, 16.1),
    "latency_ms": (126.0, 136.0), "seconds": (10.1, 11.4), "deletion_seconds": (10.1, 12.1),
}  # fmt: skip
BOTH = {"early_writes_per_pod": 3.31, "writes_per_pod": 4.21, "record_seconds": 61, "rest_mb": {"consumer": 20.1}}
ROWS = {
    "early_writes_per_pod": "writes per pod before the last is Running",
    "writes_per_pod": "writes per pod over its life",
    "record_seconds": "until it is on record that all run",
    "cpu_ms_per_pod": "CPU per pod, consumer + provider",
    "total_cpu_ms_per_pod": "CPU per pod with the API servers'",
    "rest_mb": "memory at rest, consumer / provider",
    "kb_per_pod": "memory per pod, both sides",
    "latency_ms": "one pod, create to Ready, median",
    "seconds": "1,000 pods until Running",
    "deletion_seconds": "deletion of 1,000 on both sides",
}


def changed(key, value, admission):
    figures = copy.deepcopy(REACHED)
    figures["admission"] = admission
    figures[key] = {**figures[key], **value} if isinstance(value, dict) else value
    return figures


def missed(figures):
    return [row.figure for row in offload.report.rows(figures) if not row.reached]


def test_figures_that_are_reached():
    assert missed(REACHED) == [] and missed({**REACHED, "admission": True}) == []
    assert "rome: delete pods" in offload.report.explain(REACHED["details"])
    assert {row.figure for row in offload.report.rows(REACHED)} == set(ROWS.values())


@pytest.mark.parametrize(("key", "values"), BETWEEN.items())
def test_each_row_has_goals_of_its_own(key, values):
    without, with_it = values
    assert missed(changed(key, without, False)) == [ROWS[key]]
    assert missed(changed(key, without, True)) == []
    if with_it is not None:
        assert missed(changed(key, with_it, True)) == [ROWS[key]]


@pytest.mark.parametrize(("key", "value"), BOTH.items())
def test_what_admission_has_nothing_to_do_with_has_one_goal(key, value):
    for admission in (False, True):
        assert missed(changed(key, value, admission)) == [ROWS[key]]


def test_it_ends_with_1_where_a_goal_is_missed(monkeypatch, capsys):
    monkeypatch.setattr(offload.settings, "missing_requirements", lambda: [])
    monkeypatch.setattr(offload.signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["offload"])
    monkeypatch.setattr(offload, "bench", lambda *_: REACHED)
    assert offload.main() == 0
    assert "MISSED" not in capsys.readouterr().out
    monkeypatch.setattr(offload, "bench", lambda *_: changed("writes_per_pod", 4.21, False))
    assert offload.main() == 1
    assert "MISSED" in capsys.readouterr().out
    apart = copy.deepcopy(REACHED)
    apart["details"]["rounds"][0]["disagreement"] = 0.011
    monkeypatch.setattr(offload, "bench", lambda *_: apart)
    assert offload.main() == 1


class Log:
    """An audit log of writes, each so many seconds from now."""

    def __init__(self, now, *writes):
        self._entries = [
            {
                "verb": verb, "user": {"username": "us" if ours else "them"}, "responseStatus": {"code": code},
                "objectRef": {"resource": kind.split("/")[0], "subresource": "".join(kind.split("/")[1:])},
                "requestReceivedTimestamp": datetime.fromtimestamp(now + after, UTC).isoformat(),
            }
            for after, verb, kind, code, ours in writes
        ]  # fmt: skip

    def entries(self, since):
        return self._entries[since:]


def test_writes_are_counted_by_their_time_and_kind():
    now = time.time()
    rome = Log(
        now, (-9, "patch", "pods/status", 200, True), (-8, "update", "leases", 200, True),
        (-7, "patch", "pods/status", 409, True), (-6, "create", "subjectaccessreviews", 201, True),
        (-5, "patch", "pods/status", 200, False), (-1, "create", "events", 201, True),
    )  # fmt: skip
    milan = Log(
        now, (-20, "create", "pods", 201, True), (-9, "create", "pods", 201, True),
        (-3, "patch", "shadowpods/status", 200, True), (-2, "patch", "shadowpods/status", 409, True),
    )  # fmt: skip
    meter = measure.Meter.__new__(measure.Meter)
    meter._clusters = [SimpleNamespace(name="rome", audit=rome), SimpleNamespace(name="milan", audit=milan)]
    meter._identities = {"us"}
    before = measure.Snapshot(0, {}, {"rome": 0, "milan": 1})
    began = time.monotonic()
    assert meter.writes_until(before, began - 4) == 3
    assert meter.writes_until(before, began) == 6
    assert meter.wait_writes(before, "milan: patch shadowpods/status", 1) == pytest.approx(began - 3, abs=1)
    with pytest.raises(TimeoutError, match="1 of 2 writes"):
        meter.wait_writes(before, "milan: patch shadowpods/status", 2, timeout=0)


def test_its_help_needs_no_clusters():
    done = subprocess.run([sys.executable, ROOT / "bench/offload.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--admission" in done.stdout
