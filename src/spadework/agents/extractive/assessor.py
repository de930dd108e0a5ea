"""The assessor without a model: what to quote for a topic, and whether that answers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spadework.agents.confirming import FACTS
from spadework.agents.extractive.candidates import Candidate
from spadework.agents.extractive.judge import Opinion, Scored, judge_passages
from spadework.agents.extractive.question_parts import read, subject_of
from spadework.agents.multi_hop import Hop, Trail, led_on, trail
from spadework.agents.passage_view import Judgement, PassageView, Spot
from spadework.agents.shortfalls import search
from spadework.tools.ranking.selection import bare
from spadework.tools.text.facts import stems
from spadework.tools.text.markdown_marks import plain
from spadework.tools.text.phrases import Phrases
from spadework.values import Evidence, Plan, Recommendation, Topic

#: From this probability on what is quoted answers a topic; below that it is only the nearest that
#: was read (benchmarks/README.md).
ANSWERED, NEAREST = 0.8, 0.25


def assess(
    plan: Plan, topic: Topic, shown: Sequence[PassageView], known: Sequence[Evidence]
) -> Judgement:
    """The judgement of a topic: what to quote of the pages shown, and whether that answers it. What
    was quoted of other pages is not said again. Steps are no way from one name to the next.
    """
    expects = {topic.expects, read(topic.question).expects}
    led = Trail() if "steps" in expects else trail(plan.question, shown, known)
    question = " ".join([topic.question, *led.titles])
    here = {passage.page.content_hash for passage in shown}
    before = [plain(e.quote) for e in known if e.content_hash not in here]
    opinion = judge_passages(question, shown, before, short=topic.expects in FACTS)
    # Of the pages that the question led to something is quoted, whatever the others hold.
    there = [s for s in shown if bare(s.page.title) in led.further]
    led_to = judge_passages(question, there, before, short=True).chosen if there else ()
    chosen = [*led_to, *opinion.chosen]
    leading = [each.shown.spot((each.start, each.end)) for each in led.ahead or led.via]
    covered = opinion.probability >= ANSWERED and not led.ahead
    near = opinion.probability < NEAREST and not led.ahead
    return Judgement(
        covered,
        round(opinion.probability, 3),
        tuple(_each_once([*leading, *_quote_chosen(chosen, defines="definition" in expects)])),
        () if covered else (_gap(Phrases(plan.language), opinion, led.ahead, near=near),),
        () if covered else tuple(_next_queries(topic, opinion, led.ahead)),
        near=near,
    )


def _gap(say: Phrases, opinion: Opinion, ahead: Sequence[Hop], *, near: bool) -> str:
    if not opinion.chosen:
        return say("gap_nothing")
    if ahead:
        return say("gap_leads", names=", ".join(bridge.name for bridge in ahead))
    return say("gap_far" if near else "gap_near")


def _in_page_order(chosen: Sequence[Scored], *, defines: bool) -> list[Candidate]:
    """Page by page, the more of a page's name stands in the question the earlier, else in the order
    of their best quotes; each page's quotes as they stand in it. What `defines` begins with the
    sentence that begins with the subject (benchmarks/what_is.py).
    """
    named = {_url(s): s.features["head"] for s in chosen}
    first = _defining(chosen) if defines else None
    pages = sorted(named, key=lambda url: (not first or url != _url(first), -named[url]))

    def place(one: Scored) -> tuple[int, bool, int]:
        start, page = one.candidate.start, pages.index(_url(one))
        before = first is not None and page == 0 and start < first.candidate.start
        return page, before, start

    return [s.candidate for s in sorted(chosen, key=place)]


def _defining(chosen: Sequence[Scored]) -> Scored | None:
    """The first sentence that begins with a word of the question, on the page that has the best of
    them.
    """
    says = [s for s in chosen if s.features["first"]]
    best = max(says, key=lambda s: s.score, default=None)
    there = [s for s in says if best and _url(s) == _url(best)]
    return min(there, key=lambda s: s.candidate.start, default=None)


def _url(one: Scored) -> str:
    return one.candidate.shown.page.url


def _quote_chosen(chosen: Sequence[Scored], *, defines: bool) -> Iterator[Spot]:
    """The stretches of what is chosen; items and code after the sentence that introduces them."""
    for one in _in_page_order(chosen, defines=defines):
        for span in (*one.led, *one.spans):
            yield one.shown.spot(span)


def _each_once(spots: Sequence[Spot]) -> list[Spot]:
    """The spots without what stands in another: one sentence may introduce several, and stand in
    what introduces the next.
    """
    kept: list[Spot] = []
    for one in spots:
        met = [n for n, old in enumerate(kept) if one.overlaps(old)]
        if not met:
            kept.append(one)
        elif len(met) == 1 and one.start <= kept[met[0]].start and kept[met[0]].end <= one.end:
            kept[met[0]] = one
    return kept


def _next_queries(topic: Topic, opinion: Opinion, ahead: Sequence[Hop]) -> Iterator[Recommendation]:
    """What it leads on to; else the words of the question that nothing quoted holds, with those
    that say what it is about.
    """
    yield from led_on(topic, ahead)
    held = set[str]().union(*(s.parts.all for s in opinion.chosen))
    said = [word.strip("?!.,;:¿¡") for word in topic.question.split()]
    missing = [word for word in said if (own := stems(word)) and not own & held]
    about = stems(subject_of(topic.question))
    if not ahead and missing and len(missing) < len(said):
        query = " ".join(word for word in said if word in missing or stems(word) & about)
        purpose = "No quote holds these words of the question."
        yield search(query, purpose, "medium" if len(missing) > 1 else "low")
