"""Records the sessions that `test_recorded.py` replays: `python -m tests.recorded.record`.

They are asked of the test world. Record them anew when a prompt, a reader or what a run asks has
changed on purpose, and look at what the reports have become.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from spadework.sessions.research import research
from tests.world.background import Background
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

FOLDER = Path(__file__).parent
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}
#: Nothing is asked by a JSON schema when it comes to this: the next rule answers.
PASSED_ON = Fault("reject_json_schema")
#: What a replay needs of a session.
FILES = ("session_metadata.json", "result.json", "session.sqlite")


def main() -> None:
    """Record both sessions."""
    with Background() as background:
        world, model = World(background), Model(background)
        servers = {**world.env, **Searx(background, world).env}
        # One reply is repaired, and the endpoint takes no JSON schema.
        play(model, TOPICS)
        model.script("SectionAnswer", "No JSON at all.", PASSED_ON)
        model.script("", Fault("reject_json_schema"))
        _record("with-model", "What is known about Port Aldermere?", servers | model.env)
        _record("without-model", "How many inhabitants has Port Aldermere?", servers)


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _record(name: str, question: str, env: dict[str, str]) -> None:
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "SPADEWORK_MODEL"):
        os.environ.pop(variable, None)
    os.environ.update(env)
    with tempfile.TemporaryDirectory() as home:
        os.environ["SPADEWORK_HOME"] = home
        result = asyncio.run(research(question))
        folder = Path(result.session_dir)
        plain = result.model_copy(update={"session_dir": ""})
        (folder / "result.json").write_text(plain.model_dump_json(indent=1))
        with closing(sqlite3.connect(folder / "session.sqlite")) as db:
            kept = ("exchanges", "bodies")
            tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                if table not in kept:
                    db.execute(f"DROP TABLE {table}")
            db.commit()
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("VACUUM")
        with tarfile.open(FOLDER / f"{name}.tar.xz", "w:xz") as archive:
            for file in FILES:
                archive.add(folder / file, f"{folder.name}/{file}", filter=_nobodys)
        (FOLDER / f"{name}.md").write_text(result.report, encoding="utf-8")


if __name__ == "__main__":
    main()
