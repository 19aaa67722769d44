"""A chat in a process that is killed at a chosen moment, and born again: `python -m
tests.director.chat_lives`.

The moments are events of the director: a call that is kept and not yet made, a step of a run that
begins or is over. Each life comes so many of them further.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.work.killed_process import fork


def live(root: Path, desk: str, model: str, number: int) -> None:
    """Say what is wanted, or go on where the last life ended."""
    from foreword.browser import Browser, Rules
    from foreword.demos.scripted_model import FINISHED, TASK
    from tests.director.scenes import open_director

    left = [number]

    def doom(event: dict[str, Any]) -> None:
        left[0] -= event["type"] in ("call", "step") and "scout" not in event
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    rules = Rules(origins=(desk,), action_seconds=2, page_seconds=20)
    with open_director(
        root,
        model,
        browser=lambda path: Browser.start(rules, folder=root / "profiles", restore=path),
    ) as director:
        turn = (
            director.go_on(on_event=doom)
            if director.session.history()
            else director.say(TASK, on_event=doom)
        )
        assert turn.text == FINISHED, turn


def main(root: str, desk: str, model: str, number: str) -> None:
    """Live and die until the job is done, and print how often."""
    for module in (
        "dbos",
        "playwright.async_api",
        "pydantic_ai",
        "foreword.director",
        "foreword.browser",
    ):
        import_module(module)
    ends = fork(lambda: live(Path(root), desk, model, int(number)))
    sys.stdout.write(str(next(count for count, ended in enumerate(ends, 1) if ended)))


if __name__ == "__main__":
    main(*sys.argv[1:])
