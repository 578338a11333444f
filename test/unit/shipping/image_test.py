"""The image: the same each time, small, and its programs run in it by a user who may write nowhere."""

import hashlib
import io
import json
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import tarfile

import pytest
from shipping import image, oci

ROOT = pathlib.Path(__file__).resolve().parents[3]
RELEASE = ROOT / "build/release"
BUILT = all((RELEASE / target).exists() for target in image.TARGETS)

pytestmark = pytest.mark.skipif(
    not BUILT or platform.machine() != "x86_64" or not shutil.which("dpkg-query"),
    reason="needs a release build, on Debian for amd64",
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for namespaces")


@pytest.fixture(scope="module")
def made():
    return image.make(RELEASE)


@pytest.fixture(scope="module")
def unpacked(made, tmp_path_factory):
    place = tmp_path_factory.mktemp("root")
    place.chmod(0o755)
    with tarfile.open(fileobj=io.BytesIO(made.root)) as archive:
        archive.extractall(place)
    return place


def run(root, *command):
    """Runs a command as the image's user in this root, which is read-only, with no other file system."""
    steps = ("ip link set lo up", 'mount --bind "$0" "$0"', 'mount -o remount,bind,ro "$0"')
    script = " && ".join((*steps, 'exec chroot --userspec=65532:65532 "$0" "$@"'))
    return subprocess.run(
        ["unshare", "--mount", "--net", "sh", "-c", script, root, *command],
        capture_output=True, text=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, timeout=60, check=False,
    )  # fmt: skip


def files(root):
    return [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]


def blob(archive, digest):
    return archive.extractfile(f"blobs/sha256/{digest.removeprefix('sha256:')}").read()


def test_the_same_bytes_twice(made, tmp_path):
    # From another place, as from another checkout.
    for target in image.TARGETS:
        (tmp_path / target).parent.mkdir(parents=True)
        shutil.copyfile(RELEASE / target, tmp_path / target)
    for name in ("build.ninja", ".ninja_deps", ".ninja_log"):
        shutil.copyfile(RELEASE / name, tmp_path / name)
    again = image.make(tmp_path)
    assert hashlib.sha256(again.archive).digest() == hashlib.sha256(made.archive).digest()
    assert again.sbom == made.sbom


def test_the_time_is_that_which_is_given_or_the_commits(made, monkeypatch):
    with tarfile.open(fileobj=io.BytesIO(made.root)) as archive:
        assert {one.mtime for one in archive.getmembers()} == {image.source_time()}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert image.source_time() == 1700000000
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ValueError, match="set SOURCE_DATE_EPOCH"):
        image.source_time()


def test_it_is_at_most_25_megabytes(made):
    assert len(made.root) <= 25_000_000


def test_there_is_no_shell_and_nothing_to_install_or_write_with(unpacked):
    assert sorted(path.name for path in (unpacked / "usr/bin").iterdir()) == ["liqoctl", "liqod"]
    programs = [path for path in files(unpacked) if os.access(path, os.X_OK) and ".so" not in path.name]
    assert [path.name for path in programs] == ["liqod"]
    for path in unpacked.rglob("*"):
        assert path.is_symlink() or not path.stat().st_mode & 0o6022, f"{path} may be written to, or is set-uid"


def test_the_archive_is_what_docker_and_containerd_load(made):
    with tarfile.open(fileobj=io.BytesIO(made.archive)) as archive:
        (entry,) = json.load(archive.extractfile("index.json"))["manifests"]
        assert entry["digest"] == made.digest and entry["annotations"]["io.containerd.image.name"] == made.name
        for path in (one.name for one in archive.getmembers() if one.isfile() and one.name.startswith("blobs/")):
            assert hashlib.sha256(archive.extractfile(path).read()).hexdigest() == path.rpartition("/")[2]
        manifest = json.loads(blob(archive, entry["digest"]))
        config = json.loads(blob(archive, manifest["config"]["digest"]))
        (docker,) = json.load(archive.extractfile("manifest.json"))
        assert docker["RepoTags"] == [made.name] and archive.getmember(docker["Config"])
        (layer,) = manifest["layers"]
        assert docker["Layers"] == [f"blobs/sha256/{layer['digest'].removeprefix('sha256:')}"]
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(made.root).hexdigest()}"]
    assert config["architecture"] == "amd64" and config["config"]["User"] == "65532:65532"
    assert config["config"]["Entrypoint"] == ["/usr/bin/liqod"]
    labels = config["config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == image.project_version()
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0" and manifest["annotations"] == labels


def test_what_is_not_known_is_not_said():
    assert "org.opencontainers.image.revision" not in oci.labels("0.1.0", "")
    assert oci.labels("0.1.0", "abc")["org.opencontainers.image.revision"] == "abc"


def test_the_sbom_lists_every_file_of_it(made, unpacked):
    document = json.loads(made.sbom)
    listed = {one["fileName"].removeprefix("./") for one in document["files"]}
    own = "usr/share/doc/liqo/sbom.spdx.json"
    assert listed == {str(path.relative_to(unpacked)) for path in files(unpacked)} - {own}
    assert (unpacked / own).read_bytes() == made.sbom
    ids = [one["SPDXID"] for one in (*document["packages"], *document["files"])]
    assert len(ids) == len(set(ids))
    names = {one["name"] for one in document["packages"]}
    assert {"libssl3", "libc6", "ca-certificates", "libboost1.81-dev", "libcli11-dev"} <= names


def test_texts_of_licences_are_in_it(unpacked):
    for package in ("libssl3", "libc6", "libcli11-dev"):
        assert (unpacked / f"usr/share/doc/{package}/copyright").stat().st_size
    assert (unpacked / "usr/share/common-licenses/LGPL-2.1").stat().st_size


@needs_root
def test_its_programs_run_in_it(unpacked):
    version = image.project_version()
    for command, begins in (
        (["/usr/bin/liqod", "--version"], f"liqod {version}"),
        (["/usr/bin/liqod", "--help"], ""),
        (["/usr/bin/liqoctl", "version", "--client"], f"Client version: {version}"),
        (["/usr/bin/liqoctl", "install", "--print", "--cluster-id", "rome", "--set", "image.repository=liqod"], ""),
    ):
        done = run(unpacked, *command)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout.startswith(begins) and done.stdout, command


@needs_root
def test_names_are_looked_up_and_authorities_known_without_anything_of_the_system(unpacked):
    # The runtime brings the first; the other is what a user mounts.
    (unpacked / "etc/hosts").write_text("127.0.0.1 api.example.org\n")
    (unpacked / "kubeconfig").write_text(
        "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],"
        " clusters: [{name: a, cluster: {server: 'https://api.example.org:1'}}], users: [{name: a, user: {token: t}}]}"
    )
    said = run(unpacked, "/usr/bin/liqoctl", "info", "--kubeconfig", "/kubeconfig")
    assert said.returncode == 1 and "Connection refused" in said.stderr, said
    roots = unpacked / "usr/lib/ssl/cert.pem"
    assert roots.readlink() == pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
    assert (unpacked / "etc/ssl/certs/ca-certificates.crt").read_bytes().count(b"BEGIN CERTIFICATE") > 100


def test_the_containerfile_makes_the_same_image(made):
    said = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", "")
    lines = dict(line.split(" ", 1) for line in said.splitlines() if line and not line.startswith("#"))
    assert lines["FROM"] == "scratch" and lines["ADD"] == "root.tar /"
    config = oci.config(made.root, oci.labels("$VERSION", ""), "")["config"]
    assert lines["USER"] == config["User"] and json.loads(lines["ENTRYPOINT"]) == config["Entrypoint"]
    assert [lines["ENV"]] == config["Env"] and lines["WORKDIR"] == config["WorkingDir"]
    assert dict(word.split("=", 1) for word in shlex.split(lines["LABEL"])) == config["Labels"]
