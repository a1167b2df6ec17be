"""The engine's command line: each intent of the plan, spelled as the planned release spells it."""

from __future__ import annotations

from dataclasses import field, replace

from chartgen.catalog.engine_intents import Intent
from chartgen.catalog.engine_spelling import Cannot, Env, Flags, Spelling
from chartgen.catalog.engines import Engine
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json


@dataclass(slots=True)
class CommandLine:
    """Flags and environment, filled intent by intent. What was said first stands."""

    engine: Engine
    """The release that spells."""
    flags: dict[str, Decision[Json]] = field(default_factory=dict)
    """Flags without their dashes."""
    env: dict[str, Decision[str]] = field(default_factory=dict)
    """Environment variables."""
    unsaid: list[str] = field(default_factory=list)
    """What the release has no words for, a sentence each."""

    def ask(self, intent: Intent, wish: Decision[Json]) -> None:
        """Spell one intent."""
        self.take(intent, self.engine.spell(intent, wish.value), wish)

    def take(self, intent: str, spelling: Spelling, wish: Decision[Json]) -> None:
        """Take what an intent came out as; what cannot be said is kept and told, never dropped."""
        match spelling:
            case Flags():
                for flag, value in spelling.flags.items():
                    self.flags.setdefault(flag.removeprefix("--"), replace(wish, value=value))
            case Env():
                for name, text in spelling.env.items():
                    said = Decision(value=text, because=wish.because, origin=wish.origin)
                    self.env.setdefault(name, said)
            case Cannot():
                self.unsaid.append(f"{intent[:1].upper()}{intent[1:]}: {spelling.because}")
