"""Read vLLM releases out of their wheels and write what each changed.

scripts/engine_facts 0.34.0            download, read, write data/engines/0.34.0.yaml and the history
scripts/engine_facts --check 0.33.0    read afresh and compare with what is committed; exit 1 when it differs
scripts/engine_facts                   fold the release files into the history again

The wheel is downloaded with pip and read by syntax tree; nothing of it is imported or run. Its Python sources
are kept in the cache, so that a second look is quick. What people wrote into a release's file (everything from
the line that starts with `# By hand`) stays as it is.
"""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from chartgen.catalog import engine_fold
from engine_reader import facts, files, wheels


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: 1 when --check found a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", nargs="*", help="releases such as 0.34.0")
    parser.add_argument("--check", action="store_true", help="compare with what is committed instead of writing")
    parser.add_argument("--cache", type=Path, default=wheels.default_cache(), help="where sources are kept")
    parser.add_argument("--folder", type=Path, default=engine_fold.folder(), help="where the release files are")
    options = parser.parse_args(arguments)
    differing = 0
    for release in sorted(options.release, key=engine_fold.version):
        wheel = wheels.unpacked(release, options.cache)
        state = files.state_of(facts.read(wheel.root))
        if options.check:
            differing += files.compare(release, state, options.folder)
        else:
            files.write(release, state, options.folder, wheel.name, dt.datetime.now(dt.UTC).date())
    if not options.check:
        files.write_history(options.folder)
    return 1 if differing else 0
