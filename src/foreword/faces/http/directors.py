"""The directors of a server: one for each workflow in use, each at one thing at a time, in a thread
of its own.

What a director is doing is its `DirectorJob`: a turn with its model, or a tool that somebody calls by
hand. What the last one told is kept, so that whoever comes late hears all of it. Model, browser and
origins are the server's settings; nothing about them is taken from a request.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from foreword.browser import Rules
from foreword.director import Director, assets, browser_files
from foreword.director.system_prompt import DIRECTOR
from foreword.director.tool_calls import arguments_without_secrets
from foreword.director.tool_context import ToolContext
from foreword.director.tools import TOOLS
from foreword.errors import ForewordError, StoreError, UnknownName, UsageError
from foreword.faces.http.director_job import DirectorJob
from foreword.faces.http.problems import ProblemResponse
from foreword.secrets.masking import mask
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState
from foreword.store.paths import FOLDER

if TYPE_CHECKING:
    from foreword.browser import Browser
    from foreword.faces.http.app_state import Settings

MOST_DIRECTORS = 8  # each may have a browser
FINISH_SECONDS = 10.0
MOST_BLOCKED = 10  # origins that are told of: a page decides how many it asks
MODEL_VARIABLE = "FOREWORD_DIRECTOR_MODEL"
NO_MODEL = "this server has no model for its directors"
NAME_ONE = (
    f"start it with --model anthropic:NAME or openai:NAME, or set {MODEL_VARIABLE}; the tools work"
    " without one"
)
BROKEN = "something went wrong in the server; its log has more"

Act = Callable[[Director, DirectorJob], None]
log = logging.getLogger("foreword.serve")


@dataclass(slots=True)
class _DirectorSlot:
    """One workflow's director, once it is needed, and the last thing that it was told to do."""

    workflow: str
    director: Director | None = None
    work: DirectorJob | None = None
    thread: Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Whether it is at something now."""
        return self.work is not None and not self.work.is_over

    def close(self) -> None:
        """End its browser, and close its store."""
        director, self.director = self.director, None
        if director is not None:
            try:
                director.close()
            except ForewordError as error:
                log.error("%s", mask(error.message))


class Directors:
    """The directors of one server process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = Lock()
        self._seats: OrderedDict[str, _DirectorSlot] = OrderedDict()  # the last used last
        self._stopped = False

    # --- what they are told -----------------------------------------------------------------------

    def say(self, workflow: str, text: str) -> DirectorJob:
        """Begin a turn; an error at once where there can be none."""
        self._need_model()
        if not text.strip():
            raise UsageError("there is nothing to say")
        return self._begin(
            workflow, DirectorJob(kind="turn"), lambda director, work: _say(director, work, text)
        )

    def go_on(self, workflow: str) -> DirectorJob:
        """Begin a turn where the last one ended before its answer."""
        self._need_model()
        return self._begin(workflow, DirectorJob(kind="turn"), _go_on)

    def call(self, workflow: str, tool: str, arguments: Mapping[str, Any]) -> DirectorJob:
        """Begin to call a tool by hand."""
        if tool not in TOOLS:
            raise UnknownName("tool", tool[:80], TOOLS)
        given = dict(arguments)
        return self._begin(
            workflow,
            DirectorJob(kind="call", tool=tool),
            lambda director, work: _call(director, work, given),
        )

    def stop(self, workflow: str) -> bool:
        """Stop what a director is doing; says whether there was anything."""
        seat = self._seats.get(workflow)
        if seat is None or seat.work is None or not seat.is_busy:
            return False
        seat.work.cancel.set()
        return True

    # --- how they stand ---------------------------------------------------------------------------

    def work(self, workflow: str) -> DirectorJob | None:
        """What a director is doing, or has done last."""
        seat = self._seats.get(workflow)
        return seat.work if seat else None

    def tabs(self, workflow: str) -> list[dict[str, Any]] | None:
        """The tabs of a director's browser; none while there is no browser."""
        seat = self._seats.get(workflow)
        return seat.director.tool_context.tabs() if seat and seat.director else None

    def blocked(self, state: WorkflowState) -> list[dict[str, Any]]:
        """What pages of a workflow could not load: now, the most wanted first, and in browsers
        before."""
        seat = self._seats.get(state.workflow.name)
        now = (
            seat.director.tool_context.blocked_origins()[:MOST_BLOCKED]
            if seat and seat.director
            else []
        )
        known = {one.origin for one in now}
        before = [
            one for one in assets.origins_to_offer(state, self._rules()) if one.origin not in known
        ]
        return [
            {
                "origin": one.origin,
                "kinds": list(one.kinds),
                "requests": one.requests,
                "option": one.option,
            }
            for one in (*now, *before)
        ]

    # --- threads ----------------------------------------------------------------------------------

    def _begin(self, workflow: str, work: DirectorJob, act: Act) -> DirectorJob:
        with self._lock:
            if self._stopped:
                raise ProblemResponse(503, "stopping", "the server is stopping")
            seat = self._seats.get(workflow)
            if seat is not None and seat.is_busy:
                raise ProblemResponse(
                    409,
                    "busy",
                    "the director is at work here already",
                    "wait until it is done, or stop it",
                )
            gone = [] if seat else self._without_room()
            seat = self._seats.setdefault(workflow, _DirectorSlot(workflow))
            self._seats.move_to_end(workflow)
            seat.work = work
            seat.thread = Thread(
                target=self._run,
                args=(seat, work, act, gone),
                name="foreword-director",
                daemon=True,
            )
            seat.thread.start()
        return work

    def _without_room(self) -> list[_DirectorSlot]:
        """Who has to go so that one more can come: the one that has been idle longest."""
        if len(self._seats) < MOST_DIRECTORS:
            return []
        idle = next((seat for seat in self._seats.values() if not seat.is_busy), None)
        if idle is None:
            raise ProblemResponse(
                503,
                "no_more_directors",
                f"{MOST_DIRECTORS} directors are at work, and no more can be",
            )
        return [self._seats.pop(idle.workflow)]

    def _run(
        self, seat: _DirectorSlot, work: DirectorJob, act: Act, gone: list[_DirectorSlot]
    ) -> None:
        """Do it, and tell how it ended, whatever happens."""
        try:
            for each in gone:
                each.close()
            if seat.director is None:
                seat.director = self._opened(seat.workflow)
            act(seat.director, work)
        except ForewordError as error:
            work.fail(mask(error.message), mask(error.hint))
            if isinstance(error, StoreError):
                seat.close()  # its connection may be gone: it is opened anew the next time
        except Exception as error:  # noqa: BLE001 - who waits for it is told, whatever it is
            log.error("%s", mask("".join(format_exception(error))))
            work.fail(BROKEN)
        finally:
            work.end()

    def _opened(self, workflow: str) -> Director:
        """The director of a workflow that is there; its prompt becomes the session's with the
        first turn."""
        settings = self.settings
        session = Session.open(
            settings.db,
            workflow,
            root=settings.root,
            recipe=settings.recipe,
            window=settings.window,
            create=False,
        )
        return Director(ToolContext(session, self._browser, model=settings.model))

    def _browser(self, restore: Path | None) -> Browser:
        from foreword.browser import Browser

        settings, rules = self.settings, self._rules()
        if settings.attach:
            return Browser.attach(settings.attach, rules)
        folder = settings.root / FOLDER / browser_files.BROWSERS
        browser_files.prepare(folder / "profile")
        return Browser.start(rules, path=settings.browser, folder=folder, restore=restore)

    def _rules(self) -> Rules:
        """What browsers may open: never the server's own page and API, where a page could do all
        that its user can."""
        settings = self.settings
        return Rules(origins=settings.origins, assets=settings.assets, own_port=settings.port)

    def _need_model(self) -> None:
        if not self.settings.model:
            raise UsageError(NO_MODEL, hint=NAME_ONE)

    # --- the end ----------------------------------------------------------------------------------

    def stop_all(self) -> None:
        """The server begins to stop: whatever is under way is stopped, too."""
        with self._lock:
            self._stopped = True
            for seat in self._seats.values():
                if seat.work is not None:
                    seat.work.cancel.set()

    def close(self) -> None:
        """Close every director and its browser; the server has stopped."""
        self.stop_all()
        for seat in self._seats.values():
            if seat.thread is not None:
                seat.thread.join(FINISH_SECONDS)
            seat.close()
        self._seats.clear()


def _say(director: Director, work: DirectorJob, text: str) -> None:
    with director.alone():
        if director.session.system_prompt != DIRECTOR:
            director.session.system_prompt = DIRECTOR
        turn = director.say(text, on_event=work.tell, cancel=work.cancel)
    work.stopped, work.unfinished = turn.stopped, turn.unfinished


def _go_on(director: Director, work: DirectorJob) -> None:
    turn = director.go_on(on_event=work.tell, cancel=work.cancel)
    work.stopped, work.unfinished = turn.stopped, turn.unfinished


def _call(director: Director, work: DirectorJob, given: dict[str, Any]) -> None:
    context = director.tool_context
    context.tell, context.cancel = work.tell, work.cancel
    told = {"id": work.id, "name": work.tool}
    work.tell({"type": "call", **told, "arguments": arguments_without_secrets(context, given)})
    work.outcome = director.call(work.tool, given)
    work.tell({"type": "result", **told, "failed": work.outcome.failed, "text": work.outcome.text})
