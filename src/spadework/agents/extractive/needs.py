"""How a page is taken apart for a topic, by what the topic asks for: its text, a figure, or the
rows of a table.
"""

from __future__ import annotations

import re

from spadework.values import Need, Topic

#: Questions that a figure answers.
_COUNT = re.compile(
    r"\b(?:how (?:many|much|long|old|far|tall|high|big|large|deep|wide|fast|often|heavy)|number"
    r" of|(?:what|which) year|"
    r"when (?:was|were|did|is)|percentage|share of|population|price|cost)\b",
    re.IGNORECASE,
)
#: Questions that are answered in rows and columns.
_TABLE = re.compile(
    r"\b(?:tables?|list of|ranking|ranked|rankings|statistics|specifications?|specs|per"
    r" (?:year|country|state|city|month)|"
    r"by (?:year|country|state|city|size|price)|compar\w+|differ\w*|versus|vs"
    r"|largest|smallest|highest|lowest|fastest|cheapest)\b",
    re.IGNORECASE,
)


def need_of(topic: Topic) -> Need:
    """What a topic needs of a page: "count" a figure next to its words, "table" rows, else
    "text".
    """
    asked = f"{topic.question} {topic.name}"
    if _COUNT.search(asked):
        return "count"
    return "table" if _TABLE.search(asked) else "text"
