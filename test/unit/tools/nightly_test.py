"""The record of the slowest stories in docs/stories.md, and when tools/test asks for them."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import nightly  # noqa: E402
import stories  # noqa: E402

PAGE = """# Stories

| `test_peer.py` is named in a table of promises | `test_peer.py` |

| file | commit | date | result |
| --- | --- | --- | --- |
| `test_dist.py` | never | | |
| `test_applications.py` | `0123abcd` with changes | 2026-01-02 | 3 failed, 9 min |
"""


def test_the_page_has_a_row_for_each_nightly_file():
    assert set(nightly.ran_at(nightly.RECORD.read_text())) == set(stories.NIGHTLY)


def test_a_row_is_written_in_place():
    page = nightly.rewritten(PAGE, "test_dist.py", "`89abcdef`", "2026-03-04", "21 passed, 8 min")
    assert page == PAGE.replace(
        "| `test_dist.py` | never | | |", "| `test_dist.py` | `89abcdef` | 2026-03-04 | 21 passed, 8 min |"
    )
    assert nightly.ran_at(page) == {"test_dist.py": "89abcdef", "test_applications.py": "0123abcd"}


def test_what_was_run_too_long_ago_is_due(tmp_path, monkeypatch):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-C", str(tmp_path)]
    subprocess.run([*git[:-2], "init", "-q", str(tmp_path)], check=True)

    def commit():
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "more"], check=True)
        head = subprocess.run([*git, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True)
        return head.stdout.strip()

    monkeypatch.setattr(nightly, "ROOT", tmp_path)
    monkeypatch.setattr(nightly, "MAX_AGE", 2)
    record = tmp_path / "stories.md"
    first = commit()
    record.write_text(nightly.rewritten(PAGE, "test_applications.py", f"`{first}`", "2026-01-02", "21 passed"))
    commit(), commit()
    assert nightly.due(record) == ["nightly: test_dist.py was never run: tools/test nightly test_dist.py"]
    commit()
    assert nightly.due(record)[1] == (
        "nightly: test_applications.py was last run 3 commits ago: tools/test nightly test_applications.py"
    )
    record.write_text(PAGE)
    assert "at a commit that is not here" in nightly.due(record)[1]
