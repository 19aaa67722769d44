"""A conversation with tools that never ends, the same bytes on every machine.

A user asks, the assistant calls tools in one to three rounds and answers. A message has about 50 to
120 tokens; a round has up to twelve parallel calls, each with its own result in JSON, and a few
results are large. `Said` is a message in nobody's shape: each program under test gets it in its
own.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks import material

SYSTEM = (
    "You build workflows out of nodes. Look before you change anything, and say what you found.\n"
    + "\n".join(text for _, text, _ in material.prose(3, words=60, seed=21))
)
TOOLS = ("read_node", "list_nodes", "run_node", "search_records", "fetch_page", "read_log")
# calls in a round: 1.9 on average, a turn of about 200 tokens
FAN_OUTS = (*[1] * 16, 2, 2, 3, 5, 12)
MANY_CALLS = (1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 8, 12)  # 3.1 on average, a turn of about 300 tokens
LARGE_EVERY = 400  # results; each of these has 2,000 to 6,000 tokens


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Said:
    """One message: of the user, of the assistant with its calls, or the result of one call."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    answers: str = ""

    @property
    def words(self) -> str:
        """All that a model reads of it, with a mark around it that says whose it is: the same
        for everyone."""
        said = "\n".join([self.text, *(f"{call.name} {call.arguments}" for call in self.calls)])
        return f'<turn role="{self.role}">\n{said}\n</turn>\n'


def conversation(
    count: int, turns: int, fan_outs: Sequence[int] = FAN_OUTS
) -> tuple[list[Said], list[list[Said]]]:
    """About `count` messages up to where the model is to speak, and what each of the next turns
    adds.

    A turn is all that comes between two calls of the model: what it said, and the results or the
    user's next question.
    """
    stream = _talk(fan_outs)
    before = list(islice(stream, count))
    following = list[list[Said]]()
    for said in stream:
        if said.role == "assistant":
            if len(following) == turns:
                return before, following
            following.append([])
        (following[-1] if following else before).append(said)
    raise AssertionError("the conversation never ends")


def _talk(fan_outs: Sequence[int]) -> Iterator[Said]:
    rng = random.Random(11)
    questions, remarks, answers = (
        _pool(words, seed) for words, seed in ((35, 31), (18, 32), (45, 33))
    )
    records, number = [text for _, text, _ in material.dense_json(400)], 0
    while True:
        yield Said("user", f"{number}: {rng.choice(questions)}")
        for _ in range(rng.randint(1, 3)):
            calls = [_call(rng, number + place) for place in range(rng.choice(fan_outs))]
            yield Said("assistant", f"{number}: {rng.choice(remarks)}", tuple(calls))
            for call in calls:
                number += 1
                yield Said("tool", _result(rng, number, records), answers=call.id)
        yield Said("assistant", f"{number}: {rng.choice(answers)}")


def _pool(words: int, seed: int) -> list[str]:
    return [text for _, text, _ in material.prose(300, words=words, seed=seed)]


def _call(rng: random.Random, number: int) -> Call:
    arguments = {
        "node": rng.randint(1, 400),
        "query": " ".join(rng.sample(material.WORDS, 5)),
        "limit": 20,
    }
    return Call(f"call_{number:07d}", rng.choice(TOOLS), json.dumps(arguments))


def _result(rng: random.Random, number: int, records: Sequence[str]) -> str:
    if number % LARGE_EVERY == 0:
        found = [json.loads(text) for text in rng.sample(records, rng.randint(10, 30))]
        return json.dumps({"number": number, "pages": found})
    return json.dumps(
        {
            "number": number,
            "found": json.loads(rng.choice(records))[: rng.randint(1, 3)],
            "more": False,
        }
    )


# --- what was sent --------------------------------------------------------------------------------


def broken_pairs(sent: Sequence[Said]) -> int:
    """Calls without a result, the last word aside, and results without a call in front of them."""
    called = {call.id for said in sent[:-1] for call in said.calls}
    known, orphans = set[str](), 0
    for said in sent:
        orphans += bool(said.answers) and said.answers not in known
        known |= {call.id for call in said.calls}
    return orphans + len(called - {said.answers for said in sent})


def starts_with_user(sent: Sequence[Said]) -> bool:
    """Whether the first message behind the system prompt is the user's, as providers want it."""
    return next((said.role == "user" for said in sent if said.role != "system"), False)


def reused(
    sent: Sequence[Said], before: Sequence[Said], count: Callable[[str], int], *, fresh: int
) -> tuple[int, int]:
    """Tokens that begin this call as they began the one before, and all; both without the
    `fresh` last messages."""
    stable = sent[: len(sent) - fresh]
    same = next(
        (at for at, (now, then) in enumerate(zip(stable, before, strict=False)) if now != then),
        None,
    )
    same = min(len(stable), len(before)) if same is None else same
    sizes = [count(said.words) for said in stable]
    return sum(sizes[:same]), sum(sizes)


def refused_calls(calls: Sequence[Sequence[Said]]) -> int:
    """How many calls have an answer of the assistant's in front of which something has changed
    since it was given: a provider that binds thinking to its prefix refuses those."""
    given = dict[Said, tuple[Said, ...]]()  # to each answer, what stood in front of it
    refused = 0
    before: Sequence[Said] = ()
    for sent in calls:
        is_refused = False
        for place, said in enumerate(sent):
            if said.role != "assistant":
                continue
            front = tuple(sent[:place])
            if said not in given and front[: len(before)] == tuple(before):
                given[said] = front
            elif said not in given:
                given[said] = ()  # to a call that began otherwise
            is_refused = is_refused or given[said] != front
        refused += is_refused
        before = sent
    return refused
