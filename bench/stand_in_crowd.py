"""Stand-ins by the dozen: one process that answers for many API servers in memory, or for liqod's own cluster (stand_in/)."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.cluster import pki
from harness.cluster.api import Api
from harness.cluster.namespace import Namespace
from harness.wait import wait_for

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/release/bench/provider_stand_in"


class StandInApi(Api):
    """One of the API servers of a crowd, by the hand of the bench: plain HTTP, and no rights to be asked for."""

    def __init__(self, space: Namespace, address: str, port: int, number: int):
        self._space, self._address, self._port, self._number = space, address, port, number
        self._headers: dict[str, str] = {}
        self._connections = threading.local()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        kept = getattr(self._connections, "kept", None)
        if kept is None:
            kept = http.client.HTTPConnection(self._address, self._port, timeout=timeout)
            kept.sock = self._space.connect(self._address, self._port, timeout)
            self._connections.kept = kept
        kept.sock.settimeout(timeout)
        return kept

    def raw(
        self,
        method: str,
        where: str,
        body: bytes | None = None,
        kind: str = "application/json",
        *,
        timeout: float = 30,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        return super().raw(method, f"/{self._number}{where}", body, kind, timeout=timeout, headers=headers)

    def order(self, what: str) -> None:
        """Of all API servers of the crowd, such as "silence?on=1" (stand_in/control.hpp)."""
        code, said = super().raw("PUT", f"/{what}")
        assert code == 200, f"PUT /{what}: {code} {said!r}"


@dataclass
class Writes:
    """What has been written since an earlier look, by who did what: how often, and when for the first and the last time."""

    next: int
    by_kind: dict[str, dict[str, float]]

    def count(self, what: str) -> int:
        """Of all kinds whose name begins so."""
        return int(sum(each["count"] for name, each in self.by_kind.items() if name.startswith(what)))

    def last(self, what: str) -> float:
        return max(each["last"] for name, each in self.by_kind.items() if name.startswith(what))

    def first(self, what: str) -> float:
        return min(each["first"] for name, each in self.by_kind.items() if name.startswith(what))


class Crowd:
    """`count` API servers at consecutive ports of one address. `home`: they serve what liqod asks of its own cluster."""

    def __init__(self, space: Namespace, name: str, address: str, port: int, control_port: int, count: int, home: bool):
        self.space, self.name, self.address, self.port = space, name, address, port
        self._control_port, self._count, self._home = control_port, count, home
        self.apis = [StandInApi(space, address, control_port, number) for number in range(count)]

    def start(self, serving: pki.Pair) -> None:
        command = [
            PROGRAM, "--address", self.address, "--port", self.port, "--count", self._count, "--control-port",
            self._control_port, "--certificate", serving.certificate, "--key", serving.key,
            *(["--home"] if self._home else []),
        ]  # fmt: skip
        self.process = self.space.start(self.name, command)

        def listens() -> bool:
            assert self.process.running(), self.process.log.read_text()[-500:]
            return self.apis[-1].healthy()

        wait_for(listens, 20, f"{self.name} to listen")

    def server(self, number: int) -> str:
        return f"https://{self.address}:{self.port + number}"

    def be_silent(self, silent: bool) -> None:
        self.apis[0].order(f"silence?on={int(silent)}")

    def delay(self, milliseconds: int) -> None:
        self.apis[0].order(f"delay?ms={milliseconds}")

    def writes(self, since: int = 0, number: int = 0) -> Writes:
        found = self.apis[number].request("GET", f"/writes?from={since}")
        return Writes(found["next"], found["writes"])
