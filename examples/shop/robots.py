"""Programs that talk to an API server as the pods that they run in: `robots.py clerk` to that of home, from wherever
it runs, and `robots.py courier`, an operator, to that of its own cluster.

The standard library is enough: a token, a certificate and an address are what a pod has for that.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SERVER = f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"


def call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """One request; its answer, or urllib's error."""
    # The token is renewed in its file.
    headers = {"Authorization": f"Bearer {(ACCOUNT / 'token').read_text()}"}
    if body is not None:
        headers["Content-Type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVER + path, data, headers, method=method)
    trust = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    with urllib.request.urlopen(request, timeout=20, context=trust) as answer:
        return json.load(answer)


def clerk() -> None:
    """Counts the Jobs that are done, and writes the sum into a ConfigMap."""
    # The file beside the token names the twin namespace.
    namespace = os.environ["NAMESPACE"]
    jobs = call("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs?labelSelector=app%3Dparcels")["items"]
    done = sum(job.get("status", {}).get("succeeded", 0) for job in jobs)
    body = {"metadata": {"name": "result"}, "data": {"done": str(done), "counted-by": os.environ["NODE"]}}
    call("POST", f"/api/v1/namespaces/{namespace}/configmaps", body)


def deliver(delivery: dict[str, Any]) -> None:
    meta, seen = delivery["metadata"], delivery["metadata"]["generation"]
    if delivery.get("status", {}).get("observedGeneration") == seen:
        return
    arrived = {
        "type": "Delivered",
        "status": "True",
        "reason": "RangTheBell",
        "message": f"{delivery['spec']['parcels']} parcels were brought to {delivery['spec']['street']}",
        "observedGeneration": seen,
        "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    where = f"/apis/shop.example/v1/namespaces/{meta['namespace']}/deliveries/{meta['name']}/status"
    call("PATCH", where, {"status": {"observedGeneration": seen, "conditions": [arrived]}})


def courier() -> None:
    """Delivers whatever is to be delivered in any namespace of its cluster."""
    while True:
        try:
            for delivery in call("GET", "/apis/shop.example/v1/deliveries")["items"]:
                deliver(delivery)
        except urllib.error.URLError as error:
            print(f"once more in a second: {error}", flush=True)
        time.sleep(1)


if __name__ == "__main__":
    {"clerk": clerk, "courier": courier}[sys.argv[1]]()
