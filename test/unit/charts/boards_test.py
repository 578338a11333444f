"""The Grafana boards of the chart: every query parses, and names metrics, labels, variables and sources that exist."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/cluster"))

from harness.monitoring.monitoring import board, documented, families, queries  # noqa: E402

BOARDS = ("consumer", "provider", "health")
# What a scrape adds, and histograms have.
EVERYWHERE = {"job", "instance", "le"}
# What Grafana knows by itself.
BUILT_IN = {"__rate_interval"}
WORDS = set("and by on sum count max rate histogram_quantile time".split())


def promised(expression: str) -> list[str]:
    """What of an expression docs/metrics.md does not know."""
    metrics, wrong = documented(), []
    bare = re.sub(r'"[^"]*"', '""', expression)
    labels = set(re.findall(r"(\w+)\s*=~?", bare))
    for listed in re.findall(r"\b(?:by|on) \(([^)]*)\)", bare):
        labels |= set(listed.split(", "))
    without_labels = re.sub(r"\b(?:by|on) \([^)]*\)|\{[^}]*\}|\[[^]]*\]", "", bare)
    names = set(re.findall(r"[a-zA-Z_]\w*", without_labels)) - WORDS
    wrong += [f"no metric {name}" for name in names - set(metrics)]
    known = EVERYWHERE.union(*(metrics.get(name, set()) for name in names))
    return wrong + [f"no label {label}" for label in labels - known]


@pytest.mark.parametrize("name", BOARDS)
def test_every_query_parses(name: str, tmp_path: pathlib.Path):
    rules = [{"record": f"q{i}", "expr": query} for i, query in enumerate(queries(board(name)))]
    assert len(rules) > 10
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]}))
    done = subprocess.run(["promtool", "check", "rules", "rules.yaml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", BOARDS)
def test_every_query_asks_for_what_is_documented(name: str):
    wrong = {query: found for query in queries(board(name)) if (found := promised(query))}
    assert not wrong


def test_alerts_ask_for_what_is_documented():
    metrics = documented()
    text = (ROOT / "charts/liqo/monitoring/alerts.yaml").read_text()
    for name in re.findall(r"\b((?:liqod?|kube|controller_runtime|leader|rest_client)_\w+)", text):
        assert name in metrics, name


@pytest.mark.parametrize("name", BOARDS)
def test_no_variable_or_source_is_used_that_does_not_exist(name: str):
    made = board(name)
    variables = {variable["name"]: variable for variable in made["templating"]["list"]}
    assert variables["datasource"] == {
        "name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"
    }  # fmt: skip
    text = json.dumps([made["panels"], made["templating"]])
    used = set(re.findall(r"\$\{?(\w+)", text)) - BUILT_IN - {"__all"}
    assert used <= set(variables), f"no variable {used - set(variables)}"
    assert set(variables) <= used, f"nothing uses {set(variables) - used}"
    sources = [panel["datasource"] for panel in made["panels"]]
    sources += [target["datasource"] for panel in made["panels"] for target in panel["targets"]]
    sources += [variable["datasource"] for variable in variables.values() if variable["type"] == "query"]
    assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources)


@pytest.mark.parametrize("name", BOARDS)
def test_a_variable_takes_its_values_of_a_label_that_the_metric_has(name: str):
    for variable in board(name)["templating"]["list"]:
        if variable["type"] != "query":
            continue
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]).groups()
        assert label in documented()[metric]


@pytest.mark.parametrize("name", BOARDS)
def test_a_legend_names_labels_that_the_query_keeps(name: str):
    for panel in board(name)["panels"]:
        for target in panel["targets"]:
            kept = re.search(r"sum by \(([^)]*)\)", target["expr"])
            used = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            if kept:
                assert used <= set(kept[1].split(", ")), target


@pytest.mark.parametrize("name", BOARDS)
def test_panels_do_not_lie_upon_each_other(name: str):
    made = board(name)
    assert len({panel["id"] for panel in made["panels"]}) == len(made["panels"])
    taken = set()
    for panel in made["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


def test_the_documentation_names_every_family_that_the_code_declares():
    declared = set()
    for header in ("src/telemetry/families.hpp", "subprojects/kube/include/kube/telemetry/families.hpp"):
        text = (ROOT / header).read_text(encoding="utf-8")
        declared |= set(re.findall(r'MetricFamily \w+\{\s*(?:counter|gauge|histogram),\s*"(\w+)"', text))
    assert declared == set(families())
