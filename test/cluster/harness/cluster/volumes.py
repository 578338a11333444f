"""A provisioner of real volumes: directories of the node, by a class of each binding mode."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from .api import Refused
from .cluster import Cluster

PROVISIONER = "liqo-test/directories"
# Two classes: claims of the first are bound at once, those of the second when a pod uses them.
AT_ONCE, WITH_POD = "at-once", "with-pod"
_MODES = {AT_ONCE: "Immediate", WITH_POD: "WaitForFirstConsumer"}
_ASKED = "volume.kubernetes.io/storage-provisioner"


class Directories:
    """Makes volumes for claims of both classes, lets them grow, and deletes them, until it is stopped.

    A volume of class `at-once` is of whole GiB, two at least, as those of clouds have a least size.
    """

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self._ended = threading.Event()
        for name, mode in _MODES.items():
            body = {"metadata": {"name": name}, "provisioner": PROVISIONER, "volumeBindingMode": mode}
            cluster.api.apply("storageclasses", None, {"kind": "StorageClass", **body, "allowVolumeExpansion": True})
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        for name in _MODES:
            self.cluster.api.delete("storageclasses", None, name)

    def _run(self) -> None:
        while not self._ended.wait(0.3):
            try:
                self._once()
            except (Refused, OSError):
                pass  # somebody else was faster, or the API server is away: the next look shows

    def _once(self) -> None:
        claims = self.cluster.api.list("persistentvolumeclaims")
        for claim in claims:
            if claim["spec"].get("storageClassName") in _MODES:
                self._serve(claim)
        for volume in self.cluster.api.list("persistentvolumes"):
            ours = volume["metadata"].get("annotations", {}).get("pv.kubernetes.io/provisioned-by") == PROVISIONER
            if ours and volume["status"].get("phase") == "Released":
                self.cluster.api.delete("persistentvolumes", None, volume["metadata"]["name"])

    def _serve(self, claim: dict[str, Any]) -> None:
        metadata, spec, api = claim["metadata"], claim["spec"], self.cluster.api
        size = _size(spec)
        if claim["status"]["phase"] == "Bound":
            if claim["status"]["capacity"]["storage"] != size and _grows(claim["status"]["capacity"]["storage"], size):
                capacity = {"capacity": {"storage": size}}
                api.patch("persistentvolumes", None, spec["volumeName"], {"spec": capacity})
                place = (metadata["namespace"], metadata["name"])
                api.patch("persistentvolumeclaims", *place, {"status": capacity}, "status")
            return
        if metadata.get("annotations", {}).get(_ASKED) != PROVISIONER:
            return
        name = f"pvc-{metadata['uid']}"
        if api.find("persistentvolumes", None, name):
            return
        directory = Path(self.cluster.directory) / "volumes" / name
        claimed = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}
        claimed |= {key: metadata[key] for key in ("namespace", "name", "uid")}
        body = {
            "kind": "PersistentVolume",
            "metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER}},
            "spec": {
                "storageClassName": spec["storageClassName"],
                "accessModes": spec["accessModes"],
                "capacity": {"storage": size},
                "persistentVolumeReclaimPolicy": "Delete",
                "claimRef": claimed,
                "hostPath": {"path": str(directory), "type": "DirectoryOrCreate"},
            },
        }
        api.create("persistentvolumes", None, body)


def _size(spec: dict[str, Any]) -> str:
    asked = spec["resources"]["requests"]["storage"]
    return "2Gi" if spec["storageClassName"] == AT_ONCE and asked == "1Gi" else asked


def _grows(now: str, wanted: str) -> bool:
    return int(wanted.removesuffix("Gi")) > int(now.removesuffix("Gi"))
