"""What a test cluster has done for it again and again, in a thread, while a context lasts."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Final, Self

from cluster.api import Api
from cluster.errors import ClusterError

_POLL_SECONDS: Final = 0.2


class Background(ABC):
    """Serves a control plane until it is closed."""

    def __init__(self, api: Api, name: str) -> None:
        self._api = api
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def serve(self) -> None:
        """Do what there is to do now."""

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
