"""A stand-in for the storage drivers of a cluster: gives each claim the volume it waits for."""

from __future__ import annotations

from cluster.api import Api
from cluster.background import Background
from cluster.wire import Manifest

_SELECTED = "volume.kubernetes.io/selected-node"


class Provisioner(Background):
    """Makes a volume for every pending claim whose class exists."""

    def __init__(self, api: Api) -> None:
        super().__init__(api, "provisioner")

    def serve(self) -> None:
        """Serve every claim that waits now."""
        classes = {item["metadata"]["name"]: item for item in self._api.list("storage.k8s.io/v1", "StorageClass")}
        for claim in self._api.list("v1", "PersistentVolumeClaim"):
            waiting = claim.get("status", {}).get("phase") == "Pending"
            storage = classes.get(claim["spec"].get("storageClassName", ""))
            if waiting and storage and _may_start(claim, storage):
                self._api.create(_volume(claim))


def _may_start(claim: Manifest, storage: Manifest) -> bool:
    chosen = claim["metadata"].get("annotations", {}).get(_SELECTED)
    return storage["volumeBindingMode"] == "Immediate" or bool(chosen)


def _volume(claim: Manifest) -> Manifest:
    data = claim["metadata"]
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": data["name"],
        "namespace": data["namespace"],
        "uid": data["uid"],
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pvc-{data['uid']}"},
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
            "claimRef": reference,
            "storageClassName": claim["spec"]["storageClassName"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": f"/nowhere/{data['uid']}"},
        },
    }
