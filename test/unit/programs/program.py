"""The program liqoctl, as a process."""

import os
import pathlib
import subprocess

LIQOCTL = pathlib.Path(
    os.environ.get("LIQOCTL", pathlib.Path(__file__).resolve().parents[3] / "build/release/services/liqoctl/liqoctl")
)


def liqoctl(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs it without a terminal."""
    return subprocess.run(
        [LIQOCTL, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
