"""The nearest known name: offered where it is really close, and never otherwise."""

from __future__ import annotations

import pytest

from chartgen.kernel.errors import UnknownName, nearest_name

KNOWN = [
    "replicas",
    "class",
    "olmo3",
    "fp8",
    "fp8_e4m3",
    "quantization",
    "gpu",
    "mig",
    "whole",
    "Llama-3.3-70B",
    "gke",
    "H100 SXM 80 GB",
]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("replcas", "replicas"), ("replica", "replicas"), ("REPLICAS", "replicas"), ("fp9", "fp8"), ("gpux", "gpu"),
        ("migs", "mig"), ("quant", "quantization"), ("llama 3.3 70b", "Llama-3.3-70B"), ("llama-33", "Llama-3.3-70B"),
        ("fp8e4", "fp8_e4m3"), ("fp8", "fp8"), ("H1000", "H100 SXM 80 GB"),
        ("foo", None), ("nope", None), ("x", None), ("", None), ("--", None), ("gateway", None), ("le", None),
    ],
)  # fmt: skip
def test_only_a_close_name_is_offered(written: str, meant: str | None) -> None:
    """A slip of the pen and the beginning of a name find it; anything else finds nothing."""
    assert nearest_name(written, KNOWN) == meant


def test_no_close_name_among_few() -> None:
    """The one name that shares a few letters is not offered for want of a better one."""
    assert nearest_name("replcas", ["class"]) is None
    assert nearest_name("foo", ["olmo3"]) is None


def test_an_unknown_name_carries_what_would_do() -> None:
    """Whoever tells the user can list the names, even where they came from an iterator."""
    error = UnknownName("KV cache dtype", "fp88", iter(["auto", "fp8"]))
    assert (error.known, error.nearest) == (("auto", "fp8"), "fp8")
