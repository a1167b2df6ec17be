"""Which texts Kubernetes takes as keys and values of labels.

Source: k8s.io/apimachinery v0.37.2 pkg/util/validation/validation.go (IsValidLabelValue, IsQualifiedName).
"""

from __future__ import annotations

import re
from typing import Final

_PART: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DOMAIN: Final = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
_VALUE: Final = re.compile(rf"(?:{_PART})?", re.ASCII)
_KEY: Final = re.compile(rf"(?:(?P<prefix>{_DOMAIN})/)?{_PART}", re.ASCII)
_LONGEST_PREFIX: Final = 253


def is_label_value(text: str) -> bool:
    """Whether a text can be the value of a label: at most 63 letters, digits, dots, dashes and underscores."""
    return _VALUE.fullmatch(text) is not None


def is_key(text: str) -> bool:
    """Whether a text can be the key of a label or annotation: like a value, after a domain and a slash if wanted."""
    found = _KEY.fullmatch(text)
    return found is not None and len(found["prefix"] or "") <= _LONGEST_PREFIX
