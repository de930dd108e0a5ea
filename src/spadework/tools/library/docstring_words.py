"""The words of a docstring line: roles and references become code or text, code stays exact."""

from __future__ import annotations

import re

from spadework.tools.extract.writing import code_span

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
