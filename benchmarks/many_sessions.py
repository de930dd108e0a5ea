"""How long `spadework sessions`, `spadework stats` and the start page take in a home with many
sessions: `python benchmarks/many_sessions.py [COUNT]`.

A session is really run, over a library of three notes; the others are copies of its files with ids,
questions, days, statuses and figures of their own. Pages, journals and checkpoints are left out:
who lists sessions opens none of them. Each command is run in a process of its own, as a user runs
it: first without an index, then five times, of which the quickest and the median are told, and the
least that a processor worked.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx

from spadework.sessions.metrics.session_index import LOG, METADATA, RESULT
from spadework.sessions.session import Session
from spadework.sessions.storage.files import LEDGER, PROGRESS
from spadework.settings import Settings

COUNT, TIMES = 10_000, 5
NOTES = {
    "quillon.md": "# The Quillon\n\nThe Quillon is a wind-up radio that plays for 45 minutes.\n",
    "spring.md": "# Springs\n\nThe spring of the Quillon is made of blue steel.\n",
    "port.md": "# Port Aldermere\n\nPort Aldermere is a town with 7,410 inhabitants.\n",
}
STATUSES = ("completed",) * 8 + ("time_limited", "budget_limited", "partial", "")
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


async def one(home: Path) -> dict[str, bytes]:
    """The files of a session that was really run."""
    notes = home / "notes"
    notes.mkdir(parents=True)
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    settings = Settings.load(home=home / "one", search="library", library=(notes,))
    result = await Session.start("What is the Quillon made of?", settings=settings).result()
    folder = Path(result.session_dir)
    return {
        name: (folder / name).read_bytes() for name in (METADATA, PROGRESS, RESULT, LEDGER, LOG)
    }


def many(home: Path, files: dict[str, bytes], count: int) -> None:
    """So many sessions of the same shape, no two alike."""
    chance = random.Random(1)
    metadata, result = json.loads(files[METADATA]), json.loads(files[RESULT])
    for n in range(count):
        began = FIRST + timedelta(hours=n)
        id_ = f"{began:%Y%m%d-%H%M%S}-{n:06x}"
        folder = home / "sessions" / id_
        folder.mkdir(parents=True)
        status = chance.choice(STATUSES)
        named = {"id": id_, "created_at": began.isoformat(), "status": status}
        asked = f"What is the Quillon number {n} made of, and who has made it?"
        (folder / METADATA).write_text(json.dumps({**metadata, **named, "query": asked}, indent=1))
        for name in (PROGRESS, LEDGER, LOG):
            (folder / name).write_bytes(files[name])
        if status:
            result["usage"] |= {"cache_hits": chance.randrange(9), "searches": chance.randrange(30)}
            own = {"session_id": id_, "question": asked, "status": status}
            own["timings"] = {"total": round(chance.lognormvariate(3, 0.6), 2)}
            (folder / RESULT).write_text(json.dumps({**result, **own}))


class Took(NamedTuple):
    """Seconds from start to end, and those that a processor worked."""

    seconds: float
    processor: float


def timed(*command: str) -> Took:
    """What one command took, a module with its arguments."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([sys.executable, "-m", *command], capture_output=True, check=True)
    assert said.stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(time.perf_counter() - began, worked)


def told(name: str, run: Callable[[], Took], first: Took | None) -> None:
    """A line of the table."""
    took = [run() for _ in range(TIMES)]
    seconds, worked = ([getattr(t, field) for t in took] for field in Took._fields)
    once = "–" if first is None else f"{first.seconds:.1f}"
    print(
        f"| {name} | {once} | {min(seconds):.2f} | {median(seconds):.2f} | {min(worked):.2f} |",
        flush=True,
    )


def visited(client: httpx.Client, server: int, path: str) -> Took:
    """What a page took, and the process that serves it."""
    began, before = time.perf_counter(), _worked(server)
    client.get(path).raise_for_status()
    return Took(time.perf_counter() - began, _worked(server) - before)


def _worked(process: int) -> float:
    """Seconds that a process has worked."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def served(home: Path) -> None:
    """The start page and the page of statistics, of one server."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "spadework", "serve", "--port", str(port), "--home", str(home)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            for _ in range(240):
                try:
                    client.get("/static/favicon.svg")
                    break
                except httpx.TransportError:
                    time.sleep(0.25)
            for path in ("/", "/statistics"):
                get = partial(visited, client, server.pid, path)
                told(f"GET {path}", get, get())
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Make the home and print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        many(home, asyncio.run(one(home / "work")), count)
        time.sleep(3)  # what was written just now is not kept in the index
        print(f"{count:,} sessions\n\n| | without an index | quickest | median | processor |")
        print("|---|---|---|---|---|")
        for command in (["sessions"], ["stats"]):
            run = partial(timed, "spadework", *command, "--home", str(home))
            told(f"spadework {' '.join(command)}", run, run())
        served(home)
        # The least that a command does, to know the machine by.
        told("spadework --version", partial(timed, "spadework", "--version"), None)


if __name__ == "__main__":
    main()
