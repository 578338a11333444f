"""Liqo counts what random pods request as Kubernetes' own k8s.io/component-helpers/resource.PodRequests does."""

from __future__ import annotations

import json
import os
import re
import subprocess
from fractions import Fraction

from harness import settings

COUNT = 20_000
SEED = int(os.environ.get("LIQO_POD_REQUESTS_SEED", "20261121"))


SUFFIXES = {suffix: Fraction(1000) ** power for power, suffix in enumerate(["n", "u", "m", "", *"kMGTPE"], -3)}
SUFFIXES |= {f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGTPE", 1)}


def amount(quantity: str) -> Fraction:
    """The number that a quantity is, however it is written."""
    number, suffix = re.fullmatch(r"([\d.]+)(.*)", quantity).groups()
    if exponent := re.fullmatch(r"[eE](-?\d+)", suffix):
        return Fraction(number) * Fraction(10) ** int(exponent[1])
    return Fraction(number) * SUFFIXES[suffix]


ROUNDED = Fraction(1, 100)


def amounts(quantities: dict[str, str] | None) -> dict[str, Fraction]:
    return {name: amount(quantity) for name, quantity in (quantities or {}).items()}


def test_random_pods_reserve_what_PodRequests_says() -> None:
    print(f"seed {SEED}, {COUNT} pods")
    generator = settings.TREE / "build/release/test/pod_requests/random_pods"
    made = subprocess.run([generator, str(COUNT), str(SEED)], capture_output=True, text=True, check=True)
    print(made.stderr)
    shares = {name: float(share) for name, share in re.findall(r"^(\S+) +\d+ +([\d.]+)%$", made.stderr, re.MULTILINE)}
    assert len(shares) > 40
    assert not {name: share for name, share in shares.items() if share < 5}, "fields that are set in too few pods"

    theirs = subprocess.run(
        [settings.tool("kube/podrequests")], input=made.stdout, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    ours = made.stdout.splitlines()
    assert len(theirs) == len(ours) == COUNT
    for line, answer in zip(ours, theirs, strict=True):
        counted, answers = amounts(json.loads(line)["requests"]), json.loads(answer)
        until36, since37 = amounts(answers["until36"]), amounts(answers["since37"])
        told = f"they say {answer}, we count so: {line}"
        assert counted.keys() == until36.keys() == since37.keys(), told
        # 1.37 rounds amounts of a pod as a whole once more.
        for name, quantity in counted.items():
            most = max(until36[name], since37[name])
            assert quantity == most or since37[name] == most and most - ROUNDED <= quantity, told
