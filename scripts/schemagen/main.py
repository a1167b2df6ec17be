"""The command: reads what to make from the data files beside it, writes the schema folder or compares it."""

from __future__ import annotations

import argparse
import filecmp
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import yaml

from schemagen import builtin, crd, gotypes
from schemagen.constraints import Constraints
from schemagen.modules import download

_HERE: Final = Path(__file__).resolve().parent
SCHEMAS: Final = _HERE.parent.parent / "src" / "chartgen" / "validate" / "schemas"
DIALECT: Final = "http://json-schema.org/draft-07/schema#"

Json = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: 0 when the folder is up to date or was written, 1 when `--check` found it stale."""
    parser = argparse.ArgumentParser(prog="scripts/schemas", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the folder is stale")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "schemas"
        Generator(made).run()
        if options.check:
            return _compare(made)
        shutil.rmtree(SCHEMAS, ignore_errors=True)
        shutil.copytree(made, SCHEMAS)
    files = list(SCHEMAS.rglob("*.json"))
    size = sum(file.stat().st_size for file in files)
    sys.stderr.write(f"{len(files)} files, {size} bytes in {SCHEMAS}\n")
    return 0


class Generator:
    """Writes every schema and the index into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._constraints = Constraints(_data("constraints.yaml"))
        self._sources = _data("sources.yaml")
        self._definitions: dict[str, Json] = {}
        """Those of the newest minor, for what custom resources share with the built-in kinds."""

    def run(self) -> None:
        """Write it all."""
        kubernetes, lives = [], {}
        for release in self._sources["kubernetes"]:
            kubernetes.append(self._kubernetes(**release))
            api = download("k8s.io/api", release["api"])
            lives.update({(life.api_version, life.kind): life for life in gotypes.lives(api.folder)})
        self._constraints.finish()
        shared = builtin.reachable(self._definitions, [crd.OBJECT_META])
        self._write("custom/_definitions.json", {"$schema": DIALECT, "definitions": shared})
        index = {
            "kubernetes": kubernetes,
            "custom": [*self._from_modules(), *self._by_hand()],
            "lives": [asdict(life) for _, life in sorted(lives.items())],
        }
        self._write("index.json", index, indent=1)

    def _kubernetes(self, *, minor: str, kubernetes: str, api: str) -> Json:
        module, types = download("k8s.io/kubernetes", kubernetes), download("k8s.io/api", api)
        schemas = builtin.read(module.folder / "api" / "openapi-spec" / "v3")
        roots = sorted(builtin.roots(schemas, self._sources["kinds"]))
        definitions = builtin.closure(schemas, [name for *_, name in roots])
        builtin.close_words(definitions, gotypes.enums(types.folder, self._sources["closed"]))
        self._constraints.apply(definitions)
        self._definitions = definitions
        folder = f"v{minor}.0"
        self._write(f"{folder}/_definitions.json", {"$schema": DIALECT, "definitions": definitions})
        for group, version, kind, name in roots:
            reference = {"$ref": f"../_definitions.json#/definitions/{name}"}
            schema = {"$schema": DIALECT, "allOf": [reference, self._constraints.envelope(kind, minor)]}
            self._write(f"{folder}/{group or version}/{kind.lower()}_{version}.json", schema)
        return {
            "minor": minor,
            "folder": folder,
            "module": module.path,
            "version": module.version,
            "licence": module.licence,
            "words_from": f"{types.path} {types.version}",
            "kinds": [[f"{group}/{version}" if group else version, kind] for group, version, kind, _ in roots],
        }

    def _from_modules(self) -> Iterable[Json]:
        for source in self._sources["custom"]:
            module = download(source["module"], source["version"])
            for resource in crd.resources(module, source["files"], source["kinds"]):
                yield {
                    **self._custom(f"{resource.group}/{resource.version}", resource.kind, resource.schema),
                    "module": module.path,
                    "version": module.version,
                    "licence": module.licence,
                    "from": resource.file,
                    "rules": resource.rules,
                    "rules_checked": resource.rules_checked,
                }

    def _by_hand(self) -> Iterable[Json]:
        for resource in _data("handwritten.yaml")["resources"]:
            status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
            schema = {"type": "object", "properties": {"spec": resource["spec"], "status": status}}
            yield {
                **self._custom(resource["api_version"], resource["kind"], crd.root(schema)),
                "module": "written by hand",
                "version": "",
                "licence": resource["licence"],
                "from": resource["source"],
            }

    def _custom(self, api_version: str, kind: str, schema: Json) -> Json:
        group, _, version = api_version.partition("/")
        path = f"custom/{group}/{kind.lower()}_{version}.json"
        rules = [*schema.get("allOf", []), self._constraints.envelope(kind, None)]
        self._write(path, {"$schema": DIALECT, **schema, "allOf": rules})
        return {"api_version": api_version, "kind": kind, "path": path}

    def _write(self, path: str, content: Json, *, indent: int | None = None) -> None:
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        separators = (",", ":") if indent is None else (",", ": ")
        file.write_text(json.dumps(content, indent=indent, separators=separators) + "\n", encoding="utf-8")


def _data(name: str) -> Any:
    return yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))


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
