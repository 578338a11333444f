"""Makes the images that Kubernetes' own tests name, without a registry.

agnhost is built from the tests' own source; Debian's busybox, with the few programs that the tests call, stands in for
all others.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import settings

sys.path.insert(0, str(settings.TREE / "tools"))

from shipping import archive, elf, root  # noqa: E402

TESTS = "registry.k8s.io/e2e-test-images"
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Programs that tests call in containers, and that busybox lacks or has with other flags, by the path that tests use.
# The shell is among them: busybox's prefers its own applets, and drops variables with a dash in the name.
PROGRAMS = {
    "usr/bin/sh": "/usr/bin/bash",
    "usr/bin/curl": "/usr/bin/curl",
    "usr/bin/dig": "/usr/bin/dig",
    "usr/bin/getent": "/usr/bin/getent",
    "usr/bin/nc": "/usr/bin/nc.openbsd",
}
_PASSWD = """\
root:x:0:0:root:/root:/bin/sh
user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh
"""
_GROUP = """\
root:x:0:
user-defined-in-image:x:1000:
group-defined-in-image:x:50000:user-defined-in-image
"""
_PAGE = b"<!DOCTYPE html><html><body>A page of the tests.</body></html>\n"
# SIGTERM would not end busybox's server as process 1.
_SERVER = ["/bin/sh", "-c", "trap 'exit 0' TERM QUIT; httpd -f -p 80 -h /usr/share/nginx/html & wait"]


def _programs(applets: list[str]) -> dict[str, archive.Entry]:
    """busybox with all its applets, and the other programs with their libraries."""
    loader, libraries = elf.closure([Path(path) for path in PROGRAMS.values()], root.LIBRARIES)
    libraries.pop(Path(loader).name, None)
    places = {f"usr/lib/x86_64-linux-gnu/{name}": path for name, path in libraries.items()}
    places |= {f"usr{loader}": Path(loader), "bin/busybox": settings.BUSYBOX}
    places |= {place: Path(path) for place, path in PROGRAMS.items()}
    entries: dict[str, archive.Entry] = {
        place: archive.File(path.read_bytes(), 0o755) for place, path in places.items()
    }
    shadowed = {Path(place).name for place in PROGRAMS} | {"ash", "busybox"}
    entries |= {f"bin/{applet}": archive.Link("busybox") for applet in applets if applet not in shadowed}
    entries |= {f"bin/{shell}": archive.Link("/usr/bin/sh") for shell in ("ash", "bash", "sh")}
    entries |= {"lib": archive.Link("usr/lib"), "lib64": archive.Link("usr/lib64")}
    entries |= {"etc/passwd": archive.File(_PASSWD.encode()), "etc/group": archive.File(_GROUP.encode())}
    entries |= {name: archive.Directory() for name in ("dev", "home/user-defined-in-image", "proc", "root", "sys")}
    return entries | {"tmp": archive.Directory(0o1777), "var/tmp": archive.Directory(0o1777)}


def _layer(entries: Mapping[str, archive.Entry]) -> bytes:
    return archive.tar(archive.with_parents(entries), 0)


def write(target: Path, programs: Mapping[str, Path], applets: list[str], certificates: Path) -> None:
    """Writes one archive with all images. `programs` are those of the tests, agnhost and nonewprivs; `certificates` has
    those that agnhost's porter shows."""
    base = _layer(_programs(applets))
    # One test wants the words of its shell, by its path; another, by its name, all of the environment.
    own = _layer({"bin/sh": archive.Link("busybox")})
    pages = {f"usr/share/nginx/html/{page}": archive.File(_PAGE) for page in ("index.html", "50x.html")}
    served = _layer(pages)
    picture = _layer({"data.json": archive.File(b'{"image":"nautilus.jpg"}\n')})
    hosts: dict[str, archive.Entry] = {
        name: archive.File((certificates / name).read_bytes()) for name in ("localhost.crt", "localhost.key")
    }
    hosts |= {"agnhost": archive.File(programs["agnhost"].read_bytes(), 0o755), "agnhost-2": archive.Link("agnhost")}
    hosted = _layer(hosts | {"uploads": archive.Directory()})
    # The program is set-user-ID, because tests check whether that counts.
    raising = _layer({"usr/local/bin/nnp": archive.File(programs["nonewprivs"].read_bytes(), 0o4755)})
    run = {"Env": [_PATH]}
    of_agnhost = {**run, "Entrypoint": ["/agnhost"], "Cmd": ["pause"]}
    images: dict[str, tuple[list[bytes], dict[str, Any]]] = {
        f"{TESTS}/agnhost:2.66.1": ([base, hosted], of_agnhost),
        f"{TESTS}/agnhost:2.55": ([base, hosted], of_agnhost),
        "registry.k8s.io/pause:3.10.2": ([base, hosted], {**run, "Entrypoint": ["/agnhost", "pause"]}),
        f"{TESTS}/nautilus:1.8": ([base, hosted, picture], {**of_agnhost, "Cmd": ["test-webserver"]}),
        f"{TESTS}/busybox:1.37.0-2": ([base, own], {**run, "Cmd": ["sh"]}),
        f"{TESTS}/glibc-dns-testing:2.1.1": ([base], {**run, "Cmd": ["sleep", "2147483647"]}),
        f"{TESTS}/ipc-utils:1.4": ([base], {**run, "Cmd": ["sh"]}),
        f"{TESTS}/nonroot:1.5": ([base], {**run, "Cmd": ["sh"], "User": "1234"}),
        f"{TESTS}/nonewprivs:1.4": ([base, raising], {**run, "Cmd": ["nnp"]}),
        f"{TESTS}/nginx:1.27.0-2": ([base, served], {**run, "Cmd": _SERVER}),
        f"{TESTS}/nginx:1.28.0-2": ([base, served], {**run, "Cmd": _SERVER}),
    }
    files: dict[str, bytes] = {}
    manifest = []
    for name, (layers, config) in images.items():
        digests = [hashlib.sha256(layer).hexdigest() for layer in layers]
        files |= {f"{digest}/layer.tar": layer for digest, layer in zip(digests, layers, strict=True)}
        described = json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": config,
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in digests]},
            }
        ).encode()
        place = f"{hashlib.sha256(described).hexdigest()}.json"
        files[place] = described
        manifest.append({"Config": place, "RepoTags": [name], "Layers": [f"{digest}/layer.tar" for digest in digests]})
    files["manifest.json"] = json.dumps(manifest).encode()
    target.write_bytes(_layer({place: archive.File(content) for place, content in files.items()}))
