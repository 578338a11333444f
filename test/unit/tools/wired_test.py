"""What the headers offer is used."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def sources() -> str:
    """All that is compiled into the programs, but for the literals themselves."""
    rooms = [ROOT / "src", ROOT / "include", ROOT / "services"]
    files = [path for room in rooms for pattern in ("*.cpp", "*.hpp") for path in room.rglob(pattern)]
    return "\n".join(path.read_text(encoding="utf-8") for path in files if path.name != "labels.hpp")


def test_each_reason_is_given_by_somebody() -> None:
    header = (ROOT / "include/liqo/api/labels.hpp").read_text(encoding="utf-8")
    part = header[header.index("namespace reasons {") : header.index("}  // namespace reasons")]
    reasons = re.findall(r"string_view (\w+) =", part)
    assert len(reasons) > 40
    used = set(re.findall(r"\breasons::(\w+)", sources()))
    assert [name for name in reasons if name not in used] == []
