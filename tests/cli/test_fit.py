"""`chartgen fit`: text, data, many rows at once, and errors with their place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from chartgen.catalog.gpus import gpu
from chartgen.catalog.model_names import resolve
from chartgen.cli.main import main
from chartgen.memory.fit import Deployment, estimate
from chartgen.memory.levers import levers

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
        (
            ["8B", "--gpu", "H100", "--context", "200k"],
            "--context: found 204800 tokens, expected at most 131072 tokens, the longest that meta-llama/Llama-3.1-8B-",
        ),
        (["meta-llama/Llama-2-13b-chat-hf", "--gpu", "H100", "--context", "32k"], "expected at most 4096 tokens"),
        (["70B", "--gpu", "H100", "--context", "999999k"], "expected at most 131072 tokens"),
        (["70B", "--gpu", "H100", "--max-model-len", "131073"], "--max-model-len: found 131073 tokens, expected at mo"),
        (["8B", "--gpu", "H100", "--context", "200k", "--max-model-len", "8k"], "--context: found 204800 tokens"),
        (["8B", "--gpu", "H100", "--context", "9" * 5000], "expected a token count such as 32768 or 32k"),
        (["8B", "--gpu", "H100", "--context", "0"], '--context: found "0", expected a token count'),
        (
            ["8B", "--gpu", "T4", "--dtype", "bfloat16"],
            "--dtype: found 'bfloat16', expected an element type that NVIDIA T4 16 GB computes with: one of f",
        ),
        (["8B", "--gpu", "V100", "--dtype", "bfloat16"], "one of float16, float32"),
        (["8B", "--gpu", "H100", "--dtype", "fp5"], "expected one of half, float, auto, bfloat16, float16, float32"),
        (["8B", "--gpu", "H100", "--quantization", "foo"], "--quantization: found 'foo', expected one of none, "),
        (
            ["8B", "--gpu", "H100", "--kv-cache-dtype", "foo"],
            "--kv-cache-dtype: found 'foo', expected one of auto, fp8",
        ),
    ],
)
def test_bad_input_is_named_with_what_would_do(words: list[str], message: str) -> None:
    """A wrong name or value exits with 2, names the option, what was found and what would do."""
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.stderr


NUMBERS = {
    "--gpu-memory-utilization": ("nan", "inf", "-inf", "0", "-1", "2", "1e400", "x"),
    **dict.fromkeys(
        (
            "--concurrency", "--max-num-seqs", "--max-num-batched-tokens", "--tensor-parallel-size",
            "--pipeline-parallel-size",
        ),
        ("nan", "0", "-1", "1.5", str(2**31), "9" * 5000),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("option", "value"), [(name, value) for name, values in NUMBERS.items() for value in values])
def test_a_number_out_of_range_is_an_error_of_its_option(option: str, value: str) -> None:
    """Exit 2 and the option's name; not-a-number, too small and too large alike."""
    result = run("8B", "--gpu", "H100", option, value)
    assert result.exit_code == 2
    assert option in result.stderr


def test_the_name_of_every_dtype_stands_for_a_type_that_the_card_has() -> None:
    """What a T4 computes with is taken."""
    for dtype in ("float16", "half", "float32", "auto"):
        assert (
            data("Qwen/Qwen3-4B", "--gpu", "T4", "--dtype", dtype, "--max-model-len", "4k")["gpu"] == "NVIDIA T4 16 GB"
        )


def test_requests_that_are_not_held_at_once_do_not_fit() -> None:
    """The verdict is on what was asked: a concurrency that no layout carries is exit 3, with what is short."""
    result = run("8B", "--gpu", "H100", "--concurrency", "99999")
    assert result.exit_code == 3
    assert "99999 are wanted" in result.stdout


def test_levers_carry_the_concurrency_and_stay_within_the_model() -> None:
    """What is offered holds every request that was asked for, none of it longer than the model's limit."""
    words = ("8B", "--gpu", "L4", "--tensor-parallel-size", "1", "--context", "8k")
    assert "--max-num-seqs" not in run(*words, "--concurrency", "50").stdout.split("would fit", 1)[1]
    model, card, at = resolve("8B", Path()).model, gpu("L4"), "0.33.0"
    beyond = estimate(Deployment(model=model, gpu=card, release=at, tensor_parallel=8, max_model_len=10**7))
    changes = [lever.change for lever in levers(beyond)]
    assert f"--max-model-len {model.max_position_embeddings}" in changes


def test_what_is_short_is_said_so() -> None:
    """No amount of memory is negative: the cache that is not there is an amount short."""
    result = run("70B", "--gpu", "L4", "--tensor-parallel-size", "1", "--engine", "0.33.0")
    assert "KV cache         112.5 GiB short (102.0 GiB to 123.1 GiB)" in result.stdout
    assert " -" not in "\n".join(line for line in result.stdout.splitlines() if "GiB" in line and " --" not in line)


def test_the_headline_names_the_slice() -> None:
    """A slice is called so where the layout is named, not the whole card."""
    result = run("8B", "--gpu", "H100", "--mig", "1g.10gb", "--context", "8k")
    assert " on 1 x 1g.10gb slice of NVIDIA H100 SXM 80 GB, " in result.stdout.splitlines()[0]


def test_one_request_and_the_empty_block_explain_the_need() -> None:
    """Where the need exceeds what a request holds, the block beside it is named."""
    result = run("Qwen/Qwen3-8B", "--gpu", "L40S", "--context", "8k")
    assert "each, beside the pool's one empty block)" in result.stdout


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


ODD_ROWS: list[tuple[bytes, str]] = [
    (b'"context": 8192.0', ":43: context: found 8192.0, expected a whole number"),
    (b'"max_num_seqs": 4.0', ":48: max_num_seqs: found 4.0, expected a whole number"),
    (b'"max_num_seqs": 1.5', ":48: max_num_seqs: found 1.5, expected a whole number"),
    (b'"max_num_seqs": 2147483648', ":48: max_num_seqs: found 2147483648, expected at most 2147483647"),
    (b'"max_num_seqs": true', ":48: max_num_seqs: found true, expected a whole number"),
    (b'"max_num_seqs": 1' + b"0" * 400, ":48: max_num_seqs: found "),
    (b'"context": 1' + b"0" * 5000, " context: found "),
    (b'"context": 1e400', ' context: found "1e400", expected a token count'),
    (b'"context": 1000000', " context: found 1000000 tokens, expected at most 131072 tokens"),
    (b'"gpu_memory_utilization": .nan', ":58: gpu_memory_utilization: found NaN, expected a number"),
    (b'"gpu_memory_utilization": NaN', ':58: gpu_memory_utilization: found "NaN", expected a number'),
    (b'"gpu_memory_utilization": 0', ":58: gpu_memory_utilization: found 0, expected more than 0"),
    (b'"gpu_memory_utilization": 2', ":58: gpu_memory_utilization: found 2, expected at most 1"),
    (b'"mig": "\xff"', ":40: found the byte 0xff, which is no UTF-8, expected text in UTF-8"),
    (b'"mig": "a\x00b"', ":41: found the character U+0000, which YAML does not allow"),
    (b'"mig": [', ": found no "),
    (b'"mig": "\xf0\x9f\x98\x80"', " mig: found '\N{GRINNING FACE}', expected one of"),
    (b'"mig": 1}, {', ": found "),
]


def test_every_odd_row_gives_its_own_error_in_plain_words(tmp_path: Path) -> None:
    """Whatever a line holds, it gives one error that names the line, and the good line after it is answered."""
    rows = tmp_path / "rows"
    good = b'{"model": "8B", "gpu": "H100"}\n'
    lines = [b'{"model": "8B", "gpu": "H100", ' + odd + b"}\n" for odd, _ in ODD_ROWS]
    rows.write_bytes(b"".join(line + good for line in [*lines, b"# nothing\n", b"\xff\xfe\n", b"[]\n", b"---\n"]))
    result = run("--rows", str(rows))
    assert (result.exit_code, result.stderr) == (0, "")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert all("error" not in answer for answer in found[1::2])
    errors = [answer["error"] for answer in found[::2]]
    for number, error in enumerate(errors):
        assert error.startswith(f"{rows}:{2 * number + 1}:")
        assert not re.search(r"Error|`|\$\.|codec|[Ee]xception|unpack", error), error
    for error, (_, said) in zip(errors, ODD_ROWS, strict=False):
        assert said in error


@settings(deadline=None)  # the first row loads the catalogue
@given(st.binary(max_size=40) | st.text(alphabet='{}[]":,ab1.e-\n', max_size=40).map(str.encode))
def test_rows_of_any_bytes_are_answered(content: bytes) -> None:
    """As many lines out as lines in that hold something, whatever they hold, and no fault of ours."""
    result = CliRunner().invoke(main, ["fit", "--rows", "-"], input=content)
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == sum(bool(line.strip()) for line in content.split(b"\n"))


def test_rows_come_from_standard_input_too() -> None:
    """A dash reads the questions from standard input."""
    result = run("--rows", "-", given='{"model": "Qwen/Qwen3-8B", "gpu": "L40S"}\n')
    assert json.loads(result.stdout)["gpus"] == 1
