"""Which passages of a conversation, of documents or of a project answer a question.

One ranking for all of them: `rank` gives every passage a whole number, the same on every machine.
Pure: no clock, files or database. An index that is kept elsewhere finds candidates by `terms` and
hands in the `Statistics` of everything it holds; choosing within a budget is the caller's.
"""

from foreword.relevance.passage import Passage
from foreword.relevance.question import Question, read_question
from foreword.relevance.rank import best_first, rank
from foreword.relevance.statistics import Statistics, collect
from foreword.relevance.terms import terms

__all__ = [
    "Passage",
    "Question",
    "Statistics",
    "best_first",
    "collect",
    "rank",
    "read_question",
    "terms",
]
