"""Engines that an object starts from a text nobody here reads: named, so that silence is no praise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from chartgen.lint.manifest import Manifest, at

_SERVES_MODELS: Final = re.compile(r"llm_config|engine_kwargs|engine_args|vllm|ray\.serve\.llm", re.IGNORECASE)
"""Words of Ray Serve's configuration for language models (ray-project/ray doc/source/serve/llm)."""


def unread_engines(manifests: Iterable[Manifest]) -> Iterator[str]:
    """In words: the RayServices whose serveConfigV2 starts engines."""
    for manifest in manifests:
        config = at(manifest.value, ("spec", "serveConfigV2")) if manifest.kind == "RayService" else None
        if isinstance(config, str) and _SERVES_MODELS.search(config):
            what = "their models, contexts and parallel sizes were not judged"
            yield f"{manifest} starts engines by its serveConfigV2, which is not read: {what}"
