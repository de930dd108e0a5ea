"""The values of a run, in the order of the loop: question, plan, hits, pages, passages, evidence,
coverage, report.

All are frozen and small: a page's text is in the page store under its content hash, never in a
value. Offsets count code points in that text.
"""

from spadework.values.asking import Complexity as Complexity
from spadework.values.asking import Expected as Expected
from spadework.values.asking import Forecast as Forecast
from spadework.values.asking import Freshness as Freshness
from spadework.values.asking import Need as Need
from spadework.values.asking import Plan as Plan
from spadework.values.asking import Query as Query
from spadework.values.asking import QueryKind as QueryKind
from spadework.values.asking import Question as Question
from spadework.values.asking import QuestionType as QuestionType
from spadework.values.asking import Span as Span
from spadework.values.asking import Task as Task
from spadework.values.asking import Topic as Topic
from spadework.values.asking import Wish as Wish
from spadework.values.finding import Attempt as Attempt
from spadework.values.finding import Choice as Choice
from spadework.values.finding import Evidence as Evidence
from spadework.values.finding import EvidenceKind as EvidenceKind
from spadework.values.finding import Fate as Fate
from spadework.values.finding import Found as Found
from spadework.values.finding import Hit as Hit
from spadework.values.finding import Lead as Lead
from spadework.values.finding import Page as Page
from spadework.values.finding import Passage as Passage
from spadework.values.finding import Tried as Tried
from spadework.values.finding import Unread as Unread
from spadework.values.judging import STATE_WORDS as STATE_WORDS
from spadework.values.judging import Conflict as Conflict
from spadework.values.judging import Coverage as Coverage
from spadework.values.judging import CoverageState as CoverageState
from spadework.values.judging import Priority as Priority
from spadework.values.judging import Quality as Quality
from spadework.values.judging import Recommendation as Recommendation
from spadework.values.judging import Round as Round
from spadework.values.judging import Shortfall as Shortfall
from spadework.values.judging import Side as Side
from spadework.values.judging import state_as_whole as state_as_whole
from spadework.values.telling import CODE as CODE
from spadework.values.telling import NOBODY as NOBODY
from spadework.values.telling import Citation as Citation
from spadework.values.telling import CoveredTopic as CoveredTopic
from spadework.values.telling import Form as Form
from spadework.values.telling import Mode as Mode
from spadework.values.telling import Part as Part
from spadework.values.telling import Problem as Problem
from spadework.values.telling import Report as Report
from spadework.values.telling import Result as Result
from spadework.values.telling import Review as Review
from spadework.values.telling import Section as Section
from spadework.values.telling import SectionKind as SectionKind
from spadework.values.telling import Sentence as Sentence
from spadework.values.telling import Source as Source
from spadework.values.telling import Status as Status
from spadework.values.telling import Usage as Usage
from spadework.values.telling import Verdict as Verdict
from spadework.values.telling import Weakness as Weakness
from spadework.values.telling import models_among as models_among
from spadework.values.value import Value as Value
from spadework.values.value import Visible as Visible
