"""The tables of the database: made once by whoever comes first, and left alone where a newer
version has made them.
"""

from __future__ import annotations

import subprocess
import sys

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from pydantic import SecretStr

from spadework.errors import SettingsError
from spadework.machines.database import opened
from spadework.machines.migration import HEAD, MIGRATIONS

pytestmark = pytest.mark.machines
_OPEN = """
import asyncio, sys
from pydantic import SecretStr
from spadework.machines.database import opened

async def main():
    async with opened(SecretStr(sys.argv[1])) as database:
        print(await database.ask("SELECT count(*) FROM sessions"))

asyncio.run(main())
"""


def test_processes_that_come_at_the_same_time_make_the_tables_once(database: str) -> None:
    coming = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN, database],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = [process.communicate(timeout=300) for process in coming]
    assert [out for out, _ in said] == ["[(0,)]\n"] * 3, said


async def test_tables_of_a_newer_version_are_left_alone(database: str) -> None:
    async with opened(SecretStr(database)):
        pass
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE spadework.migrations SET version_num = '9999'")
    with pytest.raises(SettingsError, match="newer spadework"):
        async with opened(SecretStr(database)):
            pass


def test_the_last_file_is_the_last_step() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD
