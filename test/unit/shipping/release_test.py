"""tools/release: what is in dist/, the same each time, and nothing half done."""

import hashlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest
import yaml
from shipping import chart, image

ROOT = pathlib.Path(__file__).resolve().parents[3]
RELEASE = ROOT / "build/release"
CHART = ROOT / "charts/liqo"
CACHE = pathlib.Path(os.environ.get("LIQO_TEST_CACHE", pathlib.Path.home() / ".cache/liqo-test"))
HELMS = sorted(CACHE.glob("bin/helm*"))

built = pytest.mark.skipif(
    not all((RELEASE / target).exists() for target in image.TARGETS), reason="needs a release build"
)


@pytest.fixture(scope="module")
def release():
    path = str(ROOT / "tools/release")
    spec = importlib.util.spec_from_loader("release", importlib.machinery.SourceFileLoader("release", path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def members(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {one.name: archive.extractfile(one).read() for one in archive.getmembers()}


def test_the_chart_has_the_version_and_leaves_away_what_is_ignored():
    packed = chart.package(CHART, "1.2.3", 1700000000)
    found = members(packed)
    assert next(iter(found)) == "liqo/Chart.yaml"
    said = yaml.safe_load(found["liqo/Chart.yaml"])
    assert (said["version"], said["appVersion"], said["name"]) == ("1.2.3", "1.2.3", "liqo")
    before = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert said == before | {"version": "1.2.3", "appVersion": "1.2.3"}
    for name in ("values.yaml", "templates/_helpers.tpl", "templates/deployment.yaml"):
        assert found[f"liqo/{name}"] == (CHART / name).read_bytes()
    assert not [name for name in found if name.startswith("liqo/definitions")]
    assert packed == chart.package(CHART, "1.2.3", 1700000000)


@pytest.mark.parametrize(
    ("path", "rules", "gone"),
    [
        ("definitions/kinds/quota.yaml", ["definitions/"], True),
        ("definitions", ["definitions/"], False),
        ("a/notes.txt", ["*.txt"], True),
        ("a/notes.txt", ["/*.txt"], False),
        ("notes.txt", ["/notes.txt"], True),
        ("a/b/c", ["a/b"], True),
        ("x/a/b", ["a/b"], False),
        ("a", ["# a", "", "b"], False),
    ],
)
def test_helmignore_is_read_as_helm_reads_it(path, rules, gone):
    assert chart.ignored(path, rules) == gone


@pytest.mark.skipif(not HELMS, reason="needs a Helm that the tests of the chart have built")
@pytest.mark.parametrize("helm", HELMS, ids=[path.name for path in HELMS])
def test_the_archive_is_what_helm_packages(helm, tmp_path):
    here = pathlib.Path(shutil.copytree(CHART, tmp_path / "liqo"))
    for name in ("x.txt", "a/x.txt", "a/b/y.md", "c/a/b/z"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(name)
    (here / ".helmignore").write_text("definitions/\n/*.txt\na/b\n# the end\n")
    subprocess.run([helm, "package", here, "--version", "1.2.3", "--app-version", "1.2.3", "-d", tmp_path], check=True)
    theirs, ours = members((tmp_path / "liqo-1.2.3.tgz").read_bytes()), members(chart.package(here, "1.2.3", 0))
    read = yaml.safe_load
    assert read(theirs.pop("liqo/Chart.yaml")) == read(ours.pop("liqo/Chart.yaml")) and theirs == ours


def test_rules_that_helm_reads_otherwise_than_people_are_refused():
    with pytest.raises(ValueError, match="say what is left away"):
        chart.ignored("a", ["!b"])


def test_a_chart_without_its_versions_is_no_chart():
    with pytest.raises(ValueError, match="0 lines with appVersion"):
        chart.with_version("version: 1\n", "2")


def test_another_version_than_the_programs_say_is_refused():
    command = [sys.executable, ROOT / "tools/release", "9.9.9"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not done.stdout
    assert f"of this tree say that they are {image.project_version()}: release that" in done.stderr


@built
def test_a_release_is_complete_and_its_sums_are_right(release, tmp_path):
    version = image.project_version()
    release.write(tmp_path / "dist", release.products(version))
    files = {path.name: path.read_bytes() for path in (tmp_path / "dist").iterdir()}
    assert sorted(files) == [
        "SHA256SUMS", f"liqo-{version}-image-amd64.tar", f"liqo-{version}.spdx.json", f"liqo-{version}.tgz",
        f"liqoctl-{version}-linux-amd64", f"liqod-{version}-linux-amd64",
    ]  # fmt: skip
    lines = files.pop("SHA256SUMS").decode().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    said = subprocess.run([tmp_path / f"dist/liqod-{version}-linux-amd64", "--version"], capture_output=True, text=True)
    assert said.stdout == f"liqod {version}\n"


def test_only_a_release_is_replaced_and_nothing_is_left_of_it(release, tmp_path):
    output = tmp_path / "dist"
    release.write(output, {"SHA256SUMS": b"", "old": b"1"})
    release.write(output, {"SHA256SUMS": b"", "new": b"2"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dist"]
    assert sorted(path.name for path in output.iterdir()) == ["SHA256SUMS", "new"]
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter").write_text("dear")
    with pytest.raises(ValueError, match="holds no release that could be replaced"):
        release.write(tmp_path / "home", {"SHA256SUMS": b""})
    assert (tmp_path / "home/letter").read_text() == "dear"
