"""The rights that charts/liqo gives away: what is needed, and nothing of what must never be."""

import pathlib

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILES = ROOT / "charts" / "liqo" / "files"

READ = {"get", "list", "watch"}
WRITE = {"update", "patch"}
FULL = READ | WRITE | {"create", "delete"}

# Role file -> (API group, resource) -> verbs. The roles hold exactly these: a new right is a decision, made here too.
RIGHTS = {
    "liqo-installation-clusterrole.yaml": {},
    "liqo-kinds-clusterrole.yaml": {("apiextensions.k8s.io", "customresourcedefinitions"): {"get", "create", "patch"}},
    "liqo-metrics-reader-clusterrole.yaml": {("", "/metrics"): {"get"}},
    "liqo-pre-delete-clusterrole.yaml": {
        ("authentication.liqo.io", "identities"): {"list"},
        ("authentication.liqo.io", "resourceslices"): {"list"},
        ("authentication.liqo.io", "tenants"): {"list"},
        ("core.liqo.io", "foreignclusters"): {"list"},
        ("offloading.liqo.io", "namespaceoffloadings"): {"list"},
        ("offloading.liqo.io", "virtualnodes"): {"list"},
        ("apiregistration.k8s.io", "apiservices"): {"get", "delete"},
        ("rbac.authorization.k8s.io", "clusterroles"): {"delete"},
    },
    "liqo-metric-agent-clusterrole.yaml": {("", "nodes/metrics"): {"get"}},
    "liqod-metric-agent-role.yaml": {("", "serviceaccounts/token"): {"create"}},
    "liqod-metric-agent-clusterrole.yaml": {
        ("apiregistration.k8s.io", "apiservices"): READ | {"create", "update", "delete"},
        ("rbac.authorization.k8s.io", "clusterroles"): {"get"},
    },
    "liqod-clusterrole.yaml": {
        ("", "nodes"): FULL,
        ("", "nodes/status"): WRITE,
        ("", "pods"): READ | {"create", "patch", "delete"},
        ("", "pods/ephemeralcontainers"): {"patch"},
        ("", "pods/resize"): {"patch"},
        ("", "pods/status"): WRITE,
        ("", "pods/eviction"): {"create"},
        ("policy", "poddisruptionbudgets"): READ | {"patch", "delete"},
        ("policy", "poddisruptionbudgets/status"): {"update"},
        ("", "events"): {"create", "patch"},
        ("", "configmaps"): READ,
        ("", "namespaces"): READ | {"create", "patch", "delete"},
        ("", "resourcequotas"): READ | {"create", "patch", "delete"},
        ("rbac.authorization.k8s.io", "rolebindings"): READ | {"create", "patch", "delete"},
        ("rbac.authorization.k8s.io", "clusterrolebindings"): READ | {"create", "patch", "delete"},
        ("rbac.authorization.k8s.io", "clusterroles"): {"bind", "get", "patch"},
        ("offloading.liqo.io", "virtualnodes"): FULL,
        ("offloading.liqo.io", "virtualnodes/status"): WRITE,
        ("offloading.liqo.io", "vkoptionstemplates"): READ,
        ("offloading.liqo.io", "namespacemaps"): READ | {"create", "patch", "delete"},
        ("offloading.liqo.io", "namespacemaps/status"): {"patch"},
        ("offloading.liqo.io", "namespaceoffloadings"): READ | {"patch"},
        ("offloading.liqo.io", "namespaceoffloadings/status"): {"patch"},
        ("offloading.liqo.io", "shadowpods"): READ | WRITE | {"delete"},
        ("authentication.liqo.io", "resourceslices/status"): WRITE,
        ("authentication.liqo.io", "resourceslices/finalizers"): {"update"},
        ("offloading.liqo.io", "quotas"): FULL,
        ("offloading.liqo.io", "quotas/status"): WRITE,
        ("storage.k8s.io", "storageclasses"): READ,
        ("", "services"): READ,
        ("", "serviceaccounts"): {"get", "list", "watch"},
        ("networking.k8s.io", "ingresses"): READ,
        ("networking.k8s.io", "networkpolicies"): {"list"},
        ("networking.k8s.io", "servicecidrs"): {"get", "list", "watch"},
        ("discovery.k8s.io", "endpointslices"): READ | {"create", "patch", "delete"},
        ("offloading.liqo.io", "shadowendpointslices"): READ,
        ("offloading.liqo.io", "shadowendpointslices/finalizers"): {"update"},
        ("offloading.liqo.io", "shadowpods/status"): WRITE,
        ("offloading.liqo.io", "shadowpods/finalizers"): {"update"},
        ("", "limitranges"): READ,
        ("node.k8s.io", "runtimeclasses"): READ,
        ("networking.liqo.io", "configurations"): READ,
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): READ | {"create", "update"},
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): READ | {"create", "update"},
        ("core.liqo.io", "foreignclusters"): FULL,
        ("core.liqo.io", "foreignclusters/status"): WRITE,
        ("ipam.liqo.io", "ips"): READ,
        ("certificates.k8s.io", "clustertrustbundles"): READ,
        ("certificates.k8s.io", "certificatesigningrequests"): READ | {"create", "delete"},
        ("certificates.k8s.io", "certificatesigningrequests/approval"): {"update"},
        ("certificates.k8s.io", "signers"): {"approve"},
        ("authentication.liqo.io", "tenants"): READ | WRITE,
        ("authentication.liqo.io", "tenants/status"): WRITE,
        ("authentication.liqo.io", "identities"): FULL,
        ("authentication.liqo.io", "identities/status"): WRITE,
        ("authentication.liqo.io", "renews"): FULL,
        ("authentication.liqo.io", "renews/status"): WRITE,
        ("authentication.liqo.io", "resourceslices"): READ | WRITE | {"delete"},
        ("authentication.k8s.io", "tokenreviews"): {"create"},
        ("authorization.k8s.io", "subjectaccessreviews"): {"create"},
    },
    "liqod-storage-clusterrole.yaml": {
        ("", "persistentvolumeclaims"): READ | {"create", "patch", "delete"},
        ("", "persistentvolumeclaims/status"): {"patch"},
        ("", "persistentvolumes"): READ | {"create", "patch", "delete"},
    },
    "liqod-namespaces-clusterrole.yaml": {("offloading.liqo.io", "namespaceoffloadings"): {"create", "delete"}},
    "liqod-tokens-clusterrole.yaml": {("", "serviceaccounts/token"): {"create"}},
    "liqod-tokens-bind-clusterrole.yaml": {("rbac.authorization.k8s.io", "clusterroles"): {"bind"}},
    "liqod-role.yaml": {
        ("coordination.k8s.io", "leases"): WRITE | {"get", "create"},
        ("", "secrets"): READ | {"create", "update"},
        ("", "configmaps"): {"create", "update", "delete"},
    },
    "liqod-node-leases-role.yaml": {("coordination.k8s.io", "leases"): WRITE | {"get", "create"}},
    "liqod-api-servers-role.yaml": {("discovery.k8s.io", "endpointslices"): {"get"}},
    "liqod-offloaded-clusterrole.yaml": {
        ("", "secrets"): {"get", "list"},
        ("certificates.k8s.io", "podcertificaterequests"): {"get", "list", "create"},
        ("", "services"): {"patch"},
        ("networking.k8s.io", "ingresses"): {"patch"},
    },
    "liqod-tenant-clusterrole.yaml": {
        ("", "secrets"): READ | WRITE | {"create"},
        ("", "configmaps"): {"create", "update"},
        ("coordination.k8s.io", "leases"): {"get", "create"},
    },
    "liqo-remote-controlplane.yaml": {
        ("authentication.liqo.io", "resourceslices"): FULL,
        ("authentication.liqo.io", "renews"): FULL,
        ("offloading.liqo.io", "namespacemaps"): FULL,
        ("coordination.k8s.io", "leases"): {"get", "patch"},
    },
    "liqo-remote-leader.yaml": {("coordination.k8s.io", "leases"): {"get"}},
    "liqo-virtual-kubelet-remote-clusterwide.yaml": {("metrics.liqo.io", "scrape/metrics"): READ},
    "liqo-peering-user-tenant-ns.yaml": {
        ("", "namespaces"): {"get"},
        ("", "secrets"): READ | {"create", "delete"},
        ("", "events"): {"list"},
        ("authentication.liqo.io", "tenants"): FULL,
    },
    "liqo-peering-user-liqo-ns.yaml": {("", "configmaps"): READ},
    "liqo-virtual-kubelet-remote.yaml": {
        ("", "namespaces"): {"get"},
        ("offloading.liqo.io", "shadowpods"): FULL,
        ("offloading.liqo.io", "shadowendpointslices"): FULL,
        ("", "pods"): READ,
        ("", "pods/log"): {"get"},
        ("", "pods/exec"): {"create"},
        ("", "pods/attach"): {"create"},
        ("", "pods/portforward"): {"get", "create"},
        ("metrics.k8s.io", "pods"): READ,
        ("", "configmaps"): FULL,
        ("", "secrets"): FULL,
        ("", "persistentvolumeclaims"): FULL,
        ("", "services"): FULL,
        ("networking.k8s.io", "ingresses"): FULL,
        ("policy", "poddisruptionbudgets"): READ | {"create", "update", "delete"},
        ("", "events"): READ,
    },
}

# The roles that liqod may give to others.
BINDABLE = {
    "liqo-liqod-offloaded",
    "liqo-liqod-tenant",
    "liqo-liqod-tokens",
    "liqo-remote-controlplane",
    "liqo-remote-leader",
    "liqo-virtual-kubelet-remote",
    "liqo-virtual-kubelet-remote-clusterwide",
}


def names():
    return sorted(path.name for path in FILES.glob("*.yaml"))


def load(name):
    return yaml.safe_load((FILES / name).read_text(encoding="utf-8"))


def granted(role):
    """(group, resource) -> verbs of all rules of a role together; a path has no group."""
    rights = {}
    for rule in role["rules"]:
        for group in rule.get("apiGroups", [""]):
            for resource in rule.get("resources", []) + rule.get("nonResourceURLs", []):
                rights.setdefault((group, resource), set()).update(rule["verbs"])
    return rights


def test_no_row_of_a_table_stands_twice():
    rows = []
    for line in pathlib.Path(__file__).read_text(encoding="utf-8").splitlines():
        if line.startswith('    "'):
            rows.append([])
        elif rows and line.startswith('        ("'):
            rows[-1].append(line.split("):")[0])
    assert [row for table in rows for row in set(table) if table.count(row) > 1] == []


def test_every_role_has_its_table():
    assert names() == sorted(RIGHTS)


@pytest.mark.parametrize("name", names())
def test_a_role_grants_what_its_table_names_and_no_more(name):
    assert granted(load(name)) == RIGHTS[name]


@pytest.mark.parametrize("name", names())
def test_a_role_has_no_wildcards_and_no_way_to_more_rights(name):
    role = load(name)
    assert "aggregationRule" not in role
    for rule in role["rules"]:
        if "nonResourceURLs" in rule:
            assert set(rule) == {"nonResourceURLs", "verbs"} and name == "liqo-metrics-reader-clusterrole.yaml"
            continue
        words = rule["apiGroups"] + rule["resources"] + rule["verbs"]
        assert not [word for word in words if "*" in word]
        assert not {"escalate", "impersonate", "deletecollection"} & set(rule["verbs"])
        # Rights are handed on by binding roles that are named here, and in no other way.
        if "bind" in rule["verbs"]:
            assert rule["resources"] == ["clusterroles"] and set(rule["resourceNames"]) <= BINDABLE
        elif rule.get("resourceNames") == ["liqo-liqod-metric-agent"]:
            # It owns what has to go with it: it is read for that, and taken away with it before a removal.
            verbs = {"liqod-metric-agent-clusterrole.yaml": ["get"], "liqo-pre-delete-clusterrole.yaml": ["delete"]}
            assert rule["verbs"] == verbs[name]
        elif "rbac.authorization.k8s.io" in rule["apiGroups"]:
            assert name == "liqod-clusterrole.yaml"
            # The role without rules that owns what has to go with the installation; rules need "escalate".
            if rule["resources"] == ["clusterroles"]:
                assert rule["resourceNames"] == ["liqo-installation"] and set(rule["verbs"]) == {"get", "patch"}
            else:
                assert set(rule["resources"]) <= {"rolebindings", "clusterrolebindings"}
        assert "nodes/proxy" not in rule["resources"]


@pytest.mark.parametrize("name", names())
def test_every_rule_says_what_it_is_for(name):
    lines = (FILES / name).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    bare = [line for before, line in zip(lines, lines[1:]) if line.startswith("  - ") and not before.startswith("  # ")]
    assert not bare


def test_liqod_approves_for_two_signers_only():
    rules = [rule for rule in load("liqod-clusterrole.yaml")["rules"] if "signers" in rule["resources"]]
    assert [rule["resourceNames"] for rule in rules] == [
        ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client"]
    ]


def test_what_liqod_binds_are_roles_of_this_chart():
    assert {load(name)["metadata"]["name"] for name in names() if load(name)["kind"] == "ClusterRole"} >= BINDABLE


def test_secrets_of_the_own_cluster_are_read_in_namespaces_of_peers_and_offloaded_ones_only():
    readers = {name for name in names() if any(READ & set(verbs) for verbs in named_rules(name, "secrets")[0])}
    bound_by_namespace = {"liqod-offloaded-clusterrole.yaml", "liqod-tenant-clusterrole.yaml"}
    assert readers == {"liqo-virtual-kubelet-remote.yaml", *bound_by_namespace}


def test_tokens_of_the_own_cluster_are_made_in_offloaded_namespaces_only():
    makers = {name for name in names() if ("", "serviceaccounts/token") in granted(load(name))}
    assert makers == {"liqod-tokens-clusterrole.yaml", "liqod-metric-agent-role.yaml"}
    # liqod binds the first in namespaces; the second names one account.
    binders = [name for name in names() if "liqo-liqod-tokens" in named_rules(name, "clusterroles")[1]]
    assert binders == ["liqod-tokens-bind-clusterrole.yaml"]


def named_rules(name, resource):
    """The rules about a resource that are not confined to names, and the names of the others."""
    rules = [rule for rule in load(name)["rules"] if resource in rule.get("resources", [])]
    return [rule["verbs"] for rule in rules if "resourceNames" not in rule], {
        one for rule in rules for one in rule.get("resourceNames", [])
    }


def test_the_hook_of_helm_changes_the_kinds_of_the_chart_and_no_others():
    everywhere, names_of_kinds = named_rules("liqo-kinds-clusterrole.yaml", "customresourcedefinitions")
    assert everywhere == [["create"]]
    files = (ROOT / "charts/liqo/crds").glob("*.yaml")
    assert names_of_kinds == {yaml.load(one.read_text(), Loader=yaml.CSafeLoader)["metadata"]["name"] for one in files}


def test_the_hook_of_helm_takes_away_the_api_of_figures_and_nothing_else():
    assert named_rules("liqo-pre-delete-clusterrole.yaml", "apiservices") == ([], {"v1beta1.metrics.liqo.io"})
    assert named_rules("liqo-pre-delete-clusterrole.yaml", "clusterroles") == ([], {"liqo-liqod-metric-agent"})


def test_of_the_own_namespace_only_known_secrets_are_read():
    everywhere, names_of_secrets = named_rules("liqod-role.yaml", "secrets")
    assert everywhere == [["create"]]
    assert names_of_secrets == {"liqo-webhook-certs", "liqo-metric-agent-certs", "authentication-keys"}


def test_the_keys_of_the_cluster_are_never_replaced():
    rules = [rule for rule in load("liqod-role.yaml")["rules"] if "authentication-keys" in rule.get("resourceNames", [])]
    assert [set(rule["verbs"]) for rule in rules] == [READ]


def test_a_peering_user_reads_the_nonce_and_no_other_secret():
    everywhere, names_of_secrets = named_rules("liqo-peering-user-tenant-ns.yaml", "secrets")
    assert everywhere == [["create"]]
    assert names_of_secrets == {"liqo-nonce"}


@pytest.mark.parametrize("name", ["liqo-remote-controlplane.yaml", "liqo-peering-user-tenant-ns.yaml"])
def test_a_consumer_writes_no_status(name):
    assert not [resource for _, resource in granted(load(name)) if resource.endswith("/status")]


def test_what_was_refused_a_consumer_is_written_by_liqod_alone():
    assert named_rules("liqod-tenant-clusterrole.yaml", "configmaps") == ([["create"]], {"liqo-refusals"})
    of_consumers = ("liqo-remote-controlplane.yaml", "liqo-peering-user-tenant-ns.yaml")
    assert not [name for name in of_consumers if ("", "configmaps") in granted(load(name))]


def test_of_the_bounds_of_twins_only_those_of_pods_are_ever_removed():
    rules = [rule for rule in load("liqod-clusterrole.yaml")["rules"] if "resourcequotas" in rule["resources"]]
    assert [rule.get("resourceNames") for rule in rules if "delete" in rule["verbs"]] == [["liqo-twin-pods"]]


def test_kubelets_are_asked_by_an_account_of_which_alone_a_token_is_made():
    assert named_rules("liqod-metric-agent-role.yaml", "serviceaccounts/token") == ([], {"liqo-metric-agent"})
    # What liqod may do itself is nothing that a kubelet answers to.
    assert [name for name in names() if ("", "nodes/metrics") in granted(load(name))] == ["liqo-metric-agent-clusterrole.yaml"]


def test_only_the_own_api_service_is_touched():
    assert named_rules("liqod-metric-agent-clusterrole.yaml", "apiservices") == ([["create"]], {"v1beta1.metrics.liqo.io"})


@pytest.mark.parametrize("kind", ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"])
def test_only_the_own_webhook_configurations_are_touched(kind):
    assert named_rules("liqod-clusterrole.yaml", kind) == ([["create"]], {"liqo-webhook"})


def test_a_consumer_changes_the_lease_of_its_heartbeat_and_no_other():
    assert named_rules("liqo-remote-controlplane.yaml", "leases") == ([], {"liqo-heartbeat"})


def test_a_consumer_reads_who_leads_and_no_other_lease_of_the_own_namespace():
    assert named_rules("liqo-remote-leader.yaml", "leases") == ([], {"liqod"})


def test_a_consumer_reads_its_twins_and_no_other_namespace():
    """A RoleBinding gives the right for the Namespace that it is in; a ClusterRoleBinding would give it for all."""
    of_consumers = ("liqo-virtual-kubelet-remote-clusterwide.yaml", "liqo-remote-controlplane.yaml", "liqo-remote-leader.yaml")
    assert not [name for name in of_consumers if ("", "namespaces") in granted(load(name))]
    assert granted(load("liqo-virtual-kubelet-remote.yaml"))[("", "namespaces")] == {"get"}


def test_an_exec_of_the_consumer_is_no_get():
    assert "get" not in granted(load("liqo-virtual-kubelet-remote.yaml"))[("", "pods/exec")]


@pytest.mark.parametrize("name", names())
def test_kind_and_namespace_of_a_role_fit(name):
    role = load(name)
    assert role["apiVersion"] == "rbac.authorization.k8s.io/v1"
    assert (role["kind"] == "Role") == ("namespace" in role["metadata"])
