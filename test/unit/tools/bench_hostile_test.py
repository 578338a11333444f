"""tools/bench hostile: what it says of figures, how it attacks, and what it ends with."""

import copy
import gzip
import json
import pathlib
import sys

import pytest
from missing import ends_with_one

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "test/cluster")]

import hostile  # noqa: E402

REACHED = {
    "seconds": 60.0, "rest_mb": 25.0, "peak_mb": 100.0, "stores_mb": 20.0, "limit_mb": 512.0, "longest_turn_ms": 100.0,
    "leases_lost": 0, "well_ms": [80.0] * 21, "ms": [90.0] * 40, "database_mb": 50.0,
    "plain_well_ms": [60.0] * 21, "plain_ms": [60.0] * 40, "cpu_seconds": {"rome/liqod": 5.0, "rome/etcd": 3.0},
    "attack": {"flips": 900, "dry runs": 5000, "slices stored": 0},
}  # fmt: skip


def missed(figures):
    return [row.figure for row in hostile.rows(figures) if not row.reached]


def test_figures_that_are_reached():
    assert missed(REACHED) == []
    assert "900 flips" in hostile.explain(REACHED)
    assert "rome/liqod 5.0, rome/etcd 3.0" in hostile.explain(REACHED)
    # What plain pods wait longer, too, is not liqod's.
    assert missed({**REACHED, "ms": [180.0] * 40, "plain_ms": [120.0] * 40}) == []
    # What is held of providers is theirs to use.
    assert missed({**REACHED, "peak_mb": 210.0, "stores_mb": 130.0}) == []


@pytest.mark.parametrize(
    ("key", "value", "row"),
    [
        ("peak_mb", 110.0, "peak memory, against rest and what is held of providers"),
        ("limit_mb", 160.0, "peak memory, against the chart's limit"),
        ("longest_turn_ms", 250.0, "longest turn of the loop"),
        ("leases_lost", 1, "leases lost"),
        ("ms", [97.0] * 40, "pods of another provider, p95, where plain pods take as long as before"),
        ("database_mb", 61.0, "growth of the database at home"),
    ],
)
def test_a_figure_that_is_missed_is_named(monkeypatch, capsys, key, value, row):
    figures = copy.deepcopy(REACHED) | {key: value}
    assert missed(figures) == [row]
    ends_with_one(monkeypatch, capsys, hostile, "measure", figures, REACHED)


def test_the_dense_answer_is_a_list_of_kilobytes_with_millions_of_values():
    answer = hostile.dense_answer()
    size = len(gzip.decompress(answer))
    assert len(answer) < 100 << 10 and hostile.DENSE_BYTES - 2 <= size <= hostile.DENSE_BYTES
    items = json.loads(gzip.decompress(hostile.dense_answer(10_000)))["items"]
    assert len(items) == 1 and len(items[0]["x"]) > 4_900


def test_a_status_that_flips_has_about_a_megabyte():
    text = json.dumps(hostile.Attack._status("a" * hostile.MESSAGE))
    assert 0.8 * hostile.MIB < len(text) < 1.2 * hostile.MIB


def test_the_limit_is_the_charts():
    assert hostile.limit_mb() == 512
