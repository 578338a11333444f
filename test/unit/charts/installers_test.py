"""One chart, two ways to install it: what `helm template` makes of it, `liqoctl install --print` makes, too."""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHART = ROOT / "charts" / "liqo"
LIQOCTL = pathlib.Path(os.environ.get("LIQOCTL", ROOT / "build/release/services/liqoctl/liqoctl"))
SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
# What becomes of values of the Go Liqo's chart, and all that it has.
GO = yaml.safe_load((CHART / "go-values.yaml").read_text(encoding="utf-8"))
GO_DEFAULTS = yaml.safe_load((ROOT / "test/fixtures/go-values.yaml").read_text(encoding="utf-8"))
sys.path.insert(0, str(ROOT / "test/cluster"))

from harness import settings  # noqa: E402

HELMS = ("helm3", "helm4")

REQUIREMENT = {"key": "zone", "operator": "In", "values": ["a", "b"]}
TERMS = [{"matchExpressions": [REQUIREMENT]}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]
SELECTED = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
PEERS = [{"namespaceSelector": {"matchLabels": {"team": "ops"}}, "podSelector": {}}, {"ipBlock": {"cidr": "10.0.0.0/8"}}]
EXISTS = {"operator": "Exists"}
IMAGE = "localhost/liqo/liqod"
# What no installation with a daemon can do without.
NEEDED = f"clusterID=rome,image.repository={IMAGE}"

# Values beside the ID of the cluster, by what they are about.
VALUES = {
    "defaults": {},
    "the ID of Go": {"clusterID": "", "discovery": {"config": {"clusterID": "milan"}}},
    "the ID twice": {"discovery": {"config": {"clusterID": "rome"}}},
    "labels of nodes": {"discovery": {"config": {"clusterLabels": {"region": "eu: west", "tier": 1, "gpu": True}}}},
    "image": {"image": {"repository": "registry.example:5000/liqod", "tag": "v1"}},
    "tag": {"tag": "v0.2.0"},
    "both tags": {"tag": "v0.2.0", "image": {"tag": "v0.3.0"}},
    "a tag like a number": {"image": {"tag": "1.10"}},
    "always pulled": {"pullPolicy": "Always"},
    "pull secrets": {"imagePullSecrets": [{"name": "one"}, {"name": "two"}]},
    "no daemon": {"deployment": False},
    "one replica": {"replicas": 1},
    "five replicas": {"replicas": 5},
    "replicas of Go": {"controllerManager": {"replicas": 1}},
    "replicas of several parts": {
        "controllerManager": {"replicas": 1}, "webhook": {"replicas": 3}, "virtualKubelet": {"replicas": 2}
    },
    "ranges": {"ipam": {"podCIDRs": ["10.1.0.0/16", "fd00::/48"]}},
    "the range of Go": {"ipam": {"podCIDR": "10.2.0.0/16", "podCIDRs": ["10.3.0.0/16"]}},
    "API server": {"apiServer": {"address": "https://api.example:6443", "ca": "LS0tLS1CRUdJTg==", "trustedCA": True}},
    "RSA": {"authentication": {"enabled": True, "tlsCompatibilityMode": True}},
    "no class default": {"authentication": {"defaultResourceSliceClassEnabled": False}},
    "no addresses": {"networking": {"reflectIPs": False, "enabled": False}},
    "no third clusters": {"networking": {"denyDirectConnections": True}},
    "modules": {"offloading": {"enabled": True, "createNode": True}, "authentication": {"enabled": True}},
    "no nodes": {"offloading": {"createNode": False, "disableNetworkCheck": True}},
    "a network that is not looked at": {"offloading": {"disableNetworkCheck": True}},
    "less": {"offloading": {"defaultNodeResources": {"cpu": 2, "memory": "4Gi"}}},
    "numbers": {"offloading": {"defaultNodeResources": {"cpu": 0.5, "memory": 17179869184, "pods": 1500000}}},
    "devices": {"offloading": {"defaultNodeResources": {"nvidia.com/gpu": "2", "ephemeral-storage": None}}},
    "a share": {"offloading": {"sharingPercentage": 50}},
    "trust of providers": {"offloading": {"trustBundles": "provider", "podCertificates": "provider"}},
    "no share": {"offloading": {"sharingPercentage": 0}},
    "namespaces by label": {"offloading": {"namespaces": {"selector": "team in (ml, ai),!private"}}},
    "namespaces by label, elsewhere": {
        "offloading": {
            "namespaces": {
                "selector": "team=ml",
                "podOffloadingStrategy": "Remote",
                "namespaceMappingStrategy": "EnforceSameName",
                "clusterSelectors": ["region in (south, north)", "gpu"],
            }
        }
    },
    "roles of tenants": {"offloading": {"tenantClusterRoles": ["widgets-user", "example.org:gears"]}},
    "runtime class": {
        "offloading": {
            "runtimeClass": {
                "name": "liqo",
                "handler": "runc",
                "labels": {"a": "b"},
                "annotations": {"c": "two\nlines"},
                "nodeSelector": {"labels": {"pool": "remote"}},
                "tolerations": {"tolerations": [{"key": "k", **EXISTS}]},
            }
        }
    },
    "a bare runtime class": {
        "offloading": {"runtimeClass": {"nodeSelector": {"enabled": False}, "tolerations": {"enabled": False}}}
    },
    "workers": {"offloading": {"reflection": {"pod": {"workers": 7}}}},
    "fewer kinds": {
        "offloading": {
            "reflection": {
                "configmap": {"workers": 0, "type": "AllowList"},
                "endpointslice": {"workers": 0},
                "ingress": {"workers": 7, "type": "AllowList"},
                "secret": {"workers": 1024, "type": "AllowList"},
                "service": {"workers": 1, "type": "AllowList"},
            }
        }
    },
    "custom resources": {
        "offloading": {
            "reflection": {
                "custom": [
                    {"group": "example.org", "resource": "widgets", "status": True, "type": "AllowList", "workers": 0},
                    {"group": "gateway.networking.k8s.io", "resource": "httproutes"},
                ]
            }
        }
    },
    "keys left out": {
        "offloading": {"reflection": {"skip": {"labels": ["team", "example.org/tier"], "annotations": ["note"]}}}
    },
    "keys kept": {"offloading": {"reflection": {"keepKeys": ["grafana_dashboard", "velero.io/*"]}}},
    "nothing left out": {"offloading": {"reflection": {"skip": {"annotations": []}}}},
    "ingress classes": {
        "offloading": {"reflection": {"ingress": {"ingressClasses": [{"name": "nginx", "default": True}, {"name": "t"}]}}}
    },
    "balancers": {"offloading": {"reflection": {"service": {"loadBalancerClasses": [{"name": "a", "default": False}]}}}},
    "storage": {"storage": {"enabled": True, "realStorageClassName": "fast"}},
    "storage by other names": {
        "storage": {
            "enabled": True, "virtualStorageClassName": "far", "storageNamespace": "far-claims", "reclaimPolicy": "Retain"
        }
    },
    "quotas": {"controllerManager": {"config": {"enableResourceEnforcement": False}}},
    "Hard": {"controllerManager": {"config": {"defaultLimitsEnforcement": "Hard"}}},
    "failing nodes": {"controllerManager": {"config": {"enableNodeFailureController": True}}},
    "the pod of Go": {
        "controllerManager": {
            "pod": {
                "annotations": {"a": "yes"},
                "labels": {"l": "1"},
                "extraArgs": ["--log-format=json"],
                "resources": {"limits": {"memory": "1Gi"}},
                "priorityClassName": "high",
            }
        }
    },
    "virtual nodes": {
        "virtualKubelet": {"virtualNode": {"extra": {"labels": {"pool": "remote"}, "annotations": {"note": "a#b: c"}}}}
    },
    "address": {"nodeIP": "10.0.0.1"},
    "ports": {"listenPort": 10251, "listenPortCount": 8, "healthPort": 9091, "metrics": {"port": 9090}, "webhook": {"port": 9444}},
    "no metrics": {"metrics": {"enabled": False}},
    "operator": {"metrics": {"prometheusOperator": {"enabled": True}}},
    "all of the operator": {
        "common": {"globalAnnotations": {"a": "b"}},
        "metrics": {
            "service": {"labels": {"l": "1"}, "annotations": {"note": "a: b"}},
            "prometheusOperator": {"enabled": True, "interval": "1m", "scrapeTimeout": "9s", "labels": {"release": "q"}},
        },
    },
    "the monitors of Go": {
        "controllerManager": {"metrics": {"service": {"labels": {"l": "1"}}, "serviceMonitor": {"labels": {"release": "p"}}}},
        "webhook": {
            "metrics": {
                "service": {"annotations": {"a": "b"}},
                "serviceMonitor": {"enabled": True, "interval": "30s", "scrapeTimeout": "5s", "labels": {"release": "q"}},
            }
        },
        "crdReplicator": {"metrics": {"podMonitor": {"enabled": True, "interval": "40s"}}},
        "virtualKubelet": {"metrics": {"podMonitor": {"scrapeTimeout": "6s", "labels": {"release": "r"}}}},
    },
    "only the operator": {"metrics": {"enabled": False, "prometheusOperator": {"enabled": True}}},
    "a service monitor": {
        "metrics": {"serviceMonitor": {"enabled": True, "interval": "30s", "scrapeTimeout": "5s", "labels": {"release": "p"}}}
    },
    "a bare service monitor": {"metrics": {"serviceMonitor": {"enabled": True}}},
    "plain metrics": {
        "metrics": {"secure": False, "serviceMonitor": {"enabled": True}, "prometheusOperator": {"enabled": True}}
    },
    "a certificate of the metrics": {
        "common": {"globalAnnotations": {"a": "b"}},
        "webhook": {"clientCAConfigMap": "callers"},
        "metrics": {
            "certificateSecret": "liqod-tls", "serviceMonitor": {"enabled": True}, "prometheusOperator": {"enabled": True}
        },
    },
    "a certificate that nobody sees": {"metrics": {"secure": False, "certificateSecret": "liqod-tls"}},
    "alerts": {"metrics": {"rules": {"enabled": True, "labels": {"release": "prometheus"}}}},
    "boards": {"metrics": {"dashboards": {"enabled": True, "labels": {"grafana_dashboard": "yes"}}}},
    "alerts and boards": {"metrics": {"rules": {"enabled": True}, "dashboards": {"enabled": True}}},
    "no webhooks": {"webhook": {"port": 0, "allowedCIDRs": ["10.0.0.1/32"]}},
    "let through": {"webhook": {"failurePolicy": "Ignore"}},
    "callers": {"webhook": {"clientCAConfigMap": "callers"}},
    "addresses of callers": {"webhook": {"allowedCIDRs": ["10.0.0.1/32", "fd00::/64"]}},
    "no metric agent": {"metricAgent": {"enabled": False, "kubeletCAConfigMap": "kubelets"}, "networkPolicy": {"metrics": PEERS}},
    "no metric agent, by Go": {"metricAgent": {"enable": False}},
    "metric agent": {
        "metricAgent": {
            "port": 8444, "config": {"timeout": {"read": "2500ms"}}, "kubeletCAConfigMap": "kubelets"
        },
        "networkPolicy": {"metricAgent": PEERS},
    },
    "policies": {"networkPolicy": {"webhook": PEERS, "kubelet": PEERS[:1], "metrics": PEERS[1:]}},
    "a policy for one port": {"networkPolicy": {"kubelet": PEERS}, "listenPortCount": 1},
    "one policy": {"networkPolicy": {"metrics": PEERS}},
    "tokens": {"enableAPIServerSupport": True},
    "tokens for all": {"apiServer": {"support": "always"}},
    "tokens for nobody": {"apiServer": {"support": "never", "hostForPods": "api.rome.example"}},
    "tokens where needed": {"apiServer": {"hostForPods": "fd00::1", "portForPods": 6443}},
    "tokens at a port": {"apiServer": {"hostForPods": "10.0.0.1", "portForPods": "6443"}},
    "tokens for the API server alone": {"apiServer": {"audienceTokens": "never"}},
    "no tokens at all": {"apiServer": {"audienceTokens": "never", "support": "never"}},
    "tokens by argument": {"extraArgs": ["--enable-apiserver-support"]},
    "tokens for nobody, by Go": {"offloading": {"reflection": {"serviceaccount": {"workers": 0}}}},
    "tokens for nobody, by an argument of Go": {
        "apiServer": {"hostForPods": "10.0.0.1"},
        "virtualKubelet": {"extra": {"args": ["--enable-apiserver-support=false"]}},
    },
    "tenants": {"twinNames": ["shop-*", "web"], "cordonSilentTenantsAfter": "720h"},
    "no names of home": {"homeNames": False},
    "zero as a number": {"cordonSilentTenantsAfter": 0},
    "more arguments": {"extraArgs": ["--log-level=debug", '--node-extra-labels=a="b", c'], "common": {"extraArgs": ["--x"]}},
    "arguments that no value gives": {
        "extraArgs": ["--storage-namespace=x", "--apiserver-support=always", "--twin-names=a-*"], "twinNames": ["b-*"]
    },
    "resources": {"resources": {"requests": {"cpu": 2}, "limits": None}},
    "where": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "x", **EXISTS}], "priorityClassName": "low"},
    "where, by Go": {"common": {"nodeSelector": {"a": "true"}, "tolerations": [{**EXISTS}], "affinity": {"podAffinity": {}}}},
    "affinity": {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": TERMS},
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": TERMS[0]}],
            },
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [SELECTED]},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [SELECTED]},
        }
    },
    "labels": {"podLabels": {"team": "on"}, "podAnnotations": {"note": "a: b"}},
    "labels of all": {"common": {"globalLabels": {"owner": "ops"}, "globalAnnotations": {"note": "'single' \"double\""}}},
    "OpenShift": {"openshiftConfig": {"enabled": True}},
    "global": {"global": {"x": 1}},
    "as Go has it": {key: value for key, value in GO_DEFAULTS.items() if key != "discovery"},
}


def require(*programs):
    for program in programs:
        if not program.exists():
            (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{program} is not built")


@pytest.fixture(scope="session")
def helms():
    """Helm 3 and 4; the first time they are built."""
    built = subprocess.run([sys.executable, ROOT / "test/cluster/build-tools", *HELMS], capture_output=True, text=True)
    if built.returncode != 0:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(built.stdout + built.stderr)
    return [settings.tool(name) for name in HELMS]


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)


def helm(program, *arguments):
    """No cluster is asked; the kinds are among what is told, and hooks are not."""
    fixed = ("--namespace", "liqo", "--kube-version", "1.35", "--include-crds", "--no-hooks")
    return run(program, "template", "liqo", CHART, *fixed, *arguments)


def liqoctl(*arguments):
    require(LIQOCTL)
    return run(LIQOCTL, "install", "--print", *arguments)


def objects(done):
    """What was printed, by kind, namespace and name."""
    assert done.returncode == 0, done.stderr
    found = {}
    for document in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader):
        if document:
            metadata = document["metadata"]
            key = (document["kind"], metadata.get("namespace"), metadata["name"])
            assert key not in found
            found[key] = document
    return found


def file_of(tmp_path, values, name="values.yaml"):
    path = tmp_path / name
    image = {"repository": IMAGE, **values.get("image", {})}
    path.write_text(yaml.safe_dump({"clusterID": "rome", **values, "image": image}))
    return path


def printed(tmp_path, values):
    return objects(liqoctl("-f", file_of(tmp_path, values)))


def check_equal(helms, *arguments):
    with ThreadPoolExecutor() as pool:
        *made, ours = map(objects, pool.map(lambda made_by: made_by(), [
            *(functools.partial(helm, program, *arguments) for program in helms), functools.partial(liqoctl, *arguments)
        ]))  # fmt: skip
    del ours["Namespace", None, "liqo"]
    for program, theirs in zip(HELMS, made):
        assert sorted(map(str, ours)) == sorted(map(str, theirs)), program
        for key, wanted in theirs.items():
            assert ours[key] == wanted, (program, key)


@pytest.mark.parametrize("name", VALUES)
def test_helm_and_liqoctl_make_equal_objects(name, helms, tmp_path):
    check_equal(helms, "-f", file_of(tmp_path, VALUES[name]))


@pytest.mark.parametrize(
    "arguments",
    [
        "replicas=3,metrics.port=9000",
        "twinNames={a,b-*}",
        "discovery.config.clusterLabels.example\\.com/zone=a\\,b",
        "nodeSelector.a=b,tag=0123",
        "offloading.defaultNodeResources.memory=17179869184",
        "offloading.defaultNodeResources.pods=null,offloading.defaultNodeResources.cpu=2",
        "resources=null",
    ],
)
def test_values_on_the_command_line_are_read_alike(arguments, helms):
    check_equal(helms, "--set", NEEDED, "--set", arguments)


def test_later_files_and_the_command_line_win(helms, tmp_path):
    first = file_of(tmp_path, {"tag": "1", "nodeIP": "10.0.0.1", "resources": {"limits": {"cpu": "1"}}}, "first.yaml")
    second = file_of(tmp_path, {"tag": "2", "resources": {"limits": {"memory": None}}}, "second.yaml")
    given = ("-f", first, "-f", second, "--set", "tag=v3,podLabels.a=x", "--set-string", "podLabels.b=1")
    check_equal(helms, *given)
    (deployment,) = [made for (kind, _, _), made in objects(liqoctl(*given)).items() if kind == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith(":v3") and container["resources"]["limits"] == {"cpu": "1"}
    assert "--node-ip=10.0.0.1" in container["args"]
    assert deployment["spec"]["template"]["metadata"]["labels"]["b"] == "1"


def test_without_the_daemon_neither_ID_nor_image_is_needed(helms):
    check_equal(helms, "--set", "deployment=false")


def known(schema, path=()):
    """Paths of the values that the schema knows; those without further ones of their own."""
    if "$ref" in schema:
        schema = SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]]
    if not schema.get("properties"):
        yield ".".join(path)
    for key, value in schema.get("properties", {}).items():
        yield from known(value, (*path, key))


def given(values, path=()):
    if path:
        yield ".".join(path)
    if isinstance(values, dict):
        for key, value in values.items():
            yield from given(value, (*path, key))


def test_there_are_many_sets_of_values_and_each_value_is_in_one():
    assert len(VALUES) >= 50
    used = {path for values in VALUES.values() for path in given({"clusterID": "rome", **values})}
    used |= {path for part in ("noEffect", "refused", "secondNames") for path in by_path(part)}
    assert not set(known(SCHEMA)) - used


WRONG = {
    "relpicas=3": "value relpicas is not known: did you mean replicas?",
    "webhook.ports=1": "value webhook.ports is not known: did you mean webhook.port?",
    "defaultLimitsEnforcement=Hard": "did you mean controllerManager.config.defaultLimitsEnforcement?",
    "controllerManager.config.defaultLimitsEnforcement=Strict": "must be None, Soft or Hard, not \"Strict\"",
    "offloading.reflection.secret.type=Every": "must be DenyList, AllowList or All, not \"Every\"",
    "offloading.reflection.configmap.type=All": "must be DenyList or AllowList, not \"All\"",
    "offloading.reflection.event=0": "value offloading.reflection.event must be a map, not 0",
    "offloading.reflection.events=0": "did you mean offloading.reflection.event?",
    "networking.fabrik=1": "value networking.fabrik is not known: did you mean networking.fabric?",
    "offloading.reflection.configmap.workers=-1": "value offloading.reflection.configmap.workers must be at least 0",
    "replicas=many": "value replicas must be a whole number, not \"many\"",
    "replicas=0": "value replicas must be at least 1",
    "listenPort=70000": "value listenPort must be at most 65535",
    "listenPortCount=0": "value listenPortCount must be at least 1",
    "apiServer.audienceTokens=maybe": "must be always or never, not \"maybe\"",
    "extraArgs={--audience-tokens=never}": "--audience-tokens is set by value apiServer.audienceTokens: set that",
    "offloading.trustBundles=maybe": "must be home or provider, not \"maybe\"",
    "extraArgs={--trust-bundles=provider}": "--trust-bundles is set by value offloading.trustBundles: set that",
    "apiServer.support=maybe": "must be never, needed or always, not \"maybe\"",
    "enableAPIServerSupport=1": "value enableAPIServerSupport must be true or false, not 1",
    "offloading=4": "value offloading must be a map, not 4",
    "offloading.defaultNodeResources.cpu=much": "value offloading.defaultNodeResources.cpu must match",
    "apiServer.portForPods=70000": "value apiServer.portForPods must be at most 65535",
    "apiServer.portForPods=6443x": "value apiServer.portForPods must match",
    "ipam.podCIDRs={10.0.0.0/8,here}": "value ipam.podCIDRs[1] must match",
    "twinNames={1}": "value twinNames[0] must be a text, not 1",
    "image.repository=": "the daemon needs an image, and no public registry has it: load it on the nodes or push it",
    "clusterID=Rome": "is no cluster ID",
    "clusterID=": "the cluster needs an ID",
    "discovery.config.clusterID=milan": "clusterID is rome and discovery.config.clusterID is milan",
    "extraArgs={--sharing-percentage=5}": "set that",
    "extraArgs={--listen-port=10300}": "extraArgs: --listen-port is set by value listenPort: set that",
    "common.extraArgs={--listen-port,http}": "extraArgs: --listen-port is set by value listenPort: set that",
    "common.extraArgs={--listen-port,10300}": "common.extraArgs[1] must be a text, not 10300",
    "extraArgs={--secret-reflection-type=All}": "--secret-reflection-type is set by value offloading.reflection.secret.type",
    "storage.enabled=true,extraArgs={--storage-namespace=x}": "--storage-namespace is set by value storage.storageNamespace",
    "enableAPIServerSupport=true,apiServer.support=never": "say both always and never of who gets tokens",
    "apiServer.support=never,extraArgs={--enable-apiserver-support}": "say both never and always of who gets tokens",
    "offloading.reflection.serviceaccount.workers=0,enableAPIServerSupport=true": "say both always and never",
    "apiServer.support=never,extraArgs={--apiserver-support,always}": "extraArgs: --apiserver-support would be said twice",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_meant_is_refused_by_both(wrong, helms):
    for program in helms:
        refused = helm(program, "--set", NEEDED, "--set", wrong)
        assert refused.returncode != 0
        key = wrong.partition("=")[0].rpartition(".")[2]
        assert key in refused.stderr or WRONG[wrong] in refused.stderr
    refused = liqoctl("--set", NEEDED, "--set", wrong)
    assert refused.returncode == 1 and not refused.stdout
    (line,) = refused.stderr.splitlines()
    assert WRONG[wrong] in line


@pytest.mark.parametrize(
    ("custom", "words"),
    [
        ([{"group": "apps", "resource": "deployments"}], "deployments.apps is of a group that Kubernetes or Liqo has"),
        ([{"group": "net.liqo.io", "resource": "pods"}], "pods.net.liqo.io is of a group that Kubernetes or Liqo has"),
        ([{"group": "a.org", "resource": "b", "workers": n} for n in (1, 2)], "custom names b.a.org twice"),
    ],
)
def test_custom_resources_are_refused_by_both(custom, words, helms, tmp_path):
    given = ("--set", NEEDED, "-f", file_of(tmp_path, {"offloading": {"reflection": {"custom": custom}}}))
    for program in helms:
        refused = helm(program, *given)
        assert refused.returncode != 0 and words in refused.stderr
    refused = liqoctl(*given)
    assert refused.returncode == 1 and not refused.stdout and words in refused.stderr


def test_custom_resources_are_refused_where_the_daemon_would_not_start():
    source = (ROOT / "src/core/reflection/custom_resource.cpp").read_text(encoding="utf-8")
    groups = re.findall(r'"([^"]+)"', re.search(r"reserved_groups = \{(.*?)\};", source, re.S)[1])
    assert len(groups) > 20
    helpers = (CHART / "templates/_helpers.tpl").read_text(encoding="utf-8")
    (pattern,) = re.findall(r'regexMatch "(\^\([^"]*\)\$)" \.group', helpers)
    for group in [*groups, "liqo.io", "offloading.liqo.io", "metrics.k8s.io", "custom.metrics.k8s.io"]:
        assert re.fullmatch(pattern, group), group
    for group in ("example.org", "gateway.networking.k8s.io", "notliqo.io", "my.apps", "apps.example.org"):
        assert not re.fullmatch(pattern, group), group


def nested(path, value):
    """Values that say this of one path."""
    for key in reversed(path):
        value = {key: value}
    return value


def at(values, path):
    for key in path:
        values = values[key]
    return values


def schema_at(path):
    schema = SCHEMA
    for key in path:
        schema = schema["properties"][key]
        schema = SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return schema


def sample(entry):
    """A value of which the entry speaks."""
    if "only" in entry:
        return json.loads(entry["only"][0])
    schema = schema_at(entry["path"])
    if "enum" in schema:
        return next(one for one in schema["enum"] if json.dumps(one) not in entry.get("but", []))
    samples = {"object": {"a": "b"}, "array": ["10.0.0.0/8"], "string": "a", "integer": 7, "boolean": True}
    return samples[schema["type"]] if schema.get("items", {}).get("type") != "object" else [{"key": "a"}]


def by_path(part):
    return {".".join(entry["path"]): entry for entry in GO[part]}


def test_every_value_of_go_is_here_or_it_is_said_what_becomes_of_it():
    def leaves(values, path=()):
        if isinstance(values, dict) and values:
            for key, value in values.items():
                yield from leaves(value, (*path, key))
        else:
            yield path

    told = [tuple(entry["path"]) for part in GO.values() for entry in part]
    own = set(leaves(DEFAULTS))
    missing = [
        path for path in leaves(GO_DEFAULTS) if not any(path[:depth] in (*told, *own) for depth in range(1, len(path) + 1))
    ]
    assert not missing
    # And nothing is told twice, or of what is not taken.
    assert all(schema_at(path) for path in told)
    for part in GO:
        assert len(by_path(part)) == len(GO[part])


def without_effect():
    """Values of which each has none."""
    everything = {}
    for entry in GO["noEffect"]:
        inside = everything
        for key in entry["path"][:-1]:
            inside = inside.setdefault(key, {})
        inside[entry["path"][-1]] = sample(entry)
    return everything


def test_values_for_parts_that_are_not_here_are_named_and_change_nothing(tmp_path):
    done = liqoctl("-f", file_of(tmp_path, without_effect()))
    told = [f"WARN: value {path} has no effect here: {entry['why']}" for path, entry in by_path("noEffect").items()]
    assert sorted(done.stderr.splitlines()) == sorted(told)
    assert objects(done) == printed(tmp_path, {})


def test_helm_names_them_after_the_installation(helms, tmp_path):
    # Helm 3 asks for a cluster before it says what an installation would say.
    program = helms[HELMS.index("helm4")]
    file = file_of(tmp_path, without_effect())
    done = run(program, "install", "liqo", CHART, "--dry-run=client", "--namespace", "liqo", "-f", file)
    assert done.returncode == 0, done.stderr
    for path, entry in by_path("noEffect").items():
        assert f"\n{path}: {entry['why']}" in done.stdout, path


def test_what_is_so_in_any_case_is_not_named(tmp_path):
    for path, entry in by_path("noEffect").items():
        for value in entry.get("but", []):
            assert path not in liqoctl("-f", file_of(tmp_path, nested(entry["path"], json.loads(value)))).stderr
    assert not liqoctl("-f", file_of(tmp_path, {"networking": {"enabled": False}})).stderr


@pytest.mark.parametrize("path", sorted(by_path("refused")))
def test_values_that_would_be_believed_are_refused_by_both_in_one_sentence(path, helms, tmp_path):
    entry = by_path("refused")[path]
    file = file_of(tmp_path, nested(entry["path"], sample(entry)))
    words = f"value {path}: {entry['why']}"
    refused = helm(helms[-1], "-f", file)
    assert refused.returncode != 0 and words in refused.stderr
    refused = liqoctl("-f", file)
    assert refused.returncode == 1 and not refused.stdout
    assert refused.stderr == f"ERRO: {words}\n"
    for value in entry.get("but", []):
        assert objects(liqoctl("-f", file_of(tmp_path, nested(entry["path"], json.loads(value)))))


SECOND = {
    "replicas": 4, "annotations": {"a": "b"}, "labels": {"l": "1"}, "extraArgs": ["--x"], "args": ["--x"],
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
    "priorityClassName": "high", "nodeSelector": {"a": "b"},
    "tolerations": [EXISTS], "affinity": {"podAffinity": {"a": []}}, "enable": False, "enabled": True, "interval": "7s",
    "scrapeTimeout": "3s",
}  # fmt: skip


@functools.cache
def plainly(shown):
    """What is made without other values, of those of Helm's command line."""
    return objects(liqoctl("--set", NEEDED, *(("--set", shown) if shown else ())))


@pytest.mark.parametrize("path", sorted(by_path("secondNames")))
def test_a_second_name_says_the_same_as_the_first(path, tmp_path):
    entry = by_path("secondNames")[path]
    value, first = SECOND[entry["path"][-1]], entry["of"].split(".")
    assert value != at(DEFAULTS, first)
    # Of a monitor nothing is seen if there is none.
    shown = ",".join(f"metrics.{monitor}.enabled=true" for monitor in MONITORED if first[-1] != "enabled")
    made = []
    for one in (entry["path"], first):
        file = file_of(tmp_path, nested(one, value))
        made.append(objects(liqoctl("-f", file, *(("--set", shown) if shown else ()))))
    assert made[0] == made[1] != plainly(shown)


def one(documents, kind, name):
    (found,) = [made for (k, _, n), made in documents.items() if (k, n) == (kind, name)]
    return found


def arguments_of(documents):
    (container,) = one(documents, "Deployment", "liqod")["spec"]["template"]["spec"]["containers"]
    return container["args"]


@pytest.mark.parametrize(("replicas", "budgets"), [(1, 0), (2, 1)])
def test_a_leader_is_elected_whatever_the_number_of_replicas(replicas, budgets, tmp_path):
    documents = printed(tmp_path, {"replicas": replicas})
    assert "--leader-elect" in arguments_of(documents)
    assert sum(kind == "PodDisruptionBudget" for kind, _, _ in documents) == budgets


def test_the_daemon_keeps_off_virtual_nodes_whatever_affinity_is_given(tmp_path):
    for values in ({}, VALUES["affinity"]):
        affinity = one(printed(tmp_path, values), "Deployment", "liqod")["spec"]["template"]["spec"]["affinity"]
        terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        off = {"key": "liqo.io/type", "operator": "NotIn", "values": ["virtual-node"]}
        assert terms and all(off in term["matchExpressions"] for term in terms)
        assert affinity["podAntiAffinity"]


def test_a_replica_that_starts_is_not_asked_yet(tmp_path):
    service = one(printed(tmp_path, {}), "Service", "liqo-webhook")
    assert not service["spec"].get("publishNotReadyAddresses")


def test_the_values_of_the_documentation_become_the_sharing_policy(tmp_path):
    values = {
        "offloading": {"defaultNodeResources": {"cpu": "2", "memory": "4Gi"}, "sharingPercentage": 50},
        "controllerManager": {"config": {"defaultLimitsEnforcement": "Hard"}},
        "discovery": {"config": {"clusterLabels": {"region": "europe", "tier": 1}}},
        "authentication": {"defaultResourceSliceClassEnabled": False},
    }
    assert one(printed(tmp_path, values), "ConfigMap", "liqo-sharing-policy")["data"] == {
        "default-node-resources": "cpu=2,ephemeral-storage=20Gi,memory=4Gi,pods=110",
        "default-limits-enforcement": "Hard",
        "default-resource-slice-class-enabled": "false",
        "sharing-percentage": "50",
        "cluster-labels": "region=europe,tier=1",
        "enable-storage": "false",
    }


TOKENS = "liqo-liqod-tokens"


@pytest.mark.parametrize(
    ("over", "is_given"),
    [
        ({}, True),
        ({"apiServer": {"audienceTokens": "never"}}, True),
        ({"apiServer": {"audienceTokens": "never", "support": "always"}}, True),
        ({"apiServer": {"support": "never"}}, True),
        ({"extraArgs": ["--apiserver-support=never"]}, True),
        (VALUES["tokens for nobody, by Go"], False),
        (VALUES["no tokens at all"], False),
        ({"apiServer": {"audienceTokens": "never"}, "extraArgs": ["--apiserver-support", "never"]}, False),
        ({"apiServer": {"audienceTokens": "never"}, "extraArgs": ["--enable-apiserver-support=false"]}, False),
        ({"apiServer": {"audienceTokens": "never"}, "enableAPIServerSupport": True}, True),
    ],
)
def test_the_right_to_make_tokens_is_one_that_liqod_binds_in_namespaces_if_pods_may_get_any(over, is_given, tmp_path):
    documents = printed(tmp_path, over)
    found = {(kind, name) for kind, _, name in documents if name.startswith(TOKENS)}
    bind = f"{TOKENS}-bind"
    given = {("ClusterRole", TOKENS), ("ClusterRole", bind), ("ClusterRoleBinding", bind)}
    assert found == (given if is_given else set())
    # That to a token for kubelets names its account.
    rights = [
        right
        for document in documents.values()
        for right in document.get("rules", [])
        if "serviceaccounts/token" in right.get("resources", []) and "resourceNames" not in right
    ]
    assert len(rights) == is_given


def test_the_rights_on_volumes_come_with_the_class_only(tmp_path):
    rights = {("ClusterRole", None, "liqo-liqod-storage"), ("ClusterRoleBinding", None, "liqo-liqod-storage")}
    classes = lambda documents: [d for (kind, _, _), d in documents.items() if kind == "StorageClass"]  # noqa: E731
    none = printed(tmp_path, {})
    assert not classes(none) and not {key[2] for key in none} & {"liqo-liqod-storage"}
    some = printed(tmp_path, VALUES["storage by other names"])
    assert {key[2] for key in rights} <= {key[2] for key in some}
    assert [(d["metadata"]["name"], d["provisioner"], d["reclaimPolicy"]) for d in classes(some)] == [
        ("far", "liqo.io/storage", "Retain")
    ]
    arguments = one(some, "Deployment", "liqod")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert {"--virtual-storage-class-name=far", "--storage-namespace=far-claims"} <= set(arguments)


def test_roles_of_tenants_are_bound_only_where_they_are_named(tmp_path):
    name = "liqo-liqod-tenant-roles"
    assert name not in {key[2] for key in printed(tmp_path, {})}
    documents = printed(tmp_path, VALUES["roles of tenants"])
    assert one(documents, "ClusterRole", name)["rules"] == [
        {
            "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["clusterroles"],
            "resourceNames": ["widgets-user", "example.org:gears"],
            "verbs": ["get", "bind"],
        }
    ]
    assert one(documents, "ClusterRoleBinding", name)["roleRef"]["name"] == name


def test_a_network_policy_lets_only_those_in_that_are_named(tmp_path):
    assert not [key for key in printed(tmp_path, {}) if key[0] == "NetworkPolicy"]
    documents = printed(tmp_path, {**VALUES["addresses of callers"], "networkPolicy": {"kubelet": PEERS}})
    policy = one(documents, "NetworkPolicy", "liqod")["spec"]
    deployment = one(documents, "Deployment", "liqod")
    assert policy["podSelector"]["matchLabels"] == deployment["spec"]["selector"]["matchLabels"]
    by_port = {rule["ports"][0]["port"]: rule.get("from") for rule in policy["ingress"]}
    callers = [{"ipBlock": {"cidr": cidr}} for cidr in ("10.0.0.1/32", "fd00::/64")]
    assert by_port == {9443: callers, 10250: PEERS, 8082: None, 8443: None}
    # To the last one that a node may have.
    assert {rule["ports"][0].get("endPort") for rule in policy["ingress"]} == {None, 10313}


def test_one_port_for_all_nodes_is_one_port_in_the_policy(tmp_path):
    documents = printed(tmp_path, {"listenPort": 10260, "listenPortCount": 1, "networkPolicy": {"kubelet": PEERS}})
    ports = [rule["ports"] for rule in one(documents, "NetworkPolicy", "liqod")["spec"]["ingress"]]
    assert [{"port": 10260}] in ports
    (container,) = one(documents, "Deployment", "liqod")["spec"]["template"]["spec"]["containers"]
    assert {"--listen-port=10260", "--listen-port-count=1"} <= set(container["args"])


def hooks_of(program, *arguments):
    """What Helm runs as hooks, by kind and name."""
    done = run(program, "template", "liqo", CHART, "--namespace", "liqo", "--kube-version", "1.35", *arguments)
    assert done.returncode == 0, done.stderr
    found = [one for one in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if one]
    return {
        (one["kind"], one["metadata"]["name"]): one
        for one in found
        if "helm.sh/hook" in one["metadata"].get("annotations", {})
    }


def test_helm_brings_kinds_up_to_date_and_asks_before_it_removes(helms, tmp_path):
    values = {"tag": "v9", "imagePullSecrets": [{"name": "one"}], "common": {"globalLabels": {"owner": "ops"}}}
    values["nodeSelector"] = {"infra": "true"}
    values["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [SELECTED]}}
    daemon = one(printed(tmp_path, values), "Deployment", "liqod")["spec"]["template"]["spec"]
    for program in helms:
        hooks = hooks_of(program, "-f", file_of(tmp_path, values))
        when = {key: made["metadata"]["annotations"]["helm.sh/hook"] for key, made in hooks.items()}
        at = {"liqo-kinds": "pre-install,pre-upgrade", "liqo-pre-delete": "pre-delete"}
        parts = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Job")
        assert when == {(kind, name): moment for name, moment in at.items() for kind in parts}
        # Its rights are there before it runs, and go whatever becomes of it.
        for (kind, _), made in hooks.items():
            annotations = made["metadata"]["annotations"]
            assert (int(annotations["helm.sh/hook-weight"]) < 0) == (kind != "Job")
            assert ("hook-failed" in annotations["helm.sh/hook-delete-policy"]) == (kind != "Job")
            assert made["metadata"]["labels"]["owner"] == "ops"
        words = {"liqo-kinds": ["upgrade", "--kinds"], "liqo-pre-delete": ["uninstall", "--prepare"]}
        for name, arguments in words.items():
            template = hooks["Job", name]["spec"]["template"]
            # The daemon's Services do not lead to it.
            assert template["metadata"]["labels"]["app.kubernetes.io/name"] != "liqod"
            # Nor does it need anything that an installation may not have come to.
            assert template["spec"]["serviceAccountName"] == name
            binding = hooks["ClusterRoleBinding", name]
            assert binding["roleRef"]["name"] == hooks["ClusterRole", name]["metadata"]["name"]
            assert binding["subjects"] == [{"kind": "ServiceAccount", "name": name, "namespace": "liqo"}]
            (container,) = template["spec"]["containers"]
            assert container["image"] == daemon["containers"][0]["image"]
            assert container["securityContext"] == daemon["containers"][0]["securityContext"]
            assert container["args"] == [*arguments, "--namespace=liqo"]
            for key in ("securityContext", "nodeSelector", "imagePullSecrets"):
                assert template["spec"][key] == daemon[key]
            # Beside the daemon as well: there may be no other node.
            assert template["spec"]["affinity"] == {"nodeAffinity": daemon["affinity"]["nodeAffinity"]}
        # Bringing up kinds is done again if it fails; a refusal stands.
        assert hooks["Job", "liqo-pre-delete"]["spec"]["backoffLimit"] == 0
        assert not hooks_of(program, "--set", "deployment=false")


def test_the_kinds_alone_are_printed_and_not_written():
    # There is no cluster that could be written to.
    done = run(LIQOCTL, "upgrade", "--kinds", "--print")
    assert done.returncode == 0, done.stderr
    found = [one["metadata"]["name"] for one in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if one]
    files = (CHART / "crds").glob("*.yaml")
    assert sorted(found) == sorted(yaml.load(one.read_text(), Loader=yaml.CSafeLoader)["metadata"]["name"] for one in files)
    refused = run(LIQOCTL, "upgrade", "--kinds", "-o", "json")
    assert refused.returncode == 1 and "--print" in refused.stderr


@pytest.mark.parametrize(
    ("version", "is_old"), [("v3.9.4", True), ("v3.10.0-rc.1", False), ("v3.22.0", False), ("v4.3.1", False)]
)
def test_an_old_helm_is_told_what_to_do(version, is_old, helms, tmp_path):
    """The chart's own check, in a chart that says of which version Helm is."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("{apiVersion: v2, name: old, version: 0.1.0}")
    (tmp_path / "templates/_helpers.tpl").write_text((CHART / "templates/_helpers.tpl").read_text(encoding="utf-8"))
    pretended = f'(dict "Capabilities" (dict "HelmVersion" (dict "Version" "{version}")))'
    (tmp_path / "templates/a.yaml").write_text(f'{{{{ include "liqo.checkHelm" {pretended} }}}}')
    for program in helms:
        done = run(program, "template", "old", tmp_path)
        words = f"this is Helm {version}, and 3.10 or later is needed: bring Helm up to date, or use liqoctl install"
        assert (done.returncode != 0) == is_old and (words in done.stderr) == is_old, done.stderr


def test_liqoctl_makes_nothing_of_what_is_for_helm(tmp_path):
    assert not [key for key in printed(tmp_path, {}) if key[0] == "Job" or key[2] in ("liqo-kinds", "liqo-pre-delete")]


MONITORED = {"serviceMonitor": {"enabled": True}, "prometheusOperator": {"enabled": True}}


def endpoints(documents):
    """What each monitor says of how it asks."""
    service, pods = one(documents, "ServiceMonitor", "liqod")["spec"], one(documents, "PodMonitor", "liqod")["spec"]
    return [*service["endpoints"], *pods["podMetricsEndpoints"]]


def test_monitors_ask_with_a_token_that_is_for_metrics_only(tmp_path):
    documents = printed(tmp_path, {"metrics": MONITORED})
    secret = one(documents, "Secret", "liqo-metrics-reader")
    assert secret["type"] == "kubernetes.io/service-account-token" and "data" not in secret
    account = secret["metadata"]["annotations"]["kubernetes.io/service-account.name"]
    assert one(documents, "ServiceAccount", account)["automountServiceAccountToken"] is False
    binding = one(documents, "ClusterRoleBinding", "liqo-metrics-reader")
    assert [subject["name"] for subject in binding["subjects"]] == [account]
    rules = one(documents, "ClusterRole", binding["roleRef"]["name"])["rules"]
    assert rules == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    for endpoint in endpoints(documents):
        assert endpoint["scheme"] == "https" and endpoint["tlsConfig"] == {"insecureSkipVerify": True}
        credentials = endpoint["authorization"]["credentials"]
        assert credentials == {"name": secret["metadata"]["name"], "key": "token"}


def test_a_certificate_that_is_given_is_shown_and_checked(tmp_path):
    documents = printed(tmp_path, {"metrics": {**MONITORED, "certificateSecret": "liqod-tls"}})
    for endpoint in endpoints(documents):
        secret = {"name": "liqod-tls", "key": "ca.crt"}
        assert endpoint["tlsConfig"] == {"ca": {"secret": secret}, "serverName": "liqod-metrics.liqo.svc"}
    spec = one(documents, "Deployment", "liqod")["spec"]["template"]["spec"]
    (volume,), (mount,) = spec["volumes"], spec["containers"][0]["volumeMounts"]
    assert volume["secret"]["secretName"] == "liqod-tls" and volume["name"] == mount["name"]
    # The key of an authority is nothing that liqod needs.
    assert [item["key"] for item in volume["secret"]["items"]] == ["tls.crt", "tls.key"]
    assert f"--metrics-cert-path={mount['mountPath']}" in arguments_of(documents)


def test_plain_metrics_are_asked_for_without_a_token(tmp_path):
    documents = printed(tmp_path, {"metrics": {**MONITORED, "secure": False}})
    assert "--metrics-secure=false" in arguments_of(documents)
    assert not [key for key in documents if key[0] == "Secret"]
    assert [set(endpoint) for endpoint in endpoints(documents)] == [{"port"}] * 2


def test_probes_need_no_token(tmp_path):
    for values in ({}, VALUES["ports"]):
        (container,) = one(printed(tmp_path, values), "Deployment", "liqod")["spec"]["template"]["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for probe in ("livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["port"] == "health"
        assert f"--health-probe-address=:{ports['health']}" in container["args"]
        assert f"--metrics-address=:{ports['metrics']}" in container["args"]


# What says the same as the defaults, or has no effect.
AS_BEFORE = {"defaults", "the ID twice", "modules", "zero as a number", "global"}


@pytest.mark.parametrize("name", sorted(set(VALUES) - AS_BEFORE))
def test_each_value_has_an_effect(name, tmp_path):
    assert printed(tmp_path, VALUES[name]) != printed(tmp_path, {})


@pytest.mark.parametrize("name", sorted(AS_BEFORE))
def test_what_says_nothing_new_changes_nothing(name, tmp_path):
    assert printed(tmp_path, VALUES[name]) == printed(tmp_path, {})
