"""Many execs at once through one API server, each in a WebSocket of its own, from one small process.

As a program it reads what to do from its arguments, and tells what has come of it in a line each: `open` when every exec
has answered, `closed` at the end, when all have ended well. Whatever is wrong is the last line, and the exit code is 1.
`Crowd` starts it in a cluster's network: five hundred kubectls need more memory than the machine has.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
import struct
import subprocess
import sys
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from .cluster import Cluster

# So many handshakes under way at a time: it is how many there are that matters, not how fast they come.
_AT_ONCE = 16
_STDIN, _STDOUT, _ERROR, _CLOSE = 0, 1, 3, 255


class Exec:
    """One exec: `cat`, which says what it hears, or a writer that nobody listens to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer

    @classmethod
    async def begin(cls, chosen: argparse.Namespace, tls: ssl.SSLContext, command: list[str]) -> Exec:
        reader, writer = await asyncio.open_connection(chosen.host, chosen.port, ssl=tls)
        query = urlencode([("container", chosen.container), ("stdin", "true"), ("stdout", "true"),
                           *(("command", word) for word in command)])  # fmt: skip
        writer.write(
            f"GET /api/v1/namespaces/{chosen.namespace}/pods/{chosen.pod}/exec?{query} HTTP/1.1\r\n"
            f"Host: {chosen.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise OSError(head.split(b"\r\n")[0].decode() + " " + (await reader.read(500)).decode(errors="replace"))
        return cls(reader, writer)

    def send(self, channel: int, data: bytes) -> None:
        # Masked with zeros, which changes nothing.
        self._writer.write(struct.pack("!BB", 0x82, 0x80 | (len(data) + 1)) + bytes(4) + bytes([channel]) + data)

    async def _frame(self) -> tuple[int, bytes]:
        """Operation and payload of the next frame."""
        first, length = await self._reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack("!H", await self._reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await self._reader.readexactly(8))
        return first & 0x0F, await self._reader.readexactly(length)

    async def read(self, channel: int) -> bytes:
        """What comes next on a channel that something comes on."""
        while True:
            operation, payload = await self._frame()
            if operation == 8:
                raise OSError("it ended too soon")
            if operation == 2 and payload[:1] == bytes([channel]) and len(payload) > 1:
                return payload[1:]

    async def echo(self, text: bytes) -> None:
        self.send(_STDIN, text)
        if (heard := await self.read(_STDOUT)) != text:
            raise OSError(f"it said {heard!r} for {text!r}")

    async def end(self) -> None:
        """Ends its stdin, and waits for its success."""
        self.send(_CLOSE, bytes([_STDIN]))
        status = json.loads(await self.read(_ERROR))
        if status["status"] != "Success":
            raise OSError(f"it ended with {status}")
        self.drop()

    def drop(self) -> None:
        self._writer.transport.abort()


async def crowd(chosen: argparse.Namespace) -> None:
    tls = ssl.create_default_context(cafile=chosen.authority)
    tls.load_cert_chain(chosen.certificate, chosen.key)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def begin(number: int) -> Exec:
        async with gate:
            if chosen.still:
                return await Exec.begin(chosen, tls, ["cat", "/dev/zero"])
            made = await Exec.begin(chosen, tls, ["cat"])
            await made.echo(b"number %d\n" % number)
            return made

    made = await asyncio.gather(*(begin(number) for number in range(chosen.count)))
    print("open", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    if chosen.still:
        for each in made:
            each.drop()
    else:
        await asyncio.gather(*(each.echo(b"still here\n") for each in made))
        await asyncio.gather(*(each.end() for each in made))
    print("closed", flush=True)


class Crowd:
    """So many execs of one container, from when it is entered until it is left. `still`: of a writer without end that
    nobody reads; otherwise each has answered when this is entered, and answers once more and ends when it is left."""

    def __init__(self, cluster: Cluster, namespace: str, pod: str, count: int, still: bool = False):
        pki = cluster.directory / "pki"
        command = [
            sys.executable, "-S", __file__, "--host", cluster.address, "--port", cluster.server.rpartition(":")[2],
            "--authority", cluster.authority.pair.certificate, "--certificate", pki / "admin.crt",
            "--key", pki / "admin.key", "--namespace", namespace, "--pod", pod, "--container", "main",
            "--count", count, *(["--still"] if still else []),
        ]  # fmt: skip
        self._command = cluster.space.entering(command)

    def __enter__(self) -> Crowd:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        if self._process.stdout.readline() != "open\n":
            _, errors = self._process.communicate()
            raise AssertionError(f"not all execs were opened: {errors.strip()[-500:]}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind:
            self._process.kill()
        said, errors = self._process.communicate("end\n")
        assert kind or said == "closed\n", f"not all execs ended well: {errors.strip()[-500:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("host", "authority", "certificate", "key", "namespace", "pod", "container"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--still", action="store_true")
    try:
        asyncio.run(crowd(parser.parse_args()))
    except (OSError, EOFError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
