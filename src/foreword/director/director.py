"""The workflow director: a person says what is wanted, a model plans, scouts, builds and tests it
in a real browser.

`foreword.director.Director`. It owns a session, so every call has the six parts, fresh and within
the budget, and a browser that is started when it is first needed. Without a model the same tools
are there to be called by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Self

from foreword.director.agent import MOST_REQUESTS, Agent, TurnResult
from foreword.director.director_resources import MODEL_SECONDS, DirectorResources, Start, nobody
from foreword.director.manual_calls import call_messages
from foreword.director.system_prompt import DIRECTOR
from foreword.director.tool_calls import Outcome, arguments_without_secrets, perform
from foreword.director.tool_context import ToolContext
from foreword.director.tool_table import TOOLS
from foreword.director.turn_lock import conversation_lock
from foreword.errors import StoreError, UsageError
from foreword.session.session import Session

if TYPE_CHECKING:
    from foreword.browser import Browser

NO_MODEL = (
    "name one (anthropic:claude-sonnet-5-5, openai:NAME@http://127.0.0.1:8080/v1), or call its"
    " tools by hand"
)

OnEvent = Callable[[dict[str, Any]], None]


class Director:
    """One workflow's director; each thread opens its own."""

    def __init__(self, resources: DirectorResources, *, most_requests: int = MOST_REQUESTS) -> None:
        self.resources = resources
        self._most_requests = most_requests
        self._warned: set[str] = set()
        self._is_alone = False

    @classmethod
    def open(
        cls,
        db: str | None = None,
        workflow: str = "main",
        *,
        root: str | Path = ".",
        model: Any = None,
        browser: Browser | Start | None = None,
        inspect_with: Any = None,
        system_prompt: str = DIRECTOR,
        most_requests: int = MOST_REQUESTS,
        keep_login: bool = False,
        model_seconds: float = MODEL_SECONDS,
        **session: Any,
    ) -> Self:
        """Open a workflow's director; the workflow is made where there is none.

        `browser` is one that is open, and stays so, or a function that starts one, given the file
        in which a process that died has left its own (else None): it is called when a tool first
        needs it, and closed with the director. `inspect_with` names a model that puts into words
        what `inspect_tab` finds. `most_requests` is how often a model may be asked until it has to
        answer, `model_seconds` the limit for one answer. `keep_login` keeps cookies and local
        storage of the workflow's browser, and begins with them the next time. `session` is passed
        on to `Session.open`: budget, window, recipe, when to warn and to compress.
        """
        session.setdefault("tools", [tool.spec for tool in TOOLS.values()])
        opened = Session.open(db, workflow, root=root, **session)
        try:
            if opened.system_prompt != system_prompt:
                opened.system_prompt = system_prompt
            resources = DirectorResources(
                opened,
                browser,
                model=model,
                inspect_with=inspect_with,
                keep_login=keep_login,
                model_seconds=model_seconds,
            )
            return cls(resources, most_requests=most_requests)
        except BaseException:
            opened.close()
            raise

    @property
    def session(self) -> Session:
        """The conversation, the plan, the nodes and the variables."""
        return self.resources.session

    def tool_context(
        self, *, on_event: OnEvent = nobody, cancel: Event | None = None
    ) -> ToolContext:
        """What tools work on during one turn: `on_event` and `cancel` are as of `say`."""
        return ToolContext(
            resources=self.resources,
            session=self.session,
            tell=on_event,
            cancel=cancel or Event(),
        )

    def say(
        self, text: str, *, on_event: OnEvent = nobody, cancel: Event | None = None
    ) -> TurnResult:
        """Tell the director something, and have it work until it answers.

        `on_event` is given what happens as it happens: text (an empty one: it begins again), call,
        result, warning, done. Setting `cancel` stops it within a fraction of a second, whatever it
        is doing.
        """
        if not text.strip():
            raise UsageError("there is nothing to say")
        agent = self._agent(on_event, cancel)
        with self.alone():
            agent.answer_lost_calls()
            agent.add_user_message(text)
            return _turn(agent)

    def go_on(self, *, on_event: OnEvent = nobody, cancel: Event | None = None) -> TurnResult:
        """Go on where a process ended, or a model failed: calls without a result are told to be
        unknown."""
        agent = self._agent(on_event, cancel)
        with self.alone():
            last = agent.answer_lost_calls()
            if last is None:
                raise UsageError("there is nothing to go on with", hint="say what is wanted")
            if last.role == "assistant" and not last.calls:
                on_event({"type": "done"})
                return TurnResult(text=last.text)
            return _turn(agent)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of the conversation; an error where another process on this machine holds
        it. It may be taken again inside."""
        if self._is_alone:
            yield
            return
        with conversation_lock(self.session):
            self._is_alone = True
            try:
                yield
            finally:
                self._is_alone = False

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_event: OnEvent = nobody,
        cancel: Event | None = None,
    ) -> Outcome:
        """Call a tool by hand; what it does is in the conversation, as done by the user."""
        context = self.tool_context(on_event=on_event, cancel=cancel)
        given = dict(arguments or {})
        outcome = perform(context, TOOLS, name, given)
        tool = TOOLS.get(name)
        if tool is not None and not tool.reads:
            without_secrets = arguments_without_secrets(context, tool, given)
            messages = call_messages(
                name,
                json.dumps(without_secrets, ensure_ascii=False),
                result=outcome.text,
                failed=outcome.failed,
                kind=tool.kind,
            )
            self._answer_lost_calls(context)
            self.session.append_all(messages)
        return outcome

    def _answer_lost_calls(self, context: ToolContext) -> None:
        """Answer what a process that died left open, before something else is said behind it;
        where somebody talks now, their calls are not lost."""
        with suppress(UsageError, StoreError), self.alone():
            Agent(tool_context=context, tools=TOOLS).answer_lost_calls()

    def close(self) -> None:
        """Close the browser, if it was started here, and the store."""
        try:
            self.resources.close()
        finally:
            self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _agent(self, on_event: OnEvent, cancel: Event | None) -> Agent:
        """The agent for one turn; it does not repeat warnings of earlier turns."""
        if self.resources.model is None:
            raise UsageError("the director has no model", hint=NO_MODEL)
        return Agent(
            tool_context=self.tool_context(on_event=on_event, cancel=cancel),
            tools=TOOLS,
            most_requests=self._most_requests,
            warned=self._warned,
        )


def _turn(agent: Agent) -> TurnResult:
    turn = agent.turn()
    agent.tool_context.tell({"type": "done"})
    return turn
