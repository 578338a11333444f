"""What liqoctl shows of an installation's values, and of what an upgrade would change."""

import base64
import copy
import json
import pathlib

import pytest
import yaml
from fake_cluster import AUTHENTICATION, LIQOCTL, OFFLOADING, FakeCluster, liqoctl

pytestmark = pytest.mark.skipif(not LIQOCTL.exists(), reason="liqoctl is not built")

IMAGE = "image.repository=localhost/liqo/liqod"
DEPLOYMENT = "/apis/apps/v1/namespaces/liqo/deployments/liqod"
GIVEN = "/api/v1/namespaces/liqo/secrets/liqo-given-values"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
NAMES = {"name": "liqod", "instance": "liqo", "part-of": "liqo"}
OF_CHART = {f"app.kubernetes.io/{key}": value for key, value in NAMES.items()}
SECRET_TEXT = "c2VjcmV0IG9mIHJvbWU="


def path_of(manifest: dict) -> str:
    kind, version, metadata = manifest["kind"], manifest["apiVersion"], manifest["metadata"]
    plural = f"{kind.lower()[:-1]}ies" if kind.endswith("y") else kind.lower() + ("es" if kind.endswith("s") else "s")
    ns = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"/{'apis' if '/' in version else 'api'}/{version}{ns}/{plural}/{metadata['name']}"


def record(cluster: FakeCluster, values: dict) -> None:
    text = base64.b64encode(json.dumps(values, separators=(",", ":")).encode()).decode()
    cluster.objects[GIVEN]["data"] = {"values": text}


def installed(*values: str) -> FakeCluster:
    """A cluster in which Liqo was installed with these values, by this program, and runs."""
    rome = FakeCluster("rome")
    rome.selects = True
    flags = [part for value in (IMAGE, *values) for part in ("--set", value)]
    printed = liqoctl("install", "--print", "--cluster-id", "rome", "-o", "json", *flags)
    assert printed.returncode == 0, printed.stderr
    for manifest in json.loads(printed.stdout)["items"]:
        path = path_of(manifest)
        manifest["metadata"]["uid"] = path
        if manifest["kind"] == "CustomResourceDefinition":
            manifest["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        rome.objects[path] = manifest
    replicas = rome.objects[DEPLOYMENT]["spec"]["replicas"]
    counts = ("updatedReplicas", "availableReplicas", "replicas")
    rome.objects[DEPLOYMENT]["status"] = dict.fromkeys(counts, replicas)
    rome.objects["/version"] = {"major": "1", "minor": "35"}
    # The record has the labels of the chart's last object.
    labels = dict(rome.objects[DEPLOYMENT]["metadata"]["labels"])
    rome.add("/api/v1", "Secret", "secrets", "liqo-given-values", "liqo", labels, type="Opaque")
    record(rome, {"image": {"repository": "localhost/liqo/liqod"}, "clusterID": "rome"})
    return rome


def run(cluster: FakeCluster, directory: pathlib.Path, *words: str) -> tuple[int, str, str]:
    with cluster.served(directory / f"{cluster.name}.yaml") as kubeconfig:
        done = liqoctl(*words, "--kubeconfig", kubeconfig)
    return done.returncode, done.stdout, done.stderr


def test_values_are_shown_as_given_and_as_in_force_without_secrets(tmp_path: pathlib.Path) -> None:
    rome = installed()
    given = {"clusterID": "rome", "replicas": 3}
    given |= {"apiServer": {"ca": SECRET_TEXT}, "podAnnotations": {"push-token": "abc"}}
    record(rome, given)
    code, out, err = run(rome, tmp_path, "get", "values")
    assert code == 0, err
    assert SECRET_TEXT not in out and "abc" not in out
    shown = yaml.safe_load(out)
    hidden = "(set, not shown)"
    assert shown["given"] == {
        **given, "apiServer": {"ca": hidden}, "podAnnotations": {"push-token": hidden},
    }  # fmt: skip
    assert shown["inForce"]["replicas"] == 3 and shown["inForce"]["apiServer"]["ca"] == hidden
    assert shown["inForce"]["offloading"]["sharingPercentage"] == 90
    assert json.loads(run(rome, tmp_path, "get", "values", "-o", "json")[1]) == shown


def test_what_was_shown_in_place_of_a_secret_is_no_value(tmp_path: pathlib.Path) -> None:
    rome = installed()
    values = tmp_path / "values.yaml"
    values.write_text("apiServer: {ca: '(set, not shown)'}")
    code, _, err = run(rome, tmp_path, "upgrade", "-f", str(values), "--dry-run")
    assert code == 1 and "value apiServer.ca is what liqoctl get values shows in place of a secret" in err, err


def test_values_of_an_installation_without_a_record_are_those_that_it_shows(tmp_path: pathlib.Path) -> None:
    rome = installed("replicas=3", "webhook.failurePolicy=Ignore")
    del rome.objects[GIVEN]
    code, out, err = run(rome, tmp_path, "get", "values")
    assert code == 0 and "was installed before values were recorded" in err, err
    given = yaml.safe_load(out)["given"]
    assert given["replicas"] == 3 and given["webhook"] == {"failurePolicy": "Ignore"}


def test_values_are_asked_of_who_has_installed(tmp_path: pathlib.Path) -> None:
    rome = installed()
    rome.objects[f"{RBAC}/clusterrolebindings/liqo-liqod"]["metadata"]["annotations"] = {
        "meta.helm.sh/release-name": "shared"
    }
    code, _, err = run(rome, tmp_path, "get", "values")
    assert code == 1 and "Helm has installed Liqo here: helm get values shared -n liqo" in err, err
    code, _, err = run(FakeCluster("milan"), tmp_path, "get", "values")
    assert code == 1 and "Liqo is not installed in cluster milan" in err, err


def test_a_dry_run_of_an_upgrade_shows_what_would_change_and_writes_nothing(tmp_path: pathlib.Path) -> None:
    rome = installed()
    nothing = run(rome, tmp_path, "upgrade", "--dry-run")
    assert nothing[:2] == (0, "") and "nothing would change; nothing was written" in nothing[2], nothing
    rome.add("/api/v1", "ConfigMap", "configmaps", "liqo-earlier", "liqo", dict(OF_CHART))
    del rome.objects["/api/v1/namespaces/liqo/serviceaccounts/liqo"]
    before = copy.deepcopy(rome.objects)
    changes = ("replicas=3", f"apiServer.ca={SECRET_TEXT}", "offloading.sharingPercentage=50")
    code, out, err = run(rome, tmp_path, "upgrade", "--dry-run", *(part for one in changes for part in ("--set", one)))
    assert code == 0, err
    for line in (
        "~ values\n",
        "    replicas: (none) → 3\n",
        "    apiServer.ca: set (not shown)\n",
        "~ Deployment liqo/liqod\n",
        "    spec.replicas: 2 → 3\n",
        "    spec.template.spec.containers[liqod].args: + --ca-override=(set, not shown)\n",
        "~ ConfigMap liqo/liqo-sharing-policy\n    data.sharing-percentage: 90 → 50\n",
        "~ Secret liqo/liqo-given-values\n    data.values: changed (not shown)\n",
        "+ ServiceAccount liqo/liqo\n",
        "- ConfigMap liqo/liqo-earlier\n",
    ):
        assert line in out, f"{line}\n{out}"
    assert SECRET_TEXT not in out + err
    assert "1 object would be added, " in err and " changed, 1 removed; nothing was written" in err, err
    assert rome.objects == before
    # It prints what it prints, and needs a cluster no more than before.
    printed = liqoctl("upgrade", "--print", "--cluster-id", "rome", "--set", IMAGE, "--set", "replicas=3")
    assert "replicas: 3" in printed.stdout, printed.stderr


def test_an_installation_that_is_not_there_would_be_added(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    rome.selects = True
    rome.objects = {"/version": {"major": "1", "minor": "35"}}
    words = ("install", "--dry-run", "--cluster-id", "rome", "--set", IMAGE)
    code, out, err = run(rome, tmp_path, *words)
    assert code == 0 and "+ Namespace liqo\n" in out and "+ Deployment liqo/liqod\n" in out, (out, err)
    assert "\n- " not in out and "objects would be added; nothing was written" in err, (out, err)


def test_a_kind_that_is_not_there_is_told_before_anything_is_written(tmp_path: pathlib.Path) -> None:
    rome = installed()
    rome.unknown |= {f"/apis/monitoring.coreos.com/v1{ns}/podmonitors" for ns in ("", "/namespaces/liqo")}
    before = copy.deepcopy(rome.objects)
    code, _, err = run(rome, tmp_path, "upgrade", "--set", "metrics.prometheusOperator.enabled=true")
    told = "rome has no kind PodMonitor: install the Prometheus operator first"
    assert code == 1 and told in err and "metrics.prometheusOperator.enabled=false" in err, err
    assert rome.objects == before


def test_the_last_line_says_the_step_that_is_due(tmp_path: pathlib.Path) -> None:
    rome = installed()

    def last_line() -> str:
        code, _, err = run(rome, tmp_path, "upgrade")
        assert code == 0, err
        return err.splitlines()[-1]

    begin = "INFO: Liqo runs as cluster rome"
    first = "to let another cluster run pods here: liqoctl generate peering-user, and to run pods in another one"
    assert last_line() == f"{begin}; next, {first}: liqoctl peer"
    label = {"liqo.io/peering-user-name": "liqo-peer-user-milan"}
    for ns, end in (("liqo", "liqo-ns-reader"), ("liqo-tenant-milan", "tenant-ns-writer")):
        rome.add(RBAC, "RoleBinding", "rolebindings", f"liqo-peer-user-milan-{end}", ns, label)
    assert "; next: milan peers with the kubeconfig of its peering user" in last_line()
    code, out, _ = run(rome, tmp_path, "get", "peering-user")
    assert code == 0 and out.splitlines()[1].split()[:3] == ["milan", "liqo-tenant-milan", "no"], out
    (user,) = json.loads(run(rome, tmp_path, "get", "peering-user", "-o", "json")[1])
    assert (user["consumer"], user["complete"]) == ("milan", True)
    core = "/apis/core.liqo.io/v1beta1"
    spec, status = {"clusterID": "milan"}, {"role": "Consumer"}
    rome.add(core, "ForeignCluster", "foreignclusters", "milan", spec=spec, status=status)
    assert last_line() == begin
    rome.objects[f"{core}/foreignclusters/milan"]["status"]["role"] = "ConsumerAndProvider"
    assert last_line().endswith("; next: liqoctl create resourceslice NAME --remote-cluster-id milan")
    rome.add(OFFLOADING, "VirtualNode", "virtualnodes", "milan", "liqo-tenant-milan")
    assert last_line().endswith("; next: liqoctl offload namespace NAME")
    rome.add(OFFLOADING, "NamespaceOffloading", "namespaceoffloadings", "offloading", "shop")
    assert last_line() == begin


def test_uninstall_names_all_that_is_in_the_way(tmp_path: pathlib.Path) -> None:
    rome = installed()
    rome.add(AUTHENTICATION, "Tenant", "tenants", "turin", "liqo-tenant-turin", spec={"clusterID": "turin"})
    rome.add(OFFLOADING, "NamespaceOffloading", "namespaceoffloadings", "offloading", "shop")
    code, _, err = run(rome, tmp_path, "uninstall", "--skip-confirm")
    assert code == 1
    assert "NamespaceOffloading shop/offloading (here: liqoctl unoffload namespace shop)" in err, err
    provided = "as provider of turin: Tenant liqo-tenant-turin/turin (the administrator of turin: liqoctl unpeer"
    assert provided in err, err
