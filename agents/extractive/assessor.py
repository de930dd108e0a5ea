"""The assessor without a model: scores what could be quoted for a topic; it is covered when the best of that is good enough."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spadework.agents.extractive.candidates import Candidate, candidates
from spadework.agents.extractive.facets import Facet, facet_of
from spadework.agents.shown import Judgement, Shown, Spot
from spadework.tools.facts import stems
from spadework.values import Evidence, Plan, Recommendation, Topic

#: Weights of the parts of a candidate's score, each part 0..1.
WEIGHTS = {"words": 1.0, "cue": 0.6, "subject": 0.8, "page": 0.8, "heading": 0.4, "passage": 0.5, "early": 0.2}
#: The first words of a page about the subject say what it is, also without naming it.
OPENING_CHARS, OPENING_DEFINES = 250, 0.8
#: What is left of the score of a sentence that shows no cue of its facet, and of one that begins with another name.
WITHOUT_CUE, ABOUT_ANOTHER = 0.65, 0.7
#: A candidate below this share of the highest possible score is not quoted.
LEAST_SCORE = 0.42
#: From this share on, the best candidates answer the topic.
GOOD_SCORE = 0.55
#: Quotes of one topic at most, of one page at most, and code blocks among them.
MOST_QUOTES, MOST_PER_PAGE, MOST_CODE = 7, 4, 2
#: Two quotes that share more than this of the shorter one's words say the same.
SAME = 0.6

_INSTALLS = re.compile(r"\b(?:pip3?|uv|conda|npm|apt(?:-get)?|brew|cargo|poetry|pipx) (?:-m )?(?:pip )?(?:install|add|i)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Scored:
    """A candidate with its score, 0..1."""

    candidate: Candidate
    score: float


class Scale:
    """Scores candidates for one topic: words by their rarity among the candidates, cues of the facet, the subject, the page's rank."""

    def __init__(self, plan: Plan, topic: Topic, found: Sequence[Candidate]) -> None:
        self.facet: Facet = facet_of(topic)
        self.subject = _subject(plan, topic)
        asked = stems(" ".join([topic.question, *topic.must_cover])) | self.subject
        self.words = [stems(c.text) for c in found]
        self.rarity = _rarity(asked, self.words)
        self.best_passage = max((c.shown.score for c in found), default=1.0) or 1.0
        ranks = {p: n for n, p in enumerate(dict.fromkeys(c.shown.page.url for c in sorted(found, key=lambda c: -c.shown.page.rrf)))}
        self.rank = ranks

    def takes(self, candidate: Candidate) -> bool:
        """Whether a candidate can answer the facet at all: code only where it is wanted, and commands that install only there."""
        if candidate.kind != "code":
            return True
        return self.facet.code and (self.facet.key == "install") == (_INSTALLS.search(candidate.text) is not None)

    def score(self, candidate: Candidate, words: set[str]) -> float:
        """The share 0..1 of the highest possible score."""
        page = candidate.shown.page
        title = stems(f"{page.title} {page.url.rsplit('/', 2)[0].rsplit('/', 1)[-1]} {page.url}")
        heading = stems(candidate.shown.heading)
        above = 1.0 if self.facet.named and re.search(self.facet.named, candidate.shown.heading, re.IGNORECASE) else 0.0
        parts = {
            "words": self._shared(words | (heading & self.subject)),
            "cue": self._cue(candidate),
            "subject": _share(self.subject, words | heading),
            "page": _share(self.subject, title) * (0.6 + 0.4 / (1 + self.rank[page.url])),
            "heading": above,
            "passage": candidate.shown.score / self.best_passage,
            "early": 1.0 - min(1.0, candidate.position * 2),
        }
        score = sum(WEIGHTS[name] * value for name, value in parts.items()) / sum(WEIGHTS.values())
        return score * (WITHOUT_CUE if not parts["cue"] and not self.facet.loose else 1.0) * (ABOUT_ANOTHER if self._other(candidate) else 1.0)

    def _other(self, candidate: Candidate) -> bool:
        """Whether a sentence begins with a name that is not the subject's: it is likely to be about something else."""
        first = candidate.text.split(maxsplit=1)[0].strip("*`\"'(")
        named = any(c.isupper() for c in first[1:]) and candidate.kind != "code"
        return named and not stems(first) & self.subject

    def _shared(self, words: set[str]) -> float:
        total = sum(self.rarity.values())
        return sum(weight for term, weight in self.rarity.items() if term in words) / total if total else 0.0

    def _cue(self, candidate: Candidate) -> float:
        if candidate.kind == "code":
            return _code_fits(self.facet, candidate.text, self.subject)
        if self.facet.key in ("definition", "subject"):
            page = candidate.shown.page
            opens = candidate.start < OPENING_CHARS and _share(self.subject, stems(f"{page.title} {page.url}")) == 1.0
            return max(_defines(candidate.text, self.subject), OPENING_DEFINES if opens else 0.0)
        return 1.0 if self.facet.cue.search(candidate.text) else 0.0


def assess(plan: Plan, topic: Topic, shown: Sequence[Shown], known: Sequence[Evidence]) -> Judgement:
    """The judgement of a topic: the best quotes that do not repeat each other or what is known, and whether they answer it."""
    found = candidates(shown)
    scale = Scale(plan, topic, found)
    wants_code = scale.facet.code
    scored = [Scored(c, scale.score(c, words)) for c, words in zip(found, scale.words, strict=True) if scale.takes(c)]
    chosen = _chosen(scored, [stems(e.quote) for e in known])
    has_code = any(s.candidate.kind == "code" for s in chosen) or any(e.kind == "code" for e in known)
    strength = _strength([s.score for s in chosen], len(known))
    missing = [word for word in topic.must_cover if not any(stems(word) <= stems(s.candidate.text) for s in chosen)]
    gaps = _gaps(topic, chosen, wants_code and not has_code, strength, bool(known))
    covered = not gaps
    score = min(1.0, 0.8 + 0.2 * strength) if covered else min(0.75, strength)
    spots = [spot for s in _in_page_order(chosen) for spot in _spots(s.candidate)]
    return Judgement(covered, round(score, 3), tuple(spots), tuple(gaps), () if covered else _next_queries(plan, topic, missing))


def _rarity(asked: set[str], words: Sequence[set[str]]) -> dict[str, float]:
    """The inverse frequency of every asked word among the candidates: a word that all share says nothing."""
    holding = Counter(word for own in words for word in own & asked)
    return {term: math.log(1 + (len(words) + 1) / (holding[term] + 0.5)) for term in asked if holding[term]}


def _subject(plan: Plan, topic: Topic) -> set[str]:
    """The words of the subject that this topic is about: that one of the plan's which its name or question names, else all."""
    named = [s for s in plan.subjects if s.lower() in f"{topic.name} {topic.question}".lower()]
    return stems(" ".join(named or plan.subjects or (topic.question,)))


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _defines(text: str, subject: set[str]) -> float:
    """1 when a sentence begins with the subject and says what it is; 0.5 when it says so later on."""
    match = re.match(
        r"(?:the |an? )?(.{1,60}?)\s(?:is|are|was|were|provides|enables|allows|lets|offers|helps|means|refers to)\b", text, re.IGNORECASE
    )
    if match and _share(subject, stems(match.group(1))) >= 0.5:
        return 1.0
    return 0.4 if re.search(r"\b(?:is|are|was) (?:an?|the)\b", text) and subject & stems(text) else 0.0


def _code_fits(facet: Facet, code: str, subject: set[str]) -> float:
    """1 for code that names the subject and is an example rather than a line."""
    names_it = any(word in code.lower() for word in subject)
    if facet.key == "install":
        return 1.0 if names_it else 0.3
    return (0.7 if names_it else 0.2) + (0.3 if 3 <= len(code.strip().split("\n")) <= 40 else 0.0)


def _chosen(scored: Sequence[Scored], known: Sequence[set[str]]) -> list[Scored]:
    """The best, greedily, without those that say again what a better one says."""
    kept: list[Scored] = []
    said = list(known)
    for one in sorted(scored, key=lambda s: -s.score):
        words = stems(one.candidate.text)
        if one.score < LEAST_SCORE or len(kept) >= MOST_QUOTES:
            break
        if any(_share(words, other) > SAME for other in said) or _crowded(one, kept):
            continue
        kept.append(one)
        said.append(words)
    return kept


def _crowded(one: Scored, kept: Sequence[Scored]) -> bool:
    page, code = one.candidate.shown.page.url, one.candidate.kind == "code"
    if any(
        k.candidate.shown.page.url == page and k.candidate.start < one.candidate.end and one.candidate.start < k.candidate.end for k in kept
    ):
        return True
    same_page = sum(k.candidate.shown.page.url == page for k in kept)
    return same_page >= MOST_PER_PAGE or (code and sum(k.candidate.kind == "code" for k in kept) >= MOST_CODE)


def _strength(scores: Sequence[float], known: int) -> float:
    """How good the best is, 0..1: the best score against what is good, with a little for every further quote."""
    if not scores:
        return 0.5 if known else 0.0
    return min(1.0, max(scores) / GOOD_SCORE * (0.85 + 0.05 * min(3, len(scores) + known)))


def _gaps(topic: Topic, chosen: Sequence[Scored], lacks_code: bool, strength: float, known: bool) -> list[str]:
    if not chosen and not known:
        return ["Nothing that was read answers this."]
    gaps = []
    if lacks_code:
        gaps.append("No example code was found.")
    if strength < 1.0 and not known:
        gaps.append(f"The quotes found answer “{topic.question}” only in part.")
    return gaps


def _in_page_order(chosen: Sequence[Scored]) -> list[Scored]:
    """Page by page in the order of their best quote, each page's quotes as they stand in it."""
    pages = list(dict.fromkeys(s.candidate.shown.page.url for s in chosen))
    return sorted(chosen, key=lambda s: (pages.index(s.candidate.shown.page.url), s.candidate.start))


def _spots(candidate: Candidate) -> list[Spot]:
    page, passage = candidate.shown.page, candidate.shown
    spans = [(candidate.start, candidate.end)]
    if candidate.lead:
        spans.insert(0, candidate.lead)
    return [Spot(page, start, end, passage.text[start - passage.start : end - passage.start]) for start, end in spans]


def _next_queries(plan: Plan, topic: Topic, missing: Sequence[str]) -> tuple[Recommendation, ...]:
    """Searches that were not among the topic's own: its question, and its subject with what is missing."""
    subject = " ".join(plan.subjects[:2])
    texts = [
        topic.question.rstrip("?"),
        f"{subject} {' '.join(missing)}".strip(),
        f"{topic.name} tutorial",
        f"{subject} guide documentation",
    ]
    asked = {query.text.lower() for query in topic.queries}
    fresh = [text for text in dict.fromkeys(texts) if text.lower() not in asked]
    return tuple(Recommendation(query=text, purpose=f"Fill the gap in “{topic.name}”.", priority="high") for text in fresh[:2])
