"""Old files of Office in a folder are read by LibreOffice, or named with what is lacking."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.tools.extract.office import office
from spadework.tools.library.library import Library
from tests.tools.extract.test_office_old import PAGE, made, storage


async def test_one_that_cannot_be_read_is_named(tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "dues.xls").write_bytes(storage("Root Entry", "EncryptedPackage"))
    library = await Library.open([notes], home=tmp_path / "home")
    assert [str(skipped) for skipped in library.skipped] == [
        "library://notes/dues.xls: The document is protected by a password."
    ]
    await library.close()


@pytest.mark.full
@pytest.mark.skipif(not office.program(), reason="needs LibreOffice")
async def test_one_is_found_by_its_words(tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "dues.doc").write_bytes(made(tmp_path, "dues.html", PAGE, "doc:MS Word 97"))
    library = await Library.open([notes], home=tmp_path / "home")
    [hit] = await library.search("berth crowns", limit=3)
    assert hit.url == "library://notes/dues.doc"
    await library.close()
