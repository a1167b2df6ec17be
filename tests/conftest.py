"""Settings that hold for every test."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no fault of the code: speed is measured in benchmarks/, never in a test.
settings.register_profile("chartgen", deadline=None)
settings.load_profile("chartgen")
