"""Old files of Office in a folder are named with what is lacking."""

from __future__ import annotations

from pathlib import Path

from spadework.tools.library.library import Library
from tests.tools.extract.test_office_old import storage


async def test_those_that_cannot_be_read_are_named(tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "dues.xls").write_bytes(storage("Root Entry", "EncryptedPackage"))
    (notes / "plan.doc").write_bytes(storage("Root Entry", "WordDocument"))
    library = await Library.open([notes], home=tmp_path / "home")
    assert [str(skipped) for skipped in library.skipped] == [
        "library://notes/dues.xls: The document is protected by a password.",
        "library://notes/plan.doc: Old Word files (.doc) are not supported. Save as .docx.",
    ]
    await library.close()
