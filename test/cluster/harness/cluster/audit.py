"""The audit log of an API server: who wrote what, who was refused, and which pods came into being."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

Entry = dict[str, Any]

WRITES = {"create", "update", "patch", "delete", "deletecollection"}
# Reviews of permissions and identities are POSTs that write nothing.
_REVIEWS = {
    "subjectaccessreviews",
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "tokenreviews",
    "selfsubjectreviews",
}

_BINDINGS = {"rolebindings", "clusterrolebindings"}

_SYSTEM_GROUPS = ["system:masters", "system:nodes", "system:serviceaccounts:kube-system"]
_SYSTEM_USERS = [
    "system:apiserver",
    "system:kube-controller-manager",
    "system:kube-scheduler",
    "system:kube-proxy",
    "kwok",
    "system:coredns",
]

# Writes of everybody, and every request of those who are not part of Kubernetes itself (their 403s on reads matter, and
# a policy cannot select by the answer). Pods and shadow pods are recorded whole when created: answers have their UIDs.
POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "omitManagedFields": True,
    "rules": [
        {"level": "None", "users": _SYSTEM_USERS, "verbs": ["get", "list", "watch"]},
        {"level": "None", "userGroups": _SYSTEM_GROUPS, "verbs": ["get", "list", "watch"]},
        {
            "level": "None",
            "nonResourceURLs": ["/healthz*", "/readyz*", "/livez*"],
            "userGroups": ["system:unauthenticated", *_SYSTEM_GROUPS],
        },
        {
            "level": "RequestResponse",
            "verbs": ["create"],
            "resources": [
                {"group": "", "resources": ["pods"]},
                {"group": "offloading.liqo.io", "resources": ["shadowpods"]},
            ],
        },
        {"level": "Metadata"},
    ],
}


# Records writes of pod statuses by kubelets, with their bodies.
_STATUS_RULE = {
    "level": "Request",
    "verbs": ["patch", "update"],
    "userGroups": ["system:nodes"],
    "resources": [{"group": "", "resources": ["pods/status"]}],
}


def policy(status: bool) -> dict[str, Any]:
    """The policy; `status`: the log has what kubelets say of pods as well."""
    return {**POLICY, "rules": [_STATUS_RULE, *POLICY["rules"]]} if status else POLICY


def is_system(entry: Entry) -> bool:
    """Whether the request came from Kubernetes' own components, or from the hand of the tests."""
    return user(entry) in _SYSTEM_USERS or any(group in _SYSTEM_GROUPS for group in groups(entry))


def user(entry: Entry) -> str:
    return entry["user"].get("username", "")


def groups(entry: Entry) -> list[str]:
    return entry["user"].get("groups", [])


def received(entry: Entry) -> float:
    """When the request came in, in seconds since 1970."""
    return datetime.fromisoformat(entry["requestReceivedTimestamp"]).timestamp()


def code(entry: Entry) -> int:
    return entry.get("responseStatus", {}).get("code", 0)


def resource(entry: Entry) -> str:
    """`pods`, `pods/status`, …"""
    reference = entry.get("objectRef", {})
    return "/".join(part for part in (reference.get("resource", ""), reference.get("subresource", "")) if part)


def is_write(entry: Entry) -> bool:
    return entry["verb"] in WRITES and resource(entry) not in _REVIEWS


def came_early(refused: Entry, entries: Sequence[Entry]) -> bool:
    """Whether somebody asked right after being bound, and was let do the same thing later.

    The API server learns of a new binding by a watch: liqod binds before it tells, and cannot know when it was noticed.
    """
    at = received(refused)
    bound = any(
        resource(entry) in _BINDINGS and is_write(entry) and 200 <= code(entry) < 300 and 0 <= at - received(entry) <= 5
        for entry in entries
    )
    return bound and any(
        _asked(entry) == _asked(refused) and 200 <= code(entry) < 300 and received(entry) > at for entry in entries
    )


def _asked(entry: Entry) -> tuple[str, str, str, str]:
    return user(entry), entry["verb"], resource(entry), entry.get("objectRef", {}).get("namespace", "")


def falls_back(entry: Entry) -> bool:
    """Exec and attach over WebSocket are a GET, which the role of a consumer does not grant: liqod takes SPDY then. If
    the Lease of a provider's leader cannot be read, as at a Go provider, home tells what it sees itself. If a twin cannot
    be read, as at a Go or older provider, what is in it gets no owner."""
    is_of_leader = resource(entry) == "leases" and entry["objectRef"].get("name") == "liqod"
    return entry["verb"] == "get" and (resource(entry) in ("pods/exec", "pods/attach", "namespaces") or is_of_leader)


def described(entry: Entry) -> str:
    reference = entry.get("objectRef", {})
    place = "/".join(part for part in (reference.get("namespace", ""), reference.get("name", "")) if part)
    what = resource(entry) or entry.get("requestURI", "")
    why = entry.get("responseStatus", {}).get("message", "")
    return f"{user(entry)} {entry['verb']} {what} {place}: {code(entry)} {why}".strip()


class Audit:
    """Reads the log as it grows. The server writes it before it answers: it has every request that was answered."""

    def __init__(self, file: Path):
        self._file, self._offset, self._seen = file, 0, list[Entry]()

    def entries(self, since: int = 0) -> list[Entry]:
        """All entries so far, or those after `since` (a value of `mark`)."""
        if self._file.exists():
            with self._file.open("rb") as log:
                log.seek(self._offset)
                data = log.read()
            # A killed server may leave half a line, to which the next one appends: that line is broken.
            whole = data.rfind(b"\n") + 1
            self._offset += whole
            for line in data[:whole].splitlines():
                try:
                    self._seen.append(json.loads(line))
                except ValueError:
                    continue
        return self._seen[since:]

    def mark(self) -> int:
        """A point in the log, to look later only at what came after it."""
        return len(self.entries())

    def writes(self, who: Callable[[Entry], bool], since: int = 0) -> Counter[str]:
        """How often each `verb resource` was written by those for whom `who` is true, Events included."""
        return Counter(
            f"{entry['verb']} {resource(entry)}" for entry in self.entries(since) if is_write(entry) and who(entry)
        )

    def refused(self, since: int = 0) -> list[Entry]:
        """Every request that was answered 403."""
        return [entry for entry in self.entries(since) if code(entry) == 403]

    def deleted(self, since: int = 0) -> list[str]:
        """What was deleted, as `resource namespace/name`, in the order in which it was asked for."""
        gone = [entry for entry in self.entries(since) if entry["verb"] == "delete" and 200 <= code(entry) < 300]
        references = [(resource(entry), entry["objectRef"]) for entry in sorted(gone, key=received)]
        return [f"{kind} {one.get('namespace', '')}/{one.get('name', '')}" for kind, one in references]

    def created_pods(self, since: int = 0, namespace: str | None = None) -> list[dict]:
        """The pods as they were created, each with its UID."""
        return [
            entry["responseObject"]
            for entry in self.entries(since)
            if entry["verb"] == "create"
            and resource(entry) == "pods"
            and code(entry) == 201
            and "responseObject" in entry
            if namespace in (None, entry["objectRef"].get("namespace"))
        ]


def remote_uids(pods: Iterable[dict], origin_uid: Callable[[dict], str]) -> dict[str, set[str]]:
    """For each local UID, as `origin_uid` reads it off a remote pod, the UIDs of the pods that were created for it."""
    found: dict[str, set[str]] = defaultdict(set)
    for pod in pods:
        found[origin_uid(pod)].add(pod["metadata"]["uid"])
    return found


def of_user(name: str) -> Callable[[Entry], bool]:
    return lambda entry: user(entry) == name
