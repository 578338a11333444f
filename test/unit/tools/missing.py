"""The promises of every bench about a figure that is missed."""

from __future__ import annotations

import sys
from typing import Any


def ends_with_one(monkeypatch, capsys, bench: Any, entry: str, missed: Any, reached: Any) -> None:
    """The bench says that a goal is missed and ends with 1 by these figures, and with 0 by those; `entry` measures."""
    monkeypatch.setattr(bench.settings, "missing_requirements", lambda: [])
    monkeypatch.setattr(bench.signal, "signal", lambda *_: None)
    monkeypatch.setattr(bench, entry, lambda *_: missed)
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert bench.main() == 1
    assert "MISSED" in capsys.readouterr().out
    monkeypatch.setattr(bench, entry, lambda *_: reached)
    assert bench.main() == 0
