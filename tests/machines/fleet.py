"""Worker processes on one database, and questions that the servers can tell apart."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import psycopg

from tests.hostile.killing import subject
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.record import Asked

#: Longest wait for a worker to be ready or gone, in seconds.
PATIENCE = 180.0
#: An answer that a server has sent may be on its way for so many seconds where several workers
#: share few processors: read, taken apart, written down.
ON_ITS_WAY = 1.5
_CASE = re.compile(r"case (\d+)")
_TOPICS = {"Inhabitants": "Port Aldermere inhabitants", "Lighthouse": "Port Aldermere lighthouse"}


def question(number: int) -> str:
    """A question whose searches and calls bear its number."""
    return f"What is known about Port Aldermere in case {number}?"


def play_cases(model: Model) -> None:
    """Script all roles; a plan's searches bear the number of their question."""
    play(model, _TOPICS)

    def plan(request: ChatRequest) -> dict[str, Any]:
        [number, *_] = _CASE.findall(request.prompt)
        topics = [
            {
                "name": f"{name} of case {number}",
                "question": f"What about {name} of case {number}?",
                "must_cover": [],
                "queries": [{"text": f"{query} case {number}", "kind": "original"}],
            }
            for name, query in _TOPICS.items()
        ]
        head = {"question_type": "general", "complexity": "moderate", "freshness": "any"}
        return head | {"language": "en", "subjects": list(_TOPICS), "topics": topics}

    model.script("PlanAnswer", plan)


def case_of(record: Asked) -> int | None:
    """The number of the question that a request belongs to, None where it does not say."""
    found = _CASE.search(subject(record))
    return int(found[1]) if found else None


def asked_again(records: Sequence[Asked], kills: Sequence[float]) -> list[tuple[str, float]]:
    """What had been answered before one of these moments, not only just, and was asked after it;
    and how many seconds before. Only what bears the number of its question is looked at: of the
    rest nobody can tell whose it is.
    """
    found = []
    numbered = [(subject(one), one) for one in records if case_of(one) is not None]
    for name, one in numbered:
        ended = one.ended if one.status and one.ended else float("inf")
        kill = min((kill for kill in kills if kill > ended), default=float("inf"))
        again = any(other == name and later.started > kill for other, later in numbered)
        if again and kill - ended > ON_ITS_WAY:
            found.append((name, kill - ended))
    return found


def paid_twice(address: str) -> list[tuple[str, str]]:
    """What a session has written down twice as answered: session and kind."""
    asked = (
        "SELECT session, kind FROM spadework.exchanges WHERE error IS NULL"
        " AND kind IN ('model', 'search') GROUP BY session, kind, key HAVING count(*) > 1"
    )
    with psycopg.connect(address) as connection:
        return [(session, kind) for session, kind in connection.execute(asked)]


def asked_by_two(records: Sequence[Asked]) -> list[str]:
    """What was asked a second time while it was being answered."""
    found, last = [], dict[str, Asked]()
    for record in sorted(records, key=lambda record: record.started):
        if case_of(record) is None:
            continue
        before = last.get(subject(record))
        if before and record.started < (before.ended or float("inf")):
            found.append(subject(record))
        last[subject(record)] = record
    return found


class Fleet:
    """Workers, each with a home of its own under `folder`, as machines have."""

    def __init__(
        self, folder: Path, env: dict[str, str], sessions: int, options: Sequence[str] = ()
    ) -> None:
        self._folder = folder
        self._options = options
        self._sessions = sessions
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OPENAI_", "SPADEWORK_"))
        }
        self._env = own | env
        self.workers: dict[int, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers.values():
            if worker.poll() is None:
                worker.kill()
            worker.wait(PATIENCE)

    def start(self, number: int) -> None:
        """Start the worker of a machine, and wait until it takes sessions."""
        log = self._folder / f"worker-{number}.log"
        known = log.read_text().count("takes sessions") if log.exists() else 0
        home = self._folder / f"machine-{number}"
        command = [sys.executable, "-m", "spadework", "worker", "--sessions", str(self._sessions)]
        command += self._options
        with log.open("ab") as file:
            worker = subprocess.Popen(
                [*command, "--home", str(home)], env=self._env, stdout=file, stderr=file
            )
        self.workers[number] = worker
        until = time.monotonic() + PATIENCE
        while log.read_text().count("takes sessions") == known:
            assert worker.poll() is None and time.monotonic() < until, log.read_text()
            time.sleep(0.05)

    def kill(self, number: int) -> None:
        """Kill the worker of a machine."""
        self.workers[number].kill()
        self.workers[number].wait(PATIENCE)

    def signal(self, number: int, how: signal.Signals) -> None:
        """Send a signal to the worker of a machine."""
        self.workers[number].send_signal(how)

    def left(self, number: int) -> int:
        """The exit code of a worker, once it has ended."""
        return self.workers[number].wait(PATIENCE)

    def log(self, number: int) -> str:
        """What a worker has said."""
        return (self._folder / f"worker-{number}.log").read_text()

    def runs(self, number: int) -> bool:
        """Whether the database says that a worker runs a session."""
        asked = "SELECT worker FROM spadework.sessions WHERE state = 'running'"
        with psycopg.connect(self._env["SPADEWORK_DATABASE_URL"]) as connection:
            pid = self.workers[number].pid
            return any(worker.endswith(f"-{pid}") for (worker,) in connection.execute(asked))

    def logs(self) -> str:
        """What all workers have said."""
        return "\n".join(log.read_text() for log in sorted(self._folder.glob("worker-*.log")))
