"""The commands in the pods of `liqoctl move volume`: the files of a directory are sent, received and compared."""

import os
import pathlib
import subprocess

import pytest
from program import LIQOCTL

pytestmark = [
    pytest.mark.skipif(not LIQOCTL.exists(), reason="liqoctl is not built"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others"),
]
CHUNK = 128 * 1024


def volume(*words: object, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [LIQOCTL, "volume", *map(str, words)],
        input=given,
        capture_output=True,
        timeout=120,
        check=False,
    )


def sent(directory: pathlib.Path) -> bytes:
    done = volume("send", directory)
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(directory: pathlib.Path, *flags: str) -> str:
    done = volume("list", directory, *flags)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(b"\nend\n")
    return done.stdout.decode()


@pytest.fixture
def source(tmp_path: pathlib.Path) -> pathlib.Path:
    """Files of every kind."""
    made = tmp_path / "source"
    (made / "inner/deep").mkdir(parents=True)
    (made / "empty").touch()
    (made / "large").write_bytes(os.urandom(CHUNK * 2 + 1))
    with (made / "holes").open("wb") as holes:
        holes.truncate(32 << 20)
        holes.write(b"x")
    (made / "inner/a\nb\\").write_text("awkward")
    (made / "inner/link").symlink_to("../../../etc/passwd")
    (made / "inner/nowhere").symlink_to("nowhere")
    os.link(made / "large", made / "inner/deep/large")
    for name, owner, mode in (
        ("inner/deep", 70, 0o2770),
        ("large", 1000, 0o4750),
        ("empty", 2000, 0o000),
    ):
        os.chown(made / name, owner, owner + 1)
        (made / name).chmod(mode)
    os.utime(made / "inner", (5, 5))
    return made


def test_a_directory_arrives_as_it_was_sent(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    os.mkfifo(source / "pipe")
    target, outside = tmp_path / "target", tmp_path / "outside"
    # What an earlier copy has left goes; where its links lead stays.
    (target / "old/deep").mkdir(parents=True)
    outside.mkdir()
    (outside / "kept").touch()
    (target / "old/outside").symlink_to(outside)
    (target / "lost+found").mkdir()
    stream = volume("send", source)
    assert stream.stderr == b"pipe is no file, directory or link, and is left out\n"
    done = volume("receive", target, given=stream.stdout)
    assert (done.returncode, done.stdout) == (0, b"\nend\n"), done.stderr
    assert listed(target) == listed(source)
    assert (outside / "kept").exists() and (target / "lost+found").exists() and not (target / "old").exists()
    assert (target / "large").stat().st_ino == (target / "inner/deep/large").stat().st_ino
    assert (target / "holes").stat().st_blocks < 1000
    assert (target / "inner").stat().st_mtime == 5


def test_what_differs_is_in_the_list(source: pathlib.Path, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    stream = sent(source)

    def differs(*flags: str) -> bool:
        assert volume("receive", target, given=stream).returncode == 0
        return listed(target, *flags) != listed(source, *flags)

    assert not differs()
    before = listed(source)
    (source / "large").chmod(0o600)
    assert differs() and not differs("--without-modes")
    (source / "large").chmod(0o4750)
    os.chown(source / "inner/link", 9, 9, follow_symlinks=False)
    assert differs() and not differs("--without-owners")
    os.chown(source / "inner/link", 0, 0, follow_symlinks=False)
    assert listed(source) == before
    content = (source / "large").read_bytes()
    (source / "large").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert differs("--without-modes", "--without-owners")


def test_links_with_blanks_are_told_apart(tmp_path: pathlib.Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (one / "a").symlink_to("b to c")
    (other / "a to b").symlink_to("c")
    assert " a to b\\040to\\040c\n" in listed(one)
    assert " a\\040to\\040b to c\n" in listed(other)


def test_a_write_shows_in_the_state(source: pathlib.Path) -> None:
    state = lambda: volume("state", source).stdout  # noqa: E731
    before = state()
    assert listed(source) and state() == before, "reading changes nothing"
    (source / "empty").write_bytes(b"")
    assert state() != before


@pytest.mark.parametrize(
    ("cut", "told"),
    [
        (lambda stream: stream[:-1], b"has ended before its end"),
        (lambda stream: b"", b"has ended before its end"),
        (lambda stream: b"liqo volume 9\n" + stream[14:], b"another version"),
        (
            lambda stream: stream.replace(b"awkward", b"awkwarD"),
            b"has arrived with another content",
        ),
        (
            lambda stream: stream.replace(b"nowhere", b"no/here", 1),
            b"a name that no file can have",
        ),
        (lambda stream: stream.replace(b"empty", b"large", 1), b"File exists"),
    ],
)
def test_a_broken_stream_is_refused(source: pathlib.Path, tmp_path: pathlib.Path, cut: object, told: bytes) -> None:
    target = tmp_path / "target"
    target.mkdir()
    done = volume("receive", target, given=cut(sent(source)))  # type: ignore[operator]
    assert done.returncode == 1 and told in done.stderr, done.stderr
