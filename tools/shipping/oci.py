"""An image in an archive that needs no registry: an OCI layout, and beside it the manifest that `docker load` reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .archive import File, gzip, tar, with_parents
from .root import USER

_OCI = "application/vnd.oci.image"
ENTRYPOINT = ["/usr/bin/liqod"]


def labels(version: str, revision: str) -> dict[str, str]:
    """What the image says of itself; what is not known it does not say."""
    said = {
        "title": "liqo",
        "description": "Share resources and offload workloads between Kubernetes clusters: liqod, and liqoctl.",
        "licenses": "Apache-2.0",
        "version": version,
        "revision": revision,
    }
    return {f"org.opencontainers.image.{key}": value for key, value in sorted(said.items()) if value}


def config(layer: bytes, said: Mapping[str, str], created: str) -> dict[str, Any]:
    """How the image is run. `layer` is the tar of its root."""
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin"],
            "Entrypoint": ENTRYPOINT,
            "WorkingDir": "/",
            "Labels": dict(said),
        },
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
        "history": [{"created": created, "created_by": "tools/image"}],
    }


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def archive(layer: bytes, name: str, said: Mapping[str, str], created: str, *, time: int) -> tuple[bytes, str]:
    """The archive of an image with this one layer and this name (repository:tag), and the digest of its manifest."""
    packed = gzip(layer)
    configuration = _json(config(layer, said, created))
    blobs: dict[str, bytes] = {}

    def described(kind: str, blob: bytes) -> dict[str, Any]:
        blobs[f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}"] = blob
        return {"mediaType": f"{_OCI}.{kind}", "digest": _digest(blob), "size": len(blob)}

    manifest = _json({
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.manifest.v1+json",
        "config": described("config.v1+json", configuration),
        "layers": [described("layer.v1.tar+gzip", packed)],
        "annotations": dict(said),
    })  # fmt: skip
    entry = described("manifest.v1+json", manifest) | {
        "platform": {"architecture": "amd64", "os": "linux"},
        # containerd goes by the first, which is the whole name, everybody else by the second.
        "annotations": {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]},
    }
    docker = {
        "Config": f"blobs/sha256/{hashlib.sha256(configuration).hexdigest()}",
        "RepoTags": [name],
        "Layers": [f"blobs/sha256/{hashlib.sha256(packed).hexdigest()}"],
    }
    files = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _json({"schemaVersion": 2, "mediaType": f"{_OCI}.index.v1+json", "manifests": [entry]}),
        "manifest.json": _json([docker]),
        **blobs,
    }
    return tar(with_parents({path: File(content) for path, content in files.items()}), time), entry["digest"]
