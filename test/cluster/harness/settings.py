"""Where things lie: the tree, the cache outside of it, the tools that tests run, and what the environment asks for."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

SUITE = Path(__file__).resolve().parent.parent
TREE = SUITE.parent.parent
CACHE = Path(os.environ.get("LIQO_TEST_CACHE", Path.home() / ".cache/liqo-test"))

KUBERNETES_VERSION = "v1.37.2"

# Everything a run writes lies below one directory of this name, whose owner file tells later runs whether it is alive.
RUNS = Path("/tmp")
RUN_PREFIX = "liqo-test-"
# Logs of failed stories outlive their run here.
KEPT_LOGS = Path(os.environ.get("LIQO_TEST_LOGS", "/tmp/liqo-test-logs"))

IN_CI = bool(os.environ.get("CI"))


def fingerprint(*files: Path) -> str:
    """Names a tool after what it is built from, so that a stale one is never picked up."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def go_files(name: str) -> list[Path]:
    """The files that decide what the tool `name` builds to. All tools are of one Go module, that of this suite."""
    files = [SUITE / "go.mod", SUITE / "go.sum", SUITE / name / "main.go"]
    if name == "conformance/suite":
        files += [SUITE / "conformance/e2e_test.go", SUITE / "harness/tools/e2e_suite.py"]
    return [file for file in files if file.exists()]


def tool(name: str) -> Path:
    """Where the built tool `name` (kube, kwok, kube/podrequests, helm3) lies, whether or not it has been built yet."""
    return CACHE / "bin" / f"{name.rpartition('/')[2]}-{fingerprint(*go_files(name))}"


def kubernetes(version: str = "") -> Path:
    """Where Kubernetes of this version lies, built or not; without one, the Kubernetes that every story runs on."""
    if version in ("", KUBERNETES_VERSION):
        return tool("kube")
    return CACHE / "bin" / f"kube-{version}-{fingerprint(SUITE / 'kube/main.go')}"


def go_liqo() -> Path | None:
    """A release of the Go Liqo that stories peer with: its programs by their names, and its Helm chart in chart/."""
    given = os.environ.get("GO_LIQO")
    return Path(given) if given else None


def skewed() -> Path | None:
    """The build directory of the programs on the other side of `tools/test skew`, if those are not today's."""
    given = os.environ.get("LIQO_SKEW")
    return Path(given) if given else None


def skewed_kubernetes() -> str:
    """The version of Kubernetes on that side, "" for the one that every story runs on."""
    return os.environ.get("LIQO_SKEW_KUBERNETES", "")


def images() -> Path:
    """The archive of the images that test pods run, named after Debian's busybox that it is made from."""
    return CACHE / "images" / f"{fingerprint(BUSYBOX, Path(__file__).with_name('cluster') / 'images.py')}.tar"


def e2e_images() -> Path:
    """The archive of the images that Kubernetes' own tests run."""
    made_of = (*go_files("conformance/agnhost"), BUSYBOX, Path(__file__).with_name("tools") / "e2e_images.py")
    return CACHE / "images" / f"e2e-{fingerprint(*made_of)}.tar"


BUSYBOX = Path("/bin/busybox")


def liqod() -> Path | None:
    """The daemon under test: $LIQOD, or the newest one that a build directory of the tree holds; None without one."""
    if chosen := os.environ.get("LIQOD"):
        return Path(chosen)
    built = [
        path for path in TREE.glob("build*/**/services/liqod/liqod") if os.access(path, os.X_OK) and path.is_file()
    ]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


def liqoctl() -> Path | None:
    """The command line under test: $LIQOCTL, or the one that was built with the daemon."""
    if chosen := os.environ.get("LIQOCTL"):
        return Path(chosen)
    daemon = liqod()
    return daemon.parent.parent / "liqoctl/liqoctl" if daemon else None


def missing_requirements() -> list[str]:
    """What this machine lacks for real clusters, each in a few words; empty if they can run."""
    missing = [] if os.geteuid() == 0 else ["root"]
    missing += [
        name
        for name in ("unshare", "nsenter", "ip", "tc", "containerd", "runc", "ctr", "openssl", "haproxy", "curl")
        if not shutil.which(name)
    ]
    missing += [] if BUSYBOX.exists() else [f"{BUSYBOX} (Debian's busybox-static)"]
    missing += (
        [] if Path("/usr/lib/cni/bridge").exists() else ["/usr/lib/cni/bridge (Debian's containernetworking-plugins)"]
    )
    return missing
