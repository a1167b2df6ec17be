"""A chart as files in memory: relative path to text. Nothing here touches the disk."""

from __future__ import annotations

from typing import Any, Final

from chartgen import __version__
from chartgen.chart.types import Chart
from chartgen.chart.values import join
from chartgen.render.environment import template_text
from chartgen.render.nodes import FOLDER as NODES
from chartgen.render.readme import readme
from chartgen.render.schema import values_schema
from chartgen.render.yaml_text import commented, document

CHART_VERSION: Final = "0.1.0"
"""Version of a chart as rendered; a pipeline that publishes charts sets its own with `helm package --version`."""

_HEADER: Final = (
    "# The reason stands above each value. Change the profile and render again, or override with -f and --set.\n"
)
_FRAME: Final = "common"


def chart_files(chart: Chart) -> dict[str, str]:
    """Every file of the chart."""
    values = join(chart.components)
    files = {
        "Chart.yaml": document(_about(chart)),
        "values.yaml": _HEADER + commented(values),
        "values.schema.json": values_schema(chart),
        "README.md": readme(chart, values),
        ".helmignore": f".*\n*.tgz\n{NODES}/\n",
    }
    return files | _templates(chart)


def _templates(chart: Chart) -> dict[str, str]:
    shape = _shape(chart)
    files = {}
    for component in chart.components:
        for name in component.templates:
            inner = name if component.name == _FRAME else f"{component.name}/{name}"
            files[f"templates/{inner}"] = template_text(f"{component.name}/{name}", shape)
        for name in component.files:
            files[f"files/{name}"] = template_text(f"{component.name}/{name}", shape)
    return files


def _shape(chart: Chart) -> dict[str, bool | str]:
    shape: dict[str, bool | str] = {}
    for component in chart.components:
        shape |= component.shape
    return shape


def _about(chart: Chart) -> dict[str, Any]:
    return {
        "apiVersion": "v2",
        "name": chart.name,
        "description": chart.description,
        "type": "application",
        "version": CHART_VERSION,
        "appVersion": chart.app_version,
        "kubeVersion": f">={chart.oldest_kubernetes}.0-0",
        "keywords": ["vllm", "llm", "inference"],
        "annotations": {"generated-by": f"chartgen {__version__}"},
    }
