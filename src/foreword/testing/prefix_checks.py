"""Check that the requests of a conversation only append, and that its thinking stays valid.

Newer Claude models bind each thinking block to everything before it: `system`, `tools`, all message
content. A block whose prefix changed is refused or dropped; for every provider the change is a
cache miss. `fake_provider` runs `check_parts` on a request when it arrives; `prefix_breaks` runs
it on recorded requests and names what changed.

Not modelled: tools with `defer_loading`, the provider's own compaction, one model reading another's
thinking.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from foreword.testing.prompt_cache import PIECES, without_marks

THINKING = ("thinking", "redacted_thinking")
CONTENT = ("content", "parts")
ANSWER_PLACE = "messages/assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixBreak:
    """A request that does not merely append to the one before it, or whose thinking is unusable."""

    # The request's index, from 0.
    request: int
    # What this request changed, as its path in the request before: `messages[3].content[1].text`.
    # Where nothing in the request before was changed: content that stands between it and its
    # answer, or thinking that does not belong where it is, by its path in this request. Empty where
    # this request only sends thinking that an earlier one made unusable.
    path: str
    # The paths, in this request, of the thinking blocks that a provider refuses or drops.
    thinking: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A text, a block, or the remaining fields of a message."""

    path: str
    place: str
    value: Any

    @property
    def signature(self) -> str | None:
        """The signature of a thinking block; None for every other part."""
        if not isinstance(self.value, dict) or self.value.get("type") not in THINKING:
            return None
        return str(self.value.get("signature", self.value.get("data")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a thinking block was bound to when it was produced."""

    block: Any
    prefix: bytes
    previous: str | None  # the signature of the thinking block before it
    thinking_before: int  # how many blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    """A request's parts, by kind: thinking that is valid, thinking that is not, everything else."""

    parts: Sequence[Part]
    content: Sequence[Part]
    usable: Sequence[Part]
    unusable: Sequence[Part]


def request_parts(body: Mapping[str, Any]) -> Iterator[Part]:
    """Yield what the model reads of a request, in the order in which providers read it.

    Marks of a cache are left out. A text and a list of one text block give the same part.
    """
    for name in PIECES:
        yield from _parts(name, name, without_marks(body.get(name)))


def bind(block: Any, *, content: Sequence[Part], usable: Sequence[Part]) -> Binding:
    """Return the binding of a thinking block that was produced after this content and thinking."""
    prefix = blake2b()
    for part in content:
        _add(prefix, part)
    return Binding(
        block=block,
        prefix=prefix.digest(),
        previous=usable[-1].signature if usable else None,
        thinking_before=len(usable),
    )


def check_parts(parts: Sequence[Part], bindings: Mapping[str, Binding]) -> CheckedRequest:
    """Sort the thinking of a request into valid and invalid, by the bindings of its signatures.

    A block is valid if it and all content before it are unchanged, and the valid blocks before it
    are the last ones of those it was produced after: a chain is shortened from its beginning only.
    """
    prefix = blake2b()
    content = list[Part]()
    usable = list[Part]()
    unusable = list[Part]()
    for part in parts:
        if part.signature is None:
            content.append(part)
            _add(prefix, part)
            continue
        binding = bindings.get(part.signature)
        is_valid = (
            binding is not None
            and binding.block == part.value
            and binding.prefix == prefix.digest()
            and (not usable or binding.previous == usable[-1].signature)
            and len(usable) <= binding.thinking_before
        )
        (usable if is_valid else unusable).append(part)
    return CheckedRequest(parts=parts, content=content, usable=usable, unusable=unusable)


def prefix_breaks(requests: Iterable[Mapping[str, Any]]) -> list[PrefixBreak]:
    """Return the requests of one conversation that changed what an earlier one had sent.

    `requests` are all bodies of the conversation in the order in which they were sent, of
    Anthropic's messages, OpenAI's chat completions or responses, or Gemini. A client that only
    appends gets an empty list. Thinking that no earlier request had is taken for the answer to the
    request before, and thinking in the first request for valid. How long a thinking block stays
    usable is Anthropic's rule; for the other providers, all content is compared.
    """
    breaks = list[PrefixBreak]()
    bindings = dict[str, Binding]()
    earlier: CheckedRequest | None = None
    for number, body in enumerate(requests):
        parts = list(request_parts(body))
        _bind_answer(parts, earlier, bindings)
        checked = check_parts(parts, bindings)
        path = _changed_path(earlier, checked, bindings) if earlier else ""
        thinking = tuple(part.path for part in checked.unusable)
        if path or thinking:
            breaks.append(PrefixBreak(request=number, path=path, thinking=thinking))
        earlier = checked
    return breaks


def _parts(path: str, place: str, value: Any) -> Iterator[Part]:
    if isinstance(value, list):
        for index, member in enumerate(value):
            yield from _parts(f"{path}[{index}]", place, member)
    elif not isinstance(value, dict):
        if value is not None:
            yield Part(path=path, place=place, value=value)
    elif isinstance(value.get("text"), str) and not value.keys() - {"type", "text"}:
        yield Part(path=f"{path}.text", place=place, value=value["text"])
    elif value.get("type") in THINKING:
        yield Part(path=path, place=place, value=value)
    else:
        nested = [name for name in CONTENT if isinstance(value.get(name), str | list)]
        place = f"{place}/{value.get('role', value.get('type', ''))}"
        fields = {name: value[name] for name in value if name not in ("role", *nested)}
        if fields:
            yield Part(path=path, place=place, value=fields)
        for name in nested:
            yield from _parts(f"{path}.{name}", place, value[name])


def _bind_answer(
    parts: Sequence[Part], earlier: CheckedRequest | None, bindings: dict[str, Binding]
) -> None:
    """Bind thinking that no earlier request had to the request before, whose answer it is from."""
    content = list(earlier.content) if earlier else []
    usable = list(earlier.usable) if earlier else []
    start = len(content)
    here = list[Part]()
    for part in parts:
        if part.signature is None:
            here.append(part)
        elif part.signature not in bindings:
            new = here[start:]
            is_answer = all(each.place.startswith(ANSWER_PLACE) for each in new)
            answer = new if is_answer or earlier is None else []
            bindings[part.signature] = bind(part.value, content=content + answer, usable=usable)
            usable.append(part)


def _changed_path(
    earlier: CheckedRequest, now: CheckedRequest, bindings: Mapping[str, Binding]
) -> str:
    for index, before in enumerate(earlier.content):
        if index == len(now.content):
            return before.path
        after = now.content[index]
        if (before.place, before.value) != (after.place, after.value):
            return _difference(before.path, before.value, after.value)
    known = {part.signature for part in earlier.unusable}
    for part in now.unusable:
        if part.signature not in known:
            return _thinking_path(part, earlier, now, bindings)
    return ""


def _thinking_path(
    part: Part, earlier: CheckedRequest, now: CheckedRequest, bindings: Mapping[str, Binding]
) -> str:
    """Return the path of what made a thinking block unusable where no earlier content changed."""
    binding = bindings[str(part.signature)]
    if binding.block != part.value:
        return _difference(part.path, binding.block, part.value)
    content = [each for each in now.parts[: now.parts.index(part)] if each.signature is None]
    if len(content) > len(earlier.content):
        return content[len(earlier.content)].path
    here = {each.signature for each in now.parts}
    for before in earlier.usable:
        if before.signature == binding.previous and before.signature not in here:
            return before.path
    return part.path


def _difference(path: str, before: Any, after: Any) -> str:
    """Return the path of the first value in which two values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *after]:
            if before.get(name) != after.get(name):
                return _difference(f"{path}.{name}", before.get(name), after.get(name))
    if isinstance(before, list) and isinstance(after, list):
        for index, (left, right) in enumerate(zip(before, after, strict=False)):
            if left != right:
                return _difference(f"{path}[{index}]", left, right)
    return path


def _add(prefix: blake2b, part: Part) -> None:
    prefix.update(json.dumps([part.place, part.value], sort_keys=True).encode())
