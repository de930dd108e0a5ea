"""Decide whether to ask the user what a question means, and split the question into topics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from pydantic import create_model

from spadework.agents.extractive import lead as extractive
from spadework.agents.extractive.comparison import is_nominal
from spadework.agents.extractive.lead import in_context
from spadework.agents.extractive.question_parts import names_in, parts, put_in
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import Reply, at_most
from spadework.errors import BadReply
from spadework.events import Asked
from spadework.prompts import Prompt, render
from spadework.tools.ranking.query_operators import in_words
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.text import tokens
from spadework.tools.text.language import language, language_of, spoken
from spadework.tools.text.passages import is_long, shorten_question
from spadework.values import (
    Complexity,
    Expected,
    Freshness,
    Hit,
    Plan,
    Problem,
    Query,
    QueryKind,
    Question,
    QuestionType,
    Topic,
    Visible,
)
from spadework.visible import one_line

MOST_TITLES = 40
TITLE_CHARS = 200
ANSWER_TOKENS = 500
MOST_QUERIES = 4
#: The maximum number of aspects per topic, and of subjects per question.
MOST_ASPECTS, MOST_SUBJECTS = 6, 6
#: The maximum number of wishes about the report's form, and of characters in each.
MOST_WISHES, WISH_CHARS = 5, 120


class QueryAnswer(Visible):
    """A search query."""

    text: str
    kind: QueryKind


class TopicAnswer(Visible):
    """A topic of the plan."""

    name: str
    question: str
    expects: Expected = "open"
    must_cover: list[str] = at_most(MOST_ASPECTS)
    queries: list[QueryAnswer] = at_most(MOST_QUERIES)


class PlanAnswer(Reply):
    """The plan for a question."""

    question_type: QuestionType
    complexity: Complexity
    freshness: Freshness
    language: str
    title: str = ""
    subjects: list[str] = at_most(MOST_SUBJECTS)
    wishes: list[str] = at_most(MOST_WISHES, [])
    topics: list[TopicAnswer]


@cache
def _reply_type(most: int) -> type[PlanAnswer]:
    """Return a reply type for at most `most` topics. Small models tend to use up higher limits."""
    return create_model(
        "PlanAnswer", __base__=PlanAnswer, topics=(list[TopicAnswer], at_most(most))
    )


async def plan(
    model: Model | None,
    question: Question,
    hits: Sequence[Hit],
    *,
    searching: Sequence[str] = (),
    most: int,
    seconds: float,
) -> tuple[Plan, list[Problem]]:
    """Return a plan of at most `most` topics.
    - `hits`: the results of the first broad search.
    - `searching`: descriptions of the collections to search, such as "the web, through SearXNG".
    """
    if question.answers:
        await tokens.ready()

    async def ask(model: Model) -> Plan:
        prompt = prompt_of(question, hits, searching, most=most)
        answer = await model.ask("lead", prompt, _reply_type(most), seconds=seconds)
        made = _plan(question.text, answer, most)
        return made if made.freshness != "any" else _without_today(made, question)

    return await first_of(
        model, "lead", question.text, ask, lambda: extractive.plan(question, hits)
    )


def prompt_of(
    question: Question, hits: Sequence[Hit], searching: Sequence[str], *, most: int
) -> Prompt:
    """Return the planning prompt. If there are earlier answers, await `tokens.ready()` first."""
    answers = [tokens.first_tokens(answer, ANSWER_TOKENS) for answer in question.answers]
    titles = dict.fromkeys(one_line(hit.title, TITLE_CHARS) for hit in hits if hit.title)
    return render(
        "lead",
        question=question,
        answers=[*answers, *[""] * (len(question.earlier) - len(answers))],
        long=is_long(question.text),
        searching=searching,
        titles=list(titles)[:MOST_TITLES],
        most=most,
    )


def _plan(question: str, answer: PlanAnswer, most: int) -> Plan:
    topics = tuple(
        {topic.name: topic for topic in map(topic_of, answer.topics) if topic.name}.values()
    )
    if not topics:
        raise BadReply("The plan has no topics.")
    several = answer.complexity == "simple" and len(topics) > 1
    kept = answer.model_dump(include={"question_type", "freshness", "language"})
    title = one_line(answer.title, TITLE_CHARS) or shorten_question(question)
    return Plan(
        question=question,
        title=title if is_long(question) else "",
        **kept,
        complexity="moderate" if several else answer.complexity,
        subjects=tuple(answer.subjects),
        wishes=tuple(one_line(wish, WISH_CHARS) for wish in answer.wishes[:MOST_WISHES]),
        topics=topics[:most],
        maker=answer.author,
    )


def _without_today(plan: Plan, question: Question) -> Plan:
    """Remove today's date from search queries, because small models tend to add it."""
    year, _, rest = question.asked_on.partition("-")
    if not year or year in " ".join([question.text, question.wishes, *question.earlier]):
        return plan
    month, day = (part.lstrip("0") for part in rest.split("-"))
    months = language(spoken(question.text)).months
    names = "|".join(re.escape(name) for name, number in months.items() if number == month)
    part = rf"(?:0?{day}(?:st|nd|rd|th|\.)?|0?{month}|{names})"
    today = re.compile(
        rf"(?:\b{part}[\s,./-]+){{0,2}}\b{year}\b(?:[\s,./-]+{part}\b){{0,2}}", re.IGNORECASE
    )

    def undated(topic: Topic) -> Topic:
        texts = [" ".join(today.sub(" ", query.text).split()) for query in topic.queries]
        queries = [
            query.model_copy(update={"text": text or topic.question})
            for query, text in zip(topic.queries, texts, strict=True)
        ]
        return topic.model_copy(update={"queries": tuple(queries)})

    return plan.model_copy(update={"topics": tuple(map(undated, plan.topics))})


def topic_of(answer: TopicAnswer) -> Topic:
    """Convert a model's topic, dropping duplicate queries and any with operators or addresses."""
    name = answer.name.strip()
    # Small models write topic names in lower case. Capitalize a name only if it begins with a
    # function word, because other first words may be lower case by design ("npm").
    if name.partition(" ")[0] in language(spoken(name)).stop:
        name = name[:1].upper() + name[1:]
    texts = {
        q.text.strip().lower(): Query(text=q.text.strip(), kind=q.kind)
        for q in answer.queries
        if in_words(q.text)
    }
    instead = (Query(text=text) for text in (answer.question, name) if in_words(text))
    queries = tuple(texts.values())[:MOST_QUERIES] or tuple(instead)[:1]
    return Topic(
        name=name,
        question=answer.question or name,
        expects=answer.expects,
        must_cover=tuple(answer.must_cover),
        queries=queries,
    )


MOST_OPTIONS = 6

#: Titles that distinguish namesakes, such as "Mercury (planet)".
_NAMESAKE = re.compile(r"^(?P<name>[^()]{2,80}?)\s*\((?P<sense>[^()]{2,60})\)")


class DoubtAnswer(Visible):
    """A question for the user ("" if none is needed), and the answers to choose from."""

    question: str
    options: list[str] = at_most(MOST_OPTIONS)


async def doubt(
    model: Model | None, question: Question, hits: Sequence[Hit], *, seconds: float
) -> tuple[Asked | None, list[Problem]]:
    """Return what to ask the user before planning, or None if the question is clear."""

    async def ask(model: Model) -> Asked | None:
        answer = await model.ask(
            "lead", render("doubt", question=question, hits=hits), DoubtAnswer, seconds=seconds
        )
        if not answer.question.strip():
            return None
        return Asked(
            kind="clarify",
            text=answer.question.strip(),
            options=tuple(answer.options)[:MOST_OPTIONS],
        )

    return await first_of(model, "lead", question.text, ask, lambda: doubt_by_rules(question, hits))


def clarify_question(question: str, answer: str, asked: str = "") -> str:
    """Add the user's answer to a question, after the clarifying question that was `asked`: "What is
    Mercury (Which one? the planet)?". If `asked` is "", the answer may replace a pronoun: "What
    is it?" becomes "What is Heron?".
    """
    said = " ".join(answer.split())
    if said and not asked and (whole := name_subject(question, said)):
        return whole
    said = f"{asked} {said}".strip() if said else ""
    mark = "?" if question.rstrip().endswith("?") else ""
    return f"{question.rstrip(' ?')} ({said}){mark}" if said else question


def name_subject(question: str, answer: str) -> str:
    """Replace the pronoun of a vague question with a name. Return "" if that is not possible."""
    named = is_nominal(answer, language(language_of(question) or "en"))
    replaced = put_in(question, answer) if named and not query_terms(question) else question
    return replaced if replaced != question else ""


def doubt_by_rules(question: Question, hits: Sequence[Hit]) -> Asked | None:
    """Return what to ask the user, or None if the question seems clear."""
    if not query_terms(question.text) and not question.earlier:
        return Asked(kind="clarify", text="What is your question about?")
    named = (part.sides or names_in(part.text) for part in parts(in_context(question)))
    asked = {name.casefold(): name for names in named for name in names}
    senses: dict[str, dict[str, str]] = {}
    for match in filter(None, (_NAMESAKE.match(hit.title) for hit in hits)):
        name, sense = match["name"].casefold(), match["sense"].strip()
        if name in asked and sense.casefold() not in question.text.casefold():
            senses.setdefault(name, {}).setdefault(sense.casefold(), sense)
    for name, meant in senses.items():
        if len(meant) > 1:
            return Asked(
                kind="clarify",
                text=f"Which {asked[name]} do you mean?",
                options=tuple(meant.values())[:MOST_OPTIONS],
            )
    return None
