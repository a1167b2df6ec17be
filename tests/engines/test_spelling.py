"""Each release is told an intent in its own words, or says that it cannot be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartgen.catalog.command_line import read
from chartgen.catalog.command_types import CommandLine
from chartgen.catalog.engine_images import Floating, Release, Unknown, image_for, release_of
from chartgen.catalog.engine_intents import INTENTS, Intent
from chartgen.catalog.engine_spelling import Cannot, Env, Flags, words
from chartgen.catalog.engines import engine, releases
from chartgen.kernel.decision import Json
from engine_lab.samples import SMALL, VALUES


@pytest.mark.parametrize(
    ("release", "intent", "value", "flags"),
    [
        ("0.10.2", "tensor parallel", 4, {"--tensor-parallel-size": 4}),
        ("0.33.0", "context length", "auto", {"--max-model-len": "auto"}),
        ("0.33.0", "prefix cache", False, {"--no-enable-prefix-caching": True}),
        ("0.8.3", "chunked prefill", False, {"--enable-chunked-prefill": "false"}),
        ("0.9.0", "enforce eager", True, {"--enforce-eager": True}),
        ("0.8.5", "enforce eager", False, {}),
        ("0.18.0", "drain time", 60, {"--shutdown-timeout": 60}),
        ("0.29.0", "queue limit", 40, {"--max-num-queued-reqs": 40}),
        ("0.9.2", "no request logs", True, {"--disable-log-requests": True}),
        ("0.10.2", "no request logs", True, {}),
        ("0.8.4", "multimodal limits", {"image": 2}, {"--limit-mm-per-prompt": "image=2"}),
        ("0.8.5", "multimodal limits", {"image": 2}, {"--limit-mm-per-prompt": {"image": 2}}),
        ("0.8.5", "reasoning parser", "deepseek_r1", {"--enable-reasoning": True, "--reasoning-parser": "deepseek_r1"}),
        ("0.9.0", "reasoning parser", "deepseek_r1", {"--reasoning-parser": "deepseek_r1"}),
        ("0.33.0", "tool parser", "hermes", {"--enable-auto-tool-choice": True, "--tool-call-parser": "hermes"}),
        (
            "0.8.0",
            "speculative decoding",
            {"method": "eagle", "num_speculative_tokens": 3, "model": "d"},
            {"--speculative-model": "d", "--num-speculative-tokens": 3},
        ),
        (
            "0.33.0",
            "access log exclusion",
            ["/health", "/metrics"],
            {"--disable-access-log-for-endpoints": "/health,/metrics"},
        ),
        ("0.15.0", "safe defaults", True, {}),
    ],
)
def test_spelled(release: str, intent: Intent, value: Json, flags: dict[str, Json]) -> None:
    """An intent is spelled in the flags of that release."""
    spelled = engine(release).spell(intent, value)
    assert isinstance(spelled, Flags)
    assert spelled.flags == flags


@pytest.mark.parametrize(
    ("release", "intent", "value", "because"),
    [
        ("0.17.1", "drain time", 60, "SIGTERM cuts running requests"),
        ("0.28.0", "queue limit", 40, "its queue has no limit"),
        ("0.10.2", "context length", "auto", "auto came with 0.14.0"),
        ("0.33.0", "kv dtype", "fp9", "has no KV cache type fp9"),
        ("0.33.0", "quantization", "gguf", "has no quantization gguf"),
        ("0.8.5", "reasoning parser", "qwen3", "has no reasoning parser qwen3"),
        ("0.8.5", "keep-alive", 75, "closes idle connections"),
        ("0.33.0", "weight dtype", "fp16", "takes --dtype of"),
    ],
)
def test_refused(release: str, intent: Intent, value: Json, because: str) -> None:
    """What a release cannot do is refused in a sentence that names the release and the reason."""
    spelled = engine(release).spell(intent, value)
    assert isinstance(spelled, Cannot)
    assert because in spelled.because
    assert release in spelled.because


def test_keep_alive_is_environment() -> None:
    """The keep-alive of idle connections is set by a variable from 0.9.1 on."""
    assert engine("0.9.1").spell("keep-alive", 75) == Env(
        env={"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "75"},
        because="vLLM 0.9.1 reads VLLM_HTTP_TIMEOUT_KEEP_ALIVE",
    )


@given(release=st.sampled_from(releases()), intent=st.sampled_from(sorted(INTENTS)))
def test_whatever_is_spelled_is_read_back(release: str, intent: Intent) -> None:
    """On every release every intent gives flags that the same release's parser takes without a complaint."""
    found = engine(release)
    spelled = found.spell(intent, VALUES.get(intent, SMALL))
    if not isinstance(spelled, Flags):
        assert spelled.because
        return
    line = read(command=["vllm", "serve", "m"], args=words(spelled.flags), env={}, engine=found)
    assert isinstance(line, CommandLine)
    assert line.problems == ()
    assert len(line.arguments) == len(spelled.flags)


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("vllm/vllm-openai:v0.18.1", "0.18.1"),
        ("docker.io/vllm/vllm-openai:v0.8.5.post1", "0.8.5.post1"),
        ("registry.example:5000/mirror/vllm/vllm-openai:v0.20.0-cu129@sha256:abc", "0.20.0"),
        ("vllm/vllm-openai-rocm:v0.26.0", "0.26.0"),
        ("vllm/vllm-openai-cpu:v0.23.0-x86_64", "0.23.0"),
        ("public.ecr.aws/q9t5s3a7/vllm-cpu-release-repo:v0.10.2", "0.10.2"),
        ("rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210", "0.11.2"),
        ("rocm/vllm:rocm6.3.1_instinct_vllm0.8.3_20250415", "0.8.3"),
        ("nvcr.io/nvidia/vllm:26.05-py3", "0.20.1"),
        ("ghcr.io/llm-d/llm-d-cuda:v0.9.0", "0.26.0"),
        (
            "public.ecr.aws/neuron/pytorch-inference-vllm-neuronx:0.24.0.1.1.0-neuronx-py313-sdk2.32.0-ubuntu24.04",
            "0.24.0",
        ),
        ("lmcache/vllm-openai:v0.5.4", "0.27.1"),
    ],
)
def test_release_of_an_image(image: str, release: str) -> None:
    """A tag that says its release, or is listed, gives the release, whatever the registry."""
    found = release_of(image)
    assert isinstance(found, Release)
    assert found.release == release


@pytest.mark.parametrize("image", ["vllm/vllm-openai", "vllm/vllm-openai:latest", "vllm/vllm-openai:cu130-nightly"])
def test_floating_images(image: str) -> None:
    """A tag that moves is said to move."""
    assert isinstance(release_of(image), Floating)


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai@sha256:abc",
        "lmcache/vllm-openai:v0.3.7",
        "ghcr.io/llm-d/llm-d:v0.3.1",
        "example/serving:v1",
        "{{ .Values.image }}",
        "rocm/vllm-dev:rocm7.0",
    ],
)
def test_unknown_images(image: str) -> None:
    """What a name does not tell is unknown, with the reason."""
    found = release_of(image)
    assert isinstance(found, Unknown)
    assert found.because


def test_image_for_a_release() -> None:
    """Each device has its published image, and one without is refused."""
    assert image_for("0.18.1") == "vllm/vllm-openai:v0.18.1"
    assert image_for("v0.26.0", "amd") == "vllm/vllm-openai-rocm:v0.26.0"
    with pytest.raises(LookupError):
        image_for("0.18.1", "neuron")
