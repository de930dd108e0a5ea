"""Old files of Word and PowerPoint are refused with the mend; old workbooks are read."""

from __future__ import annotations

import pytest

from spadework.errors import Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.document_kinds import OLE
from spadework.tools.extract.process import read_apart
from tests.tools.extract.files import xls


def storage(*streams: str) -> bytes:
    """The beginning of a storage with streams of these names: enough to tell what it is."""
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in streams)
    return OLE.ljust(512, b"\0") + entries


@pytest.mark.parametrize(
    ("stream", "name", "ending"),
    [("WordDocument", "Word", "doc"), ("PowerPoint Document", "PowerPoint", "ppt")],
)
async def test_an_old_file_is_refused_with_the_mend_whatever_its_name(
    stream: str, name: str, ending: str
):
    said = rf"^Old {name} files \(\.{ending}\) are not supported\. Save as \.{ending}x\.$"
    with pytest.raises(Unreadable, match=said):
        await read_apart(
            storage("Root Entry", stream),
            media_type="application/msword",
            url="https://x.example/dues",
            seconds=20,
        )
    with pytest.raises(Unreadable, match=said):
        read_document(storage("Root Entry", stream), media_type="", url="a.xls")


def test_a_workbook_is_read():
    cells = {(0, 0): "Boat", (0, 1): "Crowns", (1, 0): "small", (1, 1): 14.5, (2, 1): 45_000.0}
    found = read_document(xls(cells, dates=[(2, 1)]), media_type="", url="https://x.example/d.xls")
    assert found.kind == "xls"
    assert found.markdown == (
        "## Dues\n\n| Boat | Crowns |\n| --- | --- |\n| small | 14.5 |\n|  | 2023-03-15 |"
    )
    with pytest.raises(Unreadable, match="The workbook is damaged"):
        read_document(storage("Root Entry", "Workbook"), media_type="", url="d.xls")
    with pytest.raises(Unreadable, match="The workbook is damaged"):  # calamine panics
        read_document(xls(cells)[:1_500], media_type="", url="d.xls")


def test_what_only_looks_alike_is_not_supported():
    text = OLE.ljust(512, b"\0") + b"\0" * 64 + "WordDocument\0".encode("utf-16-le")
    for body in (text, storage("Root Entry"), storage("Root Entry", "__substg1.0_0037001F")):
        with pytest.raises(Unreadable, match="application/x-ole-storage is not supported"):
            read_document(body, media_type="", url="message.msg")


def test_a_locked_file_of_any_age_is_said_to_be():
    with pytest.raises(Unreadable, match="protected by a password"):
        read_document(storage("Root Entry", "EncryptedPackage"), media_type="", url="a.docx")
