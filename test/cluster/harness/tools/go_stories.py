"""The common part of stories with the Go Liqo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .. import settings
from ..cluster.cluster import Cluster, busybox
from ..required import require_programs
from . import go_liqo

# What `liqoctl peer` is told to ask for, in either version.
ASKED = ("--cpu=2", "--memory=2Gi", "--pods=10")


def release() -> Path:
    """The directory of the Go Liqo. Skips the story if our programs are not built, and fails it without a release."""
    require_programs()
    found = settings.go_liqo()
    if lacking := go_liqo.lacking(found):
        pytest.fail(f"there is no {lacking}")
    assert found
    return found


def pinned(name: str, node: str, script: str = "sleep 1000000", cpu: str = "100m") -> dict[str, Any]:
    """A pod for a virtual node, of either version."""
    pod = busybox(name, script)
    pod["spec"]["tolerations"] = [{"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists"}]
    pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu, "memory": "64Mi"}}
    return pod


def phase(cluster: Cluster, namespace: str, name: str) -> str:
    """That of a pod, "" if there is none."""
    return (cluster.pod(namespace, name) or {"status": {}})["status"].get("phase", "")
