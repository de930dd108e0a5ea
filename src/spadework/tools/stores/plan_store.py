"""Store the plans of earlier questions for reuse."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spadework.tools.stores.private_files import write_atomically
from spadework.values import Plan

PLAN_SECONDS = 7 * 86_400


def normalise_question(question: str) -> str:
    """Return a question in lower case, without extra spaces or final punctuation."""
    return " ".join(question.split()).rstrip(" ?!.").casefold()


class PlanStore:
    """The plans in `folder`, each valid for PLAN_SECONDS."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: Any) -> Plan | None:
        """Return the plan stored under a key (JSON), or None if there is none or it has expired."""
        path = self._path(key)
        try:
            return None if self._is_old(path) else Plan.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, key: Any, plan: Plan) -> None:
        """Store a plan, and delete expired plans. Raises OSError."""
        write_atomically(self._path(key), plan.model_dump_json().encode())
        for path in self._folder.glob("*.json"):
            if self._is_old(path):
                path.unlink(missing_ok=True)

    def forget(self, questions: Iterable[str]) -> None:
        """Delete the plans stored for `questions`. Raises OSError."""
        asked = {*map(normalise_question, questions)}
        for path in self._folder.glob("*.json"):
            with suppress(FileNotFoundError, ValidationError):
                kept = Plan.model_validate_json(path.read_bytes())
                if normalise_question(kept.question) in asked:
                    path.unlink()

    def _is_old(self, path: Path) -> bool:
        return time.time() - path.stat().st_mtime > PLAN_SECONDS

    def _path(self, key: Any) -> Path:
        said = json.dumps(key, sort_keys=True, ensure_ascii=False)
        return self._folder / f"{hashlib.sha256(said.encode()).hexdigest()[:40]}.json"
