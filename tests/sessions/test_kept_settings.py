"""Settings that another version has kept with a session: what is unknown is set aside and named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spadework.events import Event, Notice
from spadework.sessions.metrics.session_index import METADATA, RESULT
from spadework.sessions.one_call import research
from spadework.sessions.session import Session
from spadework.settings import Settings

NOTE = "# Quillon\n\nQuillon is a wind-up radio. To use the Quillon, turn the crank thirty times.\n"


@pytest.mark.parametrize(
    "kept", [{"of_tomorrow": 3}, {"max_level": 9}, {"of_tomorrow": [1], "preset": "none"}]
)
async def test_a_setting_that_is_not_known_is_set_aside_and_named(
    tmp_path: Path, kept: dict[str, object]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(NOTE)
    settings = Settings.load(
        home=tmp_path / "home", search="library", library=str(tmp_path / "notes"), iterations=2
    )
    first = await research("How do I use the Quillon?", settings)
    folder = Path(first.session_dir)
    metadata = json.loads((folder / METADATA).read_text())
    metadata["settings"] |= kept
    (folder / METADATA).write_text(json.dumps(metadata))
    (folder / RESULT).unlink()
    told: list[Event] = []
    session = Session.resume(first.session_id, home=tmp_path / "home")
    assert session.settings.iterations == 2
    result = await session.result(told.append)
    assert result.status == "completed"
    notices = [event.text for event in told if isinstance(event, Notice)]
    [said] = [text for text in notices if METADATA in text]
    assert ", ".join(kept) in said
    assert "Remove them from the file" in said
