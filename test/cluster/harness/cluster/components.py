"""Command lines and configuration files of Kubernetes' components, as the tests run them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import callers
from .images import PAUSE

DNS_DOMAIN = "cluster.local"
DNS_READY_PORT = 8181
FRONT_PROXY = "front-proxy-client"
# For `Options.extra_manager`: autoscalers look as often as figures change, and count those of young pods.
QUICK_AUTOSCALER = (
    "--horizontal-pod-autoscaler-sync-period=3s",
    "--horizontal-pod-autoscaler-cpu-initialization-period=1s",
    "--horizontal-pod-autoscaler-initial-readiness-delay=1s",
)


@dataclass(frozen=True)
class Options:
    """What a story may choose about a cluster."""

    # Each real node is a kubelet with a containerd; this harness runs none, one or two, and any number of fake ones.
    kubelet: bool = False
    second_kubelet: bool = False
    proxy: bool = False
    # Whether CoreDNS runs at the address of the cluster, for its pods.
    dns: bool = False
    # Whether the API server can show API extensions that it is one.
    front_proxy: bool = True
    # How long Kubernetes waits for a silent node before it calls it unknown. (Its default is 50 s.)
    node_grace_seconds: int = 40
    # How long a certificate is valid that the controller-manager signs, serving certificates of kubelets among them.
    signing_duration: str = "1h"
    # Whether each pod has a cgroup below the cluster's: without one, a kubelet panics when a pod is resized.
    pod_cgroups: bool = False
    # Whether pods may use ports of the node.
    host_ports: bool = False
    # Whether the audit log has the pod statuses that kubelets write.
    audit_status: bool = False
    pod_cidr: str = ""
    service_cidr: str = "10.96.0.0/16"
    # Whether the API server shows a certificate to the webhooks that it asks by URL (see callers.py).
    shows_certificate: bool = False
    # Another version of Kubernetes, as `build-tools --kubernetes` builds it.
    kubernetes: str = ""
    extra_apiserver: tuple[str, ...] = ()
    extra_manager: tuple[str, ...] = ()


def etcd(data: Path) -> list[object]:
    client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
    return [
        "etcd", "--data-dir", data, "--unsafe-no-fsync", "--log-level", "warn",
        "--listen-client-urls", client, "--advertise-client-urls", client,
        "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
        "--quota-backend-bytes", 4 << 30,
    ]  # fmt: skip


def front_proxy(directory: Path) -> list[object]:
    """API extensions know the API server by an authority of its own, as with kubeadm."""
    return [
        f"--requestheader-client-ca-file={directory}/front-proxy/ca.crt",
        f"--requestheader-allowed-names={FRONT_PROXY}", "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={directory}/front-proxy/client.crt",
        f"--proxy-client-key-file={directory}/front-proxy/client.key",
    ]  # fmt: skip


def apiserver(directory: Path, address: str, port: int, options: Options) -> list[object]:
    pki = directory / "pki"
    return [
        "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379",
        f"--secure-port={port}", f"--advertise-address={address}", "--allow-privileged",
        f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
        f"--client-ca-file={pki}/ca.crt",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki}/sa.pub", f"--service-account-signing-key-file={pki}/sa.key",
        "--service-account-max-token-expiration=87600h",
        "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
        f"--service-cluster-ip-range={options.service_cidr}",
        # The API server calls real and virtual kubelets as a user with just the rights for it, and verifies them.
        f"--kubelet-client-certificate={pki}/kubelet-client.crt", f"--kubelet-client-key={pki}/kubelet-client.key",
        f"--kubelet-certificate-authority={pki}/ca.crt", "--kubelet-preferred-address-types=InternalIP",
        "--enable-aggregator-routing=true",
        *(front_proxy(directory) if options.front_proxy else []),
        # Blocking, so that each answered request is in the log, and counting needs no wait.
        f"--audit-policy-file={directory}/audit-policy.yaml", f"--audit-log-path={directory}/audit.log",
        "--audit-log-mode=blocking", "--audit-log-maxsize=8192",
        *(callers.arguments(directory) if options.shows_certificate else []),
        *options.extra_apiserver,
    ]  # fmt: skip


def controller_manager(directory: Path, options: Options) -> list[object]:
    pki = directory / "pki"
    return [
        "kube-controller-manager", "--kubeconfig", directory / "controller-manager.kubeconfig",
        "--bind-address=127.0.0.1", "--leader-elect=false", "--use-service-account-credentials",
        f"--service-account-private-key-file={pki}/sa.key", f"--root-ca-file={pki}/ca.crt",
        f"--cluster-signing-cert-file={pki}/ca.crt", f"--cluster-signing-key-file={pki}/ca.key",
        f"--cluster-signing-duration={options.signing_duration}",
        f"--node-monitor-grace-period={options.node_grace_seconds}s", "--node-monitor-period=1s",
        # The defaults (20 a second) would measure the limiter of Kubernetes instead of Liqo.
        "--kube-api-qps=2000", "--kube-api-burst=2000", "--concurrent-gc-syncs=20",
        *options.extra_manager,
    ]  # fmt: skip


def scheduler(directory: Path) -> list[object]:
    return [
        "kube-scheduler", "--kubeconfig", directory / "scheduler.kubeconfig", "--bind-address=127.0.0.1",
        "--leader-elect=false", "--kube-api-qps=2000", "--kube-api-burst=2000",
    ]  # fmt: skip


def proxy_config(directory: Path, node: str, pod_cidr: str) -> dict[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clusterCIDR": pod_cidr,
        "clientConnection": {"kubeconfig": str(directory / "proxy.kubeconfig")},
        "hostnameOverride": node,
        "conntrack": {"maxPerCore": 0},
    }


def network_config(directory: Path, pod_cidr: str, options: Options) -> dict[str, Any]:
    """CNI: pods hang on a bridge, those of all nodes; the cluster's network namespace routes for them."""
    ranges = [[{"subnet": pod_cidr}]]
    ipam = {
        "type": "host-local",
        "dataDir": str(directory / "cni-state"),
        "ranges": ranges,
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True, "ipMasq": False, "ipam": ipam}
    ports = [{"type": "portmap", "capabilities": {"portMappings": True}}] if options.host_ports else []
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge, *ports]}


def containerd_config(directory: Path) -> str:
    # Without restrict_oom_score_adj, runc fails on every pod if the machine withholds CAP_SYS_RESOURCE.
    return f"""\
version = 2
root = "{directory}/containerd-root"
state = "{directory}/containerd-state"
[grpc]
  address = "{directory}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "{PAUSE}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{directory}/cni"
"""


def corefile(kubeconfig: Path, address: str) -> str:
    return f"""\
.:53 {{
    bind {address}
    ready {address}:{DNS_READY_PORT}
    errors
    loadbalance
    kubernetes {DNS_DOMAIN} in-addr.arpa ip6.arpa {{
        kubeconfig {kubeconfig}
        ttl 5
    }}
}}
"""


def reverse_zone(kubeconfig: Path, address: str, zone: str) -> str:
    """What a name server is told besides, of the addresses of Services in another cluster."""
    return f"""\
{zone}:53 {{
    bind {address}
    errors
    kubernetes {DNS_DOMAIN} {zone} {{
        kubeconfig {kubeconfig}
        ttl 5
    }}
}}
"""


def outside_zone(kubeconfig: Path, address: str, domain: str) -> str:
    """Names of a domain that is not the cluster's, which a name server would know from elsewhere."""
    return f"""\
{domain}:53 {{
    bind {address}
    errors
    kubernetes {domain} {{
        kubeconfig {kubeconfig}
        ttl 5
    }}
}}
"""


def kubelet_config(
    directory: Path, pki: Path, number: int, cgroup: str, *, address: str, options: Options
) -> dict[str, Any]:
    """Configuration of the kubelet of node `number`, in its `directory`. All nodes of a cluster share one address, so
    each has its own ports."""
    first = number == 1
    return {
        **({"clusterDNS": [address], "clusterDomain": DNS_DOMAIN} if options.dns else {}),
        # Images are put into the runtime. Once a pod has tried to pull one, kubelets of 1.35 and later believe that it was
        # pulled, and try again for each pod. Earlier ones refuse the field.
        **({} if options.kubernetes else {"imagePullCredentialsVerificationPolicy": "NeverVerify"}),
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        # The kubelet is a guest here: cgroup version 1 will do, and it makes no accounting tree of its own.
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "port": 10250 if first else 10250 + 100 * number,
        "healthzPort": 10248 if first else 10248 + 100 * number,
        # A kubelet removes unknown logs from its directory, so each has its own.
        "podLogsDir": "/var/log/pods" if first else f"/var/log/pods-{number}",
        "cgroupsPerQOS": options.pod_cgroups,
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "containerRuntimeEndpoint": f"unix://{directory}/containerd.sock",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True, "cacheTTL": "1s"},
            "x509": {"clientCAFile": str(pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(pki / f"kubelet-serving-{number}.crt"),
        "tlsPrivateKeyFile": str(pki / f"kubelet-serving-{number}.key"),
        # A rotated log would lack the beginning that stories compare.
        "containerLogMaxSize": "500Mi",
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "resolvConf": "",
        "registryPullQPS": 0,
        "eventRecordQPS": 0,
        "kubeAPIQPS": 500,
        "kubeAPIBurst": 500,
        "nodeStatusUpdateFrequency": "5s",
        "nodeLeaseDurationSeconds": options.node_grace_seconds,
    }


def kubelet(directory: Path, kubeconfig: Path, node: str, address: str) -> list[object]:
    return [
        "kubelet", "--config", directory / "kubelet.yaml", "--kubeconfig", kubeconfig,
        "--root-dir", directory / "kubelet", "--hostname-override", node, "--node-ip", address,
    ]  # fmt: skip


def kwok(directory: Path, pod_cidr: str, options: Options) -> list[object]:
    first, second = pod_cidr.split(".")[:2]
    return [
        # A real kubelet of the cluster gives other addresses.
        "--cidr", f"{first}.{second}.128.1/17",
        "--kubeconfig", directory / "kwok.kubeconfig", "--config", directory / "kwok.yaml", "--manage-all-nodes=false",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        # kwok renews leases after a quarter of that.
        f"--node-lease-duration-seconds={options.node_grace_seconds}",
    ]  # fmt: skip
