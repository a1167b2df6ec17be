"""The node side beside a chart, in a folder that Helm does not read: objects, commands, and how to use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from chartgen.kernel.decision import Decision
from chartgen.plan.types import Plan
from chartgen.render.readme import escaped
from chartgen.render.yaml_text import comment, document

FOLDER: Final = "nodes"
"""Where it stands in the chart's folder; .helmignore names it."""
EKSCTL: Final = "eksctl.io/"
"""The group of eksctl's own files, which no API server knows."""


def node_files(made: Plan) -> dict[str, str]:
    """Every file of the folder, by its path in the chart's folder."""
    objects = {f"{str(one.value['kind']).lower()}.yaml": one for one in made.node_side.objects}
    files = {f"{FOLDER}/{name}": _text(one) for name, one in objects.items()}
    return files | {f"{FOLDER}/README.md": "\n".join(_readme(made, objects)) + "\n"}


def _text(made: Decision[Any]) -> str:
    return "\n".join(comment(made, 0)) + "\n" + document(made.value)


def _readme(made: Plan, objects: Mapping[str, Decision[Any]]) -> Iterator[str]:
    name, side = made.resolved.loaded.name, made.node_side
    yield f"# Nodes for {name}"
    yield ""
    yield f"What the platform team has to have on {escaped(made.resolved.cloud.value.name)} for the chart to schedule."
    yield "Neither Helm nor the chart reads this folder. Words in capitals are for you to fill in."
    if objects:
        yield ""
        yield "| file | why |"
        yield "|---|---|"
        for file, one in objects.items():
            yield f"| `{file}` | {escaped(one.because)} |"
    commands = [*(_apply(file, str(one.value["apiVersion"])) for file, one in objects.items()), *side.commands]
    if commands:
        yield ""
        yield "```sh"
        yield from commands
        yield "```"
    if side.notes:
        yield ""
        yield from (f"- {escaped(note)}" for note in side.notes)


def _apply(file: str, version: str) -> str:
    if version.startswith(EKSCTL):
        return f"eksctl create nodegroup --config-file {file}"
    return f"kubectl apply -f {file}"
