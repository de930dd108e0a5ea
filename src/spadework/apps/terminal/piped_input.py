"""What is piped in: standard input as material that is read first, like an attached file."""

from __future__ import annotations

import mimetypes
import os
import select
import stat
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from spadework.errors import SettingsError
from spadework.tools.extract.document_kinds import kind_of

#: How long a pipe may keep silent before it is left alone: cron, CI, ssh and other programs leave
#: one open on which nothing ever comes.
FIRST_BYTE_SECONDS = 1.0
#: How long it may keep silent once something came.
SILENCE_SECONDS = 10.0
#: The share of a run's time that may go by while material comes in.
MOST_OF_THE_TIME = 0.5
_CHUNK = 65_536


@dataclass(frozen=True)
class Material:
    """Bytes and a name for them, whose ending fits what they are."""

    name: str
    body: bytes


def material(
    *, most: int, minutes: float, asked_for: bool, tell: Callable[[str], None]
) -> Material | None:
    """What comes on standard input, None where it is no pipe or file, or nothing comes.
    `asked_for`: silence is waited out.

    Raises SettingsError for more than `most` bytes and for a format that cannot be read. `tell` is
    told what was left alone or cut.
    """
    if (descriptor := _readable()) is None:
        if asked_for:
            raise SettingsError("--attach - needs something on standard input: a pipe or a file.")
        return None
    body = _read(
        descriptor, most, time.monotonic() + minutes * 60 * MOST_OF_THE_TIME, asked_for, tell
    )
    if len(body) > most:
        raise SettingsError(
            f"Standard input has more than {most} bytes, the most that is read (setting"
            " page_bytes)."
        )
    if not body.strip():
        return None
    kind = kind_of(body, "", "")
    if not kind.reader:
        raise SettingsError(f"Standard input cannot be read as material: it is {kind.media_type}.")
    return Material(f"stdin{mimetypes.guess_extension(kind.media_type) or '.txt'}", body)


def _readable() -> int | None:
    """The descriptor of standard input where that can hold material, as no terminal can."""
    if sys.stdin is None or sys.stdin.closed:
        return None
    try:
        descriptor = sys.stdin.fileno()
        mode = os.fstat(descriptor).st_mode
    except (OSError, ValueError):
        return None
    return descriptor if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode) else None


def _read(
    descriptor: int, most: int, end: float, asked_for: bool, tell: Callable[[str], None]
) -> bytes:
    """All that comes until the end of the input, one byte over `most`, or too long a silence."""
    body = b""
    while len(body) <= most:
        silence = end - time.monotonic()
        if not asked_for:
            silence = min(silence, SILENCE_SECONDS if body else FIRST_BYTE_SECONDS)
        # Windows can wait only for sockets; a read there waits itself.
        if os.name != "nt" and not select.select([descriptor], [], [], max(0.0, silence))[0]:
            tell(
                f"Standard input did not end: the {len(body)} bytes that came are used."
                if body
                else "Nothing came on standard input: it is left alone. With --attach - it is"
                " waited for."
            )
            break
        if not (chunk := os.read(descriptor, min(_CHUNK, most + 1 - len(body)))):
            break
        body += chunk
    return body
