"""The values of a run, from question to report. All are frozen and small.

The text of pages stays in the page store, under its content hash. Offsets count code points in
that text.
"""

from spadework.values.coverage import STATE_WORDS as STATE_WORDS
from spadework.values.coverage import Conflict as Conflict
from spadework.values.coverage import Coverage as Coverage
from spadework.values.coverage import CoverageState as CoverageState
from spadework.values.coverage import Priority as Priority
from spadework.values.coverage import Quality as Quality
from spadework.values.coverage import Recommendation as Recommendation
from spadework.values.coverage import Round as Round
from spadework.values.coverage import Shortfall as Shortfall
from spadework.values.coverage import Side as Side
from spadework.values.coverage import state_as_whole as state_as_whole
from spadework.values.question import Complexity as Complexity
from spadework.values.question import Expected as Expected
from spadework.values.question import Forecast as Forecast
from spadework.values.question import Freshness as Freshness
from spadework.values.question import Need as Need
from spadework.values.question import Plan as Plan
from spadework.values.question import Query as Query
from spadework.values.question import QueryKind as QueryKind
from spadework.values.question import Question as Question
from spadework.values.question import QuestionType as QuestionType
from spadework.values.question import Span as Span
from spadework.values.question import Task as Task
from spadework.values.question import Topic as Topic
from spadework.values.question import Wish as Wish
from spadework.values.report import PICTURE_NAME as PICTURE_NAME
from spadework.values.report import Citation as Citation
from spadework.values.report import CoveredTopic as CoveredTopic
from spadework.values.report import Form as Form
from spadework.values.report import Mode as Mode
from spadework.values.report import Part as Part
from spadework.values.report import Picture as Picture
from spadework.values.report import Problem as Problem
from spadework.values.report import Report as Report
from spadework.values.report import Result as Result
from spadework.values.report import Review as Review
from spadework.values.report import Section as Section
from spadework.values.report import SectionKind as SectionKind
from spadework.values.report import Sentence as Sentence
from spadework.values.report import Source as Source
from spadework.values.report import Status as Status
from spadework.values.report import Usage as Usage
from spadework.values.report import Verdict as Verdict
from spadework.values.report import Weakness as Weakness
from spadework.values.report import models_among as models_among
from spadework.values.search import Attempt as Attempt
from spadework.values.search import Choice as Choice
from spadework.values.search import Evidence as Evidence
from spadework.values.search import EvidenceKind as EvidenceKind
from spadework.values.search import Fate as Fate
from spadework.values.search import Found as Found
from spadework.values.search import Hit as Hit
from spadework.values.search import Lead as Lead
from spadework.values.search import Page as Page
from spadework.values.search import Passage as Passage
from spadework.values.search import SourceKind as SourceKind
from spadework.values.search import Tried as Tried
from spadework.values.search import Unread as Unread
from spadework.values.value import CODE as CODE
from spadework.values.value import NOBODY as NOBODY
from spadework.values.value import Value as Value
from spadework.values.value import Visible as Visible
