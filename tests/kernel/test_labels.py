"""Texts as labels, by the limits that the API server names in its refusals."""

from __future__ import annotations

import pytest

from chartgen.kernel.labels import is_key, is_label_value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("a", True),
        ("NVIDIA-H200-MIG-3g.71gb", True),
        ("1g.10gb_me", True),
        ("a" * 63, True),
        ("a" * 64, False),
        ("-a", False),
        ("a.", False),
        ("a b", False),
        ("1g.24gb+me", False),
        ("é", False),
        ("a\n", False),
    ],
)
def test_a_label_value(text: str, *, expected: bool) -> None:
    """At most 63 of letters, digits, dots, dashes and underscores, with a letter or digit at both ends."""
    assert is_label_value(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("app", True),
        ("app.kubernetes.io/name", True),
        ("nvidia.com/gpu.product", True),
        ("", False),
        ("/name", False),
        ("a/b/c", False),
        ("Upper.example/name", False),
        (f"{'a' * 63}/{'b' * 63}", True),
        (f"{'a.' * 127}a/b", False),
        (f"a/{'b' * 64}", False),
    ],
)
def test_a_key(text: str, *, expected: bool) -> None:
    """A name as long as a value, perhaps after a domain of at most 253 and a slash."""
    assert is_key(text) is expected
