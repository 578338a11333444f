"""`liqoctl peer` compares the clocks of the two clusters, as their API servers date what they answer."""

import pathlib

import pytest
from fake_cluster import LIQOCTL, FakeCluster, liqoctl

pytestmark = pytest.mark.skipif(not LIQOCTL.exists(), reason="liqoctl is not built")


@pytest.mark.parametrize(
    ("at_home", "there", "told"),
    [
        (0, 3600, "its clock is 60 min ahead of that of rome"),
        (0, -7200, "its clock is 120 min behind that of rome"),
        # Whose clock is right does not matter: that of whoever types it may be the one that is off.
        (3600, 0, "its clock is 60 min behind that of rome"),
        (3600, 3600, None),
        (0, 0, None),
    ],
)
def test_clocks_that_do_not_agree_are_told_of(
    tmp_path: pathlib.Path, at_home: int, there: int, told: str | None
) -> None:
    with (
        FakeCluster("rome", at_home).served(tmp_path / "rome.yaml") as consumer,
        FakeCluster("milan", there).served(tmp_path / "milan.yaml") as provider,
    ):
        done = liqoctl("peer", "--kubeconfig", consumer, "--remote-kubeconfig", provider, "--dry-run")
    lines = [line for line in done.stderr.splitlines() if "clock" in line]
    # What it would do comes after the clocks were compared.
    assert "authentication-keys" in done.stderr + done.stdout, done.stderr
    assert len(lines) == (0 if told is None else 1), done.stderr
    if told:
        assert told in lines[0]
        assert "milan" in lines[0]
        assert "synchronise the clocks of both clusters" in lines[0]
