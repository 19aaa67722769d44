"""Other programs that fit a prompt into a budget, each behind the same small function.

A fitter takes sections (name, text, priority; higher is kept longer), a budget and a token counter,
and returns what it would send: one text, or a list of messages. Every peer is set up the way its
own documentation shows, in the mode that fills the budget best, and counts with the counter given
here; where that takes more than an argument, a comment says how. Peers are imported inside their
adapters: they live in the environment of `make bench` only.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.material import Section

Count = Callable[[str], int]
Sent = str | list[str]
Fit = Callable[[list[Section], int, Count], Sent]

JOINER = "\n\n"


def greedy(sections: list[Section], budget: int, count: Count) -> str:
    """The yardstick: tokenise every section once, take what still fits, the highest priority
    first."""
    costs = [count(text) for _, text, _ in sections]
    joiner = count(JOINER)
    room, kept = budget, []
    for index in sorted(range(len(sections)), key=lambda i: -sections[i][2]):
        if costs[index] + joiner <= room:
            room -= costs[index] + joiner
            kept.append(index)
    return JOINER.join(sections[index][1] for index in sorted(kept))


def contextkit_truncate(sections: list[Section], budget: int, count: Count) -> list[str]:
    """cendor-contextkit, truncating: the block that overflows is cut to the room left, the next
    ones dropped."""
    return _contextkit(sections, budget, count, evict="truncate")


def contextkit_drop(sections: list[Section], budget: int, count: Count) -> list[str]:
    """cendor-contextkit as it comes: a block that overflows is dropped whole, the next one
    tried."""
    return _contextkit(sections, budget, count, evict="drop_oldest")


def _contextkit(sections: list[Section], budget: int, count: Count, *, evict: str) -> list[str]:
    from cendor.contextkit import Block, Context
    from cendor.core import tokens

    def counter(content: str | list[dict[str, str]], model: str) -> int:
        if isinstance(content, str):
            return count(content)
        # The framing cendor.core charges with its own tokenizers: 3 for the conversation, 4 for
        # each message.
        return 3 + sum(4 + count(message["content"]) for message in content)

    tokens.register("openai", counter)
    context = Context(budget_tokens=budget, model="gpt-4o")
    for _, text, priority in sections:
        context.add(Block(text, priority=priority, evict=evict))
    return [message["content"] for message in context.assemble()]


def priompt(sections: list[Section], budget: int, count: Count) -> str:
    """priompt (the Python port): every scope at or above one priority level, found by binary
    search."""
    from priompt import O200KTokenizer, Scope, render

    class Counter(O200KTokenizer):  # type: ignore[misc]
        """Its own tokenizer class with the counting replaced; the estimate for early exits stays
        its own."""

        @classmethod
        def num_tokens(cls, text: str) -> int:
            return count(text)

    # The empty text outside every scope: without it, a prompt in which no scope fits ends in a
    # TypeError.
    elements = ["", *(Scope(text + JOINER, p=priority) for _, text, priority in sections)]
    return _text(render(elements, {"token_limit": budget, "tokenizer": Counter})["prompt"])


def prompt_poet(sections: list[Section], budget: int, count: Count) -> list[str]:
    """prompt-poet: a template of parts, whole parts removed by truncation priority until the
    rest fits."""
    from prompt_poet import Prompt

    template = (
        "{% for part in parts %}\n"
        "- name: {{ part.name }}\n"
        "  role: user\n"
        "  truncation_priority: {{ part.cut }}\n"
        "  content: {{ part.text | tojson }}\n"
        "{% endfor %}"
    )
    highest = max(priority for _, _, priority in sections)
    parts = [
        {"name": name, "text": text, "cut": highest - priority + 1}
        for name, text, priority in sections
    ]
    prompt = Prompt(
        template_data={"parts": parts},
        raw_template=template,
        token_limit=budget,
        truncation_step=1,
        # It wants token ids and only ever takes their number.
        encode_func=lambda text: [0] * count(text),
    )
    prompt.tokenize()
    prompt.truncate()
    return [message["content"] for message in prompt.messages]


def promptbudget(sections: list[Section], budget: int, count: Count) -> str:
    """promptbudget: tokens handed out in order of priority; the section that overflows is
    truncated."""
    from promptbudget import Section as BudgetSection
    from promptbudget import pack

    packed = pack(
        [BudgetSection(name, text, priority=priority) for name, text, priority in sections],
        budget=budget,
        tokenizer=count,
        joiner=JOINER,
    )
    return _text(packed.text)


def trim_messages(sections: list[Section], budget: int, count: Count) -> list[str]:
    """langchain-core: it knows order, not priority, so it gets the sections best first and keeps
    the first ones."""
    from langchain_core.messages import BaseMessage, HumanMessage
    from langchain_core.messages import trim_messages as trim

    def counter(messages: list[BaseMessage]) -> int:
        return sum(count(message.content) for message in messages)

    best_first = sorted(sections, key=lambda section: -section[2])
    messages = [HumanMessage(text) for _, text, _ in best_first]
    kept = trim(
        messages, max_tokens=budget, token_counter=counter, strategy="first", allow_partial=True
    )
    return [_text(message.content) for message in kept]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


PEERS: dict[str, Fit] = {
    "contextkit (truncate)": contextkit_truncate,
    "contextkit (drop)": contextkit_drop,
    "priompt": priompt,
    "prompt-poet": prompt_poet,
    "promptbudget": promptbudget,
    "trim_messages": trim_messages,
}
