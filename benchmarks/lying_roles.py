"""The roles of `lying.py`: writers that lie, that tell the truth in other words, that mix both, and
judges that are honest, unfit, or believe all.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.world.brain import assessment
from tests.world.chat import ChatRequest
from tests.world.verdicts import in_examination, told, verdicts

Fact = dict[str, Any]
FACTS: list[Fact] = json.loads(Path(__file__).with_name("lying.json").read_text("utf-8"))
LIES = [lie for fact in FACTS for lie in fact["lies"]]


def about(text: str) -> str:
    """The name of the fact that a true sentence tells, as it stands or behind a connective; that
    of a line that leads to such; "" for any other.
    """
    for fact in FACTS:
        known = [*fact["truths"], fact["quote"], lead_in(fact)]
        if any(text.casefold().endswith(one.casefold()) for one in known):
            return str(fact["name"])
    return ""


def lead_in(fact: Fact) -> str:
    """A line that must not stand without what it leads to."""
    return f"The pages tell of the {fact['name'].lower()}:"


def leans(text: str) -> bool:
    """Whether a sentence needs the one before it."""
    return text.startswith(("It ", "However, "))


def honest(request: ChatRequest) -> dict[str, Any]:
    """The right verdicts: what leans on another sentence is right behind one of its own matter."""
    said = verdicts(request, "supported")
    if not in_examination(request):
        shown = request.prompt.rpartition("Sentences, each with the evidence it cites:")[2]
        follows = dict(re.findall(r"^(\d+)\. .* \(it follows: “(.*)”\) \[", shown, re.MULTILINE))
        for n, sentence in told(request):
            before = follows.get(str(n), sentence)
            right = about(sentence) and about(before) == about(sentence)
            said["verdicts"][n - 1]["verdict"] = "supported" if right else "contradicted"
    return said


def is_true(text: str) -> bool:
    """Whether a sentence tells a fact."""
    return bool(about(text)) and not text.endswith(":")


def gullible(request: ChatRequest) -> dict[str, Any]:
    """Right verdicts in the examination; afterwards all is supported."""
    return verdicts(request, "supported")


def unfit(seed: int) -> Callable[[ChatRequest], dict[str, Any]]:
    """A judge that calls everything supported, or judges by lot, or the other way round."""
    chance = random.Random(seed)

    def judge(request: ChatRequest) -> dict[str, Any]:
        right = verdicts(request, "supported")["verdicts"]
        for each in right:
            wrong = "unsupported" if each["verdict"] == "supported" else "supported"
            each["verdict"] = ("supported", chance.choice(["supported", "partly"]), wrong)[seed % 3]
        return {"verdicts": right}

    return judge


def lying(chance: random.Random, facts: Sequence[Fact]) -> list[list[str]]:
    """A lie of every kind about each fact, under a heading that is one."""
    told = [f"{lie['text']} [{fact['id']}]" for fact in facts for lie in fact["lies"]]
    chance.shuffle(told)
    return [["### The harbour of Zorblatt in 1997"], *([text] for text in told)]


def truthful(chance: random.Random, facts: Sequence[Fact]) -> list[list[str]]:
    """Each fact in other words, in prose, in a list or in a table."""
    paragraphs: list[list[str]] = []
    for fact in facts:
        plain, other, leaning = (f"{truth} [{fact['id']}]" for truth in fact["truths"])
        match chance.choice(["prose", "list", "table"]):
            case "prose":
                joined = (
                    f"However, {other[0].lower()}{other[1:]}" if chance.random() < 0.5 else other
                )
                paragraphs.append([plain, leaning, joined])
            case "list":
                paragraphs += [[lead_in(fact)], [f"- {plain}", f"- {other}"], [leaning]]
            case "table":
                row = f"| {fact['name']} | {plain} | {other} |"
                paragraphs.append(["| What | Told | Also |", "|---|---|---|", row])
    return paragraphs


def mixed(chance: random.Random, facts: Sequence[Fact]) -> list[list[str]]:
    """The truth, and a lie somewhere in its prose."""
    paragraphs = truthful(chance, facts)
    prose = [one for one in paragraphs if not one[0].startswith(("- ", "| "))] or [[]]
    fact, target = chance.choice(facts), chance.choice(prose)
    target.insert(chance.randint(0, len(target)), f"{fact['lies'][0]['text']} [{fact['id']}]")
    return [*paragraphs, *([target] if target not in paragraphs else [])]


Writer = Callable[[random.Random, Sequence[Fact]], list[list[str]]]


def as_markdown(paragraphs: Sequence[Sequence[str]]) -> str:
    """Lines of lists and tables, the sentences of all else in a paragraph."""
    lines = ("- ", "| ")
    return "\n\n".join(("\n" if p[0].startswith(lines) else " ").join(p) for p in paragraphs)


def sentences(line: str) -> list[str]:
    """The sentences of a line without marks; the cells of a row."""
    cells = line.strip("| ").split(" | ") if line.startswith("| ") else [line.removeprefix("- ")]
    return [re.sub(r" \[E\d+\]", "", cell) for cell in cells]


def assessed(request: ChatRequest) -> dict[str, Any]:
    """The quotes of the topic that are shown."""
    topic = re.search(r"^Topic: (.*)$", request.prompt, re.MULTILINE)
    own = [fact["quote"] for fact in FACTS if topic and fact["topic"] == topic[1]]
    return assessment([quote for quote in own if quote in request.prompt])


def summed(request: ChatRequest, chance: random.Random) -> dict[str, Any]:
    """A summary that says again what the sections say."""
    told = re.findall(r"^(.*) \[(E\d+)\]$", request.user, re.MULTILINE)
    plain = [f"{text} [{id_}]" for text, id_ in told if is_true(text) and not leans(text)]
    return {"markdown": " ".join(chance.sample(plain, min(3, len(plain))))}


def lied(request: ChatRequest, chance: random.Random) -> dict[str, Any]:
    """A summary of lies."""
    ids = re.findall(r"\bE\d+\b", request.user)
    told = [f"{lie['text']} [{chance.choice(ids)}]" for lie in chance.sample(LIES, 4)]
    return {"markdown": " ".join(told)}


def mended(request: ChatRequest, lies: bool, chance: random.Random) -> dict[str, Any]:
    """Other lies in the place of those that did not hold; from who is honest, nothing."""
    failed = re.findall(r"^(\d+)\. .*\n +Did not hold", request.user, re.MULTILINE)
    ids = re.findall(r"^\[(E\d+)\] ", request.user, re.MULTILINE)
    texts = [
        f"{chance.choice(LIES)['text']} [{chance.choice(ids)}]" if lies else "" for _ in failed
    ]
    return {
        "sentences": [
            {"number": int(n), "text": text} for n, text in zip(failed, texts, strict=True)
        ]
    }
