"""A conversation with a model that has tools: context, reply, calls, results, and again until there
is an answer.

Everything is kept before it is acted on: a reply before its calls are made, a result before the
next request. So a process that dies leaves at most calls without results, and
`answer_lost_calls` answers those. Secrets are hidden in all of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from foreword import models
from foreword.director import runner
from foreword.director.manual_calls import is_by_hand
from foreword.director.stream_mask import StreamMask
from foreword.director.tool import DirectorTool
from foreword.director.tool_calls import Outcome, arguments_without_secrets, perform
from foreword.director.tool_context import ToolContext
from foreword.errors import ModelFailed
from foreword.messages.message import Message, edit
from foreword.messages.parts import Part, Text, ToolCall, ToolResult
from foreword.session.secret_messages import without_secrets
from foreword.store import messages
from foreword.store.messages import Range

# Until an answer is due: a model that goes round in circles does so at the user's expense. `go_on`
# gives it as many again.
MOST_REQUESTS = 100
# How often one request is made: a model that is busy gets another chance.
ATTEMPTS = 3
# Messages in which a call may still wait for its result: more than the calls of one reply.
LATEST = 50
STOPPED = "[stopped by the user]"
NOTHING_SAID = "[nothing was said before this]"
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
    """One conversation: its context, its tools, and how its model is asked."""

    tool_context: ToolContext
    tools: Mapping[str, DirectorTool]
    most_requests: int = MOST_REQUESTS
    attempts: int = ATTEMPTS
    warned: set[str] = field(default_factory=set)  # what was warned of before, added to here

    def add_user_message(self, text: str) -> None:
        """Keep what the user says, without secrets: they belong into variables."""
        self.tool_context.resources.learn()
        without_secrets = self.tool_context.secrets.text(text)
        if without_secrets != text:
            self._warn(
                "a secret in the message was hidden; keep it as a variable (foreword variable set),"
                " and the director can use it as {{name}}"
            )
        self._append(Message("user", (Text(without_secrets),)))

    def turn(self, most_requests: int | None = None) -> TurnResult:
        """Ask and act until there is an answer without calls, or it has asked as often as it
        may."""
        turn = TurnResult(text="")
        most = self.most_requests if most_requests is None else most_requests
        while turn.requests < most:
            stream = StreamMask(self.tool_context.secrets, self._tell_text)
            try:
                reply = self._request_reply(stream)
            except ModelFailed:
                if not self.tool_context.cancel.is_set():
                    raise
                return self._stop_turn(turn, stream.text)
            turn = _add_reply(turn, reply)
            if not reply.message.calls:
                return replace(turn, text=self.tool_context.secrets.text(reply.message.text))
            if not self._call_all(reply.message):
                return self._stop_turn(turn)
        self._warn(f"no answer after {turn.requests} requests; say go on, or what to do instead")
        return replace(turn, unfinished=True)

    def answer_lost_calls(self) -> Message | None:
        """Answer the calls that a process left behind; returns the last message, none where
        nothing was said."""
        session = self.tool_context.session
        conversation = session.conversation.id
        last = messages.up_to(session.db, conversation).seq
        lines = messages.between(session.db, Range(conversation, max(1, last - LATEST), last))
        latest = [line.message for line in lines if line.message.is_history]
        for call in _calls_without_result(latest):
            text = NOT_KNOWN
            run = runner.unfinished_run(session) if call.name == RUN else None
            if run:
                text += f"; run_workflow with resume {run} goes on where it stopped"
            self._add_result(call, Outcome(text, failed=True))
        return latest[-1] if latest else None

    # --- asking -----------------------------------------------------------------------------------

    def _request_reply(self, stream: StreamMask) -> models.ModelReply:
        """Send the context as it is now to the model, and keep what it replies."""
        context = self.tool_context
        context.resources.learn()
        package = context.session.context(browser=context.resources.tabs() or [])
        for warning in package.report.warnings:
            self._warn(warning)
        reply = models.reply(
            context.resources.model,
            self._messages_to_send(package.messages),
            [tool.spec for tool in self.tools.values()],
            timeout_seconds=self.tool_context.resources.model_seconds,
            attempts=self.attempts,
            on_text=stream,
            cancel=context.cancel,
            drops_thinking=context.session.rebuilds_state,
        )
        stream.end()
        parts = tuple(self._without_secrets(part) for part in reply.message.parts)
        self._append(edit(reply.message, parts=parts))
        return reply

    def _messages_to_send(self, messages: Sequence[Message]) -> list[Message]:
        """The messages as the model gets them; the first to speak is the user, as providers want
        it, also where a tool was called by hand before anything was said."""
        to_send = list[Message]()
        spoken = False
        for message in messages:
            if not spoken and message.role not in ("system", "user"):
                to_send.append(Message("user", (Text(NOTHING_SAID),)))
            spoken = spoken or message.role != "system"
            to_send.append(self._message_to_send(message))
        return to_send

    def _message_to_send(self, message: Message) -> Message:
        """A message as the model gets it: what has turned out to be secret since it was kept is
        hidden in it."""
        return without_secrets(message, self.tool_context.secrets)

    def _without_secrets(self, part: Part) -> Part:
        match part:
            case Text(text=text):
                shown = self.tool_context.secrets.text(text)
                return part if shown == text else replace(part, text=shown)
            case ToolCall():
                given = self._arguments_without_secrets(part)
                if given == _parse_json(part.arguments):
                    return part
                return replace(part, arguments=json.dumps(given, ensure_ascii=False))
            case _:
                return part

    def _arguments_without_secrets(self, call: ToolCall) -> object:
        """The arguments of a call without secrets; what is no JSON is one text."""
        parsed = _parse_json(call.arguments)
        if parsed is None:
            return {"arguments": self.tool_context.secrets.text(call.arguments)}
        return arguments_without_secrets(self.tool_context, self.tools.get(call.name), parsed)

    def _stop_turn(self, turn: TurnResult, text: str = "") -> TurnResult:
        """Keep how far the answer came, and that it was stopped."""
        self._append(Message("assistant", (Text(f"{text}\n{STOPPED}".strip()),)))
        return replace(turn, text=text, stopped=True)

    # --- acting -----------------------------------------------------------------------------------

    def _call_all(self, message: Message) -> bool:
        """Make the calls of a reply in order; says whether it was not stopped."""
        failed_name = ""  # of a debugging tool: what follows it would find another page
        for call in message.parts:
            if not isinstance(call, ToolCall):
                continue
            event = {
                "type": "call",
                "id": call.id,
                "name": call.name,
                "arguments": self._arguments_without_secrets(call),
            }
            self.tool_context.tell(event)
            if self.tool_context.cancel.is_set():
                outcome = Outcome(NOT_BEGUN, failed=True)
            elif failed_name:
                outcome = Outcome(f"not done: {failed_name} before it failed", failed=True)
            else:
                arguments = _parse_json(call.arguments)
                outcome = perform(self.tool_context, self.tools, call.name, arguments)
                tool = self.tools.get(call.name)
                if outcome.failed and tool is not None and tool.is_debugging:
                    failed_name = call.name
            self._add_result(call, outcome)
        return not self.tool_context.cancel.is_set()

    def _add_result(self, call: ToolCall, outcome: Outcome) -> None:
        """Keep what came of a call, and tell it."""
        tool = self.tools.get(call.name)
        pictures = (outcome.picture,) if outcome.picture else ()
        result = ToolResult(call.id, outcome.text, outcome.failed, rest=pictures)
        self._append(Message("tool", (result,), tool.kind if tool else "conversation"))
        event = {
            "type": "result",
            "id": call.id,
            "name": call.name,
            "failed": outcome.failed,
            "text": outcome.text,
        }
        self.tool_context.tell(event)

    # --- keeping and telling ----------------------------------------------------------------------

    def _append(self, message: Message) -> None:
        for warning in self.tool_context.session.append(message).warnings:
            self._warn(warning)

    def _tell_text(self, text: str) -> None:
        self.tool_context.tell({"type": "text", "text": text})

    def _warn(self, warning: str) -> None:
        """Tell a warning once."""
        if warning not in self.warned:
            self.warned.add(warning)
            text = self.tool_context.secrets.text(warning)
            self.tool_context.tell({"type": "warning", "text": text})


def _add_reply(turn: TurnResult, reply: models.ModelReply) -> TurnResult:
    """The turn with one more request, and what it took."""
    return replace(
        turn,
        requests=turn.requests + 1,
        calls=turn.calls + len(reply.message.calls),
        input_tokens=turn.input_tokens + reply.input_tokens,
        output_tokens=turn.output_tokens + reply.output_tokens,
    )


def _calls_without_result(latest: Sequence[Message]) -> list[ToolCall]:
    """The calls of the last reply that have no result."""
    answered = set[str]()
    for message in reversed(latest):
        answered.update(message.results)
        if message.role == "assistant" and not is_by_hand(message):
            calls = list[ToolCall]()
            for part in message.parts:
                if isinstance(part, ToolCall) and part.id not in answered:
                    calls.append(part)
            return calls
    return []


def _parse_json(arguments: str) -> object | None:
    """The arguments of a call; nothing where they are no JSON."""
    try:
        value: object = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return value
