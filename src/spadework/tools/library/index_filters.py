"""What a search is kept to, as queries of the index that add nothing to a score."""

from __future__ import annotations

from collections.abc import Sequence

import tantivy

from spadework.errors import SearchError
from spadework.tools.library.folders import KINDS
from spadework.tools.library.schema import schema
from spadework.tools.ranking.query_operators import Only

Limits = list[tuple[tantivy.Occur, tantivy.Query]]


def kept_to(only: Only) -> Limits:
    """Conditions beside a query. Raises SearchError for a kind of file that is not read."""
    limits = [_any("places", named) for named in (only.sites, only.paths) if named]
    limits += [_any("kind", _kinds(only.kinds))] if only.kinds else []
    limits += [_days(only)] if only.after or only.before else []
    kept_from = [("places", only.not_sites), ("places", only.not_paths)]
    kept_from.append(("kind", tuple(_kinds(only.not_kinds))))
    return [
        *((tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0)) for query in limits),
        *((tantivy.Occur.MustNot, _any(field, named)) for field, named in kept_from if named),
    ]


def _any(field: str, values: Sequence[str]) -> tantivy.Query:
    return tantivy.Query.term_set_query(schema(), field, list(values))


def _kinds(named: Sequence[str]) -> list[str]:
    for name in named:
        if f".{name}" not in KINDS:
            known = ", ".join(sorted(set(KINDS.values())))
            raise SearchError(
                f"kind:{name[:40]} is no kind of file that a library reads.",
                hint=f"Write one of {known}.",
            )
    return [KINDS[f".{name}"] for name in named]


def _days(only: Only) -> tantivy.Query:
    first = only.after.toordinal() if only.after else None
    last = only.before.toordinal() if only.before else None
    kind, upper = tantivy.FieldType.Integer, last is None
    return tantivy.Query.range_query(
        schema(), "day", kind, first, last, include_upper=upper, use_inverted_index=True
    )
