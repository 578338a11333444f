"""The network between the clusters: each hangs on a bridge by one cable, which can be cut or made slow."""

from __future__ import annotations

from pathlib import Path

from .namespace import Namespace

PREFIX = 16


class Network:
    """A bridge in a network namespace of its own. Cables are named after the cluster at their end."""

    def __init__(self, directory: Path):
        self.space = Namespace("wan", directory)
        self._ip("link add bridge type bridge", "link set bridge up", "link set lo up")

    def _ip(self, *commands: str) -> None:
        self.space.run("ip", "-batch", "-", stdin="".join(f"{command}\n" for command in commands))

    def attach(self, cluster: Namespace, name: str, address: str) -> None:
        """Lays a cable from the bridge to `cluster` and gives its end `address`."""
        self._ip(
            f"link add {name} type veth peer name eth0 netns {cluster.pid}",
            f"link set {name} master bridge",
            f"link set {name} up",
        )
        commands = [
            "link set lo up",
            f"addr add {address}/{PREFIX} dev eth0",
            "link set eth0 up",
            "route add default dev eth0",
        ]
        cluster.run("ip", "-batch", "-", stdin="".join(f"{command}\n" for command in commands))
        cluster.run("sysctl", "-qw", "net.ipv4.ip_forward=1")

    def cut(self, name: str) -> None:
        """Cuts the cable of `name`: no packet passes, nobody is told; open connections just fall silent."""
        self._ip(f"link set {name} down")

    def heal(self, name: str) -> None:
        """Undoes `cut` and `slow`."""
        self._ip(f"link set {name} up")
        self.space.run("tc", "qdisc", "del", "dev", name, "root", check=False)

    def slow(self, name: str, kbit: int) -> None:
        """Lets only `kbit` kilobits a second through towards `name`; what has waited for two seconds is dropped.

        A narrow cable, as the bucket filter is in every kernel and the one that delays (netem) is not.
        """
        self.space.run(
            "tc",
            "qdisc",
            "replace",
            "dev",
            name,
            "root",
            "tbf",
            "rate",
            f"{kbit}kbit",
            "burst",
            "16kb",
            "latency",
            "2s",
        )

    def close(self) -> None:
        self.space.close()
