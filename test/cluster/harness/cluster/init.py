"""The first process of a cluster's namespaces: starts, signals and reaps everything else in them, on orders from stdin.

It is process 1 of its own PID namespace, so when it ends the kernel kills whatever runs there, containers included, and
drops every mount and network device made there. It ends when its stdin does, and that happens even if the test run is
killed outright: a run can leave no process behind. Orders and answers are JSON, one per line.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys

running: set[int] = set()
ended: dict[int, int] = {}
# Commands that are started again when they end by themselves, by their first PID, and how often still.
kept: dict[int, tuple[tuple[list[str], str, dict[str, str]], int]] = {}
# The present PID.
current: dict[int, int] = {}
STARTED_AGAIN = 20


def start(argv: list[str], log: str, env: dict[str, str], keep: bool) -> dict[str, int]:
    """Starts a process in a session of its own, its output appended to `log`. One that is to be kept runs on until it is
    killed, as what a kubelet starts."""
    pid = spawn(argv, log, env)
    if keep:
        kept[pid] = (argv, log, env), STARTED_AGAIN
    return {"pid": pid}


def spawn(argv: list[str], log: str, env: dict[str, str]) -> int:
    files = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawnp(
        argv[0], argv, env, file_actions=files, setsid=True, setsigmask=[], setsigdef=[signal.SIGCHLD]
    )
    running.add(pid)
    return pid


def reap() -> None:
    """Collects every ended process; those that were orphaned to us are forgotten."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid in running:
            running.discard(pid)
            ended[pid] = os.waitstatus_to_exitcode(status)
            keep_up(pid)


def keep_up(pid: int) -> None:
    """Starts what has ended again if it is to be kept."""
    first = next((first for first, now in current.items() if now == pid), pid)
    how, left = kept.get(first, (None, 0))
    if how and left:
        current[first] = spawn(*how)
        kept[first] = how, left - 1


def answer(order: dict) -> dict:
    reap()
    match order["do"]:
        case "start":
            return start(order["argv"], order["log"], order["env"], order["keep"])
        case "signal":
            if order["signal"] in (signal.SIGKILL, signal.SIGTERM):
                kept.pop(order["pid"], None)
            pid = current.get(order["pid"], order["pid"])
            if pid in running:
                os.kill(pid, order["signal"])
            return {}
        case "status":
            pid = current.get(order["pid"], order["pid"])
            return {"running": pid in running, "exit": ended.get(pid)}
    return {"error": f"unknown order {order['do']!r}"}


def main() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    pending = b""
    while True:
        ready, _, _ = select.select([0, reading], [], [])
        if reading in ready:
            os.read(reading, 4096)
            reap()
        if 0 not in ready:
            continue
        chunk = os.read(0, 65536)
        if not chunk:
            return
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            try:
                reply = answer(json.loads(line))
            except Exception as error:  # an order must be answered, or its sender waits for ever
                reply = {"error": f"{type(error).__name__}: {error}"}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
