"""An attack, from its beginning to its verdict."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile import place
from tests.hostile.attack import Attack
from tests.hostile.running import Ran, ran
from tests.hostile.verdict import faults, lateness


@dataclass(frozen=True)
class Happened:
    """What an attack was, what the run was like, and what was wrong with it."""

    attack: Attack
    ran: Ran
    wrong: list[str]

    @property
    def late(self) -> float:
        """Seconds from the deadline to the end, below 0 before it."""
        return lateness(self.attack, self.ran)

    def told(self) -> dict[str, Any]:
        """As plain values."""
        planned = {"attack": str(self.attack), "seed": self.attack.seed}
        planned |= {"seconds": self.attack.seconds}
        return planned | {"wrong": self.wrong, "late": self.late} | vars(self.ran)


def happened(planned: Attack) -> Happened:
    """Let an attack happen, in a process that ends after it. Raises NotAllowed."""
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as folder:
        if planned.needs_namespace:
            place.enter(Path(folder))
        run = asyncio.run(ran(planned, Path(folder)))
        if planned.disk:
            place.unmount(Path(folder) / "home")
    return Happened(planned, run, faults(planned, run))
