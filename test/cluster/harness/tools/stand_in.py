#!/usr/bin/env python3
"""Stands in for kind, k3s, ctr, docker, skopeo, buildah and podman, each under its name.

It takes the command lines of the program, checks that the program could read the archive, and says what it did. If
$LIQO_TEST_NODE names the socket of a containerd, it gives that containerd the image.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

NODE = "LIQO_TEST_NODE"
# Command lines of each program: which archive, of which kind, or which image, goes where.
_IMAGE = r"[a-z0-9.]+(?:/[a-z0-9-]+)+:[\w.-]+"
_FROM = r"(?P<kind>oci)-archive:(?P<archive>\S+)"
FORMS = {
    "kind": [r"load image-archive (?P<archive>\S+)(?: --name [a-z0-9-]+)?"],
    "k3s": [r"ctr images import (?P<archive>\S+)"],
    "ctr": [r"--namespace k8s\.io images import (?P<archive>\S+)"],
    "docker": [r"load --input (?P<archive>\S+)"],
    "skopeo": [rf"copy {_FROM} docker://(?P<target>{_IMAGE})"],
    "buildah": [rf"pull {_FROM}", rf"push (?P<image>{_IMAGE}) docker://(?P<target>{_IMAGE})"],
}
FORMS["podman"] = FORMS["buildah"]


def image_in(archive: Path, kind: str) -> str:
    """The name of the only image of an archive, by the index that readers of this kind go by: "oci", or that of Docker.

    Each blob that it needs is there and whole (else ValueError).
    """
    with tarfile.open(archive) as opened:

        def content(name: str) -> bytes:
            file = opened.extractfile(name)
            if not file:
                raise ValueError(f"{name} is no file")
            return file.read()

        def blob(digest: str) -> bytes:
            data = content(f"blobs/{digest.replace(':', '/')}")
            if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
                raise ValueError(f"{digest} is something else")
            return data

        if kind == "oci":
            if json.loads(content("oci-layout")) != {"imageLayoutVersion": "1.0.0"}:
                raise ValueError("it has no layout that is known")
            (entry,) = json.loads(content("index.json"))["manifests"]
            manifest = json.loads(blob(entry["digest"]))
            for part in (manifest["config"], *manifest["layers"]):
                blob(part["digest"])
            name = entry["annotations"]["io.containerd.image.name"]
            if not name.endswith(":" + (tag := entry["annotations"]["org.opencontainers.image.ref.name"])):
                raise ValueError(f"{name} is not tagged {tag}")
            return name
        (image,) = json.loads(content("manifest.json"))
        layers = json.loads(content(image["Config"]))["rootfs"]["diff_ids"]
        if len(layers) != len(image["Layers"]) or not all(map(content, image["Layers"])):
            raise ValueError("layers are missing")
        (name,) = image["RepoTags"]
        return name


def main(program: str, arguments: list[str]) -> str:
    """What was done, in a line (ValueError if the program would refuse it)."""
    line = " ".join(arguments)
    found = next(filter(None, (re.fullmatch(form, line) for form in FORMS[program])), None)
    if not found:
        raise ValueError(f"it takes no such arguments: {line}")
    given = found.groupdict()
    if not (archive := given.get("archive")):
        return f"{given['image']} → {given['target']}"
    # containerd reads the OCI index of an archive; kind and Docker read Docker's.
    image = image_in(Path(archive), given.get("kind") or ("docker" if program in ("kind", "docker") else "oci"))
    if socket := os.environ.get(NODE):
        real = shutil.which("ctr", path=os.environ["PATH"].replace(f"{Path(sys.argv[0]).parent}:", ""))
        imported = [real or "ctr", "-a", socket, "-n", "k8s.io", "images", "import", archive]
        subprocess.run(imported, check=True, stdout=subprocess.DEVNULL)
    return f"{image} → {given.get('target') or program}"


if __name__ == "__main__":
    try:
        print(main(Path(sys.argv[0]).name, sys.argv[1:]))
    except (ValueError, KeyError, OSError, tarfile.TarError) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
