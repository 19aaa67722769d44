"""Foreword: everything a model reads before it writes.

`assemble` makes a context by a recipe and a budget, `fit` any material by a question; `recall`
brings back what was cut; `why` says what became of one thing. `Session` keeps a conversation,
`Director` builds browser workflows. Names are loaded when they are first used, so that importing
the package costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

# Type checkers know this name; `typing` itself would take longer than `foreword --version`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from foreword.compression.compressor import compress as compress
    from foreword.context.assemble import assemble as assemble
    from foreword.context.explain import why as why
    from foreword.context.lookup import lookup as lookup
    from foreword.context.recall import recall as recall
    from foreword.director.director import Director as Director
    from foreword.engine.package import Package as Package
    from foreword.engine.report import Report as Report
    from foreword.errors import AmbiguousName as AmbiguousName
    from foreword.errors import AnswerInvalid as AnswerInvalid
    from foreword.errors import BadBudget as BadBudget
    from foreword.errors import BadCheckpoint as BadCheckpoint
    from foreword.errors import BadNode as BadNode
    from foreword.errors import BadPlan as BadPlan
    from foreword.errors import BadRequest as BadRequest
    from foreword.errors import BadSource as BadSource
    from foreword.errors import BrowserFailed as BrowserFailed
    from foreword.errors import CheckpointDamaged as CheckpointDamaged
    from foreword.errors import CyclicFlow as CyclicFlow
    from foreword.errors import EssentialsTooLarge as EssentialsTooLarge
    from foreword.errors import ForewordError as ForewordError
    from foreword.errors import InputMissing as InputMissing
    from foreword.errors import KeyReused as KeyReused
    from foreword.errors import ModelFailed as ModelFailed
    from foreword.errors import OriginRefused as OriginRefused
    from foreword.errors import OutsideRoot as OutsideRoot
    from foreword.errors import PlanConflict as PlanConflict
    from foreword.errors import RecipeError as RecipeError
    from foreword.errors import StoreError as StoreError
    from foreword.errors import TierTooLarge as TierTooLarge
    from foreword.errors import UnknownHandle as UnknownHandle
    from foreword.errors import UnknownName as UnknownName
    from foreword.errors import UsageError as UsageError
    from foreword.messages.message import Message as Message
    from foreword.questions.fit_material import fit as fit
    from foreword.session.session import Session as Session
    from foreword.tokens import Counter as Counter
    from foreword.tokens import calibrated as calibrated
    from foreword.tokens import counter as counter
    from foreword.work.task import Task as Task

_HOMES = {
    "AmbiguousName": "foreword.errors",
    "AnswerInvalid": "foreword.errors",
    "BadBudget": "foreword.errors",
    "BadCheckpoint": "foreword.errors",
    "BadNode": "foreword.errors",
    "BadPlan": "foreword.errors",
    "BadRequest": "foreword.errors",
    "BadSource": "foreword.errors",
    "BrowserFailed": "foreword.errors",
    "CheckpointDamaged": "foreword.errors",
    "Counter": "foreword.tokens",
    "CyclicFlow": "foreword.errors",
    "Director": "foreword.director.director",
    "EssentialsTooLarge": "foreword.errors",
    "ForewordError": "foreword.errors",
    "InputMissing": "foreword.errors",
    "KeyReused": "foreword.errors",
    "Message": "foreword.messages.message",
    "ModelFailed": "foreword.errors",
    "OriginRefused": "foreword.errors",
    "OutsideRoot": "foreword.errors",
    "Package": "foreword.engine.package",
    "PlanConflict": "foreword.errors",
    "RecipeError": "foreword.errors",
    "Report": "foreword.engine.report",
    "Session": "foreword.session.session",
    "StoreError": "foreword.errors",
    "Task": "foreword.work.task",
    "TierTooLarge": "foreword.errors",
    "UnknownHandle": "foreword.errors",
    "UnknownName": "foreword.errors",
    "UsageError": "foreword.errors",
    "assemble": "foreword.context.assemble",
    "calibrated": "foreword.tokens",
    "compress": "foreword.compression.compressor",
    "counter": "foreword.tokens",
    "fit": "foreword.questions.fit_material",
    "lookup": "foreword.context.lookup",
    "recall": "foreword.context.recall",
    "why": "foreword.context.explain",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'foreword' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
