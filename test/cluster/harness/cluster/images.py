"""Container images without a registry: docker archives written from Debian's static busybox."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

PAUSE = "docker.io/liqo-test/pause:1"
BUSYBOX_IMAGE = "docker.io/liqo-test/busybox:1"
# This image says hello and runs until it is asked to end: a workload that needs no manifest.
HELLO_IMAGE = "docker.io/liqo-test/hello:1"
# The image under a user's name for it, with the names of its other programs.
LIBRARY_IMAGE = "docker.io/library/busybox:1.37"
HELLO = "trap exit TERM; echo hello from $(hostname); sleep 2147483647 & wait"

# Applets that test pods call by name; all others are called as `busybox <applet>`.
APPLETS = (
    "sh cat date dd echo env false grep head hostname ip kill ls mkdir nc printf ps rm seq sleep stty tail test touch "
    "tr true tty wc wget"
).split()
LIBRARY_APPLETS = (*APPLETS, "httpd", "tar")


def _member(name: str, size: int = 0, mode: int = 0o755) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, mode
    return info


def _layer(busybox: bytes, applets: Sequence[str]) -> bytes:
    """A root file system: busybox, links to it, and the directories that programs expect."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as layer:
        for directory in ("bin", "etc", "tmp", "proc", "sys", "dev"):
            info = _member(directory)
            info.type = tarfile.DIRTYPE
            layer.addfile(info)
        layer.addfile(_member("bin/busybox", len(busybox)), io.BytesIO(busybox))
        passwd = b"root:x:0:0:root:/:/bin/sh\n"
        layer.addfile(_member("etc/passwd", len(passwd), 0o644), io.BytesIO(passwd))
        for applet in applets:
            info = _member(f"bin/{applet}")
            info.type, info.linkname = tarfile.SYMTYPE, "busybox"
            layer.addfile(info)
    return out.getvalue()


def write(archive: Path, busybox: Path) -> None:
    """Writes one archive that holds all the images; each has one layer, which most share."""
    program = busybox.read_bytes()
    files: dict[str, bytes] = {}
    manifest = []
    # `sleep` is enough as a sandbox's process: pods of the tests share no process namespaces, so nothing needs reaping.
    commands = {
        PAUSE: ["/bin/sleep", "2147483647"],
        BUSYBOX_IMAGE: ["/bin/sh"],
        HELLO_IMAGE: ["/bin/sh", "-c", HELLO],
        LIBRARY_IMAGE: ["/bin/sh"],
    }
    for name, command in commands.items():
        layer = _layer(program, LIBRARY_APPLETS if name == LIBRARY_IMAGE else APPLETS)
        layer_id = hashlib.sha256(layer).hexdigest()
        files[f"{layer_id}/layer.tar"] = layer
        config = json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": {"Cmd": command, "Env": ["PATH=/bin"]},
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_id}"]},
            }
        ).encode()
        config_file = f"{hashlib.sha256(config).hexdigest()}.json"
        files[config_file] = config
        manifest.append({"Config": config_file, "RepoTags": [name], "Layers": [f"{layer_id}/layer.tar"]})
    files["manifest.json"] = json.dumps(manifest).encode()
    with tarfile.open(archive, "w") as out:
        for name, content in files.items():
            out.addfile(_member(name, len(content), 0o644), io.BytesIO(content))
