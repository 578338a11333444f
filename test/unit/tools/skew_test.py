"""tools/test skew: what is on the other side is found, or said not to be there."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import earlier  # noqa: E402


def test_a_commit_is_found_by_what_git_calls_it():
    head = earlier.commit("HEAD")
    assert len(head) == 40 and earlier.commit(head[:12]) == head


@pytest.mark.parametrize("ref", ["no-such-branch", "--all", "HEAD:README.md", ""])
def test_what_is_no_commit_is_none(ref):
    assert earlier.commit(ref) == ""


@pytest.mark.parametrize("version", ["1.34.4", "v1.34", "latest", ""])
def test_a_version_of_kubernetes_is_named_in_full(version):
    command = [sys.executable, ROOT / "test/cluster/build-tools", "--kubernetes", *([version] if version else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == "build-tools: --kubernetes takes one version, such as v1.36.3\n"
