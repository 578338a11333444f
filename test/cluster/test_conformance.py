"""Some of Kubernetes' own tests through a virtual node, always the same: `tools/test conformance` runs all of them."""

from __future__ import annotations

import subprocess
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from harness import conformance, conformance_score, settings
from harness.run import Run

# So many that failed are run again at most: more is no accident.
AGAIN = 3


@pytest.mark.alone("its tests wait as long as on a machine that does nothing else")
@pytest.mark.usefixtures("run", "daemons")
def test_a_selection_of_kubernetes_own_tests_passes_through_a_virtual_node(tmp_path: Path) -> None:
    subprocess.run([settings.SUITE / "build-tools", "conformance"], check=True)
    names = conformance.SELECTION.read_text().splitlines()
    cannot = conformance_score.reasons(conformance.CANNOT.read_text())
    # Clusters that no other story has anything in.
    with closing(Run()) as clusters:
        virtual = conformance.Virtual.start(clusters, opened=True)
        score, slipped = virtual.judge(names, tmp_path / "all", processes=6)
        failed = {name: why for name, why in score.missed.items() if name not in cannot}
        if 0 < len(failed) <= AGAIN:
            warnings.warn(f"these of Kubernetes' tests are run again: {failed}", stacklevel=1)
            again, _ = virtual.judge(list(failed), tmp_path / "again", processes=1)
            failed = again.missed
        kept = clusters.keep_logs("conformance") if failed else ""
    assert failed == {}, f"logs are in {kept}, and what the tests said in {tmp_path}"
    assert len(score.passed) + len(score.missed) == len(names) and slipped == []
