"""The alerts of the chart, each told by promtool: it fires when it should, and does not when nothing is wrong."""

import pathlib
import re
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
ALERTS = ROOT / "charts/liqo/monitoring/alerts.yaml"
RULES = {rule["alert"]: rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]}
MONITORING = (ROOT / "docs/monitoring.md").read_text(encoding="utf-8")

NODE = '{cluster_id="milan", node_name="milan"}'
SLICE = '{cluster_id="milan", slice="milan"}'
CPU = '{cluster_id="rome", slice="milan", resource="cpu"}'
WATCH = '{cluster="milan", resource="pods"}'
IDENTITY = '{cluster_id="milan", identity="controlplane-milan"}'
REFLECTION = '{namespace="shop", reflector_resource="Pod", cluster_id="milan", node_name="milan"}'
LIQOD = '{job="liqod", instance="a"}'
WEBHOOK, KUBELET = '{server="webhook"}', '{server="kubelet"}'
HOUR = 3600
DAY = 24 * HOUR


def certificate(of: str, labels: str, start: int, end: int) -> dict[str, str]:
    """The series of a certificate with that time, in seconds from the beginning of a test."""
    name = f"liqo_{of}_certificate_%s_timestamp_seconds{labels}"
    return {name % "expiry": f"{end}x180", name % "start": f"{start}x180"}


# By alert: after so long, series with which it fires, and series with which it does not, in promtool's notation; one
# value each minute.
CASES = {
    "LiqoPeerUnreachable": (
        "10m",
        {'liqo_peer_reachable{cluster_id="milan"}': "1 0x20"},
        # A moment without an answer is nothing to get up for.
        {'liqo_peer_reachable{cluster_id="milan"}': "1 0x3 1x20"},
    ),
    "LiqoVirtualNodeNotReady": (
        "15m",
        {f"liqo_virtual_node_ready{NODE}": "0x20"},
        {f"liqo_virtual_node_ready{NODE}": "0x5 1x20"},
    ),
    "LiqoSliceNotAccepted": ("20m", {f"liqo_slice_accepted{SLICE}": "0x30"}, {f"liqo_slice_accepted{SLICE}": "0x5 1x30"}),
    "LiqoCertificateAboutToEnd": (
        "2h",
        certificate("identity", IDENTITY, -88 * DAY, 2 * DAY),
        {
            **certificate("identity", IDENTITY, -10 * DAY, 80 * DAY),
            # A third of its time is left when a certificate is renewed, long or short as that is.
            **certificate("serving", WEBHOOK, -60 * DAY, 30 * DAY),
            **certificate("serving", KUBELET, -1 * HOUR, 3 * HOUR),
        },
    ),
    "LiqoClockSkew": (
        "15m",
        {'kube_server_clock_ahead_seconds{host="milan"}': "-90x20"},
        {'kube_server_clock_ahead_seconds{host="milan"}': "30x20"},
    ),
    "LiqoProviderTooLarge": (
        "20m",
        {
            'kube_store_budget_bytes{cluster="milan"}': "95x30",
            'kube_store_budget_max_bytes{cluster="milan"}': "100x30",
        },
        {
            'kube_store_budget_bytes{cluster="milan"}': "50x30",
            'kube_store_budget_max_bytes{cluster="milan"}': "100x30",
            'kube_store_budget_objects{cluster="milan"}': "1x30",
            'kube_store_budget_max_objects{cluster="milan"}': "100x30",
        },
    ),
    "LiqoQuotaFull": (
        "20m",
        {f"liqo_quota_used{CPU}": "2x30", f"liqo_quota_granted{CPU}": "2x30"},
        # Of what is not granted at all, nothing is short.
        {
            f"liqo_quota_used{CPU}": "1x30",
            f"liqo_quota_granted{CPU}": "2x30",
            'liqo_quota_used{cluster_id="rome", slice="milan", resource="gpu"}': "0x30",
            'liqo_quota_granted{cluster_id="rome", slice="milan", resource="gpu"}': "0x30",
        },
    ),
    "LiqoPodsWithoutRoom": (
        "20m",
        {f"liqo_virtual_node_pods_without_room{NODE}": "3x30"},
        {f"liqo_virtual_node_pods_without_room{NODE}": "3x5 0x30"},
    ),
    "LiqoReflectionFails": (
        "40m",
        # One object that never gets there is tried once a minute.
        {f"liqo_virtual_kubelet_reflection_error_counter{REFLECTION}": "0+1x60"},
        {f"liqo_virtual_kubelet_reflection_error_counter{REFLECTION}": "0x5 30x60"},
    ),
    "LiqoWithoutLeader": (
        "10m",
        {f'leader_election_master_status{{name="liqod", job="liqod", instance="{one}"}}': "0x20" for one in "ab"},
        {
            'leader_election_master_status{name="liqod", job="liqod", instance="a"}': "0x20",
            'leader_election_master_status{name="liqod", job="liqod", instance="b"}': "1x20",
            'leader_election_master_status{name="another", job="another", instance="c"}': "0x20",
        },
    ),
    "LiqoWatchStale": (
        "20m",
        {f"kube_informer_watch_age_seconds{WATCH}": "700x30"},
        {f"kube_informer_watch_age_seconds{WATCH}": "370x30"},
    ),
    "LiqoAdmissionSlow": (
        "20m",
        {
            'liqod_admission_seconds_bucket{path="/validate/shadowpods", le="2"}': "0x30",
            'liqod_admission_seconds_bucket{path="/validate/shadowpods", le="5"}': "0+60x30",
            'liqod_admission_seconds_bucket{path="/validate/shadowpods", le="+Inf"}': "0+60x30",
        },
        {
            'liqod_admission_seconds_bucket{path="/validate/shadowpods", le="2"}': "0+60x30",
            'liqod_admission_seconds_bucket{path="/validate/shadowpods", le="5"}': "0+60x30",
            'liqod_admission_seconds_bucket{path="/validate/shadowpods", le="+Inf"}': "0+60x30",
        },
    ),
    "LiqoKubeletsTellNoFigures": (
        "40m",
        {
            'liqo_metric_agent_kubelets_asked_total{outcome="silent", job="liqod", instance="a"}': "0+2x60",
            'liqo_metric_agent_kubelets_asked_total{outcome="answered", job="liqod", instance="a"}': "0+8x60",
            'liqo_metric_agent_kubelets_asked_total{outcome="answered", job="liqod", instance="b"}': "0+8x60",
        },
        # One node of twenty that is being replaced.
        {
            'liqo_metric_agent_kubelets_asked_total{outcome="silent", job="liqod", instance="a"}': "0+1x60",
            'liqo_metric_agent_kubelets_asked_total{outcome="failed", job="liqod", instance="a"}': "0x60",
            'liqo_metric_agent_kubelets_asked_total{outcome="answered", job="liqod", instance="a"}': "0+19x60",
        },
    ),
    "LiqoReconcilePanics": (
        "10m",
        {
            'controller_runtime_reconcile_panics_total{controller="pod", job="liqod", instance="a"}': "0 1x20",
            f"liqo_build_info{LIQOD}": "1x20",
        },
        # Another program's controllers are not ours to report.
        {
            'controller_runtime_reconcile_panics_total{controller="pod", job="liqod", instance="a"}': "0x20",
            'controller_runtime_reconcile_panics_total{controller="x", job="other", instance="b"}': "0 1x20",
            f"liqo_build_info{LIQOD}": "1x20",
        },
    ),
}


def labels_of(rule: dict, series: dict) -> dict:
    """Those of the first series, as far as the rule keeps them, and its own."""
    found = dict(re.findall(r'(\w+)="([^"]*)"', next(iter(series))))
    if kept := re.search(r"sum by \(([^)]*)\)", rule["expr"]):
        found = {name: value for name, value in found.items() if name in kept[1].split(", ") and name != "le"}
    return {**found, **rule["labels"]}


def promtool(tmp_path: pathlib.Path, alert: str, series: dict, at: str, fires: bool) -> subprocess.CompletedProcess:
    rule = RULES[alert]
    # Only that it fires is asked here, not in which words: those are looked at below.
    bare = {key: value for key, value in rule.items() if key != "annotations"}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "one", "rules": [bare]}]}))
    expected = [{"exp_labels": labels_of(rule, series)}] if fires else []
    test = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "alert_rule_test": [{"eval_time": at, "alertname": alert, "exp_alerts": expected}],
            }
        ],
    }
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(test))
    return subprocess.run(["promtool", "test", "rules", "test.yaml"], cwd=tmp_path, capture_output=True, text=True)


def test_prometheus_takes_the_file():
    done = subprocess.run(["promtool", "check", "rules", ALERTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_has_a_case_and_words():
    assert list(CASES) == list(RULES)
    for name, rule in RULES.items():
        assert rule["labels"]["severity"] in ("critical", "warning", "info"), name
        assert set(rule["annotations"]) == {"summary", "description"}, name
        assert f"`{name}`" in MONITORING, f"docs/monitoring.md does not say what to do about {name}"


@pytest.mark.parametrize("alert", CASES)
def test_it_fires(alert: str, tmp_path: pathlib.Path):
    at, series, _ = CASES[alert]
    done = promtool(tmp_path, alert, series, at, fires=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("start", "end", "at", "fires"),
    [
        # Long ones: three days before the end, whatever quarter that is.
        (-86 * DAY, 4 * DAY, "2h", False),
        (-87 * DAY, 3 * DAY, "2h", True),
        # An hour: renewed after forty minutes, and told five minutes past the last quarter.
        (0, 1 * HOUR, "43m", False),
        (0, 1 * HOUR, "49m", False),
        (0, 1 * HOUR, "51m", True),
        # Nine days, as some signers give at most: not as soon as they begin.
        (0, 8 * DAY, "2h", False),
        (-7 * DAY, 1 * DAY, "2h", True),
        # And past its end.
        (-1 * HOUR, 0, "10m", True),
    ],
)
@pytest.mark.parametrize(("of", "labels"), [("identity", IDENTITY), ("serving", WEBHOOK)])
def test_a_certificate_is_told_in_time_by_how_long_it_lives(
    of: str, labels: str, start: int, end: int, at: str, fires: bool, tmp_path: pathlib.Path
):
    done = promtool(tmp_path, "LiqoCertificateAboutToEnd", certificate(of, labels, start, end), at, fires)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("alert", CASES)
def test_it_does_not_fire(alert: str, tmp_path: pathlib.Path):
    at, _, series = CASES[alert]
    done = promtool(tmp_path, alert, series, at, fires=False)
    assert done.returncode == 0, done.stdout + done.stderr
