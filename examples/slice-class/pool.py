#!/usr/bin/env python3
"""Decides on the ResourceSlices of one class: each gets what it asks for, as long as all of them fit into a pool.

    pool.py --class pool --pool cpu=8,memory=16Gi,pods=100 [--server URL]

It asks the API server of the cluster that it runs in, as its ServiceAccount; --server names one that needs no
credentials, which is what `kubectl proxy` gives.

Nothing but Python's standard library is needed. `decide` has the rules: replace that for a class of your own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import signal
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

GROUP = "/apis/authentication.liqo.io/v1beta1"
SLICES = f"{GROUP}/resourceslices"
# What consumers have sent; slices with which this cluster asks others do not have it.
REPLICAS = "liqo.io/replicated=true"
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
GRANTED = "FromPool"
# Reasons that Liqo gives itself when a tenant is cordoned or drained: it takes them back, not we.
OF_LIQO = ("TenantCordoned", "TenantDrained")
# Consumers write them.
LONGEST_QUANTITY = 40
LONGEST_PAUSE = 30.0

Object = dict[str, Any]
Amounts = dict[str, Fraction]

# -- amounts ------------------------------------------------------------------------------------------------------

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?")
_BINARY = {f"{unit}i": Fraction(1024) ** power for power, unit in enumerate("KMGTPE", 1)}
_DECIMAL = {unit: Fraction(1000) ** (power - 3 + (power > 2)) for power, unit in enumerate("numkMGTPE")}


def amount(text: object) -> Fraction:
    """A quantity as Kubernetes writes it: 500m, 2, 16Gi, 1e3 (ValueError if it is none)."""
    found = _QUANTITY.fullmatch(str(text)[:LONGEST_QUANTITY])
    if not found or len(str(text)) > LONGEST_QUANTITY:
        raise ValueError(f"'{str(text)[:LONGEST_QUANTITY]}' is no amount of a resource")
    number, binary, decimal, exponent = found.groups()
    factor = _BINARY[binary] if binary else _DECIMAL[decimal] if decimal else Fraction(10) ** int(exponent or 0)
    return Fraction(number) * factor


def amounts(resources: Object | None) -> Amounts:
    return {name: amount(text) for name, text in (resources or {}).items()}


def written(value: Fraction) -> str:
    """An amount for people."""
    for unit in ("Ti", "Gi", "Mi"):
        if value and value % _BINARY[unit] == 0:
            return f"{value / _BINARY[unit]}{unit}"
    return str(value) if value.denominator == 1 else f"{int(value * 1000)}m"


# -- the rules ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What is said to one slice."""

    accepted: bool
    reason: str
    message: str
    # What it gets; nothing: what it has.
    resources: Object | None = None


def condition(slice_: Object) -> Object:
    """What has been said to the slice about its resources; empty before that."""
    conditions: list[Object] = slice_.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "Resources"), {})


def decide(slice_: Object, others: Iterable[Object], pool: Amounts) -> Answer:
    """What this slice gets, given what the others have: a pure function. Another class has another one."""
    try:
        wanted = amounts(slice_.get("spec", {}).get("resources"))
    except ValueError as error:
        return Answer(False, "InvalidRequest", f"spec.resources: {error}")
    if unknown := sorted(set(wanted) - set(pool)):
        return Answer(False, "NotInPool", f"the pool has no {', '.join(unknown)}: leave that out")
    if missing := sorted(set(pool) - set(wanted)):
        return Answer(False, "InvalidRequest", f"say how much {', '.join(missing)} is wanted")
    if condition(slice_).get("reason") == GRANTED and amounts(slice_["status"].get("resources")) == wanted:
        # It has that, also if the pool has become smaller.
        return Answer(True, GRANTED, "it fits into the pool", slice_["status"]["resources"])
    left = dict(pool)
    for other in others:
        for name, value in amounts(other.get("status", {}).get("resources")).items():
            left[name] = left.get(name, Fraction(0)) - value
    for name, value in wanted.items():
        if value < 0:
            return Answer(False, "InvalidRequest", f"{name} is less than nothing")
        if value > left[name]:
            free = written(max(left[name], Fraction(0)))
            return Answer(False, "PoolExhausted", f"{written(value)} of {name} is more than the {free} that is left")
    return Answer(True, GRANTED, "it fits into the pool", slice_["spec"]["resources"])


def status_patch(slice_: Object, answer: Answer, now: str) -> Object | None:
    """The change of the slice's status that says so; nothing if it does already."""
    status = slice_.get("status", {})
    said = condition(slice_)
    if said.get("reason") in OF_LIQO:
        return None
    wanted = {
        "type": "Resources",
        "status": "Accepted" if answer.accepted else "Denied",
        "reason": answer.reason,
        "message": answer.message,
    }
    # What was granted stays as it is if a change of it is denied: Liqo goes on with that.
    granted = status.get("resources") if answer.resources is None else answer.resources
    if granted == status.get("resources") and all(said.get(key) == value for key, value in wanted.items()):
        return None
    wanted["lastTransitionTime"] = said["lastTransitionTime"] if said.get("status") == wanted["status"] else now
    rest = [one for one in status.get("conditions", []) if one["type"] != "Resources"]
    patch: Object = {"conditions": [*rest, wanted]}
    if answer.resources is not None:
        # In a merge patch, null takes a key away.
        gone: Object = dict.fromkeys(set(status.get("resources", {})) - set(answer.resources))
        patch["resources"] = gone | answer.resources
    # Refused if somebody has changed the slice meanwhile; it is decided again then.
    return {"metadata": {"resourceVersion": slice_["metadata"]["resourceVersion"]}, "status": patch}


# -- the API server -----------------------------------------------------------------------------------------------


class Server:
    """The API server, over which everything is asked."""

    def __init__(self, url: str | None):
        self._url, self._in_cluster = url or "", url is None
        self._tls: ssl.SSLContext | None = None
        if self._in_cluster:
            host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
            self._url = f"https://{f'[{host}]' if ':' in host else host}:{port}"
            self._tls = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))

    def open(self, path: str, patch: Object | None = None, timeout: float = 30) -> http.client.HTTPResponse:
        request = urllib.request.Request(self._url + path, method="PATCH" if patch else "GET")
        if patch:
            request.data = json.dumps(patch).encode()
            request.add_header("Content-Type", "application/merge-patch+json")
        if self._in_cluster:
            # Read each time: it is replaced every hour.
            request.add_header("Authorization", f"Bearer {(ACCOUNT / 'token').read_text()}")
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=timeout, context=self._tls)
        return response

    def watch(self, version: str) -> Iterator[Object]:
        """What changes after that version, until the API server ends the watch."""
        query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion={version}"
        with self.open(f"{SLICES}?labelSelector={REPLICAS}&{query}", timeout=330) as response:
            for line in response:
                yield json.loads(line)


# -- the loop -----------------------------------------------------------------------------------------------------


class Controller:
    """Keeps what it sees of the slices, and answers those of its class."""

    def __init__(self, server: Server, slice_class: str, pool: Amounts):
        self._server, self._class, self._pool = server, slice_class, pool
        self._slices: dict[str, Object] = {}

    def run_once(self) -> None:
        """Lists everything, and follows it until the watch ends or breaks."""
        with self._server.open(f"{SLICES}?labelSelector={REPLICAS}") as response:
            listed = json.load(response)
        self._slices = {one["metadata"]["uid"]: one for one in listed["items"]}
        self._answer_all()
        version = listed["metadata"]["resourceVersion"]
        for event in self._server.watch(version):
            seen = event["object"]
            if event["type"] == "ERROR":
                say(f"the watch ended: {seen.get('message', seen)}")
                return
            if event["type"] == "BOOKMARK":
                continue
            if event["type"] == "DELETED":
                self._slices.pop(seen["metadata"]["uid"], None)
            elif version_of(seen) >= version_of(self._slices.get(seen["metadata"]["uid"])):
                # What an answer of ours has brought already is newer.
                self._slices[seen["metadata"]["uid"]] = seen
            self._answer_all()

    def _answer_all(self) -> None:
        """All of them each time: what one gives back another may get. Who asked first is first."""
        ours = [uid for uid, one in self._slices.items() if one.get("spec", {}).get("class") == self._class]
        for uid in sorted(ours, key=lambda uid: (self._slices[uid]["metadata"]["creationTimestamp"], uid)):
            one = self._slices[uid]
            # What is being deleted keeps its share until it is gone.
            if "deletionTimestamp" in one["metadata"]:
                continue
            answer = decide(one, [self._slices[other] for other in ours if other != uid], self._pool)
            patch = status_patch(one, answer, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
            if patch:
                self._write(one, answer, patch)

    def _write(self, slice_: Object, answer: Answer, patch: Object) -> None:
        meta = slice_["metadata"]
        where, said = f"{meta['namespace']}/{meta['name']}", "accepted" if answer.accepted else "denied"
        path = f"{GROUP}/namespaces/{meta['namespace']}/resourceslices/{meta['name']}/status"
        try:
            with self._server.open(path, patch) as response:
                self._slices[meta["uid"]] = json.load(response)
            say(f"{where}: {said}: {answer.message}")
        except urllib.error.HTTPError as error:
            # Changed or gone meanwhile: the watch brings what it is now. Whatever it is, the others get their answers.
            if error.code not in (404, 409):
                say(f"{where}: cannot be answered: {error}")


def version_of(one: Object | None) -> int:
    return int(one["metadata"]["resourceVersion"]) if one else 0


def say(text: str) -> None:
    print(text, flush=True)


def read_pool(text: str) -> Amounts:
    """cpu=8,memory=16Gi"""
    pairs = [part.partition("=") for part in text.split(",")]
    return {name.strip(): amount(value.strip()) for name, _, value in pairs}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--class", dest="slice_class", default="pool")
    parser.add_argument("--pool", required=True)
    parser.add_argument("--server")
    flags = parser.parse_args()
    try:
        pool = read_pool(flags.pool)
    except ValueError as error:
        parser.error(f"--pool: {error}")
    if flags.server is None and "KUBERNETES_SERVICE_HOST" not in os.environ:
        parser.error("this is no pod of a cluster: give --server")
    # As process 1 of a container it would not be ended otherwise.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    controller = Controller(Server(flags.server), flags.slice_class, pool)
    pause = 1.0
    while True:
        began = time.monotonic()
        try:
            controller.run_once()
        except (OSError, http.client.HTTPException, ValueError) as error:
            say(f"the API server: {error}")
        # A second after a watch that has lasted; less and less often while nothing answers.
        pause = 1.0 if time.monotonic() - began > LONGEST_PAUSE else min(2 * pause, LONGEST_PAUSE)
        time.sleep(pause)


if __name__ == "__main__":
    sys.exit(main())
