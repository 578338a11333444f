"""The pages of the library: its reference is made without a warning, and what the others name exists."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[3] / "subprojects/kube"
PAGES = [LIBRARY / "README.md", LIBRARY / "testserver/README.md", *sorted((LIBRARY / "docs").glob("*.md"))]


def test_the_reference_is_made_without_a_warning(tmp_path: Path) -> None:
    if not shutil.which("doxygen"):
        assert not os.environ.get("CI"), "doxygen is not installed: tools/setup does that"
        pytest.skip("doxygen is not installed")
    settings = (LIBRARY / "docs/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {tmp_path}\n"
    made = subprocess.run(["doxygen", "-"], input=settings, cwd=LIBRARY, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-2000:]
    assert "open_pod_log" in (tmp_path / "reference/namespacekube.html").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(LIBRARY)))
def test_links_and_headers_of_a_page_exist(page: Path) -> None:
    text = page.read_text()
    for header in re.findall(r"`kube/([a-z0-9_/]+\.hpp)`", text):
        assert (LIBRARY / "include/kube" / header).exists(), f"{page}: kube/{header}"
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / link).exists(), f"{page}: {link}"


def test_the_controller_on_the_front_page_is_that_of_the_example() -> None:
    """The fragment stands in the example as it does in the README, but for its indentation."""
    shown = re.search(r"annotation:\n\n((?: {4}.*\n)+)", (LIBRARY / "README.md").read_text())
    assert shown
    words = " ".join(shown[1].split())
    assert words in " ".join((LIBRARY / "examples/pod_counter.hpp").read_text().split())
