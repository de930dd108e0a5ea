"""Which language a text is in: by its script, then by the share of function words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache

from spadework.tools.text.language import DEFAULT, codes, language

#: So much of a text is looked at.
LOOKED_AT = 4_000
#: The least share of function words in a text of more words than a question may have.
LEAST_SHARE, SHORT = 0.15, 12
#: What a text must have of the words of its language, each shared among the languages it is in.
LEAST = 0.5
#: What a word counts against a language whose letters it is not written in.
FOREIGN = 0.5
#: Scores that differ by no more than this are the same sum added in another order.
TIE = 1e-6
#: A sign of these scripts says as much as so many letters.
SIGNS = {"kana": 2, "han": 2, "ko": 2}
#: Japanese has at least this share of kana among its signs; Chinese may quote a few.
KANA = 0.05

#: A word, without what stands after an apostrophe.
_WORD = re.compile(r"(?<![\w'’])\w+")
#: Scripts by the code points they begin and end at; those of one language under its code.
_SCRIPTS = (
    (0x0041, 0x024F, "latin"), (0x0370, 0x03FF, "el"), (0x0400, 0x052F, "cyrillic"),
    (0x0531, 0x058F, "hy"), (0x05D0, 0x05EA, "he"), (0x0620, 0x06FF, "ar"),
    (0x0900, 0x097F, "hi"), (0x0980, 0x09FF, "bn"), (0x0A00, 0x0A7F, "pa"),
    (0x0A80, 0x0AFF, "gu"), (0x0B80, 0x0BFF, "ta"), (0x0C00, 0x0C7F, "te"),
    (0x0C80, 0x0CFF, "kn"), (0x0D00, 0x0D7F, "ml"), (0x0D80, 0x0DFF, "si"),
    (0x0E00, 0x0E7F, "th"), (0x0E80, 0x0EFF, "lo"), (0x1000, 0x109F, "my"),
    (0x10A0, 0x10FF, "ka"), (0x1100, 0x11FF, "ko"), (0x1200, 0x137F, "am"),
    (0x1780, 0x17FF, "km"), (0x1E00, 0x1EFF, "latin"), (0x3041, 0x30FF, "kana"),
    (0x3400, 0x9FFF, "han"), (0xAC00, 0xD7AF, "ko"), (0xF900, 0xFAFF, "han"),
    (0x20000, 0x3FFFF, "han"),
)  # fmt: skip


def language_of(text: str) -> str:
    """The code of the language of a text, also of a short question; "" where it cannot tell."""
    return _language_of(text[:LOOKED_AT])


def spoken(*texts: str) -> str:
    """The code of the language of the first text that shows one, else that of English."""
    return next(filter(None, map(language_of, texts)), DEFAULT)


@lru_cache(maxsize=2_048)
def _language_of(text: str) -> str:
    scripts = {"latin": 1} if text.isascii() else _scripts(text)
    if not scripts:
        return ""
    main = max(scripts, key=lambda script: scripts[script] * SIGNS.get(script, 1))
    if main in ("latin", "cyrillic"):
        return _by_words(text.lower()) or _among_letters(text, scripts)
    return _east_asian(scripts) if main in ("kana", "han") else main


def _scripts(text: str) -> dict[str, int]:
    """How many letters a text has of each script."""
    found: Counter[str] = Counter()
    for char, times in Counter(text).items():
        if char.isalpha():
            point = ord(char)
            script = next((s for first, last, s in _SCRIPTS if first <= point <= last), "")
            found[script] += times
    found.pop("", None)
    return dict(found)


def _east_asian(scripts: dict[str, int]) -> str:
    kana, han = scripts.get("kana", 0), scripts.get("han", 0)
    return "ja" if kana > KANA * (kana + han) else "zh"


def _among_letters(text: str, scripts: dict[str, int]) -> str:
    """The East Asian language whose function words stand among foreign names: `asyncio 是什么`."""
    if not {"kana", "han"} & scripts.keys():
        return ""
    code = _east_asian(scripts)
    return code if any(word in text for word in language(code).stop) else ""


def _by_words(text: str) -> str:
    words = Counter(_WORD.findall(text))
    scores: defaultdict[str, float] = defaultdict(float)
    hits: Counter[str] = Counter()
    for word, times in words.items():
        owners = _owners().get(word, ())
        for code in owners:
            scores[code] += times / len(owners)
            hits[code] += times
        if not word.isascii():
            for code, letters in _alphabets().items():
                if not letters.issuperset(word):
                    scores[code] -= times * FOREIGN
                    hits[code] -= times
    best, second = [*sorted(scores, key=lambda code: -scores[code]), "", ""][:2]
    total = words.total()
    sure = scores[best] >= LEAST and scores[best] - scores[second] > TIE
    return best if sure and (total <= SHORT or hits[best] >= LEAST_SHARE * total) else ""


@lru_cache(maxsize=1)
def _owners() -> dict[str, tuple[str, ...]]:
    """The languages that each function word belongs to."""
    found: dict[str, tuple[str, ...]] = {}
    for code in _alphabets():
        for word in language(code).stop:
            found[word] = (*found.get(word, ()), code)
    return found


@lru_cache(maxsize=1)
def _alphabets() -> dict[str, frozenset[str]]:
    """The letters of each language that puts spaces between words."""
    spaced = (language(code) for code in codes() if not language(code).unspaced)
    return {one.code: frozenset("abcdefghijklmnopqrstuvwxyz" + one.letters) for one in spaced}
