"""What a server deletes when it starts: sessions of single pages that are old, and nothing else."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from spadework.sessions.storage.files import hold_session, session_folder
from spadework.sessions.storage.session_list import list_sessions
from spadework.settings import Settings
from tests.apps.mcp.serving import over_http, until


def put(settings: Settings, id_: str, kind: str, days: float) -> str:
    """A session of a kind that began so many days ago; its id."""
    folder = settings.home / "sessions" / id_
    folder.mkdir(parents=True)
    began = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    told = {"id": id_, "created_at": began, "query": "x", "status": "completed", "kind": kind}
    (folder / "session_metadata.json").write_text(json.dumps(told))
    return id_


async def test_old_sessions_of_single_pages_go_when_a_server_starts(settings: Settings) -> None:
    old = put(settings, "20260101-000001-aaaaaa", "read", 31)
    kept = {
        put(settings, "20260101-000002-aaaaaa", "read", 29),
        put(settings, "20260101-000003-aaaaaa", "gather", 400),
        put(settings, "20260101-000004-aaaaaa", "research", 400),
        (busy := put(settings, "20260101-000005-aaaaaa", "read", 400)),
    }
    folder = settings.home / "sessions" / old
    with hold_session(session_folder(settings.home, busy)):
        async with over_http(settings) as client:
            await client.list_tools()
            await until(lambda: not folder.exists())
    assert {one.id for one in list_sessions(settings.home)} == kept
