"""What a small local model adds: `python benchmarks/small_model.py DATA --work WORK` with
OPENAI_BASE_URL and SPADEWORK_MODEL naming the model's server.

Twenty answerable questions of *test*, drawn by a seed (`SEED=14` before it draws others), are asked
in quick effort, one after the other, with the model and (in a process whose environment has none)
without, over the library of answers.py. Counted are the known facts that stand in what was read, in
the ledger and in the report; how long a run took, who stopped it, and what a role could not do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from answers import Row, _facts, _texts, left_out, over, questions
from answers_match import body
from answers_web import english

from spadework.sessions.one_call import research

QUESTIONS, SEED, MINUTES = 20, int(os.environ.get("SEED", "13")), 6.0
MODEL = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "SPADEWORK_MODEL")
PLACES = ("read", "ledger", "report")


def drawn() -> list[Row]:
    """The questions."""
    rows = [row for row in questions("test", languages=False) if row["answerable"]]
    return random.Random(SEED).sample(rows, QUESTIONS)


async def asked(row: Row, sites: list[Path], home: Path) -> dict[str, Any]:
    """What came of one question."""
    settings = over(sites, home).model_copy(update={"effort": "quick", "minutes": MINUTES})
    began = time.perf_counter()
    result = await research(row["question"], settings)
    seconds = time.perf_counter() - began
    lines = (Path(result.session_dir) / "evidence.jsonl").read_text(encoding="utf-8").splitlines()
    ledger = "\n\n".join(json.loads(line)["quote"] for line in lines)
    texts = {"read": "\n\n".join(_texts(result)), "ledger": ledger, "report": body(result.report)}
    return {
        "id": row["id"],
        "facts": {place: sum(_facts(row, texts[place])) for place in PLACES},
        "of": len(row["facts"]),
        "seconds": round(seconds, 1),
        "status": result.status,
        "stopped_by": result.stopped_by,
        "calls": result.usage.model_calls,
        "tokens": result.usage.tokens_in + result.usage.tokens_out,
        "problems": [problem.reason for problem in result.problems],
        "report": result.report,
    }


async def all_asked(data: Path, work: Path, home: Path, to: Path) -> None:
    """Ask every question, and write down what came as it comes."""
    sites = [site.resolve() for site in english(data, work / "pages", left_out())]
    with to.open("w", encoding="utf-8") as file:
        for row in drawn():
            told = json.dumps(await asked(row, sites, home), ensure_ascii=False)
            print(told, file=file, flush=True)


def as_text(name: str, made: list[dict[str, Any]]) -> str:
    """The figures of one way to ask."""
    facts = ", ".join(f"{place} {sum(m['facts'][place] for m in made)}" for place in PLACES)
    seconds = sorted(m["seconds"] for m in made)
    ends = sorted({f"{m['status']} {m['stopped_by']}".strip() for m in made})
    problems = sorted({p for m in made for p in m["problems"]})
    return "\n".join(
        [
            f"{name}: {len(made)} questions, {sum(m['of'] for m in made)} facts: {facts}",
            f"  {seconds[len(seconds) // 2]} s in the middle, {seconds[-1]} s at most; {ends}",
            f"  {sum(m['calls'] for m in made)} calls, {sum(m['tokens'] for m in made):,} tokens",
            *(f"  {problem}" for problem in problems),
        ]
    )


def main() -> None:
    """Ask with the model, then without, and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/answers"))
    parser.add_argument("--one", help="a way to ask, in this process")
    options = parser.parse_args()
    if options.one:
        to = options.work / f"{options.one}.jsonl"
        home = options.work / f"home-{options.one}"
        asyncio.run(all_asked(options.data, options.work, home, to))
        return
    for name in ("with a model", "without"):
        env = {k: v for k, v in os.environ.items() if name != "without" or k not in MODEL}
        one = name.replace(" ", "-")
        again = [sys.executable, __file__, str(options.data), "--work", str(options.work)]
        subprocess.run([*again, "--one", one], env=env, check=True)
        lines = (options.work / f"{one}.jsonl").read_text(encoding="utf-8").splitlines()
        print(as_text(name, [json.loads(line) for line in lines]))


if __name__ == "__main__":
    main()
