"""`kubectl cp` in rome copies files to and from containers in milan."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from harness.cluster.cluster import busybox
from harness.monitoring.streams import STREAMS, inside, kubectl, wait_no_streams
from harness.story import Story
from harness.wait import wait_for

# The stories' image has no program `tar`; many images have none either.
WITH_TAR = "ln -s busybox /bin/tar; sleep 1000000"


def digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def test_cp_brings_200_mb_there_and_back(story: Story, tmp_path: Path) -> None:
    story.create(busybox("one", WITH_TAR))
    story.wait_ready("one")
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_bytes(os.urandom(1 << 20) * 200)
    began = time.monotonic()
    up = kubectl(story, "cp", there, "one:/tmp/big")
    assert up.returncode == 0, up.stderr
    turned = time.monotonic()
    down = kubectl(story, "cp", "one:/tmp/big", back)
    assert down.returncode == 0, down.stderr
    print(f"200 MB: up in {turned - began:.1f} s, down in {time.monotonic() - turned:.1f} s")
    assert inside(story, "busybox sha256sum /tmp/big").split()[0] == digest(there) == digest(back)
    wait_no_streams(story)


def test_cp_of_a_tree_keeps_its_links(story: Story, tmp_path: Path) -> None:
    story.create(busybox("one", WITH_TAR))
    story.wait_ready("one")
    tree = tmp_path / "tree"
    (tree / "deep/er").mkdir(parents=True)
    (tree / "deep/er/file").write_text("content\n")
    (tree / "to-file").symlink_to("deep/er/file")
    (tree / "to-nothing").symlink_to("not/there")
    up = kubectl(story, "cp", tree, "one:/tmp/tree")
    assert up.returncode == 0, up.stderr
    assert inside(story, "cat /tmp/tree/to-file; readlink /tmp/tree/to-nothing") == "content\nnot/there\n"
    # On the way back kubectl leaves links out and says so, for any pod.
    down = kubectl(story, "cp", "one:/tmp/tree", tmp_path / "back")
    assert down.returncode == 0 and b"skipping symlink" in down.stderr, down.stderr
    assert (tmp_path / "back/deep/er/file").read_text() == "content\n"
    assert not (tmp_path / "back/to-file").exists()


def test_cp_that_is_interrupted_leaves_nothing_running(story: Story, tmp_path: Path) -> None:
    story.create(busybox("one", WITH_TAR))
    story.wait_ready("one")
    with (tmp_path / "long").open("wb") as hollow:
        hollow.truncate(100 << 30)  # it takes no room here, and hours there
    copying = story.consumer.kubectl_started("-n", story.namespace, "cp", tmp_path / "long", "one:/dev/null")
    tars = "ps | grep -c '[t]ar -x' || true"
    try:
        wait_for(lambda: int(inside(story, tars)) == 1, 60, "the copy to be under way")
        assert story.home.metrics()[f'{STREAMS}kind="exec"}}'] == 1
    finally:
        copying.kill()
        copying.communicate()
    wait_for(lambda: int(inside(story, tars)) == 0, 30, "tar to be gone")
    wait_no_streams(story)
