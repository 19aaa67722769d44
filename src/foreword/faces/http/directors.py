"""The directors of a server: one for each workflow in use, each at one thing at a time, in a thread
of its own.

What a director is doing is its `DirectorJob`: a turn with its model, or a tool that somebody calls
by hand. The events of the last one are kept, so that whoever comes late hears all of it. Model,
browser and origins are the server's settings; nothing about them is taken from a request.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from traceback import format_exception
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from foreword.browser import Rules
from foreword.director import Director, assets, browser_files
from foreword.director.director_resources import DirectorResources
from foreword.director.system_prompt import DIRECTOR
from foreword.director.tool_calls import arguments_without_secrets
from foreword.director.tool_table import TOOLS
from foreword.errors import ForewordError, StoreError, UnknownName, UsageError
from foreword.faces.http.director_job import DirectorJob
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.secrets.masking import mask
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState

if TYPE_CHECKING:
    from foreword.browser import Browser
    from foreword.faces.serving.app_state import Settings

MOST_DIRECTORS = 8  # each may have a browser, which takes hundreds of megabytes
FINISH_SECONDS = 10.0  # for a job to end when the server stops: a click is over by then
PICTURE_SECONDS = 0.7  # for as long a picture is shared by all who look
MOST_BLOCKED = 10  # origins that are named: a page decides how many it asks
MODEL_VARIABLE = "FOREWORD_DIRECTOR_MODEL"
NO_MODEL = "this server has no model for its directors"
NAME_ONE = (
    "start it with `foreword serve --model anthropic:NAME` or openai:NAME, or set"
    f" {MODEL_VARIABLE}; the tools work without one"
)
BROKEN = "something went wrong in the server; its log has more"

Act = Callable[[Director, DirectorJob], None]
log = logging.getLogger("foreword.serve")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedLine:
    """An origin that pages asked for something and were not allowed to reach."""

    origin: str
    kinds: Annotated[tuple[str, ...], Field(description="What for: `script`, `image`, `fetch`.")]
    requests: Annotated[
        int,
        Field(
            description="How many, since its browser was started; 0 where it was in an earlier one."
        ),
    ]
    option: Annotated[str, Field(description="What `foreword serve` is started with to allow it.")]


@dataclass(slots=True, kw_only=True)
class _DirectorSlot:
    """One workflow's director, once it is needed, and the last thing that it was told to do."""

    workflow: str
    director: Director | None = None
    job: DirectorJob | None = None
    thread: Thread | None = None
    picture: tuple[float, bytes | None] = (0.0, None)  # when it was taken

    @property
    def is_busy(self) -> bool:
        """Whether it is at something now."""
        return self.job is not None and not self.job.is_over

    def close(self) -> None:
        """End its browser, and close its store."""
        director = self.director
        self.director = None
        if director is None:
            return
        try:
            director.close()
        except ForewordError as error:
            log.error("%s", mask(error.message))


class Directors:
    """The directors of one server process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = Lock()
        self._slots: OrderedDict[str, _DirectorSlot] = OrderedDict()  # the last used last
        self._stopped = False

    # --- what they are told -----------------------------------------------------------------------

    def say(self, workflow: str, text: str) -> DirectorJob:
        """Begin a turn; an error at once where there can be none."""
        self._need_model()
        if not text.strip():
            raise UsageError("there is nothing to say")
        return self._begin(workflow, DirectorJob(kind="turn"), partial(_say, text=text))

    def go_on(self, workflow: str) -> DirectorJob:
        """Begin a turn where the last one ended before its answer."""
        self._need_model()
        return self._begin(workflow, DirectorJob(kind="turn"), _go_on)

    def call(self, workflow: str, tool: str, arguments: Mapping[str, Any]) -> DirectorJob:
        """Begin to call a tool by hand."""
        if tool not in TOOLS:
            raise UnknownName("tool", tool[:80], TOOLS)
        job = DirectorJob(kind="call", tool=tool)
        return self._begin(workflow, job, partial(_call, arguments=dict(arguments)))

    def stop(self, workflow: str) -> bool:
        """Stop what a director is doing; says whether there was anything."""
        job = self.job(workflow)
        if job is None or job.is_over:
            return False
        job.cancel.set()
        return True

    # --- how they stand ---------------------------------------------------------------------------

    def job(self, workflow: str) -> DirectorJob | None:
        """What a director is doing, or has done last."""
        slot = self._slots.get(workflow)
        return slot.job if slot else None

    def tabs(self, workflow: str) -> list[dict[str, Any]] | None:
        """The tabs of a director's browser; none while there is no browser."""
        director = self._director(workflow)
        return director.resources.tabs() if director else None

    def picture(self, workflow: str) -> bytes | None:
        """What the browser of a director shows; none before there is one, or while it is busy."""
        slot = self._slots.get(workflow)
        if slot is None or slot.director is None:
            return None
        taken, picture = slot.picture
        if monotonic() - taken > PICTURE_SECONDS:
            picture = slot.director.resources.live_picture() or picture
            slot.picture = (monotonic(), picture)
        return picture

    def blocked_lines(self, state: WorkflowState) -> list[BlockedLine]:
        """What pages of a workflow could not load: now, the most wanted first, and in browsers
        before."""
        director = self._director(state.workflow.name)
        found = director.resources.blocked_origins()[:MOST_BLOCKED] if director else []
        known = {blocked.origin for blocked in found}
        for blocked in assets.origins_to_offer(state, self._rules()):
            if blocked.origin not in known:
                found.append(blocked)
        lines = list[BlockedLine]()
        for blocked in found:
            line = BlockedLine(
                origin=blocked.origin,
                kinds=tuple(blocked.kinds),
                requests=blocked.requests,
                option=blocked.option,
            )
            lines.append(line)
        return lines

    def _director(self, workflow: str) -> Director | None:
        slot = self._slots.get(workflow)
        return slot.director if slot else None

    # --- threads ----------------------------------------------------------------------------------

    def _begin(self, workflow: str, job: DirectorJob, act: Act) -> DirectorJob:
        with self._lock:
            if self._stopped:
                raise ProblemResponse(503, code="stopping", title="the server is stopping")
            slot = self._slots.get(workflow)
            if slot is not None and slot.is_busy:
                raise ProblemResponse(
                    409,
                    code="busy",
                    title="the director is at work here already",
                    hint="wait until it is done, or stop it",
                )
            evicted = None
            if slot is None:
                evicted = self._make_room()
                slot = self._slots[workflow] = _DirectorSlot(workflow=workflow)
            self._slots.move_to_end(workflow)
            slot.job = job
            slot.thread = Thread(
                target=self._run,
                args=(slot, job, act, evicted),
                name="foreword-director",
                daemon=True,
            )
            slot.thread.start()
        return job

    def _make_room(self) -> _DirectorSlot | None:
        """Take out the one that has been idle longest, if one has to go so that one more can
        come; who takes it closes it."""
        if len(self._slots) < MOST_DIRECTORS:
            return None
        for workflow, slot in self._slots.items():
            if not slot.is_busy:
                return self._slots.pop(workflow)
        title = f"{MOST_DIRECTORS} directors are at work, and no more can be"
        raise ProblemResponse(503, code="no_more_directors", title=title)

    def _run(
        self, slot: _DirectorSlot, job: DirectorJob, act: Act, evicted: _DirectorSlot | None
    ) -> None:
        """Do it, and tell how it ended, whatever happens."""
        try:
            if evicted is not None:
                evicted.close()
            if slot.director is None:
                slot.director = self._open(slot.workflow)
            act(slot.director, job)
        except ForewordError as error:
            job.fail(mask(error.message), hint=mask(error.hint))
            if isinstance(error, StoreError):
                slot.close()  # its connection may be gone: it is opened anew the next time
        except Exception as error:  # noqa: BLE001 - who waits for it is told, whatever it is
            log.error("%s", mask("".join(format_exception(error))))
            job.fail(BROKEN)
        finally:
            job.end()

    def _open(self, workflow: str) -> Director:
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
            tools=[tool.spec for tool in TOOLS.values()],
        )
        resources = DirectorResources(
            session, self._browser, model=settings.model, keep_login=settings.keep_login
        )
        return Director(resources)

    def _browser(self, restore: Path | None) -> Browser:
        from foreword.browser import Browser

        settings = self.settings
        rules = self._rules()
        if settings.attach:
            return Browser.attach(settings.attach, rules)
        folder = browser_files.profiles_folder(settings.root)
        return Browser.start(rules, path=settings.browser, folder=folder, restore=restore)

    def _rules(self) -> Rules:
        """What browsers may open: never the server's own page and API, where a page could do all
        that its user can."""
        return replace(self.settings.browser_rules, own_port=self.settings.port)

    def _need_model(self) -> None:
        if not self.settings.model:
            raise UsageError(NO_MODEL, hint=NAME_ONE)

    # --- the end ----------------------------------------------------------------------------------

    def stop_all(self) -> None:
        """The server begins to stop: whatever is under way is stopped, too."""
        with self._lock:
            self._stopped = True
            for slot in self._slots.values():
                if slot.job is not None:
                    slot.job.cancel.set()

    def close(self) -> None:
        """Close every director and its browser; the server has stopped."""
        self.stop_all()
        for slot in self._slots.values():
            if slot.thread is not None:
                slot.thread.join(FINISH_SECONDS)
            slot.close()
        self._slots.clear()


def _say(director: Director, job: DirectorJob, *, text: str) -> None:
    with director.alone():
        if director.session.system_prompt != DIRECTOR:
            director.session.system_prompt = DIRECTOR
        turn = director.say(text, on_event=job.tell, cancel=job.cancel)
    job.stopped = turn.stopped
    job.unfinished = turn.unfinished


def _go_on(director: Director, job: DirectorJob) -> None:
    turn = director.go_on(on_event=job.tell, cancel=job.cancel)
    job.stopped = turn.stopped
    job.unfinished = turn.unfinished


def _call(director: Director, job: DirectorJob, *, arguments: dict[str, Any]) -> None:
    context = director.tool_context()
    call = {"id": job.id, "name": job.tool}
    shown = arguments_without_secrets(context, TOOLS.get(job.tool), arguments)
    job.tell({"type": "call", **call, "arguments": shown})
    outcome = director.call(job.tool, arguments, on_event=job.tell, cancel=job.cancel)
    job.outcome = outcome
    job.tell({"type": "result", **call, "failed": outcome.failed, "text": outcome.text})
