"""Every error Foreword raises, in one tree.

    ForewordError
      UsageError            what was asked for makes no sense as asked (exit 2)
        BadRequest            what a caller sent has not the right shape, with every problem
        UnknownName           no recipe, agent, skill, purpose, phase or tag of that name
        AmbiguousName         several files share that name, each by its path
        InputMissing          the recipe needs an input that was neither given nor found
        BadBudget             a budget or window that is not a positive whole number
        OutsideRoot           a path that leads out of the project root
        BadSource             a file that was named can't be read as what it should be
        RecipeError           a recipe that can't be read, with file, line and column
        BadPlan               a workflow plan that has not the shape of one, with every problem
        BadNode               a workflow node that has not the shape of one, with every problem
        BadCheckpoint         a checkpoint that can't be kept as it is, with every problem
        CyclicFlow            phases of a flow that wait for each other, in a circle
        KeyReused             something else was appended under that key before
      EssentialsTooLarge    what may never be cut does not fit the budget (exit 1)
      TierTooLarge          what is in every call is over its limit, under `strict` (exit 1)
      UnknownHandle         nothing is kept under that handle (exit 1)
      StoreError            the store can't be opened or written (exit 1)
      PlanConflict          somebody else has updated the plan in the meantime (exit 1)
      CheckpointDamaged     a checkpoint is there and can't be used, with the one before it (exit 1)
      ModelFailed           a model gave no answer (exit 1)
        AnswerInvalid         a model's answer does not fit the schema, when asked again either
      BrowserFailed         a browser can't be reached, or a page did not do as asked (exit 1)
        OriginRefused         an address outside the allowed ones, or of a refused scheme

Facts are attributes; the message says what happened, with the values; `hint` says what to do next.
How an error is shown (exit code, HTTP status) is the business of the faces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

# Options that are keyword arguments in Python; a value behind one has a digit or a slash in it, or
# is a word in capitals that stands for any.
_OPTION = (
    r"--(?P<name>root|source|task|budget|window|counter|recipe|strict|phase|workflow|kind|db|agent|skill"
    r"|purpose|reserve|system-prompt-tokens|tool-overhead|model|warn-at|compress-at|compress-to)\b"
    r"(?: (?:(?P<value>-(?= )|[\w./~:-]*[\d/][\w./~:-]*)|[A-Z]+\b))?"
)
_KEYWORDS = {"db": "url"}
MOST_NAMED = 12  # of sections or problems in a message, and twice as many names: one screen at most
MOST_PROBLEMS = 20  # of a request that are listed: enough to mend it, whatever was sent
MOST_COMPARED = 5_000  # names that a mistyped one may be meant for: comparing takes time for each
LONGEST_COMPARED = 200  # characters of a mistyped name: comparing takes their square
LEAST_LIKENESS = 0.6  # of two names, by difflib (its own default): below, a guess would be a riddle


class ForewordError(Exception):
    """The root of the tree: a message for a person, a `code` for a program, a `hint` for the
    next step."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.command_hint = hint  # as the command line says it, with its options
        self.hint = keyword_hint(hint)


def keyword_hint(hint: str) -> str:
    """A hint with the keyword arguments of Python in place of the command line's options; whole
    commands stay as they are."""
    if "--" not in hint:
        return hint
    pieces = hint.split("`")
    for place in range(0, len(pieces), 2):  # what stands between the commands
        pieces[place] = re.sub(_OPTION, _keyword, pieces[place])
    return "`".join(pieces)


def _keyword(option: re.Match[str]) -> str:
    name = _KEYWORDS.get(option["name"], option["name"].replace("-", "_"))
    return f"{name}={option['value'] or '...'}"


class UsageError(ForewordError):
    """What was asked for makes no sense as asked."""

    code = "usage"


class BadRequest(UsageError):
    """What a caller sent has not the shape of what is taken; `problems` has the first of them, each
    with its path."""

    code = "bad_request"

    def __init__(self, problems: Iterable[str], *, hint: str) -> None:
        every = list(problems)
        self.problems = tuple(every[:MOST_PROBLEMS])
        super().__init__(each_problem(every), hint=hint)


class UnknownName(UsageError):
    """There is no recipe, agent, skill, purpose, phase or tag of that name."""

    code = "unknown_name"

    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str],
        *,
        where: str = "",
        hint_if_none: str = "",
    ) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        message = f"unknown {kind} {name!r}"
        if where:
            message += f" {where}"
        guess = did_you_mean(name, self.known)
        if guess:
            message += f", did you mean {guess!r}?"
        hint = hint_if_none or f"there is no {kind} to choose from"
        if self.known:
            hint = f"known: {name_list(self.known)}"
        super().__init__(message, hint=hint)


class AmbiguousName(UsageError):
    """Several files are called so, and nothing says which of them is meant."""

    code = "ambiguous_name"

    def __init__(self, kind: str, name: str, paths: Iterable[str]) -> None:
        self.kind, self.name, self.paths = kind, name, tuple(paths)
        message = f"{len(self.paths):,} files of kind {kind} are called {name!r}"
        super().__init__(message, hint=f"say which by its path: {name_list(self.paths)}")


class InputMissing(UsageError):
    """The recipe needs an input that was neither given nor found."""

    code = "input_missing"

    def __init__(self, name: str, why: str, *, hint: str) -> None:
        self.name = name
        super().__init__(f"{name} is missing: {why}", hint=hint)


class BadBudget(UsageError):
    """A budget or window that is not a positive whole number of tokens."""

    code = "bad_budget"

    def __init__(
        self, value: object, what: str = "budget", *, problem: str = "", hint: str = ""
    ) -> None:
        self.value, self.what = value, what
        super().__init__(
            problem or f"{what} must be a positive whole number of tokens, not {value!r}",
            hint=hint or f"for example --{what} 12000",
        )


class OutsideRoot(UsageError):
    """A path that leads out of the project root, directly or through a symbolic link."""

    code = "outside_root"

    def __init__(self, path: str, root: str) -> None:
        self.path, self.root = path, root
        super().__init__(
            f"{path} leads outside the root {root}",
            hint="name a file inside the root, or change --root",
        )


class BadSource(UsageError):
    """A file that was named can't be read as what it should be."""

    code = "bad_source"

    def __init__(
        self, path: str, problem: str, *, line: int = 0, column: int = 0, hint: str = ""
    ) -> None:
        self.path, self.problem, self.line, self.column = path, problem, line, column
        super().__init__(f"{at(path, line, column)}: {problem}", hint=hint)


class RecipeError(UsageError):
    """A recipe that can't be read, with file, line and column."""

    code = "bad_recipe"

    def __init__(
        self, path: str, problem: str, *, line: int = 0, column: int = 0, hint: str = ""
    ) -> None:
        self.path, self.problem, self.line, self.column = path, problem, line, column
        super().__init__(
            f"{at(path, line, column)}: {problem}",
            hint=hint or "`foreword recipe schema` lists every field",
        )


class BadPlan(UsageError):
    """A workflow plan that has not the shape of one; `problems` has every one of them, with its
    path."""

    code = "bad_plan"

    def __init__(self, problems: Iterable[str], where: str = "plan") -> None:
        self.problems, self.where = tuple(problems), where
        super().__init__(
            f"{where}: {each_problem(self.problems)}",
            hint=(
                "a plan is {overall_goal, phases: [{phase_name, status, tasks: [{task_id,"
                " description, status}]}]}"
            ),
        )


class BadNode(UsageError):
    """A workflow node that has not the shape of one; `problems` has every one of them, with its
    path."""

    code = "bad_node"

    def __init__(self, problems: Iterable[str], where: str = "node") -> None:
        self.problems, self.where = tuple(problems), where
        super().__init__(
            f"{where}: {each_problem(self.problems)}",
            hint="a node is {id, position, type, config: {...}, description}",
        )


class BadCheckpoint(UsageError):
    """A checkpoint that can't be kept as it is; `problems` has every one of them, with its path."""

    code = "bad_checkpoint"

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            f"checkpoint: {each_problem(self.problems)}",
            hint="`foreword checkpoint schema` has its shape",
        )


class CyclicFlow(UsageError):
    """Phases of a flow that wait for each other; `cycle` names them, the first one again at its
    end."""

    code = "cyclic_flow"

    def __init__(self, flow: str, cycle: Sequence[str]) -> None:
        self.flow, self.cycle = flow, tuple(cycle)
        super().__init__(
            f"the phases of flow {flow!r} wait for each other: {' -> '.join(self.cycle)}",
            hint="let one of them wait for an earlier phase instead",
        )


class KeyReused(UsageError):
    """Something else was appended under that key before; `seq` is its number."""

    code = "key_reused"

    def __init__(self, key: str, *, seq: int) -> None:
        self.key, self.seq = key, seq
        super().__init__(
            f"the key {key!r} was used for other messages before (up to number {seq})",
            hint="take a new key for each message, and the same one only to send it again",
        )


class EssentialsTooLarge(ForewordError):
    """The sections that may never be cut do not fit the budget on their own; `pins` are the tokens
    of pinned messages by their number, where they are what does not fit."""

    code = "essentials_too_large"

    def __init__(
        self,
        *,
        needed: int,
        budget: int,
        sections: Mapping[str, int],
        pins: Mapping[int, int] | None = None,
    ) -> None:
        self.needed, self.budget, self.sections = needed, budget, dict(sections)
        self.pins = dict(pins or {})
        message = f"essential sections need {needed:,} tokens, the budget is {budget:,}"
        hint_of_budget = f"raise the budget to at least {needed:,}"
        hint = hint_of_budget
        largest = sorted(sections, key=lambda name: -sections[name])[:MOST_NAMED]
        if largest:
            sizes = [f"{name} {size:,}" for name, size in sections.items() if name in largest]
            smaller = len(sections) - len(largest)
            more = f" and {smaller} smaller" if smaller else ""
            message += f" ({', '.join(sizes)}{more})"
            hint = f"the largest is {largest[0]!r}: shorten it, or {hint}"
        if self.pins:
            heaviest = sorted(self.pins, key=lambda seq: -self.pins[seq])
            named = [f"{seq} ({self.pins[seq]:,})" for seq in heaviest[:MOST_NAMED]]
            others = len(heaviest) - len(named)
            more = f" and {others} more" if others else ""
            message += f"; pinned messages stay in every call: {', '.join(named)}{more}"
            hint = f"take a pin back, session.unpin({heaviest[0]}), or {hint_of_budget}"
        super().__init__(message, hint=hint)


class TierTooLarge(ForewordError):
    """A tier that is never cut is over its limit, and the caller is strict about it."""

    code = "tier_too_large"

    def __init__(self, *, tier: int, needed: int, limit: int, largest: str, tokens: int) -> None:
        self.tier, self.needed, self.limit, self.largest = tier, needed, limit, largest
        super().__init__(
            f"tier {tier} needs {needed:,} tokens, its limit is {limit:,}: the largest is {largest}"
            f" ({tokens:,})",
            hint=f"shorten {largest}, raise the limit in the recipe, or leave --strict away",
        )


class UnknownHandle(ForewordError):
    """Nothing is kept under that handle, or more than one thing is."""

    code = "unknown_handle"

    def __init__(self, handle: str, where: str, *, matches: int = 0) -> None:
        self.handle, self.where, self.matches = handle, where, matches
        problem = "no original is kept under"
        hint = "run it with the --root the context was assembled from"
        if matches:
            problem = f"{matches} originals begin with"
            hint = "give more of the handle"
        super().__init__(f"{problem} {handle!r} in {where}", hint=hint)


class StoreError(ForewordError):
    """The store can't be opened, read or written."""

    code = "store"


class PlanConflict(ForewordError):
    """The plan is not at the version the caller expected; `newest` is what it is now."""

    code = "plan_conflict"

    def __init__(self, expected: int, version: int, newest: Mapping[str, object] | None) -> None:
        self.expected, self.version, self.newest = expected, version, newest
        super().__init__(
            f"the plan is at version {version}, not {expected}: somebody has updated it in the"
            " meantime",
            hint=(
                f"look at version {version}, put your change on top of it, and expect version"
                f" {version}"
            ),
        )


class CheckpointDamaged(ForewordError):
    """A checkpoint is there and can't be used; `before` is the phase of the nearest one that
    can."""

    code = "checkpoint_damaged"

    def __init__(self, name: str, reason: str, *, task: str, before: str | None) -> None:
        from shlex import join

        self.name, self.reason, self.task, self.before = name, reason, task, before
        hint = "no other checkpoint of this task can be used; restore one from a copy"
        if before is not None:
            command = join(["foreword", "checkpoint", "resume", task, "--phase", before])
            hint = f"the nearest that can be used is of phase {before}: `{command}`"
        super().__init__(f"checkpoint {name} can't be used: {reason}", hint=hint)


class ModelFailed(ForewordError):
    """A model gave no answer, or none in time."""

    code = "model_failed"


class AnswerInvalid(ModelFailed):
    """A model's answer does not fit the schema, and did not when it was asked again; `problem` is
    what is wrong with it, `words` is the answer."""

    code = "answer_invalid"

    def __init__(self, problem: str, words: str) -> None:
        self.problem, self.words = problem, words
        super().__init__(f"the model's answer does not fit the schema: {problem}")


class BrowserFailed(ForewordError):
    """A browser can't be reached, or a page did not do what was asked of it; `state` says how
    things stand there."""

    code = "browser_failed"

    def __init__(
        self, message: str, *, hint: str = "", state: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.state = dict(state or {})
        # Whether what was asked for may have had its effect all the same: it is not to be repeated
        # before somebody has looked.
        self.may_have_happened = False


class OriginRefused(BrowserFailed):
    """An address outside the allowed ones, or of a scheme that is never opened."""

    code = "origin_refused"


def name_list(names: Sequence[str]) -> str:
    """Names with commas between them, the first few of many."""
    most = 2 * MOST_NAMED
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def each_problem(problems: Sequence[str]) -> str:
    """One problem on its line, or how many there are and the first few below."""
    if len(problems) == 1:
        return problems[0]
    lines = [f"{len(problems)} problems", *problems[:MOST_NAMED]]
    if len(problems) > MOST_NAMED:
        lines.append(f"and {len(problems) - MOST_NAMED} more")
    return "\n  ".join(lines)


def at(path: str, line: int = 0, column: int = 0) -> str:
    """`path:line:column` as far as it is known."""
    return ":".join([path, *[str(number) for number in (line, column) if number]])


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The known name nearest to a mistyped one, or nothing."""
    from difflib import get_close_matches

    lowered = {candidate.lower(): candidate for candidate in islice(known, MOST_COMPARED)}
    near = get_close_matches(name[:LONGEST_COMPARED].lower(), lowered, n=1, cutoff=LEAST_LIKENESS)
    return lowered[near[0]] if near else ""
