"""What a session was charged, as it stands in its journal beside each answer."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from spadework.bill import total
from spadework.values import Usage

#: The charge of each answer, and at which second of the run it was.
USED = "SELECT used, elapsed FROM journal UNION ALL SELECT used, elapsed FROM exchanges"


def sum_charges(rows: Iterable[Any]) -> tuple[Usage, float] | None:
    """What was charged, and when last (s); None for nothing. Raises sqlite3.DatabaseError."""
    try:
        read = [(json.loads(used), float(elapsed)) for used, elapsed in rows]
        used = total(amounts for amounts, _ in read)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise sqlite3.DatabaseError("what was charged cannot be read") from error
    return (used, max(elapsed for _, elapsed in read)) if read else None
