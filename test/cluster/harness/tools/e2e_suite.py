"""The changes in the copy of Kubernetes' own tests that is built here; both sides of a comparison run that copy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

# A pod that is refused would be waited for five minutes or fifteen; one that starts on these clusters takes seconds.
_LONG = re.compile(
    r"(\w*[tT]imeout\w*\s*=|\b(?:PodStart|PodStartSlow|PodDelete|ClaimProvision):)(\s*)(?:5|10|15) \* time\.Minute"
)
_WAITING = ("daemon_set", "deployment", "disruption", "statefulset")
# The nodes that a test may use are those without taints that a plain pod does not tolerate. The admission of Liqo makes
# pods tolerate that of virtual nodes, and has not seen this one: the suite looks away from what --non-blocking-taints
# names, here as elsewhere.
_ASKS = 'isNodeUntaintedWithNonblocking(logger, node, "")'
_LOOKS_AWAY = "isNodeUntaintedWithNonblocking(logger, node, framework.TestContext.NonblockingTaints)"


def change(suite: Path) -> None:
    """Changes the sources in `suite`, a copy of test/e2e; fails if what is to be changed is not there any more."""
    sources = [*(suite / "framework").rglob("*.go"), *(suite / "apps" / f"{name}.go" for name in _WAITING)]
    shortened = sum(_replace(source, lambda text: _LONG.subn(r"\1\g<2>2 * time.Minute", text)) for source in sources)
    assert shortened > 20, f"{shortened} time-outs of the suite are where they were, of more than 20"
    asked = suite / "framework/node/resource.go"
    found = _replace(asked, lambda text: (text.replace(_ASKS, _LOOKS_AWAY), text.count(_ASKS)))
    assert found, f"{asked.name} asks otherwise"


def _replace(source: Path, changed: Callable[[str], tuple[str, int]]) -> int:
    text, count = changed(source.read_text())
    if count:
        source.chmod(0o644)
        source.write_text(text)
    return count
