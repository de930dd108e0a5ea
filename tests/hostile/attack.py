"""An attack: everything that goes wrong in one run, drawn from a seed. The same seed gives the same
attack.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.hostile.faults import FAULTS

#: The services that a run talks to, besides the sites, which are attacked one by one.
SERVICES = ("search", "robots", "model", "embeddings", "mcp", "knowledge")
SITES = ("news", "blog", "forum", "archive", "docs", "encyclopedia")
#: What becomes of connections before anything is asked; TLS stands for an address with https.
CONNECTS = ("refused", "full", "TLS silent", "TLS garbage", "TLS closed", "TLS untrusted")
#: What a name server does about a name.
NAMINGS = ("silent", "unknown", "failing", "slow", "garbage", "circular", "dead first")
#: Search servers of MCP that are processes: ways of tests/tools/search/mcp_servers.py, and tools.
PROCESSES = ("stubborn structured", "mute structured", "hangs", "dies", "breaks", "refuses")
DISKS = ("full", "full for a while", "read-only", "gone")
SIGNALS: dict[str, tuple[tuple[str, float], ...]] = {
    "Ctrl-C": (("SIGINT", 0.0),),
    "Ctrl-C twice": (("SIGINT", 0.0), ("SIGINT", 0.3)),
    "terminated": (("SIGTERM", 0.0),),
    "hung up": (("SIGHUP", 0.0),),
    "stopped for a while": (("SIGSTOP", 0.0), ("SIGCONT", 1.5)),
    "killed": (("SIGKILL", 0.0),),
}
SEARCHES = ("searxng", "searxng", "searxng,mcp", "mcp")
EFFORTS = ("normal", "normal", "quick", "deep")
DOORS = ("text", "text", "json", "events", "file", "closed pipe", "code")


@dataclass(frozen=True)
class Assault:
    """What is done to one service: to connections, or else with a probability to a request, and by
    which faults.
    """

    connect: str = ""
    share: float = 0.0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attack:
    """One hostile run. `seconds` is its deadline; `disk` and `signals` strike at the share `when`
    of it. Without a name, a part is left alone.
    """

    seed: int
    seconds: float
    model: bool
    stream: bool
    effort: str
    search: str
    door: str
    services: dict[str, Assault] = field(default_factory=dict)
    sites: dict[str, Assault] = field(default_factory=dict)
    process: str = ""
    names: dict[str, str] = field(default_factory=dict)
    disk: str = ""
    signals: str = ""
    when: float = 0.5

    @property
    def needs_namespace(self) -> bool:
        """Whether it needs a name server or a disk of its own."""
        return bool(self.names or self.disk)

    def __str__(self) -> str:
        """In a line."""
        hurt = {**self.services, **self.sites}
        parts: list[Any] = [f"{self.seconds:g} s", self.door, self.effort, self.search]
        parts += ["a model"] * self.model + ["streaming"] * (self.model and self.stream)
        parts += [
            f"{name}: {a.connect or f'{a.share:.0%} {list(a.faults)}'}" for name, a in hurt.items()
        ]
        parts += [f"names: {self.names}"] * bool(self.names)
        parts += [f"MCP process: {self.process}"] * bool(self.process)
        parts += [f"disk {self.disk} at {self.when:.0%}"] * bool(self.disk)
        parts += [f"{self.signals} at {self.when:.0%}"] * bool(self.signals)
        return "; ".join(parts)


def attack(seed: int, stretched: float = 1.0) -> Attack:
    """The attack of a seed, its deadline so many times as long."""
    r = random.Random(f"attack {seed}")
    seconds, model, search = stretched * _deadline(r), r.random() < 0.6, r.choice(SEARCHES)
    process = r.choice(PROCESSES) if "mcp" in search and r.random() < 0.5 else ""
    used = {"search": "searxng" in search, "mcp": "mcp" in search and not process, "model": model}
    services = [name for name in SERVICES if used.get(name, True)]
    named = r.random() < 0.3
    disk = r.choice(DISKS) if r.random() < 0.12 else ""
    door = r.choice(DOORS)
    # A program that uses spadework sees to its signals itself.
    struck = not disk and door != "code" and r.random() < 0.25
    return Attack(
        *(seed, seconds, model, r.random() < 0.3, r.choice(EFFORTS), search, door),
        services={name: hurt for name in services if (hurt := _assault(r))},
        sites={name: hurt for name in SITES if (hurt := _assault(r))},
        process=process,
        names={n: r.choice(NAMINGS) for n in (*SITES, *services) if named and r.random() < 0.4},
        disk=disk,
        signals=r.choice(list(SIGNALS)) if struck else "",
        when=r.uniform(0.1, 0.9),
    )


def _deadline(r: random.Random) -> float:
    """10 to 60 seconds, mostly few."""
    return r.choice((r.uniform(10, 15),) * 12 + (r.uniform(15, 30),) * 2 + (r.uniform(30, 60),))


def _assault(r: random.Random) -> Assault | None:
    """What is done to a service, or nothing."""
    kind = r.random()
    if kind < 0.4:
        return None
    if kind < 0.5:
        return Assault(connect=r.choice(CONNECTS))
    faults = tuple(sorted(r.sample(sorted(FAULTS), r.randint(1, 3))))
    return Assault(share=r.choice((0.3, 0.7, 1.0)), faults=faults)
