"""The writer without a model: what the assessor chose, as it stands in its pages, each with its
evidence, nothing added.
"""

from __future__ import annotations

from collections.abc import Sequence

from spadework.agents.quoting import columns_of, quote_entry
from spadework.values import Evidence, Section


def section(heading: str, evidence: Sequence[Evidence]) -> Section:
    """The quotes of a topic in the order of the ledger, which is that of their pages."""
    told = tuple(
        quote_entry(e, columns=columns_of(e, evidence)) for e in evidence if e.kind != "columns"
    )
    return Section(heading=heading, sentences=told)
