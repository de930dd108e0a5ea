"""The marks of docstrings: of Markdown, reStructuredText, Google, numpy, Sphinx and mkdocs."""

from __future__ import annotations

import re

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
