"""The main program of the process that reads untrusted documents."""

from __future__ import annotations

import os
import signal
from typing import Any

from spadework.errors import FetchError, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.formats import added_formats
from spadework.tools.extract.process import (
    document_reply,
    limit_memory,
    limit_reading,
    memory_taken,
    mortal,
    receive,
    refusal_reply,
    send,
    split_reply,
)

#: The maximum memory of this process in bytes.
MEMORY = 1_000_000_000
#: Peak memory in bytes above which the process ends after the current document.
SPENT = MEMORY // 2
#: Seconds after a request's deadline at which the process is killed.
GRACE = 1.0


def main() -> None:
    """Answer requests until the pipe closes or memory exceeds SPENT. Discard libraries' output."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    # The parent process handles Ctrl-C and then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(MEMORY)
    added_formats()  # Preload the modules that most documents need.
    try:
        last = False
        while not last:
            request, body = receive(requests)
            seconds = request.pop("seconds")
            with limit_reading(seconds), mortal(answers.fileno(), seconds + GRACE):
                reply = _read(request, body)
            last = memory_taken() > SPENT
            send(answers, *split_reply(reply | {"last": last}))
    except (EOFError, BrokenPipeError):
        return


def _read(request: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        return document_reply(read_document(body, **request))
    except FetchError as error:
        return refusal_reply(error)
    except MemoryError:
        return refusal_reply(
            Unreadable(f"Reading the document takes more than {MEMORY / 1e9:.3g} GB of memory.")
        )
    except Exception as error:  # noqa: BLE001 - this process is there for readers of untrusted documents: their faults end here, by name
        return refusal_reply(Unreadable(f"The document reader failed ({type(error).__name__})."))


if __name__ == "__main__":
    main()
