"""What every call of a model has, whatever is asked: a model that is built, a time limit, attempts,
giving up.

A question with its rounds of tools (`ask`) and a single request (`request`) differ only in what
happens once; all around it is here. pydantic-ai is an extra, imported on use; its clients' own
retries are off, so that ours are all there are. A call runs in a thread of its own, so that it may
come from inside an event loop and be cancelled from another thread; one that blocks is left behind.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from foreword.errors import ModelFailed, UsageError
from foreword.extras import extra
from foreword.models.connections import http_client
from foreword.models.model_errors import (
    CallCancelled,
    may_succeed_later,
    model_error,
    timeout_error,
    wait_seconds,
)
from foreword.models.model_names import OURS, find_model
from foreword.models.stream import StreamReader

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model

T = TypeVar("T")
# What one attempt does: it is given the reader of its stream, if any, and its number.
Once = Callable[[StreamReader | None, int], Awaitable[T]]
# How often a waiting caller looks whether to give up: a user who cancels does not notice it, and
# twenty looks a second cost nothing.
LOOK_SECONDS = 0.05
GRACE_SECONDS = 1.0  # for a call to end by itself, closing its connection, before it is left behind


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A model and how it is asked."""

    model: Model
    name: str
    connection: AbstractAsyncContextManager[Any]  # what the call has to open and close
    timeout_seconds: float
    attempts: int
    max_output_tokens: int | None
    on_text: Callable[[str], None] | None

    @property
    def settings(self) -> Any:
        """What goes with every request; a model that has no clients underneath knows nothing of
        their retries."""
        settings: dict[str, Any] = {"timeout": self.timeout_seconds, "max_retries": 0}
        if self.max_output_tokens is not None:
            settings["max_tokens"] = self.max_output_tokens
        unsupported = self.model.unsupported_settings
        return {name: value for name, value in settings.items() if name not in unsupported}

    def check_whole(self, reply: ModelResponse) -> None:
        """Raise `CallCancelled` where a provider's stream ended without a word that it was over: no
        reason, and no bill."""
        reason = (reply.provider_details or {}).get("finish_reason")
        is_whole = reply.finish_reason is not None and bool(reason or reply.usage.output_tokens)
        if self.on_text and self.model.provider is not None and not is_whole:
            raise CallCancelled


def checked_call(
    model: Any,
    *,
    timeout_seconds: float,
    attempts: int,
    max_output_tokens: int | None,
    on_text: Callable[[str], None] | None,
) -> ModelCall:
    """A call, checked before anything is opened."""
    if not 0 < timeout_seconds < math.inf:
        raise UsageError(
            f"the time limit must be a positive number of seconds, not {timeout_seconds!r}"
        )
    if attempts < 1:
        raise UsageError(f"a model must be asked at least once, not {attempts} times")
    if max_output_tokens is not None and max_output_tokens < 1:
        raise UsageError(f"an answer must be allowed at least one token, not {max_output_tokens}")
    built, name, connection = _build_model(model)
    return ModelCall(
        model=built,
        name=name,
        connection=connection,
        timeout_seconds=timeout_seconds,
        attempts=attempts,
        max_output_tokens=max_output_tokens,
        on_text=on_text,
    )


def _build_model(model: Any) -> tuple[Model, str, AbstractAsyncContextManager[Any]]:
    """The model, the name it goes by, and what its call has to open and close."""
    with extra("models"):
        from pydantic_ai.models import Model
    if isinstance(model, str) and model.partition(":")[0] in OURS:
        client = http_client()
        return find_model(model, client), model, aclosing(client)
    if isinstance(model, str):
        return find_model(model), model, nullcontext()
    if isinstance(model, Model):
        return model, model.model_name, nullcontext()
    raise UsageError(f"a model is a name or a pydantic-ai model, not {type(model).__name__}")


def with_attempts(
    call: ModelCall, client: AbstractAsyncContextManager[Any], once: Once[T], cancel: Event | None
) -> T:
    """The outcome of the first attempt that has one, within the call's time, until the caller
    gives up."""
    if cancel is not None and cancel.is_set():
        raise ModelFailed("the call was cancelled")
    return in_a_thread(lambda: _within_time(call, client, once), call.timeout_seconds, cancel)


async def _within_time(
    call: ModelCall, client: AbstractAsyncContextManager[Any], once: Once[T]
) -> T:
    try:
        async with asyncio.timeout(call.timeout_seconds) as limit, call.connection, client:
            return await _first_outcome(call, once, limit)
    except TimeoutError:
        raise timeout_error(call.timeout_seconds) from None


async def _first_outcome(call: ModelCall, once: Once[T], limit: asyncio.Timeout) -> T:
    reader = StreamReader(call.on_text, call.max_output_tokens) if call.on_text else None
    for attempt in range(1, call.attempts + 1):
        try:
            return await once(reader, attempt)
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001 - a provider may raise anything
            if reader and reader.broken:
                raise reader.broken from None
            if attempt == call.attempts or not may_succeed_later(error):
                raise model_error(error, attempt) from None
            seconds = _seconds_to_wait(error, attempt, limit)
        if reader:
            reader.begin_again()
        await asyncio.sleep(seconds)
    raise AssertionError("the last attempt returns or raises")


def _seconds_to_wait(error: Exception, failures: int, limit: asyncio.Timeout) -> float:
    """How long to wait, or an error at once if that is longer than there is time."""
    seconds = wait_seconds(error, failures)
    left = (limit.when() or math.inf) - asyncio.get_running_loop().time()
    if seconds < left:
        return seconds
    reason = model_error(error, failures)
    raise ModelFailed(
        f"{reason.message}; it asks to wait {seconds:g} s, and {left:.0f} s of the time limit are"
        " left"
    )


def in_a_thread(call: Callable[[], Awaitable[T]], seconds: float, cancel: Event | None) -> T:
    """The outcome of a call in a thread of its own, for as long as anybody waits for it."""
    stop: Future[Callable[[], object]] = Future()
    outcome: Future[T] = Future()
    Thread(target=_run, args=(call, stop, outcome), name="foreword-model", daemon=True).start()
    ends = time.monotonic() + seconds + GRACE_SECONDS
    try:
        while not wait([outcome], LOOK_SECONDS).done:
            if cancel is not None and cancel.is_set():
                raise ModelFailed("the call was cancelled")
            if time.monotonic() > ends:
                raise timeout_error(seconds)
        return outcome.result()
    finally:
        if not outcome.done():
            stop.result()()
            wait([outcome], GRACE_SECONDS)


def _run(
    call: Callable[[], Awaitable[T]], stop: Future[Callable[[], object]], outcome: Future[T]
) -> None:
    async def running() -> T:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()

        def cancel() -> None:
            with suppress(RuntimeError):  # the loop has come to its end in the meantime
                loop.call_soon_threadsafe(task.cancel if task else loop.stop)

        stop.set_result(cancel)
        return await call()

    try:
        outcome.set_result(asyncio.run(running()))
    except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
        if not stop.done():
            stop.set_result(lambda: None)
        outcome.set_exception(error)
