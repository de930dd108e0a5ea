"""What further rounds bring without a model, and when it is worth to ask again:
`python benchmarks/rounds_sweep.py DATA collect`, then `fit`, which prints what further rounds
brought by what was known before them, what every least gain would have brought (`LEAST` in
`src/spadework/graph/routes.py`), and which queries found pages that are quoted.

Only the *dev* half of `answers/questions.jsonl` is used. `collect` asks every question for three
rounds, whatever is answered after the first, and keeps after each what is known of every topic and
which facts its report would hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from answers import left_out, over, questions
from answers_match import blocks, body, met
from answers_web import english

from spadework.agents.extractive.question_parts import names_in
from spadework.graph import research as loop, routes, routes as again
from spadework.graph.nodes.assess import after
from spadework.graph.report import draft
from spadework.graph.state import ResearchState
from spadework.sessions.one_call import research
from spadework.values import Coverage, Plan, Recommendation

Row = dict[str, Any]
ROUNDS = 3
LEASTS = (0.0, 0.17, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 2.0)


def asked(row: Row, sites: list[str], home: str) -> Row:
    """What is known after each of three rounds of one question."""
    return asyncio.run(_asked(row, [Path(site) for site in sites], Path(home)))


async def _asked(row: Row, sites: list[Path], home: Path) -> Row:
    rounds: list[Row] = []
    judged, gaps, stopped = loop.assess_round, routes.gap_tasks, loop.stopped_by
    began = time.perf_counter()

    async def watched(context: Any, state: ResearchState) -> Any:
        made = await judged(context, state)
        known = after(state, made)
        rounds.append(_known(row, known, time.perf_counter() - began))
        return made

    def of_all(state: ResearchState, *others: Any) -> Any:
        coverage = {
            n: c.model_copy(update={"covered": False}) for n, c in state["coverage"].items()
        }
        made = gaps({**state, "coverage": coverage}, *others)
        rounds[-1]["next"] = [
            {"topic": t.topic.name, "queries": [q.text for q in t.queries], "again": len(t.again)}
            for t in made
        ]
        return made

    loop.assess_round, routes.gap_tasks = watched, of_all
    loop.stopped_by = lambda state, *_: "iterations" if len(rounds) >= ROUNDS else ""
    try:
        result = await research(row["question"], over(sites, home))
    finally:
        loop.assess_round, routes.gap_tasks, loop.stopped_by = judged, gaps, stopped
    kept = {key: row[key] for key in ("id", "half", "kind", "answerable", "question")}
    cited = [
        {"url": s.url, "found_by": [[f.query, f.kind, f.rank] for f in s.found_by]}
        for s in result.sources
    ]
    quoted = {e.url for topic in result.topics for e in topic.evidence}
    return kept | {
        "rounds": rounds,
        "sources": [s | {"quoted": s["url"] in quoted} for s in cited],
        "seconds": time.perf_counter() - began,
    }


def _known(row: Row, state: ResearchState, seconds: float) -> Row:
    """What is known of every topic, and which facts a report would hold by now."""
    plan: Plan = state["plan"]
    number = max(task.round for task in state["tasks"])
    left = {f.topic: f.left for f in state["finds"] if f.round == number}
    made = {}
    for topic in plan.topics:
        found = state["coverage"][topic.name]
        own = [e for e in state["evidence"] if e.id in set(found.evidence_ids)]
        alone = {**state, "plan": plan.model_copy(update={"topics": (topic,)})}
        text = blocks(body(draft(alone)))
        made[topic.name] = {
            "score": found.score,
            "covered": found.covered,
            "quotes": len(own),
            "origins": len({e.origin for e in own}),
            "recommended": [[r.priority, r.led_to, r.query] for r in found.recommendations],
            "expects": topic.expects,
            "queries": [[q.text, q.kind] for q in topic.queries],
            "lacks": [s.kind for s in state["shortfalls"] if s.topic == topic.name],
            "left": left.get(topic.name, 0),
            "facts": [met(fact, text) for fact in row["facts"]],
            "chars": sum(len(e.quote) for e in own),
        }
    return {
        "type": plan.question_type,
        "seconds": seconds,
        "pages": len(state["pages"]),
        "whole": [s.kind for s in state["shortfalls"] if not s.topic],
        "topics": made,
    }


def collect(options: argparse.Namespace) -> None:
    """Ask all questions of dev for three rounds."""
    sites = english(options.data, options.work / "pages", left_out())
    home = str(options.work / "home")
    rows = questions("dev", languages=False)
    work = [(row, [str(s.resolve()) for s in sites], home) for row in rows]
    asked(*work[0])  # builds the index
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=40) as pool:
        done = pool.starmap(asked, work, chunksize=4)
    lines = (json.dumps(made) + "\n" for made in done)
    (options.work / "rounds.jsonl").write_text("".join(lines), encoding="utf-8")


def fit(options: argparse.Namespace) -> None:
    """Print what rounds brought, and what every least gain would have."""
    text = (options.work / "rounds.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    known = [row for row in rows if row["answerable"]]
    for kept, name in ((False, "the last judgement"), (True, "the better one")):
        told = [f"{share_of(known, [n] * len(known), kept):.3f}" for n in range(ROUNDS)]
        print(f"facts after 1, 2, 3 rounds by {name}: {', '.join(told)}")
    for name, of in GROUPS.items():
        print_group(name, transitions(known), of)
    for least in LEASTS:
        ends = [last_round(row, least) for row in rows]
        pairs = [(row, end) for row, end in zip(rows, ends, strict=True) if row["answerable"]]
        facts = share_of([row for row, _ in pairs], [end for _, end in pairs], True)
        seconds = [row["rounds"][end]["seconds"] for row, end in zip(rows, ends, strict=True)]
        print(
            f"  least {least}: facts {facts:.3f}, rounds {1 + sum(ends) / len(ends):.2f}, "
            f"seconds {sum(seconds) / len(seconds):.2f}"
        )
    print_queries(rows)


def as_coverage(topic: Row) -> Coverage:
    """A topic as it was judged."""
    leads = (Recommendation(query=q, led_to=led) for _, led, q in topic["recommended"])
    ids = tuple(f"E{n}" for n in range(topic["quotes"]))
    return Coverage(
        topic="",
        covered=topic["covered"],
        score=topic["score"],
        evidence_ids=ids,
        recommendations=tuple(leads),
    )


def best_of(row: Row, topic: str, last: int) -> Row:
    """What a topic was by a round, where of two judgements the better is kept."""
    kept: Row = row["rounds"][0]["topics"][topic]
    for each in row["rounds"][1 : last + 1]:
        new = each["topics"][topic]
        kept = kept if again.no_better(as_coverage(new), as_coverage(kept)) else new
    return kept


def share_of(rows: list[Row], ends: list[int], kept: bool) -> float:
    """The share of facts in the reports of some rounds, by the better judgement or the last."""
    found = []
    for row, end in zip(rows, ends, strict=True):
        last = min(end, len(row["rounds"]) - 1)
        topics = row["rounds"][last]["topics"]
        made = [best_of(row, t, last) if kept else topics[t] for t in topics]
        found += [any(facts) for facts in zip(*(t["facts"] for t in made), strict=True)]
    return sum(found) / len(found)


def last_round(row: Row, least: float) -> int:
    """The round, from 0, after which no topic is worth another one; whatever one costs."""
    for n in range(len(row["rounds"]) - 1):
        whole = row["rounds"][n]["whole"]
        topics = [best_of(row, t, n) for t in row["rounds"][n]["topics"]]
        going = (
            not t["covered"]
            and again.gain(as_coverage(t), {*t["lacks"], *whole} & again.RAISING) >= least
            for t in topics
        )
        if not any(going):
            return n
    return len(row["rounds"]) - 1


def transitions(rows: list[Row]) -> list[Row]:
    """Every topic before and after every further round."""
    made = []
    for row in rows:
        for n, (old, new) in enumerate(pairwise(row["rounds"]), 1):
            for name in old["topics"]:
                one, then = best_of(row, name, n - 1), best_of(row, name, n)
                gained = sum(then["facts"]) - sum(one["facts"])
                drawn = sum(new["topics"][name]["facts"]) - sum(old["topics"][name]["facts"])
                made.append(
                    one | {"round": n, "gained": gained, "last": drawn, "of": len(one["facts"])}
                )
    return made


#: What topics are told apart by before a further round.
GROUPS: dict[str, Callable[[Row], object]] = {
    "round": lambda t: t["round"],
    "state": lambda t: (
        t["round"],
        "answered" if t["covered"] else "partly" if t["quotes"] else "open",
    ),
    "leads on": lambda t: (t["round"], any(led for _, led, _ in t["recommended"])),
    "score": lambda t: (t["round"], int(t["score"] * 5) / 5),
    "searches": lambda t: (t["round"], bool(t["recommended"])),
    "lacks": lambda t: ", ".join(t["lacks"]) or "nothing",
    "unread": lambda t: (t["round"], min(t["left"] // 5, 3) * 5),
}


def print_group(name: str, found: list[Row], of: Callable[[Row], object]) -> None:
    """What a further round brought, by one thing that was known before."""
    print(name)
    for value in sorted({str(of(t)) for t in found}):
        own = [t for t in found if str(of(t)) == value]
        share = sum(t["gained"] / t["of"] for t in own) / len(own)
        more, less = (sum(max(0, sign * t["gained"]) for t in own) for sign in (1, -1))
        print(f"  {value:<24} {len(own):>4} topics: +{more} -{less} facts, mean {share:+.3f}")


def print_queries(rows: list[Row]) -> None:
    """Which queries found pages that are quoted, and those that no other query found."""
    asked, quoted, alone = Counter[str](), Counter[str](), Counter[str]()
    for row in rows:
        kinds = kinds_of(row)
        asked.update(kinds.values())
        for source in row["sources"]:
            own = {kinds.get(text, kind) for text, kind, _ in source["found_by"]}
            quoted.update(own if source["quoted"] else ())
            alone.update(own if source["quoted"] and len(own) == 1 else ())
    for kind in asked:
        print(
            f"{kind}: {asked[kind]} asked, {quoted[kind]} quoted pages, {alone[kind]} by it alone"
        )


def kinds_of(row: Row) -> dict[str, str]:
    """The queries of a question, each with what it was made of."""
    made: dict[str, str] = {}
    for topic in row["rounds"][0]["topics"].values():
        names = set(names_in(row["question"]))
        for text, kind in topic["queries"]:
            made[text] = kind if kind == "original" else "a name" if text in names else "a part"
    for each in row["rounds"]:
        for task in each.get("next", []):
            made |= {text: "gap" for text in task["queries"] if text not in made}
    return made


def main() -> None:
    """Collect or fit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("step", choices=("collect", "fit"))
    parser.add_argument("--work", type=Path, default=Path("build/answers"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    collect(options) if options.step == "collect" else fit(options)


if __name__ == "__main__":
    main()
