"""Installs what charts/liqo would: the kinds, and liqod's identity with the rights that the chart gives it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from . import settings
from .wait import wait_for

if TYPE_CHECKING:
    from .cluster import Cluster

CHART = settings.TREE / "charts/liqo"
NAMESPACE = "liqo"
SERVICE_ACCOUNT = "liqo"
USER = f"system:serviceaccount:{NAMESPACE}:{SERVICE_ACCOUNT}"
REMOTE_ROLE = "liqo-virtual-kubelet-remote"


def role(file: str) -> dict:
    """A ClusterRole of the chart; the files are plain YAML that its templates only include."""
    return yaml.safe_load((CHART / "files" / file).read_text())


def install(cluster: Cluster) -> Path:
    """Installs into `cluster` and returns the kubeconfig of liqod's ServiceAccount there."""
    cluster.kubectl("apply", "--server-side", "-f", CHART / "crds")
    cluster.namespace(NAMESPACE)
    for file in sorted((CHART / "files").glob("*.yaml")):
        cluster.api.apply("clusterroles", None, role(file.name))
    own = role("liqod-clusterrole.yaml")["metadata"]["name"]
    subject = {"kind": "ServiceAccount", "name": SERVICE_ACCOUNT, "namespace": NAMESPACE}
    reference = {"kind": "ClusterRole", "name": own, "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"kind": "ClusterRoleBinding", "metadata": {"name": own}, "subjects": [subject], "roleRef": reference}
    cluster.api.apply("clusterrolebindings", None, binding)
    wait_for(lambda: _established(cluster), 20, f"the kinds of Liqo to be served in {cluster.name}")
    return cluster.service_account(NAMESPACE, SERVICE_ACCOUNT)


def _established(cluster: Cluster) -> bool:
    kinds = [
        kind for kind in cluster.api.list("customresourcedefinitions") if kind["spec"]["group"].endswith(".liqo.io")
    ]
    conditions = [{c["type"]: c["status"] for c in kind.get("status", {}).get("conditions", [])} for kind in kinds]
    return bool(kinds) and all(found.get("Established") == "True" for found in conditions)
