"""tools/bench scale: what it counts, what it says of figures, and what it ends with."""

import copy
import json
import math
import pathlib
import subprocess
import sys

import pytest
from missing import ends_with_one

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))

import scale  # noqa: E402
import scale_figures  # noqa: E402
from request_log import RequestLog, goes_by_the_clock  # noqa: E402
from scale_stage import Size  # noqa: E402
from turns import longest_ms  # noqa: E402


def rest(cpu):
    used = {"rome/liqod": cpu, "milan/liqod": 0.1, "rome/kube-apiserver": 4.0, "milan/kube-apiserver": 6.0}
    return {"cpu_seconds": used, "requests": {"rome: list secrets": 60.0}, "mb": {"rome": 290.0, "milan": 120.0}}


def step(pods, requests):
    return {
        "pods": pods, "seconds": 3.0, "requests_per_pod": requests, "requests": {"rome: patch pods/status": requests},
        "cpu_ms": {"rome/liqod": 2.0},
    }  # fmt: skip


def start():
    return {
        "complete_seconds": 12.0, "first_write_seconds": 20.0, "cpu_seconds": 9.0, "longest_turn_ms": 100.0,
        "mb": 250.0,
    }  # fmt: skip


def turn(second, longest=100.0):
    of = {"longest_turn_ms": longest, "second_turn_ms": second, "cpu_seconds": 0.2}
    return {"rome": of, "milan": of}


def foul(milliseconds):
    return {"well_ms": [80.0] * 19 + [100.0] * 20, "ms": [milliseconds] * 40, "events": 50.0, "cpu_seconds": 1.0}


KINDS = ("VirtualNode", "NamespaceOffloading", "LimitRange", "quota", "ForeignCluster")
REACHED = {
    "size": {"pods": 10_000, "nodes": 100, "providers": 10, "namespaces": 5000, "twins": 1000, "few": 100},
    "rest_few": rest(0.5),
    "rest_all": rest(2.0),
    "empty_mb": {"rome": 60.0, "milan": 20.0},
    "loaded_mb": {"rome": 300.0, "milan": 110.0},
    "steps": [step(100, 5.0), step(900, 5.2), step(9000, 4.8)],
    "changes": {what: turn(50.0) for what in ("reading", "nothing", *KINDS)},
    "start_home": start(),
    "start_away": start(),
    "foul": {"stuck": foul(100.0), "lying": foul(120.0), "flooding": foul(90.0), "crowded": foul(110.0)},
    "held": {"objects": 40_000.0, "series in /metrics": 9000.0},
    "connections": {
        "watches streams": {"all": 10_200.0, "most": 2000.0, "where": "milan"},
        "watches connections": {"all": 110.0, "most": 20.0, "where": "milan"},
        "requests streams": {"all": 12.0, "most": 4.0, "where": "rome"},
        "requests connections": {"all": 101.0, "most": 2.0, "where": "rome"},
    },
}  # fmt: skip


def missed(figures):
    return [row.figure for row in scale_figures.rows(figures) if not row.reached]


def test_figures_that_are_reached():
    assert missed(REACHED) == []
    text = scale_figures.report.lay_out(scale_figures.rows(REACHED))
    assert "1.20 x (120 of 100 ms)" in text
    assert "10200 on 110; to milan 2000, at most 12,800 on 128" in text
    assert "9 other providers" in scale_figures.explain(REACHED)


@pytest.mark.parametrize(
    ("path", "value", "row"),
    [
        (("loaded_mb", "rome"), 301.0, "memory of the consumer: 10,000 pods, 100 nodes, 5,000 namespaces"),
        (("rest_all", "mb", "milan"), 301.0, "memory of the provider: 10,000 ShadowPods"),
        (("start_home", "first_write_seconds"), 20.1, "start of the consumer, caches complete / first write"),
        (("start_away", "complete_seconds"), 20.1, "start of the provider, likewise"),
        (("changes", "quota"), turn(100.0, 100.0), "longest turn while one quota changes"),
        (("changes", "VirtualNode"), turn(50.0, math.inf), "longest turn while one VirtualNode changes"),
        (("steps", 2, "requests_per_pod"), 5.3, "requests per pod: 100, 900, 9,000 pods"),
        (("rest_few",), rest(0.51), "CPU at rest, 100 twins, a minute"),
        (("rest_all",), rest(2.1), "CPU at rest, 5,000 namespaces, 100 nodes, 10,000 pods, a minute"),
        (("foul", "stuck"), foul(121.0), "a provider that is stuck: p95 of another's pods"),
        (("foul", "flooding", "ms"), [121.0] * 40, "a provider that is flooding: p95 of another's pods"),
        (("foul", "crowded"), foul(121.0), "a provider that is crowded: p95 of another's pods"),
    ],
)
def test_a_figure_that_is_missed_is_named(monkeypatch, capsys, path, value, row):
    figures = copy.deepcopy(REACHED)
    place = figures
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert missed(figures) == [row]
    ends_with_one(monkeypatch, capsys, scale, "bench", figures, REACHED)


def entry(verb, resource, uri="/api", **fields):
    name, _, sub = resource.partition("/")
    return {"verb": verb, "objectRef": {"resource": name, "subresource": sub}, "requestURI": uri, **fields}


def test_what_goes_by_the_clock_is_not_counted_for_pods():
    events = "/api/v1/namespaces/a/events?fieldSelector="
    for counted in (
        entry("create", "shadowpods"), entry("patch", "pods/status"), entry("get", "secrets"),
        entry("list", "events", events + "involvedObject.uid%3Dabc%2Ctype%3DWarning"),
    ):  # fmt: skip
        assert not goes_by_the_clock(counted)
    for left_out in (
        entry("update", "leases"), entry("patch", "nodes/status"), entry("list", "configmaps"),
        entry("list", "events", events + "type%3DWarning"), {"verb": "get", "requestURI": "/livez"},
    ):  # fmt: skip
        assert goes_by_the_clock(left_out)


def test_a_log_is_counted_from_the_line_after_a_mark(tmp_path):
    file = tmp_path / "audit.log"
    lines = [json.dumps(entry(verb, "pods", requestReceivedTimestamp=f"2026-11-25T12:00:0{second}.5Z")) + "\n"
             for second, verb in enumerate(("get", "create", "create", "delete"))]  # fmt: skip
    log = RequestLog("milan", file)
    file.write_text(lines[0] + lines[1][:20])
    mark = log.mark()
    assert mark == len(lines[0])
    file.write_text("".join(lines[:3]) + lines[3][:-1])
    assert log.count(mark, lambda _: True) == {"milan: create pods": 2}
    assert log.first(mark, lambda found: found["verb"] == "create") % 60 == 1.5
    assert log.first(mark, lambda found: found["verb"] == "delete") is None


def test_the_longest_turn_is_that_between_two_looks():
    before = {0.001: 5, 0.05: 6, 0.5: 6, math.inf: 7}
    assert longest_ms(before) == math.inf
    assert longest_ms({0.001: 9, 0.05: 11, 0.5: 11, math.inf: 12}, before) == 50
    assert longest_ms(before, before) == 1
    assert longest_ms({0.001: 9, 0.05: 11, 0.5: 12, math.inf: 13}, before, left_out=1) == 50


def test_the_real_provider_has_no_more_twins_than_one_consumer_gets():
    assert (Size(10_000, 100, 10, 5000).twins, Size(10_000, 100, 10, 5000).few) == (1000, 100)
    assert (Size(300, 5, 2, 50).twins, Size(300, 5, 2, 50).few) == (25, 25)
    assert scale.steps(10_000) == [range(0, 100), range(100, 1000), range(1000, 10_000)]
    assert scale.steps(300) == [range(0, 100), range(100, 300)]


def test_its_help_needs_no_clusters():
    done = subprocess.run([sys.executable, ROOT / "bench/scale.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--providers" in done.stdout
