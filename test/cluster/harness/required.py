"""Requirements of stories: without them a story is skipped, and fails if CI is set."""

from __future__ import annotations

from typing import NoReturn

import pytest

from . import settings


def unavailable(reason: str) -> NoReturn:
    """Skips what cannot run here, and says why in a line; if CI is set it fails, because nothing may be missing there."""
    if settings.IN_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def require_liqod() -> None:
    """Ends a story that needs liqod if there is none."""
    daemon = settings.liqod()
    if daemon is None or not daemon.exists():
        unavailable("there is no liqod: build it, or name one by $LIQOD")


def require_liqoctl() -> None:
    """Ends a story that needs liqoctl if there is none."""
    program = settings.liqoctl()
    if program is None or not program.exists():
        unavailable("there is no liqoctl: build it, or name one by $LIQOCTL")


def require_programs() -> None:
    """Ends a story that needs liqod and liqoctl if one of them is missing."""
    require_liqod()
    require_liqoctl()


def require_machine() -> None:
    """Ends a story that needs real clusters on a machine that cannot run them."""
    if missing := settings.missing_requirements():
        unavailable(f"real clusters need {', '.join(missing)}")
