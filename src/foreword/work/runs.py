"""Runs that survive a crash: starting them, waiting for them, and handing over what a dead process
held.

A *run* is a function from JSON to JSON that was registered by `workflow`; dbos remembers every
`step` of it, and what it has finished is not done again. How dbos is set up is the business of
`dbos_setup`; what runs ask of models, that of `question_queue`; which processes are alive, that of
`heartbeat`; how far a run is, that of `run_status`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from foreword.errors import StoreError, UsageError
from foreword.secrets.masking import mask
from foreword.store.database import storable_text
from foreword.store.urls import open_database, open_to_keep, place_of
from foreword.work import dbos_setup
from foreword.work.run_status import ACTIVE, RunStatus, agent_statuses, outcome, statuses
from foreword.work.shared_store import SharedStore, ShuttingDown

AGENTS = "foreword-agents"
RUNS = "foreword-runs"
# where runs are defined
RUN_MODULES = ("foreword.work.question_queue", "foreword.work.graph", "foreword.work.panel_runs")
# Questions that one process asks at the same time, each in a thread that mostly waits for a model.
# docs/scaling.md has what was measured with 12 and with 64; `foreword worker` can change it.
AT_ONCE = 64
# Flows and panels of one process: each is a thread that waits for its questions.
RUNS_AT_ONCE = 32
# Between two looks at a run in which nothing happens. Pauses begin at a tick and grow to this, so
# a run of minutes costs one query a second, and its end is noticed at most so late.
LONGEST_POLL_SECONDS = 1.0
_POLL_GROWTH = 1.2  # each pause is so much longer than the one before: a second after 13 looks
# For questions that were taken for others to be answered when a process ends; then they are left to
# whoever comes next. An ordinary answer takes less, and nobody waits longer for ctrl-C.
FINISH_SECONDS = 30
# For the database to take note of the end of a run; beyond it the write is lost, on a full disk.
RECORD_SECONDS = 5.0
_ERROR_CHARS = 300  # of a foreign error in ours: its first line may hold a whole SQL statement

Run = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """When a run came to its end in this process, by its clock, and what broke it off, if
    anything did."""

    at: float
    error: BaseException | None = None


@dataclass(slots=True, kw_only=True)
class Engine:
    """A dbos that was launched, until the `with` block ends."""

    db: str | None
    root: Path
    executor: str
    queues: tuple[str, ...]
    # set where something is waited for: the heartbeat looks at once whether its process is alive
    wake_heart: Event
    # what is at work there uses in turn: the store of this database, and that of the root's reports
    store: SharedStore
    reports: SharedStore
    # whether it takes over any run of its queues, or only those it has started or waits for
    take_over_all: bool = False
    # runs that it has started or waits for
    own_runs: set[str] = field(default_factory=set)
    # what some of them were started with, as a value: here nobody need read its JSON
    started_with: dict[str, object] = field(default_factory=dict)
    stopping: Event = field(default_factory=Event)
    # one for each call to a model that is under way: setting it ends the call
    cancel_events: set[Event] = field(default_factory=set)
    # the ends of its own runs that this process has gone through itself
    run_ends: dict[str, RunEnd] = field(default_factory=dict)

    def start(
        self,
        kind: str,
        run: str,
        payload: Mapping[str, Any],
        *,
        queue: str = RUNS,
        value: object = None,
    ) -> None:
        """Start a run in this process; should it die, whoever takes from that queue goes on with
        it. `value` is what its payload says, for the run to have here without reading it."""
        from dbos import DBOS, SetWorkflowAttributes, SetWorkflowID

        self.own_runs.add(run)
        self.started_with[run] = value
        with SetWorkflowID(run), SetWorkflowAttributes({"queue": queue}):
            DBOS.start_workflow(registered_runs()[kind], dict(payload))

    def submit(self, kind: str, run: str, payload: Mapping[str, Any], *, queue: str = RUNS) -> None:
        """Leave a run to whichever process takes it from the queue first."""
        from dbos import DBOS, SetWorkflowID

        with SetWorkflowID(run):
            DBOS.enqueue_workflow(queue, registered_runs()[kind], dict(payload))

    def result(
        self, run: str, watch: Callable[[list[RunStatus]], None] | None = None
    ) -> dict[str, Any]:
        """Wait for a run and return what it returned."""
        self.wait_for(run, watch)
        return outcome(run)

    def wait_for(self, run: str, watch: Callable[[list[RunStatus]], None] | None = None) -> None:
        """Wait until a run is over; `watch` is called with how far its agents are whenever
        something changes."""
        self.own_runs.add(run)
        self.wake_heart.set()
        pause = dbos_setup.TICK_SECONDS
        before = None
        over = False
        while not over:
            over = statuses([run]).get(run) not in ACTIVE
            if not over and self.unrecorded_runs([run]):
                raise _broken_off_error(run, self.run_ends[run].error)
            if watch is not None:
                agents = agent_statuses(run)
                if agents != before:
                    watch(agents)
                    before = agents
                    pause = dbos_setup.TICK_SECONDS
            self.stopping.wait(0 if over else pause)
            pause = longer_pause(pause)

    def runs_held_by(self, executors: Sequence[str]) -> dict[str, list[str]]:
        """The unfinished runs of those processes that this one takes over, by queue."""
        from dbos import DBOS

        if not executors or not (self.take_over_all or self.own_runs):
            return {}
        rows = DBOS.list_workflows(
            executor_id=list(executors),
            status="PENDING",
            workflow_id_prefix=None if self.take_over_all else sorted(self.own_runs),
            load_input=False,
            load_output=False,
        )
        runs: dict[str, list[str]] = {}
        for row in rows:
            queue = row.queue_name or (row.attributes or {}).get("queue", RUNS)
            if queue in self.queues and (self.take_over_all or self.is_own(row.workflow_id)):
                runs.setdefault(queue, []).append(row.workflow_id)
        return runs

    def unrecorded_runs(self, runs: Collection[str]) -> list[str]:
        """Those that have ended in this process a while ago, which the database could not take:
        a disk may be full."""
        from dbos import DBOS

        long_ago = monotonic() - RECORD_SECONDS
        ended = []
        for run in runs:
            end = self.run_ends.get(run)
            if end is not None and end.at < long_ago:
                ended.append(run)
        if not ended:
            return []
        held = DBOS.list_workflows(
            workflow_ids=ended,
            executor_id=self.executor,
            status="PENDING",
            load_input=False,
            load_output=False,
        )
        return [row.workflow_id for row in held]

    def run_again(self, runs: Sequence[str], queue: str) -> None:
        """Have runs done again of which the database knows no end; an error where it takes
        nothing still."""
        from dbos import DBOS

        if runs:
            DBOS.resume_workflows(list(runs), queue_name=queue)
        for run in runs:
            self.run_ends.pop(run, None)

    def unknown_executors(self, known: Collection[str]) -> list[str]:
        """Processes that hold what this one waits for and that nobody has heard of: their rows
        are long gone."""
        from dbos import DBOS

        if not self.own_runs:
            return []
        rows = DBOS.list_workflows(
            status="PENDING",
            workflow_id_prefix=sorted(self.own_runs),
            load_input=False,
            load_output=False,
        )
        executors = set[str]()
        for row in rows:
            if row.executor_id and self.is_own(row.workflow_id):
                executors.add(str(row.executor_id))
        return sorted(executors.difference(known, (self.executor,)))

    def is_own(self, run: str) -> bool:
        """Whether a run is one that this process has started or waits for, or an agent of one."""
        return any(run == mine or run.startswith(f"{mine}/") for mine in self.own_runs)

    def requeue(self, executors: Sequence[str]) -> list[str]:
        """Put what those processes held back into its queues; returns the runs. The caller holds
        the lock."""
        from dbos import DBOS

        requeued: list[str] = []
        for queue, runs in self.runs_held_by(executors).items():
            DBOS.resume_workflows(runs, queue_name=queue)
            requeued += runs
        return requeued


_functions: dict[str, Run] = {}  # by kind
_registered: dict[str, Any] = {}  # the same, as dbos has wrapped them
_engine: Engine | None = None
_rounds: ContextVar[Iterator[int]] = ContextVar("rounds")


def longer_pause(seconds: float) -> float:
    """The pause after one in which nothing has happened."""
    return min(seconds * _POLL_GROWTH, LONGEST_POLL_SECONDS)


def workflow(kind: str) -> Callable[[Run], Run]:
    """Collect a function from JSON to JSON as a kind of run."""

    def collect(run: Run) -> Run:
        _functions[kind] = run
        return run

    return collect


def root_queue(root: Path) -> str:
    """The queue of what needs the files of a root."""
    return f"foreword-root-{hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:12]}"


@contextmanager
def launch_engine(
    db: str | None,
    root: Path,
    executor: str,
    *,
    queues: Sequence[str],
    concurrency: int | None = None,
    take_over_all: bool = False,
    wake_heart: Event | None = None,
) -> Iterator[Engine]:
    """Run dbos for the length of a `with` block, for one database, taking work from those
    queues."""
    global _engine
    driver = dbos_setup.driver()
    if _engine is not None:
        raise UsageError(
            "flows are running in this process already",
            hint="one at a time: wait for the other to end",
        )
    with ExitStack() as undo:
        undo.enter_context(dbos_setup.quiet())
        registered_runs()
        settings = dbos_setup.settings(db, root, executor)
        # before the launch: a queue that is made later is found a second later
        with dbos_setup.open_client(settings["system_database_url"]) as client:
            for queue in queues:
                _make_queue(
                    client,
                    queue,
                    poll_seconds=dbos_setup.poll_seconds(db, root),
                    concurrency=concurrency if queue == AGENTS else None,
                )
        driver.DBOS(config=settings)
        undo.callback(driver.DBOS.destroy)
        driver.DBOS.listen_queues(queues)
        with dbos_setup.translate_errors():
            driver.DBOS.launch()
        store = SharedStore(partial(open_database, db, root))
        reports = store
        if place_of(db, root) != place_of(None, root):
            reports = SharedStore(partial(open_to_keep, root))
        undo.callback(store.close)
        undo.callback(reports.close)
        engine = Engine(
            store=store,
            reports=reports,
            db=db,
            root=root,
            executor=executor,
            queues=tuple(queues),
            wake_heart=wake_heart or Event(),
            take_over_all=take_over_all,
        )
        _engine = engine
        undo.callback(_stop_threads, engine)
        yield engine
        _finish(engine)


def step(name: str, do: Callable[..., Any], *args: Any) -> Any:
    """Inside a run: do something once; from then on it is known what came of it."""
    from dbos import DBOS

    return DBOS.run_step({"name": name}, do, *args)


def started_value() -> object:
    """Inside a run: what it was started with, where that was in this process, else nothing."""
    from dbos import DBOS

    return current_engine().started_with.get(str(DBOS.workflow_id))


def current_engine() -> Engine:
    """Inside a run: the engine that it runs in."""
    if _engine is None:
        raise ShuttingDown  # the block has ended while this thread was still at work
    return _engine


def _finish(engine: Engine) -> None:
    """Take nothing new, and let end what was taken for others, if it ends soon."""
    from dbos import DBOS

    if DBOS.list_workflows(
        executor_id=engine.executor, status="PENDING", limit=1, load_input=False, load_output=False
    ):
        DBOS.destroy(workflow_completion_timeout_sec=FINISH_SECONDS)


def _stop_threads(engine: Engine) -> None:
    """Tell every thread that is still at work to stop; what they were at stays unfinished."""
    global _engine
    engine.stopping.set()
    for cancel in list(engine.cancel_events):
        cancel.set()
    _engine = None


def registered_runs() -> dict[str, Any]:
    """Every kind of run as dbos knows it; the modules that define them are imported first."""
    for module in RUN_MODULES:
        import_module(module)
    from dbos import DBOS

    for kind, run in _functions.items():
        if kind not in _registered:
            register = DBOS.workflow(name=f"{dbos_setup.APPLICATION}.{kind}")
            _registered[kind] = register(_with_rounds_and_end(run))
    return _registered


def next_round() -> int:
    """Inside a run: how often it has asked, this time included."""
    return next(_rounds.get())


def _with_rounds_and_end(run: Run) -> Run:
    """The run, with a count of how often it has asked, the same each time it is gone through, and
    with a note of its end."""
    from dbos import DBOS

    def run_and_note_end(payload: dict[str, Any]) -> dict[str, Any]:
        _rounds.set(count(1))
        current_engine().run_ends.pop(str(DBOS.workflow_id), None)
        try:
            result = run(payload)
        except BaseException as error:
            _note_end(error)
            raise
        _note_end(None)
        return result

    run_and_note_end.__qualname__ = run_and_note_end.__name__ = run.__name__
    return run_and_note_end


def _note_end(error: BaseException | None) -> None:
    """A run has ended here; where the database can't take that, whoever waits for it has to
    know."""
    from dbos import DBOS

    name = str(DBOS.workflow_id)
    if _engine is not None and _engine.is_own(name):
        _engine.run_ends[name] = RunEnd(monotonic(), error)


def _broken_off_error(run: str, error: BaseException | None) -> StoreError:
    reason = "the database does not take what it came to"
    lines = storable_text(mask(str(error or ""))).strip().splitlines()
    if lines:
        reason = lines[0][:_ERROR_CHARS]
    return StoreError(
        f"{run} broke off: {reason}",
        hint="put that right; `foreword flow resume` goes on where it was",
    )


def _make_queue(client: Any, name: str, *, poll_seconds: float, concurrency: int | None) -> None:
    """Make a queue where there is none; a limit that is given is from then on that of every
    process."""
    rule: Any = "never_update" if concurrency is None else "always_update"
    # flows are few, and wait for no other flow
    default = {AGENTS: AT_ONCE, RUNS: RUNS_AT_ONCE}.get(name)
    client.register_queue(
        name,
        worker_concurrency=concurrency or default,
        polling_interval_sec=poll_seconds,
        on_conflict=rule,
    )
