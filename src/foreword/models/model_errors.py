"""What a failed call means: whether the same request may succeed later, when, and how it is told in
one line.

Foreign errors are translated here and nowhere else. No key is ever in what is told: neither one
that looks like a key, nor the value of a variable whose name promises one.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from foreword.errors import ForewordError, ModelFailed, UsageError
from foreword.pattern import lazy_pattern
from foreword.secrets.masking import HIDDEN, mask

LONGEST_LINE = 300  # characters: an error is told in one line, and some providers send a page
SHORTEST_KEY = 8  # characters: shorter values are words, such as "none"
KEY_NAME = lazy_pattern(r"(?:KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
# Between attempts, where the provider does not say: twice as long each time. Shorter would add to
# an overload; beyond the longest a call's own time limit is nearly always over.
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0
FAILED = "the model failed"


class CallCancelled(Exception):
    """A stream came to its end before the answer did: no provider stops without saying why."""

    def __str__(self) -> str:
        return "the stream ended before the answer did"


def may_succeed_later(error: Exception) -> bool:
    """Whether the same request may succeed later: a limit on requests, an overload, a server's
    error, a connection."""
    from pydantic_ai import exceptions as foreign

    if isinstance(error, foreign.ModelQuotaExceededError):
        return False
    if isinstance(error, foreign.ModelHTTPError):
        is_temporary = error.status_code == 429 or error.status_code >= 500
        return error.provider_retry_hint is not False and is_temporary
    return isinstance(
        error,
        CallCancelled
        | foreign.ModelConnectionError
        | foreign.ModelRateLimitError
        | foreign.ModelUnavailableError
        | foreign.ModelServerError,
    )


def wait_seconds(error: Exception, failures: int) -> float:
    """How long to wait after so many failures: what the provider asks for, else twice as long
    each time, by chance."""
    asked: float | None = getattr(error, "retry_after", None)
    if asked is not None:
        return max(0.0, asked)
    longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** (failures - 1))
    return longest * random.uniform(0.5, 1.0)


def model_error(error: Exception, attempts: int) -> ForewordError:
    """The one error of ours for an error of anybody's."""
    from pydantic_ai import exceptions as foreign

    tries = f" {attempts} times" if attempts > 1 else ""
    match error:
        case ForewordError():
            return error
        case foreign.UserError():
            return UsageError(
                f"the model can't be asked: {one_line(error)}", hint="check its name and its key"
            )
        case foreign.UsageLimitExceeded():
            return ModelFailed(
                f"{FAILED}: it did not stop calling tools ({_first_sentence(error)})"
            )
        case foreign.ModelHTTPError():
            return ModelFailed(f"{FAILED}{tries}: {_status(error)}", hint=_hint(error))
        case foreign.UnexpectedModelBehavior():
            return ModelFailed(f"{FAILED}{tries}: {_first_sentence(error)}")
        case foreign.ModelConnectionError() | CallCancelled():
            return ModelFailed(
                f"{FAILED}{tries}: no connection: {one_line(error)}", hint="is the server running?"
            )
        case _:
            return ModelFailed(f"{FAILED}{tries}: {type(error).__name__}: {one_line(error)}")


def timeout_error(seconds: float) -> ModelFailed:
    """The error of a call that ran out of time."""
    return ModelFailed(f"the model did not answer within {seconds:g} s")


def one_line(error: BaseException | str) -> str:
    """What an error says, on one line, without a key that may be in it."""
    said = str(error).strip() or type(error).__name__
    line = mask(_without_keys(said)).splitlines()[0]
    if len(line) <= LONGEST_LINE:
        return line
    whole_words = line[:LONGEST_LINE].rsplit(" ", 1)[0]
    return f"{whole_words} ..."


def _without_keys(text: str) -> str:
    for name, value in os.environ.items():
        if len(value) >= SHORTEST_KEY and KEY_NAME.search(name):
            text = text.replace(value, HIDDEN)
    return text


def _status(error: Any) -> str:
    """`429 Too Many Requests: slow down`."""
    known = {status.value: f" {status.phrase}" for status in HTTPStatus}
    phrase = known.get(error.status_code, "")
    reason = one_line(_body_message(error.body) or error.hint or "no reason was given")
    suggestion = f" (did you mean {error.suggested_model_id}?)" if error.suggested_model_id else ""
    return f"{error.status_code}{phrase}: {reason}{suggestion}"


def _body_message(body: object) -> str:
    """The message inside an error's body, as providers nest it."""
    while isinstance(body, Mapping):
        body = body.get("error") or body.get("message") or body.get("detail")
    return str(body or "")


def _hint(error: Any) -> str:
    if error.status_code in (401, 403):
        return "check the key of this model"
    if error.status_code == 404:
        return "check the name of the model and the address of its server"
    return ""


def _first_sentence(error: Exception) -> str:
    return one_line(error).split(". ", 1)[0]
