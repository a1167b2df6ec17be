"""The command: reads sources.yaml, writes the schema folder, or compares it with what is committed."""

from __future__ import annotations

import argparse
import filecmp
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import yaml

from schemagen import builtin, crd, gotypes
from schemagen.constraints import Constraints
from schemagen.modules import Module, download

_HERE: Final = Path(__file__).resolve().parent
SCHEMAS: Final = _HERE.parent.parent / "src" / "chartgen" / "validate" / "schemas"
DIALECT: Final = "http://json-schema.org/draft-07/schema#"

Json = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: 0 when the folder is up to date or was written, 1 when `--check` found it stale."""
    parser = argparse.ArgumentParser(prog="scripts/schemas", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when the folder is not up to date"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "schemas"
        generate(made)
        if options.check:
            return _compare(made)
        shutil.rmtree(SCHEMAS, ignore_errors=True)
        shutil.copytree(made, SCHEMAS)
    size = sum(file.stat().st_size for file in SCHEMAS.rglob("*.json"))
    sys.stderr.write(f"{sum(1 for _ in SCHEMAS.rglob('*.json'))} files, {size} bytes in {SCHEMAS}\n")
    return 0


def generate(folder: Path) -> None:
    """Write every schema and index.json into `folder`."""
    sources = _data("sources.yaml")
    constraints = Constraints(_data("constraints.yaml"))
    index: Json = {"kubernetes": [], "custom": []}
    lives: dict[tuple[str, str], gotypes.Life] = {}
    for release in sources["kubernetes"]:
        kubernetes = download("k8s.io/kubernetes", release["kubernetes"])
        api = download("k8s.io/api", release["api"])
        index["kubernetes"].append(
            _kubernetes(folder, release["minor"], kubernetes, api, sources["kinds"], constraints)
        )
        lives |= {(life.api_version, life.kind): life for life in gotypes.lives(api.folder)}
    constraints.finish()
    for source in sources["custom"]:
        module = download(source["module"], source["version"])
        index["custom"] += _custom(folder, module, source["files"], source["kinds"])
    index["lives"] = [asdict(life) for _, life in sorted(lives.items())]
    _write(folder / "index.json", index, indent=1)


def _data(name: str) -> Any:
    return yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))


def _kubernetes(
    folder: Path, minor: str, module: Module, api: Module, wanted: Json, constraints: Constraints
) -> Json:
    schemas = builtin.read(module.folder / "api" / "openapi-spec" / "v3")
    roots = sorted(builtin.roots(schemas, wanted))
    definitions = builtin.closure(schemas, [name for *_, name in roots])
    builtin.close_words(definitions, gotypes.enums(api.folder))
    constraints.apply(definitions)
    place = folder / f"v{minor}.0"
    _write(place / "_definitions.json", {"$schema": DIALECT, "definitions": definitions})
    for group, version, kind, name in roots:
        reference = {"$ref": f"../_definitions.json#/definitions/{name}"}
        schema = {"$schema": DIALECT, "allOf": [reference, constraints.envelope(kind)]}
        _write(place / (group or version) / f"{kind.lower()}_{version}.json", schema)
    return {
        "minor": minor,
        "folder": place.name,
        "module": module.path,
        "version": module.version,
        "licence": module.licence,
        "words_from": f"{api.path}@{api.version}",
        "kinds": [[f"{group}/{version}" if group else version, kind] for group, version, kind, _ in roots],
    }


def _custom(folder: Path, module: Module, files: list[str], kinds: list[str]) -> list[Json]:
    entries = []
    for resource in crd.resources(module, files, kinds):
        path = Path("custom") / resource.group / f"{resource.kind.lower()}_{resource.version}.json"
        _write(folder / path, {"$schema": DIALECT, **resource.schema})
        entries.append({
            "api_version": f"{resource.group}/{resource.version}",
            "kind": resource.kind,
            "path": path.as_posix(),
            "module": module.path,
            "version": module.version,
            "licence": module.licence,
            "from": resource.file,
        })  # fmt: skip
    return entries


def _write(path: Path, content: Json, *, indent: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    separators = (",", ":") if indent is None else (",", ": ")
    path.write_text(json.dumps(content, indent=indent, separators=separators) + "\n", encoding="utf-8")


def _compare(made: Path) -> int:
    """Name every file that differs; 0 when none does."""
    names = {file.relative_to(root) for root in (made, SCHEMAS) for file in root.rglob("*.json")}
    stale = [
        name
        for name in sorted(names)
        if not (made / name).is_file()
        or not (SCHEMAS / name).is_file()
        or not filecmp.cmp(made / name, SCHEMAS / name, shallow=False)
    ]
    for name in stale:
        sys.stderr.write(f"not up to date: {SCHEMAS / name}\n")
    return 1 if stale else 0
