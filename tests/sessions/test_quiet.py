"""Who uses spadework as a library owns the output: nothing is written to it, whatever fails and is
tried again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.thinned import thinned
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = pytest.mark.process

PROGRAM = """
import asyncio, sys
from pathlib import Path
from spadework import Session, Settings, research, research_sync, research_tool
from spadework.graph.research import graph
from spadework.tools.library.library import Library

QUESTION = "What is known about Port Aldermere?"
settings = Settings.load()
notes = settings.with_(search="library", library=(Path(sys.argv[1]),), model="")

async def main():
    assert (await research(QUESTION, settings)).citations
    async for event in Session.start(QUESTION, settings=settings).events():
        pass
    assert "Aldermere" in await research_tool(settings).ainvoke({"question": QUESTION})
    assert (await graph.ainvoke({"question": QUESTION}, context=settings))["report"]
    library = await Library.open(notes.library, home=notes.home)
    await library.close()
    await research("What is the Quillon?", notes)

asyncio.run(main())
research_sync("What is the Quillon?", notes)
"""


@pytest.mark.parametrize("warnings", thinned([("-W", "default"), ()], 2))
def test_a_library_writes_nothing(
    world: World, searx: Searx, model: Model, tmp_path: Path, warnings: tuple[str, ...]
) -> None:
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    faults = [Fault("error"), Fault("dropped"), Fault("overloaded"), Fault("limited", 0.01)]
    model.twist(lambda request, answer: faults.pop() if faults else answer)
    wrong = [world.put("news", "/down", "Port Aldermere is down", status=502)]
    searx.script("", [*wrong, world.url("broken", "/status/403"), *_pages(world)])
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text("# Quillon\n\nQuillon is a wind-up radio.\n")
    (tmp_path / "notes" / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, *warnings, str(program), str(tmp_path / "notes")],
        env={**os.environ, **world.env, **searx.env, **model.env},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    errors = _of_ours(done.stderr) if warnings else done.stderr
    assert (done.returncode, done.stdout, errors) == (0, "", "")
    assert not faults
    assert len([asked for asked in world.asked("news") if asked.path == "/down"]) > 1


def _pages(world: World) -> list[str]:
    return [
        world.url("encyclopedia", "/wiki/Port_Aldermere"),
        world.url("news", "/2026/census.html"),
    ]


def _of_ours(errors: str) -> str:
    """What is written, but for warnings that others give of their own code when they are asked
    for.
    """
    others = [line for line in errors.splitlines() if "site-packages" not in line]
    return "\n".join(line for line in others if not line.startswith("  "))
