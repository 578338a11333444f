"""tools/bench streams: what it says of figures, and what it ends with."""

import copy
import pathlib
import subprocess
import sys

import pytest
from missing import ends_with_one

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))

import streams  # noqa: E402


def way(rate, cpu):
    return {direction: {"mb_per_second": rate, "cpu_seconds_per_gb": cpu} for direction in ("down", "up")}


REACHED = {
    "gb": 1.0, "rounds": 1,
    "ways": {"direct": way(200.0, 0.0), "liqod": way(80.0, 2.6), "relay": way(100.0, 2.0)},
    "still": {"rest_mb": 8.0, "open_seconds": 1.0, "mb": 25.0},
    "stuck": {"rest_mb": 4.0, "open_seconds": 40.0, "mb": 25.0},
    "crowd": {"rest_mb": 30.0, "open_seconds": 20.0, "mb": 128.0},
}  # fmt: skip


def missed(figures):
    return [row.figure for row in streams.rows(figures) if not row.reached]


def test_figures_that_are_reached():
    assert missed(REACHED) == []
    assert "0.40 (of 200 MB/s)" in streams.report.lay_out(streams.rows(REACHED))


@pytest.mark.parametrize(
    ("path", "value", "row"),
    [
        (("ways", "liqod", "down", "mb_per_second"), 79.0, "down: rate, against the relay"),
        (("ways", "liqod", "up", "mb_per_second"), 79.0, "up: rate, against the relay"),
        (("ways", "liqod", "down", "cpu_seconds_per_gb"), 2.7, "down: CPU per GB, against the relay"),
        (("ways", "liqod", "up", "cpu_seconds_per_gb"), 2.7, "up: CPU per GB, against the relay"),
        (("still", "mb"), 25.1, "memory of an exec whose reader stands still"),
        (("stuck", "mb"), 25.1, "memory of a port-forward that is stuck both ways"),
        (("crowd", "mb"), 128.1, "memory of 500 streams above rest"),
    ],
)
def test_a_figure_that_is_missed_is_named(monkeypatch, capsys, path, value, row):
    figures = copy.deepcopy(REACHED)
    place = figures
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert missed(figures) == [row]
    ends_with_one(monkeypatch, capsys, streams, "measure", figures, REACHED)


def test_its_help_needs_no_clusters():
    done = subprocess.run([sys.executable, ROOT / "bench/streams.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--gb" in done.stdout
