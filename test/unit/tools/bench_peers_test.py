"""tools/bench peers: what it says of figures, what it ends with, and what it reads of a profile."""

import copy
import pathlib
import subprocess
import sys

import pytest
from missing import ends_with_one

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "test/cluster")]

import peers  # noqa: E402
import peers_figures  # noqa: E402
from peers_consumer import milli  # noqa: E402
from peers_profile import above, shares_of  # noqa: E402
from peers_stage import Rest, Spent, line_through  # noqa: E402
from stand_in_crowd import Writes  # noqa: E402


def spent(cpu, turn=50.0):
    return {
        "seconds": 60.0, "cpu_seconds": cpu, "longest_turn_ms": turn,
        "writes": {"PATCH virtualnodes 200": 600, "PUT leases 200": 6000},
    }  # fmt: skip


def rest(cpu):
    return {**spent(cpu), "core": cpu / 100, "heartbeat_seconds": 0.01}


REACHED = {
    "consumer": {
        "size": {"providers": 100, "nodes": 10, "namespaces": 5000, "claims": 5000},
        "start": spent(20.0), "rest": rest(6.0), "reading_ms": 50.0, "grants": spent(9.0), "grant_count": 600, "grant_ms": 20.0,
        "blink": spent(8.0), "blinked": {"lost": 100, "nodes": 1000}, "blink_seconds": 2.0,
        "claims": spent(6.1), "claims_ms": 5.0,
        "grants_profile": {"main": 1.0, "liqo::controllers::Replicator::see_foreign_cluster": 0.06, "liqo::few": 0.04},
    },
    "provider": {
        "size": {"tenants": 100, "machines": 1000},
        "start": spent(2.0, float("inf")), "rest": rest(1.0), "reading_ms": 5.0,
        "pods": spent(5.0), "pods_core": 0.066, "free_for_core": 0.05,
        "cordon": spent(3.0), "cordon_seconds": 2.0, "pods_profile": {},
    },
    "drain": {
        "pods": 1000, "delay_ms": 10, "evictions": 1000, "evicted_seconds": 3.0, "gone_seconds": 9.0,
        "cpu_seconds": 2.0, "writes": {},
    },
}  # fmt: skip


def missed(figures):
    return [row.figure for row in peers_figures.rows(figures) if not row.reached]


def test_figures_that_are_reached():
    assert missed(REACHED) == []
    text = peers_figures.explain(REACHED)
    assert "6.0 %  liqo::controllers::Replicator::see_foreign_cluster" in text
    assert "liqo::few" not in text and "10.00  PATCH virtualnodes 200" in text


@pytest.mark.parametrize(
    ("path", "value", "row"),
    [
        (("consumer", "grant_ms"), 20.1, "CPU of one grant that changes"),
        (("consumer", "grants"), spent(9.0, 100.0), "longest turn while grants change"),
        (("consumer", "blink_seconds"), 2.1, "all peers blink, CPU"),
        (("consumer", "blinked", "lost"), 99, "all peers blink, CPU"),
        (("consumer", "claims_ms"), 5.1, "CPU of a change that unbound claims wait for, 5,000 bound"),
        (("provider", "free_for_core"), 0.051, "free_for while 20 pods a second change"),
        (("provider", "cordon"), spent(3.0, 100.0), "longest turn while all grants follow"),
        (("drain", "evicted_seconds"), 3.1, "1,000 pods of a virtual node that goes are evicted, 10 ms an answer"),
    ],
)
def test_a_figure_that_is_missed_is_named(monkeypatch, capsys, path, value, row):
    figures = copy.deepcopy(REACHED)
    place = figures
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert missed(figures) == [row]
    ends_with_one(monkeypatch, capsys, peers, "bench", figures, REACHED)


def test_without_perf_all_that_pods_cost_is_counted():
    figures = copy.deepcopy(REACHED)
    del figures["provider"]["free_for_core"]
    assert missed(figures) == ["free_for while 20 pods a second change"]


def test_a_part_alone_has_its_own_rows():
    assert missed({"drain": REACHED["drain"]}) == []
    assert len(peers_figures.rows({"drain": REACHED["drain"]})) == 2


def test_a_function_counts_once_in_each_sample():
    script = (
        "\t  55d0 liqo::core::Inventory::free_for(std::basic_string_view<char>) const\n"
        "\t  55d1 liqo::controllers::(anonymous namespace)::plan(int) [clone .resume]\n"
        "\t  55d1 liqo::controllers::plan(int)\n\t  55d2 main\n\n"
        "\t  55d2 main\n"
    )
    found = shares_of(script)
    assert found == {"main": 1.0, "liqo::core::Inventory::free_for": 0.5, "liqo::controllers::plan": 0.5}
    assert set(above(found, 0.5)) == {"liqo::core::Inventory::free_for", "liqo::controllers::plan"}


def test_what_rest_explains_is_not_counted():
    rest = Rest(seconds=60, cpu_seconds=7, longest_turn_ms=1, writes={}, core=0.1, heartbeat_seconds=0.01)
    load = Spent(seconds=30, cpu_seconds=5, longest_turn_ms=1, writes={"PATCH nodes/status 200": 150})
    assert load.beyond(rest) == pytest.approx(0.5)
    assert load.beyond(rest, nodes=100) == pytest.approx(1.5)


def test_rest_is_split_by_the_nodes_that_are_written():
    assert line_through([(0, 0.1), (2, 0.12), (4, 0.14)]) == pytest.approx((0.1, 0.01))
    assert line_through([(0, 0.1), (0, 0.2)]) == pytest.approx((0.15, 0))
    # Nothing gets cheaper by what is written besides.
    assert line_through([(0, 0.2), (2, 0.1)]) == pytest.approx((0.15, 0))


def test_writes_are_counted_by_what_they_begin_with():
    found = Writes(3, {
        "liqod POST pods/eviction 201": {"count": 2, "first": 1.0, "last": 2.0},
        "liqod POST pods/eviction 429": {"count": 1, "first": 0.5, "last": 9.0},
    })  # fmt: skip
    assert found.count("liqod POST pods/eviction 2") == 2
    assert (found.first("liqod POST pods/eviction"), found.last("liqod POST pods/eviction 2")) == (0.5, 2.0)


def test_amounts_of_cpu_are_compared_as_numbers():
    assert milli("16001m") == 16001 and milli("17") == 17000


def test_its_help_needs_no_machine():
    done = subprocess.run([sys.executable, ROOT / "bench/peers.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--consumer" in done.stdout
