"""How well a candidate answers a topic, 0..1: the words asked for, the cues of the facet, the
subject, and the standing of its page.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from spadework.agents.extractive.about import home, is_about
from spadework.agents.extractive.answers import answer_to
from spadework.agents.extractive.bridges import asks_for_a_relation
from spadework.agents.extractive.candidates import Candidate
from spadework.agents.extractive.facets import Facet, facet_of, facets
from spadework.agents.extractive.names import MOST_WORDS, Names
from spadework.agents.extractive.sides import Sides
from spadework.tools.facts import OTHER_WORDS, content_words, stems
from spadework.values import Page, Plan, Topic

#: Weights of the parts of a score, each part 0..1.
WEIGHTS = {
    "words": 0.8,
    "cue": 0.8,
    "subject": 0.8,
    "page": 1.2,
    "heading": 0.3,
    "passage": 0.4,
    "early": 0.2,
}
#: The same for code, which does not speak of its subject but uses it.
CODE_WEIGHTS = {"cue": 2.0, "page": 1.0, "heading": 0.3, "passage": 0.3, "early": 0.2}
#: The same where the subject is described rather than named ("retry a failing HTTP request"): no
#: page has it as its title.
DESCRIBED_WEIGHTS = {
    "words": 1.0,
    "cue": 0.6,
    "subject": 1.4,
    "page": 0.6,
    "heading": 0.3,
    "passage": 0.8,
    "early": 0.1,
}
DESCRIBED_CODE_WEIGHTS = {"cue": 0.6, "subject": 2.0, "page": 0.6, "heading": 0.3, "passage": 0.6}
#: The same for a fact: what was asked for may stand on any page, and only there.
FACT_WEIGHTS = {
    "words": 2.4,
    "cue": 0.4,
    "subject": 0.8,
    "page": 0.4,
    "heading": 0.2,
    "passage": 0.6,
    "early": 0.1,
}
#: How much the title of its page and the headings above tell of what a sentence is about.
CONTEXT = 0.85
#: What is left of the score of a sentence that shows no cue of its facet, and of one that begins
#: with another name.
WITHOUT_CUE, ABOUT_ANOTHER = 0.6, 0.7
#: A sentence that holds less of the subject's words than this, on a page that is not about it, is
#: about something else, too.
LEAST_SUBJECT = 0.3
#: What is left of the score of what stands on a page that is about something else, where another
#: page is about the subject.
OFF_SUBJECT = 0.55
#: What is left where the subject names a collection or site at hand ("an index in PostgreSQL") and
#: a quote of another does not.
ELSEWHERE = 0.6
#: The first words of a page about the subject say what it is, also without naming it.
OPENING_CHARS, OPENING_WORDS = 250, 0.8
#: How far a page that is about the subject names it for all of its sentences.
IMPLIED = 0.7
#: Share of a page's standing that comes from being about the subject; the rest comes from its fused
#: rank.
ABOUT_SHARE = 0.65
#: A page whose title holds the subject's words beside others is about it by this much at most.
ABOUT_PARTLY = 0.6
#: How much each step down a site's tree takes from the standing of a page: overviews stand high.
DEPTH = 0.3

INSTALLS = re.compile(
    r"\b(?:pip3?|uv|conda|npm|apt(?:-get)?|brew|cargo|poetry|pipx) (?:-m )?(?:pip"
    r" )?(?:install|add|i)\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"(?:the |an?"
    r" )?(.{1,60}?)\s(?:is|are|was|were|provides|enables|allows|lets|offers|helps|means|refers"
    r" to)\b",
    re.IGNORECASE,
)
_KEYWORD = re.compile(r"^(?:class|function|method|def|async|module|property)\s+")
_IS_A = re.compile(r"\b(?:is|are|was) (?:an?|the)\b")


class Scale:
    """Scores the candidates of one topic; it is about its subjects, and `also` about what the
    evidence so far has led to.
    """

    def __init__(
        self, plan: Plan, topic: Topic, found: Sequence[Candidate], also: Sequence[str] = ()
    ) -> None:
        self.facet = _facet(plan, topic)
        named = (*_named(plan, topic), *also)
        self.subjects = [words for subject in named if (words := stems(subject))]
        self.subject = set[str]().union(*self.subjects)
        self.verb = (
            next(iter(content_words(plan.subjects[0])), "")
            if plan.question_type == "howto" and plan.subjects
            else ""
        )
        direct = self.facet.key == "fact" and not asks_for_a_relation(plan.question)
        self.answers = answer_to(topic.question, stems(" ".join(plan.subjects))) if direct else None
        self.must = stems(" ".join(topic.must_cover)) if self.facet.loose else set()
        self.words = [stems(c.text) for c in found]
        asked = stems(" ".join([topic.question, *topic.must_cover])) | self.subject
        asked |= {other for word in asked for other in OTHER_WORDS.get(word, ())}
        self.rarity = _rarity(asked, self.words)
        self.described = all(len(subject.split()) > MOST_WORDS for subject in named)
        self.rarest = math.log(1 + (len(found) + 1) / 0.5)
        self.best_passage = max((c.shown.score for c in found), default=1.0) or 1.0
        pages = {c.shown.page.url: c.shown.page for c in found}
        best = max((page.rrf for page in pages.values()), default=1.0) or 1.0
        self.names = Names(named, found)
        self.home = {url: home(page) for url, page in pages.items()}
        self.homes = self.subject & set[str]().union(*self.home.values())
        self.standing = {url: self._standing(page, best) for url, page in pages.items()}
        self.sides = Sides(self.subjects, found, self.standing)
        self.about = {url: self._about(page) for url, page in pages.items()}
        self.most_about = max(self.about.values(), default=0.0)
        self.imported = Counter(
            name for code in _code_by_page(found).values() for name in _imports(code)
        )

    def takes(self, candidate: Candidate) -> bool:
        """Whether a candidate can answer the topic at all: one that must cover a word only with
        that word in it or above it; code only where it is wanted, and commands that install only
        there.
        """
        if self.must and not self.must & stems(
            f"{candidate.text} {candidate.shown.heading} {candidate.shown.page.title}"
        ):
            return False
        if self.answers and not self.answers(candidate.text):
            return False
        if self.facet.key == "differences" and len(self.subjects) > 1:
            return candidate.kind in ("text", "item", "row") and (
                self.names.names_another(candidate) or self.sides.only_one_has(candidate)
            )
        if self.facet.cued and not self._cued(candidate):
            return False
        if candidate.kind != "code":
            told = self.about[candidate.shown.page.url] == 1.0 and (
                self.facet.key == "fact" or self._told(candidate)
            )
            return told or not self.facet.names or self.names.named_in(candidate)
        return self.facet.code and (self.facet.key == "install") == (
            INSTALLS.search(candidate.text) is not None
        )

    def score(self, candidate: Candidate, words: set[str]) -> float:
        """The share 0..1 of the highest possible score."""
        url = candidate.shown.page.url
        context = words | stems(f"{candidate.shown.heading} {candidate.shown.page.title}")
        elsewhere = self.homes and not self.homes & (context | self.home[url])
        opens = self._opens(candidate)
        implied = 0.0 if self.described else IMPLIED * self.about[url]
        parts = {
            "words": max(self._shared(words), OPENING_WORDS if opens else 0.0),
            "cue": self._cue(candidate),
            "subject": max(
                self._share(words), CONTEXT * self._share(context), 1.0 if opens else implied
            ),
            "page": self.standing[url],
            "heading": 1.0 if self._named_above(candidate) else 0.0,
            "passage": candidate.shown.score / self.best_passage,
            "early": 1.0 - min(1.0, candidate.position * 2),
        }
        weights = self._weights(candidate)
        score = sum(weight * parts[name] for name, weight in weights.items()) / sum(
            weights.values()
        )
        # What something is, is told in sentences, or in a list that one of them introduces.
        torn = (
            self.facet.key in ("definition", "subject")
            and candidate.kind in ("item", "list")
            and not candidate.introduced
        )
        score *= WITHOUT_CUE if not parts["cue"] and (torn or not self.facet.loose) else 1.0
        score *= (
            ABOUT_ANOTHER if self._other(candidate) or parts["subject"] < LEAST_SUBJECT else 1.0
        )
        score *= ELSEWHERE if elsewhere else 1.0
        anywhere = self._under_its_heading(candidate)
        nearest = 1.0 if anywhere or not self.most_about else self.about[url] / self.most_about
        return score * (OFF_SUBJECT + (1 - OFF_SUBJECT) * nearest)

    def _weights(self, candidate: Candidate) -> dict[str, float]:
        if self.facet.key == "fact":
            return FACT_WEIGHTS
        if self.described:
            return DESCRIBED_CODE_WEIGHTS if candidate.kind == "code" else DESCRIBED_WEIGHTS
        return CODE_WEIGHTS if candidate.kind == "code" else WEIGHTS

    def _share(self, words: set[str]) -> float:
        """The share of a subject's words that are there, of the subject that has most."""
        return max(
            (self._weight(subject & words) / self._weight(subject) for subject in self.subjects),
            default=0.0,
        )

    def _weight(self, words: set[str]) -> float:
        """What some words of the subject weigh together: the rarer the more, and the verb of "how
        to", its first word, double.
        """
        # Sets have no order that lasts, and plain sums of floats depend on one.
        return math.fsum(
            self.rarity.get(word, self.rarest) * (2.0 if word == self.verb else 1.0)
            for word in words
        )

    def _shared(self, words: set[str]) -> float:
        """The share of the asked words that are there, rare ones counting more."""
        total = math.fsum(self.rarity.values())
        return (
            math.fsum(weight for term, weight in self.rarity.items() if term in words) / total
            if total
            else 0.0
        )

    def _about(self, page: Page) -> float:
        """1 for a page whose collection or title is the subject, less for one whose title holds its
        words beside others.

        No page is named after a subject that is only described, so there all are equal.
        """
        if self.described:
            return 1.0
        if is_about(page, self.subjects):
            return 1.0
        return ABOUT_PARTLY * self._share(stems(f"{page.title} {page.url}"))

    def _standing(self, page: Page, best: float) -> float:
        rank = page.rrf / best
        if self.described:
            return rank
        depth = max(0, page.url.split("://", 1)[-1].strip("/").count("/") - 1)
        return (ABOUT_SHARE * self._about(page) + (1 - ABOUT_SHARE) * rank) / (1 + DEPTH * depth)

    def _cued(self, candidate: Candidate) -> bool:
        """Whether a candidate, or the heading above it, shows a cue of the facet; a list shows it
        in the sentence that introduces it.
        """
        return self._shows_cue(candidate) or self._named_above(candidate)

    def _shows_cue(self, candidate: Candidate) -> bool:
        return (
            self.facet.cue.search(_lead(candidate) if candidate.kind == "list" else candidate.text)
            is not None
        )

    def _told(self, candidate: Candidate) -> bool:
        """Whether the page that stands highest says in so many words what the facet asks, so that
        it need not name its subject.
        """
        url = candidate.shown.page.url
        return (
            self.standing[url] == max(self.standing.values())
            and self.facet.cue.search(candidate.text) is not None
        )

    def _named_above(self, candidate: Candidate) -> bool:
        """Whether the headings above name what the facet asks for."""
        return bool(
            self.facet.named and re.search(self.facet.named, candidate.shown.heading, re.IGNORECASE)
        )

    def _opens(self, candidate: Candidate) -> bool:
        """Whether a sentence stands where one says what the subject is: first on its page, or first
        under its heading.
        """
        if candidate.kind != "text" or self.facet.key not in ("definition", "subject"):
            return False
        url = candidate.shown.page.url
        first = (
            candidate.start < OPENING_CHARS
            and self.about[url] == 1.0
            and self.standing[url] == max(self.standing.values())
        )
        return first or self._under_its_heading(candidate)

    def _under_its_heading(self, candidate: Candidate) -> bool:
        """Whether a sentence is the first under a heading that names the subject, as in the
        reference of a function.
        """
        heading = candidate.shown.heading.rsplit(" > ", 1)[-1]
        near = candidate.start - candidate.shown.start < OPENING_CHARS + len(heading)
        return near and stems(_KEYWORD.sub("", heading.partition("(")[0])) in self.subjects

    def _other(self, candidate: Candidate) -> bool:
        """Whether a sentence begins with a name that is not the subject's: it is likely to be about
        something else.
        """
        first = candidate.text.split(maxsplit=1)[0].strip("*`\"'(")
        named = any(c.isupper() for c in first[1:]) and candidate.kind != "code"
        return named and not stems(first) & self.subject

    def _cue(self, candidate: Candidate) -> float:
        if candidate.kind == "code":
            return self._code(candidate)
        if self.facet.key in ("definition", "subject"):
            return (
                0.0
                if INSTALLS.search(candidate.text)
                else float(self._opens(candidate)) or _defines(candidate.text, self.subject)
            )
        if self.facet.key == "differences" and self.sides.only_one_has(candidate):
            return 1.0
        if self._named_above(candidate) and self.about[candidate.shown.page.url] == self.most_about:
            return 1.0
        if self.facet.lists and candidate.kind == "list":
            own = self.subject & stems(_lead(candidate)) or self._shows_cue(candidate)
            return 1.0 if candidate.introduced and own else 0.0
        # Torn from its list, it must say itself what it is of.
        alone = self.facet.lists and candidate.kind == "item"
        return (
            1.0
            if self._shows_cue(candidate) and (not alone or self.subject & stems(candidate.text))
            else 0.0
        )

    def _code(self, candidate: Candidate) -> float:
        """1 for a command that installs the subject, or for a program of some lines that imports
        what most pages import of it, and that stands where this is explained.
        """
        code = candidate.text
        low = code.lower()
        names_it = any(word in low for word in self.subject)
        if self.facet.key == "install":
            return 1.0 if names_it else 0.2
        lines = len(code.strip().split("\n"))
        size = 0.3 if 5 <= lines <= 45 else 0.1 if lines > 1 else 0.0
        if self.described:
            return 0.4 + 2 * size
        most = max(self.imported.values(), default=0)
        names = _imports(code)
        central = max((self.imported[name] for name in names), default=0) / most if most else 0.0
        above = set(re.findall(r"\w+", f"{candidate.shown.page.title} {candidate.shown.heading}"))
        explained = any(self.imported[name] == most for name in names & above)
        return (0.2 if names_it else 0.0) + size + 0.3 * central + (0.2 if explained else 0.0)


def _lead(candidate: Candidate) -> str:
    """The sentence that introduces a list, as far as its colon."""
    return candidate.text.partition(":")[0]


def _facet(plan: Plan, topic: Topic) -> Facet:
    """The facet of a topic. A question for a fact has one, unless it asks nothing but who or what
    its subject is.
    """
    asks = stems(topic.question) - stems(" ".join(plan.subjects))
    return facets()["fact"] if plan.question_type == "fact" and asks else facet_of(topic)


def _named(plan: Plan, topic: Topic) -> tuple[str, ...]:
    """The subjects of the plan that the topic names; where it names none, all of them, and what the
    topic itself is about.
    """
    named = tuple(s for s in plan.subjects if s.lower() in f"{topic.name} {topic.question}".lower())
    return named or (*plan.subjects, topic.question)


def _rarity(asked: set[str], words: Sequence[set[str]]) -> dict[str, float]:
    """The inverse frequency of every asked word among the candidates: a word that all share says
    nothing.
    """
    holding = Counter(word for own in words for word in own & asked)
    return {
        term: math.log(1 + (len(words) + 1) / (holding[term] + 0.5))
        for term in asked
        if holding[term]
    }


def _defines(text: str, subject: set[str]) -> float:
    """1 when a sentence begins with the subject and says what it is; less when it says so later on.

    "The httpx client" and "the package httpx" are the subject; "the original request object" is not
    the library requests.
    """
    match = _DEFINES.match(text)
    if (
        match
        and len(match.group(1).split()) <= len(subject) + 3
        and not re.search(r"\b(?:that|which|who)\b", match.group(1))
    ):
        said = content_words(match.group(1))
        if not subject or (
            len(subject & set(said)) >= len(subject) / 2 and subject & {*said[:1], *said[-1:]}
        ):
            return 1.0
    return 0.4 if _IS_A.search(text) and subject & stems(text) else 0.0


def _code_by_page(found: Sequence[Candidate]) -> dict[str, str]:
    """All code of each page."""
    code: dict[str, str] = {}
    for c in found:
        if c.kind == "code":
            code[c.shown.page.url] = code.get(c.shown.page.url, "") + "\n" + c.text
    return code


def _imports(code: str) -> set[str]:
    """The names that a program imports."""
    lines = re.findall(r"^\s*(?:>>> )?(?:from\s+[\w.]+\s+)?import\s+(.+)$", code, re.MULTILINE)
    return {name for line in lines for name in re.findall(r"\w+", line)} - {"as"}
