"""Which HTML elements are walked how."""

from __future__ import annotations

from spadework.tools.extract.page.code import NUMBERS
from spadework.tools.extract.page.page_blocks import Frame

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
EMPHASIS = {"strong": "**", "b": "**", "em": "*", "i": "*"}
CODE = frozenset(("code", "tt", "samp", "kbd"))
RAISED = frozenset(("math", "sup"))
VERBATIM = frozenset(("pre", "listing", "xmp", "plaintext"))
#: The text of links from a heading to itself.
HEADER_LINKS = frozenset(("¶", "#", "§", "🔗", "∞", "[link]", "permalink"))
#: Parts of a page that are never its content, unless they are the foot of a smaller part.
APART = frozenset(("nav", "footer", "hr", "td"))
_PARTS = frozenset(("article", "blockquote", "figure", "li", "section", "main"))
LISTS = frozenset(("ul", "ol", "menu", "dir"))

#: Never text of the page. `noscript` and `template` are read only when a page has nothing else.
SKIPPED = frozenset((
    "script", "style", "template", "svg", "iframe", "object", "embed", "applet", "canvas", "audio",
    "video", "map", "head", "select", "option", "datalist", "input", "textarea", "progress",
    "meter", "frame", "frameset", "link", "meta", "title", "base", "param", "source", "track",
    "wbr", "area", "rp", "img", "picture", "br", "-comment", "-doctype",
))  # fmt: skip

BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd",
    "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "label", "legend", "li",
    "main", "menu", "nav", "ol", "optgroup", "p", "search", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul", "dir", "pre", "listing", "xmp", "plaintext",
))  # fmt: skip

#: What a paragraph directly inside the element is; everything else is "p".
KINDS = {
    **{name: name for name in HEADINGS},
    "li": "li", "dt": "dt", "dd": "dd", "button": "button", "label": "label", "legend": "label",
    "figcaption": "caption", "caption": "caption", "summary": "summary", "td": "cell", "th": "cell",
    "div": "div", "p": "p", "section": "div", "article": "div", "body": "div",
}  # fmt: skip


def is_apart(tag: str, attributes: dict[str, str | None], frame: Frame) -> bool:
    """Whether it is navigation, a rule, a column of line numbers, or the footer of the page."""
    if tag == "td":
        return not NUMBERS.isdisjoint((attributes.get("class") or "").split())
    if tag != "footer":
        return True
    around: Frame | None = frame
    while around is not None:
        if around.tag in _PARTS:
            return False
        around = around.parent
    return True
