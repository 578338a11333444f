"""What liqoctl says, asks and waits for, where a story would need a user without rights or an API server that hangs."""

import copy
import json
import pathlib
import re
import subprocess
import time
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from fake_cluster import AUTHENTICATION, LIQOCTL, OFFLOADING, FakeCluster, liqoctl

pytestmark = pytest.mark.skipif(not LIQOCTL.exists(), reason="liqoctl is not built")


def provider_of_rome() -> FakeCluster:
    """It has denied its consumer's slice, and does not look at one in the name of turin."""
    milan = FakeCluster("milan")
    ns = milan.add_tenant_namespace("rome")
    spec = {"clusterID": "rome", "tenantCondition": "Active"}
    milan.add(AUTHENTICATION, "Tenant", "tenants", "rome", ns, spec=spec)
    for name, consumer, answer in (("milan", "rome", "Denied"), ("strange", "turin", "Accepted")):
        status = {"conditions": [{"type": "Resources", "status": answer}]}
        labels = {"liqo.io/replicated": "true"}
        milan.add(
            AUTHENTICATION, "ResourceSlice", "resourceslices", name, ns, labels,
            spec={"consumerClusterID": consumer}, status=status,
        )  # fmt: skip
    return milan


@pytest.mark.parametrize(
    ("flags", "asked", "told"),
    [
        ([], "refused, and pods that run removed.", "Tenant rome drained: its pods end within their grace periods\n"),
        (
            ["--keep-pods"],
            "new pods refused; pods that run stay.",
            "Tenant rome drained: its pods that run stay\n",
        ),
    ],
)
def test_drain_says_what_becomes_of_the_pods(tmp_path: pathlib.Path, flags: list[str], asked: str, told: str) -> None:
    milan = provider_of_rome()
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        drain = ("drain", "tenant", "rome", "--kubeconfig", kubeconfig, "--timeout", "60s", *flags)
        refused = liqoctl(*drain)
        done = liqoctl(*drain, "--skip-confirm")
    assert refused.returncode == 1
    assert "cannot ask for confirmation without a terminal: pass --skip-confirm" in refused.stderr
    assert asked in refused.stderr
    # It has waited for the one slice that is denied, and not for the one that never is.
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(told)
    tenant = milan.objects[f"{AUTHENTICATION}/namespaces/liqo-tenant-rome/tenants/rome"]
    assert tenant["spec"]["tenantCondition"] == "Drained"
    kept = tenant["metadata"].get("annotations", {}).get("liqo.io/keep-pods")
    assert kept == ("true" if flags else None)


def test_a_dry_run_drains_nothing_and_says_so(tmp_path: pathlib.Path) -> None:
    milan = provider_of_rome()
    tenant = f"{AUTHENTICATION}/namespaces/liqo-tenant-rome/tenants/rome"
    granted = f"{AUTHENTICATION}/namespaces/liqo-tenant-rome/resourceslices/milan"
    before = (copy.deepcopy(milan.objects[tenant]), copy.deepcopy(milan.objects[granted]))
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        dry = ("--kubeconfig", kubeconfig, "--dry-run")
        done = liqoctl("drain", "tenant", "rome", *dry)
        cordoned = liqoctl("cordon", "resourceslice", "milan", "--remote-cluster-id", "rome", *dry)
    assert (done.returncode, done.stderr) == (0, "INFO: milan: would update Tenant liqo-tenant-rome/rome\n")
    told = "INFO: milan: would update ResourceSlice liqo-tenant-rome/milan\n"
    assert (cordoned.returncode, cordoned.stderr) == (0, told)
    assert (milan.objects[tenant], milan.objects[granted]) == before


def test_who_ends_a_drain_is_told_which_pods_it_does_not_keep(tmp_path: pathlib.Path) -> None:
    milan = provider_of_rome()
    milan.selects = True
    tenant = milan.objects[f"{AUTHENTICATION}/namespaces/liqo-tenant-rome/tenants/rome"]
    tenant["spec"]["tenantCondition"] = "Drained"
    labels = {"liqo.io/managed-by": "shadowpod", "offloading.liqo.io/origin": "rome"}
    for name, its in (("ends", labels), ("ends-too", labels), ("own", {}), ("runs", labels)):
        milan.add("/api/v1", "Pod", "pods", name, "demo-rome", its)
        if name != "runs":
            pod = milan.objects[f"/api/v1/namespaces/demo-rome/pods/{name}"]
            pod["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z"
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        done = liqoctl("uncordon", "tenant", "rome", "--kubeconfig", kubeconfig)
        again = liqoctl("activate", "tenant", "rome", "--kubeconfig", kubeconfig)
    said = "INFO: milan: the drain has begun to end 2 pods: they are not kept, and start anew\n"
    told = f"{said}INFO: milan: Tenant rome is Active again\n"
    assert (done.returncode, done.stderr) == (0, told)
    assert "pods" not in again.stderr


def test_who_ends_the_drain_of_a_slice_learns_that_of_the_tenant_goes_on(tmp_path: pathlib.Path) -> None:
    milan = provider_of_rome()
    tenant = milan.objects[f"{AUTHENTICATION}/namespaces/liqo-tenant-rome/tenants/rome"]
    pool = milan.objects[f"{AUTHENTICATION}/namespaces/liqo-tenant-rome/resourceslices/milan"]
    milan.add("/api/v1", "Pod", "pods", "ends", "demo-rome")
    milan.objects["/api/v1/namespaces/demo-rome/pods/ends"]["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z"
    said = {}
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        for condition in ("Drained", "Active"):
            tenant["spec"]["tenantCondition"] = condition
            pool["metadata"]["annotations"] = {"liqo.io/drain": "true"}
            milan.objects[f"{AUTHENTICATION}/namespaces/liqo-tenant-rome/resourceslices/milan"] = pool
            end = ("uncordon", "resourceslice", "milan", "--remote-cluster-id", "rome", "--kubeconfig", kubeconfig)
            said[condition] = liqoctl(*end).stderr
    done = "INFO: milan: ResourceSlice milan of rome uncordoned\n"
    # Its pods end all the same, and none starts anew.
    goes_on = "WARN: milan: Tenant rome is still Drained (liqoctl uncordon tenant rome)\n"
    assert said["Drained"] == done + goes_on
    assert said["Active"] == f"INFO: milan: the drain has begun to end 1 pod: it is not kept, and starts anew\n{done}"


def test_what_was_refused_is_listed_for_people_and_programs(tmp_path: pathlib.Path) -> None:
    milan = provider_of_rome()
    milan.selects = True
    ns = milan.add_tenant_namespace("rome")
    now = datetime.now(UTC)
    reason = "hostPath is not allowed by the policy of cluster milan: " + "word " * 40 + "end\x1b[2J"

    def entry(name: str, at: datetime, count: int) -> dict:
        time_of = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {
            "kind": "ShadowPod", "namespace": "shop-rome", "name": name, "reason": reason, "count": count,
            "firstTime": time_of, "lastTime": time_of,
        }  # fmt: skip

    entries = [entry("old", now - timedelta(hours=3), 1), entry("web", now - timedelta(seconds=5), 7)]
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        get = ("get", "refusals", "--kubeconfig", kubeconfig)
        nothing = liqoctl(*get)
        milan.add("/api/v1", "ConfigMap", "configmaps", "liqo-refusals", ns, data={"refusals.json": json.dumps(entries)})
        # Somebody else's ConfigMap of that name says nothing.
        milan.add(
            "/api/v1", "ConfigMap", "configmaps", "liqo-refusals", "shop-rome", data={"refusals.json": json.dumps(entries)}
        )
        table = liqoctl(*get)
        recent = liqoctl(*get, "--remote-cluster-id", "rome", "--since", "1h", "-o", "json")
        stranger = liqoctl(*get, "--remote-cluster-id", "turin")
        wrong = liqoctl(*get, "--since", "yesterday")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "INFO: nothing was refused\n")
    lines = table.stdout.splitlines()
    assert lines[0].split() == ["LAST", "COUNT", "CLUSTER", "KIND", "NAME", "REASON"]
    assert lines[1].split()[1:5] == ["7", "rome", "ShadowPod", "shop-rome/web"]
    assert table.stdout.count("word") == 80 and table.stdout.count("end") == 2 and "\x1b" not in table.stdout
    assert [(one["name"], one["count"], one["cluster"]) for one in json.loads(recent.stdout)] == [("web", 7, "rome")]
    assert stranger.returncode == 1 and "turin is not a peer" in stranger.stderr
    assert wrong.returncode == 2 and "yesterday" in wrong.stderr


def test_a_nonce_that_was_cut_is_told_at_once(tmp_path: pathlib.Path) -> None:
    with FakeCluster("rome").served(tmp_path / "rome.yaml") as kubeconfig:
        cut = ("--remote-cluster-id", "milan", "--nonce", "TQ==", "--kubeconfig", kubeconfig)
        done = liqoctl("generate", "tenant", *cut)
    assert done.returncode == 2
    assert "--nonce" in done.stderr and "has 88 characters of base64" in done.stderr, done.stderr


def test_who_names_nothing_that_is_there_is_told_how_to_list(tmp_path: pathlib.Path) -> None:
    with FakeCluster("rome").served(tmp_path / "rome.yaml") as kubeconfig:
        done = liqoctl("delete", "identity", "milan", "--kubeconfig", kubeconfig)
    hint = "(liqoctl get identity lists what there is)"
    assert done.returncode == 1
    assert f"there is no Identity milan in cluster rome {hint}" in done.stderr, done.stderr


def test_a_slice_that_nobody_would_carry_is_not_made(tmp_path: pathlib.Path) -> None:
    """Where peering was interrupted there is the tenant namespace, and nothing that leads to the provider."""
    rome = FakeCluster("rome")
    ns = rome.add_tenant_namespace("milan")
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        done = liqoctl(
            "create", "resourceslice", "early", "--remote-cluster-id", "milan", "--cpu", "1",
            "--kubeconfig", kubeconfig, "--timeout", "5s",
        )  # fmt: skip
    assert done.returncode == 1
    assert "rome has no credentials at milan yet: run liqoctl peer, which goes on" in done.stderr
    assert f"{AUTHENTICATION}/namespaces/{ns}/resourceslices/early" not in rome.objects


def test_unpeer_asks_also_whom_it_cannot_name_the_pods(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    ns = rome.add_tenant_namespace("milan")
    rome.add(OFFLOADING, "VirtualNode", "virtualnodes", "milan", ns, {"liqo.io/remote-cluster-id": "milan"})
    rome.forbidden.add("/api/v1/pods")
    with (
        rome.served(tmp_path / "rome.yaml") as consumer,
        FakeCluster("milan").served(tmp_path / "milan.yaml") as provider,
    ):
        done = liqoctl("unpeer", "--kubeconfig", consumer, "--remote-kubeconfig", provider)
    assert done.returncode == 1
    told = "proceed. Pods that run in milan will end there; which they are, this user may not see."
    assert told in done.stderr, done.stderr


CORE = "/apis/core.liqo.io/v1beta1"
SLICE = f"{AUTHENTICATION}/namespaces/liqo-tenant-milan/resourceslices/pool"
EVENTS = "/api/v1/namespaces/liqo-tenant-milan/events"


def consumer_of_milan() -> FakeCluster:
    """It has credentials there, and no slice yet."""
    rome = FakeCluster("rome")
    ns = rome.add_tenant_namespace("milan")
    rome.add("/api/v1", "Secret", "secrets", "kubeconfig-controlplane-milan", ns)
    return rome


def deny(rome: FakeCluster) -> None:
    rome.objects[SLICE]["status"] = {"conditions": [{"type": "Resources", "status": "Denied", "message": "no room"}]}


def test_a_denial_of_the_request_before_is_no_answer_to_this_one(tmp_path: pathlib.Path) -> None:
    """The provider decides the request before once more, because its policy has changed, and then this one."""
    rome = consumer_of_milan()
    rome.add(AUTHENTICATION, "ResourceSlice", "resourceslices", "pool", "liqo-tenant-milan")
    rome.objects[SLICE]["spec"] = {"class": "default", "providerClusterID": "milan", "resources": {"cpu": "2"}}
    deny(rome)
    looked: list[str] = []

    def decide(path: str) -> None:
        if path != SLICE or rome.objects[SLICE]["spec"]["resources"] != {"cpu": "1"}:
            return
        looked.append(path)
        accepted = [{"type": kind, "status": "Accepted"} for kind in ("Authentication", "Resources")]
        again = [{"type": "Resources", "status": "Denied", "message": "this one would have 2"}]
        is_decided = len(looked) > 8
        rome.objects[SLICE]["status"] = {
            "conditions": accepted if is_decided else again, "resources": {"cpu": "1"} if is_decided else {},
        }  # fmt: skip

    rome.before_reading = decide
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        to_milan = ("--kubeconfig", kubeconfig, "--remote-cluster-id", "milan", "--timeout", "30s")
        done = liqoctl("create", "resourceslice", "pool", "--cpu", "1", *to_milan)
    assert done.returncode == 0 and "ResourceSlice pool accepted, granted cpu 1" in done.stderr, done.stderr
    # Nobody has compared the amounts with the provider's nodes.
    assert "whether the nodes of milan have that much is not shown here: pods that find no room" in done.stderr


def test_amounts_that_are_not_named_stay(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    rome.add(AUTHENTICATION, "ResourceSlice", "resourceslices", "pool", "liqo-tenant-milan")
    rome.objects[SLICE]["spec"] = {"class": "share", "resources": {"cpu": "2", "memory": "4Gi"}}
    node = "liqo.io/create-virtual-node"
    rome.objects[SLICE]["metadata"]["annotations"] = {node: "false"}
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        to_milan = ("--kubeconfig", kubeconfig, "--remote-cluster-id", "milan", "--wait=false")
        done = liqoctl("create", "resourceslice", "pool", "--cpu", "3", *to_milan)
        spec = rome.objects[SLICE]["spec"]
        assert (spec["resources"], spec["class"]) == ({"cpu": "3", "memory": "4Gi"}, "share"), done.stderr
        assert done.stderr.endswith("ResourceSlice pool updated: cpu 2 → 3, memory 4Gi\n"), done.stderr
        annotations = rome.objects[SLICE]["metadata"]["annotations"]
        assert annotations == {node: "false"}  # somebody has made it without one
        done = liqoctl("create", "resourceslice", "pool", "--class", "default", *to_milan)
        with_node = liqoctl("create", "resourceslice", "pool", "--no-virtual-node=false", *to_milan)
    assert rome.objects[SLICE]["metadata"]["annotations"] == {node: "true"}, with_node.stderr
    assert rome.objects[SLICE]["spec"]["resources"] == {"cpu": "3", "memory": "4Gi"}
    assert done.stderr.endswith("cpu 3, memory 4Gi, class share → default\n"), done.stderr


def test_the_help_says_which_class_a_slice_gets() -> None:
    told = {verb: " ".join(liqoctl(verb, "resourceslice", "--help").stdout.split()) for verb in ("create", "generate")}
    assert "at the provider (a slice keeps its own; a new one gets default)" in told["create"]
    assert "at the provider (default default)" in told["generate"]
    assert "kubectl edit rslice NAME -n NAMESPACE" in told["create"]


def test_a_denial_says_no_more_than_its_reason(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    rome.before_reading = lambda path: deny(rome) if path == SLICE and SLICE in rome.objects else None
    assert ask_for_pool(rome, tmp_path / "rome.yaml").endswith("ResourceSlice pool: Resources denied: no room\n")


def test_who_names_no_peer_is_told_which_there_are(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    rome.add(CORE, "ForeignCluster", "foreignclusters", "milan", spec={"clusterID": "milan"})
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        for verb in ("get", "describe"):
            wrong = liqoctl(verb, "rs", "--remote-cluster-id", "milano", "--kubeconfig", kubeconfig)
            assert (wrong.returncode, wrong.stderr) == (1, "ERRO: milano is not a peer: the peers are milan\n"), verb
        right = liqoctl("get", "rs", "--remote-cluster-id", "milan", "--kubeconfig", kubeconfig)
    assert right.returncode == 0 and "there are no resource slices" in right.stderr, right.stderr


def test_who_misspells_a_consumer_is_told_which_peers_there_are(tmp_path: pathlib.Path) -> None:
    milan = provider_of_rome()
    milan.selects = True
    milan.add(CORE, "ForeignCluster", "foreignclusters", "rome", spec={"clusterID": "rome"})
    commands = (
        ("get", "refusals", "--remote-cluster-id", "rom"),
        ("cordon", "resourceslice", "milan", "--remote-cluster-id", "rom"),
        ("create", "resourceslice", "pool", "--remote-cluster-id", "rom"),
    )
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        for command in commands:
            wrong = liqoctl(*command, "--kubeconfig", kubeconfig)
            assert (wrong.returncode, wrong.stderr) == (1, "ERRO: rom is not a peer: the peers are rome\n"), command


def test_quotas_of_a_consumer_are_those_in_its_tenant_namespace(tmp_path: pathlib.Path) -> None:
    milan = provider_of_rome()
    milan.selects = True
    milan.add_tenant_namespace("turin")
    for consumer in ("rome", "turin"):
        milan.add(CORE, "ForeignCluster", "foreignclusters", consumer, spec={"clusterID": consumer})
        # They have no label of their consumer.
        spec = {"resources": {"cpu": "2"}}
        milan.add(OFFLOADING, "Quota", "quotas", f"of-{consumer}", f"liqo-tenant-{consumer}", spec=spec)
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        of_rome = ("quota", "--remote-cluster-id", "rome", "--kubeconfig", kubeconfig)
        for verb in ("get", "describe"):
            one = liqoctl(verb, *of_rome)
            assert "of-rome" in one.stdout and "of-turin" not in one.stdout, one
        elsewhere = liqoctl("get", *of_rome, "--namespace", "liqo-tenant-turin")
        both = liqoctl("get", "quota", "--kubeconfig", kubeconfig)
        stranger = liqoctl("get", "quota", "--remote-cluster-id", "rom", "--kubeconfig", kubeconfig)
        # A namespace is offloaded to several peers.
        without = liqoctl("get", "offloading", "--remote-cluster-id", "rome", "--kubeconfig", kubeconfig)
    assert "there are no quotas" in elsewhere.stderr, elsewhere
    assert "of-rome" in both.stdout and "of-turin" in both.stdout, both
    assert (stranger.returncode, stranger.stderr) == (1, "ERRO: rom is not a peer: the peers are rome, turin\n")
    assert without.returncode == 2, without


def test_info_shows_a_consumer_whose_policy_cannot_be_read(tmp_path: pathlib.Path) -> None:
    milan = provider_of_rome()
    milan.add(CORE, "ForeignCluster", "foreignclusters", "rome", spec={"clusterID": "rome"})
    metadata = milan.objects["/api/v1/namespaces/liqo-tenant-rome"]["metadata"]
    metadata["annotations"] = {"liqo.io/pod-policy": '{"maxResorces": {}}'}
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        told = liqoctl("info", "--kubeconfig", kubeconfig).stdout
    assert "!  its policy cannot be read (" in told, told


def test_what_is_described_is_whole_and_a_document(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    message = "m" * 600 + " end"
    status = {"conditions": [{"type": "Resources", "status": "Denied", "message": message}]}
    rome.add(AUTHENTICATION, "ResourceSlice", "resourceslices", "pool", "liqo-tenant-milan", status=status)
    rome.objects[f"{EVENTS}/one"] = {"metadata": {"name": "one"}, "reason": "Denied", "message": message}
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        told = liqoctl("describe", "rs", "pool", "--kubeconfig", kubeconfig)
        printed = liqoctl("describe", "rs", "pool", "-o", "json", "--kubeconfig", kubeconfig)
    assert told.returncode == 0 and told.stdout.count(message) == 2, told
    document = json.loads(printed.stdout)
    assert document["object"]["status"] == status and document["events"][0]["message"] == message


def expired_pair(directory: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """A key, and a certificate that was valid for one day in 2020."""
    settings = "[ca]\ndefault_ca=own\n[own]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\n"
    (directory / "ca.conf").write_text(f"{settings}policy=policy\n[policy]\ncommonName=supplied\n")
    (directory / "index").touch()
    (directory / "serial").write_text("01")
    ask = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=tim -keyout key -out request"
    sign = "openssl ca -config ca.conf -batch -selfsign -notext -keyfile key -in request -out certificate"
    for command in (ask, f"{sign} -startdate 20200101000000Z -enddate 20200102000000Z"):
        subprocess.run(command.split(), cwd=directory, check=True, capture_output=True)
    return directory / "key", directory / "certificate"


def test_a_certificate_that_has_expired_says_since_when(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    rome.locked = True
    key, certificate = expired_pair(tmp_path)
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        unknown = liqoctl("get", "rs", "--kubeconfig", kubeconfig)
        document = yaml.safe_load(kubeconfig.read_text())
        document["users"][0]["user"] = {"client-certificate": str(certificate), "client-key": str(key)}
        kubeconfig.write_text(yaml.safe_dump(document))
        expired = liqoctl("get", "rs", "--kubeconfig", kubeconfig)
    assert unknown.returncode == 1 and "expired" not in unknown.stderr, unknown.stderr
    words = r'of user "rome" expired at 2020-01-02T00:00:00Z \(\d+d ago\): a new kubeconfig is needed'
    assert expired.returncode == 1 and re.search(words, expired.stderr), expired.stderr


def ask_for_pool(rome: FakeCluster, kubeconfig: pathlib.Path) -> str:
    """What is said until the slice is denied."""
    to_milan = ("--kubeconfig", kubeconfig, "--remote-cluster-id", "milan", "--timeout", "90s")
    with rome.served(kubeconfig):
        done = liqoctl("create", "resourceslice", "pool", *to_milan)
    assert "Resources denied: no room" in done.stderr, done.stderr
    return done.stderr


def test_who_waits_is_told_what_liqod_has_warned_of(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    event = {"involvedObject": {"uid": SLICE}, "lastTimestamp": now, "message": "milan is away"}
    rome.objects[f"{EVENTS}/one"] = {"metadata": {"name": "one"}, **event}
    rome.before_reading = lambda path: deny(rome) if path == EVENTS else None
    assert "WARN: rome: liqod says: milan is away\n" in ask_for_pool(rome, tmp_path / "rome.yaml")


def test_what_liqod_has_warned_of_before_is_not_told_to_who_waits_now(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    before = (datetime.now(UTC) - timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    event = {"involvedObject": {"uid": SLICE}, "lastTimestamp": before, "message": "milan denies it"}
    rome.objects[f"{EVENTS}/one"] = {"metadata": {"name": "one"}, **event}
    rome.before_reading = lambda path: deny(rome) if path == EVENTS else None
    assert "liqod says" not in ask_for_pool(rome, tmp_path / "rome.yaml")


NO_LIQOD = "is scaled to none: kubectl scale -n liqo deployment/liqod --replicas=2"


def test_who_waits_in_vain_is_told_that_liqod_of_this_cluster_does_not_run(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    rome.add("/apis/apps/v1", "Deployment", "deployments", "liqod", "liqo", spec={"replicas": 0})
    silent_milan(rome)  # it is not to blame
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        to_milan = ("--kubeconfig", kubeconfig, "--remote-cluster-id", "milan", "--timeout", "4s")
        done = liqoctl("create", "resourceslice", "pool", *to_milan)
        shown = liqoctl("info", "--kubeconfig", kubeconfig)
    assert done.returncode == 1
    assert f"WARN: rome: liqod of this cluster (rome) {NO_LIQOD}\n" in done.stderr, done.stderr
    assert done.stderr.endswith(f" (liqod of this cluster (rome) {NO_LIQOD})\n"), done.stderr
    assert f"✖  liqod {NO_LIQOD}" in shown.stdout, shown.stdout


def test_who_waits_for_what_kubernetes_does_is_not_told_of_liqod(tmp_path: pathlib.Path) -> None:
    milan = FakeCluster("milan")
    milan.add_tenant_namespace("rome")
    milan.selects = True
    milan.add("/apis/apps/v1", "Deployment", "deployments", "liqod", "liqo", spec={"replicas": 0})
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        user = ("generate", "peering-user", "--consumer-cluster-id", "rome", "--kubeconfig", kubeconfig)
        done = liqoctl(*user, "--timeout", "4s")
    assert done.returncode == 1, done
    assert "gave up waiting for the certificate" in done.stderr and "has not signed" in done.stderr, done.stderr
    assert "liqod" not in done.stderr, done.stderr


def test_a_change_that_liqod_cannot_review_says_so_in_one_sentence(tmp_path: pathlib.Path) -> None:
    milan = provider_of_rome()
    milan.unreviewed = "tenant.validate.liqo.io"
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        cordon = ("cordon", "tenant", "rome", "--skip-confirm", "--kubeconfig", kubeconfig)
        unknown = liqoctl(*cordon)
        milan.add("/apis/apps/v1", "Deployment", "deployments", "liqod", "liqo", spec={"replicas": 0})
        known = liqoctl(*cordon)
    told = "liqod of this cluster (milan), which reviews this request, does not answer"
    ask = "kubectl get pods -n liqo shows whether it runs there, and liqoctl check what is wrong"
    for line, why in (
        (known.stderr, f": it {NO_LIQOD}\n"),
        (unknown.stderr, f" (dial tcp 10.96.0.9:443: connect: connection refused): {ask}\n"),
    ):
        tried, is_told, rest = line.partition(told)
        assert is_told and rest == why, line
        assert re.fullmatch(r"ERRO: \w+ \S+/tenants/rome in milan: ", tried), line


def test_who_cannot_mend_liqod_of_the_other_cluster_is_told_whom_to_ask(tmp_path: pathlib.Path) -> None:
    rome, milan = FakeCluster("rome"), FakeCluster("milan")
    milan.add_tenant_namespace("rome")
    milan.unreviewed = "namespace.validate.liqo.io"
    with rome.served(tmp_path / "rome.yaml") as consumer, milan.served(tmp_path / "milan.yaml") as provider:
        peer = ("peer", "--allow-twin-names", "shop", "--kubeconfig", consumer, "--remote-kubeconfig", provider)
        asked = liqoctl(*peer)
        for kubeconfig in (consumer, provider):  # the name that each installer gives
            document = yaml.safe_load(kubeconfig.read_text())
            document["clusters"][0]["name"] = document["contexts"][0]["context"]["cluster"] = "kubernetes"
            kubeconfig.write_text(yaml.safe_dump(document))
        either = liqoctl(*peer)
        milan.add("/apis/apps/v1", "Deployment", "deployments", "liqod", "liqo", spec={"replicas": 0})
        known = liqoctl(*peer)
    does_not = "which reviews this request, does not answer"
    cause = f"{does_not} (dial tcp 10.96.0.9:443: connect: connection refused)"
    # In this order: which step failed, whose liqod it is, and what to do.
    assert "milan: allowing names of twins: " in asked.stderr, asked.stderr
    assert asked.stderr.endswith(f"liqod of cluster milan, {cause}: ask its operator whether it runs\n"), asked.stderr
    look = "liqoctl check, with the kubeconfig of each, says what is wrong"
    assert either.stderr.endswith(f"liqod of one of the two clusters, {cause}: {look}\n"), either.stderr
    ask = "it is scaled to none: ask its operator to start it"
    assert known.stderr.endswith(f"liqod of cluster milan, {does_not}: {ask}\n"), known.stderr


def test_check_tells_a_liqod_that_does_not_run_once(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    rome.add("/apis/apps/v1", "Deployment", "deployments", "liqod", "liqo", spec={"replicas": 0})
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        done = liqoctl("check", "--kubeconfig", kubeconfig)
    assert re.search(f"^✖ liqod +{NO_LIQOD}", done.stdout, re.MULTILINE), done.stdout
    for about in ("webhooks", "kubelet API", "metrics", "pod metrics"):
        assert re.search(f"^• {about} +not looked at: liqod does not run$", done.stdout, re.MULTILINE), done.stdout


def test_events_that_are_never_told_to_their_end_hold_up_nobody(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    rome.endless.add(EVENTS)
    rome.before_reading = lambda path: deny(rome) if path == EVENTS else None
    ask_for_pool(rome, tmp_path / "rome.yaml")


def test_who_cannot_look_does_not_ask_for_events(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    looked: list[float] = []

    def break_for_a_while(path: str) -> None:
        if path != SLICE or SLICE not in rome.objects:
            return
        looked.append(time.monotonic())
        # Longer than it is waited with the first question.
        rome.broken = {SLICE} if looked[-1] - looked[0] < 3 else set()
        deny(rome)

    rome.before_reading = break_for_a_while
    ask_for_pool(rome, tmp_path / "rome.yaml")
    assert len(looked) > 1
    assert EVENTS not in rome.asked


def test_check_says_of_each_thing_what_is_wrong_with_it_or_that_it_cannot_be_seen(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome", ahead=3600)
    words = "it says \x1b[2J nothing"
    status = {"role": "Provider", "conditions": [{"type": "APIServerStatus", "status": "Error", "message": words}]}
    core = "/apis/core.liqo.io/v1beta1"
    rome.add(core, "ForeignCluster", "foreignclusters", "milan", spec={"clusterID": "milan"}, status=status)
    rome.forbidden |= {"/api/v1/nodes", f"{AUTHENTICATION}/identities"}
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        done = liqoctl("check", "--kubeconfig", kubeconfig)
        document = json.loads(liqoctl("check", "--kubeconfig", kubeconfig, "-o", "json").stdout)
    assert done.returncode == 1 and "\x1b" not in done.stdout + done.stderr
    for line in (
        "✖ CRDs +not there: .* liqoctl upgrade --kinds",
        "✖ rights +liqod lacks ",
        "• liqod +there is no Deployment",
        "✖ clock +.* ahead of this machine's",
        "✖ webhooks +their configurations are not there",
        "✖ certificates +cannot be looked at: ",
        "✖ nodes +cannot be looked at: ",
        "✖ API server +.* leads every consumer to itself",
        "• kubelet API +there is no virtual node",
        "✖ peer milan +APIServerStatus: it says .* nothing",
    ):
        assert re.search(f"^{line}", done.stdout, re.MULTILINE), f"{line}\n{done.stdout}"
    bad = [one for one in document["checks"] if one["state"] == "bad"]
    assert not document["passed"] and f"{len(bad)} of {len(document['checks'])} checks failed" in done.stderr


def add_rights_and_deployment(rome: FakeCluster, *values: str) -> None:
    """What an installation with these values has of them."""
    flags = [part for value in ("image.repository=localhost/liqo/liqod", *values) for part in ("--set", value)]
    printed = liqoctl("install", "--print", "--cluster-id", "rome", "-o", "json", *flags)
    for manifest in json.loads(printed.stdout)["items"]:
        kind, version, metadata = manifest.pop("kind"), manifest.pop("apiVersion"), manifest.pop("metadata")
        if "Role" in kind or kind == "Deployment":
            ns = metadata.get("namespace", "")
            rome.add(f"/apis/{version}", kind, f"{kind.lower()}s", metadata["name"], ns, **manifest)


def test_check_looks_at_the_rights_that_values_ask_for(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    values = ("storage.enabled=true", "offloading.namespaces.selector=team=ml", "apiServer.hostForPods=rome.example")
    add_rights_and_deployment(rome, *values)
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        whole = liqoctl("check", "--kubeconfig", kubeconfig)
        assert re.search("^✔ rights ", whole.stdout, re.MULTILINE), whole.stdout
        for role in ("metric-agent", "storage", "namespaces", "tokens"):
            kept = rome.objects.pop(f"{roles}/liqo-liqod-{role}")
            done = liqoctl("check", "--kubeconfig", kubeconfig)
            assert f"liqod lacks ClusterRole liqo-liqod-{role}:" in done.stdout, done.stdout
            rome.objects[f"{roles}/liqo-liqod-{role}"] = kept


SILENT = {"conditions": [{"type": "APIServerStatus", "status": "Error", "lastTransitionTime": "2026-01-01T06:28:52Z"}]}


def silent_milan(rome: FakeCluster) -> None:
    rome.add(CORE, "ForeignCluster", "foreignclusters", "milan", spec={"clusterID": "milan"}, status=SILENT)


def test_who_waits_for_a_provider_is_told_that_it_does_not_answer(tmp_path: pathlib.Path) -> None:
    rome = consumer_of_milan()
    silent_milan(rome)
    rome.before_reading = lambda path: deny(rome) if path == f"{CORE}/foreignclusters" else None
    told = ask_for_pool(rome, tmp_path / "rome.yaml")
    assert "WARN: rome: milan does not answer since 2026-01-01T06:28:52Z\n" in told


def test_unpeer_that_gives_up_says_how_to_do_without_the_provider(tmp_path: pathlib.Path) -> None:
    rome, milan = consumer_of_milan(), FakeCluster("milan")
    silent_milan(rome)
    labels = {"liqo.io/remote-cluster-id": "milan"}
    rome.add(AUTHENTICATION, "ResourceSlice", "resourceslices", "pool", "liqo-tenant-milan", labels)
    rome.objects[SLICE]["metadata"]["finalizers"] = ["liqo.io/replication"]
    with rome.served(tmp_path / "rome.yaml") as consumer, milan.served(tmp_path / "milan.yaml") as provider:
        both = ("--kubeconfig", consumer, "--remote-kubeconfig", provider)
        done = liqoctl("unpeer", *both, "--skip-confirm", "--timeout", "4s")
    assert done.returncode == 1
    silence = "milan does not answer since 2026-01-01T06:28:52Z"
    assert f"({silence}; if it will not come back: liqoctl force unpeer milan)" in done.stderr, done.stderr


def test_unpeer_from_a_provider_that_is_gone_says_how_to_do_without_it(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    with FakeCluster("milan").served(tmp_path / "milan.yaml") as provider:
        pass
    with rome.served(tmp_path / "rome.yaml") as consumer:
        done = liqoctl("unpeer", "--kubeconfig", consumer, "--remote-kubeconfig", provider, "--timeout", "4s")
    assert done.returncode == 1
    server = yaml.safe_load(provider.read_text())["clusters"][0]["cluster"]["server"].removeprefix("http://")
    unreached = f"ERRO: cluster milan cannot be reached at {server}, the server that its kubeconfig names ("
    force = "; if the provider will not come back: liqoctl force unpeer ID\n"
    assert unreached in done.stderr, done.stderr
    assert done.stderr.endswith(f"): check that address, and that this machine reaches it{force}"), done.stderr


def test_what_is_not_offloaded_is_told_before_anybody_is_asked(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    rome.add("/api/v1", "Namespace", "namespaces", "shop")
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        home = liqoctl("unoffload", "namespace", "shop", "--kubeconfig", kubeconfig)
        mistyped = liqoctl("unoffload", "namespace", "shpo", "--kubeconfig", kubeconfig)
    assert (home.returncode, home.stderr) == (0, "INFO: rome: namespace shop is not offloaded\n")
    assert mistyped.returncode == 1 and "there is no namespace shpo in cluster rome" in mistyped.stderr


CLAIM = "/api/v1/namespaces/shop/persistentvolumeclaims/data"


def add_claim_with_data_in_milan(rome: FakeCluster) -> None:
    rome.add("/api/v1", "PersistentVolumeClaim", "persistentvolumeclaims", "data", "shop")
    rome.objects[CLAIM]["spec"] = {"volumeName": f"pvc-{CLAIM}"}
    backing = {"storage.liqo.io/backing-cluster": "milan", "storage.liqo.io/backing-claim": "shop-rome/data"}
    rome.objects[CLAIM]["metadata"]["annotations"] = backing


def test_unpeer_that_is_refused_has_deleted_no_data(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    status = {"role": "ConsumerAndProvider"}
    rome.add(CORE, "ForeignCluster", "foreignclusters", "of-a-person", spec={"clusterID": "milan"}, status=status)
    add_claim_with_data_in_milan(rome)
    with (
        rome.served(tmp_path / "rome.yaml") as consumer,
        FakeCluster("milan").served(tmp_path / "milan.yaml") as provider,
    ):
        both = ("--kubeconfig", consumer, "--remote-kubeconfig", provider)
        done = liqoctl("unpeer", *both, "--skip-confirm", "--delete-volumes", "--delete-namespaces")
    assert done.returncode == 1
    assert "milan also consumes from rome: end that peering first" in done.stderr, done.stderr
    assert CLAIM in rome.objects


def test_a_namespace_that_stays_offloaded_keeps_its_data(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    rome.add("/api/v1", "Namespace", "namespaces", "shop", labels={"team": "ml"})
    rome.add(OFFLOADING, "NamespaceOffloading", "namespaceoffloadings", "offloading", "shop")
    offloading = rome.objects[f"{OFFLOADING}/namespaces/shop/namespaceoffloadings/offloading"]
    offloading["metadata"]["annotations"] = {"offloading.liqo.io/namespace-selector": "team=ml"}
    add_claim_with_data_in_milan(rome)
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        home = ("--kubeconfig", kubeconfig, "--skip-confirm", "--delete-volumes")
        done = liqoctl("unoffload", "namespace", "shop", *home)
    assert done.returncode == 1
    assert "namespace shop is offloaded because it has the labels team=ml" in done.stderr, done.stderr
    assert CLAIM in rome.objects


def add_bound_claim_of_milan(rome: FakeCluster) -> None:
    """The claim data, whose volume is in milan, and a node of each cluster."""
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    virtual = {"liqo.io/type": "virtual-node", "liqo.io/remote-cluster-id": "milan"}
    rome.add("/api/v1", "Node", "nodes", "milan", labels=virtual, status=ready)
    rome.add("/api/v1", "Node", "nodes", "rome-1", status=ready)
    rome.add("/apis/storage.k8s.io/v1", "StorageClass", "storageclasses", "liqo", provisioner="liqo.io/storage")
    spec = {"storageClassName": "liqo", "volumeName": "pvc-c1", "accessModes": ["ReadWriteOnce"]}
    rome.add(
        "/api/v1", "PersistentVolumeClaim", "persistentvolumeclaims", "data", "shop", spec=spec, status={"phase": "Bound"}
    )
    rome.objects[CLAIM]["metadata"]["uid"] = "c1"
    rome.add("/api/v1", "PersistentVolume", "persistentvolumes", "pvc-c1", spec={"claimRef": {"uid": "c1"}})
    rome.objects["/api/v1/persistentvolumes/pvc-c1"]["metadata"]["annotations"] = {
        "pv.kubernetes.io/provisioned-by": "liqo.io/storage",
        "storage.liqo.io/backing-claim": "shop-rome/data",
        "storage.liqo.io/backing-claim-uid": "b1",
        "storage.liqo.io/backing-cluster": "milan",
    }


def test_a_move_whose_copy_gets_no_volume_says_soon_what_keeps_it(tmp_path: pathlib.Path) -> None:
    """At home, the claim that is to hold the data has the UID of the copy's claim for its name."""
    rome = FakeCluster("rome")
    add_bound_claim_of_milan(rome)
    copy_uid = "/api/v1/namespaces/shop/persistentvolumeclaims/liqo-move-data"
    rome.add(
        "/api/v1", "Event", "events", "provisioner", "liqo-storage", type="Warning", message="no disk of class fast",
        lastTimestamp=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        involvedObject={"kind": "PersistentVolumeClaim", "name": copy_uid, "uid": "another"},
    )  # fmt: skip
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        move = ("move", "volume", "data", "--namespace", "shop", "--target-node", "rome-1", "--image", "x")
        done = liqoctl(*move, "--kubeconfig", kubeconfig, "--timeout", "6s")
    warned = [line for line in done.stderr.splitlines() if line.startswith("WARN: ")]
    words = f"the claim {copy_uid}, which is to hold the data, has no volume: no disk of class fast"
    assert len(warned) == 1 and words in warned[0], done.stderr
    assert done.returncode == 1 and "gave up waiting for a volume in this cluster" in done.stderr
    # Nothing has become of the claim that was to be moved.
    assert rome.objects[CLAIM]["spec"]["volumeName"] == "pvc-c1"


def test_a_move_whose_helper_pod_ends_says_at_once_why_and_what_is_left(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    add_bound_claim_of_milan(rome)
    copy_claim = "/api/v1/namespaces/shop/persistentvolumeclaims/liqo-move-data"
    helpers = [f"/api/v1/namespaces/shop/pods/liqo-move-data-{end}" for end in ("from", "to")]
    volume = "/api/v1/persistentvolumes/pvc-c2"
    rome.add("/api/v1", "PersistentVolume", "persistentvolumes", "pvc-c2", spec={"claimRef": {"uid": "c2"}})
    rome.objects[volume]["metadata"]["annotations"] = {
        "pv.kubernetes.io/provisioned-by": "liqo.io/storage",
        "storage.liqo.io/backing-claim": "liqo-storage/c2",
        "storage.liqo.io/backing-claim-uid": "b2",
    }

    def bind_and_evict(path: str) -> None:
        """What liqod does for the copy, and a kubelet to the pod that reads."""
        there = rome.objects.get(path, {})
        if there and path == copy_claim:
            there["metadata"]["uid"] = "c2"
            there["spec"]["volumeName"] = "pvc-c2"
            there["status"] = {"phase": "Bound"}
        elif there and path == helpers[0]:
            there["status"] = {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}

    rome.before_reading = bind_and_evict
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        move = ("move", "volume", "data", "--namespace", "shop", "--target-node", "rome-1", "--image", "x")
        done = liqoctl(*move, "--kubeconfig", kubeconfig, "--timeout", "60s")
    assert done.returncode == 1
    ended = "pod shop/liqo-move-data-from, which was to carry the data, has ended: Evicted: the node was low on memory"
    assert f"ERRO: {ended}. Claim shop/liqo-move-data, " in done.stderr, done.stderr
    assert done.stderr.endswith(": kubectl delete pvc liqo-move-data -n shop\n"), done.stderr
    assert not any(helper in rome.objects for helper in helpers)
    assert rome.objects[CLAIM]["spec"]["volumeName"] == "pvc-c1"


def test_what_is_printed_of_an_offloading_is_not_written(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    for name in ("blue", "red"):
        rome.add("/api/v1", "Namespace", "namespaces", name, labels={"team": "ml"})
    before = set(rome.objects)
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        offload = ("offload", "namespace", "--kubeconfig", kubeconfig)
        chosen = liqoctl(*offload, "--ns-selector", "team=ml", "-o", "yaml")
        nothing = liqoctl(*offload, "-o", "yaml")
        both = liqoctl(*offload, "red", "--ns-selector", "team=ml", "-o", "yaml")
    printed = list(yaml.safe_load_all(chosen.stdout))
    assert [one["metadata"]["namespace"] for one in printed] == ["blue", "red"], chosen.stderr
    assert set(rome.objects) == before
    assert (nothing.returncode, both.returncode) == (1, 1)
    assert "name the namespaces, or choose them by --ns-selector" in nothing.stderr
    assert "give either names of namespaces or --ns-selector, not both" in both.stderr


def test_uninstall_that_gives_up_says_what_holds_the_namespace_up(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    rome.add("/api/v1", "Namespace", "namespaces", "liqo")
    metadata = rome.objects["/api/v1/namespaces/liqo"]["metadata"]
    metadata |= {"annotations": {"liqo.io/made-by": "liqoctl"}, "finalizers": ["kubernetes"]}
    why = "Discovery failed for some groups: metrics.liqo.io/v1beta1"
    condition = {"type": "NamespaceDeletionDiscoveryFailure", "status": "True", "message": why}
    rome.objects["/api/v1/namespaces/liqo"]["status"] = {"conditions": [condition]}
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        done = liqoctl("uninstall", "--kubeconfig", kubeconfig, "--skip-confirm", "--timeout", "4s")
    assert done.returncode == 1
    assert "gave up waiting for namespace liqo to go" in done.stderr, done.stderr
    assert why in done.stderr


def test_nobody_peers_with_itself(tmp_path: pathlib.Path) -> None:
    milan = FakeCluster("milan")
    with milan.served(tmp_path / "milan.yaml") as kubeconfig:
        done = liqoctl("generate", "peering-user", "--consumer-cluster-id", "milan", "--kubeconfig", kubeconfig)
    assert done.returncode == 1 and "milan is this cluster: give the ID of the one that is to consume" in done.stderr
    assert not [path for path in milan.objects if "liqo-tenant" in path]


def test_while_helm_installs_liqoctl_does_not(tmp_path: pathlib.Path) -> None:
    rome = FakeCluster("rome")
    rome.objects.clear()
    bindings = "/apis/rbac.authorization.k8s.io/v1"
    rome.add(bindings, "ClusterRoleBinding", "clusterrolebindings", "liqo-kinds")
    image = ("--set", "image.repository=localhost/liqo/liqod")
    with rome.served(tmp_path / "rome.yaml") as kubeconfig:
        done = liqoctl("install", "--cluster-id", "rome", *image, "--kubeconfig", kubeconfig)
    assert done.returncode == 1 and "Helm installs Liqo here just now: wait until it is" in done.stderr, done.stderr
    assert len(rome.objects) == 1


def test_a_file_that_is_not_there_is_told_as_such(tmp_path: pathlib.Path) -> None:
    missing = tmp_path / "milan.yaml"
    done = liqoctl("info", "--kubeconfig", missing)
    assert done.returncode == 1 and f"there is no file {missing}\n" in done.stderr, done.stderr


@pytest.mark.parametrize("values", ["", "none.yaml"])
def test_values_that_cannot_be_read_are_not_the_defaults(tmp_path: pathlib.Path, values: str) -> None:
    """A directory can be opened, and fails only when it is read."""
    image = ("--set", "image.repository=localhost/liqo/liqod")
    done = liqoctl("install", "--print", "--cluster-id", "rome", *image, "-f", tmp_path / values)
    told = "there is no file " if values else f"{tmp_path} cannot be read"
    assert (done.returncode, done.stdout) == (1, "") and told in done.stderr, done.stderr


def test_credentials_of_home_are_not_sent_to_a_remote_server(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rome, milan = FakeCluster("rome"), FakeCluster("milan")
    with rome.served(tmp_path / "rome.yaml") as home, milan.served(tmp_path / "milan.yaml") as provider:
        tree = yaml.safe_load(home.read_text())
        tree["users"][0]["user"]["token"] = "of-home"
        home.write_text(yaml.safe_dump(tree))
        monkeypatch.setenv("KUBECONFIG", str(home))
        server = yaml.safe_load(provider.read_text())["clusters"][0]["cluster"]["server"]
        nobody = liqoctl("unpeer", "--remote-server", server)
        somebody = liqoctl("unpeer", "--remote-server", server, "--remote-token", "of-milan", "--skip-confirm")
    assert nobody.returncode == 2 and "--remote-server does not say as whom to ask" in nobody.stderr, nobody.stderr
    assert rome.tokens == {"Bearer of-home"} and milan.tokens == {"Bearer of-milan"}, somebody.stderr
