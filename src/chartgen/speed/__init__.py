"""How fast a model answers on its cards: a roofline with fitted efficiencies. Pure: facts in, estimates out.

One engine step is weights and cache read, matrices multiplied, messages exchanged between cards, and a
fixed cost a layer. Latency follows from how prompts and answers share steps; capacity from latency, the
objectives and the KV cache pool. Everything here is an estimate and says so; a measurement of the user wins.
"""

from chartgen.speed.answer import Band, Capacity, Speed
from chartgen.speed.capacity import capacity
from chartgen.speed.predict import predict
from chartgen.speed.question import Measurement, Objectives, SpeedQuestion, question_of

__all__ = [
    "Band",
    "Capacity",
    "Measurement",
    "Objectives",
    "Speed",
    "SpeedQuestion",
    "capacity",
    "predict",
    "question_of",
]
