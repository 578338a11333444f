"""A set of Linux namespaces (processes, mounts, network) with processes in it; everything in it dies with it."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ..wait import patient, wait_for

T = TypeVar("T")

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
_TICKS = os.sysconf("SC_CLK_TCK")


class Process:
    """A process inside a Namespace, known by its PID there."""

    def __init__(self, home: Namespace, name: str, pid: int, log: Path):
        self.home, self.name, self.pid, self.log = home, name, pid, log

    def running(self) -> bool:
        return self.home.order(do="status", pid=self.pid)["running"]

    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self.home.order(do="status", pid=self.pid)["exit"]

    def send(self, number: int) -> None:
        self.home.order(do="signal", pid=self.pid, signal=number)

    def kill(self) -> None:
        """Kills at once (SIGKILL) and waits until it is gone."""
        self.send(signal.SIGKILL)
        self.wait(30)

    def stop(self, timeout: float = 20) -> int:
        """Asks to end (SIGTERM) and returns the exit code."""
        self.send(signal.SIGTERM)
        return self.wait(timeout)

    def wait(self, timeout: float) -> int:
        wait_for(lambda: not self.running(), timeout, f"{self.name} to end", interval=0.01)
        code = self.exit_code()
        assert code is not None
        return code

    def _proc(self, file: str) -> str:
        return (self.home.proc / str(self.pid) / file).read_text()

    def resident_bytes(self) -> int:
        """Resident memory now (VmRSS)."""
        line = next(line for line in self._proc("status").splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def private_bytes(self) -> int:
        """Resident memory that no file backs (RssAnon): what the process itself allocated."""
        line = next(line for line in self._proc("status").splitlines() if line.startswith("RssAnon:"))
        return int(line.split()[1]) * 1024

    def forget_peak(self) -> None:
        """From now on `peak_bytes` begins anew."""
        (self.home.proc / str(self.pid) / "clear_refs").write_text("5")

    def peak_bytes(self) -> int:
        """The most resident memory that it has had (VmHWM)."""
        line = next(line for line in self._proc("status").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def cpu_seconds(self) -> float:
        """User and system time so far."""
        fields = self._proc("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS


class Namespace:
    """Namespaces of their own for a cluster (or for the network between clusters), held by `init.py` as process 1."""

    def __init__(self, name: str, directory: Path):
        self.name, self.directory = name, directory
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]
        with (directory / "init.log").open("ab") as log:
            self._unshare = subprocess.Popen(
                [*command, sys.executable, "-S", str(Path(__file__).with_name("init.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self.order(do="status", pid=0)
        children = Path(f"/proc/{self._unshare.pid}/task/{self._unshare.pid}/children").read_text().split()
        self.pid = int(children[0])
        self.net = Path(f"/proc/{self.pid}/ns/net")
        self.proc = Path(f"/proc/{self.pid}/root/proc")

    def order(self, **order: object) -> dict:
        """Sends one order to process 1 and returns its answer."""
        assert self._unshare.stdin and self._unshare.stdout
        with self._lock:
            try:
                self._unshare.stdin.write(json.dumps(order).encode() + b"\n")
                self._unshare.stdin.flush()
                line = self._unshare.stdout.readline()
            except (BrokenPipeError, ValueError):
                line = b""
        if not line:
            raise RuntimeError(f"the namespaces of {self.name} are gone; see {self.directory}/init.log")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(f"{self.name}: {order['do']}: {reply['error']}")
        return reply

    def start(
        self, name: str, argv: Sequence[object], env: Mapping[str, str] | None = None, keep: bool = False
    ) -> Process:
        """Starts a process inside; its output goes to `<name>.log` in the directory of these namespaces. What is to be kept is
        started again when it ends and was not killed."""
        log = self.directory / f"{name}.log"
        words = [str(word) for word in argv]
        pid = self.order(do="start", argv=words, log=str(log), env={**os.environ, **(env or {})}, keep=keep)["pid"]
        return Process(self, name, pid, log)

    def entering(self, argv: Sequence[object]) -> list[str]:
        """The command line that runs `argv` in this network, but in the caller's own mounts and processes."""
        return ["nsenter", f"--net={self.net}", *(str(word) for word in argv)]

    def run(self, *argv: object, stdin: str | bytes | None = None, timeout: float = 60, check: bool = True) -> str:
        """Runs a command in this network and returns what it printed; fails with its errors unless `check` is false."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(self.entering(argv), input=data, capture_output=True, timeout=patient(timeout))
        if check and done.returncode != 0:
            command = " ".join(str(word) for word in argv)
            raise AssertionError(
                f"{self.name}: `{command}` ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
            )
        return done.stdout.decode(errors="replace")

    def connect(self, address: str, port: int, timeout: float = 30) -> socket.socket:
        """A TCP connection made from inside this network."""
        return self._inside(lambda: socket.create_connection((address, port), timeout))

    def connect_often(self, address: str, port: int, count: int, timeout: float = 30) -> list[socket.socket]:
        """So many TCP connections, as fast as they can be made."""
        return self._inside(lambda: [socket.create_connection((address, port), timeout) for _ in range(count)])

    def listen(self, address: str) -> socket.socket:
        """A TCP server inside this network, on a port that the kernel chooses."""
        return self._inside(lambda: socket.create_server((address, 0)))

    def _inside(self, opened: Callable[[], T]) -> T:
        """Opens sockets in this network: they stay there, whoever uses them from where.

        Namespaces belong to a thread: the one that moves here ends right after, so nothing else in the test ever moves.
        """
        result: list[T | OSError] = []

        def run() -> None:
            try:
                with self.net.open("rb") as net:
                    if _libc.setns(net.fileno(), _CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), f"cannot enter the network of {self.name}")
                result.append(opened())
            except OSError as error:
                result.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if isinstance(result[0], OSError):
            raise result[0]
        return result[0]

    def close(self) -> None:
        """Ends process 1, and with it everything inside."""
        if self._unshare.stdin:
            self._unshare.stdin.close()
        try:
            self._unshare.wait(patient(10))
        except subprocess.TimeoutExpired:
            # unshare passes its own death on to process 1 (--kill-child).
            self._unshare.kill()
            self._unshare.wait(patient(30))
        if self._unshare.stdout:
            self._unshare.stdout.close()
