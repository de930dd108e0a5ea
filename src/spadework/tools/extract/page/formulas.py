"""Convert a page's formulas, superscripts, subscripts and footnote marks to text."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spadework.tools.extract import notation
from spadework.tools.extract.notation import FORMULA, Place
from spadework.tools.extract.office.equations import linear
from spadework.tools.extract.page.inline_markup import escaped
from spadework.tools.extract.xml import xml_tree

_RAISED = "sup,sub,[style*=vertical-align]"
#: A link with a number as its text and `#` in its tag, possibly a footnote mark.
_TOUCHING = re.compile(r"<a\s[^<>]{0,300}#[^<>]{0,300}>\d{1,3}</a>")
_ALIGNED = re.compile(r"vertical-align\s*:\s*(super|sub|text-top)\b")
#: Maximum characters examined in an image URL, because data URLs are long.
_MOST_ADDRESS = 200
_NUMBER = re.compile(r"\d{1,3}")
_NOTES = re.compile(r"(?:foot|end)-?note|note-?ref|fn-?ref|\breference\b|\bcit(?:e|ation)", re.I)
_INLINE = frozenset(
    ("a", "abbr", "b", "bdi", "cite", "code", "dfn", "em", "font", "i", "kbd", "mark", "q", "s",
     "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var")
)  # fmt: skip
#: The text beside an element is searched for in at most _STEPS steps through the element tree. At
#: most _NEAR characters of the text are used.
_STEPS, _NEAR = 8, 40
_MOST_MARK = 12

_DRAWN = (
    "span.katex-html,span.MathJax_Preview,span.MathJax,span.MathJax_SVG,span.MathJax_CHTML,"
    "mjx-container"
)
#: Words in a class name or image URL that suggest that an element is a formula.
_CALLED = re.compile(r"math|equation|\bformula|(?:^|[\s/.])(?:la)?tex\b|[?&]cht=tx", re.IGNORECASE)
_SOURCES = ("data-tex", "data-latex", "data-formula", "data-equation", "data-equation-content")
#: Unmistakable TeX, such as `\frac{` or `x^{`.
_TEX = re.compile(r"\\[A-Za-z]+\s*\{|[\w)}][\^_]\{")
_FRACTION = re.compile(r"(?:^|[\s_-])s?frac(?:tion)?(?=$|[\s_-])", re.IGNORECASE)
#: CSS selectors of fraction bars in table cells.
_RULES = "td > hr,td > div.hrcomp,td.hbar"
_STACKED = f"{_RULES},span[class*=frac i]"
_WRAPS = ((r"\(", r"\)"), (r"\[", r"\]"), ("$$", "$$"), ("$", "$"))


def flatten(tree: LexborHTMLParser, source: str) -> None:
    """Convert superscripts, subscripts, footnote marks and formulas drawn in HTML to plain text."""
    noted = ",a[href*='#']" if _TOUCHING.search(source) else ""
    done: set[int] = set()
    for node in reversed(tree.css(_RAISED + noted)):  # Inner elements come first.
        text = node.text().strip() if node.mem_id not in done else ""
        if text and (place := _place(node, text)) is not None:
            _write(node, text, place, done)
    for node in tree.css(_DRAWN):
        _undraw(node)
    for node in reversed(tree.css(_STACKED)):
        if node.tag == "span":
            _unstack(node)
        else:
            _write_equation(node)


def _unstack(node: LexborNode) -> None:
    parts = [part for part in node.iter(include_text=True) if part.text().strip()]
    named = _FRACTION.search(node.attributes.get("class") or "")
    if named and len(parts) == 2 and not any(part.is_text_node for part in parts):
        base, following = _neighbour_text(node, forward=False), _neighbour_text(node, forward=True)
        shown = notation.fraction(parts[0].text(), parts[1].text())
        node.replace_with(notation.written(base, shown, following, Place.FRACTION))


def _write_equation(rule: LexborNode) -> None:
    """Write the fraction with the bar `rule` on one line, if its formula is laid out as a one-row
    table. If that was the table's last fraction bar, replace the table with text too.
    """
    line = rule.parent if rule.tag == "td" else rule
    if line is None or line.parent is None:
        return
    parts = {False: "", True: ""}
    behind = False
    for part in line.parent.iter(include_text=True):
        behind = behind or part.mem_id == line.mem_id
        parts[behind] += part.text()
    cell = line.parent if line is rule else _closest(line, "td")
    table = _closest(cell, "table")
    texts = [text.strip() for text in parts.values()]
    if cell is None or table is None or not all(0 < len(text) <= _NEAR for text in texts):
        return
    if len([row for row in table.css("tr") if _closest(row, "table") == table]) != 1:
        return
    for part in list(cell.iter(include_text=True)):
        part.decompose()
    cell.insert_child(notation.fraction(*texts))
    if not table.css(_RULES):
        table.replace_with(" ".join(cell.text().strip() for cell in table.css("td")))


def _closest(node: LexborNode | None, tag: str) -> LexborNode | None:
    while node is not None:
        node = node.parent
        if node is not None and node.tag == tag:
            return node
    return None


def _place(node: LexborNode, text: str) -> Place | None:
    attributes = node.attributes
    if node.tag == "a":
        inside = node.parent is not None and node.parent.tag == "sup"
        touches = _NUMBER.fullmatch(text) and _neighbour_text(node, forward=False)[-1:].isalnum()
        return Place.NOTE if touches and not inside else None
    aligned = _ALIGNED.search(attributes.get("style") or "") if node.tag in _INLINE else None
    if node.tag == "sub" or (aligned and aligned[1] == "sub"):
        return Place.LOWERED
    if node.tag != "sup" and not aligned:
        return None
    return Place.NOTE if _is_note(node, text) else Place.RAISED


def _is_note(node: LexborNode, text: str) -> bool:
    if len(text) > _MOST_MARK:
        return False
    around = node.parent
    link = node.css_first("a[href]")
    if link is None and around is not None and around.tag == "a" and around.text().strip() == text:
        link = around
    places = [place.attributes for place in (node, link) if place is not None]
    names = ("class", "role", "id", "epub:type", "data-type")
    called = any(_NOTES.search(place.get(name) or "") for place in places for name in names)
    return called or (link is not None and "#" in (link.attributes.get("href") or ""))


def _write(node: LexborNode, text: str, place: Place, done: set[int]) -> None:
    base, following = _neighbour_text(node, forward=False), _neighbour_text(node, forward=True)
    above = _numerator(node) if place == Place.LOWERED else None
    if above is not None and node.prev is not None:
        done.add(above.mem_id)
        base, shown = _neighbour_text(above, forward=False), notation.fraction(above.text(), text)
        shown = notation.written(base, shown, "", Place.FRACTION)
        node.prev.remove()
        above.remove()
    elif place == Place.NOTE and text[0] == "[":
        return
    else:
        shown = notation.written(base, text, following, place)
    if shown == text:
        return
    before = node.prev
    # Join both texts, because a `_` at the start of a text would be escaped.
    if before is not None and before.is_text_node:
        shown = (before.text_content or "") + shown
        before.remove()
    node.replace_with(shown)


def _numerator(node: LexborNode) -> LexborNode | None:
    stroke = node.prev
    if stroke is None or (stroke.text() or "").strip() not in notation.STROKES:
        return None
    return stroke.prev if stroke.prev is not None and stroke.prev.tag == "sup" else None


def _neighbour_text(node: LexborNode, *, forward: bool) -> str:
    place: LexborNode | None = node
    for _ in range(_STEPS):
        if place is None:
            break
        beside = place.next if forward else place.prev
        if beside is None:
            place = place.parent if place.parent is not None else None
            if place is None or place.tag not in _INLINE:
                break
            continue
        if not beside.is_text_node and beside.tag not in (*_INLINE, "-comment", "math"):
            break
        if text := beside.text_content if beside.is_text_node else beside.text():
            return text[:_NEAR] if forward else text[-_NEAR:]
        place = beside
    return ""


def tex(node: LexborNode) -> str:
    """Return a formula's TeX between dollar signs, or "" if there is none. A `<math>` without TeX
    is written on one line, without dollar signs.
    """
    attributes = node.attributes
    block = "display" in (attributes.get("type") or attributes.get("display") or "")
    if node.tag == "script":
        source = node.text()
    elif node.tag == "math":
        note = node.css_first("annotation[encoding*=tex i]")
        source = note.text() if note is not None else attributes.get("alttext") or ""
        block = attributes.get("display") == "block"
    else:
        source = _source_of(node, attributes)
    if source := _bare(" ".join(source.split())):
        return f"$${source}$$" if block else f"${source}$"
    markup = (node.html or "").encode() if node.tag == "math" else b""
    return escaped(linear(xml_tree(markup, "formula"))) if markup else ""


def _source_of(node: LexborNode, attributes: dict[str, str | None]) -> str:
    said = next(filter(None, map(attributes.get, (*_SOURCES, "alt", "aria-label"))), "")
    title = node.css_first("title") if node.tag == "svg" and not said else None
    return title.text() if title is not None else said or ""


def hidden_tex(node: LexborNode, before: str) -> str:
    """Return the formula in a `<math>`, script, image or drawing, or "" if there is none. A
    fallback image yields "" if the text `before` it already shows the formula.
    """
    attributes = node.attributes
    if node.tag == "math":
        return tex(node)
    if node.tag == "script":
        return tex(node) if "math" in (attributes.get("type") or "") else ""
    names = f"{attributes.get('class') or ''} {(attributes.get('src') or '')[:_MOST_ADDRESS]}"
    called = _CALLED.search(names) or not attributes.keys().isdisjoint(_SOURCES)
    if not called and not _TEX.search(_source_of(node, attributes)):
        return ""
    if "mwe-math-fallback" in names and before.strip() not in ("", FORMULA):
        return "" if before.strip("$ ") == tex(node).strip("$ ") or before[0] == "$" else tex(node)
    return tex(node)


def _undraw(node: LexborNode) -> None:
    if _has_source_beside(node):
        node.decompose()
    elif node.css_first("math") is not None:
        for part in list(node.iter()):
            if part.tag != "math" and part.css_first("math") is None:
                part.decompose()
    else:
        given = node.attributes.get("data-mathml")
        node.replace_with(linear(xml_tree(given.encode(), "formula")) if given else FORMULA)


def _has_source_beside(node: LexborNode) -> bool:
    beside, following = node.prev, node.next
    if beside is not None and beside.tag == "span" and beside.css_first("math") is not None:
        return True
    while following is not None and following.tag in ("span", "div", "-text", "-comment"):
        following = following.next
    return (
        following is not None
        and following.tag == "script"
        and "math" in (following.attributes.get("type") or "")
    )


def holds_formula_alone(node: LexborNode) -> bool:
    """Return whether an element's only text is a formula."""
    math = node.css_first("math")
    return math is not None and math.text().strip() == node.text().strip()


def _bare(source: str) -> str:
    if source.startswith(r"{\displaystyle ") and source.endswith("}"):
        source = source[len(r"{\displaystyle ") : -1]
    for left, right in _WRAPS:
        if source.startswith(left) and source.endswith(right) and len(source) > len(left + right):
            source = source[len(left) : -len(right)]
    return source.strip()
