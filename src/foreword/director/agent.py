"""A conversation with a model that has tools: context, reply, calls, results, and again until there
is an answer.

Everything is kept before it is acted on: a reply before its calls are made, a result before the
next request. So a process that dies leaves at most calls without results, and `settle` answers
those. Secrets are hidden in all of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from foreword import models
from foreword.director import runner
from foreword.director.stream_mask import StreamMask
from foreword.director.tool import DirectorTool
from foreword.director.tool_calls import Outcome, perform, shown_arguments
from foreword.director.tool_context import ToolContext
from foreword.errors import ModelFailed
from foreword.message import Message, Part, Text, ToolCall, ToolResult
from foreword.store import messages
from foreword.store.messages import Range

MOST_REQUESTS = 100  # until an answer is due
LATEST = 50  # messages in which a call may still wait for its result
STOPPED = "[stopped by the user]"
RUN = "run_workflow"
NOT_BEGUN = "not done: stopped by the user"
NOT_KNOWN = (
    "failed: the process ended before a result was recorded; it may or may not have been done: look"
    " before you do it again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What came of one turn."""

    text: str  # the answer
    requests: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    stopped: bool = False  # by the user
    unfinished: bool = False  # it made as many requests as it may; `go_on` goes on


@dataclass(slots=True, kw_only=True)
class Agent:
    """One conversation: its desk, its tools, and how its model is asked."""

    desk: ToolContext
    tools: Mapping[str, DirectorTool]
    most_requests: int = MOST_REQUESTS
    timeout_seconds: float = 120
    attempts: int = 3
    _warned: set[str] = field(default_factory=set)

    def hear(self, text: str) -> None:
        """Take in what the user says, without secrets: they belong into variables."""
        self.desk.learn()
        shown = self.desk.secrets.text(text)
        if shown != text:
            self._warn(
                "a secret in the message was hidden; keep it as a variable (foreword variable set),"
                " and the director can use it as {{name}}"
            )
        self._append(Message("user", (Text(shown),)))

    def turn(self) -> TurnResult:
        """Ask and act until there is an answer without calls."""
        made = TurnResult(text="")
        while made.requests < self.most_requests:
            said = StreamMask(self.desk.secrets, self._say)
            try:
                reply = self._asked(said)
            except ModelFailed:
                if not self.desk.cancel.is_set():
                    raise
                return self._stopped(made, said.text)
            made = _counted(made, reply)
            if not reply.message.calls:
                return replace(made, text=self.desk.secrets.text(reply.message.text))
            if not self._call_all(reply.message):
                return self._stopped(made)
        self._warn(f"no answer after {made.requests} requests; say go on, or what to do instead")
        return replace(made, unfinished=True)

    def settle(self) -> Message | None:
        """Answer the calls that a process left behind; returns the last message, none where
        nothing was said."""
        conversation = self.desk.session.conversation.id
        last = messages.up_to(self.desk.session.db, conversation).seq
        lines = messages.between(
            self.desk.session.db, Range(conversation, max(1, last - LATEST), last)
        )
        latest = [line.message for line in lines if line.message.is_history]
        for call in _waiting(latest):
            run = runner.unfinished_run(self.desk.session) if call.name == RUN else None
            more = f"; run_workflow with resume {run} goes on where it stopped" if run else ""
            self._result(call, Outcome(NOT_KNOWN + more, failed=True))
        return latest[-1] if latest else None

    # --- asking -----------------------------------------------------------------------------------

    def _asked(self, said: StreamMask) -> models.ModelReply:
        desk = self.desk
        desk.learn()
        desk.session.browser = desk.tabs()
        package = desk.session.context()
        for warning in package.report.warnings:
            self._warn(warning)
        specs = [tool.spec for tool in self.tools.values()]
        sent = [self._sent(message) for message in package.messages]
        reply = models.reply(
            desk.model,
            sent,
            specs,
            timeout_seconds=self.timeout_seconds,
            attempts=self.attempts,
            on_text=said,
            cancel=desk.cancel,
        )
        said.end()
        self._append(
            replace(reply.message, parts=tuple(map(self._without_secrets, reply.message.parts)))
        )
        return reply

    def _sent(self, message: Message) -> Message:
        """A message as the model gets it: what has turned out to be secret since it was kept is
        hidden in it."""
        known = self.desk.secrets.known

        def shown(part: Part) -> Part:
            match part:
                case Text(text=text) | ToolResult(text=text):
                    return replace(part, text=known(text))
                case ToolCall(arguments=arguments):
                    return replace(part, arguments=known(arguments))
                case _:
                    return part

        return replace(message, parts=tuple(map(shown, message.parts)))

    def _without_secrets(self, part: Part) -> Part:
        match part:
            case Text(text=text):
                return replace(part, text=self.desk.secrets.text(text))
            case ToolCall(arguments=arguments):
                return replace(
                    part, arguments=json.dumps(self._shown(arguments), ensure_ascii=False)
                )
            case _:
                return part

    def _shown(self, arguments: str) -> object:
        """The arguments of a call without secrets; what is no JSON is one text."""
        read = _read(arguments)
        return (
            {"arguments": self.desk.secrets.text(arguments)}
            if read is None
            else shown_arguments(self.desk, read)
        )

    def _stopped(self, made: TurnResult, said: str = "") -> TurnResult:
        """Keep how far the answer came, and that it was stopped."""
        self._append(Message("assistant", (Text(f"{said}\n{STOPPED}".strip()),)))
        return replace(made, text=said, stopped=True)

    # --- acting -----------------------------------------------------------------------------------

    def _call_all(self, message: Message) -> bool:
        """Make the calls of a reply in order; says whether it was not stopped."""
        failed = ""
        for call in (part for part in message.parts if isinstance(part, ToolCall)):
            self.desk.tell(
                {
                    "type": "call",
                    "id": call.id,
                    "name": call.name,
                    "arguments": self._shown(call.arguments),
                }
            )
            if self.desk.cancel.is_set():
                outcome = Outcome(NOT_BEGUN, failed=True)
            elif failed:
                outcome = Outcome(f"not done: {failed} before it failed", failed=True)
            else:
                outcome = perform(self.desk, self.tools, call.name, _read(call.arguments))
                tool = self.tools.get(call.name)
                failed = (
                    call.name if outcome.failed and tool is not None and tool.is_debugging else ""
                )
            self._result(call, outcome)
        return not self.desk.cancel.is_set()

    def _result(self, call: ToolCall, outcome: Outcome) -> None:
        tool = self.tools.get(call.name)
        self._append(
            Message(
                "tool",
                (ToolResult(call.id, outcome.text, outcome.failed),),
                tool.kind if tool else "conversation",
            )
        )
        told = {"id": call.id, "name": call.name, "failed": outcome.failed, "text": outcome.text}
        self.desk.tell({"type": "result", **told})

    # --- keeping and telling ----------------------------------------------------------------------

    def _append(self, message: Message) -> None:
        for warning in self.desk.session.append(message).warnings:
            self._warn(warning)

    def _say(self, text: str) -> None:
        self.desk.tell({"type": "text", "text": text})

    def _warn(self, warning: str) -> None:
        """Tell a warning once."""
        if warning not in self._warned:
            self._warned.add(warning)
            self.desk.tell({"type": "warning", "text": self.desk.secrets.text(warning)})


def _counted(made: TurnResult, reply: models.ModelReply) -> TurnResult:
    return replace(
        made,
        requests=made.requests + 1,
        calls=made.calls + len(reply.message.calls),
        input_tokens=made.input_tokens + reply.input_tokens,
        output_tokens=made.output_tokens + reply.output_tokens,
    )


def _waiting(latest: Sequence[Message]) -> list[ToolCall]:
    """The calls of the last reply that have no result."""
    at = next((at for at in reversed(range(len(latest))) if latest[at].role == "assistant"), None)
    if at is None:
        return []
    answered = {call for message in latest[at:] for call in message.results}
    return [
        part for part in latest[at].parts if isinstance(part, ToolCall) and part.id not in answered
    ]


def _read(arguments: str) -> object | None:
    try:
        read: object = json.loads(arguments or "{}")
        return read
    except (ValueError, RecursionError):
        return None
