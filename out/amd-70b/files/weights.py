"""Bring the weights onto the volume, or find them there, and check them. Runs before the engine."""

import hashlib
import os
import pathlib
import sys

from huggingface_hub import snapshot_download

folder = snapshot_download(
    os.environ["WEIGHTS"],
    revision=os.environ["REVISION"],
    allow_patterns=["*.safetensors", "*.json", "*.jinja", "*.model", "*.py", "*.tiktoken", "*.txt"],
    ignore_patterns=["original/*", "metal/*"],
)
wanted = os.environ.get("CHECKSUM", "").removeprefix("sha256:")
if wanted:
    index = pathlib.Path(folder, "model.safetensors.index.json")
    checked = index if index.exists() else pathlib.Path(folder, "model.safetensors")
    digest = hashlib.sha256()
    with checked.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != wanted:
        sys.exit(f"{checked} has SHA-256 {digest.hexdigest()}, but {wanted} was asked for")
print(f"weights are ready in {folder}")
