"""A program that uses spadework as a library: `python -m tests.hostile.within QUESTION`. It prints
the report, and as its last line what the run has left in the process.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from socket import SOCK_DGRAM

import psutil

from spadework import Budget, Settings, SpadeworkError, research_sync
from spadework.tools.web.connections import RESOLVER

#: What is kept for the whole process: threads that wait for more work, of files and of what cannot
#: be stopped, and readers of documents, each at the ends of two pipes.
_THREADS = ("files", "aside", "MainThread")
_READER, _PIPES = "spadework.tools.extract.reader_program", 2
#: A process that lives so many seconds beyond its deadline tells where each of its threads is.
_STUCK = 20.0
#: What is just being ended has so many seconds.
_SETTLING = 3.0
#: The port of name servers.
_NAMES = 53
_DESCRIPTORS = Path("/proc/self/fd")


def main() -> None:
    """Research the question of the command line."""
    settings = Settings.load()
    budget = Budget.of(settings)
    budget.start(time.monotonic() - (time.time() - psutil.Process().create_time()))
    faulthandler.dump_traceback_later(budget.seconds + _STUCK)
    before = _descriptors()
    try:
        result = research_sync(sys.argv[1], settings, budget)
    except SpadeworkError as error:
        sys.exit(f"spadework: {error}")
    sys.stdout.write(f"{result.report}\n")
    sys.stdout.flush()
    told = time.time()
    until = time.monotonic() + _SETTLING
    while any((left := _left(before)).values()) and time.monotonic() < until:
        time.sleep(0.05)
    sys.stdout.write(f"{json.dumps(left)}\n")
    sys.stdout.flush()
    # Who lets this run sees by the time of the file when the report was told.
    os.utime(sys.stdout.fileno(), (told, told))


def _left(before: dict[str, str]) -> dict[str, list[str]]:
    """What was not there before, by its kind."""
    children = [" ".join(child.cmdline()) for child in psutil.Process().children(recursive=True)]
    readers = [line for line in children if _READER in line]
    opened = {n: where for n, where in _descriptors().items() if before.get(n) != where}
    pipes = [where for where in opened.values() if where.startswith("pipe:")]
    others = [_told(number, where) for number, where in opened.items() if where not in pipes]
    return {
        "threads": [t.name for t in threading.enumerate() if not t.name.startswith(_THREADS)],
        "processes": [line for line in children if line not in readers],
        "descriptors": [told for told in others if told],
        "pipes": pipes[_PIPES * len(readers) :],
    }


def _told(number: str, where: str) -> str:
    """What is open with this number, and between whom it is a connection; "" for that to a name
    server while the system looks up a name, which nobody can stop, and which ends by itself.
    """
    for each in psutil.Process().net_connections("all"):
        if each.fd == int(number):
            asks = each.type == SOCK_DGRAM and each.raddr and each.raddr.port == _NAMES
            told = f"{where} {each.laddr} {each.raddr} {each.status}"
            return "" if asks and RESOLVER.under_way else told
    return where


def _descriptors() -> dict[str, str]:
    """What is open, by number; nothing where the system does not tell."""
    found = {}
    for link in _DESCRIPTORS.iterdir() if _DESCRIPTORS.is_dir() else ():
        with suppress(FileNotFoundError):  # that of the listing itself
            found[link.name] = str(link.readlink())
    return found


if __name__ == "__main__":
    main()
