"""Makes the example report of this folder that needs no model: `python docs/examples/make.py`. No
key, no network.

It is asked of a small web on loopback (`tests/world`), whose newspapers and encyclopedia do not
agree.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: The name of a report, its question, and what is searched.
EXAMPLES = (("contradicting-news", "When was Port Aldermere founded?", "searxng"),)


def main() -> int:
    """Ask every question and write its report as Markdown and as HTML; 1 when one of them fails."""
    sys.path.insert(0, str(ROOT))
    from tests.world.background import Background
    from tests.world.searx import Searx
    from tests.world.sites import World

    with Background() as background, tempfile.TemporaryDirectory() as home:
        world = World(background)
        searx = Searx(background, world)
        env = {**os.environ, **world.env, **searx.env, "SPADEWORK_HOME": home}
        return max(_ask(name, question, search, env) for name, question, search in EXAMPLES)


def _ask(name: str, question: str, search: str, env: dict[str, str]) -> int:
    spadework = [sys.executable, "-m", "spadework"]
    command = [*spadework, "ask", question, "--search", search, "-o", str(HERE / f"{name}.html")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    (HERE / f"{name}.md").write_text(done.stdout, encoding="utf-8")
    sys.stderr.write(done.stderr if done.returncode else f"{name}: {len(done.stdout)} characters\n")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
