"""Runs that are killed and taken up again: what the servers were asked before and after, and what
the run says it has used.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spadework.values import Result
from tests.world.embedding import Embeddings
from tests.world.model import Model
from tests.world.record import Asked
from tests.world.searx import Searx
from tests.world.sites import World

#: Longest wait for a process, in seconds.
PATIENCE = 300.0
#: An answer that a server has sent is on its way for so many seconds at most: read from the
#: socket, taken apart, written down. On a quiet machine it is a few milliseconds.
ON_ITS_WAY = 0.25
#: Seconds without any news from the servers after which nothing of a killed process is on its way.
QUIET = 0.05
#: What a run takes from its limit.
LIMITS = ("model_calls", "tokens_in", "tokens_out", "money", "searches", "pages", "fetches")


@dataclass(frozen=True)
class Servers:
    """All that a run may ask."""

    world: World
    searx: Searx
    model: Model
    embeddings: Embeddings

    @property
    def records(self) -> list[Asked]:
        """All requests so far, in no order."""
        return [
            *(*self.world.requests, *self.searx.requests),
            *(*self.model.asked, *self.embeddings.requests),
        ]


@dataclass(frozen=True)
class Scene:
    """A question and the servers as one run after the other finds them. `prepare` sets them up."""

    name: str
    question: str
    prepare: Callable[[Servers], None]
    env: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()


@dataclass
class Tally:
    """What one question was given and what it cost the servers: `asked` counts the answers, by
    what was asked, and `refused` the searches that were refused before a kill.
    """

    result: Result
    asked: Counter[str]
    tokens: tuple[int, int]
    seconds: float
    home: Path
    refused: int = 0

    @property
    def charges(self) -> dict[str, float | None]:
        """What the run says it has taken from its limit."""
        return {name: getattr(self.result.usage, name) for name in LIMITS}

    @property
    def work(self) -> dict[str, float]:
        """The same as the servers have counted it, each answer once."""
        names = Counter(name.split()[0] for name in self.asked)
        calls = sum(name.startswith("model") and "/v1" not in name for name in self.asked)
        return {
            "model_calls": calls,
            "searches": names["searx"],
            "tokens_in": self.tokens[0],
            "tokens_out": self.tokens[1],
        }

    @property
    def is_paid(self) -> bool:
        """Whether the run has charged what the servers have counted, apart from searches that were
        refused before a kill, which may not have been written down.
        """
        owed = {name: work - (self.charges[name] or 0) for name, work in self.work.items()}
        return 0 <= owed.pop("searches") <= self.refused and not any(owed.values())


@dataclass(frozen=True)
class Kill:
    """A kill: so many answers after the start of a process, and seconds after that one."""

    answers: int
    seconds: float


@dataclass
class Killed:
    """A run that was killed and resumed. `again` are the requests that were answered before a kill
    and asked after it, with the seconds between the answer and the kill.
    """

    tally: Tally
    again: list[tuple[str, float]]
    log: list[str]

    @property
    def repeated(self) -> list[tuple[str, float]]:
        """Those of them whose answers were not on their way any more."""
        return [(name, seconds) for name, seconds in self.again if seconds > ON_ITS_WAY]


class Killing:
    """Runs of one scene, each in a home of its own under `folder`."""

    def __init__(self, scene: Scene, servers: Servers, folder: Path) -> None:
        self.scene, self.servers, self.folder = scene, servers, folder
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OPENAI_", "SPADEWORK_"))
        }
        self._env = {
            **own,
            **{**servers.world.env, **servers.searx.env, **servers.model.env},
            "SPADEWORK_EMBEDDINGS_URL": servers.embeddings.url,
            "SPADEWORK_LOG": "debug",
            **scene.env,
        }
        self._homes = 0

    def undisturbed(self) -> Tally:
        """The run as it is when nobody kills it."""
        home = self._home()
        began = time.monotonic()
        result = _finished(self._start(home, "ask", self.scene.question, *self.scene.options))
        return self._tally(result, began, home)

    def killed(self, kills: Sequence[Kill]) -> Killed:
        """A run that is killed and resumed, each of these times, and then comes to its end."""
        home = self._home()
        instants: list[float] = []
        log: list[str] = []
        command = ["ask", self.scene.question, *self.scene.options]
        began = time.monotonic()
        process = self._start(home, *command)
        for kill in kills:
            before = len(self._answered())
            killed = self._kill(process, kill, before)
            if killed is None:
                log.append("it had ended before")
                break
            log.append(self._what(killed))
            instants.append(killed)
            # One that had not yet written down what it was asked is asked again.
            if begun := list(home.glob("sessions/*/session_metadata.json")):
                command = ["resume", begun[0].parent.name]
            process = self._start(home, *command)
        result = _finished(process)
        tally = self._tally(result, began, home)
        tally.refused = sum(
            record.status == 429 and (record.ended or 0) <= max(instants, default=0.0)
            for record in self.servers.searx.requests
        )
        return Killed(tally, self._repeated(instants), log)

    def _home(self) -> Path:
        self._homes += 1
        for server in vars(self.servers).values():
            server.reset()
        self.scene.prepare(self.servers)
        home = self.folder / f"{self.scene.name}-{self._homes}"
        home.mkdir()
        return home

    def _start(self, home: Path, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "spadework", *arguments, "--json", "--home", str(home)]
        return subprocess.Popen(
            command,
            env=self._env,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _kill(self, process: subprocess.Popen[str], kill: Kill, before: int) -> float | None:
        """When it was killed, None where it had ended by then. Returns when no server has anything
        to do for it any more.
        """
        until = time.monotonic() + PATIENCE
        while len(self._answered()) - before < kill.answers and process.poll() is None:
            assert time.monotonic() < until, "the process hangs"
            time.sleep(0.001)
        began = time.monotonic()
        while time.monotonic() - began < kill.seconds and process.poll() is None:
            time.sleep(0.0005)
        if process.poll() is not None:
            return None
        killed = time.monotonic()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        seen, since = -1, time.monotonic()
        while time.monotonic() - since < QUIET:
            records = self.servers.records
            now = len(records) + sum(record.ended is not None for record in records)
            if now != seen or any(record.ended is None for record in records):
                seen, since = now, time.monotonic()
            assert time.monotonic() < until, "a server does not see that the process is gone"
            time.sleep(0.005)
        return killed

    def _answered(self) -> list[Asked]:
        return [record for record in self.servers.records if record.status and record.ended]

    def _what(self, killed: float) -> str:
        """What was going on at a kill."""
        flying = [r for r in self.servers.records if not r.status or (r.ended or 0) > killed]
        last = max(self._answered(), key=lambda record: record.ended or 0.0, default=None)
        said = f"after {len(self._answered())} answers"
        if last:
            said += f", {1000 * (killed - (last.ended or 0)):.0f} ms after {subject(last)[:80]}"
        return f"{said}; in flight: {[subject(r)[:60] for r in flying if r.started < killed]}"

    def _repeated(self, instants: Sequence[float]) -> list[tuple[str, float]]:
        """What had been answered before one of these and was asked after it. A refusal for haste
        (429) is no answer: a resumed run tries again, on purpose.
        """
        found = []
        for instant in instants:
            before: dict[str, float] = {}
            for record in self._answered():
                if (record.ended or 0) <= instant and record.status != 429:
                    name = subject(record)
                    before[name] = max(before.get(name, 0.0), record.ended or 0.0)
            found += [
                (name, instant - before[name])
                for record in self.servers.records
                if record.started > instant and (name := subject(record)) in before
            ]
        return found

    def _tally(self, result: Result, began: float, home: Path) -> Tally:
        asked = Counter(_each_try(self._answered()))
        took = {subject(r.record): r.used for r in self.servers.model.requests if r.used[0]}
        tokens = (sum(used[0] for used in took.values()), sum(used[1] for used in took.values()))
        return Tally(result, asked, tokens, time.monotonic() - began, home)


def _each_try(records: Iterable[Asked]) -> Iterator[str]:
    """What was asked; what was refused for its haste is asked again on purpose."""
    tries = Counter[str]()
    for record in records:
        name = subject(record)
        tries[name] += record.status == 429
        yield f"{name} try {tries[name]}" if record.status == 429 else name


def subject(record: Asked) -> str:
    """What was asked, whatever room was left for the answer."""
    if record.site == "model" and record.body:
        data = json.loads(record.body)
        shape = data.get("response_format", {}).get("json_schema", {}).get("name", "")
        return f"model {shape} {json.dumps(data['messages'], sort_keys=True)}"
    query = record.args.get("q") if record.site == "searx" else record.query
    return f"{record.site} {record.path} {query or ''} {record.body.decode(errors='replace')}"


def plain(report: str) -> str:
    """A report without what a clock says."""
    return re.sub(r"\d+(\.\d+)? (seconds?|s|minutes?)\b", "… s", report)


def chosen(chance: random.Random, answers: int, times: int) -> list[Kill]:
    """So many kills, anywhere in a run that is given so many answers."""
    return [
        Kill(chance.randint(0, answers), min(1.0, chance.expovariate(1 / 0.05)))
        for _ in range(times)
    ]


def _finished(process: subprocess.Popen[str]) -> Result:
    out, err = process.communicate(timeout=PATIENCE)
    assert out, f"exit code {process.returncode}: {err[-2000:]}"
    return Result.model_validate_json(out)
