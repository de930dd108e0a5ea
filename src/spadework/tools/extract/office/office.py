"""Tell Office files from before 2007 apart by the streams in them."""

from __future__ import annotations

from spadework.errors import Unreadable

#: First bytes of Office files from before 2007.
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
STORAGE = "application/x-ole-storage"
#: Offset and size in bytes of an OLE file's directory entries.
_HEADER, _ENTRY = 512, 128
#: Unsupported formats by a stream in the file: the program and the extension.
_STREAMS = {"WordDocument": ("Word", "doc"), "PowerPoint Document": ("PowerPoint", "ppt")}
#: Readers of other OLE files, by a stream in the file.
_READERS = {"Workbook": "xls", "Book": "xls", "__properties_version1.0": "msg"}
_LOCKED = ("EncryptedPackage", "EncryptionInfo")


def old_refusal(body: bytes, media_type: str) -> Unreadable:
    """Return the error for an OLE file without a reader, such as an old doc or ppt file."""
    if any(_holds(body, name) for name in _LOCKED):
        return Unreadable("The document is protected by a password.")
    for stream, (name, ending) in _STREAMS.items():
        if _holds(body, stream):
            return Unreadable(
                f"Old {name} files (.{ending}) are not supported. Save it as .{ending}x."
            )
    return Unreadable(f"{media_type} is not supported.")


def storage_reader(body: bytes) -> str:
    """Return the reader for an OLE file: `xls`, `msg`, or `old` for locked and all other files."""
    if any(_holds(body, name) for name in (*_LOCKED, *_STREAMS)):
        return "old"
    return next((reader for name, reader in _READERS.items() if _holds(body, name)), "old")


def _holds(body: bytes, stream: str) -> bool:
    name = f"{stream}\0".encode("utf-16-le")
    at = body.find(name, _HEADER)
    while at >= 0 and (at - _HEADER) % _ENTRY:
        at = body.find(name, at + 1)
    return at >= 0
