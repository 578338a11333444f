"""The handshake of two clusters by plain manifests: what a person would carry from one to the other."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from typing import Any

import yaml

from .. import objects
from ..cluster import pki
from ..cluster.cluster import Cluster
from ..wait import wait_for

SOON = 30.0


def decoded(secret: dict[str, Any], key: str) -> bytes:
    return base64.b64decode(secret.get("data", {}).get(key, ""))


class Handshake:
    """`consumer` authenticates at `provider`. Both run liqod; nothing else is made by anybody but here."""

    def __init__(self, consumer: Cluster, provider: Cluster, directory: Path):
        self.consumer, self.provider, self.directory = consumer, provider, directory
        self.home = f"liqo-tenant-{provider.name}"
        self.away = f"liqo-tenant-{consumer.name}"

    def open_namespaces(self) -> None:
        for cluster, name, peer in (
            (self.consumer, self.home, self.provider.name),
            (self.provider, self.away, self.consumer.name),
        ):
            cluster.namespace(name, {"liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": peer})

    def nonce(self) -> bytes:
        """Asks the provider for a nonce, and returns it."""
        labels = {"liqo.io/nonce": "true", "liqo.io/remote-cluster-id": self.consumer.name}
        metadata = {"name": "liqo-nonce", "labels": labels}
        self.provider.api.apply("secrets", self.away, {"kind": "Secret", "metadata": metadata})
        return self._wait_key(self.provider, self.away, "liqo-nonce", "nonce")

    def sign(self, nonce: bytes) -> bytes:
        """Has the consumer sign the nonce, and returns the signature."""
        labels = {"liqo.io/signed-nonce": "true", "liqo.io/remote-cluster-id": self.provider.name}
        metadata, data = {"name": "liqo-signed-nonce", "labels": labels}, {"nonce": pki.encoded(nonce)}
        self.consumer.api.apply("secrets", self.home, {"kind": "Secret", "metadata": metadata, "data": data})
        return self._wait_key(self.consumer, self.home, "liqo-signed-nonce", "signedNonce")

    def signing_request(self, subject: str) -> str:
        """A PKCS#10 request for `subject` (e.g. /O=liqo.io/CN=rome) by the consumer's key, made by openssl."""
        key = self.directory / "consumer.key"
        key.write_bytes(self._wait_key(self.consumer, "liqo", "authentication-keys", "privateKey"))
        bare = self.directory / "openssl.cnf"
        bare.write_text("[req]\ndistinguished_name = name\n[name]\n")
        done = subprocess.run(
            ["openssl", "req", "-new", "-key", key, "-config", bare, "-subj", subject],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def tenant(self, signature: bytes, request: str) -> dict[str, Any]:
        """The Tenant that the consumer hands to the provider."""
        public = self._wait_key(self.consumer, "liqo", "authentication-keys", "publicKey")
        return objects.tenant(
            self.consumer.name,
            objects.of_peer(self.consumer.name),
            publicKey=pki.encoded(public),
            csr=pki.encoded(request),
            signature=pki.encoded(signature),
        )

    def apply_tenant(self, tenant: dict[str, Any]) -> None:
        self.provider.api.apply("tenants", self.away, tenant)

    def live_tenant(self) -> dict[str, Any]:
        return self.provider.api.get("tenants", self.away, self.consumer.name)

    def wait_admitted(self) -> dict[str, Any]:
        """Waits until the provider has answered, and returns the Tenant's status."""

        def answered() -> dict[str, Any]:
            status = self.live_tenant().get("status", {})
            assert status.get("authParams"), f"status {status}"
            return status

        return wait_for(answered, SOON, f"{self.provider.name} to admit {self.consumer.name}", interval=0.1)

    def apply_identity(self, status: dict[str, Any]) -> None:
        """Hands the provider's answer to the consumer."""
        name = f"controlplane-{self.provider.name}"
        spec = {
            "clusterID": self.provider.name,
            "type": "ControlPlane",
            "authParams": status["authParams"],
            "namespace": status["tenantNamespace"],
        }
        metadata = {"name": name, "labels": {"liqo.io/remote-cluster-id": self.provider.name}}
        self.consumer.api.apply(
            "identities", self.home, {"kind": "Identity", "metadata": metadata, "spec": spec}
        )

    def kubeconfig(self) -> dict[str, Any]:
        """What the consumer's Secret says, once there is one."""
        text = self._wait_key(self.consumer, self.home, f"kubeconfig-controlplane-{self.provider.name}", "kubeconfig")
        return yaml.safe_load(text)

    def user(self) -> pki.Pair:
        """The certificate and key of that kubeconfig, as files."""
        return pki.write_pair(self.kubeconfig()["users"][0]["user"], self.directory / "user")

    def complete(self) -> dict[str, Any]:
        """The whole of it; returns the Tenant as it was applied."""
        self.open_namespaces()
        tenant = self.tenant(self.sign(self.nonce()), self.signing_request(f"/O=liqo.io/CN={self.consumer.name}"))
        self.apply_tenant(tenant)
        self.apply_identity(self.wait_admitted())
        self.kubeconfig()
        return tenant

    def undo(self) -> None:
        """Takes it apart again; the namespaces stay."""
        identity = f"controlplane-{self.provider.name}"
        self.consumer.api.delete("identities", self.home, identity)
        # The consumer uses its credentials as long as it has them, so their rights go last.
        for kind, name in (("renews", identity), ("secrets", f"kubeconfig-{identity}")):
            gone = lambda kind=kind, name=name: self.consumer.api.find(kind, self.home, name) is None  # noqa: E731
            wait_for(gone, SOON, f"{name} of {kind} to go")
        self.provider.api.delete("tenants", self.away, self.consumer.name)
        wait_for(
            lambda: self.provider.api.find("tenants", self.away, self.consumer.name) is None, SOON, "the Tenant to go"
        )
        self.provider.api.delete("secrets", self.away, "liqo-nonce")
        self.consumer.api.delete("secrets", self.home, "liqo-signed-nonce")

    def _wait_key(self, cluster: Cluster, namespace: str, name: str, key: str) -> bytes:
        def there() -> bytes:
            secret = cluster.api.find("secrets", namespace, name)
            assert secret, f"there is no Secret {namespace}/{name}"
            assert decoded(secret, key), f"the Secret {namespace}/{name} has no {key}"
            return decoded(secret, key)

        return wait_for(there, SOON, f"{cluster.name} to fill {name}", interval=0.1)
