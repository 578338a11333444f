"""The verdict of tools/test on stories that fail beside others."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import stories  # noqa: E402

PASSES = "def test_it():\n    pass\n"
FAILS = "def test_it():\n    assert False\n"
FAILS_ONCE = """
import pathlib

def test_it():
    run = pathlib.Path(__file__).with_suffix(".run")
    if not run.exists():
        run.touch()
        raise AssertionError("the machine was busy")
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    monkeypatch.setattr(stories, "SUITE", tmp_path)
    monkeypatch.setattr(stories, "DURATIONS", tmp_path / "seconds.json")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    alone\n    go_peer\n    skew\n")

    def write(**files):
        for name, text in files.items():
            (tmp_path / f"test_{name}.py").write_text(text)

    return write


def again():
    return {result.file.name: result.code for result in stories.run_all() if result.first}


def test_what_failed_beside_others_is_run_once_more(suite):
    suite(good=PASSES, hasty=FAILS_ONCE, bad=FAILS)
    assert again() == {"test_hasty.py": 0, "test_bad.py": 1}


def test_many_failures_are_no_accident(suite):
    suite(**{name: FAILS_ONCE for name in ("one", "two", "three", "four", "five")})
    assert again() == {}


def test_what_would_take_long_is_not_run_again(suite, monkeypatch):
    monkeypatch.setattr(stories, "MAX_RUN_AGAIN_SECONDS", 0.01)
    suite(hasty=FAILS_ONCE, good=PASSES)
    assert again() == {}


def test_what_is_run_at_night_is_not_run_at_every_change(suite, monkeypatch):
    monkeypatch.setattr(stories, "NIGHTLY", ("test_slow.py",))
    # Whatever marks it has.
    suite(slow=f"import pytest\n\n@pytest.mark.alone\n{PASSES}", good=PASSES)
    codes = {result.file.name: result.code for result in stories.run_all()}
    nothing_is_alone = 5
    assert codes == {"test_good.py": 0, stories.SUITE.name: nothing_is_alone}
    assert [(result.file.name, result.code) for result in stories.run_nightly(stories.NIGHTLY)] == [("test_slow.py", 0)]


def test_what_could_not_be_begun_is_not_run_again(suite):
    suite(broken="import no_such_module\n", good=PASSES)
    assert again() == {}


def test_stories_that_failed_are_named():
    output = "FAILED a.py::test_x[two words] - AssertionError: x - y\nERROR a.py::test_y - KeyError\nERROR a.py::test_y\nERROR a.py\n"
    assert stories.failed_stories(output) == ["a.py::test_x[two words]", "a.py::test_y"]


def test_what_a_story_has_run_again_is_named(suite, tmp_path):
    # By the hook of the real stories.
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT / 'test/cluster')!r})\n"
        f"exec(compile(open({str(ROOT / 'test/cluster/conftest.py')!r}).read(), 'conftest', 'exec'))\n"
    )
    suite(again="def test_it(record_property):\n    record_property('flaky', 'a test:\\n failed first')\n", good=PASSES)
    results = {result.file.name: result for result in stories.run_all()}
    assert stories.passed_again(results["test_again.py"].output) == ["a test: failed first"], results["test_again.py"].output
    assert stories.passed_again(results["test_good.py"].output) == []
