"""tools/bench --against: what it takes for worse, what it reads of each bench, and whose turn it is."""

import json
import pathlib
import subprocess
import sys
from types import SimpleNamespace

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "test/cluster"), str(ROOT / "test/unit/tools"), str(ROOT / "tools")]

import against  # noqa: E402
import compare  # noqa: E402
import report  # noqa: E402
from bench_offload_test import REACHED as OFFLOAD  # noqa: E402
from bench_peers_test import REACHED as PEERS  # noqa: E402
from bench_streams_test import REACHED as STREAMS  # noqa: E402
from bench_test import REACHED as REFLECTION  # noqa: E402

COST = compare.Figure("cost", compare.at("cost"), "ms")
OF_BARE = compare.Figure("cost", compare.at("cost"), "ms", compare.at("bare"))


def turns(*costs, bare=1.0):
    return [{"cost": cost, "bare": bare} for cost in costs]


def test_three_turns_show_their_whole_spread_and_more_turns_leave_out_the_odd_ones():
    assert compare.spread([1.2, 1.0, 1.1]) == (1.0, 1.2)
    assert compare.spread([1.0, 1.1, 1.2, 1.3, 1.4]) == (1.0, 1.4)
    assert compare.spread([0.5, 1.1, 1.2, 1.3, 1.4, 1.5, 9.0]) == (1.1, 1.5)
    with pytest.raises(ValueError, match="3 turns"):
        compare.spread([1.0, 1.1])


@pytest.mark.parametrize(
    ("today", "verdict"),
    [
        ((100, 101, 99), ""),
        ((120, 118, 119), "WORSE"),
        # One turn of three shows nothing of it: the next ones may not, either.
        ((120, 118, 104), "above, within the spread"),
        ((70, 70, 140), ""),
        # Five per cent is allowed.
        ((105, 105, 105), ""),
    ],
)
def test_a_figure_is_worse_where_its_whole_spread_is_above_the_limit(today, verdict):
    found = compare.compare(COST, turns(100, 100, 100), turns(*today))
    assert found.is_worse == (verdict == "WORSE")
    assert compare.table([found]).splitlines()[-1].endswith(verdict or f"{found.high:.2f}")


def test_a_machine_that_slows_down_is_worse_for_both():
    earlier = [{"cost": 10, "bare": 5}, {"cost": 20, "bare": 10}, {"cost": 40, "bare": 20}]
    today = [{"cost": 20, "bare": 10}, {"cost": 40, "bare": 20}, {"cost": 80, "bare": 40}]
    assert not compare.compare(OF_BARE, earlier, today).is_worse
    assert compare.compare(COST, earlier, today).is_worse
    assert "of the bare client's" in compare.table([compare.compare(OF_BARE, earlier, today)])


def test_what_was_nothing_is_worse_as_soon_as_it_is_something():
    assert not compare.compare(COST, turns(0, 0, 0), turns(0, 0, 0)).is_worse
    assert compare.compare(COST, turns(0, 0, 0), turns(1, 1, 1)).is_worse


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("offload", {**OFFLOAD, "details": {**OFFLOAD["details"], "limit_cpu_ms_by_process": {"rome/etcd": 20.0}}}),
        ("peer", {"accepted": [0.5, 0.6, 0.7], "ready": [1.0], "gone": [2.0]}),
        ("reflection", REFLECTION),
        ("peers", PEERS),
        ("streams", STREAMS),
        ("pump", {"printed": 3.0}),
        (
            "admission",
            {
                "cpu_ms_per_admission": 0.4, "commits_per_admission": 0.1, "cpu_seconds": {"kube-apiserver": 20.0},
                "load": {"sent": 18000, "latency_ms": {"p50": 5.0, "p99": 20.0}},
            },
        ),
        (
            "endpoints",
            {
                "last_seconds": 0.5, "cpu_seconds": {"rome": 0.1, "milan": 0.2},
                "shadowendpointslices": {"writes_per_slice": 5}, "endpointslices": {"writes_per_slice": 5},
            },
        ),
        (
            "hostile",
            {
                "peak_mb": 60.0, "rest_mb": 20.0, "ms": [90.0, 100.0], "plain_ms": [90.0, 95.0], "database_mb": 40.0,
            },
        ),
        (
            "scale",
            {
                "loaded_mb": {"rome": 200.0, "milan": 100.0}, "start_home": {"first_write_seconds": 3.0},
                "start_away": {"first_write_seconds": 3.0},
                "steps": [{"requests_per_pod": 7.0, "cpu_ms": {"rome/liqod": 3.0, "milan/liqod": 2.0}}],
                "rest_all": {"cpu_seconds": {"rome/liqod": 0.8}},
            },
        ),
    ],
)  # fmt: skip
def test_every_figure_is_read_of_what_its_bench_writes(name, figures):
    for figure in compare.FIGURES[name]:
        assert figure.cost(figures) > 0, figure.name
        assert compare.compare(figure, [figures] * 3, [figures] * 3).ratio == 1.0


def test_every_bench_of_programs_can_be_compared():
    text = (ROOT / "tools/bench").read_text()
    names = {line.split()[1] for line in text.splitlines() if line.strip().startswith("tools/bench ")} - {"NAME"}
    assert names - {"micro"} == set(compare.FIGURES)


def test_both_take_their_turns_in_pairs_and_each_begins_as_often():
    assert list(against.order(4)) == [
        "earlier", "today", "today", "earlier", "earlier", "today", "today", "earlier",
    ]  # fmt: skip


def test_a_turn_measures_the_programs_that_it_is_given(monkeypatch):
    seen = []

    def run(command, env, **_):
        seen.append((command, env))
        pathlib.Path(command[-1]).write_text(json.dumps({"accepted": [1.0]}))
        return SimpleNamespace(returncode=1, stdout="")

    monkeypatch.setattr(against.subprocess, "run", run)
    assert against.take_turn("peer", pathlib.Path("/old"), ["--rounds", "2"]) == {"accepted": [1.0]}
    command, env = seen[0]
    assert env["LIQOD"] == "/old/services/liqod/liqod" and env["LIQOCTL"] == "/old/services/liqoctl/liqoctl"
    # What was asked for counts, behind what makes a turn short.
    assert command[1].endswith("bench/peer.py") and command[2:6] == ["--rounds", "5", "--rounds", "2"]


def test_a_turn_that_breaks_ends_the_comparison(monkeypatch):
    monkeypatch.setattr(against.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1, stdout=""))
    with pytest.raises(SystemExit, match="/old"):
        against.take_turn("peer", pathlib.Path("/old"), [])


def test_the_pump_is_each_commits_own(monkeypatch):
    said = "2.5e-1 ms of CPU per MB\n"
    monkeypatch.setattr(against.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0, stdout=said))
    assert against.command("pump", pathlib.Path("/old"), ["--up"], pathlib.Path("f"))[0] == "/old/bench/stream_pump"
    assert against.take_turn("pump", pathlib.Path("/old"), ["--up"]) == {"printed": 0.25}


@pytest.mark.parametrize(("today", "code"), [(100.0, 0), (120.0, 1)])
def test_it_ends_with_one_where_a_figure_is_worse(monkeypatch, capsys, tmp_path, today, code):
    costs = {pathlib.Path("/old"): 100.0, ROOT / "build/release": today}
    monkeypatch.setattr(against, "take_turn", lambda _, programs, __: {"printed": costs[programs]})
    monkeypatch.setattr(against.signal, "signal", lambda *_: None)
    words = ["pump", "--programs", "/old", "--commit", "c" * 40, "--json", str(tmp_path / "all.json"), "--up"]
    monkeypatch.setattr(sys, "argv", ["against", *words])
    assert against.main() == code
    said = capsys.readouterr().out
    assert ("WORSE" in said) == bool(code) and "cccccccccccc" in said and "cores" in said
    assert len(json.loads((tmp_path / "all.json").read_text())["today"]) == 3


def test_a_commit_that_is_not_there_is_named():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/bench", "offload", "--against", "no-such-commit"], capture_output=True, text=True
    )
    assert done.returncode == 1 and "no commit no-such-commit" in done.stderr


def test_a_report_says_on_what_it_was_measured():
    assert report.machine("model name\t: Some CPU @ 2 GHz\nmodel name\t: Some CPU @ 2 GHz\n", 2) == (
        "2 cores, Some CPU @ 2 GHz"
    )
    assert report.machine("", 4) == "4 cores, of an unknown model"
    assert report.setting().startswith("commit ")
    details = {**OFFLOAD["details"], "limit_cpu_ms_by_process": {"rome/etcd": 20.0}}
    said = report.of_bare_client({**OFFLOAD, "details": details})
    assert "pods until Running 1.43" in said and "CPU per pod 0.2" in said and "API servers' 1.3" in said
