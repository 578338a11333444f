"""The figures that `tools/bench scale` reads off its stage, one by one."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from harness.cluster import audit
from harness.cluster.cluster import Cluster
from harness.liqo import chart
from harness.liqo.liqod import Liqod
from harness.wait import wait_for
from measure import resident_mb
from request_log import described, goes_by_the_clock
from scale_stage import PATIENCE, ScaleStage, home_of, twin_of
from turns import longest_ms, turns
from watch import PodWatch

# Seconds: before rest is measured, while it is measured, and after each change of one object.
CALM, REST, AFTER_CHANGE = 150.0, 60.0, 10.0
# Pods made at a time: a kwok that is thousands behind writes each status twice, and so liqod writes twice at home.
WAVE = 500
# liqod spends at most a tenth of its time on metrics; a reading that comes too early gets the previous text.
BETWEEN_READINGS = 12.0
_STREAMS = re.compile(r'rest_client_(streams|connections)\{host="([^"]*)",use="([^"]*)"\}')


def cpu_seconds(on: ScaleStage) -> dict[str, float]:
    """So far, by process."""
    used = {
        f"{cluster.name}/{name}": process.cpu_seconds()
        for cluster in (on.rome, on.milan)
        for name, process in cluster.processes.items()
    }
    for daemon in on.daemons:
        if daemon.running and daemon.process:
            used[f"{daemon.cluster.name}/liqod"] = daemon.process.cpu_seconds()
    return {**used, "stand-ins": on.stand_ins.cpu_seconds()}


def spent(on: ScaleStage, act: Callable[[], Any]) -> dict[str, float]:
    """CPU seconds by process while something is done."""
    before = cpu_seconds(on)
    act()
    return {name: seconds - before.get(name, 0.0) for name, seconds in cpu_seconds(on).items()}


def memory_mb(on: ScaleStage) -> dict[str, float]:
    return {daemon.cluster.name: resident_mb(daemon) for daemon in on.daemons}


def at_rest(on: ScaleStage) -> dict[str, Any]:
    """What nothing happening costs a minute."""
    time.sleep(CALM)
    marks, began = [log.mark() for log in on.logs], time.monotonic()
    used = spent(on, lambda: time.sleep(REST))
    minutes = (time.monotonic() - began) / 60
    asked = sum((log.count(mark, lambda _: True) for log, mark in zip(on.logs, marks, strict=True)), Counter())
    return {
        "cpu_seconds": {name: seconds / minutes for name, seconds in used.items()},
        "requests": {what: count / minutes for what, count in asked.most_common()},
        "mb": memory_mb(on),
    }


def load(on: ScaleStage, watch: PodWatch, numbers: range) -> dict[str, Any]:
    """These pods are made, and all that liqod asks for because of them is counted."""
    marks, began = [log.mark() for log in on.logs], time.monotonic()

    def act() -> None:
        for begin in range(numbers.start, numbers.stop, WAVE):
            wave = range(begin, min(begin + WAVE, numbers.stop))
            on.create_pods(wave)
            watch.wait(wave.stop, "running", PATIENCE)
        on.settle()

    used = spent(on, act)
    asked: Counter[str] = Counter()
    for log, mark in zip(on.logs, marks, strict=True):
        asked += log.count(mark, lambda entry: not goes_by_the_clock(entry))
    pods = len(numbers)
    return {
        "pods": pods,
        "seconds": watch.wait(numbers.stop, "running", 1) - began,
        "requests_per_pod": sum(asked.values()) / pods,
        "requests": {what: count / pods for what, count in asked.most_common()},
        "cpu_ms": {name: 1000 * seconds / pods for name, seconds in used.items()},
    }


def start_home(on: ScaleStage) -> dict[str, float]:
    """rome's liqod begins anew; its first write is for a pod that was made while it did not run."""
    on.home.stop(PATIENCE)
    on.create_pod(home_of(0), "late-home")
    wait_for(lambda: (on.rome.pod(home_of(0), "late-home") or {})["spec"].get("nodeName"), 60, "the pod to be bound")
    return _start(on, on.home, on.milan, lambda entry: described(entry) == "create shadowpods")


def start_away(on: ScaleStage) -> dict[str, float]:
    """milan's liqod begins anew; its first write is the Pod of a ShadowPod that was made while it did not run."""
    on.away.stop(PATIENCE)
    on.create_pod(home_of(0), "late-away")
    wait_for(lambda: on.milan.api.find("shadowpods", twin_of(0), "late-away"), 60, "the ShadowPod")
    own = lambda entry: audit.user(entry) == chart.USER and described(entry) == "create pods"  # noqa: E731
    return _start(on, on.away, on.milan, own)


def _start(
    on: ScaleStage, daemon: Liqod, written_to: Cluster, is_first_write: Callable[[audit.Entry], bool]
) -> dict[str, float]:
    log = next(log for log in on.logs if log.name == written_to.name)
    mark, began = log.mark(), time.time()
    daemon.start(ready_within=0)

    def ready() -> bool:
        try:
            return daemon.ready()
        except OSError:
            return False

    wait_for(ready, PATIENCE, f"liqod of {daemon.cluster.name} to be ready")
    complete = time.time() - began
    written = wait_for(lambda: log.first(mark, is_first_write), PATIENCE, "its first write", interval=0.2)
    assert daemon.process
    used, turn = daemon.process.cpu_seconds(), longest_ms(turns(daemon))
    on.settle()
    return {
        "complete_seconds": complete,
        "first_write_seconds": written - began,
        "cpu_seconds": used,
        "longest_turn_ms": turn,
        "mb": resident_mb(daemon),
    }


def changes(on: ScaleStage) -> dict[str, dict[str, Any]]:
    """One object of each kind is changed; what the loops had to do then. The first looks are those of nothing but of
    reading the metrics, and of nothing at all for as long as after a change."""
    rome, milan, peering = on.rome.api, on.milan.api, on.peering
    limits = [{"type": "Container", "defaultRequest": {"cpu": "1m"}}]
    limit_range = {"kind": "LimitRange", "metadata": {"name": "scale"}, "spec": {"limits": limits}}
    acts: dict[str, Callable[[], Any]] = {
        "nothing": lambda: None,
        "VirtualNode": lambda: rome.patch(
            "virtualnodes", peering.home, peering.node, {"spec": {"labels": {"scale": "changed"}}}
        ),
        "NamespaceOffloading": lambda: rome.patch(
            "namespaceoffloadings", home_of(0), "offloading", {"spec": {"podOffloadingStrategy": "Remote"}}
        ),
        "LimitRange": lambda: milan.create("limitranges", twin_of(0), limit_range),
        "quota": lambda: milan.patch("quotas", peering.away, peering.user, {"spec": {"resources": {"cpu": "300"}}}),
        "ForeignCluster": lambda: rome.patch(
            "foreignclusters", None, on.milan.name, {"metadata": {"labels": {"scale": "changed"}}}
        ),
    }
    time.sleep(BETWEEN_READINGS)
    reading = _changed(on, lambda: None, BETWEEN_READINGS)
    return {"reading": reading, **{name: _changed(on, act, AFTER_CHANGE) for name, act in acts.items()}}


def _changed(on: ScaleStage, act: Callable[[], Any], seconds: float) -> dict[str, Any]:
    """The turn in which the metrics are read `before` is the first one that is counted: the longest one is told with all
    of them, and with the longest left out."""
    before = {daemon.cluster.name: turns(daemon) for daemon in on.daemons}

    def change() -> None:
        act()
        time.sleep(seconds)

    used = spent(on, change)
    found = {}
    for daemon in on.daemons:
        name, now = daemon.cluster.name, turns(daemon)
        found[name] = {
            "longest_turn_ms": longest_ms(now, before[name]),
            "second_turn_ms": longest_ms(now, before[name], left_out=1),
            "cpu_seconds": used[f"{name}/liqod"],
        }
    return found


def latencies(on: ScaleStage, name: str, count: int) -> list[float]:
    """Pods of milan, one at a time: milliseconds from the request until Ready is seen at home."""
    home, found = home_of(0), []
    with PodWatch(on.rome, home, lambda: on.home.running and on.away.running) as watch:
        for number in range(count):
            pod, began = f"{name}-{number}", time.monotonic()
            on.create_pod(home, pod)
            found.append(1000 * (watch.wait_pod(pod, "ready", 120) - began))
            time.sleep(0.1)  # what trails behind must not weigh on the next one
    return found


def held(on: ScaleStage) -> dict[str, float]:
    """What rome's liqod has in its caches, and how many series it shows of itself."""
    metrics = on.home.metrics()
    sums = {
        what: sum(value for name, value in metrics.items() if name.startswith(family))
        for what, family in (("objects", "kube_informer_objects{"), ("bytes of JSON", "kube_informer_bytes{"))
    }
    return {**sums, "series in /metrics": float(len(metrics))}


def events_taken(on: ScaleStage, provider: str) -> float:
    """What rome's liqod has been told by the watches at a provider."""
    told = f'kube_informer_events_total{{cluster="{provider}",'
    return sum(value for name, value in on.home.metrics().items() if name.startswith(told))


def connections(on: ScaleStage) -> dict[str, Any]:
    """What rome's liqod has open: in all, and to the server to which most is."""
    found: dict[str, dict[str, float]] = {}
    for name, value in on.home.metrics().items():
        if match := _STREAMS.fullmatch(name):
            what, host, use = match.groups()
            found.setdefault(f"{use} {what}", {})[host] = value
    return {
        what: {"all": sum(hosts.values()), "most": max(hosts.values()), "where": max(hosts, key=hosts.__getitem__)}
        for what, hosts in found.items()
    }
