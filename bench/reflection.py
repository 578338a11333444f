"""tools/bench reflection: what it costs to copy ConfigMaps, Secrets and Services of many namespaces to a provider.

It measures the copying, the cost of keeping copies right, and a new start, on two real clusters. Each namespace has 5
ConfigMaps and its root CA, 5 Secrets and 2 Services of 1 KB.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test/cluster"))

import report  # noqa: E402
from harness import settings  # noqa: E402
from harness.cluster import audit  # noqa: E402
from harness.cluster.cluster import Cluster  # noqa: E402
from harness.liqo import chart  # noqa: E402
from harness.run import Run  # noqa: E402
from harness.wait import wait_for  # noqa: E402
from measure import resident_mb  # noqa: E402
from namespaces import MADE, REFLECTED, Namespaces  # noqa: E402
from profiler import fetch, record  # noqa: E402

# Goals.
RATE, WRITES, CPU_MS, MEMORY_KB = 0.7, 1.0, 1.0, 4.0
# Watches at the provider for each twin without pods, however many kinds are copied.
WATCHES = 0.0
# Seconds: how long rest is measured, and the wait before it, in which liqod looks for writes of an earlier process.
REST, LATE = 90, 80
PATIENCE = 1800.0
COPIED = ("configmaps", "secrets", "services")
# Requests that keep a virtual node alive, whatever is reflected.
OF_NODES = {"leases", "nodes", "nodes/status"}


class Tally:
    """Counts words in what is appended to a file. To parse an audit log while it is written takes a tenth of the two cores
    from what is measured on them."""

    def __init__(self, file: Path, words: bytes):
        self._file, self._words, self._offset, self._found = file, words, file.stat().st_size, 0

    def count(self) -> int:
        with self._file.open("rb") as log:
            log.seek(self._offset)
            data = log.read()
        whole = data.rfind(b"\n") + 1
        self._offset += whole
        self._found += data.count(self._words, 0, whole)
        return self._found


class Bench:
    """The stage, and what is read off it."""

    def __init__(self, on: Namespaces):
        self.on = on
        self.users = {chart.USER, on.peering.user}

    def requests(self, cluster: Cluster, since: int) -> list[audit.Entry]:
        """All that liqod has asked of a cluster, but for what keeps nodes alive."""
        return [
            entry for entry in cluster.audit.entries(since)
            if audit.user(entry) in self.users and audit.resource(entry) not in OF_NODES and entry.get("objectRef")
        ]  # fmt: skip

    def writes(self, cluster: Cluster, since: int) -> list[audit.Entry]:
        return [entry for entry in self.requests(cluster, since) if audit.is_write(entry)]

    def wait_quiet(self, marks: dict[str, int], quiet: float = 5) -> None:
        """Waits until liqod has written nothing for a while."""
        clusters = (self.on.rome, self.on.milan)
        seen, since, until = -1, time.monotonic(), time.monotonic() + PATIENCE
        while time.monotonic() - since < quiet:
            assert time.monotonic() < until, f"liqod still writes after {PATIENCE:g} s"
            time.sleep(0.5)
            now = sum(len(self.writes(cluster, marks[cluster.name])) for cluster in clusters)
            if now != seen:
                seen, since = now, time.monotonic()

    def marks(self) -> dict[str, int]:
        return {cluster.name: cluster.audit.mark() for cluster in (self.on.rome, self.on.milan)}

    def cpu(self) -> dict[str, float]:
        """Seconds so far, by process."""
        used = {
            f"{cluster.name}/{name}": process.cpu_seconds()
            for cluster in (self.on.rome, self.on.milan)
            for name, process in cluster.processes.items()
        }
        process = self.on.liqod.process
        return used | {"rome/liqod": process.cpu_seconds() if process else 0.0}

    def watches(self) -> float:
        """Watches that liqod has open at the provider."""
        return self.on.liqod.metrics()[f'kube_streams{{host="{self.on.milan.name}",use="watches"}}']

    def spent(self, act: Callable[[], Any]) -> dict[str, float]:
        before = self.cpu()
        act()
        return {name: seconds - before[name] for name, seconds in self.cpu().items()}

    def offload(self) -> dict[str, Any]:
        """All namespaces are mapped, and no kind is reflected."""
        marks, before = self.marks(), resident_mb(self.on.liqod)

        def act() -> None:
            self.on.map()
            self.wait_quiet(marks)

        spent = self.spent(act)
        return {"cpu_seconds": spent["rome/liqod"], "mb": resident_mb(self.on.liqod) - before}

    def reflect(self, profile: Path | None) -> dict[str, Any]:
        """All kinds are switched on."""
        on, marks, before = self.on, self.marks(), resident_mb(self.on.liqod)
        wanted = on.count * REFLECTED
        recorder = fetcher = None
        if profile:
            profile.mkdir(parents=True, exist_ok=True)
            recorder = record(on.liqod, profile / "liqod-rome.perf")
            fetcher = threading.Thread(target=fetch, args=(on.milan, profile / "kube-apiserver-milan.pprof"))
            fetcher.start()
        # Nearly all writes are patches.
        applied = Tally(on.milan.directory / "audit.log", b'"verb":"patch"')
        began = time.time()

        def act() -> None:
            on.switch(on=True)
            wait_for(lambda: applied.count() >= wanted, PATIENCE, f"{wanted} copies", interval=1)
            self.wait_quiet(marks)

        spent = self.spent(act)
        if recorder and fetcher:
            recorder.send_signal(signal.SIGINT)
            recorder.wait(120)
            fetcher.join()
        made = self.writes(on.milan, marks["milan"])
        at_home = Counter(f"{entry['verb']} {audit.resource(entry)}" for entry in self.writes(on.rome, marks["rome"]))
        requests = {
            cluster.name: Counter(f"{entry['verb']} {audit.resource(entry)}" for entry in
                                  self.requests(cluster, marks[cluster.name]))
            for cluster in (on.rome, on.milan)
        }  # fmt: skip
        return {
            "seconds": max(map(audit.received, made)) - began,
            "writes_per_object": len(made) / wanted,
            "writes_at_home": at_home,
            "requests": requests,
            "cpu_ms_per_object": 1000 * spent["rome/liqod"] / wanted,
            "cpu_seconds": spent,
            "before_mb": before,
            "after_mb": resident_mb(on.liqod),
            "kb_per_object": 1024 * (resident_mb(on.liqod) - before) / wanted,
        }

    def rest(self) -> dict[str, Any]:
        time.sleep(LATE)
        marks, began = self.marks(), time.monotonic()
        spent = self.spent(lambda: time.sleep(REST))
        minutes = (time.monotonic() - began) / 60
        found: dict[str, Any] = {
            "liqod_cpu_ms_per_second": 1000 * spent["rome/liqod"] / (60 * minutes),
            "mb": resident_mb(self.on.liqod),
        }
        for cluster in (self.on.rome, self.on.milan):
            asked = self.requests(cluster, marks[cluster.name])
            by_kind = Counter(f"{entry['verb']} {audit.resource(entry)}" for entry in asked)
            found[cluster.name] = {
                "per_minute": {what: round(count / minutes, 1) for what, count in by_kind.most_common()},
                # Lists verify copies, and liqod opens a watch again that a server has ended.
                "other": [audit.described(entry) for entry in asked if entry["verb"] not in ("list", "watch")],
            }
        return found

    def restart(self) -> dict[str, Any]:
        """A new process finds all as it should be."""
        on = self.on
        on.liqod.stop()
        marks = self.marks()
        on.liqod.start()

        def read() -> bool:
            lists = {
                (audit.resource(entry), entry["objectRef"].get("namespace"))
                for entry in self.requests(on.milan, marks["milan"])
                if entry["verb"] == "list" and audit.resource(entry) in COPIED
            }
            return len(lists) >= len(COPIED) * on.count

        wait_for(read, PATIENCE, "liqod to have read all twins again", interval=1)
        # Whatever it took for wrong it would mend at its next look, within 30 s.
        time.sleep(30)
        # Only writes in the bench's namespaces count at home: a new process writes conditions of its node and peering, too.
        written = [audit.described(entry) for entry in self.writes(on.milan, marks["milan"])] + [
            audit.described(entry) for entry in self.writes(on.rome, marks["rome"])
            if entry["objectRef"].get("namespace", "").startswith("bench-")
        ]  # fmt: skip
        asked = Counter(f"{entry['verb']} {audit.resource(entry)}" for entry in self.requests(on.rome, marks["rome"]))
        assert on.liqod.process
        return {
            "writes": written,
            "requests_at_home": asked,
            "cpu_seconds": on.liqod.process.cpu_seconds(),
            "mb": resident_mb(on.liqod),
        }


def measure(namespaces: int, profile: Path | None) -> dict[str, Any]:
    run = Run()
    try:
        report.say(f"starting two clusters, and making {namespaces} namespaces")
        on = Namespaces(run, namespaces)
        bench = Bench(on)
        limit_cpu = bench.cpu()
        seconds = on.post(on.milan, on.user, "limit-", "-rome")
        limit_cpu = {name: used - limit_cpu[name] for name, used in bench.cpu().items()}
        rate = namespaces * MADE / seconds
        report.say(f"bare client: {namespaces * MADE} objects in {seconds:.1f} s, {rate:.0f} a second")
        on.liqod.start()
        on.peering.wait_ready(120)
        bench.wait_quiet(bench.marks())
        empty_mb, watches = resident_mb(on.liqod), [bench.watches()]
        offloaded = bench.offload()
        watches.append(bench.watches())
        report.say(f"offloaded: {offloaded['mb']:.1f} MB, {offloaded['cpu_seconds']:.1f} s of CPU")
        reflected = bench.reflect(profile)
        report.say(
            f"liqod: {namespaces * REFLECTED} objects in {reflected['seconds']:.1f} s, "
            f"{reflected['cpu_ms_per_object']:.2f} ms and {reflected['kb_per_object']:.2f} KB per object"
        )
        rest = bench.rest()
        watches.append(bench.watches())
        return {
            "namespaces": namespaces,
            "objects": namespaces * REFLECTED,
            "limit_seconds": seconds,
            "limit_rate": rate,
            "limit_cpu_seconds": limit_cpu,
            "rate": namespaces * REFLECTED / reflected["seconds"],
            "empty_mb": empty_mb,
            "watches": watches,
            "offloaded": offloaded,
            "reflected": reflected,
            "rest": rest,
            "restart": bench.restart(),
        }
    except BaseException:
        if run.clusters:
            report.say(f"logs are kept in {run.keep_logs('bench')}")
        raise
    finally:
        run.close()


def rows(figures: dict[str, Any]) -> list[report.Row]:
    of, rest, again = figures["reflected"], figures["rest"], figures["restart"]
    share = figures["rate"] / figures["limit_rate"]
    other = [line for cluster in ("rome", "milan") for line in rest[cluster]["other"]]
    rates = " / ".join(f"{sum(rest[cluster]['per_minute'].values()):.0f}" for cluster in ("rome", "milan"))
    offloaded = figures["offloaded"]
    without, *with_twins = figures["watches"]
    watches = [round((open_now - without) / figures["namespaces"], 1) for open_now in with_twins]
    return [
        report.Row(
            "rate, against the bare client", "-", f">= {RATE}",
            f"{share:.2f}: {figures['rate']:.0f} of {figures['limit_rate']:.0f} a second", share >= RATE,
        ),
        report.Row(
            "writes per object, at the provider", "-", f"{WRITES:g}", f"{of['writes_per_object']:.3f}",
            of["writes_per_object"] == WRITES,
        ),
        report.Row(
            "CPU of liqod per object", "-", f"<= {CPU_MS:g} ms", f"{of['cpu_ms_per_object']:.2f} ms",
            of["cpu_ms_per_object"] <= CPU_MS,
        ),
        report.Row(
            "memory per object", "-", f"<= {MEMORY_KB:g} KB", f"{of['kb_per_object']:.2f} KB",
            of["kb_per_object"] <= MEMORY_KB,
        ),
        report.Row(
            "watches per twin at the provider: no kind / all kinds copied", "-", f"{WATCHES:g} / {WATCHES:g}",
            " / ".join(f"{each:g}" for each in watches), watches == [WATCHES, WATCHES],
        ),
        report.Row("at rest: requests but lists and watches", "-", "0", str(len(other)), not other),
        report.Row("at rest: requests a minute, home / provider", "-", "-", rates, True),
        report.Row(
            "at rest: CPU of liqod", "-", "-", f"{rest['liqod_cpu_ms_per_second'] / 10:.1f} % of a core", True,
        ),
        report.Row("after a restart: writes", "-", "0", str(len(again["writes"])), not again["writes"]),
        report.Row(
            "offloading alone, per namespace", "-", "-",
            f"{1000 * offloaded['cpu_seconds'] / figures['namespaces']:.1f} ms, "
            f"{1024 * offloaded['mb'] / figures['namespaces']:.1f} KB", True,
        ),
    ]  # fmt: skip


def explain(figures: dict[str, Any]) -> str:
    rest, again = figures["rest"], figures["restart"]
    text = ["CPU ms per object (liqod's run | the bare client's, its own aside):"]
    posted, copied = figures["namespaces"] * MADE, figures["objects"]
    limit = figures["limit_cpu_seconds"]
    for process, spent in sorted(figures["reflected"]["cpu_seconds"].items(), key=lambda item: -item[1]):
        text.append(f"  {1000 * spent / copied:6.2f} | {1000 * limit[process] / posted:6.2f}  {process}")
    text.append("requests while copying:")
    for cluster, counts in figures["reflected"]["requests"].items():
        text += [f"  {count:6d}  {cluster}: {what}" for what, count in counts.items()]
    text.append("requests a minute at rest:")
    for cluster in ("rome", "milan"):
        text += [f"  {count:8.1f}  {cluster}: {what}" for what, count in rest[cluster]["per_minute"].items()]
        text += [f"  {line}" for line in rest[cluster]["other"][:10]]
    text += [f"written after the restart: {line}" for line in again["writes"][:10]]
    text.append(
        f"liqod: {figures['empty_mb']:.1f} MB without namespaces, {figures['reflected']['before_mb']:.1f} with them, "
        f"{figures['reflected']['after_mb']:.1f} with copies, {rest['mb']:.1f} at rest; after the restart "
        f"{again['mb']:.1f} MB and {again['cpu_seconds']:.1f} s of CPU"
    )
    return "\n".join(text)


def main() -> int:
    options = argparse.ArgumentParser(prog="tools/bench reflection", description=__doc__)
    options.add_argument("--namespaces", type=int, default=1000, help="default: 1000")
    options.add_argument("--json", type=Path, metavar="FILE", help="also writes the figures there")
    options.add_argument(
        "--profile", type=Path, metavar="DIR", help="also profiles liqod and the provider's API server, into DIR"
    )
    chosen = options.parse_args()
    if missing := settings.missing_requirements():
        sys.exit(f"bench: real clusters need {', '.join(missing)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    load = os.getloadavg()[0]
    figures = measure(chosen.namespaces, chosen.profile)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n")
    found = rows(figures)
    print(report.lay_out(found), explain(figures), f"load average before: {load:.1f}", report.setting(), sep="\n\n")
    return 0 if all(row.reached for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
