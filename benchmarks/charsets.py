"""How often bytes become the text that they were made of: `python benchmarks/charsets.py MAN`.

MAN is a folder of translated manuals, `MAN/<language>/man*/*.gz` in UTF-8, such as Debian's
packages manpages-cs, -de, -el, -es, -fr, -hu, -ja, -pl, -ru, -tr and -zh bring to `usr/share/man`.
Each of at most 25 manuals of a language gives stretches of 200, 1,000 and 4,000 characters in every
charset that pages of its language were written in; they are read without a declaration, rightly
declared and wrongly. `CLOSE` and `SURE` of `tools.extract.document_kinds` were chosen on the
half *dev* of the manuals.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from spadework.tools.extract.document_kinds import decode_body

CHARSETS = {
    "ru": ("cp1251", "koi8-r", "iso8859-5", "cp866"),
    "ja": ("cp932", "euc-jp", "iso2022_jp"),
    "zh_CN": ("gb18030",),
    "zh_TW": ("big5",),
    "de": ("cp1252",),
    "fr": ("cp1252",),
    "es": ("cp1252",),
    "pl": ("cp1250", "iso8859-2"),
    "cs": ("cp1250", "iso8859-2"),
    "hu": ("cp1250", "iso8859-2"),
    "el": ("cp1253",),
    "tr": ("cp1254",),
}
#: Every third of them is what text is wrongly declared to be.
WRONG = sorted({name for names in CHARSETS.values() for name in names})[::3]
LENGTHS, MOST, LEAST_CHARS, LEAST_LETTERS = (200, 1_000, 4_000), 25, 3_000, 6
_MACROS = re.compile(r"^[.'].*$|\\f.|\\[-&e]|\\\(..", re.MULTILINE)


def manuals(folder: Path, half: str) -> list[str]:
    """The text of the first manuals of a language that belong to a half."""
    found: list[str] = []
    for path in sorted(folder.glob("man*/*.gz")):
        packed = gzip.decompress(path.read_bytes()).decode(errors="ignore")
        text = " ".join(_MACROS.sub("", packed).split())
        odd = hashlib.md5(path.name.encode(), usedforsecurity=False).digest()[0] % 2
        if ("test", "dev")[odd] == half and len(text) >= LEAST_CHARS:
            found.append(text)
    return found[:MOST]


def stretches(man: Path, half: str) -> Iterator[tuple[str, bytes, str]]:
    """Charset, bytes and the text that they were made of."""
    for language, charsets in CHARSETS.items():
        for text in manuals(man / language, half):
            for length in LENGTHS:
                part = text[len(text) // 3 :][:length]
                if sum(letter > "\x7f" for letter in part) < LEAST_LETTERS:
                    continue
                for charset in charsets:
                    body = part.encode(charset, "ignore")
                    yield charset, body, body.decode(charset)


def figures(man: Path, half: str) -> str:
    """How often the text was read right, and how often what is doubtful was said to be so."""
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for charset, body, text in stretches(man, half):
        bare = decode_body(body)
        told = {"undeclared": bare.text, "declared": decode_body(body, charset).text}
        wrong = [w for w in WRONG if w != charset and body.decode(w, "replace") != text]
        told |= {f"declared {w}": decode_body(body, w).text for w in wrong}
        for how, found in told.items():
            kind = how if " " not in how else "wrongly declared"
            asked[kind] += 1
            right[kind] += found == text
        asked["doubtful"] += bare.doubtful
        right["doubtful"] += bare.doubtful and bare.text == text
        asked["sure"] += not bare.doubtful
        right["sure"] += not bare.doubtful and bare.text == text
    shares = (f"{kind} {right[kind]} of {asked[kind]}" for kind in asked)
    return f"{half}: read right: {', '.join(shares)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("man", type=Path)
    given = parser.parse_args()
    print(figures(given.man, "dev"), figures(given.man, "test"), sep="\n")
