"""A user's terminal: command lines as a person types them, run by a shell in the network of that person's cluster."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import settings
from ..cluster.cluster import Cluster
from ..wait import TimedOut, patient

# Sequences that move the cursor or colour; one that erases a line begins it anew.
_ERASED = re.compile(r"^.*(?:\x1b\[2K|\r(?!\n|$))", re.MULTILINE)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Shown:
    """How a command line ended, and what is left on the screen."""

    code: int
    text: str


class Console:
    """A shell with kubectl and `others`, by default liqoctl, as the administrator of `cluster`; it starts in `home`."""

    def __init__(self, cluster: Cluster, home: Path, others: Mapping[str, Path] | None = None):
        self.cluster, self.home = cluster, home
        if others is None:
            binary = settings.liqoctl()
            assert binary and binary.exists(), f"there is no liqoctl to run ({binary or 'none built'})"
            others = {"liqoctl": binary}
        programs = cluster.directory / "bin"
        programs.mkdir(exist_ok=True)
        kubectl = programs / "kubectl"
        kubectl.write_text(f'#!/bin/sh\nexec {cluster.kube} kubectl "$@"\n')
        kubectl.chmod(0o755)
        for name, program in others.items():
            link = programs / name
            link.unlink(missing_ok=True)
            link.symlink_to(program)
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "KUBECONFIG": str(cluster.kubeconfig),
            "HOME": str(home),
        }

    def command(self, line: str) -> list[str]:
        """The shell for one command line; a pipe fails with its first failure."""
        return self.cluster.space.entering(["bash", "-o", "pipefail", "-c", line])

    def run(self, line: str, answers: Sequence[tuple[str, str]] = (), timeout: float = 120) -> Shown:
        """Runs a command line on a terminal without colours, and types the answer if a question is shown."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            self.command(line), stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.home,
            env={**self.environment, "TERM": "xterm", "NO_COLOR": "1"}, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        timeout = patient(timeout)
        seen, waiting, until = b"", list(answers), time.monotonic() + timeout
        try:
            while select.select([ours], [], [], max(0.0, until - time.monotonic()))[0]:
                try:
                    chunk = os.read(ours, 65536)
                except OSError:  # the shell ended, and with it the other side of the terminal
                    break
                if not chunk:
                    break
                seen += chunk
                if waiting and waiting[0][0].encode() in seen:
                    os.write(ours, waiting.pop(0)[1].encode() + b"\n")
            else:
                raise TimedOut(f"`{line}` took more than {timeout:g} s; it shows {as_shown(seen)[-1500:]!r}")
            return Shown(process.wait(patient(30)), as_shown(seen))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            os.close(ours)


def as_shown(written: bytes) -> str:
    """What is left on the screen of what a program wrote there."""
    text = written.decode(errors="replace").replace("\r\n", "\n")
    return _ESCAPES.sub("", _ERASED.sub("", text))
