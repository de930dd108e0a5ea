"""The marks of docstrings: of Markdown, reStructuredText, Google, numpy, Sphinx and mkdocs."""

from __future__ import annotations

import re

from spadework.tools.extract.writing import code_span

FENCE = re.compile(r"(`{3,}|~{3,})\s*\{?\.?([\w+#.-]*)")
DIRECTIVE = re.compile(r"\.\. (?:(?:[\w-]+:)?([\w-]+)::\s*(.*))?")
OPTION = re.compile(r":[\w-]+:")
CODE = frozenset((
    "code", "code-block", "sourcecode", "testcode", "doctest", "ipython", "math", "productionlist",
))  # fmt: skip
LANGUAGES = {
    **dict.fromkeys(("doctest", "ipython"), "pycon"),
    **dict.fromkeys(("math", "productionlist"), ""),
    "testcode": "python",
}
DROPPED = frozenset((
    "image", "figure", "index", "autosummary", "toctree", "currentmodule", "module", "automodule",
    "autoclass",
))  # fmt: skip
NOTES = frozenset((
    "note", "warning", "tip", "important", "caution", "danger", "seealso", "hint", "attention",
    "error", "admonition", "versionadded", "versionchanged", "deprecated",
))  # fmt: skip
VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)\s+([\w-]+)(?:\s+\"(.*)\")?$")
SECTION = re.compile(
    r"(args|arguments|parameters|params|keyword args|keyword arguments|other parameters|attributes|"
    r"returns?|yields?|raises|warns|receives|examples?|notes?|warnings?|see also|references|todo|"
    r"tips?|methods|usage|important|caution|fields|side effects|since|implements)\s*:{1,2}$",
    re.I,
)
NAMED = frozenset((
    "keyword args", "keyword arguments", "other parameters", "args", "arguments", "parameters",
    "params", "attributes", "raises", "warns", "fields", "methods",
))  # fmt: skip
TYPED = frozenset(("returns", "yields", "receives"))
UNDERLINE = re.compile(r"([-=~^*+\"])\1{2,}$")
FIELD = re.compile(
    r":(param|parameter|arg|argument|key|keyword|raises?|except|exception|ivar|var|cvar|returns?|yields?|rtype|type|vartype)\b\s*([^:]*):\s*(.*)"
)
ITEM = re.compile(r"([-*+\u2022]|\d{1,3}[.)]|\(\d\))\s+(?=\S)")
GRID = re.compile(r"[+=][-=+ ]{4,}$|\|")
HEADING = re.compile(r"(#{1,6})\s+(.*)")
REFERENCE = re.compile(r"\[[^\]]+\]: \S+$")
STARTS_BLOCK = re.compile(r"```|#|- |\d+\. |\||>")
LOOKS_CODE = re.compile(
    r"^\s*(?:>>>|\$ |import |from \S+ import|def |class |async |await |with |for |if |while |return"
    r" |@|#)|\w\(.*\)|\w = |[{}\[\]]|;$",
    re.M,
)


_MARKUP = re.compile(
    r"``(?P<literal>[^`\n]+?)``"
    r"|:(?:[a-z]+:)*(?P<role>[a-z]+):`(?P<text>[^`\n]+)`"
    r"|`(?P<title>[^`<\n]+?)\s*<(?P<target>[^`<>\n]+)>`__?"
    r"|(?P<code>`[^`\n]+`)(?P<reference>__?(?!\w))?"
    r"|\[(?P<words>(?:`[^`\n]+`|[^\]\[\n`])+)\](?:\((?P<url>[^()\s]*)\)|\[(?P<page>[^\]\n]*)\])"
    r"|\|(?P<substitution>[A-Za-z]\w*)\|"
    r"|(?<![\w`])(?P<name>[A-Za-z][\w-]*)_(?=[\s.,;:)]|$)"
)
_PLAIN_ROLES = frozenset(
    ["doc", "ref", "term", "abbr", "any", "std", "menuselection", "guilabel", "issue", "pr"]
)


def words(line: str) -> str:
    """One line of prose, the marks of Sphinx, mkdocs and reStructuredText made Markdown's."""
    if "`" not in line and "[" not in line and "|" not in line and "_" not in line:
        return line
    return _MARKUP.sub(_write_role, line)


def _write_role(match: re.Match[str]) -> str:
    group = match.lastgroup
    if match["literal"]:
        return code_span(match["literal"])
    if match["role"]:
        shown = _role_text(match["text"])
        return shown if match["role"] in _PLAIN_ROLES else code_span(shown)
    if match["code"]:
        return match["code"].strip("`") if match["reference"] else match["code"]
    shown = match["title"] or match["words"] or match["substitution"] or match["name"]
    return shown or str(group and match[group])


def _role_text(text: str) -> str:
    """What Sphinx shows for a role's text: the title before <target>, the last name after ~."""
    title, _, target = text.partition("<")
    if title.strip() and target:
        return title.strip()
    return text[1:].rpartition(".")[2] if text.startswith("~") else text.removeprefix("!")
