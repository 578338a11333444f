"""liqoctl as a user types it, run in the network of the cluster whose user that is."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .. import settings
from ..cluster.cluster import Cluster
from ..wait import patient


@dataclass
class Done:
    """What a run printed and how it ended."""

    code: int
    out: str
    err: str


class Liqoctl:
    """Runs liqoctl, ours unless told, against `cluster`, as its administrator unless another kubeconfig is given."""

    def __init__(self, cluster: Cluster, kubeconfig: Path | None = None, binary: Path | None = None):
        binary = binary or settings.liqoctl()
        assert binary and binary.exists(), f"there is no liqoctl to run ({binary or 'none built'})"
        self.cluster, self.binary = cluster, binary
        self.kubeconfig = kubeconfig or cluster.kubeconfig

    def __call__(self, *arguments: object, timeout: float = 120) -> str:
        """Runs it and returns what it printed on standard output; fails if it fails."""
        done = self.attempt(*arguments, timeout=timeout)
        words = " ".join(str(word) for word in arguments)
        assert done.code == 0, f"`liqoctl {words}` ended with {done.code}:\n{done.err}{done.out}"
        return done.out

    def attempt(self, *arguments: object, timeout: float = 120, stdin: str | None = None) -> Done:
        """Runs it and returns all there is to see, without a terminal."""
        # The Go liqoctl remembers which kinds an address serves, so each run has a cache of its own.
        caches = {"KUBECACHEDIR": str(self.cluster.directory / "kube-cache")}
        ended = subprocess.run(
            self.cluster.space.entering([self.binary, *arguments]),
            env={**os.environ, **caches, "KUBECONFIG": str(self.kubeconfig)},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=patient(timeout),
        )
        return Done(ended.returncode, ended.stdout, ended.stderr)
