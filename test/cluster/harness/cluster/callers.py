"""An API server that shows admission webhooks a certificate, as Kubernetes' manual tells administrators to set it up.

The certificate is of an authority for this purpose alone: the cluster's own signs the certificates of its tenants, too.
"""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from ..wait import patient
from . import pki

if TYPE_CHECKING:
    from .cluster import Cluster

NAME = "api-server"
WEBHOOK_PORT = 9443


def directory_of(cluster: Path) -> Path:
    return cluster / "webhook-callers"


def authority_of(cluster: Path) -> pki.Authority:
    """The authority that was made when the cluster was."""
    return pki.Authority.existing(directory_of(cluster))


def write(cluster: Path, address: str) -> None:
    """Writes what `arguments` names; `address` is where the webhooks are asked."""
    directory = directory_of(cluster)
    pair = pki.Authority(directory, "webhook-callers").issue("api-server", NAME)
    user = {"name": f"{address}:{WEBHOOK_PORT}", "user": pki.certificate_user(pair)}
    users = {"apiVersion": "v1", "kind": "Config", "users": [user]}
    (directory / "kubeconfig").write_text(yaml.safe_dump(users))
    one = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "WebhookAdmissionConfiguration",
        "kubeConfigFile": str(directory / "kubeconfig"),
    }
    plugins = [{"name": f"{kind}AdmissionWebhook", "configuration": one} for kind in ("Validating", "Mutating")]
    configuration = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins}
    (directory / "admission.yaml").write_text(yaml.safe_dump(configuration))


def arguments(cluster: Path) -> list[object]:
    return [f"--admission-control-config-file={directory_of(cluster) / 'admission.yaml'}"]


def ask(cluster: Cluster, pair: pki.Pair | None = None, method: str = "POST") -> tuple[int, str]:
    """One review sent to the webhooks by somebody: the status, and how the connection was left ("close" if it is)."""
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    if pair:
        tls.load_cert_chain(pair.certificate, pair.key)
    raw = cluster.space.connect(cluster.address, WEBHOOK_PORT, patient(30))
    connection = http.client.HTTPConnection(cluster.address, WEBHOOK_PORT)
    connection.sock = tls.wrap_socket(raw)
    request = {"uid": "1", "operation": "CREATE", "namespace": "x", "name": "x", "object": {"spec": {}}}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    try:
        connection.request(method, "/validate/quotas", json.dumps(review) if method == "POST" else None)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("connection", "")
    finally:
        connection.close()
