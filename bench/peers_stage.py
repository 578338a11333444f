"""The stage of `tools/bench peers`: one liqod whose own cluster and whose peers are API servers in memory.

Of real API servers for a hundred peers nothing would be left of the machine. Here they are a process for liqod's own
cluster, and one for all others; what counts is the CPU time of liqod.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import report
from harness.cluster import pki
from harness.cluster.namespace import Namespace
from harness.liqo.liqod import Liqod
from harness.run import Run
from harness.wait import wait_for
from stand_in_crowd import Crowd, Writes
from turns import longest_ms, turns

ADDRESS = "192.168.250.1"
HOME_PORT, HOME_CONTROL, PEERS_PORT, PEERS_CONTROL = 6443, 6001, 7001, 6002
PATIENCE = 1800.0
# liqod spends at most a tenth of its time on metrics; a reading that comes too early gets the previous text.
BETWEEN_READINGS = 12.0
# A reading of the metrics is a turn by itself; so many are measured while nothing else happens.
READINGS = 3
HEARTBEAT = "PATCH nodes/status 200"
# Between two looks at rest.
LOOK = 10.0
# What goes by the clock: leases, and what virtual nodes say of themselves.
_BY_THE_CLOCK = (" leases", " events", " nodes/status")
BEGAN = time.monotonic()


def say(text: str) -> None:
    report.say(f"{time.monotonic() - BEGAN:5.0f} s: {text}")


@dataclass(frozen=True)
class Place:
    """As much of a cluster as a liqod and its profiler need to know of it."""

    name: str
    address: str
    pod_cidr: str
    space: Namespace


@dataclass(frozen=True)
class Spent:
    """What liqod did in some time. `writes` are those that reached its own cluster, by kind."""

    seconds: float
    cpu_seconds: float
    longest_turn_ms: float
    writes: dict[str, int]

    def beyond(self, rest: Rest, nodes: int = 0) -> float:
        """CPU seconds that rest does not explain. So many Nodes were written because of what was done."""
        heartbeats = max(0, self.writes.get(HEARTBEAT, 0) - nodes)
        return self.cpu_seconds - self.seconds * rest.core - heartbeats * rest.heartbeat_seconds


@dataclass(frozen=True)
class Rest(Spent):
    """The cost of rest. Each virtual node says every three to five minutes that it is there, and those that began
    together do so more or less together. So this is kept apart: `core` is CPU time in a second without that,
    `heartbeat_seconds` is the cost of one."""

    core: float
    heartbeat_seconds: float


def line_through(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Where it begins, and how steep it is: with the least squares, and never downwards."""
    wide, high = (sum(point[axis] for point in points) / len(points) for axis in (0, 1))
    spread = sum((x - wide) ** 2 for x, _ in points)
    slope = max(0.0, sum((x - wide) * (y - high) for x, y in points) / spread) if spread else 0.0
    return high - slope * wide, slope


class PeersStage:
    """The processes. liqod is started by who has filled its cluster."""

    def __init__(self, run: Run, name: str, peers: int):
        space = Namespace(name, run.directory / name)
        run.network.attach(space, name, ADDRESS)
        self.name, self.space, self.directory = name, space, run.directory / name
        self.authority = pki.Authority(self.directory / "pki", "stand-ins")
        serving = self.authority.issue("serving", "stand-in", names=[f"IP:{ADDRESS}"])
        crowds = [Crowd(space, "home", ADDRESS, HOME_PORT, HOME_CONTROL, 1, home=True)]
        if peers:
            crowds.append(Crowd(space, "peers", ADDRESS, PEERS_PORT, PEERS_CONTROL, peers, home=False))
        for crowd in crowds:
            crowd.start(serving)
        self.home, self.peers = crowds[0], crowds[-1]
        self.api = self.home.apis[0]
        self.api.create("namespaces", None, {"metadata": {"name": "liqo"}})
        kubeconfig = self.directory / "liqod.kubeconfig"
        kubeconfig.write_text(self.kubeconfig(self.home.server(0), {"token": "liqod"}))
        self._place, self._kubeconfig = Place(name, ADDRESS, "10.250.0.0/16", space), kubeconfig
        self.reading_ms = 0.0

    def kubeconfig(self, server: str, user: dict[str, Any]) -> str:
        return pki.kubeconfig(server, self.authority.pair.certificate, user, "stand-in")

    def start_liqod(self, flags: tuple[str, ...] = (), webhooks: bool = False) -> None:
        # Nobody signs for kubelets here.
        flags = ("--certificate-type", "self-signed", *flags)
        self.liqod = Liqod(self._place, self._kubeconfig, flags=flags, webhooks=webhooks, listen_ports=64)  # type: ignore[arg-type]
        self._started, self._mark = time.monotonic(), self.home.writes().next
        self.liqod.start(PATIENCE)
        assert self.liqod.process
        self.process = self.liqod.process

    # -- time ----------------------------------------------------------------------------------------------------

    def wait_calm(self) -> None:
        """Waits until liqod writes nothing but what goes by the clock, and takes the same CPU time again and again."""
        window, used = 5.0, list[float]()
        mark, cpu = self.home.writes().next, self.process.cpu_seconds()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            time.sleep(window)
            found, now = self.home.writes(mark), self.process.cpu_seconds()
            busy = [what for what in found.by_kind if what.startswith("liqod") and not _goes_by_clock(what)]
            used = [] if busy else [*used, now - cpu][-3:]
            mark, cpu = found.next, now
            if len(used) == 3 and max(used) <= 1.3 * min(used) + 0.05:
                return
        raise TimeoutError(f"liqod is still busy: {busy}, CPU seconds in {window:g} s each: {used}")

    def spend(self, act: Callable[[], object]) -> Spent:
        """What liqod does meanwhile, for as long as metrics are apart at least."""
        time.sleep(BETWEEN_READINGS)
        before, mark = turns(self.liqod), self.home.writes().next
        began, cpu = time.monotonic(), self.process.cpu_seconds()
        act()
        time.sleep(max(0.0, began + BETWEEN_READINGS - time.monotonic()))
        seconds, used = time.monotonic() - began, self.process.cpu_seconds() - cpu
        now, writes = turns(self.liqod), self.home.writes(mark)
        # The turn in which the metrics were read `before` is the first one that is counted.
        longest = longest_ms(now, before)
        if longest <= self.reading_ms:
            longest = longest_ms(now, before, left_out=1)
        return Spent(seconds, used, longest, self._own(writes))

    @staticmethod
    def _own(writes: Writes) -> dict[str, int]:
        who = "liqod "
        return {what.removeprefix(who): int(of["count"]) for what, of in writes.by_kind.items() if what.startswith(who)}

    def begun(self) -> Spent:
        """What liqod has done since it was started."""
        cpu, seconds = self.process.cpu_seconds(), time.monotonic() - self._started
        return Spent(seconds, cpu, longest_ms(turns(self.liqod)), self._own(self.home.writes(self._mark)))

    def at_rest(self, seconds: float) -> Rest:
        self.wait_calm()
        self.reading_ms = 0.0
        self.reading_ms = max(self.spend(lambda: None).longest_turn_ms for _ in range(READINGS))
        looks: list[tuple[float, float]] = []

        def look() -> None:
            for _ in range(max(2, round(seconds / LOOK))):
                mark, cpu = self.home.writes().next, self.process.cpu_seconds()
                time.sleep(LOOK)
                heartbeats = self.home.writes(mark).count(f"liqod {HEARTBEAT}")
                looks.append((heartbeats / LOOK, (self.process.cpu_seconds() - cpu) / LOOK))

        spent = self.spend(look)
        core, heartbeat = line_through(looks)
        return Rest(spent.seconds, spent.cpu_seconds, spent.longest_turn_ms, spent.writes, core, heartbeat)

    def close(self) -> None:
        self.space.close()


def _goes_by_clock(what: str) -> bool:
    return any(each in what for each in _BY_THE_CLOCK)


def each(things: Iterable[Any], act: Callable[[Any], object]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(act, things))


def paced(seconds: float, rate: float, act: Callable[[int], object]) -> int:
    """Acts so often a second; returns how often in all."""
    began, count = time.monotonic(), round(seconds * rate)
    for number in range(count):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        act(number)
    return count


def ed25519_key(file: Path) -> Path:
    subprocess.run(["openssl", "genpkey", "-algorithm", "ED25519", "-out", file], check=True, capture_output=True)
    return file


def certificate_for(key: Path, authority: pki.Authority, file: Path) -> bytes:
    """A client certificate for a key that is there."""
    ca = authority.pair
    subprocess.run(
        ["openssl", "req", "-x509", "-new", "-key", key, "-subj", "/O=rome/CN=rome", "-days", "3650", "-CA",
         ca.certificate, "-CAkey", ca.key, "-addext", "basicConstraints=critical,CA:FALSE", "-addext",
         "extendedKeyUsage=clientAuth", "-out", file],
        check=True, capture_output=True,
    )  # fmt: skip
    return file.read_bytes()


def public_half(key: Path) -> bytes:
    return subprocess.run(["openssl", "pkey", "-in", key, "-pubout"], check=True, capture_output=True).stdout


def wait_count(found: Callable[[], int], wanted: int, what: str) -> None:
    def enough() -> bool:
        seen = found()
        assert seen >= wanted, f"{seen} of {wanted}"
        return True

    wait_for(enough, PATIENCE, f"{wanted} {what}", interval=1)
