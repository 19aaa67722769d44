"""A run in a process that is killed at a chosen moment, and born again: `python -m
tests.director.lives`.

The moments: `began` (a turn is told to begin), `acted` (it has had its effect in the browser and
nobody knows), `saved` (the browser is kept, the result is not), `told` (the result is kept). Each
life goes a few turns further.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.work.killed_process import fork

WORKFLOW = "letters"


class Doom:
    """Ends this process, as `kill -9` would, when a moment has come for the n-th time."""

    def __init__(self, moment: str, number: int) -> None:
        self.moment, self.left = moment, number

    def at(self, moment: str) -> None:
        """A moment has come."""
        self.left -= moment == self.moment
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)


class Doomed:
    """A browser that notices when its state is saved: by then it has done what it was asked for."""

    def __init__(self, browser: Any, doom: Doom) -> None:
        self._browser, self._doom = browser, doom

    def __getattr__(self, name: str) -> Any:
        return getattr(self._browser, name)

    def save(self, path: Path, *, mark: str) -> None:
        """Save the browser, if there is time left."""
        self._doom.at("acted")
        self._browser.save(path, mark=mark)
        self._doom.at("saved")


def answer(browser: Any, desk: str, key: str) -> dict[str, Any]:
    """What somebody decides about a click that may have happened, after a look at the site."""
    if key == "node4":
        return {"again": key}  # whoever was signed in by it is gone with the browser
    browser.navigate(f"{desk}/sent")
    registered = int(browser.extract("#sent caption")["found"].split()[0])
    turn = int(key.removeprefix("node7[")[0])
    assert registered == turn + 1, "every one of them has happened, here"
    return {"skip": key}


def live(root: Path, db: str | None, desk: str, doom: Doom) -> None:
    """Run the workflow, or go on with it where the last life ended."""
    from foreword.browser import Browser, Rules
    from foreword.director import runner
    from foreword.session.workflow_state import WorkflowState

    with WorkflowState.open(db, WORKFLOW, root=root) as state:
        restore, rules = runner.saved_browser(state), Rules(origins=(desk,), action_seconds=10.0)
        with Browser.start(rules, folder=root / "profiles", restore=restore) as browser:
            run = partial(
                runner.run_workflow,
                state,
                Doomed(browser, doom),  # type: ignore[arg-type]
                on_step=lambda step: doom.at("began" if step["status"] == "running" else "told"),
            )
            result = run(resume=runner.unfinished_run(state))
            if "question" in result:
                decision = answer(browser, desk, result["key"])
                result = run(resume=result["run"], **decision)
        assert result["status"] == "success", result
        assert "dbos" not in sys.modules
        (root / "result.json").write_text(json.dumps(result))


def main(root: str, db: str, desk: str, moment: str, number: str) -> None:
    """Live and die until the run has come to its end, and print how often."""
    for module in (
        "psycopg",
        "playwright.async_api",
        "foreword.director.runner",
        "foreword.browser",
    ):
        import_module(module)
    ends = fork(lambda: live(Path(root), db or None, desk, Doom(moment, int(number))))
    lives = next(count for count, ended in enumerate(ends, 1) if ended)
    sys.stdout.write(
        json.dumps({"lives": lives, **json.loads((Path(root) / "result.json").read_text())})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
