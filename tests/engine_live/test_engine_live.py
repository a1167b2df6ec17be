"""The live check itself: a chart made worse on purpose fails it, in the words of the fault.

`make engine-live` runs this folder after the check; the everyday run leaves it out, as each test starts an engine.
"""

from __future__ import annotations

import pytest

from engine_lab import live


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("probe", "not ready after 1 s: the kubelet kills it"),
        ("metric", "vllm:gpu_cache_usage_perc is in no line of /metrics"),
        ("drain", "stream 0: status 200"),
    ],
)
def test_a_worse_chart_fails(fault: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A start-up probe that is too short, a wrong metric name and a missing drain time are each caught."""
    assert live.main([live.RELEASES[0], "--break", fault]) == 1
    shown = capsys.readouterr().out
    assert "FAILED" in shown
    assert said in shown
