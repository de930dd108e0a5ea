"""Archives: their members by name, each by its own reader, and bombs that do not go off."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import tracemalloc
import zipfile

import pytest

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.archive import MAX_MEMBERS
from spadework.tools.extract.extracted import Extracted
from tests.tools.extract.files import docx, tarred, zipped
from tests.tools.extract.test_office import p

FILES = {
    "notes/a.md": b"# Tides\n\nHigh at nine.",
    "f.py": b"x = 1\n",
    "b.csv": b"a,b\n1,2\n",
    "pic.png": b"\x89PNG\r\n\x1a\n",
    "__MACOSX/x": b"noise",
}
MARKDOWN = (
    "# notes/a.md\n\n# Tides\n\nHigh at nine.\n\n# f.py\n\n```python\nx = 1\n```\n\n# b.csv\n\n| a"
    " | b |\n| --- | --- |\n| 1 | 2 |\n\n# pic.png\n\n… Not shown: The image is damaged, or"
    " its type is not supported."
)


def read(body: bytes, name: str = "files") -> Extracted:
    return read_document(body, media_type="", url=f"https://example.com/{name}")


@pytest.mark.parametrize(
    "body",
    [
        zipped(FILES),
        tarred(FILES),
        tarred(FILES, "w:gz"),
        tarred(FILES, "w:bz2"),
        tarred(FILES, "w:xz"),
    ],
    ids=["zip", "tar", "gz", "bz2", "xz"],
)
def test_the_members_of_an_archive_are_read_like_files(body):
    found = read(body)
    assert (found.markdown, found.title, found.kind) == (MARKDOWN, "files", "archive")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_file_is_read_like_the_file(pack):
    ending = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[pack]
    assert read(pack(b"x = 1\n"), f"f.py.{ending}") == Extracted(
        title="f.py", markdown="```python\nx = 1\n```", kind="python"
    )


def test_a_document_in_an_archive_is_read_an_archive_in_it_is_not():
    found = read(
        zipped(
            {
                "a.docx": docx(p("A boat pays 14 crowns.")),
                "b.zip": zipped({"c.txt": "deep"}),
                "d.tar.gz": tarred(FILES, "w:gz"),
            }
        )
    )
    closed = "… Not shown: Archives inside archives are not opened."
    assert (
        found.markdown
        == f"# a.docx\n\nA boat pays 14 crowns.\n\n# b.zip\n\n{closed}\n\n# d.tar.gz\n\n{closed}"
    )


def test_so_many_members_are_read():
    found = read(zipped({f"{n}.txt": "A text." for n in range(MAX_MEMBERS + 10)}))
    assert found.markdown.count("A text.") == MAX_MEMBERS
    assert found.markdown.endswith("\n\n… 10 further members are not shown.")


@pytest.mark.parametrize(
    "made",
    [
        lambda: zipped({"a.txt": bytes(30_000_000)}),
        lambda: zipped({f"{n}.txt": bytes(8_000_000) for n in range(20)}),
        lambda: gzip.compress(bytes(120_000_000)),
        lambda: bz2.compress(bytes(120_000_000)),
        lambda: lzma.compress(bytes(120_000_000)),
        lambda: gzip.compress(gzip.compress(bytes(120_000_000))),
    ],
    ids=["zip", "zips", "gz", "bz2", "xz", "gz in gz"],
)
def test_a_bomb_does_not_go_off(made):
    body = made()
    with pytest.raises((TooLarge, Unreadable)):
        read(body)


def test_members_that_overlap_are_a_bomb():
    member = zipped({"a": bytes(1_000_000)})
    archive = bytearray(member)
    start = archive.index(b"PK\x01\x02")
    entry = bytes(archive[start : archive.index(b"PK\x05\x06")])
    end = bytearray(archive[start + len(entry) :])
    end[8:12] = (300).to_bytes(2, "little") * 2
    end[12:16] = (300 * len(entry)).to_bytes(4, "little")
    with pytest.raises((TooLarge, Unreadable)):
        read(bytes(archive[:start]) + entry * 300 + bytes(end))


def test_only_files_are_members_of_a_tar_and_none_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind in (
            ("../up.txt", tarfile.REGTYPE),
            ("link", tarfile.SYMTYPE),
            ("device", tarfile.CHRTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    assert read(buffer.getvalue()).markdown == "# ../up.txt"
    assert list(tmp_path.iterdir()) == []


def test_an_encrypted_archive_is_refused():
    body = bytearray(zipped({"a.txt": "text"}))
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(Unreadable, match="password"):
        read(bytes(body))


def test_a_member_that_is_locked_or_damaged_costs_no_other():
    body = bytearray(zipped({"a.txt": "text", "b.txt": "more"}))
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    locked = "… Not shown: The file is protected by a password."
    assert read(bytes(body)).markdown == f"# a.txt\n\n{locked}\n\n# b.txt\n\nmore"


def damaged(members: int, size: int) -> bytes:
    """A zip file of members whose check does not hold."""
    whole = zipped(
        {f"{n}.txt": random.Random(n).randbytes(size // 100) * 100 for n in range(members)}
    )
    archive = bytearray(whole)
    at = 0
    while (at := archive.find(b"PK\x01\x02", at)) >= 0:
        archive[at + 16] ^= 1
        at += 4
    return bytes(archive)


def test_what_was_unpacked_of_damaged_members_counts_and_is_not_kept():
    with pytest.raises(TooLarge):
        read(damaged(12, 10_000_000))
    body = damaged(8, 10_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable, match="damaged"):
            read(body)
        assert tracemalloc.get_traced_memory()[1] < 45_000_000
    finally:
        tracemalloc.stop()


def test_damage_is_named():
    whole = zipped({"a.txt": "text " * 1_000})
    for body in (
        whole[:-10],
        whole[: len(whole) // 2],
        b"PK\x03\x04" + bytes(100),
        b"\x1f\x8b\x08" + bytes(20),
    ):
        with pytest.raises(Unreadable, match="damaged"):
            read(body)
    assert zipfile.is_zipfile(io.BytesIO(whole))
