"""A certificate authority per cluster, and kubeconfig files for the users that it names."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def _openssl(*arguments: object) -> None:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"openssl {arguments[0]} failed: {done.stderr}"


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key, as files."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority that lives in `directory`."""

    def __init__(self, directory: Path, name: str):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.pair = Pair(directory / "ca.crt", directory / "ca.key")
        _openssl(
            "req",
            "-x509",
            *_NEW_KEY,
            "-days",
            3650,
            "-subj",
            f"/CN={name}-ca",
            "-keyout",
            self.pair.key,
            "-out",
            self.pair.certificate,
        )

    @classmethod
    def existing(cls, directory: Path) -> Authority:
        """The one that was made in `directory` before."""
        found = cls.__new__(cls)
        found.directory, found.pair = directory, Pair(directory / "ca.crt", directory / "ca.key")
        return found

    def issue(
        self, file: str, user: str, groups: Sequence[str] = (), names: Sequence[str] = (), *, days: int = 3650
    ) -> Pair:
        """Issues a certificate for `user` in `groups`; `names` are subject alternative names such as `IP:10.0.0.1`."""
        pair = Pair(self.directory / f"{file}.crt", self.directory / f"{file}.key")
        subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
        extensions = [
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-addext",
            "extendedKeyUsage=clientAuth,serverAuth",
        ]
        if names:
            extensions += ["-addext", "subjectAltName=" + ",".join(names)]
        authority = ["-CA", self.pair.certificate, "-CAkey", self.pair.key]
        # A colon is nothing special to -subj, and a slash is in no name of ours: nothing needs escaping.
        _openssl(
            "req",
            "-x509",
            *_NEW_KEY,
            *authority,
            "-days",
            days,
            "-subj",
            subject,
            *extensions,
            "-keyout",
            pair.key,
            "-out",
            pair.certificate,
        )
        return pair

    def issue_between(self, file: str, name: str, begin: datetime, end: datetime) -> Pair:
        """A serving certificate for a name such as `IP:10.0.0.1`, with a time that may have begun long ago."""
        pair = Pair(self.directory / f"{file}.crt", self.directory / f"{file}.key")
        request, settings, index = (self.directory / f"{file}.{kind}" for kind in ("csr", "cnf", "index"))
        index.write_text("")
        settings.write_text(
            f"[all]\ndatabase = {index}\nnew_certs_dir = {self.directory}\nrand_serial = yes\npolicy = names\n"
            f"[names]\ncommonName = supplied\n[for]\nsubjectAltName = {name}\n"
        )
        _openssl("req", "-new", *_NEW_KEY, "-subj", f"/CN={file}", "-keyout", pair.key, "-out", request)
        _openssl(
            "ca", "-batch", "-notext", "-config", settings, "-name", "all", "-md", "sha256", "-extensions", "for",
            "-cert", self.pair.certificate, "-keyfile", self.pair.key, "-in", request, "-out", pair.certificate,
            "-startdate", f"{begin:%Y%m%d%H%M%S}Z", "-enddate", f"{end:%Y%m%d%H%M%S}Z",
        )  # fmt: skip
        return pair


def token_keys(directory: Path) -> Pair:
    """The key pair that signs service-account tokens (as `certificate`: the public key)."""
    pair = Pair(directory / "sa.pub", directory / "sa.key")
    _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", pair.key)
    _openssl("pkey", "-in", pair.key, "-pubout", "-out", pair.certificate)
    return pair


def encoded(data: bytes | str) -> str:
    """Base64, as the fields of kubeconfigs and Secrets have it."""
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def kubeconfig(server: str, authority: Path, user: dict, name: str = "cluster") -> str:
    """A kubeconfig with everything inline. `user` is the user entry: a token, or what `certificate_user` returns."""
    cluster = {"server": server, "certificate-authority-data": encoded(authority.read_bytes())}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
    )


def certificate_user(pair: Pair) -> dict:
    """The user entry of a kubeconfig for a client certificate."""
    certificate, key = pair.certificate.read_bytes(), pair.key.read_bytes()
    return {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}


def write_pair(user: dict, files: Path) -> Pair:
    """Writes the certificate and the key of a kubeconfig's user entry beside `files`, as .crt and .key."""
    pair = Pair(files.with_suffix(".crt"), files.with_suffix(".key"))
    pair.certificate.write_bytes(base64.b64decode(user["client-certificate-data"]))
    pair.key.write_bytes(base64.b64decode(user["client-key-data"]))
    return pair
