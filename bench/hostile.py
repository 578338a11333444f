#!/usr/bin/env python3
"""tools/bench hostile: what a cluster keeps while its peers attack it together.

rome borrows from milan, which is honest, from pisa, whose pods' statuses flip, and from two stand-ins that answer every
list with dense JSON; turin borrows from rome, with slices of 1.4 MiB and many dry runs at once. Pods of milan are
measured before and meanwhile, and after each a plain pod of rome: the attackers use the same processors as all API servers
here, and what a plain pod waits longer is not liqod's.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/cluster"))

import report  # noqa: E402
import yaml  # noqa: E402
from harness import objects, settings  # noqa: E402
from harness.cluster import rights  # noqa: E402
from harness.cluster.api import Refused, path  # noqa: E402
from harness.cluster.cluster import busybox  # noqa: E402
from harness.cluster.components import Options  # noqa: E402
from harness.liqo import chart  # noqa: E402
from harness.liqo.liqod import Liqod  # noqa: E402
from harness.liqo.peering import Peering  # noqa: E402
from harness.run import Run  # noqa: E402
from harness.wait import wait_for  # noqa: E402
from scale_figures import p95  # noqa: E402
from stand_ins import StandIns  # noqa: E402
from turns import longest_ms, turns  # noqa: E402
from watch import PodWatch  # noqa: E402

MIB = 1 << 20
SECONDS = 60.0
# Of each thread that asks or flips: without a pause the attack's own API servers have all processors of a small machine.
PAUSE = 0.5
DENSE, SLICES, DRY_RUNS, FLIPPED = 2, 64, 20, 24
SLICE_BYTES = int(1.4 * MIB)
# Conditions of a pod that flips, and the size of each text; containers' statuses come on top. Home takes a part of it.
CONDITIONS, MESSAGE = 100, 4096
# As large as a page of a list may be.
DENSE_BYTES = 31 * MIB
SINGLE_PODS = 21
# Goals.
ABOVE_MB, PART_OF_LIMIT, TURN_MS, LATENCY_RATIO, DATABASE_MB = 64, 0.6, 100.0, 1.2, 60
TENANT, TWIN = "liqo-tenant-turin", "shop-turin"


def limit_mb() -> float:
    """What the chart lets liqod have."""
    values = yaml.safe_load((ROOT / "charts/liqo/values.yaml").read_text())
    return float(values["resources"]["limits"]["memory"].removesuffix("Mi"))


def dense_answer(size: int = DENSE_BYTES) -> bytes:
    """A page of a list with so many bytes of text, in some KiB of gzip; each two bytes are a value."""
    head = b'{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"x"},"x":[0'
    tail = b"]}]}"
    return gzip.compress(head + b",0" * ((size - len(head) - len(tail)) // 2) + tail, 9)


class Stage:
    """All of them, in peace."""

    def __init__(self, run: Run):
        options = Options(node_grace_seconds=3600)
        clusters = run.start(rome=options, milan=options, pisa=options)
        self.rome, self.milan, self.pisa = (clusters[name] for name in ("rome", "milan", "pisa"))
        for cluster in clusters.values():
            cluster.add_kwok_nodes(1)
        kubeconfigs = {name: chart.install(cluster) for name, cluster in clusters.items()}
        self.peerings = {provider.name: Peering(self.rome, provider).establish() for provider in (self.milan, self.pisa)}
        self.plain = self.rome.namespace("plain")
        self.homes = {name: self.rome.namespace(f"to-{name}") for name in self.peerings}
        self.twins = {name: peering.offload(self.homes[name]) for name, peering in self.peerings.items()}
        self.stand_ins = StandIns(run, self.rome, DENSE, DENSE)
        self.dense = run.directory / "dense.json.gz"
        self.dense.write_bytes(dense_answer())
        for provider in self.stand_ins.providers:
            self.stand_ins.start(provider)
            self.stand_ins.peer(provider)
        self._admit_turin()
        self.home = Liqod(self.rome, kubeconfigs["rome"], 10250, flags=("--leader-elect",), webhooks=True).start()
        for number, provider in enumerate((self.milan, self.pisa)):
            Liqod(provider, kubeconfigs[provider.name], 10260 + 10 * number, webhooks=False).start()
        self.home.wait_asked()
        for peering in self.peerings.values():
            peering.wait_ready(60)
        assert self.home.process
        self.process = self.home.process

    def _admit_turin(self) -> None:
        """A consumer of rome's, with what a peering gives it."""
        for namespace, labels in ((TENANT, {"liqo.io/tenant-namespace": "true"}), (TWIN, {})):
            self.rome.namespace(namespace)
            chart.bind(self.rome, namespace, "ClusterRole", chart.TENANT_ROLE)
            self.rome.namespace(namespace, {"liqo.io/remote-cluster-id": "turin", **labels})
        rights.bind(self.rome, TENANT, "liqo-turin", rights.user("turin"), "liqo-remote-controlplane")
        rights.bind(self.rome, TWIN, "liqo-turin", rights.group("turin"), chart.REMOTE_ROLE)
        authority = self.rome.authority
        self.turin = self.rome.as_user(authority.issue("turin", "turin", ["liqo.io"]))
        self.slice_of_turin = self.rome.as_user(authority.issue("slice-of-turin", "pool-1f00", ["turin"]))

    def pinned(self, name: str, provider: str) -> dict[str, Any]:
        return self.peerings[provider].pinned(busybox(name))

    def database_mb(self) -> float:
        return (self.rome.directory / "etcd/member/snap/db").stat().st_size / MIB

    def peak_mb(self) -> float:
        """The most that rome's liqod has had resident since it was last asked to forget it."""
        return self.process.peak_bytes() / MIB

    def stores_mb(self) -> float:
        held = self.home.metrics().items()
        return sum(value for name, value in held if name.startswith("kube_store_budget_bytes{")) / MIB

    def latencies(self, prefix: str, wanted: Callable[[int], bool]) -> tuple[list[float], list[float]]:
        """Pods of milan, one at a time, and plain ones: milliseconds from the request until Ready is seen at home."""
        namespace, found, plain = self.homes["milan"], list[float](), list[float]()
        alive = lambda: self.home.running  # noqa: E731
        with PodWatch(self.rome, namespace, alive) as watch, PodWatch(self.rome, self.plain, alive) as beside:
            for number in itertools.takewhile(wanted, itertools.count()):
                name = f"{prefix}-{number}"
                for watched, where, pod, times in (
                    (watch, namespace, self.pinned(name, "milan"), found),
                    (beside, self.plain, busybox(name, nodeSelector={"type": "kwok"}), plain),
                ):
                    began = time.monotonic()
                    self.rome.api.create("pods", where, pod)
                    times.append(1000 * (watched.wait_pod(name, "ready", 120) - began))
                    time.sleep(0.1)  # what trails behind must not weigh on the next one
        return found, plain

    def cpu_seconds(self) -> dict[str, float]:
        """Of every process so far."""
        used = {
            f"{cluster.name}/{name}": process.cpu_seconds()
            for cluster in (self.rome, self.milan, self.pisa)
            for name, process in cluster.processes.items()
            if process.running()
        }
        used["attackers and watchers"] = sum(os.times()[:2])
        return used | {"rome/liqod": self.process.cpu_seconds() if self.home.running else 0.0}


class Attack:
    """All of it at once, until it is over. A refusal is what an attacker reckons with."""

    def __init__(self, on: Stage):
        self._on, self._over = on, threading.Event()
        self._pool = ThreadPoolExecutor(DRY_RUNS + 5)
        self.counts = {"flips": 0, "dry runs": 0, "slices stored": 0}

    def __enter__(self) -> Attack:
        for provider in self._on.stand_ins.providers:
            self._on.stand_ins.start(provider, "dense", self._on.dense)
        self._running = [self._pool.submit(self._fill)]
        self._running += [self._pool.submit(self._flip, range(first, FLIPPED, 4)) for first in range(4)]
        self._running += [self._pool.submit(self._ask, number) for number in range(DRY_RUNS)]
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for each in self._running:
            each.result()
        self._pool.shutdown()

    def _fill(self) -> None:
        labels = objects.replica_labels("turin", "rome")
        for number in range(SLICES):
            spec = {"class": "none", "consumerClusterID": "turin", "providerClusterID": "rome", "csr": "QUFB" * (SLICE_BYTES // 4)}
            asked = objects.resource_slice(f"slice-{number}", labels, **spec)
            if self._dares(lambda body=asked: self._on.turin.create("resourceslices", TENANT, body)):
                self.counts["slices stored"] += 1

    def _ask(self, number: int) -> None:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        metadata = {"name": f"claim-{number}", "labels": {"offloading.liqo.io/origin": "turin"}}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
        where = path("persistentvolumeclaims", TWIN)
        while not self._over.is_set():
            self._dares(lambda: self._on.slice_of_turin.request("POST", where, claim, query={"dryRun": "All"}))
            self.counts["dry runs"] += 1
            self._over.wait(PAUSE)

    def _flip(self, numbers: range) -> None:
        for letter in itertools.cycle("ab"):
            for number in numbers:
                if self._over.is_set():
                    return
                self._dares(lambda n=number, text=letter * MESSAGE: self._on.pisa.api.request(
                    "PATCH", path("pods", self._on.twins["pisa"], f"flips-{n}", "status"), {"status": self._status(text)},
                    "application/strategic-merge-patch+json",
                ))  # fmt: skip
                self.counts["flips"] += 1
                self._over.wait(PAUSE)

    @staticmethod
    def _status(text: str) -> dict[str, Any]:
        """1 MiB: conditions, and what containers wait for."""
        conditions = [{"type": f"example.com/c-{n}", "status": "True", "message": text} for n in range(CONDITIONS)]
        waits = lambda kind: [  # noqa: E731
            {"name": f"{kind}-{n}", "image": "", "imageID": "", "ready": False, "restartCount": 0,
             "state": {"waiting": {"reason": "Waits", "message": text}}}
            for n in range(60)
        ]  # fmt: skip
        return {
            "conditions": conditions,
            "initContainerStatuses": waits("init"),
            "ephemeralContainerStatuses": waits("debugger"),
        }

    @staticmethod
    def _dares(act: Callable[[], object]) -> bool:
        try:
            act()
        except (Refused, OSError):
            return False
        return True


def measure(seconds: float) -> dict[str, Any]:
    run = Run()
    try:
        report.say("starting three clusters, and two stand-ins")
        on = Stage(run)
        for number in range(FLIPPED):
            on.rome.api.create("pods", on.homes["pisa"], on.pinned(f"flips-{number}", "pisa"))
        names = [f"flips-{number}" for number in range(FLIPPED)]
        for name in names:
            runs = lambda name=name: on.rome.pod(on.homes["pisa"], name)["status"].get("phase") == "Running"  # noqa: E731
            wait_for(runs, 120, f"{name} to run")
        well, plain_well = on.latencies("well", lambda number: number < SINGLE_PODS)
        before = turns(on.home)
        on.process.forget_peak()
        rest_mb, database, stores, spent = on.peak_mb(), on.database_mb(), [on.stores_mb()], on.cpu_seconds()
        report.say(f"at rest {rest_mb:.0f} MB, pods of milan p95 {p95(well):.0f} ms; {seconds:g} s of attack")
        until = time.monotonic() + seconds
        with Attack(on) as attack:
            watcher = threading.Thread(target=watch_stores, args=(on, stores, until))
            watcher.start()
            meanwhile, plain = on.latencies("meanwhile", lambda number: number < 2 or time.monotonic() < until)
            watcher.join()
            used = {name: seconds - spent.get(name, 0.0) for name, seconds in on.cpu_seconds().items()}
        return {
            "seconds": seconds,
            "rest_mb": rest_mb,
            "peak_mb": on.peak_mb() if on.home.running else float("inf"),
            "stores_mb": max(stores),
            "limit_mb": limit_mb(),
            "longest_turn_ms": longest_ms(turns(on.home), before) if on.home.running else float("inf"),
            "leases_lost": on.home.log().count("leads no longer"),
            "well_ms": well,
            "ms": meanwhile,
            "plain_well_ms": plain_well,
            "plain_ms": plain,
            "cpu_seconds": used,
            "database_mb": on.database_mb() - database,
            "attack": attack.counts,
        }
    except BaseException:
        if run.clusters:
            report.say(f"logs are kept in {run.keep_logs('bench')}")
        raise
    finally:
        run.close()


def watch_stores(on: Stage, found: list[float], until: float) -> None:
    while time.monotonic() < until and on.home.running:
        try:
            found.append(on.stores_mb())
        except OSError:
            pass  # it is busy, or has just died
        time.sleep(2)


def rows(figures: dict[str, Any]) -> list[report.Row]:
    peak, allowed = figures["peak_mb"], figures["rest_mb"] + figures["stores_mb"] + ABOVE_MB
    part = PART_OF_LIMIT * figures["limit_mb"]
    well, so = p95(figures["well_ms"]), p95(figures["ms"])
    plain = p95(figures["plain_ms"]) / p95(figures["plain_well_ms"])
    turn, lost, database = figures["longest_turn_ms"], figures["leases_lost"], figures["database_mb"]
    return [
        report.Row(
            "peak memory, against rest and what is held of providers", "-", f"<= {allowed:.0f} MB",
            f"{peak:.0f} MB: {figures['rest_mb']:.0f} at rest, {figures['stores_mb']:.0f} held", peak <= allowed,
        ),
        report.Row(
            "peak memory, against the chart's limit", "-", f"<= {part:.0f} MB", f"{peak:.0f} MB", peak <= part,
        ),
        report.Row("longest turn of the loop", "-", f"<= {TURN_MS:g} ms", f"<= {turn:g} ms", turn <= TURN_MS),
        report.Row("leases lost", "-", "0", str(lost), lost == 0),
        report.Row(
            "pods of another provider, p95, where plain pods take as long as before", "-", f"<= {LATENCY_RATIO:g} x",
            f"{so / well / plain:.2f} x ({so:.0f} of {well:.0f} ms; plain pods {plain:.2f} x)",
            so / well / plain <= LATENCY_RATIO,
        ),
        report.Row(
            "growth of the database at home", "-", f"<= {DATABASE_MB} MB", f"{database:.0f} MB", database <= DATABASE_MB,
        ),
    ]  # fmt: skip


def explain(figures: dict[str, Any]) -> str:
    done = ", ".join(f"{count} {what}" for what, count in figures["attack"].items())
    median, plain = statistics.median(figures["ms"]), statistics.median(figures["plain_ms"])
    most = sorted(figures["cpu_seconds"].items(), key=lambda entry: -entry[1])[:8]
    return (
        f"{figures['seconds']:g} s of attack: {done}; pods of milan meanwhile: {len(figures['ms'])}, median {median:.0f} ms "
        f"({statistics.median(figures['well_ms']):.0f} before), plain ones {plain:.0f} ms "
        f"({statistics.median(figures['plain_well_ms']):.0f} before)\n"
        f"CPU seconds meanwhile: {', '.join(f'{name} {seconds:.1f}' for name, seconds in most)}"
    )


def main() -> int:
    options = argparse.ArgumentParser(prog="tools/bench hostile", description=__doc__)
    options.add_argument("--seconds", type=float, default=SECONDS, help="of attack (default: %(default)g)")
    options.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    chosen = options.parse_args()
    if missing := settings.missing_requirements():
        sys.exit(f"bench: real clusters need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load = os.getloadavg()[0]
    figures = measure(chosen.seconds)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n")
    found = rows(figures)
    print(report.lay_out(found), explain(figures), f"load average before: {load:.1f}", report.setting(), sep="\n\n")
    return 0 if all(row.reached for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
