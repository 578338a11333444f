"""Watches of many offloaded namespaces hold up no other request, even if API servers give a client few streams."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from harness import objects
from harness.cluster.api import path
from harness.cluster.cluster import busybox
from harness.cluster.components import Options
from harness.liqo.peers import Peer
from harness.required import require_programs
from harness.run import Run
from harness.wait import stays, wait_for

STREAMS = 4
NAMESPACES = [f"team-{number:02}" for number in range(45)]


def test_watches_leave_room_for_requests_and_grow_with_the_namespaces(run: Run) -> None:
    require_programs()
    narrow = Options(node_grace_seconds=25, extra_apiserver=(f"--http2-max-streams-per-connection={STREAMS}",))
    with run.borrow(gent=narrow, metz=narrow) as (gent, metz):
        gent.add_kwok_nodes(1), metz.add_kwok_nodes(1)
        consumer, provider = Peer(gent), Peer(metz)
        consumer.peer_with(provider)

        def offload(name: str) -> None:
            gent.namespace(name)
            gent.api.create("namespaceoffloadings", name, objects.offloading(podOffloadingStrategy="Remote"))
            settings_of_it = {"kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"key": name}}
            gent.api.create("configmaps", name, settings_of_it)

            def is_asked_about() -> bool:
                pod = {"apiVersion": "v1", **busybox("web")}
                answer = gent.api.request("POST", path("pods", name), pod, query={"dryRun": "All"})
                return any(one.get("key") == "virtual-node.liqo.io/not-allowed" for one in answer["spec"]["tolerations"])

            # The API server asks the webhook a moment after it has stored the label of the namespace; until then the node
            # at home may take pods.
            wait_for(is_asked_about, 60, f"pods of {name} to be offloaded")
            gent.api.create("pods", name, busybox("web"))

        with ThreadPoolExecutor(4) as several:
            list(several.map(offload, NAMESPACES))

        def running() -> int:
            return sum(provider.running(f"{name}-gent") for name in NAMESPACES)

        wait_for(lambda: running() == len(NAMESPACES), 120, "a pod of each namespace to run in metz")

        def copies() -> int:
            return sum(found["metadata"]["name"] == "settings" for found in metz.api.list("configmaps"))

        wait_for(lambda: copies() == len(NAMESPACES), 60, "a copy of each ConfigMap")

        def use(what: str, of: str) -> float:
            return consumer.daemon.metrics()[f'kube_{what}{{host="metz",use="{of}"}}']

        # Each twin has watches of ShadowPods and Pods, however many kinds are copied, and replication has some. Their
        # connections are made one after the other.
        wait_for(lambda: use("streams", "watches") >= 2 * len(NAMESPACES), 30, "a twin with pods to be watched")
        assert use("streams", "watches") < 2 * len(NAMESPACES) + 10
        assert use("connections", "watches") >= 2 * len(NAMESPACES) / STREAMS
        assert 1 <= use("connections", "requests") <= 96, "32 for each of three clients"
        stays(lambda: consumer.node_ready("metz"), 28, "metz to be ready, by a lease that is renewed", interval=1)
        # A provider has one watch for each kind, however many namespaces it lends.
        assert provider.daemon.metrics()['kube_streams{host="metz",use="watches"}'] < 45

        consumer.daemon.restart()
        wait_for(consumer.daemon.ready, 60, "liqod to have read it all again")
        for name in NAMESPACES[:3]:
            gent.api.create("pods", name, busybox("late"))
        wait_for(lambda: running() == len(NAMESPACES) + 3, 60, "pods to run that were made after it")
        for peer in (consumer, provider):
            peer.daemon.stop()
