"""A workshop for tests: a cache in a folder, and a Go that builds in a blink and never uses the network."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from toolbox.cache import Cache
from toolbox.install import Installer
from toolbox.table import SCRIPTS, GoBuild, Table, Tool, this_machine

FAKE_GO = """\
#!/bin/sh
if [ "$1" = env ]; then echo go1.30.0; exit 0; fi
if [ "$1" = mod ]; then printf '{"Dir": "%s", "Sum": "h1:right="}' "$FAKE_GO_MODULE"; exit 0; fi
echo built >> "$FAKE_GO_COUNT"
sleep "${FAKE_GO_SECONDS:-0}"
while [ "$1" != -o ]; do shift; done
if [ -n "$FAKE_GO_FAILS" ]; then seq 1 40; echo "pkg/x.go:1: $FAKE_GO_FAILS"; exit 1; fi
printf '#!/bin/sh\\necho version %s\\n' "${FAKE_GO_SAYS:-1.2.3}" > "$2"
chmod +x "$2"
"""
COMMAND = """\
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from tools.workshop import Workshop
from toolbox import cli
cli.load = Workshop(Path(sys.argv[1])).table
sys.exit(cli.main(sys.argv[2:]))
"""
TESTS = Path(__file__).resolve().parent.parent


@dataclass
class Workshop:
    """A folder with a cache, a Go module and a fake Go."""

    root: Path
    said: list[str] = field(default_factory=list)

    @property
    def cache(self) -> Cache:
        """The cache that tools are installed into."""
        return Cache(self.root / "cache", this_machine())

    @property
    def builds(self) -> int:
        """How often the fake Go has started to build."""
        count = self.root / "count"
        return len(count.read_text().splitlines()) if count.exists() else 0

    def tool(self, name: str = "widget", go: str = "1.26.0") -> Tool:
        """A fake tool whose Go module asks for a version of Go."""
        module = self.root / "go" / name
        module.mkdir(parents=True, exist_ok=True)
        (module / "go.mod").write_text(f"module m\n\ngo {go}\n")
        (module / "go.sum").write_text("")
        return Tool(
            name=name,
            version="1.2.3",
            group="test",
            about="a fake",
            home="https://example.org",
            licence="Apache-2.0",
            programs={name: "w"},
            check=("--version",),
            expect="1.2.3",
            sources=(GoBuild(go=module, packages={"w": "example.org/w"}, seconds=1),),
        )

    def table(self) -> Table:
        """Two fake tools of the group test."""
        return Table({"widget": self.tool(), "gadget": self.tool("gadget")})

    def installer(self, *others: Tool) -> Installer:
        """An installer whose table holds only the given tools."""
        return Installer(Table({tool.name: tool for tool in others}), self.cache, self.said.append)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Run scripts/tools with the fake table in a process of its own."""
        program = COMMAND.format(path=[str(TESTS), str(SCRIPTS)])
        environment = {**os.environ, "CHARTGEN_TOOLS": str(self.cache.root)}
        return subprocess.Popen([sys.executable, "-c", program, str(self.root), *arguments], env=environment)

    def wait_for_a_build(self) -> None:
        """Return once the fake Go has started."""
        deadline = time.monotonic() + 20
        while not self.builds:
            assert time.monotonic() < deadline
            time.sleep(0.01)
