"""`plan`: what a run would do and cost, without running it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from spadework.apps.forecast_text import foretold
from spadework.apps.messages import say, say_json
from spadework.apps.terminal.question_input import searching_as
from spadework.sessions.lookups.preview import Preview, preview
from spadework.sessions.session import Session
from spadework.settings import Settings


def print_plan(question: str, settings: Settings, follows: str, as_json: bool) -> None:
    """Print a question's plan and estimate as text or JSON; problems go to stderr."""
    settings = searching_as(settings, follows)
    session = Session.start(question, settings=settings, follows=follows)
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        say(f"Note: {text}", err=True)

    made = asyncio.run(preview(session, tell))
    for problem in made.problems:
        if (said := f"{problem.reason} {problem.effect}") not in told:
            say(said, err=True)
    if as_json:
        say_json(made.model_dump_json())
    else:
        say("\n".join(_lines(made)))


def _lines(made: Preview) -> Iterator[str]:
    plan = made.plan
    fresh = "" if plan.freshness == "any" else f", wanted {plan.freshness}"
    about = f"; about {', '.join(plan.subjects)}" if plan.subjects else ""
    yield plan.question
    yield f"{plan.question_type}, {plan.complexity}{fresh}{about}"
    for n, topic in enumerate(plan.topics, 1):
        yield ""
        yield f"{n:>2}. {topic.name}"
        if topic.question != topic.name:
            yield f"    {topic.question}"
        must = f"; must cover {', '.join(topic.must_cover)}" if topic.must_cover else ""
        yield f"    expects {topic.expects}{must}"
        yield f"    searches {' | '.join(query.text for query in topic.queries)}"
    yield ""
    yield f"Estimate: {foretold(made.forecast)}"
