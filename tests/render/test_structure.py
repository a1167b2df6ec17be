"""Charts of one structure share their templates, and every value of every chart has its reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chartgen import api
from chartgen.chart.types import Chart
from chartgen.chart.values import join, leaves, plain
from chartgen.kernel.errors import Infeasible
from chartgen.kernel.yaml_source import read
from chartgen.render.environment import template_text

MODELS = ("meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-14B-Instruct", "openai/gpt-oss-20b")
CARDS = ("H100", "A100-80GB", "L40S", "H200")


def profile(folder: Path, **changes: object) -> Path:
    """A profile with changes laid over four lines."""
    keys = {"model": MODELS[0], "gpu": "H100", "context": "8k", "region": "lab"} | changes
    path = folder / "workload.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items()), encoding="utf-8")
    return path


def templates(files: dict[str, str]) -> dict[str, str]:
    """The files that Helm reads as templates."""
    return {name: text for name, text in files.items() if name.startswith("templates/")}


def rendered(path: Path) -> tuple[Chart, dict[str, str]]:
    """Chart and files of a profile."""
    chart, files = api.render(path)
    return chart, dict(files)


def test_two_plans_of_one_structure_have_the_same_templates(tmp_path: Path) -> None:
    """Another model, card and context change values and no template: a re-plan is reviewed in one file."""
    _, one = rendered(profile(tmp_path, model=MODELS[1]))
    _, other = rendered(profile(tmp_path, model=MODELS[2], gpu="H200", context="32k"))
    assert templates(one) == templates(other)
    assert one["values.yaml"] != other["values.yaml"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    model=st.sampled_from(MODELS),
    gpu=st.sampled_from(CARDS),
    context=st.sampled_from(("2k", "4k", "8k", "32k")),
    kind=st.sampled_from(("interactive", "batch")),
    rate=st.floats(0.1, 60).map(lambda rate: round(rate, 2)),
)
def test_every_chart_is_explained_and_consistent(
    tmp_path: Path, model: str, gpu: str, context: str, kind: str, rate: float
) -> None:
    """Every leaf has a reason, values.yaml says the values, GPUs equal ranks, and the pool holds what is promised."""
    path = profile(tmp_path, model=model, gpu=gpu, context=context, **{"class": kind})
    loaded = api.load_profile(path, [f"traffic.requests_per_second={rate}"])
    try:
        made = api.plan(loaded)
    except Infeasible:
        return
    chart = api.build(made)
    values = join(chart.components)
    assert all(decision.because.strip() for _, decision in leaves(values))
    files = dict(api.render(path, [f"traffic.requests_per_second={rate}"])[1])
    assert next(read(files["values.yaml"], "values.yaml")).value == plain(values)
    size = made.layout.tensor_parallel.value * made.layout.pipeline_parallel.value
    assert made.layout.gpus.value == size
    assert made.fit.verdict != "no"
    assert made.batching.in_flight.value <= made.batching.sequences.value


def test_a_number_never_reaches_jinja() -> None:
    """A shape with a number in it is refused: Jinja picks structure and shows no value."""
    with pytest.raises(TypeError, match="shape"):
        template_text("engine/service.yaml", {"replicas": 3})  # type: ignore[dict-item]
