"""`chartgen fit`: text, data, many rows at once, and errors with their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chartgen.cli.main import main

FIGURES = ("weights_gib", "kv_cache_gib", "activation_gib", "non_torch_gib", "cuda_graph_gib")


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(main, ["fit", *words], input=given)


def data(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--format", "json").stdout)
    return found


def test_a_model_and_a_card_are_enough() -> None:
    """Without a profile: the layout is chosen, and a bar shows each GPU."""
    result = run("meta-llama/Llama-3.1-8B-Instruct", "--gpu", "H100", "--context", "32k", "--engine", "0.33.0")
    assert result.exit_code == 0
    assert "on 1 x NVIDIA H100 SXM 80 GB, vLLM 0.33.0: fits" in result.stdout
    assert "GPU 0" in result.stdout
    assert "[WWWW" in result.stdout


def test_data_has_every_figure_with_its_margin() -> None:
    """Figures are given in GiB as low, best and high, with the layout, the verdict and what it stands on."""
    found = data("Llama-3.3-70B-Instruct", "--gpu", "H100", "--engine", "0.33.0", "--max-model-len", "32768")
    for name in FIGURES:
        assert found[name]["low"] <= found[name]["best"] <= found[name]["high"]
    assert (found["tensor_parallel_size"], found["pipeline_parallel_size"], found["gpus"]) == (4, 1, 4)
    assert found["verdict"] == "yes"
    assert found["stands_on"] in {"measured", "formula", "assumed"}
    assert found["kv_cache_tokens"] > 400_000
    assert found["because"]


def test_the_log_of_a_known_start_is_met() -> None:
    """Llama 3.1 8B on one H100 under 0.19.0 has 58.11 GiB, 476 016 tokens and 58.11 requests of 8k."""
    found = data(
        "meta-llama/Llama-3.1-8B-Instruct",
        *("--gpu", "H100", "--engine", "0.19.0", "--tensor-parallel-size", "1"),
        *("--max-model-len", "8192", "--gpu-memory-utilization", "0.95"),
    )
    assert found["kv_cache_gib"]["best"] == pytest.approx(58.11, abs=0.1)
    assert found["kv_cache_tokens"] == pytest.approx(476016, rel=0.002)
    assert found["max_concurrency"] == pytest.approx(58.11, rel=0.002)


def test_what_does_not_fit_exits_with_three_and_offers_levers() -> None:
    """A model that does not fit exits with 3 and names what would help, the cheapest first."""
    result = run("Llama-3.3-70B-Instruct", "--gpu", "L4", "--tensor-parallel-size", "4", "--max-model-len", "8k")
    assert result.exit_code == 3
    assert "does not fit" in result.stdout
    assert "would fit: --quantization fp8" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Llama-3.1-8B", "--gpu", "H1000"], "--gpu: found 'H1000', expected a card of the catalog"),
        (["Llama-3.1-9B", "--gpu", "H100"], "--model: found 'Llama-3.1-9B', expected a model of the catalog"),
        (["Llama-3.1-8B", "--gpu", "H100", "--engine", "new"], "--engine: found 'new'"),
        (["Llama-3.1-8B", "--gpu", "H100", "--quantization", "fp9"], "did you mean fp8?"),
        (["Llama-3.1-8B", "--gpu", "T4", "--quantization", "fp8"], "FP8 weights and activations"),
        (["Llama-3.1-8B", "--gpu", "H100", "--kv-cache-dtype", "fp7"], "--kv-cache-dtype: found 'fp7'"),
        (["Llama-3.1-8B", "--gpu", "H100", "--max-model-len", "much"], '--max-model-len: found "much"'),
        (
            ["Llama-3.1-8B", "--gpu", "H100", "--tensor-parallel-size", "3"],
            "--tensor-parallel-size: found 3: 32 attention heads do not divide by 3, expected one of 1, 2, 4, 8",
        ),
        (["Llama-3.1-8B", "--gpu", "L4", "--mig", "1g.5gb"], "--mig: found '1g.5gb'"),
        (["--gpu", "H100"], "--model: found nothing"),
    ],
)
def test_bad_input_is_named_with_what_would_do(words: list[str], message: str) -> None:
    """A wrong name or value exits with 2, names the option, what was found and what would do."""
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_all_problems_are_told_at_once() -> None:
    """An unknown card and an unknown release are told in one go."""
    result = run("Llama-3.1-8B", "--gpu", "H1000", "--engine", "new")
    assert result.stderr.count("command line: --") == 2


def test_a_development_build_stands_for_its_release() -> None:
    """A build on the way to 0.14.0 is taken for it, and a vendor's build for its base; both say so."""
    for build, at in (("0.14.0rc1.dev2+g7d9f", "0.14.0"), ("0.18.0+rhaiv.7", "0.18.0")):
        found = data("Llama-3.1-8B", "--gpu", "H100", "--engine", build, "--max-model-len", "8k")
        assert found["engine"] == at
        assert f"{build} stands for release {at}" in found["notes"]


def test_a_slice_is_known_by_its_label() -> None:
    """A node label of a MIG slice names card and profile."""
    found = data("Qwen/Qwen3-4B", "--gpu", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "--max-model-len", "4k")
    assert found["mig"] == "1g.10gb"
    assert found["gpus"] == 1


def test_rows_are_answered_in_order_whatever_befalls_one(tmp_path: Path) -> None:
    """Each line in gives one line out, in order; a row that cannot be answered gives its error and the rest go on."""
    rows = tmp_path / "rows.jsonl"
    good = {"model": "Qwen/Qwen3-8B", "gpu": "L40S", "engine": "0.33.0", "tensor_parallel_size": 1}
    lines = [good, {**good, "gpu": "nope"}, {**good, "sizes": 3}, {**good, "max_num_seqs": 0}, {**good, "engine": None}]
    rows.write_text("\n".join([*map(json.dumps, lines), "no json", json.dumps(good)]))
    result = run("--rows", str(rows))
    assert result.exit_code == 0
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert ["error" in answer for answer in found] == [False, True, True, True, False, True, False]
    assert found[1]["error"] == (f"{rows}:2: gpu: found 'nope', expected a card of the catalog (chartgen catalog gpus)")
    assert found[0] == found[6]


def test_rows_come_from_standard_input_too() -> None:
    """A dash reads the questions from standard input."""
    result = run("--rows", "-", given='{"model": "Qwen/Qwen3-8B", "gpu": "L40S"}\n')
    assert json.loads(result.stdout)["gpus"] == 1
