"""Whether "How do I use X?" is answered by code that uses X: `python benchmarks/how_to_use.py
[--half test]`.

X are the packages installed here whose description has a line of code that imports them; their
documentation is the library that is searched without settings. Split by the hash of their names;
those of *dev* are among the questions on which the judge is fitted. No model.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from importlib.metadata import distributions
from typing import Any

from answers_match import body
from what_is import half_of

from spadework.sessions.one_call import research
from spadework.settings import Settings

_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

_INSTALL = re.compile(r"^[ \t>$]*(?:python -m )?(?:pip|uv|conda) ", re.MULTILINE)


def main() -> None:
    """Ask of each package how it is used; print how many answers hold code that imports it, begin
    with it (installation aside), and are called answers.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("dev", "test"), default="dev")
    half = parser.parse_args().half
    asked = [(name, modules) for name, modules in packages() if half_of(name) == half]
    first = held = claimed = 0
    for name, modules in asked:
        found, answered = asyncio.run(_asked(f"How do I use {name}?"))
        uses = [n for n, code in enumerate(found) if imports(code, modules)]
        first, held, claimed = first + (uses[:1] == [0]), held + bool(uses), claimed + answered
        mark = "first" if uses[:1] == [0] else "held" if uses else "MISSING"
        print(f"{mark}{'' if answered else ', open'}: {name}", flush=True)
    print(f"{half}: {len(asked)} packages, {first} first, {held} hold it, {claimed} claimed")


def packages() -> list[tuple[str, frozenset[str]]]:
    """The packages, as their descriptions write them, with the modules that are theirs."""
    made = {}
    for package in distributions():
        name, text = package.metadata["Name"], str(package.metadata.get_payload() or "")
        top = (package.read_text("top_level.txt") or "").split()
        found = {str(file).split("/")[0] for file in package.files or () if file.suffix == ".py"}
        modules = frozenset(each.removesuffix(".py") for each in (*top, *found) if each.isascii())
        written = re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE)
        if written and imports(text, modules):
            made[name.lower()] = (written[0], modules)
    return [made[name] for name in sorted(made)]


def rows(half: str) -> list[dict[str, Any]]:
    """The questions of a half, in the form of `answers/questions.jsonl`."""
    made = []
    for name, modules in packages():
        if half_of(name) == half:
            ways = [[f"from {m}", "import"] for m in sorted(modules)]
            fact = {"value": name, "any": [*ways, *([f"import {m}"] for m in sorted(modules))]}
            row = {"question": f"How do I use {name}?", "kind": "howto", "facts": [fact]}
            made.append(row | {"id": name, "answerable": True, "paraphrases": []})
    return made


def imports(code: str, modules: frozenset[str]) -> bool:
    """Whether a line of some code imports one of the modules."""
    said = re.findall(r"^[ \t>.]*(?:from|import) +(\w+)", code, re.MULTILINE)
    return any(name in modules for name in said)


async def _asked(question: str) -> tuple[list[str], bool]:
    result = await research(question, Settings.load(search="library", iterations=1))
    codes = _CODE.findall(body(result.report))
    return [code for code in codes if not _INSTALL.search(code)], all(
        t.covered for t in result.topics
    )


if __name__ == "__main__":
    main()
