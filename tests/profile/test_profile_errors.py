"""What a user reads for the mistakes people make in a profile: exact texts, all at once, in file order."""

from __future__ import annotations

from pathlib import Path

import pytest

from chartgen import api
from chartgen.kernel.errors import InputError
from chartgen.report.problems import input_error
from told import messages

GOOD = """\
model: meta-llama/Llama-3.1-8B-Instruct
gpu: H100
context: 8k
region: eu-west-1
"""


MISTAKES = {
    "a misspelt key": (
        GOOD.replace("context", "contxt"),
        [
            "p.yaml:1:1: found nothing, expected the key 'context'",
            "p.yaml:3:1: contxt: found the unknown key 'contxt', expected one of access, class, cluster, context, "
            "engine, features, gpu, gpus, measured, model, name, nodes, objectives, overrides, owner, region, traffic, weights; "
            "did you mean context?",
        ],
    ),
    "a misspelt model": (
        GOOD.replace("Llama-3.1-8B", "Lama-3.1-8B"),
        [
            "p.yaml:1:8: model: found 'meta-llama/Lama-3.1-8B-Instruct', expected a known model: see `chartgen catalog models`; a path to the model's config.json would do; "
            "did you mean meta-llama/Llama-3.1-8B-Instruct?",
        ],
    ),
    "a card that nobody makes": (
        GOOD.replace("H100", "H1000"),
        [
            "p.yaml:2:6: gpu: found 'H1000', expected a known GPU: see `chartgen catalog gpus`; did you mean h100-sxm-80gb?"
        ],
    ),
    "a class of its own": (
        GOOD + "class: chat\n",
        ['p.yaml:5:8: class: found "chat", expected one of batch, dev, interactive'],
    ),
    "a number where quotes are needed": (
        GOOD + "cluster:\n  kubernetes: 1.34\n",
        ['p.yaml:6:15: cluster.kubernetes: found 1.34, expected text in quotes, such as "1.34"'],
    ),
    "a Kubernetes that is too old": (
        GOOD + 'cluster:\n  kubernetes: "1.29"\n',
        ["p.yaml:6:15: cluster.kubernetes: found '1.29', expected one of 1.33, 1.34, 1.35, 1.36, 1.37"],
    ),
    "an ingress without a host": (
        GOOD + "cluster:\n  ingress: nginx\n",
        [
            "p.yaml:6:12: cluster.ingress: found 'nginx', expected cluster.host beside it: the host name that "
            "clients use",
        ],
    ),
    "a rate below zero": (
        GOOD + "traffic:\n  requests_per_second: -1\n",
        ["p.yaml:6:24: traffic.requests_per_second: found -1, expected more than 0"],
    ),
    "the same key twice": (
        GOOD + "gpu: L4\n",
        ["p.yaml:5:1: gpu: found the same key a second time, expected each key once"],
    ),
    "a context that is no number": (
        GOOD.replace("8k", "long"),
        ['p.yaml:3:10: context: found "long", expected something like 8k'],
    ),
    "a release that never was": (
        GOOD + "engine:\n  release: 0.33.7\n",
        [
            "p.yaml:6:12: engine.release: found '0.33.7', expected a known vLLM release: see `chartgen catalog engines`; releases 0.6.6 to 0.33.0 are catalogued; "
            "did you mean 0.33.0?",
        ],
    ),
    "an image that floats": (
        GOOD + "engine:\n  image: vllm/vllm-openai:latest\n",
        [
            "p.yaml:6:10: engine.image: found 'vllm/vllm-openai:latest', expected an image with a tag or digest that "
            "stays what it is",
        ],
    ),
    "three mistakes at once": (
        "model: 7\ngpu: H100\ncontext: {prompt: 6k}\nregion: eu west\n",
        [
            'p.yaml:1:8: model: found 7, expected text in quotes, such as "7"',
            "p.yaml:3:1: context: found nothing, expected the key 'answer'",
            'p.yaml:4:9: region: found "eu west", expected something like eu-west-1',
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_a_typical_mistake_gives_one_exact_message(tmp_path: Path, text: str, expected: list[str]) -> None:
    """Each mistake is named with its place, what was found and what would do."""
    assert messages(tmp_path, text) == expected


def test_a_bad_set_is_blamed_on_the_option_and_not_on_the_file(tmp_path: Path) -> None:
    """A problem that came from --set points at --set."""
    assert messages(tmp_path, GOOD, "cluster.namespace=Bad Name") == [
        '--set: cluster.namespace: found "Bad Name", expected something like llm-serving',
    ]


def test_a_file_that_is_no_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    """Broken YAML gives the parser's own words at the place where it stumbled."""
    (line,) = messages(tmp_path, "model: [\ngpu: x: y\n")
    assert line.startswith("p.yaml:2:")


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    """A profile that is not there is told in words."""
    with pytest.raises(InputError) as caught:
        api.load_profile(tmp_path / "nowhere.yaml")
    assert "No such file" in input_error(caught.value)


def test_an_unknown_override_names_the_nearest_value(tmp_path: Path) -> None:
    """An override that no value of the chart has is refused, with the nearest path."""
    path = tmp_path / "p.yaml"
    path.write_text(GOOD + "overrides:\n  autoscaling.maxReplica: 3\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        api.render(path)
    assert input_error(caught.value).endswith("did you mean autoscaling.maxReplicas?")
