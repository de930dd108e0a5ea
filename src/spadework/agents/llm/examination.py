"""Test with thirty examples whether a model can judge sentences against their sources. Half of the
sentences paraphrase their source, and half contain one false detail.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spadework.agents.llm.client import Model
from spadework.agents.llm.providers import Place
from spadework.agents.llm.reply import CutOff
from spadework.agents.report.material import Entry, page_line
from spadework.agents.verifier import ask
from spadework.prompts import render
from spadework.tools.stores.private_files import write_atomically
from spadework.values import Value

#: To pass, a model must judge at least LEAST_RIGHT out of OF sentences correctly, or the same
#: fraction if fewer were judged.
LEAST_RIGHT, OF = 28, 30
#: To pass, a model may judge at most this many false sentences to be "supported".
MOST_LET_THROUGH = 1
LEAST_ASKED = 20
#: The minimum context size, in tokens, at which all sentences are judged in one call.
WHOLE_CONTEXT = 8_000
#: The number of sentences per call if the context is smaller than WHOLE_CONTEXT, or after a reply
#: was cut off.
BATCH = 10
#: The number of seconds that a result stays valid. After that, the server might run another model
#: under the same name.
KEPT_SECONDS = 30 * 86_400


class Examined(Value):
    """A test result. `let_through` counts the false sentences that the model called supported."""

    asked: int
    right: int
    let_through: int

    @property
    def guessed(self) -> bool:
        """Whether the verdicts are no better than chance."""
        return 2 * self.right <= self.asked

    @property
    def passed(self) -> bool:
        """Whether the model is good enough to judge sentences."""
        enough = self.asked >= LEAST_ASKED and OF * self.right >= LEAST_RIGHT * self.asked
        return enough and self.let_through <= MOST_LET_THROUGH


async def examine_model(model: Model, home: Path, *, seconds: float) -> Examined:
    """Return the verifier model's test result, stored or new. Raises ModelError or BudgetSpent."""
    path = _path(model.place("verifier"), home)
    known = await asyncio.to_thread(_load_result, path)
    if known is None:
        known = await _examine(model, seconds)
        # If storing fails, the model is examined again next time.
        with suppress(OSError):
            await asyncio.to_thread(write_atomically, path, known.model_dump_json().encode())
    return known


async def result_at(place: Place, home: Path) -> Examined | None:
    """Return the stored test result of a model, or None if there is none or it has expired."""
    return await asyncio.to_thread(_load_result, _path(place, home))


async def _examine(model: Model, seconds: float) -> Examined:
    cases = list(_cases())
    random.Random(model.place("verifier").name).shuffle(cases)
    context = await model.context("verifier")
    if not 0 < context < WHOLE_CONTEXT:
        with suppress(CutOff):
            return await _examine_in(model, cases, seconds)
    batches = [cases[n : n + BATCH] for n in range(0, len(cases), BATCH)]
    done = await asyncio.gather(
        *(_examine_in(model, batch, seconds) for batch in batches), return_exceptions=True
    )
    failed = [each for each in done if isinstance(each, BaseException)]
    unmet = [each for each in failed if not isinstance(each, CutOff)]
    parts = [each for each in done if isinstance(each, Examined)]
    if unmet or not parts:
        raise (unmet or failed)[0]
    asked, right, let_through = (
        sum(getattr(part, name) for part in parts) for name in ("asked", "right", "let_through")
    )
    return Examined(asked=asked, right=right, let_through=let_through)


async def _examine_in(model: Model, cases: list[dict[str, Any]], seconds: float) -> Examined:
    entries, items = [], []
    for n, case in enumerate(cases, 1):
        own = [
            Entry(f"E{n}{'abc'[m]}", page_line(quote["title"], quote["heading"]), quote["quote"])
            for m, quote in enumerate(case["quotes"])
        ]
        entries += own
        ids = [entry.id for entry in own]
        told = {"sentence": case["sentence"], "code": False, "inferred": False, "note": ""}
        items.append(told | {"ids": ids})
    answers = await ask(model, items, entries, seconds=seconds)
    said = {n: answer.verdict == "supported" for n, answer in answers.items()}
    right = sum(said.get(n) is case["holds"] for n, case in enumerate(cases, 1))
    let_through = sum(said.get(n, False) for n, case in enumerate(cases, 1) if not case["holds"])
    return Examined(asked=len(cases), right=right, let_through=let_through)


@lru_cache(maxsize=1)
def _cases() -> tuple[dict[str, Any], ...]:
    text = (files("spadework.agents.llm") / "examination.json").read_text(encoding="utf-8")
    return tuple(json.loads(text))


def _path(place: Place, home: Path) -> Path:
    wording = render("verifier", items=[], evidence=[]).system
    asked = json.dumps([*place, wording, _cases()], ensure_ascii=False)
    return home / "examined" / f"{hashlib.sha256(asked.encode()).hexdigest()[:40]}.json"


def _load_result(path: Path) -> Examined | None:
    try:
        if time.time() - path.stat().st_mtime > KEPT_SECONDS:
            return None
        return Examined.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
