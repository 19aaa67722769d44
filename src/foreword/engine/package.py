"""A finished context: the text, the same as messages, and the report.

Pure. The forms for providers carry the very same words as the text; their framing is lighter than
the tags they replace, so what fits as text fits as messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import groupby
from typing import Any

from foreword.engine.boundaries import escape_boundaries
from foreword.engine.render import GAP, pieces_of
from foreword.engine.report import Report
from foreword.errors import UsageError
from foreword.extras import pip_install
from foreword.messages.blocks import losses, rewrite
from foreword.messages.call_pairs import mend
from foreword.messages.message import Message, Role, Shape
from foreword.messages.parts import Text
from foreword.section import STATE, Choice, handle_of
from foreword.text.clean import clean

CACHE_MARK = {"type": "ephemeral"}
EMPTY = "(nothing was said)"  # APIs want words
OPENING = "(the conversation begins with the assistant)"  # APIs want a user to begin
# Providers do not cache shorter prefixes: a breakpoint on less would use up one of the four that a
# request may have, and save nothing.
LEAST_CACHED_TOKENS = 1024
CONVERSATION = "conversation"  # the kind of a section that is one


@dataclass(frozen=True)
class Package:
    """What a model reads, and the bill for it."""

    text: str = field(repr=False)
    report: Report
    _: KW_ONLY
    listing: str = field(default="", repr=False)  # what the note on missing sections refers to
    # originals of parts of messages, by handle
    cut: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    cached: int = 0  # messages of the conversation that the call before this one had

    @cached_property
    def originals(self) -> dict[str, bytes]:
        """All that was cut, by handle; what the store can put together itself is not in it."""
        originals: dict[str, bytes] = {}
        for choice in self.report.choices:
            if choice.is_cut and not choice.section.known_as:
                originals[choice.section.handle] = choice.section.original
        originals.update(self.cut)
        if self.listing:
            listing = self.listing.encode("utf-8", "surrogatepass")
            originals[handle_of(listing)] = listing
        return originals

    @property
    def context_package(self) -> str:
        """The text, by the name that it has as what a purpose asks for."""
        return self.text

    @property
    def truncation_report(self) -> Report:
        """The report, by the name that it has as the account of what was left out."""
        return self.report

    @cached_property
    def messages(self) -> list[Message]:
        """The same as messages: a conversation where the recipe makes one, else one user message.

        What stands in front of the conversation is the system's, but for a state, which is the
        first message; what stands behind it is the newest. Without a conversation, tier 0 is the
        system's.
        """
        talk = _conversation(self.report.choices)
        if talk is None:
            always, rest = self._system_and_user()
            words = "".join(rest)
            if always and not words:
                words = EMPTY
            return [*_message("system", always), Message("user", (Text(words),))]
        system, state, behind = self._around(talk)
        turns = [*_message("user", state), *self._turns(talk), *_message("user", behind)]
        return [*_message("system", system), *turns]

    def to_anthropic(self) -> dict[str, Any]:
        """`system` and `messages` for Anthropic's Messages API, with at most four cache
        breakpoints where they pay."""
        talk = _conversation(self.report.choices)
        if talk is None:
            always, rest = self._system_and_user()
            blocks = self._cached_blocks(rest) or [_text_block(EMPTY)]
            return {
                "system": self._cached_blocks(always),
                "messages": [{"role": "user", "content": blocks}],
            }
        system, state, behind = self._around(talk)
        first = [Message("user", tuple(map(Text, state)))] if state else []
        turns = [*first, *self._turns(talk)]
        newest = [Message("user", tuple(map(Text, behind)))] if behind else []
        shaped = _anthropic_messages(_with_answers([*turns, *newest]))
        self._mark_turns(turns, shaped, cached=self.cached + len(first) if self.cached else 0)
        _begin_with_user(shaped, _text_block, "content")
        return {"system": self._cached_blocks(system), "messages": shaped}

    def to_json(self, shape: Shape) -> Any:
        """The same in one of the shapes above, as JSON has it: bytes are base64."""
        if shape == "bedrock":
            return self._bedrock_request()
        return getattr(self, f"to_{shape}")()

    def losses(self, shape: Shape) -> list[str]:
        """What messages of other providers hold that a shape can't express, one line each."""
        return losses(self.messages, shape)

    def to_openai(self) -> list[dict[str, Any]]:
        """Messages for OpenAI's chat API."""
        from foreword.messages.openai_chat import to_openai  # every format comes with it

        return to_openai(_with_answers(self.messages))

    def to_responses(self) -> dict[str, Any]:
        """`instructions` and `input` for OpenAI's Responses API."""
        from foreword.messages.openai_responses import to_responses, without_open_calls

        system, rest = self._system_apart()
        request: dict[str, Any] = {"instructions": system} if system else {}
        return {**request, "input": without_open_calls(to_responses(rest))}

    def to_gemini(self) -> dict[str, Any]:
        """`systemInstruction` and `contents` for Gemini's API and for `google-genai`."""
        from foreword.messages.gemini import to_gemini_request

        request = to_gemini_request(_with_answers(self.messages))
        _begin_with_user(request["contents"], _untyped_text, "parts")
        return request

    def to_bedrock(self) -> dict[str, Any]:
        """`system` and `messages` for `boto3`'s `converse`; pictures and documents are bytes."""
        from foreword.messages.bedrock import with_bytes

        return with_bytes(self._bedrock_request())

    def to_ollama(self) -> list[dict[str, Any]]:
        """Messages for Ollama's chat."""
        from foreword.messages.ollama import to_ollama

        return to_ollama(_with_answers(self.messages))

    def to_vercel(self) -> list[dict[str, Any]]:
        """Messages of the interface of Vercel's AI SDK, for `convertToModelMessages`. A call that
        waits for its result or for a person goes back in its state."""
        from foreword.messages.vercel import to_vercel

        return to_vercel(_with_answers(self.messages))

    def to_langchain(self) -> list[Any]:
        """Messages of LangChain and LangGraph; `langchain-core` must be installed."""
        from foreword.messages.langchain import to_langchain

        from_dicts = _from_package("langchain_core.messages", name="messages_from_dict")
        messages: list[Any] = from_dicts(to_langchain(_with_answers(self.messages)))
        return messages

    def to_llama_index(self) -> list[Any]:
        """Messages of LlamaIndex; `llama-index-core` must be installed."""
        from foreword.messages.llama_index import to_llama_index

        chat_message = _from_package("llama_index.core.llms", name="ChatMessage")
        messages = to_llama_index(_with_answers(self.messages))
        return [chat_message.model_validate(message) for message in messages]

    def to_pydantic_ai(self) -> list[Any]:
        """Messages of pydantic-ai, which must be installed."""
        from foreword.messages.pydantic_ai import to_pydantic_ai

        return list(to_pydantic_ai(_with_answers(self.messages)))

    def _bedrock_request(self) -> dict[str, Any]:
        from foreword.messages.bedrock import to_bedrock_request

        request = to_bedrock_request(_with_answers(self.messages))
        _begin_with_user(request["messages"], _untyped_text, "content")
        return request

    def _system_apart(self) -> tuple[str, list[Message]]:
        """What the system says in front, and all else."""
        messages = _with_answers(self.messages)
        if messages and messages[0].role == "system":
            return messages[0].text, messages[1:]
        return "", messages

    def _system_and_user(self) -> tuple[list[str], list[str]]:
        """The texts of tier 0 and those of the others, where there is no conversation; joined
        they are the whole."""
        choices = self.report.choices
        first = 0  # that is not of tier 0
        while first < len(choices) and choices[first].section.rule.tier == 0:
            first += 1
        if not first:
            return [], self._pieces(choices)
        always = self._pieces(choices[:first], note=False)
        rest = self._pieces(choices[first:])
        is_followed = bool(rest) and rest[0] != self.report.note  # the note brings its gap along
        if always and is_followed:
            always[-1] += GAP
        return always, rest

    def _around(self, talk: Choice) -> tuple[list[str], list[str], list[str]]:
        """The texts in front of the conversation, the system's and those of a state, and the texts
        behind it; the note on what is missing is the last."""
        at = self.report.choices.index(talk)
        front, behind = self.report.choices[:at], self.report.choices[at + 1 :]
        system = self._pieces([one for one in front if one.section.kind != STATE], note=False)
        state = self._pieces([one for one in front if one.section.kind == STATE], note=False)
        newest = self._pieces(behind, note=False)
        if self.report.note:
            last = next((texts for texts in (newest, state) if texts), system)
            last.append(self.report.note)
        return system, state, newest

    def _turns(self, talk: Choice) -> list[Message]:
        """The conversation; nothing that was said in it reads as a boundary tag, wherever the
        real ones stand. The mark for what is missing stands in the words of the last message in
        front of the gap."""
        pattern = self.report.scale.pattern
        turns = list[Message]()
        pinned = 0
        for entry in talk.body.kept_entries:
            if entry.pinned:
                pinned += len(entry.messages)
            if entry.is_own:
                turns += entry.messages
            else:
                clean_messages = map(_clean_message, entry.messages)
                turns += [escape_boundaries(each, pattern) for each in clean_messages]
        if talk.body.mark and turns:
            place = max(0, pinned - 1)
            turns[place] = turns[place].with_mark(talk.body.mark)
        return turns

    def _cached_blocks(self, texts: list[str]) -> list[dict[str, Any]]:
        """One block for each pair of tags; a breakpoint once a prefix is worth caching, and at
        the end."""
        blocks = [_text_block(text) for text in texts]
        prefix_tokens = 0
        for block in blocks:
            prefix_tokens += self.report.scale.counter.count(block["text"])
            if prefix_tokens >= LEAST_CACHED_TOKENS:
                block["cache_control"] = CACHE_MARK
                blocks[-1]["cache_control"] = CACHE_MARK
                break
        return blocks

    def _mark_turns(
        self, turns: Sequence[Message], shaped: list[dict[str, Any]], *, cached: int
    ) -> None:
        """Breakpoints where the last call's conversation ended and where this one's does: the
        next call finds both."""
        if self.report.total_tokens < LEAST_CACHED_TOKENS:
            return
        for known in {min(cached, len(turns)), len(turns)}:
            before = _anthropic_messages(turns[:known])
            if before and len(before) <= len(shaped):
                _mark_last(shaped[len(before) - 1]["content"][: len(before[-1]["content"])])

    def _pieces(self, choices: Sequence[Choice], *, note: bool = True) -> list[str]:
        """One text for each pair of tags, and the note; joined they are the whole."""
        present = [choice for choice in choices if choice.body.form != "gone"]
        texts: list[str] = []
        for _, block in groupby(present, key=lambda choice: choice.section.tag):
            if texts:
                texts[-1] += GAP
            texts.append("".join(pieces_of(block)))
        if note and self.report.note:
            texts.append(self.report.note)
        return texts


def _from_package(module: str, name: str) -> Any:
    """Something of a framework that is asked for by name."""
    try:
        return getattr(import_module(module), name)
    except ImportError:
        package = module.partition(".")[0].replace("_", "-")
        raise UsageError(
            f"{module} is not installed", hint=f"install the framework: {pip_install(package)}"
        ) from None


def _message(role: Role, texts: list[str]) -> list[Message]:
    """One message with these texts; none where there are none."""
    return [Message(role, (Text("".join(texts)),))] if texts else []


def _with_answers(messages: list[Message]) -> list[Message]:
    """The messages with a result for every call: no provider takes a request that ends in one
    which is still open."""
    # One more message behind it makes an open call one that was never answered.
    return mend([*messages, Message("user", ())])[0][:-1]


def _begin_with_user(
    turns: list[dict[str, Any]], text_block: Callable[[str], dict[str, Any]], field: str
) -> None:
    """Put words of the user in front of a conversation that begins with anybody else's."""
    if not turns or turns[0]["role"] != "user":
        words = OPENING if turns else EMPTY
        turns.insert(0, {"role": "user", field: [text_block(words)]})


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _untyped_text(text: str) -> dict[str, Any]:
    return {"text": text}


def _anthropic_messages(turns: Sequence[Message]) -> list[dict[str, Any]]:
    from foreword.messages.anthropic import as_blocks, to_anthropic  # every format comes with it

    messages = to_anthropic(turns)
    for message in messages:
        message["content"] = as_blocks(message["content"])
    _remove_breakpoints(messages)
    return _without_last_thoughts(messages)


def _remove_breakpoints(messages: list[dict[str, Any]]) -> None:
    """Take off the breakpoints that messages came in with: a request has room for four, and they
    are ours to set."""
    for message in messages:
        for block in message["content"]:
            block.pop("cache_control", None)
            inside = block.get("content")
            if block.get("type") == "tool_result" and isinstance(inside, list):
                for inner in inside:
                    inner.pop("cache_control", None)


def _without_last_thoughts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without thoughts that nothing follows: the API takes no reply that ends with one."""
    kept: list[dict[str, Any]] = []
    for message in messages:
        content = message["content"]
        if message["role"] == "assistant":
            while content and _is_thought(content[-1]):
                content.pop()
        if not content:
            continue
        if kept and kept[-1]["role"] == message["role"]:
            kept[-1]["content"] += content
        else:
            kept.append(message)
    return kept


def _is_thought(block: dict[str, Any]) -> bool:
    return "thinking" in str(block.get("type"))


def _mark_last(blocks: list[dict[str, Any]]) -> None:
    """A breakpoint on the last block that may have one."""
    for block in reversed(blocks):
        if not _is_thought(block):
            block["cache_control"] = CACHE_MARK
            return


def _conversation(choices: Sequence[Choice]) -> Choice | None:
    """The section that is the conversation: by its kind, or by the messages it holds."""
    for choice in choices:
        if choice.section.kind == CONVERSATION:
            return choice
        if any(entry.messages for entry in choice.body.kept_entries):
            return choice
    return None


def _clean_message(message: Message) -> Message:
    """The message without characters that no provider takes."""
    return rewrite(message, _clean_value, _clean_value)


def _clean_value(value: object) -> object:
    return clean(value)[0] if isinstance(value, str) else value
