"""Decide without a model what to quote for a topic, and whether it answers the topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spadework.agents.evidence.expectation import search
from spadework.agents.evidence.multi_hop import Hop, Trail, led_on, trail
from spadework.agents.evidence.passages import Judgement, PassageView, Spot
from spadework.agents.extractive.judge import Opinion, Scored, judge_passages
from spadework.agents.extractive.question_parts import names_in, read, subject_of
from spadework.tools.ranking.selection import bare
from spadework.tools.text.facts import stems
from spadework.tools.text.language import Phrases, spoken
from spadework.tools.text.markdown import plain
from spadework.values import Evidence, Plan, Recommendation, Topic

#: The score of an unproven topic if all words of its question are found together.
UNPROVEN = 0.6
#: If a smaller fraction of the question's words is found together, no page is about the question.
#: At most this many quotes are then kept.
NEAREST, MOST_NEAREST = 0.5, 2


def assess(
    plan: Plan, topic: Topic, shown: Sequence[PassageView], known: Sequence[Evidence]
) -> Judgement:
    """Return what to quote for a topic, and whether it answers the topic.
    Quotes from earlier pages are not repeated. Questions about steps never follow names.
    """
    expects = {topic.expects, read(topic.question).expects}
    led = Trail() if "steps" in expects else trail(plan.question, shown, known)
    question = " ".join([topic.question, *led.titles])
    here = {passage.page.content_hash for passage in shown}
    before = [plain(e.quote) for e in known if e.content_hash not in here]
    opinion = judge_passages(question, shown, before)
    # Quote the pages that the question led to, whatever else was found.
    there = [s for s in shown if bare(s.page.title) in led.further]
    led_to = judge_passages(question, there, before).chosen[:MOST_NEAREST] if there else ()
    unnamed = _unnamed(topic, opinion)
    covered = opinion.proven and not led.ahead
    subject = " ".join(names_in(topic.question) or [subject_of(topic.question)])
    unheard_of = bool(stems(" ".join(unnamed)) & stems(subject))
    near = not (covered or led.ahead) and (unheard_of or (opinion.share < NEAREST and not led_to))
    chosen = [*led_to, *opinion.chosen][: MOST_NEAREST if near else None]
    leading = [each.shown.spot((each.start, each.end)) for each in led.ahead or led.via]
    return Judgement(
        covered,
        1.0 if opinion.proven else round(UNPROVEN * opinion.share, 3),
        tuple(_each_once([*leading, *_quote(chosen)])),
        () if covered else (_gap(Phrases(plan.language), opinion, led.ahead, unnamed),),
        () if covered else tuple(_next_queries(topic, opinion, led.ahead)),
        near=near,
    )


def _unnamed(topic: Topic, opinion: Opinion) -> list[str]:
    code = spoken(topic.question)
    typed = [word.strip('?!.,;:¿¡"“”') for word in topic.question.split()]
    return [word for word in typed if stems(word, code) & opinion.missing]


def _gap(say: Phrases, opinion: Opinion, ahead: Sequence[Hop], unnamed: Sequence[str]) -> str:
    if ahead:
        return say("gap_leads", names=", ".join(bridge.name for bridge in ahead))
    if unnamed:
        return say("gap_unnamed", words=", ".join(unnamed))
    if opinion.denied:
        return say("gap_denied")
    return say("gap_apart" if opinion.chosen else "gap_nothing")


def _quote(chosen: Sequence[Scored]) -> Iterator[Spot]:
    for one in chosen:
        for span in (*one.candidate.led, *one.candidate.spans):
            yield one.candidate.shown.spot(span)


def _each_once(spots: Sequence[Spot]) -> list[Spot]:
    """Drop spots inside other spots, because one sentence may introduce several."""
    kept: list[Spot] = []
    for one in spots:
        met = [n for n, old in enumerate(kept) if one.overlaps(old)]
        if not met:
            kept.append(one)
        elif len(met) == 1 and one.start <= kept[met[0]].start and kept[met[0]].end <= one.end:
            kept[met[0]] = one
    return kept


def _next_queries(topic: Topic, opinion: Opinion, ahead: Sequence[Hop]) -> Iterator[Recommendation]:
    yield from led_on(topic, ahead)
    held = set[str]().union(*(s.near for s in opinion.chosen))
    typed = [word.strip("?!.,;:¿¡") for word in topic.question.split()]
    missing = [word for word in typed if (own := stems(word)) and not own & held]
    about = stems(subject_of(topic.question))
    if not ahead and missing and len(missing) < len(typed):
        query = " ".join(word for word in typed if word in missing or stems(word) & about)
        purpose = "No quote contains these words of the question."
        yield search(query, purpose, "medium" if len(missing) > 1 else "low")
