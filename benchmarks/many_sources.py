"""Many sources in deep effort: `python benchmarks/many_sources.py [--documents 200]`, from the
repository's root.

A library of as many documents (about 6,000 characters each, of which one sentence says something of
one of five matters, or none does) is researched with a scripted model, which is told of all it says
to name every such sentence that it is shown. Printed is how many pages were read, how many of those
that say something are cited, how many are named with a reason why not, what is neither, and what
the run took: seconds, the process's peak of memory, calls, tokens.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Result
from tests.world.background import Background
from tests.world.brain import assessment, evidence, written
from tests.world.chat import ChatRequest
from tests.world.library import EMPTY, MATTERS, play_reader, put_library
from tests.world.model import Model
from tests.world.naming import passages

QUESTION = "What is known of the keels, the sails, the ropes, the lamps and the bells of the boats?"
#: Paragraphs of a document, and its title.
FILL = 34
_TITLE = re.compile(r"(\w+) of boat (\d+)")


def assess(request: ChatRequest) -> dict[str, Any]:
    """What an assessor answers who is shown all passages of a topic: as many quotes as it is told
    to give at most.
    """
    found = re.search(r"^Topic: (.*)$", request.prompt, re.MULTILINE)
    matter = found[1].lower() if found else ""
    said = re.findall(
        rf"The \w+ {matter} of boat \d+ were renewed in \d+ by its crew\.",
        "\n".join(passages(request)),
    )
    most = re.search(r"At most (\d+)", request.system)
    return assessment(said[: int(most[1]) if most else None])


def says(title: str) -> bool:
    """Whether a document says something of its matter."""
    found = _TITLE.match(title)
    return bool(found) and int(found[2]) % EMPTY != EMPTY - 1 if found else False


def told(result: Result, seconds: float) -> None:
    """Print the figures of a run."""
    cited = {
        e.url
        for t in result.topics
        for e in t.evidence
        if e.id in {c.evidence_id for c in result.citations}
    }
    reasons = {s.url: getattr(s, "unused", "") for s in result.sources}
    saying = [s for s in result.sources if says(s.title)]
    rest = [s for s in result.sources if s.url not in cited]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    usage = result.usage
    print(f"pages read           {len(result.sources)}, of which {len(saying)} say something")
    print(f"cited                {sum(s.url in cited for s in saying)}")
    print(f"named with a reason  {sum(bool(reasons[s.url]) for s in rest)}")
    print(f"neither              {sum(not reasons[s.url] for s in rest)}")
    for why, count in Counter(reasons[s.url] for s in rest if reasons[s.url]).items():
        print(f"  {count:>4} {why}")
    print(f"seconds {seconds:.1f}, memory {peak:.0f} MB, calls {usage.model_calls},", end=" ")
    print(f"tokens {usage.tokens_in} in and {usage.tokens_out} out, rounds {result.iterations}")
    for problem in result.problems[:3]:
        print(f"  {problem.stage}: {problem.reason[:120]}")


def main() -> None:
    """Run once and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=200)
    count = parser.parse_args().documents
    with Background() as background, tempfile.TemporaryDirectory() as folder:
        model = Model(background)
        os.environ.update(model.env)
        put_library(Path(folder) / "harbour", count, FILL)
        play_reader(model, len(MATTERS))
        model.script("AssessmentAnswer", assess)
        model.script("SectionAnswer", lambda r: written(*((q, [i]) for i, q in evidence(r))))
        settings = Settings.load(
            home=Path(folder) / "home",
            library=(Path(folder) / "harbour",),
            search="library",
            effort="deep",
            iterations=1,
        )
        began = time.monotonic()
        result = asyncio.run(research(QUESTION, settings))
        told(result, time.monotonic() - began)


if __name__ == "__main__":
    main()
