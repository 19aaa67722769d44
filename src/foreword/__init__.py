"""Foreword: everything a model reads before it writes.

`assemble` makes a context by a recipe and a budget; `recall` brings back what was cut. Names are loaded when they
are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from foreword.engine.package import Package as Package
    from foreword.engine.report import Report as Report
    from foreword.errors import EssentialsTooLarge as EssentialsTooLarge
    from foreword.errors import ForewordError as ForewordError
    from foreword.errors import PlanConflict as PlanConflict
    from foreword.errors import UnknownHandle as UnknownHandle
    from foreword.errors import UsageError as UsageError
    from foreword.message import Message as Message
    from foreword.runtime.assembly import assemble as assemble
    from foreword.runtime.assembly import recall as recall
    from foreword.runtime.lookup import lookup as lookup
    from foreword.runtime.session import Session as Session
    from foreword.runtime.task import Task as Task
    from foreword.tokens import Counter as Counter
    from foreword.tokens import calibrated as calibrated
    from foreword.tokens import counter as counter

_HOMES = {
    "Counter": "foreword.tokens",
    "EssentialsTooLarge": "foreword.errors",
    "ForewordError": "foreword.errors",
    "Message": "foreword.message",
    "Package": "foreword.engine.package",
    "PlanConflict": "foreword.errors",
    "Report": "foreword.engine.report",
    "Session": "foreword.runtime.session",
    "Task": "foreword.runtime.task",
    "UnknownHandle": "foreword.errors",
    "UsageError": "foreword.errors",
    "assemble": "foreword.runtime.assembly",
    "calibrated": "foreword.tokens",
    "counter": "foreword.tokens",
    "lookup": "foreword.runtime.lookup",
    "recall": "foreword.runtime.assembly",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'foreword' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
