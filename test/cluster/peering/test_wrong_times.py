"""An expired certificate, or one that a wrong clock makes too new, gives one clear line, and the others go on."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from harness.cluster import pki
from harness.cluster.cluster import Cluster
from harness.cluster.node import is_ready
from harness.liqo.peering import Peering
from harness.wait import wait_for

HOUR, DAY = 3600, 24 * 3600


def valid_between(cluster: Cluster, directory: Path, user: str, group: str, begin: float, end: float) -> pki.Pair:
    """A certificate of the cluster's authority, from `begin` to `end` (seconds from now), for clients and servers."""

    def stamp(offset: float) -> str:
        return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + offset))

    directory.mkdir()
    (directory / "index.txt").touch()
    authority = cluster.authority.pair
    settings = f"""
[ca]
default_ca = here
[here]
database = {directory}/index.txt
new_certs_dir = {directory}
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = both
certificate = {authority.certificate}
private_key = {authority.key}
[any]
organizationName = optional
commonName = supplied
[both]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = clientAuth,serverAuth
subjectAltName = IP:{cluster.address}
[req]
distinguished_name = name
[name]
"""
    (directory / "openssl.cnf").write_text(settings)
    pair = pki.Pair(directory / "made.crt", directory / "made.key")
    request = directory / "made.csr"
    for command in (
        ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-subj", f"/O={group}/CN={user}", "-config", directory / "openssl.cnf", "-keyout", pair.key, "-out", request],
        ["ca", "-batch", "-notext", "-config", directory / "openssl.cnf", "-startdate", stamp(begin), "-enddate",
         stamp(end), "-in", request, "-out", pair.certificate],
    ):  # fmt: skip
        done = subprocess.run(["openssl", *map(str, command)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return pair


@contextmanager
def serving(cluster: Cluster, pair: pki.Pair) -> Iterator[int]:
    """A TLS server in the cluster's network that shows that certificate; its port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    server = cluster.space.listen(cluster.address)

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            try:
                with client, context.wrap_socket(client, server_side=True) as stream:
                    stream.recv(1)
            except OSError:
                pass

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


@contextmanager
def second_node(usual: Peering, name: str, kubeconfig: str) -> Iterator[Peering]:
    peering = Peering(usual.consumer, usual.provider, node=name)
    peering.write_secret(kubeconfig)
    peering.write_virtual_node()
    try:
        yield peering
    finally:
        peering.dissolve()
        wait_for(lambda: peering.consumer.api.find("virtualnodes", peering.home, name) is None, 60, "it to be gone")


@pytest.mark.parametrize(
    ("begin", "end", "words"),
    [(-2 * DAY, -DAY, "has expired at"), (HOUR, DAY, "is not valid before")],
    ids=["expired yesterday", "begins in an hour"],
)
def test_a_client_certificate_of_another_time_is_named(
    rome_to_milan: Peering, tmp_path: Path, begin: float, end: float, words: str
) -> None:
    milan = rome_to_milan.provider
    name = "client-" + ("old" if begin < 0 else "young")
    user = Peering(rome_to_milan.consumer, milan, node=name).user
    pair = valid_between(milan, tmp_path / "ca", user, rome_to_milan.consumer.name, begin, end)
    authority = milan.authority.pair.certificate
    kubeconfig = pki.kubeconfig(milan.server, authority, pki.certificate_user(pair), milan.name)
    with second_node(rome_to_milan, name, kubeconfig) as peering:
        wait_for(lambda: words in peering.told() and "certificate" in peering.told(), 60, "the VirtualNode to say why")
        assert not is_ready(peering.node_object())
        wait_for(rome_to_milan.node_ready, 60, "the other virtual node, which is not concerned, to be ready")
        peering.write_quota()
        peering.write_secret(peering.kubeconfig())
        peering.wait_ready(60)


@pytest.mark.parametrize(
    ("begin", "end", "words"),
    [(-2 * DAY, -DAY, "certificate has expired"), (HOUR, DAY, "certificate is not yet valid")],
    ids=["expired yesterday", "begins in an hour"],
)
def test_a_server_certificate_of_another_time_is_named(
    rome_to_milan: Peering, tmp_path: Path, begin: float, end: float, words: str
) -> None:
    milan = rome_to_milan.provider
    pair = valid_between(milan, tmp_path / "ca", "kube-apiserver", "milan", begin, end)
    with serving(milan, pair) as port:
        config = yaml.safe_load(rome_to_milan.kubeconfig())
        config["clusters"][0]["cluster"]["server"] = f"https://{milan.address}:{port}"
        name = "server-" + ("old" if begin < 0 else "young")
        with second_node(rome_to_milan, name, yaml.safe_dump(config)) as peering:
            wait_for(lambda: words in peering.told(), 60, "the VirtualNode to say why")
            assert not is_ready(peering.node_object())
            wait_for(rome_to_milan.node_ready, 60, "the other virtual node, which is not concerned, to be ready")
            peering.write_quota()
            peering.write_secret(peering.kubeconfig())
            peering.wait_ready(60)
