"""The stage of a story about offloading: one offloaded namespace, seen from both of its sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .cluster import audit
from .liqo.liqod import Liqod
from .liqo.peering import Peering
from .wait import TimedOut, wait_for

# The longest wait in stories without faults: a pod on the real kubelet takes two or three seconds.
SOON = 30.0


class Story:
    """A namespace of the consumer and its twin at the provider, with the daemons of both sides."""

    def __init__(self, peering: Peering, namespace: str, home: Liqod, away: Liqod):
        self.peering, self.home, self.away = peering, home, away
        self.consumer, self.provider = peering.consumer, peering.provider
        self.namespace = self.consumer.namespace(namespace)
        self.twin = peering.offload(namespace)
        self._began = self.provider.audit.mark()

    @property
    def kubelet_port(self) -> int:
        return self.peering.kubelet_port()

    def create(self, pod: dict[str, Any]) -> dict[str, Any]:
        """Creates a pod at home that can only be scheduled on the virtual node."""
        return self.consumer.api.create("pods", self.namespace, self.peering.pinned(pod))

    def deployment(self, name: str, replicas: int, pod: dict[str, Any]) -> None:
        labels = {"app": name}
        template = {"metadata": {"labels": labels}, "spec": self.peering.pinned(pod)["spec"]}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        self.consumer.api.create(
            "deployments", self.namespace, {"kind": "Deployment", "metadata": {"name": name}, "spec": spec}
        )

    def scale(self, name: str, replicas: int) -> None:
        self.consumer.api.patch("deployments", self.namespace, name, {"spec": {"replicas": replicas}})

    def local(self, name: str) -> dict[str, Any]:
        """The pod at home; a LookupError if there is none."""
        return _found(self.consumer.pod(self.namespace, name), f"pod {name} at home")

    def remote(self, name: str) -> dict[str, Any]:
        """The pod at the provider; a LookupError if there is none."""
        return _found(self.provider.pod(self.twin, name), f"pod {name} at the provider")

    def shadow(self, name: str) -> dict[str, Any] | None:
        return self.provider.api.find("shadowpods", self.twin, name)

    def phase(self, name: str) -> str:
        return self.local(name)["status"].get("phase", "")

    def wait_phase(self, name: str, phase: str, timeout: float = SOON) -> dict[str, Any]:
        """Waits until the pod at home is in that phase, and returns it."""
        return self.wait_local(name, lambda pod: pod["status"].get("phase") == phase, f"to be {phase}", timeout)

    def wait_ready(self, name: str, timeout: float = SOON) -> dict[str, Any]:
        return self.wait_local(name, is_ready, "to be ready", timeout)

    def wait_local(
        self, name: str, holds: Callable[[dict[str, Any]], bool], what: str, timeout: float = SOON
    ) -> dict[str, Any]:
        def looked() -> dict[str, Any]:
            pod = self.local(name)
            assert holds(pod), f"status {pod['status']}"
            return pod

        return wait_for(looked, timeout, f"pod {name} at home {what}")

    def wait_ready_replicas(self, app: str, count: int, timeout: float) -> list[dict[str, Any]]:
        """Waits until the pods at home of a deployment are `count`, all ready, and returns them."""

        def looked() -> list[dict[str, Any]]:
            pods = self.consumer.pods(self.namespace, f"app={app}")
            ready = sum(is_ready(pod) for pod in pods)
            assert len(pods) == count and ready == count, f"{len(pods)} pods, {ready} of them ready"
            return pods

        return wait_for(looked, timeout, f"{count} pods of {app} to be ready at home", interval=0.2)

    def wait_nothing_left(self, timeout: float = SOON) -> None:
        """Waits until neither side has a pod or a shadow pod in the namespace."""

        def looked() -> bool:
            here = len(self.consumer.pods(self.namespace))
            there = len(self.provider.pods(self.twin))
            shadows = len(self.provider.api.list("shadowpods", self.twin))
            assert here + there + shadows == 0, (
                f"{here} pods at home, {shadows} shadow pods and {there} pods at the provider"
            )
            return True

        wait_for(looked, timeout, f"nothing to be left of {self.namespace}", interval=0.2)

    def times_run(self, name: str) -> int:
        """How many pods of that name the provider has ever created in this story."""
        return len(self.remote_uids().get(name, set()))

    def remote_uids(self) -> dict[str, set[str]]:
        """For each pod's name, the UIDs that were ever created under it at the provider.

        An API server that is killed between storing a pod and logging it leaves no line: hence also what is there now.
        """
        pods = [*self.provider.audit.created_pods(self._began, self.twin), *self.provider.pods(self.twin)]
        return audit.remote_uids(pods, lambda pod: pod["metadata"]["name"])

    def nothing_was_doubled(self) -> None:
        """Holds if every local pod had a name of its own, as those of a deployment do."""
        doubled = {name: uids for name, uids in self.remote_uids().items() if len(uids) > 1}
        assert not doubled, f"pods that ran more than once: {doubled}"

    def ensure_daemons(self) -> None:
        """Starts the daemons again if the story has killed them."""
        self.home.ensure()
        self.away.ensure()

    def close(self) -> None:
        """Leaves no pod to the next story. The namespaces stay: deleting the twin would take the user's rights away."""
        self.ensure_daemons()
        for kind in ("deployments", "pods"):
            self.consumer.api.delete_all(kind, self.namespace)
        try:
            # Some stories leave hundreds of pods, and other stories run on the machine.
            self.wait_nothing_left(3 * SOON)
        except TimedOut:
            for kind, cluster, namespace in (
                ("pods", self.consumer, self.namespace),
                ("shadowpods", self.provider, self.twin),
                ("pods", self.provider, self.twin),
            ):
                cluster.api.delete_all(kind, namespace, grace=0)
            raise
        finally:
            self.peering.withdraw(self.namespace)


def _found(pod: dict[str, Any] | None, what: str) -> dict[str, Any]:
    if pod is None:
        raise LookupError(f"there is no {what}")
    return pod


def condition(pod: dict[str, Any], kind: str) -> dict[str, Any]:
    """The condition of that type, empty if there is none."""
    return next((found for found in pod["status"].get("conditions", []) if found["type"] == kind), {})


def is_ready(pod: dict[str, Any]) -> bool:
    return condition(pod, "Ready").get("status") == "True"


def container(pod: dict[str, Any]) -> dict[str, Any]:
    """The status of the pod's first container, empty before there is one."""
    return (pod["status"].get("containerStatuses") or [{}])[0]
