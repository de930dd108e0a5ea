"""Choose quotes for a topic without a model, and decide whether they answer it. For measurements,
see benchmarks/README.md.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spadework.agents.evidence.expectation import search
from spadework.agents.evidence.multi_hop import Hop, Trail, led_on, trail
from spadework.agents.evidence.passages import Judgement, PassageView, Spot
from spadework.agents.extractive.candidates import Candidate, candidates, page_languages
from spadework.agents.extractive.question_parts import SIGNS, aspects, names_in, read, subject_of
from spadework.agents.extractive.slot import VALUES, Slot, Stems, held_words, stems
from spadework.tools.ranking.selection import bare
from spadework.tools.text.facts import stems as content_stems
from spadework.tools.text.language import Phrases, language, language_of, spoken
from spadework.tools.text.markdown import plain
from spadework.tools.text.passages import cut, headings
from spadework.values import Evidence, Page, Plan, Recommendation, Topic

#: The weight of question words that occur only in the headings above a candidate.
ABOVE = 0.5
#: The weight of question words that are not in the current aspect (the part of the question being
#: answered).
ASIDE = 0.3
#: LENGTH is the strength of the penalty for long candidates. FIRST_PAGE is the bonus for candidates
#: from the first-ranked page, as a fraction of their score. Later pages get a smaller bonus.
LENGTH, FIRST_PAGE = 0.15, 0.5
#: A candidate's score is multiplied by (passage score) ** PASSAGE, and divided by (1 + position /
#: DECAY_CHARS) ** DECAY. A passage score counts as at least LEAST_PASSAGE. Each exponent was fitted
#: on five of six data sets, and confirmed on the sixth.
PASSAGE, LEAST_PASSAGE, DECAY, DECAY_CHARS = 0.5, 0.01, 0.25, 2_000
#: Factor for the scores of candidates that may not answer a how-to.
UNNAMED = 0.25
#: The score factors for a candidate with the requested kind of value (such as a number), or in the
#: requested form (such as a list).
FITTING_VALUE, FITTING_FORM = 2.5, 1.5
#: The weights of question words inside a list and in the text above it.
IN_LIST = (0.5, 1.0)
#: ROOM is the maximum number of characters to quote. For a proven fact, at most MOST_PROVEN
#: candidates are quoted. If nothing is proven, quotes come from at most MOST_PASSAGES passages.
ROOM, MOST_PROVEN, MOST_PASSAGES = 1_200, 3, 3
#: With more than FEW candidates, question words often occur together by chance. With up to 382
#: candidates (notes and news), 124 of 127 answers were right, but with 980 to 6,000 (manuals), only
#: 13 of 37. Beyond FEW, a proof must therefore state the answer itself. If more than MOST_STATING
#: pages then seem to prove a value, none of them counts as proof.
FEW, MOST_STATING = 500, 2
#: A candidate repeats another if they share more than this fraction of the words in the shorter
#: one.
SAME = 0.7
#: Patterns for installation commands, import statements, and headings of sections about pitfalls.
_INSTALLS = re.compile(
    r"(?i)\binstal|\b(?:uv|cargo|npm|go) (?:add|get|i)\b|установ|インストール|安装"
)
_IMPORTS = re.compile(r"^[ \t>.$]*(?:from|import|require|use|using|#include)\b", re.MULTILINE)
_PITFALLS = re.compile(r"(?i)caveat|pitfall|gotcha|troubleshoot|known (?:issue|problem|bug)")
_AS_CODE = re.compile(
    r"(?i)`([^`]+)`|([\w.]+)(?= (?:module|package|library)\b)|\b(?:module|package|library) ([\w.]+)"
)
#: A how-to question with at most this many words besides the package's name asks how to use the
#: package in general.
MOST_GENERAL = 1
#: A candidate is quoted only if its score is more than this fraction of the best candidate's score.
LEAST = 0.25
#: The maximum number of characters to examine in a document when suggesting questions, and in each
#: of its passages.
MOST_CHARS, PASSAGE_CHARS = 20_000, 1_500
MOST_HEADINGS = 6

_NAME = re.compile(r"[^\W\d_][\w.+#-]*(?: [\w.+#-]+){0,3}")
_NUMBER = re.compile(r"^(?:(?:chapter|appendix|part) )?(?:\d+|[A-Z])(?:\.\d+)*\.\s+", re.IGNORECASE)
_HOW = re.compile(r"how to (\w.+)", re.IGNORECASE)
#: Code blocks or numbered steps, which how-to answers need.
_STEPS = re.compile(r"^(?:```|\d+\. )", re.MULTILINE)


@dataclass(frozen=True)
class Scored:
    """A scored candidate.
    - `own`: the word stems of its text.
    - `near`: the word stems of its text and its headings.
    - `fits`: whether it contains the requested kind of answer.
    - `proves`: whether it contains both the subject and the requested thing.
    """

    candidate: Candidate
    own: Stems
    near: Stems
    score: float
    fits: bool = False
    proves: bool = False


@dataclass(frozen=True)
class Opinion:
    """The quotes for a question, best first.
    - `proven`: whether the quotes prove every aspect of the question.
    - `denied`: whether a quote denies what the question assumes.
    - `share`: the largest fraction of the question's words found in a single quote.
    - `missing`: word stems of the question that occur on no page.
    """

    chosen: tuple[Scored, ...] = ()
    proven: bool = False
    share: float = 0.0
    missing: frozenset[str] = frozenset()
    denied: bool = False


class Pool:
    """All quotable parts of the passages, with their word stems and the ranks of their pages."""

    def __init__(self, shown: Sequence[PassageView]) -> None:
        self.candidates = candidates(shown)
        texts = (" ".join(c for _, c in one.cells) or one.text for one in self.candidates)
        self.own = [stems(t, c.language) for t, c in zip(texts, self.candidates, strict=True)]
        self.above = [stems(one.above, one.language) for one in self.candidates]
        codes = Counter(one.language for one in self.candidates)
        self.language = codes.most_common(1)[0][0] if codes else "en"
        self.ranks = _rank_pages(shown)

    def pages_about(self, question: str, named: Stems) -> set[str]:
        """Return the URLs of the pages about a module that the question names. If there are none,
        return those of pages that contain a word stem from `named`, or else of all pages.
        """
        modules = {name.casefold() for found in _AS_CODE.findall(question) for name in found}
        pages = {one.shown.page.url: one.module.casefold() for one in self.candidates}
        asked = {url for url, module in pages.items() if module in modules}
        words = zip(self.candidates, self.own, self.above, strict=True)
        about = {one.shown.page.url for one, own, above in words if named & (own | above)}
        return asked or about or {*pages}

    def ranked(self, slot: Slot, whole: Stems, naming: set[str]) -> list[Scored]:
        """Return the candidates for an aspect, best first. Use only the pages with URLs in
        `naming`. `whole` holds the word stems of the whole question.
        """
        holding = Counter(stem for own in self.own for stem in own & whole)
        idf = {s: math.log(1 + len(self.own) / (holding[s] + 0.5)) for s in whole}
        idf = {s: v if s in slot.words else ASIDE * v for s, v in idf.items()}
        # Pages that list calls contain the words of almost any task, so words prove nothing there.
        calls = (one for one in self.candidates if slot.kind == "steps" and one.call)
        listing, made = {one.shown.page.url for one in calls}, []
        for one, own, above in zip(self.candidates, self.own, self.above, strict=True):
            if one.shown.page.url not in naming:
                continue
            fits, may, near = slot.fits(one), slot.may_instruct(one), own | above
            formed = may and (fits or slot.kind in ("open", "both sides"))
            proves = formed and slot.proves(one, own, above)
            loose = len(self.candidates) <= FEW and one.shown.page.url not in listing
            proves = proves and (loose or slot.states(one, above))
            if not (proves or slot.admits(one, own, fits)):
                continue
            inside, over = IN_LIST if one.kind == "list" else (1.0, ABOVE)
            named = above if one.kind == "list" else above - own
            score = inside * _weigh(idf, own) + over * _weigh(idf, named)
            score /= 1 + LENGTH * math.log(1 + len(own))
            score *= 1 + FIRST_PAGE / (1 + self.ranks[one.shown.page.url])
            score *= max(one.shown.score, LEAST_PASSAGE) ** PASSAGE
            score /= (1 + one.start / DECAY_CHARS) ** DECAY
            score *= 1 if may else UNNAMED
            made.append(Scored(one, own, near, score, fits, proves))
        stating = {_page(one) for one in made if one.proves}
        if slot.kind in VALUES and len(self.candidates) > FEW and len(stating) > MOST_STATING:
            made = [replace(one, proves=False) for one in made]
        fitting = FITTING_VALUE if slot.kind in VALUES else FITTING_FORM
        return sorted(made, key=lambda s: -s.score * (fitting if s.fits else 1))


def _page(one: Scored) -> str:
    return one.candidate.shown.page.content_hash


def _passage(one: Scored) -> tuple[str, int]:
    return _page(one), one.candidate.shown.start


def _weigh(idf: dict[str, float], own: Iterable[str]) -> float:
    # Use `fsum`, because sets have no fixed order, and a plain sum of floats depends on the order.
    return math.fsum(idf[s] for s in own if s in idf)


def judge_passages(
    question: str, shown: Sequence[PassageView], quoted: Sequence[str] = ()
) -> Opinion:
    """Return what to quote for a question, without repeating the texts in `quoted`."""
    pool = Pool(shown)
    code = language_of(question) or pool.language
    whole = stems(question, code)
    slots = [Slot(aspect, question, code) for aspect in aspects(question, code)]
    before = [stems(text, code) for text in quoted]
    named = stems(" ".join(names_in(question)), code)
    naming = pool.pages_about(question, named)
    chosen: list[Scored] = []
    proven, denied = True, False
    for slot in slots:
        ranked = pool.ranked(slot, whole, naming)
        if slot.kind == "steps":
            ranked = _parts_first(ranked, named or slot.words, slot.words, pool.ranks)
        own = choose(ranked, slot, ROOM // len(slots), before, chosen)
        proven = proven and any(one.proves for one in own)
        denied = denied or any(slot.contradicts(one.candidate, one.near) for one in own[:1])
        chosen += own
    words = frozenset().union(*(slot.words for slot in slots))
    return Opinion(
        tuple(chosen),
        proven and bool(chosen),
        max((len(s.near & words) / len(words) for s in chosen if words), default=0.0),
        words - held_words(words, frozenset().union(*pool.own, *pool.above)),
        denied and not proven,
    )


def _parts_first(
    ranked: list[Scored], subject: Stems, words: Stems, ranks: Mapping[str, int]
) -> list[Scored]:
    """Return candidates on installation, usage and pitfalls, or all if these are not enough."""
    headed = [(_heads(one), one) for one in ranked]
    own = [one for (head, _), one in headed if head and head <= subject]
    own.sort(key=lambda s: s.candidate.start)
    modules = [one for (head, top), one in headed if head > subject and top and top <= subject]
    modules.sort(key=lambda s: ranks[s.candidate.shown.page.url])
    codes = [one for one in (*own, *modules) if one.candidate.kind == "code"]
    texts = (f"{one.candidate.shown.heading}\n{one.candidate.text}" for one in codes)
    installs = [one for one, text in zip(codes, texts, strict=True) if _INSTALLS.search(text)]
    uses = [one for one in codes if one not in installs]
    uses.sort(key=lambda s: (not _IMPORTS.search(s.candidate.text), not subject & s.own))
    more = [one for one in uses[1:] if subject & one.own and _IMPORTS.search(one.candidate.text)]
    further = sorted(more, key=lambda s: -s.score)[:1]
    pitfalls = [one for one in own if _PITFALLS.search(one.candidate.shown.heading)]
    parts = [*installs[:1], *uses[:1], *further, *pitfalls[:1]]
    # If a passage about the package covers the task in the question (such as "stream responses"),
    # the chosen candidates must contain the words of the task.
    task = words.difference(*(head for (head, _), _ in headed if head <= subject))
    has_task = len(task) > MOST_GENERAL and any(
        held_words(task, one.near) == task for one in (*own, *modules)
    )
    met = frozenset[str]().union(*(one.near for one in (parts if has_task else (*own, *parts))))
    if not uses or held_words(words, met) < words:
        return ranked
    best = max(one.score for one in ranked)
    proven = any(one.proves for one in parts)  # one value for all, because proven ones come first
    return [replace(one, proves=proven, score=best) for one in parts]


def _heads(one: Scored) -> tuple[Stems, Stems]:
    head, code = one.candidate.module, one.candidate.language
    return stems(head, code), stems(head.partition(".")[0], code)


def choose(
    ranked: Sequence[Scored],
    slot: Slot,
    room: int,
    quoted: Sequence[Stems] = (),
    taken: Sequence[Scored] = (),
) -> list[Scored]:
    """Return the best candidates that repeat nothing in `taken` or `quoted`. Their total length is
    at most `room` characters, unless the first alone is longer. For a proven fact, return at
    most MOST_PROVEN candidates.
    """
    chosen, before, used = list[Scored](), [*quoted, *(s.own for s in taken)], 0
    best = max((one.score for one in ranked), default=0.0)
    for one in _proofs_first(ranked, slot):
        if chosen and chosen[0].proves and slot.is_fact and len(chosen) == MOST_PROVEN:
            break
        if chosen and not _may_follow(one, chosen, slot):
            continue
        size = len(one.candidate.text)
        met = any(one.candidate.overlaps(other.candidate) for other in (*taken, *chosen))
        fits = not chosen or used + size <= room
        if one.score > LEAST * best and fits and not met and _is_new(one, before):
            chosen.append(one)
            before.append(one.own)
            used += size
    return _in_lists(chosen, slot)


def _may_follow(one: Scored, chosen: Sequence[Scored], slot: Slot) -> bool:
    if (best := chosen[0]).proves:
        if _is_documented(best, slot):
            return one.proves or _passage(one) == _passage(best)
        whole = best.candidate.kind == "list" or slot.kind == "definition"
        return one.proves if whole else one.fits or slot.kind not in VALUES
    passages = set(map(_passage, chosen))
    return len(passages) < MOST_PASSAGES or _passage(one) in passages


def _is_documented(best: Scored, slot: Slot) -> bool:
    return slot.kind == "steps" and best.proves and best.candidate.call is not None


def _proofs_first(ranked: Sequence[Scored], slot: Slot) -> list[Scored]:
    proving = [one for one in ranked if one.proves]
    if slot.kind == "definition" and proving:
        first = _page(proving[0])
        proving.sort(key=lambda s: (_page(s) != first, _page(s) == first and s.candidate.start))
    return [*proving, *(one for one in ranked if not one.proves)]


def _in_lists(chosen: Sequence[Scored], slot: Slot) -> list[Scored]:
    """Group the chosen items of each list or table. Items, and sentences about a documented call,
    stay in page order. If a number, date or name is asked for, the best item comes first.
    """
    if chosen and _is_documented(chosen[0], slot):
        return sorted(chosen, key=lambda s: 0 if s.proves else s.candidate.start)
    places = [
        (_page(s), s.candidate.block if s.candidate.kind in ("item", "row") else s.candidate.spans)
        for s in chosen
    ]
    asks_value = slot.kind in VALUES and slot.kind != "definition"
    keys = [n if asks_value else s.candidate.start for n, s in enumerate(chosen)]
    order = sorted(range(len(chosen)), key=lambda n: (places.index(places[n]), keys[n]))
    return [chosen[n] for n in order]


def _is_new(one: Scored, quoted: Sequence[Stems]) -> bool:
    figures = {stem for stem in one.own if stem.isdecimal()}
    return not any(
        len(one.own & other) > SAME * min(len(one.own), len(other)) and figures <= other
        for other in quoted
        if other
    )


def _rank_pages(shown: Sequence[PassageView]) -> dict[str, int]:
    pages = {each.page.url: each.page for each in shown}

    def place(url: str) -> float:
        own = (found.rank for found in pages[url].found_by if found.kind == "original")
        return min(own, default=math.inf)

    return {url: n for n, url in enumerate(sorted(pages, key=place))}


def questions(documents: Sequence[tuple[Page, str]], most: int, *, seconds: float) -> list[str]:
    """Return at most `most` questions that the documents answer, within `seconds`."""
    until, made = time.monotonic() + seconds, dict[str, None]()
    left = [_questions_of(page, text[:MOST_CHARS]) for page, text in documents]
    while left and len(made) < most:
        for each in [*left]:
            question = next(each, "")
            if question:
                made[question] = None
            else:
                left.remove(each)
            if len(made) == most or time.monotonic() > until:
                return list(made)
    return list(made)


def _questions_of(page: Page, text: str) -> Iterator[str]:
    if language_of(text) != "en":
        return
    shown = [PassageView(page, a, text[a:b], score=1.0) for a, b in cut(text, PASSAGE_CHARS)]
    for question in dict.fromkeys(_try_questions(page.title, text)):
        if judge_passages(question, shown).proven:
            yield question


def _try_questions(title: str, text: str) -> Iterator[str]:
    title = _bare(title)
    found = [_bare(heading) for _, _, heading in headings(text)][:MOST_HEADINGS]
    tried = [(name, r"\b[^.\n]{0,40}") for name in (title, *found[:1])]
    words = title.removeprefix("The ").split()
    tried += [(" ".join(words[:n]), "") for n in range(len(words) - 1, 0, -1)]
    for name, between in tried:
        if _NAME.fullmatch(name) and re.search(
            rf"^(?:The |An? )?{re.escape(name)}{between} is (?:an?|the) ", text, re.M | re.I
        ):
            yield f"What is {re.sub('^The ', 'the ', name)}?"
    for heading in found:
        if (how := _HOW.fullmatch(heading.rstrip("?"))) and _STEPS.search(text):
            yield f"How do I {how[1]}?"
        elif heading.endswith("?"):
            yield heading


def _bare(heading: str) -> str:
    return _NUMBER.sub("", " ".join(heading.split()))


#: The maximum score of an unproven topic. It is reached if one quote, together with its headings,
#: contains all words of the topic's question.
UNPROVEN = 0.6
#: If no quote, together with its headings, contains at least the fraction NEAREST of the question's
#: words, assume that no page is about the question, and keep at most MOST_NEAREST quotes.
NEAREST, MOST_NEAREST = 0.5, 2


def assess(
    plan: Plan, topic: Topic, shown: Sequence[PassageView], known: Sequence[Evidence]
) -> Judgement:
    """Choose quotes for a topic, and judge whether they answer it. Quotes in `known` may be
    repeated only if their page is in `shown`.
    """
    expects = {topic.expects, read(topic.question).expects}
    led = Trail() if "steps" in expects else trail(plan.question, shown, known)
    question = " ".join([topic.question, *led.titles])
    here = {passage.page.content_hash for passage in shown}
    before = [plain(e.quote) for e in known if e.content_hash not in here]
    opinion = judge_passages(question, shown, before)
    # Always quote from pages that were found by following names. Their passages contain few of the
    # question's words, and would otherwise rank too low.
    there = [replace(s, score=1.0) for s in shown if bare(s.page.title) in led.further]
    led_to = judge_passages(question, there, before).chosen[:MOST_NEAREST] if there else ()
    unnamed = _unnamed(topic, opinion)
    covered = opinion.proven and not led.ahead
    foreign = not (covered or led.ahead) and _is_foreign(topic.question, shown)
    subject = " ".join(names_in(topic.question) or [subject_of(topic.question)])
    unheard_of = bool(content_stems(" ".join(unnamed)) & content_stems(subject))
    near = not (covered or led.ahead) and (unheard_of or (opinion.share < NEAREST and not led_to))
    chosen = [*led_to, *opinion.chosen][: MOST_NEAREST if near else None]
    leading = [each.shown.spot((each.start, each.end)) for each in led.ahead or led.via]
    return Judgement(
        covered,
        1.0 if opinion.proven else round(UNPROVEN * opinion.share, 3),
        tuple(_each_once([*leading, *_quote(chosen)])),
        () if covered else (_gap(Phrases(plan.language), opinion, led.ahead, unnamed, foreign),),
        () if covered else tuple(_next_queries(topic, opinion, led.ahead)),
        near=near,
    )


def _unnamed(topic: Topic, opinion: Opinion) -> list[str]:
    code = spoken(topic.question)
    # Ignore the word "compare", which need not be on any page.
    said = language(code).cues["compare"].sub(" ", topic.question)
    typed = [word.strip(SIGNS) for word in said.split()]
    if language(code).unspaced:
        held = stems(topic.question, code) - opinion.missing
        return [run for word in typed for run in _unheld(word, opinion.missing, held)]
    return [word for word in typed if content_stems(word, code) & opinion.missing]


def _unheld(word: str, missing: frozenset[str], held: frozenset[str]) -> list[str]:
    """Return the parts of `word` made of character pairs in `missing`, but not in `held`."""
    pairs = [(word[n : n + 2], {n, n + 1}) for n in range(len(word))]
    found = {at for pair, own in pairs if pair in missing for at in own}
    found -= {at for pair, own in pairs if pair in held for at in own}
    return "".join(sign if at in found else " " for at, sign in enumerate(word)).split()


def _is_foreign(question: str, shown: Sequence[PassageView]) -> bool:
    """Return whether no page whose language is clear is in the question's language."""
    code, met = language_of(question), {*page_languages(shown).values()} - {""}
    asks = {*"?？"} & {*question} or language(code).cues_in(question)
    return bool(code and met and asks) and code not in met


def _gap(
    say: Phrases, opinion: Opinion, ahead: Sequence[Hop], unnamed: Sequence[str], foreign: bool
) -> str:
    if ahead:
        return say("gap_leads", names=", ".join(bridge.name for bridge in ahead))
    if foreign:
        return say("gap_language")
    if unnamed:
        return say("gap_unnamed", words=", ".join(unnamed))
    apart = "gap_apart" if opinion.chosen else "gap_nothing"
    return say("gap_denied" if opinion.denied else apart)


def _quote(chosen: Sequence[Scored]) -> Iterator[Spot]:
    for one in chosen:
        for span in (*one.candidate.led, *one.candidate.spans):
            yield one.candidate.shown.spot(span)


def _each_once(spots: Sequence[Spot]) -> list[Spot]:
    """Drop quotes within other quotes, which occur when items share an introductory sentence."""
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
    typed = [word.strip(SIGNS) for word in topic.question.split()]
    missing = [word for word in typed if (own := content_stems(word)) and not own & held]
    about = content_stems(subject_of(topic.question))
    if not ahead and missing and len(missing) < len(typed):
        query = " ".join(word for word in typed if word in missing or content_stems(word) & about)
        purpose = "No quote contains these words of the question."
        yield search(query, purpose, "medium" if len(missing) > 1 else "low")
