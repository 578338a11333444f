"""The Helm chart, as far as it can be checked without Helm: files parse, and values, files and templates agree."""

import pathlib
import re

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHART = ROOT / "charts" / "liqo"
TEMPLATES = "\n".join(path.read_text(encoding="utf-8") for path in sorted((CHART / "templates").iterdir()))


def leaves(values, path=()):
    """Dotted paths of the values; an empty mapping is a leaf, being the user's to fill."""
    if isinstance(values, dict) and values:
        for key, value in values.items():
            yield from leaves(value, (*path, key))
    else:
        yield ".".join(path)


def values():
    return yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "path", sorted(str(path.relative_to(CHART)) for path in CHART.rglob("*.yaml") if path.parent.name != "templates")
)
def test_file_parses_as_one_document(path):
    documents = list(yaml.load_all((CHART / path).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    assert len(documents) == 1 and isinstance(documents[0], dict)


def test_the_chart_has_what_helm_demands():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["apiVersion"] == "v2" and chart["name"] == "liqo"
    assert re.fullmatch(r"\d+\.\d+\.\d+", chart["version"])


def test_every_value_is_in_the_readme():
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    # A line may be about all values below one name, or about the same value of several: a.*, a.*.workers.
    named = {name.removesuffix(".*") for name in re.findall(r"`([A-Za-z.*]+)`", readme)}
    patterns = [re.compile(re.escape(name).replace(r"\*", r"\w+") + r"(\.|$)") for name in named]
    assert not [leaf for leaf in leaves(values()) if not any(pattern.match(leaf) for pattern in patterns)]


def test_templates_install_every_role():
    used = set(re.findall(r'"files/([^"]+)"', TEMPLATES))
    assert used == {path.name for path in (CHART / "files").glob("*.yaml")}


def test_every_role_is_in_the_readme():
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    roles = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted((CHART / "files").glob("*.yaml"))]
    rows = [f"| {role['kind']} `{role['metadata']['name']}` |" for role in roles]
    assert len(rows) > 20 and not [row for row in rows if row not in readme]


def test_the_container_is_confined():
    for line in ("runAsNonRoot: true", "readOnlyRootFilesystem: true", "allowPrivilegeEscalation: false", "drop: [ALL]"):
        assert line in TEMPLATES
