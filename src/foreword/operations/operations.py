"""What agents are given, as plain functions from JSON to JSON: HTTP, MCP and Python answer through
these.

Each takes what it works on (a workflow's state, a session, or a store with its root) and what the
caller said; the caller's word never decides which root or store that is, and a path in it stays
inside the root. Nothing here logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foreword.context import assemble, explain
from foreword.context.lookup import lookup as look
from foreword.errors import BadSource, OutsideRoot, UsageError
from foreword.operations import fitted_values
from foreword.operations.fitted_values import ANSWER_TOKENS, Answer
from foreword.plan import plan as planning
from foreword.plan.variables import display
from foreword.recipe.budget import whole_number
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState
from foreword.sources.library import RECIPE
from foreword.sources.project_root import project_root
from foreword.store.database import Database
from foreword.work import checkpoints
from foreword.work.checkpoint import KNOWN, Checkpoint, as_data, as_text

FORMS = ("text", "anthropic", "openai")  # of a session's context
# they make the workflow where there is none
MAKING = frozenset({"update_plan", "set_variable", "append_message"})
REQUEST = frozenset(  # of what `assemble` takes, all that a caller far away may say
    "agent skill purpose phase workflow task source budget window model counter strict".split()
)
NAMES = frozenset({"agent", "skill", "purpose", "workflow", "model", "counter"})
LONGEST_PATH = 4_096  # characters: no file system takes more
STANDARD_INPUT = "standard input"
# fields of a checkpoint that are set where it is written, and by its own arguments
_NOT_IN_DATA = ("format", "git", "written_at", "sequence", "previous", "task", "phase")

# --- the plan -------------------------------------------------------------------------------------


def update_plan(
    state: WorkflowState, plan: object, reason: str, expected_version: int | None = None
) -> Answer:
    """Replace the plan by a new version; what is odd about it and still allowed is told."""
    stored = state.update_plan(plan, reason, expected_version)
    warnings = list(planning.warnings(stored.data))
    return fitted_values.encodable_answer({"version": stored.version, "warnings": warnings})


def get_current_plan(state: WorkflowState, budget: int | str | None = ANSWER_TOKENS) -> Answer:
    """The plan as it is now under `plan`, which is null where there is none; one that is too
    large is fitted."""
    plan = state.get_current_plan()
    version = int(plan["plan_version"]) if plan else 0
    answer = fitted_values.fit_value(state.db, "plan", plan, whole_number(budget, "budget"))
    if "value" in answer:
        return {"version": version, "plan": answer["value"]}
    return {"version": version, **answer}


# --- variables ------------------------------------------------------------------------------------


def get_workflow_variable(
    state: WorkflowState,
    name: str | None = None,
    node: str | int | None = None,
    budget: int | str | None = ANSWER_TOKENS,
) -> Answer:
    """The whole `value` of one variable, of a node's, or of "all"; one that is too large is
    fitted."""
    if name is not None:
        _check_text(name, "name")
    value = state.get_workflow_variable(name, node=node)
    shown_name = name or f"node {node}"
    return fitted_values.fit_value(state.db, shown_name, value, whole_number(budget, "budget"))


def set_variable(state: WorkflowState, name: str, value: object, reason: str) -> Answer:
    """Set a variable; `shown` is how calls show it from now on."""
    state.set_variable(name, value, reason)
    return fitted_values.encodable_answer({"name": name, "shown": display(name, value)})


def clear_variable(state: WorkflowState, name: str, reason: str) -> Answer:
    """Remove a variable."""
    state.clear_variable(_check_text(name, "name"), reason)
    return fitted_values.encodable_answer({"cleared": [name]})


def clear_all_variables(state: WorkflowState, reason: str) -> Answer:
    """Remove every variable."""
    return fitted_values.encodable_answer({"cleared": state.clear_all_variables(reason)})


# --- contexts -------------------------------------------------------------------------------------


def assemble_context(db: Database, root: str | Path, recipe: str, **request: Any) -> Answer:
    """A context by a recipe, with the largest of its omissions; the whole bill is under the number
    of its `report`.

    `request` is `assemble`'s: agent, skill, purpose, phase, workflow, task, source, budget, window,
    model, counter, strict. `source` may be the data itself.
    """
    folder = project_root(root)
    with _source_in_errors(request):
        package = assemble.assemble(
            recipe_inside(folder, recipe), root=folder, **_confine(folder, request), save=False
        )
    return fitted_values.save_and_answer(db, package)


def why(root: str | Path, recipe: str, about: str, **request: Any) -> Answer:
    """Whether something is in that context, in which form, and why; `met` is false where there
    is no context."""
    folder = project_root(root)
    with _source_in_errors(request):
        answer = explain.why(
            recipe_inside(folder, recipe),
            _check_text(about, "about"),
            root=folder,
            **_confine(folder, request),
        )
    return fitted_values.encodable_answer({"text": answer.text, "met": answer.met})


def recall(
    db: Database, handle: str, offset: object = 0, budget: int | str | None = ANSWER_TOKENS
) -> Answer:
    """The original of something that was cut, page by page; only what this store has kept."""
    if not isinstance(offset, int) or isinstance(offset, bool):
        raise UsageError(
            f"an offset must be a whole number, not {offset!r}"[:200], hint="begin at 0"
        )
    return fitted_values.original_page(
        db, _check_text(handle, "handle"), offset, whole_number(budget, "budget")
    )


def lookup(
    db: Database,
    root: str | Path,
    wanted: str,
    kind: str = "",
    budget: int | str | None = None,
    counter: str | None = None,
    recipe: str = RECIPE,
) -> Answer:
    """A document of the project by its name, or the few that have most to do with a question."""
    folder = project_root(root)
    package = look(
        _check_text(wanted, "wanted"),
        root=folder,
        kind=_check_text(kind, "kind"),
        budget=budget,
        counter=counter,
        recipe=recipe_inside(folder, recipe),
        save=False,
    )
    return fitted_values.save_and_answer(db, package)


# --- conversations --------------------------------------------------------------------------------


def append_message(
    session: Session,
    message: object,
    kind: str | None = None,
    pinned: bool = False,
    key: str | None = None,
) -> Answer:
    """Add a message to the conversation; where that compressed the history, `warnings` tell.

    Under a `key` it is added once: who sends it again gets the first answer.
    """
    appended = session.append(message, kind=kind, pinned=pinned, key=key)  # type: ignore[arg-type]
    answer = {
        "seq": appended.seq,
        "tokens": appended.tokens,
        "size_tokens": appended.size_tokens,
        "compressed": appended.compressed,
        "warnings": list(appended.warnings),
    }
    return fitted_values.encodable_answer(answer)


def session_context(
    session: Session, budget: int | str | None = None, save: bool = True, form: str = "text"
) -> Answer:
    """The next call of the conversation: its `text`, or the `messages` of a provider's shape."""
    if form not in FORMS:
        raise UsageError(f"unknown form {form!r}"[:200], hint=f"one of {', '.join(FORMS)}")
    package = session.context(budget=budget, save=save)
    answer = fitted_values.package_answer(package)
    if form == "text":
        return answer
    messages = package.to_anthropic() if form == "anthropic" else package.to_openai()
    del answer["text"]
    return answer | fitted_values.encodable_answer({"messages": messages})


# --- checkpoints ----------------------------------------------------------------------------------


def list_checkpoints(db: Database | None, root: str | Path, task: str | None = None) -> Answer:
    """The checkpoints of a task or of all, the newest of each task last; one that can't be used
    says why."""
    listed = []
    warnings: list[str] = []
    for entry in checkpoints.checkpoint_entries(root, db, task):
        about = {
            "task": entry.task,
            "phase": entry.phase,
            "number": entry.sequence,
            "problem": entry.problem,
            "written_at": entry.checkpoint.written_at if entry.checkpoint else "",
        }
        listed.append(about)
        warnings += entry.notes
    return fitted_values.encodable_answer({"checkpoints": listed, "warnings": warnings})


def show_checkpoint(
    db: Database | None, root: str | Path, task: str, phase: str | None = None
) -> Answer:
    """A checkpoint as it was written."""
    checkpoint = _read_checkpoint(db, root, task, phase).checkpoint
    answer = {"text": as_text(checkpoint), "checkpoint": as_data(checkpoint)}
    return fitted_values.encodable_answer(answer)


def resume_checkpoint(
    db: Database | None, root: str | Path, task: str, phase: str | None = None
) -> Answer:
    """What a model needs to go on with a task; `warnings` say what has changed since."""
    restored = _read_checkpoint(db, root, task, phase)
    answer = {
        "text": as_text(restored.checkpoint, restored.changes),
        "checkpoint": as_data(restored.checkpoint),
        "warnings": list(restored.changes),
        "source": restored.source,
    }
    return fitted_values.encodable_answer(answer)


def write_checkpoint(
    db: Database | None, root: str | Path, task: str, phase: str, data: object = None
) -> Answer:
    """Keep where a task stands: objective, state, decisions, findings, artifacts, done, pending,
    and other fields."""
    fields = {} if data is None else data
    if not isinstance(fields, Mapping):
        raise UsageError(f"a checkpoint's data must be a mapping, not {type(fields).__name__}")
    taken = [name for name in KNOWN if name not in _NOT_IN_DATA]
    known = {name: fields[name] for name in taken if name in fields}
    extra = {name: value for name, value in fields.items() if name not in KNOWN}
    task = _check_text(task, "task")
    phase = _check_text(phase, "phase")
    _check_lists(known)
    checkpoint = Checkpoint(task=task, phase=phase, **known, extra=extra)
    path = checkpoints.write(root, db, checkpoint)
    return {"written": path.relative_to(project_root(root)).as_posix()}


def _read_checkpoint(
    db: Database | None, root: str | Path, task: str, phase: str | None
) -> checkpoints.RestoredCheckpoint:
    """The checkpoint of a phase, or the newest of the task."""
    _check_text(task, "task")
    if phase is None:
        return checkpoints.newest(root, db, task)
    return checkpoints.read(root, db, task, str(phase))


def _check_lists(fields: Mapping[str, Any]) -> None:
    for name in ("decisions", "findings", "done", "pending"):
        if not isinstance(fields.get(name, []), list | tuple):
            raise UsageError(
                f"{name} must be a list", hint="`foreword checkpoint schema` has its shape"
            )


# --- what the caller has sent ---------------------------------------------------------------------


def _check_text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{what} must be text, not {type(value).__name__}")
    return value


def _confine(root: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with its paths inside the root; commands are never a caller's to allow."""
    confined = {name: value for name, value in request.items() if value is not None}
    for name in confined.keys() & NAMES:
        _check_text(confined[name], name)
    if isinstance(confined.get("task"), str | Path):
        confined["task"] = inside(root, confined["task"]).relative_to(root).as_posix()
    if isinstance(confined.get("source"), str | Path):
        source = inside(root, confined["source"])
        if source.is_fifo():  # the user may name a pipe; a caller must not make us wait
            raise BadSource(str(source), "a pipe, not a file or a folder")
        confined["source"] = source
    unknown = sorted(confined.keys() - REQUEST)
    if unknown:
        raise UsageError(
            f"unknown: {', '.join(unknown)}"[:200], hint=f"known: {', '.join(sorted(REQUEST))}"
        )
    return confined


@contextmanager
def _source_in_errors(request: Mapping[str, Any]) -> Iterator[None]:
    """Material that came with the request is called `source` in errors, not standard input."""
    try:
        yield
    except BadSource as bad:
        if bad.path != STANDARD_INPUT or isinstance(request.get("source"), str):
            raise
        raise BadSource(
            "source", bad.problem, line=bad.line, column=bad.column, hint=bad.hint
        ) from None


def recipe_inside(root: Path, recipe: str) -> str:
    """A recipe by its name, or by a path inside the root: who sends a request is not the user."""
    name = _check_text(recipe, "recipe")
    return str(inside(root, name)) if name.endswith((".yaml", ".yml")) else name


def inside(root: Path, path: str | Path) -> Path:
    """Where a path that a caller named leads, seen from the root; an error where that is outside
    of it."""
    if len(str(path)) > LONGEST_PATH:
        raise UsageError(
            f"a path of {len(str(path)):,} characters is too long", hint=f"at most {LONGEST_PATH:,}"
        )
    try:
        real = (root / path).resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL, a loop of links
        raise OutsideRoot(str(path)[:200], str(root)) from None
    if not real.is_relative_to(root):
        raise OutsideRoot(str(path)[:200], str(root))
    return real
