"""A stand-in for the storage drivers of a cluster: gives each claim the volume it waits for."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from cluster.api import Api
from cluster.errors import ClusterError
from cluster.wire import Manifest

_SELECTED = "volume.kubernetes.io/selected-node"
_POLL_SECONDS = 0.2


class Provisioner:
    """Makes a volume for every pending claim whose class exists, in a thread, until it is closed."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="provisioner", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(_POLL_SECONDS):
            try:
                self.serve()
            except ClusterError:  # the API server is being stopped or started again
                continue
        self._api.disconnect()

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
