"""Write MathML and Word (OMML) formulas on one line: `√(b^2-4ac)`, `∑_(i=1)^n i`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from spadework.tools.extract.notation import FORMULA, bracketed, fraction, root
from spadework.tools.extract.xml import Element, attribute, child, tag

#: Invisible operators and spaces.
_UNSEEN = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b\u2060"))
_ATOM = re.compile(r"[\w.,\u221e'\u2032!%°]*")
#: A word, superscript or subscript at the end of a text. A space is added after it, because a
#: following letter would seem to be part of it.
_WORD_ENDS = re.compile(r"[^\W\d_]{2,}$|[_^]\w*$")
_WORD_BEGINS = re.compile(r"[^\W\d_]{2}")
_DEEPEST = 60


class _Unknown(Exception):
    """Raised for a formula that has an unknown element or is nested too deeply."""


def linear(formula: Element) -> str:
    """Return a MathML or OMML formula on one line, or `[formula]` if it cannot be read."""
    try:
        return " ".join(_read(formula, _DEEPEST).split())
    except _Unknown:
        return FORMULA


def _read(element: Element, depth: int) -> str:
    name = tag(element)
    if depth == 0 or name not in _WRITERS:
        raise _Unknown(name)
    return _WRITERS[name](element, depth - 1)


def _row(element: Element, depth: int) -> str:
    return _side_by_side(_read(part, depth) for part in element if not _is_setting(part))


def _is_setting(element: Element) -> bool:
    return not tag(element) or tag(element).endswith("Pr") or tag(element) in _NO_TEXT


def _side_by_side(parts: Iterable[str]) -> str:
    line = ""
    for part in filter(None, parts):
        last, first = line[-1:], part[:1]
        words = _WORD_ENDS.search(line) or _WORD_BEGINS.match(part)
        if (last.isalnum() and first.isalnum() and words) or (last.isdigit() and first.isdigit()):
            line += " "
        line += part
    return line


def _token(element: Element, depth: int) -> str:
    text = "".join(element.itertext()).translate(_UNSEEN)
    return text if tag(element) in ("mtext", "ms", "t") else text.strip()


def _parts(element: Element, depth: int, *names: str) -> list[str]:
    if not names:
        return [_read(part, depth) for part in element if tag(part)]
    found = (child(element, name) for name in names)
    return [_row(part, depth) if part is not None else "" for part in found]


def _operands(element: Element, depth: int, names: tuple[str, ...]) -> list[str]:
    own = [part for part in element if tag(part) and not _is_setting(part)]
    if any(tag(part) in names for part in own) or not tag(element).startswith("m"):
        return _parts(element, depth, *names)
    found = [_read(part, depth) for part in own]
    if len(found) != len(names):
        raise _Unknown(tag(element))
    return found


def _fraction(element: Element, depth: int) -> str:
    above, below = _operands(element, depth, ("num", "den"))
    kind = attribute(child(element, "fPr", "type"), "val")
    if kind == "noBar" or attribute(element, "linethickness")[:1] == "0":
        return f"({above} choose {below})"
    return fraction(above, below)


def _root(element: Element, depth: int) -> str:
    if tag(element) == "rad":
        degree, inside = _parts(element, depth, "deg", "e")
        return root(inside, degree)
    if tag(element) == "msqrt":
        return root(_row(element, depth))
    inside, degree = _operands(element, depth, ("e", "deg"))
    return root(inside, degree)


def _scripts(*signs: str, names: tuple[str, ...]) -> Callable[[Element, int], str]:
    def write(element: Element, depth: int) -> str:
        base, *scripts = _operands(element, depth, ("e", *names))
        return _scripted(base, zip(signs, scripts, strict=True))

    return write


def _scripted(base: str, scripts: Iterable[tuple[str, str]]) -> str:
    core = base if _ATOM.fullmatch(base) or len(base.strip()) == 1 else bracketed(base)
    shown = (f"{sign}{_script(text)}" for sign, text in scripts if text.strip())
    return core + "".join(shown)


def _script(text: str) -> str:
    core = text.strip()
    return core if re.fullmatch(r"[-+\u2212]?\w+|[^\w\s(]+", core) else bracketed(core)


def _accent(element: Element, depth: int) -> str:
    if tag(element) == "acc":
        [base] = _parts(element, depth, "e")
        sign = attribute(child(element, "accPr", "chr"), "val", "\u0302")
        return bracketed(base) + sign
    base, over = _operands(element, depth, ("e", "lim"))
    if any(map(str.isalnum, over)):
        return _scripted(base, [("^" if tag(element) == "mover" else "_", over)])
    return bracketed(base) + over


def _nary(element: Element, depth: int) -> str:
    below, above, inside = _parts(element, depth, "sub", "sup", "e")
    sign = attribute(child(element, "naryPr", "chr"), "val", "\u222b")
    return f"{_scripted(sign, [('_', below), ('^', above)])} {inside}"


def _function(element: Element, depth: int) -> str:
    name, inside = _parts(element, depth, "fName", "e")
    return f"{name} {inside}"


def _delimited(element: Element, depth: int) -> str:
    settings = child(element, "dPr")
    if settings is None and tag(element) == "mfenced":
        opened, closed = attribute(element, "open", "("), attribute(element, "close", ")")
        return opened + ", ".join(_parts(element, depth)) + closed
    opened, closed, between = (
        attribute(child(settings, name), "val", usual)
        for name, usual in (("begChr", "("), ("endChr", ")"), ("sepChr", "|"))
    )
    inside = between.join(_row(part, depth) for part in element if tag(part) == "e")
    return opened + inside + closed


def _matrix(element: Element, depth: int) -> str:
    rows = [part for part in element if tag(part) in ("mr", "mtr", "mlabeledtr", "e")]
    shown = "; ".join(
        _row(row, depth)
        if tag(row) == "e"
        else ", ".join(_row(cell, depth) for cell in row if not _is_setting(cell))
        for row in rows
    )
    return shown if tag(element) == "eqArr" or len(rows) < 2 else f"[{shown}]"


def _multiscripts(element: Element, depth: int) -> str:
    base, *others = [part for part in element if tag(part)]
    split = next((n for n, part in enumerate(others) if tag(part) == "mprescripts"), len(others))
    shown = [
        "".join(
            f"{sign}{_script(_read(part, depth))}"
            for sign, part in zip("_^" * len(group), group, strict=False)
            if tag(part) != "none"
        )
        for group in (others[:split], others[split + 1 :])
    ]
    return f"{shown[1]}{_read(base, depth)}{shown[0]}"


def _prescripts(element: Element, depth: int) -> str:
    below, above, base = _parts(element, depth, "sub", "sup", "e")
    return f"^{_script(above)}_{_script(below)} {base}"


def _semantics(element: Element, depth: int) -> str:
    first = next((part for part in element if tag(part)), None)
    return _read(first, depth) if first is not None else ""


def _ordinary(element: Element, depth: int) -> str:
    return _side_by_side(_parts(element, depth, "e"))


_NO_TEXT = frozenset((
    "annotation", "annotation-xml", "mphantom", "phant", "del", "moveFrom", "bookmarkStart",
    "bookmarkEnd", "proofErr", "lastRenderedPageBreak", "maligngroup", "malignmark", "none",
))  # fmt: skip
_WRITERS: dict[str, Callable[[Element, int], str]] = {
    **dict.fromkeys(("mi", "mn", "mo", "mtext", "ms", "t", "delText"), _token),
    **dict.fromkeys(
        ("math", "mrow", "mstyle", "mpadded", "menclose", "mtd", "maction", "merror", "oMath", "e",
         "oMathPara", "r", "ins", "moveTo", "num", "den", "deg", "sub", "sup", "lim", "fName"),
        _row,
    ),
    **dict.fromkeys(("mspace", "br", "tab", "cr"), lambda element, depth: " "),
    **dict.fromkeys(("box", "borderBox", "groupChr"), _ordinary),
    **dict.fromkeys(("mfrac", "f"), _fraction),
    **dict.fromkeys(("msqrt", "mroot", "rad"), _root),
    **dict.fromkeys(("msup", "sSup"), _scripts("^", names=("sup",))),
    **dict.fromkeys(("msub", "sSub"), _scripts("_", names=("sub",))),
    **dict.fromkeys(("msubsup", "sSubSup"), _scripts("_", "^", names=("sub", "sup"))),
    "munderover": _scripts("_", "^", names=("sub", "sup")),
    "limLow": _scripts("_", names=("lim",)),
    "limUpp": _scripts("^", names=("lim",)),
    **dict.fromkeys(("mover", "munder", "acc"), _accent),
    "bar": lambda element, depth: _parts(element, depth, "e")[0] + "\u0305",
    "nary": _nary,
    "func": _function,
    **dict.fromkeys(("mfenced", "d"), _delimited),
    **dict.fromkeys(("mtable", "m", "eqArr"), _matrix),
    "mmultiscripts": _multiscripts,
    "sPre": _prescripts,
    "semantics": _semantics,
}  # fmt: skip
