"""The engine's command line: each intent of the plan, spelled as the planned release spells it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from chartgen.catalog.engine_intents import Intent
from chartgen.catalog.engine_spelling import Cannot, Env, Flags
from chartgen.catalog.engines import Engine
from chartgen.kernel.decision import Decision, Json


@dataclass(slots=True)
class CommandLine:
    """Flags and environment, filled intent by intent."""

    engine: Engine
    """The release that spells."""
    flags: dict[str, Decision[Json]] = field(default_factory=dict)
    """Flags without their dashes."""
    env: dict[str, Decision[str]] = field(default_factory=dict)
    """Environment variables."""
    unsaid: list[str] = field(default_factory=list)
    """What the release has no words for, a sentence each."""

    def ask(self, intent: Intent, wish: Decision[Json]) -> None:
        """Spell one intent; what cannot be said is kept and told, never dropped."""
        spelling = self.engine.spell(intent, wish.value)
        match spelling:
            case Flags():
                for flag, value in spelling.flags.items():
                    self.flags[flag.removeprefix("--")] = replace(wish, value=value)
            case Env():
                for name, text in spelling.env.items():
                    self.env[name] = Decision(value=text, because=wish.because, origin=wish.origin)
            case Cannot():
                self.unsaid.append(f"vLLM {self.engine.release} cannot be told its {intent}: {spelling.because}")
