"""tools/test apps: what real software is built of, and that no other part of tools/test runs it."""

import base64
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/cluster"))
sys.path.insert(0, str(ROOT / "tools"))

import stories  # noqa: E402
from harness.apps import pins  # noqa: E402
from harness.apps.root import PACKAGES, Root  # noqa: E402
from harness.monitoring import machine  # noqa: E402

APPS = ROOT / "test/cluster/apps"
SOFTWARE = ("kueue", "kuberay", "ray", "patroni")


def test_all_software_is_known():
    assert sorted(pins.names()) == sorted(SOFTWARE)


@pytest.mark.parametrize("name", ["kueue", "kuberay"])
def test_a_module_is_pinned_by_its_digest(name):
    operator = pins.operators()[name]
    kind, _, digest = operator.digest.partition(":")
    assert kind == "h1" and len(base64.b64decode(digest)) == 32
    assert re.fullmatch(r"v\d+\.\d+\.\d+", operator.version)
    # The image has the name that the makers gave it in that version.
    assert pins.image_of(name).endswith(f":{operator.version}")


@pytest.mark.parametrize("name", ["ray", "patroni"])
def test_each_wheel_is_pinned_by_its_digest(name):
    lines = [line for line in pins.wheels(name).read_text().splitlines() if not line.startswith("#")]
    assert lines and not [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==\S+ --hash=sha256:[0-9a-f]{64}", line)]
    assert pins.image_of(name).rpartition(":")[2] == pins.versions(name)[name]


def test_software_lies_where_its_pins_say(monkeypatch, tmp_path):
    before = {name: pins.directory(name) for name in SOFTWARE}
    assert len(set(before.values())) == len(SOFTWARE)
    for file in ("operators.txt", "ray.txt", "patroni.txt"):
        (tmp_path / file).write_text((APPS / file).read_text())
    monkeypatch.setattr(pins, "PINS", tmp_path)
    assert before == {name: pins.directory(name) for name in SOFTWARE}
    (tmp_path / "ray.txt").write_text((APPS / "ray.txt").read_text() + "another==1 --hash=sha256:0\n")
    operators = (APPS / "operators.txt").read_text()
    (tmp_path / "operators.txt").write_text(operators.replace(pins.operators()["kueue"].version, "v0.99.0"))
    assert {name for name in SOFTWARE if pins.directory(name) != before[name]} == {"ray", "kueue"}


def test_each_story_of_software_has_the_mark_and_other_parts_leave_it_out():
    marked = {file.name for file in APPS.glob("test_*.py") if "pytest.mark.apps" in file.read_text()}
    assert marked == {"test_kueue.py", "test_patroni.py", "test_ray.py"}
    assert stories.HERE.endswith("not apps")
    assert '-m "not go_peer and not skew and not apps"' in (ROOT / "test/cluster/pytest.ini").read_text()


def test_a_name_that_is_not_built_is_refused():
    done = subprocess.run(
        [sys.executable, ROOT / "test/cluster/build-tools", "apps/spark"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "there is no apps/spark" in done.stderr and "apps" in done.stderr


def test_the_memory_that_a_block_takes_is_that_which_is_missing():
    assert machine.available_bytes("MemTotal:  10 kB\nMemAvailable:    7 kB\nSwapFree: 1 kB\n") == 7 * 1024
    with machine.Use() as use:
        pass
    use.seconds, use.bytes = 90, 3 << 20
    assert str(use) == "1.5 min, 3 MiB of memory at most"


def test_an_image_has_what_its_wheels_bring(tmp_path):
    wheel, image = tmp_path / "heron-1.0-py3-none-any.whl", tmp_path / "image.tar"
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, mode in (
            ("heron/__init__.py", 0o644), ("heron/core/daemon", 0o755), ("heron/jars/x.jar", 0o644),
            ("heron-1.0.data/scripts/heron", 0o644),
        ):  # fmt: skip
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            packed.writestr(info, name)
    root = Root()
    root.unpack(wheel, ["heron/jars/"])
    root.write(image, "docker.io/library/heron:1.0")
    with tarfile.open(image) as packed:
        members = {member.name: packed.extractfile(member) for member in packed if member.isfile()}
        assert b"docker.io/library/heron:1.0" in members["manifest.json"].read()
        blobs = [file.read() for name, file in members.items() if name.startswith("blobs/")]
    (layer,) = [blob for blob in blobs if blob.startswith(b"\x1f\x8b")]
    with tarfile.open(fileobj=io.BytesIO(layer), mode="r:gz") as files:
        modes = {member.name: member.mode for member in files if member.isfile()}
    assert modes[f"{PACKAGES}/heron/__init__.py"] == 0o644
    assert modes[f"{PACKAGES}/heron/core/daemon"] == modes["usr/bin/heron"] == 0o755
    assert not [name for name in modes if "jars" in name]
