"""The assessor without a model: what to quote for a topic, and whether that answers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spadework.agents.confirming import FACTS
from spadework.agents.extractive.asked import subject_of
from spadework.agents.extractive.bridges import (
    Bridge,
    asks_for_a_relation,
    bridges,
    led_on,
    reached,
)
from spadework.agents.extractive.candidates import Candidate
from spadework.agents.extractive.judge import Opinion, Scored, judged
from spadework.agents.shown import Judgement, Shown, Spot
from spadework.tools.facts import stems
from spadework.tools.inline import plain
from spadework.tools.select import bare
from spadework.values import Evidence, Plan, Recommendation, Topic

#: From this probability on what is quoted answers a topic.
ANSWERED = 0.85
#: From this share of the words of a page's title on, that stand in the question, the page is of the
#: subject.
TITLED = 0.3
#: New pages that a recommended search may bring, and words that make one worth it.
MOST_RESULTS, LEAST_WORDS = 5, 2


def assess(
    plan: Plan, topic: Topic, shown: Sequence[Shown], known: Sequence[Evidence]
) -> Judgement:
    """The judgement of a topic: the best quotes that do not repeat what is known, and whether they
    answer it.
    """
    leads = asks_for_a_relation(plan.question)
    found = bridges(plan.question, shown) if leads else []
    led_to = reached(shown, known) if leads else ()
    ahead = [] if known else found
    via = [b for b in found if any(stems(b.name) <= stems(name) for name in led_to)]
    question = " ".join([topic.question, *led_to])
    here = {s.page.content_hash for s in shown}
    said = [plain(e.quote) for e in known if e.content_hash not in here]
    opinion = judged(question, shown, said, short=topic.expects in FACTS)
    covered = opinion.probability >= ANSWERED and not ahead
    spots = [_spot(b.shown, (b.start, b.end)) for b in (ahead or via)]
    asked = stems(plan.question)
    further = {name for name in led_to if not stems(name) <= asked}
    there = [s for s in shown if bare(s.page.title) in further]
    chosen = [*(judged(question, there, said, short=True).chosen if there else ()), *opinion.chosen]
    spots += [spot for one in _in_page_order(chosen) for spot in _spots(one)]
    spots = list(_each_once(spots))
    return Judgement(
        covered,
        round(opinion.probability, 3),
        tuple(spots),
        () if covered else tuple(_gaps(topic, opinion, ahead)),
        () if covered else tuple(_next_queries(topic, opinion, ahead)),
    )


def _gaps(topic: Topic, opinion: Opinion, ahead: Sequence[Bridge]) -> Iterator[str]:
    if not opinion.chosen:
        yield "Nothing that was read answers this."
    elif ahead:
        yield f"It leads on to {' and '.join(bridge.name for bridge in ahead)}."
    else:
        yield "The quotes are the nearest that was read; whether they answer it is not certain."


def _in_page_order(chosen: Sequence[Scored]) -> list[Candidate]:
    """Page by page in the order of their best quote, those of the subject first; each page's quotes
    as they stand in it.
    """
    titled = {s.candidate.shown.page.url: s.features["title_fits"] >= TITLED for s in chosen}
    pages = sorted(titled, key=lambda url: not titled[url])
    return sorted(
        (s.candidate for s in chosen),
        key=lambda one: (pages.index(one.shown.page.url), one.start),
    )


def _spots(one: Candidate) -> list[Spot]:
    """The stretches of a candidate; items and code after the sentence that introduces them."""
    spans = [one.led, *one.spans] if one.led else list(one.spans)
    return [_spot(one.shown, span) for span in spans]


def _each_once(spots: Sequence[Spot]) -> Iterator[Spot]:
    """The spots without what stands in one before: one sentence may introduce several."""
    kept: list[Spot] = []
    for one in spots:
        if not any(
            one.page.content_hash == old.page.content_hash
            and one.start < old.end
            and old.start < one.end
            for old in kept
        ):
            kept.append(one)
            yield one


def _spot(shown: Shown, span: tuple[int, int]) -> Spot:
    start, end = span
    return Spot(shown.page, start, end, shown.text[start - shown.start : end - shown.start])


def _next_queries(
    topic: Topic, opinion: Opinion, ahead: Sequence[Bridge]
) -> Iterator[Recommendation]:
    """What it leads on to; else the words of the question that nothing quoted holds, with those
    that say what it is about.
    """
    yield from led_on(topic, ahead)
    held = set[str]().union(*(s.parts.all for s in opinion.chosen))
    said = [word.strip("?!.,;:¿¡") for word in topic.question.split()]
    missing = [word for word in said if (own := stems(word)) and not own & held]
    about = stems(subject_of(topic.question))
    if not ahead and missing and len(missing) < len(said):
        yield Recommendation(
            query=" ".join(word for word in said if word in missing or stems(word) & about),
            purpose="No quote holds these words of the question.",
            priority="medium" if len(missing) >= LEAST_WORDS else "low",
            max_results=MOST_RESULTS,
        )
