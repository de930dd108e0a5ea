"""Formulas that are marked up as such, written as TeX between dollar signs."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

_DRAWN = frozenset(("katex-html", "MathJax_Preview", "MathJax", "MathJax_SVG", "mjx-char"))
_TEX_NAMES = frozenset(("tex", "latex"))


def tex(node: LexborNode) -> str:
    """The TeX of a `<math>`, MathJax script or formula image between dollars; "" without."""
    if node.tag == "script":
        source, block = node.text(), "display" in (node.attributes.get("type") or "")
    elif node.tag == "img":
        source, block = node.attributes.get("alt") or "", False
    else:
        note = node.css_first('annotation[encoding*="tex"]')
        source = note.text() if note is not None else node.attributes.get("alttext") or ""
        block = node.attributes.get("display") == "block"
    source = _bare(" ".join(source.split()))
    if not source:
        return ""
    return f"$${source}$$" if block else f"${source}$"


def hidden_tex(node: LexborNode) -> str:
    """The formula that a script or an image stands for; "" for every other one."""
    attributes = node.attributes
    names = f"{attributes.get('class') or ''} {attributes.get('type') or ''}"
    if "mwe-math-fallback" in names or not ("math" in names or _TEX_NAMES & set(names.split())):
        return ""
    return tex(node)


def is_second_copy(node: LexborNode, tag: str) -> bool:
    """True for the drawn form of a formula whose source stands beside it."""
    return tag == "span" and (node.attributes.get("class") or "") in _DRAWN


def is_exponent(node: LexborNode, before: str) -> bool:
    """Whether a raised number follows a digit; both would read as one (10<sup>6</sup>)."""
    figures = before.isdigit() and node.text().strip().lstrip("-\u2212+").isdigit()
    return figures and node.css_first("a") is None


def _bare(source: str) -> str:
    """Without the wrapping that converters add around a formula."""
    if source.startswith(r"{\displaystyle ") and source.endswith("}"):
        source = source[len(r"{\displaystyle ") : -1]
    for left, right in ((r"\(", r"\)"), (r"\[", r"\]"), ("$$", "$$"), ("$", "$")):
        if source.startswith(left) and source.endswith(right) and len(source) > len(left + right):
            source = source[len(left) : -len(right)]
    return source.strip()
