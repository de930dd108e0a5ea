"""One worker a session: who was only slow can write nothing once another has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from psycopg import AsyncConnection
from psycopg.errors import IdleInTransactionSessionTimeout
from pydantic import SecretStr

from spadework.machines import database as database_module
from spadework.machines.database import opened
from spadework.machines.session_rows import CheckpointSaver, New, SharedSessions
from spadework.tools.stores.journal_rows import AnswerRow, ExchangeRow
from spadework.tools.stores.private_files import ClaimLost

pytestmark = pytest.mark.machines
ID = "20260101-000000-abc"
ANSWER = AnswerRow("key", "search", "subject", "[1]", None, "{}", 1.0)
EXCHANGE = ExchangeRow("key", "model", b"asked", "[]", None, "{}", 1.0)


#: Seconds that a transaction may be idle in these tests.
IDLE = 2.0


@pytest.fixture
async def shared(database: str) -> AsyncIterator[SharedSessions]:
    async with opened(SecretStr(database)) as connected:
        shared = SharedSessions(connected)
        await shared.submit(New(ID, "", "{}", "{}"), {"attachments/a.txt": b"told"})
        yield shared


async def test_a_worker_whose_session_was_taken_over_writes_nothing(shared: SharedSessions) -> None:
    slow = await shared.take(ID, "slow")
    assert slow
    await slow.tell(b'{"n": 1}\n')
    other = await shared.take(ID, "other")
    assert other
    for write in (
        slow.tell(b'{"n": 2}\n'),
        slow.journal_rows().put_answer(ANSWER),
        slow.journal_rows().put_exchange(EXCHANGE),
        slow.journal_rows().put_body("hash", b"packed"),
        slow.keep_file("pages/x.md", b"text"),
        slow.end("finished", "{}"),
    ):
        with pytest.raises(ClaimLost, match="another worker"):
            await write
    assert await shared.events(ID, 0) == [(1, '{"n": 1}')]
    assert await shared.file_names(ID) == ["attachments/a.txt"]
    assert await other.journal_rows().answer("key") is None
    await other.tell(b'{"n": 2}\n')
    assert await shared.events(ID, 1) == [(2, '{"n": 2}')]


async def test_a_session_that_is_over_is_not_taken_and_waits_again_when_it_is_submitted(
    shared: SharedSessions,
) -> None:
    claim = await shared.take(ID, "one")
    assert claim
    assert await shared.end(ID, "cancelled", '{"type": "ended"}')
    with pytest.raises(ClaimLost):
        await claim.tell(b'{"late": 1}\n')
    assert await shared.take(ID, "two") is None
    assert not await shared.end(ID, "failed", "{}")
    await shared.submit(New(ID, "", "{}", "{}"), {})
    assert await shared.take(ID, "two")


async def test_nothing_is_left_of_a_session_that_is_deleted_while_a_step_is_saved(
    shared: SharedSessions,
) -> None:
    assert await shared.take(ID, "one")
    step = (
        "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, metadata)"
        f" VALUES ('{ID}', '1', '{{}}', '{{}}')"
    )
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    async with await AsyncConnection.connect(shared.database.conninfo) as saving:
        await saving.execute("SELECT 1 FROM sessions WHERE id = %s FOR SHARE", (ID,))
        await saving.execute(step.encode())
        deleting = asyncio.create_task(shared.delete(ID))
        async with asyncio.timeout(20):
            while await shared.database.ask(waits) == [(0,)]:  # noqa: ASYNC110 - the server knows no events
                await asyncio.sleep(0.01)
        await saving.commit()
    await deleting
    assert await shared.find(ID) is None
    assert await shared.database.ask("SELECT count(*) FROM checkpoints") == [(0,)]


async def test_of_many_who_take_a_session_at_once_the_last_has_it(shared: SharedSessions) -> None:
    claims = await asyncio.gather(*(shared.take(ID, str(n)) for n in range(8)))
    runs = sorted(claim.run for claim in claims if claim)
    assert runs == list(range(1, 9))
    for claim in claims:
        assert claim
        if claim.run == 8:
            await claim.tell(b"{}\n")
        else:
            with pytest.raises(ClaimLost):
                await claim.tell(b"{}\n")


async def test_what_is_written_while_a_session_is_taken_counts_for_who_takes_it(
    shared: SharedSessions,
) -> None:
    """Each event that was written down is counted by the next owner, who numbers on from it."""
    claim = await shared.take(ID, "0")
    for n in range(20):
        assert claim
        writing = asyncio.create_task(claim.tell(b"{}\n" * 3))
        claim = await shared.take(ID, str(n + 1))
        assert claim
        await asyncio.gather(writing, return_exceptions=True)
        await claim.tell(b'{"mine": 1}\n')
    numbers = [n for n, _ in await shared.events(ID, 0)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert sum('"mine"' in line for _, line in await shared.events(ID, 0)) == 20


async def test_a_worker_that_freezes_while_it_saves_a_step_does_not_keep_its_session(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "OPEN_SECONDS", IDLE)
    async with opened(SecretStr(database)) as frozen:
        shared = SharedSessions(frozen)
        await shared.submit(New(ID, "", "{}", "{}"), {})
        claim = await shared.take(ID, "frozen")
        assert claim
        write = "UPDATE sessions SET metadata = %s WHERE id = %s"
        with pytest.raises(IdleInTransactionSessionTimeout):
            async with CheckpointSaver(claim, None)._cursor(pipeline=True) as cursor:
                await cursor.executemany(write, [("1", ID)])
                # Nothing more is sent, as by a process that stands still.
                other = await asyncio.wait_for(shared.take(ID, "other"), 5 * IDLE)
        assert other
