"""Binds roles, and asks the API server what somebody may do.

The API server learns of a new binding by a watch: on a busy machine only after the first request of whoever was bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..wait import wait_for

if TYPE_CHECKING:
    from .cluster import Cluster

_GROUP = "rbac.authorization.k8s.io"


def user(name: str) -> dict[str, str]:
    return {"kind": "User", "name": name, "apiGroup": _GROUP}


def group(name: str) -> dict[str, str]:
    return {"kind": "Group", "name": name, "apiGroup": _GROUP}


def service_account(namespace: str, name: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def may(cluster: Cluster, subject: dict[str, str], namespace: str | None, rule: dict[str, Any]) -> bool:
    """Whether the subject of a binding may do the first thing that a rule of a role speaks of."""
    who = {
        "User": lambda: {"user": subject["name"]},
        "Group": lambda: {"groups": [subject["name"]]},
        "ServiceAccount": lambda: {"user": f"system:serviceaccount:{subject['namespace']}:{subject['name']}"},
    }[subject["kind"]]()
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {**who, **_wanted(namespace, rule)},
    }
    answer = cluster.api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return answer["status"]["allowed"]


def _wanted(namespace: str | None, rule: dict[str, Any]) -> dict[str, Any]:
    if "nonResourceURLs" in rule:
        return {"nonResourceAttributes": {"verb": rule["verbs"][0], "path": rule["nonResourceURLs"][0]}}
    resource, _, subresource = rule["resources"][0].partition("/")
    attributes = {
        "verb": rule["verbs"][0],
        "group": rule["apiGroups"][0],
        "resource": resource,
        "subresource": subresource,
        "name": rule.get("resourceNames", [""])[0],
        "namespace": namespace or "",
    }
    return {"resourceAttributes": attributes}


def bind(
    cluster: Cluster,
    namespace: str | None,
    name: str,
    subject: dict[str, str],
    role: str,
    *,
    kind: str = "ClusterRole",
    **metadata: Any,
) -> None:
    """Binds a role in a namespace, or everywhere, and waits until the binding is in force."""
    binding = {
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name, **metadata},
        "subjects": [subject],
        "roleRef": {"kind": kind, "name": role, "apiGroup": _GROUP},
    }
    cluster.api.apply("rolebindings" if namespace else "clusterrolebindings", namespace, binding)
    found = cluster.api.get("roles", namespace, role) if kind == "Role" else cluster.api.get("clusterroles", None, role)
    # The last rule counts: the subject may have the first one by another role.
    rule = [rule for rule in found["rules"] if rule.get("resources") or rule.get("nonResourceURLs")][-1]
    wait_for(lambda: may(cluster, subject, namespace, rule), 60, f"{subject['name']} to have the rights of {role}")
