"""Many execs or port-forwards at once through one API server, each on a connection of its own, from one small process.

As a program it reads what to do from its arguments, and tells what has come of it in a line each: `open` when every one
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
import zlib
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster

# Handshakes under way at a time: the number of streams matters, not how fast they come.
_AT_ONCE = 16
_STDIN, _STDOUT, _ERROR, _CLOSE = 0, 1, 3, 255
# SPDY/3.1: the frame that opens a stream, its answer, and the flag of a last frame.
_SYN_STREAM, _SYN_REPLY, _LAST = 1, 2, 1
# A stream that takes nothing for this many seconds is stuck.
_STUCK_SECONDS = 5


def _path_of(chosen: argparse.Namespace) -> str:
    return f"/api/v1/namespaces/{chosen.namespace}/pods/{chosen.pod}"


async def _upgraded(
    chosen: argparse.Namespace, tls: ssl.SSLContext, request: str, headers: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(chosen.host, chosen.port, ssl=tls)
    writer.write(f"{request} HTTP/1.1\r\nHost: {chosen.host}\r\nConnection: Upgrade\r\n{headers}\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 101 "):
        raise OSError(head.split(b"\r\n")[0].decode() + " " + (await reader.read(500)).decode(errors="replace"))
    return reader, writer


class Stream:
    """A connection that an API server has upgraded."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer

    def drop(self) -> None:
        self._writer.transport.abort()


class Exec(Stream):
    """One exec: `cat`, which says what it hears, or a writer that nobody listens to."""

    @classmethod
    async def begin(cls, chosen: argparse.Namespace, tls: ssl.SSLContext, command: list[str]) -> Exec:
        query = urlencode([("container", chosen.container), ("stdin", "true"), ("stdout", "true"),
                           *(("command", word) for word in command)])  # fmt: skip
        headers = (
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n"
        )
        return cls(*await _upgraded(chosen, tls, f"GET {_path_of(chosen)}/exec?{query}", headers))

    def send(self, channel: int, data: bytes) -> None:
        # The mask is zero, so the data stays as it is.
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


class Forward(Stream):
    """One port-forward with one connection in it, which is written to and not read from."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        super().__init__(reader, writer)
        self._headers = zlib.compressobj()

    @classmethod
    async def begin(cls, chosen: argparse.Namespace, tls: ssl.SSLContext) -> Forward:
        headers = "Content-Length: 0\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n"
        made = cls(*await _upgraded(chosen, tls, f"POST {_path_of(chosen)}/portforward", headers))
        await made._open(1, "error", chosen.forward)
        made._write(1, b"", _LAST)
        await made._open(3, "data", chosen.forward)
        return made

    async def _open(self, stream: int, kind: str, port: int) -> None:
        headers = {"streamtype": kind, "port": str(port), "requestid": "0"}
        block = struct.pack("!I", len(headers))
        for word in (word for header in headers.items() for word in header):
            block += struct.pack("!I", len(word)) + word.encode()
        # A compressor need not use SPDY's dictionary.
        packed = self._headers.compress(block) + self._headers.flush(zlib.Z_SYNC_FLUSH)
        payload = struct.pack("!IIH", stream, 0, 0) + packed
        self._writer.write(struct.pack("!HHI", 0x8003, _SYN_STREAM, len(payload)) + payload)
        while True:
            head = await self._reader.readexactly(8)
            version, operation, length = struct.unpack("!HHI", head)
            payload = await self._reader.readexactly(length & 0xFFFFFF)
            if (version, operation) == (0x8003, _SYN_REPLY) and payload[:4] == struct.pack("!I", stream):
                return
            if not version & 0x8000 and payload:
                raise OSError(payload.decode(errors="replace"))

    def _write(self, stream: int, data: bytes, flags: int = 0) -> None:
        self._writer.write(struct.pack("!II", stream, flags << 24 | len(data)) + data)

    async def fill(self) -> None:
        """Writes until nothing moves any more."""
        while True:
            self._write(3, bytes(32 << 10))
            try:
                await asyncio.wait_for(self._writer.drain(), _STUCK_SECONDS)
            except TimeoutError:
                return


async def crowd(chosen: argparse.Namespace) -> None:
    tls = ssl.create_default_context(cafile=chosen.authority)
    tls.load_cert_chain(chosen.certificate, chosen.key)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def begin(number: int) -> Exec | Forward:
        async with gate:
            if chosen.forward:
                return await Forward.begin(chosen, tls)
            if chosen.still:
                return await Exec.begin(chosen, tls, ["cat", "/dev/zero"])
            made = await Exec.begin(chosen, tls, ["cat"])
            await made.echo(b"number %d\n" % number)
            return made

    made = await asyncio.gather(*(begin(number) for number in range(chosen.count)))
    await asyncio.gather(*(each.fill() for each in made if isinstance(each, Forward)))
    print("open", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    if chosen.still or chosen.forward:
        for each in made:
            each.drop()
    else:
        await asyncio.gather(*(each.echo(b"still here\n") for each in made))
        await asyncio.gather(*(each.end() for each in made))
    print("closed", flush=True)


class Crowd:
    """So many execs of one container, from when it is entered until it is left. `still`: of a writer without end that
    nobody reads; otherwise each has answered when this is entered, and answers once more and ends when it is left.
    `forward`: port-forwards to that port instead, where what listens reads nothing and writes without end; each is
    written to as long as it takes anything, and not read from."""

    def __init__(
        self, cluster: Cluster, namespace: str, pod: str, count: int, still: bool = False, forward: int | None = None
    ):
        pki = cluster.directory / "pki"
        command = [
            sys.executable, "-S", __file__, "--host", cluster.address, "--port", cluster.server.rpartition(":")[2],
            "--authority", cluster.authority.pair.certificate, "--certificate", pki / "admin.crt",
            "--key", pki / "admin.key", "--namespace", namespace, "--pod", pod, "--container", "main",
            "--count", count, *(["--still"] if still else []), *(["--forward", forward] if forward else []),
        ]  # fmt: skip
        self._command = cluster.space.entering(command)

    def __enter__(self) -> Crowd:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        if self._process.stdout.readline() != "open\n":
            _, errors = self._process.communicate()
            raise AssertionError(f"not all were opened: {errors.strip()[-500:]}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind:
            self._process.kill()
        said, errors = self._process.communicate("end\n")
        assert kind or said == "closed\n", f"not all ended well: {errors.strip()[-500:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("host", "authority", "certificate", "key", "namespace", "pod", "container"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--still", action="store_true")
    parser.add_argument("--forward", type=int)
    try:
        asyncio.run(crowd(parser.parse_args()))
    except (OSError, EOFError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
