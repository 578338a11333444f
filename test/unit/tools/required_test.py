"""Requirements of stories: without them stories are skipped on a machine of somebody's own, and fail in CI."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SUITE = ROOT / "test/cluster"
sys.path.insert(0, str(SUITE))

from harness import required, settings  # noqa: E402

# Reasons that are none of the machine's: a step before it failed, or nobody asked for the story.
OTHER_REASONS = re.compile(r"the section before it failed|no other version|no clone with the commit|Kubernetes before 1.37")


@pytest.fixture(params=["require_liqod", "require_liqoctl", "require_programs", "require_machine"])
def requirement(request, monkeypatch):
    monkeypatch.setenv("LIQOD", "/nonexistent/liqod")
    monkeypatch.setenv("LIQOCTL", "/nonexistent/liqoctl")
    monkeypatch.setattr(settings, "missing_requirements", lambda: ["root"])
    return getattr(required, request.param)


def test_without_it_a_story_is_skipped(requirement, monkeypatch):
    monkeypatch.setattr(settings, "IN_CI", False)
    with pytest.raises(pytest.skip.Exception, match="there is no liqo|real clusters need root"):
        requirement()


def test_in_ci_it_fails(requirement, monkeypatch):
    monkeypatch.setattr(settings, "IN_CI", True)
    with pytest.raises(pytest.fail.Exception, match="there is no liqo|real clusters need root"):
        requirement()


def test_what_is_there_is_required_in_vain(monkeypatch):
    monkeypatch.setattr(settings, "missing_requirements", list)
    for variable in ("LIQOD", "LIQOCTL"):
        monkeypatch.setenv(variable, sys.executable)
    required.require_programs(), required.require_machine()


def test_no_story_passes_this_by():
    skips = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in SUITE.rglob("*.py")
        if path != SUITE / "harness/required.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if "pytest.skip(" in line
    ]
    assert skips and not [line for line in skips if not OTHER_REASONS.search(line)]


def test_every_module_of_the_harness_is_on_its_page():
    page = (SUITE / "README.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^`(harness/(?:\w+/)?)`, [^\n]*:\n(.*?)(?=^`harness|^Nothing)", page, re.MULTILINE | re.DOTALL))
    modules = [path for path in (SUITE / "harness").rglob("*.py") if path.name != "__init__.py"]
    missing = [
        str(path.relative_to(SUITE))
        for path in modules
        if f"`{path.name}`" not in parts.get(f"{path.parent.relative_to(SUITE)}/", "")
    ]
    assert len(modules) > 50 and not missing
