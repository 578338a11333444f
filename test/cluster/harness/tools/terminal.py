"""A terminal for a program that wants one, such as `kubectl exec -it`: a test types into it, reads it and resizes
it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Sequence

from ..wait import TimedOut, patient


class Terminal:
    """The program runs in a session of its own with this as its controlling terminal, so that it learns of resizes."""

    def __init__(self, command: Sequence[str], rows: int = 24, columns: int = 80):
        self._master, slave = pty.openpty()
        self._seen = b""
        self.resize(rows, columns)
        self._process = subprocess.Popen(["setsid", "--ctty", *command], stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def read_until(self, text: str, timeout: float = 20) -> str:
        """Everything shown up to and with `text`, which is then taken as read."""
        timeout = patient(timeout)
        until = time.monotonic() + timeout
        while (found := self._seen.find(text.encode())) < 0:
            if not select.select([self._master], [], [], max(0, until - time.monotonic()))[0]:
                raise TimedOut(f"waited {timeout:g} s for {text!r} on the terminal; it shows {self._seen[-600:]!r}")
            try:
                chunk = os.read(self._master, 65536)
            except OSError:  # the program ended, and with it the other side of the terminal
                chunk = b""
            assert chunk, f"the program ended before it showed {text!r}: {self._seen[-600:]!r}"
            self._seen += chunk
        end = found + len(text.encode())
        shown, self._seen = self._seen[:end], self._seen[end:]
        return shown.decode(errors="replace")

    def wait(self, timeout: float = 20) -> int:
        """The program's exit code."""
        return self._process.wait(patient(timeout))

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)


@contextlib.contextmanager
def terminal(command: Sequence[str], rows: int = 24, columns: int = 80) -> Iterator[Terminal]:
    opened = Terminal(command, rows, columns)
    try:
        yield opened
    finally:
        opened.close()
