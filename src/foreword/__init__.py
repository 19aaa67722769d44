"""Foreword: everything a model reads before it writes.

`assemble` makes a context by a recipe and a budget; `recall` brings back what was cut. Names are
loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from foreword.context.assemble import assemble as assemble
    from foreword.context.assemble import recall as recall
    from foreword.context.lookup import lookup as lookup
    from foreword.engine.package import Package as Package
    from foreword.engine.report import Report as Report
    from foreword.errors import EssentialsTooLarge as EssentialsTooLarge
    from foreword.errors import ForewordError as ForewordError
    from foreword.errors import PlanConflict as PlanConflict
    from foreword.errors import UnknownHandle as UnknownHandle
    from foreword.errors import UsageError as UsageError
    from foreword.message import Message as Message
    from foreword.session.session import Session as Session
    from foreword.tokens import Counter as Counter
    from foreword.tokens import calibrated as calibrated
    from foreword.tokens import counter as counter
    from foreword.work.task import Task as Task

_HOMES = {
    "Counter": "foreword.tokens",
    "EssentialsTooLarge": "foreword.errors",
    "ForewordError": "foreword.errors",
    "Message": "foreword.message",
    "Package": "foreword.engine.package",
    "PlanConflict": "foreword.errors",
    "Report": "foreword.engine.report",
    "Session": "foreword.session.session",
    "Task": "foreword.work.task",
    "UnknownHandle": "foreword.errors",
    "UsageError": "foreword.errors",
    "assemble": "foreword.context.assemble",
    "calibrated": "foreword.tokens",
    "counter": "foreword.tokens",
    "lookup": "foreword.context.lookup",
    "recall": "foreword.context.assemble",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'foreword' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
