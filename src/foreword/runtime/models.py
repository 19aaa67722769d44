"""One question to a model, through pydantic-ai: any provider it knows, or a model object of the caller's.

pydantic-ai is an extra (`pip install foreword[models]`), imported on use. Whatever goes wrong is one error.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from foreword.errors import ModelFailed, UsageError
from foreword.workflow.secrets import mask

LONGEST_LINE = 300
GRACE_SECONDS = 1.0  # for a call to end by itself; one that blocks its thread is left behind


def ask(model: Any, instructions: str, request: str, timeout_seconds: float) -> str:
    """The model's answer; the call has its own thread, so it may come from inside an event loop."""
    try:
        from pydantic_ai import Agent
        from pydantic_ai.exceptions import UserError
    except ImportError:
        raise UsageError("models need a package that is not installed", hint="pip install 'foreword[models]'") from None

    async def answered() -> str:
        agent = Agent(model, output_type=str, instructions=instructions, retries=0)
        return (await asyncio.wait_for(agent.run(request), timeout_seconds)).output

    thread = ThreadPoolExecutor(1)
    try:
        return thread.submit(asyncio.run, answered()).result(timeout_seconds + GRACE_SECONDS)
    except TimeoutError:
        raise ModelFailed(f"the model did not answer within {timeout_seconds:g} s") from None
    except UserError as error:
        raise UsageError(f"the model can't be asked: {_first_line(error)}", hint="check its name and its key") from None
    except Exception as error:  # noqa: BLE001 - a provider may raise anything
        raise ModelFailed(f"the model failed: {type(error).__name__}: {_first_line(error)}") from None
    finally:
        thread.shutdown(wait=False)


def _first_line(error: Exception) -> str:
    """What an error says, on one line, without a key that may be in it."""
    line = mask(str(error)).splitlines()[0] if str(error) else type(error).__name__
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE].rsplit(' ', 1)[0]} ..."
