"""The journal of a session that several machines know is as good as one in a file: the same tests
prove both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from spadework.machines.database import opened
from spadework.machines.session_rows import New, SharedSessions
from spadework.tools.stores.journal_rows import CLAIM
from tests.tools.stores.test_journal import (  # noqa: F401 - they are run here
    test_a_final_failure_is_kept_and_a_passing_one_tried_again,
    test_a_run_that_is_taken_up_knows_what_it_had_used,
    test_a_run_that_is_taken_up_knows_which_purse_was_empty,
    test_an_exchange_that_failed_for_good_is_not_had_again,
    test_another_kind_or_key_is_other_work,
    test_two_who_want_the_same_at_once_share_it,
    test_what_a_failure_and_a_cancelled_call_have_cost_is_remembered,
    test_what_is_known_can_be_looked_up_without_doing_it,
    test_when_the_first_is_cancelled_the_second_does_the_work,
    test_work_is_done_once_for_a_key_also_when_the_journal_is_opened_again,
)

pytestmark = pytest.mark.machines


@pytest.fixture(autouse=True)
async def claimed(database: str, tmp_path: Path) -> AsyncIterator[None]:
    """The session whose folder is that of the test is claimed here."""
    async with opened(SecretStr(database)) as connected:
        shared = SharedSessions(connected)
        await shared.submit(New(tmp_path.name, "", "{}", "{}"), {})
        CLAIM.set(await shared.take(tmp_path.name, "this"))
        yield
        CLAIM.set(None)
        assert not await asyncio.to_thread(lambda: list(tmp_path.glob("*.sqlite")))
