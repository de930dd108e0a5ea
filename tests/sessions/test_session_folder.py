"""A session id leads to its own folder and to no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.errors import SessionNotFound
from spadework.sessions.storage.files import session_folder


@pytest.mark.parametrize(
    "session_id",
    ["..", ".", "", "a/../b", "../secret", "a\x00b", "\\..", ".hidden", "x" * 300, "é"],
)
def test_an_id_that_is_no_plain_name_is_not_found(tmp_path: Path, session_id: str) -> None:
    (tmp_path / "sessions" / ".hidden").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    with pytest.raises(SessionNotFound):
        session_folder(tmp_path, session_id)


def test_the_folder_of_a_session_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "20260304-101112-a1b2c3"
    folder.mkdir(parents=True)
    assert session_folder(tmp_path, folder.name) == folder
