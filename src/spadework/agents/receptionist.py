"""Distinguish research questions from small talk and chat-client chores, such as writing titles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NamedTuple, cast

from pydantic import create_model

from spadework.agents.llm.client import Model
from spadework.errors import BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.text.language import DEFAULT, Talk, codes, language, language_of
from spadework.tools.text.passages import shorten_question
from spadework.values import Value, Visible

Task = Literal["title", "tags", "follow_ups", "text"]

#: Patterns that recognize the task named in an instruction. The first match in the text decides.
_TASKS: dict[Task, str] = {
    "title": r"titles?|headings?|headline|(?:brief |short )?names? (?:for|of)",
    "tags": r"tags?",
    "follow_ups": r"follow[- ]?ups?|(?:suggest|propose)\w* (?:\S+ ){0,6}(?:questions|prompts)",
}
_TASK = re.compile(
    r"\b(?:" + "|".join(f"(?P<{task}>{words})" for task, words in _TASKS.items()) + r")\b",
    re.IGNORECASE,
)
#: Patterns for a conversation quoted in a request, and for the labels of its speakers. Group 1 of
#: `_SPEAKER` matches only the labels of user messages.
_TAGGED = re.compile(
    r"<(chat_history|conversation|messages?|history|transcript|text|dialogue?)\b[^<>]*>(.*?)"
    r"(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_SPEAKER = re.compile(
    r"^[ \t|>*#\[]*(?:(user|human|prompt|(?:be)?nutzer(?:in)?|usuari[oa]|usuário|utilisateur|utente"
    r"|gebruiker|пользователь|用户|用戶|使用者|ユーザー|사용자|المستخدم)|assistant|ai|model|bot|response"
    r"|assistent(?:in|e)?|ki|ia|asistente|ассистент|ии|助手|助理|アシスタント|어시스턴트|المساعد)"
    r"\b[\s|>*#\]]*(?:[:：]|$)[ \t]*\n?",
    re.IGNORECASE | re.MULTILINE,
)
_KEY = re.compile(r"\{\s*\"(\w+)\"\s*:\s*(\[?)")
#: Phrases that demand only the bare text of an answer. Research questions do not contain them.
_BARE = re.compile(
    r"\b(?:only|just|nothing (?:else|but|except|before|after)|by itself|without (?:quot|explan)\w+"
    r"|no (?:additional|extra|other|further|quotes|explanation)|(?:at most|max\w*|up to|between)"
    r" (?:\S+ ){1,4}words|words (?:max|at most|or (?:less|fewer)))\b",
    re.IGNORECASE,
)
#: An instruction is expected within this many characters at the start of a message. If a message is
#: more than twice this long, the text after these characters is what the instruction is about.
_HEAD_CHARS = 400
#: A client that allows at most this many tokens for an answer probably wants a title, because a
#: sentence with a citation is longer.
_FEW_TOKENS = 16
_QUESTION = re.compile("[?？؟]")
#: The maximum number of words in a title, and of tags, if they are made without a model.
_TITLE_WORDS, _TAGS = 6, 3


class Chore(NamedTuple):
    """A chat client's request about a conversation.
    - `task`: what to write.
    - `key`: the JSON key of the answer, or "" for plain text.
    - `listed`: whether the answer is a list.
    - `shown`: the conversation.
    """

    task: Task
    key: str
    listed: bool
    request: str
    shown: str


def chore_of(said: str, wishes: str = "", most_tokens: int = 0) -> Chore | None:
    """Return the chore that a message requests, or None. Chores are recognized by their form, such
    as an instruction about a quoted conversation.
    """
    request = f"{wishes}\n{said}".strip()
    shown, order = _conversation_in(request)
    named, key = _first_task(order if shown else request[:_HEAD_CHARS]), _KEY.search(order)
    wanted, bare = key[1] if key else "", _BARE.search(order)
    if shown and (named or bare or wanted in _TASKS or _is_order(order, shown)):
        task = cast(Task, wanted) if wanted in _TASKS else named or "text"
        listed = bool(key and key[2]) if key else task in ("tags", "follow_ups")
        return Chore(task, wanted, listed, request, shown)
    if wanted in _TASKS and bare:
        return Chore(cast(Task, wanted), wanted, wanted != "title", request, shown)
    if material := _titled(said):
        return Chore("title", "", False, request, material)
    tiny = 0 < most_tokens <= _FEW_TOKENS and by_rules(said) == RESEARCH
    return Chore("title", "", False, request, said) if tiny else None


def _is_order(order: str, shown: str) -> bool:
    """Return whether a non-English text tells the model what to do with the quoted chat."""
    known = language_of(order) == "en" or not order.strip() or _QUESTION.search(order)
    marks = list(_SPEAKER.finditer(shown))
    return not known and bool(marks) and not marks[-1][1]


def _titled(said: str) -> str:
    if len(said) > 2 * _HEAD_CHARS and _orders_title(said[:_HEAD_CHARS]):
        return said[_HEAD_CHARS:]
    paragraphs = said.split("\n\n")
    rest = [each for each in paragraphs if not ("word" in each and _orders_title(each))]
    return "\n\n".join(rest) if len(rest) < len(paragraphs) else ""


def _orders_title(text: str) -> bool:
    return _first_task(text) == "title" and bool(_BARE.search(text))


def _first_task(instruction: str) -> Task | None:
    found = _TASK.search(instruction)
    return next((task for task in _TASKS if found and found[task]), None)


def done_by_code(chore: Chore) -> str:
    """Do a chore without a model, taking titles and tags from the user's first message."""
    question = shorten_question(_first_question(chore.shown))
    stop = language(language_of(question)).stop
    words = (word.strip("?.!,;:()\"'“”") for word in question.split())
    telling = (w.capitalize() for w in words if w and w.lower() not in stop)
    title = " ".join(question.split()[:_TITLE_WORDS]).rstrip("?.!,;:？。")
    tags = list(dict.fromkeys(telling))[:_TAGS] if chore.task == "tags" else []
    return _in_shape(chore, tags if chore.listed else title)


async def done_by_model(model: Model, chore: Chore, *, seconds: float) -> str:
    """Do a chore with the planning role's model. Raises ModelError or BudgetSpent."""
    prompt = render("chore", request=chore.request, task=chore.task)
    answer = await model.ask("lead", prompt, _answer_to(chore.task, chore.listed), seconds=seconds)
    return _in_shape(chore, getattr(answer, chore.task))


@cache  # otherwise, every chore would create a class that is never freed
def _answer_to(task: Task, listed: bool) -> type[Visible]:
    wanted: Any = (list[str] if listed else str, ...)
    fields: dict[str, Any] = {task: wanted}
    return create_model("ChoreAnswer", __base__=Visible, **fields)


def _in_shape(chore: Chore, made: str | list[str]) -> str:
    if chore.key:
        return json.dumps({chore.key: made}, ensure_ascii=False)
    return "\n".join(made) if isinstance(made, list) else made


def _conversation_in(request: str) -> tuple[str, str]:
    """Split a request into conversation and instruction."""
    if tagged := _TAGGED.search(request):
        return tagged[0], request.replace(tagged[0], " ")
    marks = list(_SPEAKER.finditer(request))
    if {bool(mark[1]) for mark in marks} != {True, False}:
        return "", request
    before, shown = request[: marks[0].start()], request[marks[0].start() :]
    if before.strip():
        return shown, before
    shown, _, order = shown.rpartition("\n\n")
    return (shown, order) if _SPEAKER.search(shown) else (request, "")


def _first_question(shown: str) -> str:
    marks = list(_SPEAKER.finditer(shown))
    ends = [*(mark.start() for mark in marks[1:]), len(shown)]
    said = (
        re.sub(r"</\w+>\s*\Z", "", shown[mark.end() : end]).strip().strip('"').strip()
        for mark, end in zip(marks, ends, strict=False)
        if mark[1]
    )
    if first := next(filter(None, said), ""):
        return first
    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    asking = (line for line in lines if _QUESTION.search(line))
    return next(asking, lines[-1] if lines and not marks else "")


#: The kinds of messages. Follow-up questions are `research` too, because the research run
#: recognizes them itself.
Kind = Literal["research", "talk", "chore"]
#: A message with more words than this, not counting small talk, is treated as a research question.
FEW_WORDS = 6

_SIGN = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
#: Two characters of an unspaced script, counted as one word.
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]{2}")


class Received(Value):
    """The kind of a message, and the direct answer ("" if it needs research)."""

    kind: Kind
    answer: str = ""


class ReceptionAnswer(Visible):
    """Whether a message needs sources, and a short reply if it does not."""

    kind: Literal["research", "talk"]
    reply: str


RESEARCH = Received(kind="research")


async def receive_message(
    said: str, chore: Chore | None, model: Model | None, *, seconds: float
) -> Received:
    """Classify a message, and answer it if it needs no research. Without a working model, do chores
    by rules, and classify unclear messages as research.
    """
    if not chore and (sure := by_rules(said)) is not None:
        return sure
    try:
        if chore and model:
            done = await done_by_model(model, chore, seconds=seconds)
            return Received(kind="chore", answer=done)
        if model:
            prompt = render("reception", said=said)
            found = await model.ask("lead", prompt, ReceptionAnswer, seconds=seconds)
            if found.kind == "talk" and (reply := found.reply.strip()):
                return Received(kind="talk", answer=reply)
    except (ModelError, BudgetSpent):
        pass
    return Received(kind="chore", answer=done_by_code(chore)) if chore else RESEARCH


def by_rules(said: str) -> Received | None:
    """Classify a message that is not a chore, or return None if the rules cannot tell."""
    left, talk, kind = _split_small_talk(said)
    if kind and not left:
        return Received(kind="talk", answer=talk.about if kind == "opens" else talk.welcome)
    words = len(_UNSPACED.findall(left)) + len(_WORD.findall(_UNSPACED.sub(" ", left)))
    doubtful = kind and words <= FEW_WORDS and not _QUESTION.search(said)
    return None if doubtful else RESEARCH


def _split_small_talk(said: str) -> tuple[str, Talk, str]:
    """Return a text without its small talk, the small-talk phrases of its language, and the kind of
    small talk ("opens", "closes", or "" if there is none).
    """
    talks = [talk for talk in _small_talks() if talk.opens.search(said) or talk.closes.search(said)]
    if not talks and said.strip() and not _WORD.search(said):
        return "", next(_small_talks()), "closes"  # only symbols, such as a thumbs-up
    if not talks:
        return said, next(_small_talks()), ""
    tried = [(_rest_of_message(said, talk), talk) for talk in talks]
    left, talk = min(tried, key=lambda each: len(each[0]))
    return left, talk, "opens" if talk.opens.search(said) else "closes"


def _rest_of_message(said: str, talk: Talk) -> str:
    for pattern in (talk.opens, talk.closes, talk.fill):
        said = pattern.sub(" ", said)
    return _SIGN.sub(" ", said).strip()


def _small_talks() -> Iterator[Talk]:
    for code in sorted(codes(), key=lambda code: code != DEFAULT):
        if talk := language(code).talk:
            yield talk
