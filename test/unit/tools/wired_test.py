"""Everything that the headers offer is used, and everything that a kind can say is followed or reported."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]


def sources() -> str:
    """All that is compiled into the programs, but for the literals themselves."""
    rooms = [ROOT / "src", ROOT / "include", ROOT / "services"]
    files = [path for room in rooms for pattern in ("*.cpp", "*.hpp") for path in room.rglob(pattern)]
    return "\n".join(path.read_text(encoding="utf-8") for path in files if path.name != "reasons.hpp")


def test_each_reason_is_given_by_somebody() -> None:
    header = (ROOT / "include/liqo/api/reasons.hpp").read_text(encoding="utf-8")
    part = header[header.index("namespace reasons {") : header.index("}  // namespace reasons")]
    reasons = re.findall(r"string_view (\w+) =", part)
    assert len(reasons) > 40
    used = set(re.findall(r"\breasons::(\w+)", sources()))
    assert [name for name in reasons if name not in used] == []


def test_each_field_of_a_template_is_followed_or_told() -> None:
    crd = yaml.safe_load((ROOT / "test/fixtures/liqo-crds/offloading.liqo.io_vkoptionstemplates.yaml").read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    view = (ROOT / "include/liqo/api/vk_options_template.hpp").read_text(encoding="utf-8")
    followed = set(re.findall(r"(?:strings|truth|object_at)\([^;]*?\"(\w+)\"", view))
    policy = (ROOT / "src/core/reflection/policy.hpp").read_text(encoding="utf-8")
    told = set(re.findall(r'"(\w+)"', re.search(r"fields_of_separate_kubelet = \{(.*?)\};", policy, re.S)[1]))
    # The kind wants these of everybody, so that saying them asks for nothing.
    required = {"containerImage", "metricsEnabled"}
    assert required < set(spec["required"])
    assert "reflectorsConfig" in followed and not followed & told
    assert set(spec["properties"]) == followed | told | required
