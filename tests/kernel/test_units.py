"""Text to quantities: every text is a quantity or a ValueError."""

from __future__ import annotations

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartgen.kernel.units import seconds, tokens

TEXTS = st.text(max_size=12) | st.from_regex(r"[0-9.]{0,400}(ms|s|m|h|k|M)?", fullmatch=True)


@pytest.mark.parametrize("text", ["", "0", "-1", "0k", "1.5", "nan", "inf", "1e3", "9" * 400, "9" * 5000 + "k", "k"])
def test_what_is_no_token_count(text: str) -> None:
    """Nothing, less than one token, a part of one, and more than any number are refused."""
    with pytest.raises(ValueError, match="token count"):
        tokens(text)


@given(TEXTS)
def test_a_quantity_or_a_value_error(text: str) -> None:
    """No other exception, and never a quantity without end."""
    for read in (tokens, seconds):
        with suppress(ValueError):
            assert math.isfinite(read(text))
