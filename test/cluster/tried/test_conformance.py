"""A fixed selection of Kubernetes' own tests passes through a virtual node; `tools/test conformance` runs all."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from harness import settings
from harness.run import Run
from harness.tools import conformance, conformance_score

# At most this many failed tests run again, and count as flaky if they pass: more is no accident.
AGAIN = 3
# How long all tests may take, and then those that run again.
LIMIT, LIMIT_AGAIN = "12m", "5m"


@pytest.mark.alone("its tests wait as long as on a machine that does nothing else")
@pytest.mark.usefixtures("run", "daemons")
def test_a_selection_of_kubernetes_own_tests_passes_through_a_virtual_node(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    subprocess.run([settings.SUITE / "build-tools", "conformance"], check=True)
    names = conformance.SELECTION.read_text().splitlines()
    cannot = conformance_score.reasons(conformance.CANNOT.read_text())
    # No other story uses these clusters.
    with closing(Run()) as clusters:
        virtual = conformance.Virtual.start(clusters, opened=True)
        score, slipped = virtual.judge(names, tmp_path / "all", processes=6, limit=LIMIT)
        failed = {name: why for name, why in score.missed.items() if name not in cannot}
        if 0 < len(failed) <= AGAIN:
            again, _ = virtual.judge(list(failed), tmp_path / "again", processes=1, limit=LIMIT_AGAIN)
            for name in again.passed:
                record_property("flaky", f"{name}: {failed[name]}")
            failed = again.missed
        kept = clusters.keep_logs("conformance") if failed else ""
    assert failed == {}, f"logs are in {kept}, and what the tests said in {tmp_path}"
    assert len(score.passed) + len(score.missed) == len(names) and slipped == []
