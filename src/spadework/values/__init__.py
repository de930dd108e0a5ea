"""The values that flow through a run, in the order of the loop: question, plan, hits, pages, passages, evidence, coverage, report.

All are frozen and small: the text of a page lives in the page store under its content hash, never in a value.
Offsets count code points in that text.
"""

from spadework.values.asking import Complexity, Forecast, Freshness, Need, Plan, Query, QueryKind, Question, QuestionType, Span, Task, Topic
from spadework.values.finding import Evidence, EvidenceKind, Found, Hit, Page, Passage
from spadework.values.judging import Conflict, Coverage, Priority, Quality, Recommendation, Round, Shortfall, Side
from spadework.values.telling import (
    Citation,
    CoveredTopic,
    Mode,
    Problem,
    Report,
    Result,
    Section,
    SectionKind,
    Sentence,
    Source,
    Status,
    Usage,
    Verdict,
)
from spadework.values.value import Value

__all__ = [
    "Citation",
    "Complexity",
    "Conflict",
    "Coverage",
    "CoveredTopic",
    "Evidence",
    "EvidenceKind",
    "Forecast",
    "Found",
    "Freshness",
    "Hit",
    "Mode",
    "Need",
    "Page",
    "Passage",
    "Plan",
    "Priority",
    "Problem",
    "Quality",
    "Query",
    "QueryKind",
    "Question",
    "QuestionType",
    "Recommendation",
    "Report",
    "Result",
    "Round",
    "Section",
    "SectionKind",
    "Sentence",
    "Shortfall",
    "Side",
    "Source",
    "Span",
    "Status",
    "Task",
    "Topic",
    "Usage",
    "Value",
    "Verdict",
]
