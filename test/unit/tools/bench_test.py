"""tools/bench reflection: what it says of figures, and what it ends with."""

import copy
import pathlib
import subprocess
import sys

import pytest
from missing import ends_with_one

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))

import reflection  # noqa: E402

REACHED = {
    "namespaces": 100, "objects": 1300, "limit_seconds": 1.2, "limit_rate": 1000.0, "rate": 700.0, "empty_mb": 20.0,
    "watches": [12, 12, 13],
    "limit_cpu_seconds": {"milan/kube-apiserver": 2.4, "rome/liqod": 0.0},
    "offloaded": {"cpu_seconds": 0.1, "mb": 3.0},
    "reflected": {
        "writes_per_object": 1.0, "cpu_ms_per_object": 0.3, "kb_per_object": 3.9, "before_mb": 23.0, "after_mb": 28.0,
        "cpu_seconds": {"milan/kube-apiserver": 3.9, "rome/liqod": 0.4},
        "requests": {"rome": {"list secrets": 100}, "milan": {"patch secrets": 500}},
    },
    "rest": {
        "mb": 28.0, "liqod_cpu_ms_per_second": 12.0,
        "rome": {"per_minute": {"list secrets": 300.0}, "other": []},
        "milan": {"per_minute": {"list secrets": 300.0}, "other": []},
    },
    "restart": {"writes": [], "mb": 29.0, "cpu_seconds": 0.6},
}  # fmt: skip


def missed(figures):
    return [row.figure for row in reflection.rows(figures) if not row.reached]


def test_figures_that_are_reached():
    assert missed(REACHED) == []
    assert "list secrets" in reflection.explain(REACHED)


@pytest.mark.parametrize(
    ("part", "key", "value", "row"),
    [
        (None, "rate", 699.0, "rate, against the bare client"),
        (None, "watches", [12, 12, 212], "watches per twin at the provider: no kind / all kinds copied"),
        ("reflected", "writes_per_object", 1.001, "writes per object, at the provider"),
        ("reflected", "cpu_ms_per_object", 1.1, "CPU of liqod per object"),
        ("reflected", "kb_per_object", 4.1, "memory per object"),
        ("rest", "milan", {"per_minute": {}, "other": ["get secrets"]}, "at rest: requests but lists and watches"),
        ("restart", "writes", ["patch secrets"], "after a restart: writes"),
    ],
)
def test_a_figure_that_is_missed_is_named(monkeypatch, capsys, part, key, value, row):
    figures = copy.deepcopy(REACHED)
    (figures[part] if part else figures)[key] = value
    assert missed(figures) == [row]
    ends_with_one(monkeypatch, capsys, reflection, "measure", figures, REACHED)


def test_its_help_needs_no_clusters():
    done = subprocess.run([sys.executable, ROOT / "bench/reflection.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--namespaces" in done.stdout
