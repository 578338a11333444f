"""An API server that shows admission webhooks a certificate, as Kubernetes' manual tells administrators to set it up.

The certificate is of an authority for this purpose alone: the cluster's own signs the certificates of its tenants, too.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from . import pki

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
