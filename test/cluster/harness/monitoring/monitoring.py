"""Prometheus as an operator runs it, with the alerts of the chart, and the boards of the chart as Grafana asks them."""

from __future__ import annotations

import http.client
import json
import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

CHART = Path(__file__).resolve().parents[4] / "charts/liqo"
# Values for Grafana's variables: everything is chosen, and the step is the range.
_GIVEN = {"$__rate_interval": "1m", "$cluster_id": ".*"}


_ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| (.*?) \| .* \|$", re.MULTILINE)


def families() -> dict[str, tuple[str, set[str]]]:
    """Type and labels of every family in docs/metrics.md, by its name."""
    page = (CHART.parents[1] / "docs/metrics.md").read_text(encoding="utf-8")
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in _ROW.findall(page)}


def documented() -> dict[str, set[str]]:
    """The labels of every series that docs/metrics.md promises, by its name."""
    return {
        name + suffix: labels
        for name, (kind, labels) in families().items()
        for suffix in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))
    }


def board(name: str) -> dict[str, Any]:
    return json.loads((CHART / f"monitoring/{name}.json").read_text(encoding="utf-8"))


def queries(made: dict[str, Any]) -> list[str]:
    """Every query of a board as Grafana sends it."""
    out = []
    for panel in made["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in _GIVEN.items():
                expression = expression.replace(name, value)
            out.append(expression)
    return out


def shortened(alerts: Path, hold: str) -> dict[str, Any]:
    """The rules, with alerts that fire as soon as what they ask for has held for so long."""
    rules = yaml.safe_load(alerts.read_text(encoding="utf-8"))
    for group in rules["groups"]:
        for rule in group["rules"]:
            rule["for"] = hold
    return rules


def scraping(job: str, token: str, authority: Path | None = None, **found: Any) -> dict[str, Any]:
    """A job of Prometheus for a liqod, as docs/monitoring.md has it: with a token, over TLS that is verified by an
    authority, or not at all. `found` says where."""
    trust: dict[str, Any] = {"ca_file": str(authority)} if authority else {"insecure_skip_verify": True}
    credentials = {"type": "Bearer", "credentials": token}
    return {"job_name": job, "scheme": "https", "authorization": credentials, "tls_config": trust, **found}


class Prometheus:
    """One Prometheus in the network of a cluster, which does these `jobs` every other second."""

    def __init__(
        self, cluster: Any, directory: Path, jobs: list[dict[str, Any]], rules: dict[str, Any], port: int = 9191
    ):
        self.cluster, self.port = cluster, port
        directory.mkdir(parents=True)
        (directory / "rules.yaml").write_text(yaml.safe_dump(rules))
        config = {
            "global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "1s"},
            "rule_files": [str(directory / "rules.yaml")],
            "scrape_configs": jobs,
        }
        (directory / "prometheus.yaml").write_text(yaml.safe_dump(config))
        program = shutil.which("prometheus")
        assert program, "Debian's prometheus is not installed: tools/setup"
        self.process = cluster.space.start(
            "prometheus",
            [
                program, f"--config.file={directory}/prometheus.yaml", f"--storage.tsdb.path={directory}/data",
                f"--web.listen-address={cluster.address}:{port}",
            ],
        )  # fmt: skip

    def stop(self) -> None:
        self.process.stop(20)

    def _get(self, where: str) -> Any:
        connection = http.client.HTTPConnection(self.cluster.address, self.port)
        connection.sock = self.cluster.space.connect(self.cluster.address, self.port)
        try:
            connection.request("GET", where)
            response = connection.getresponse()
            # Prometheus is not ready at once.
            assert response.status != 503, "Prometheus is not ready"
            answer = json.loads(response.read())
        finally:
            connection.close()
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What an instant query answers: samples with `metric` and `value`."""
        return self._get("/api/v1/query?" + urlencode({"query": expression}))["result"]

    def firing(self) -> set[tuple[str, str]]:
        """The alerts that fire, each with the labels that say what it is about."""
        return {
            (alert["labels"]["alertname"], ",".join(_about(alert["labels"])))
            for alert in self._get("/api/v1/alerts")["alerts"]
            if alert["state"] == "firing"
        }

    def alerts(self) -> list[dict[str, str]]:
        """The labels of every alert that fires, or will if it goes on."""
        return [alert["labels"] for alert in self._get("/api/v1/alerts")["alerts"]]

    def evaluated(self, since: float) -> bool:
        """Whether every rule has been evaluated after that moment (seconds since 1970), and without a failure."""
        rules = [rule for group in self._get("/api/v1/rules")["groups"] for rule in group["rules"]]
        for rule in rules:
            assert rule["health"] == "ok", (rule["name"], rule.get("lastError"))
        return bool(rules) and all(datetime.fromisoformat(rule["lastEvaluation"]).timestamp() > since for rule in rules)

    def scrapes(self) -> bool:
        """Whether every target has been scraped."""
        targets = self._get("/api/v1/targets")["activeTargets"]
        return bool(targets) and all(target["health"] == "up" for target in targets)


def _about(labels: dict[str, str]) -> list[str]:
    told = ("cluster_id", "node_name", "identity", "slice", "resource", "server")
    return [labels[name] for name in told if name in labels]


def names(text: str) -> dict[str, set[str]]:
    """The names of the labels of each series in Prometheus' text format."""
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        name, _, rest = line.partition("{")
        labels = set(re.findall(r'(\w+)="', rest)) if rest else set()
        found.setdefault(name.split(" ")[0], set()).update(labels)
    return found
