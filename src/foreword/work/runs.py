"""Runs that survive a crash: starting them, waiting for them, and handing over what a dead process
held.

A *run* is a function from JSON to JSON that was collected by `workflow`; dbos remembers every
`step` of it, and what it has finished is not done again. How dbos is set up is `launch`'s business;
what runs ask of models, that of `durable`; who is alive, that of `workers`; how a run stands, that
of `standings`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from foreword.errors import StoreError, UsageError
from foreword.secrets.masking import mask
from foreword.store.database import plain
from foreword.work import dbos_setup
from foreword.work.run_status import ACTIVE, RunStatus, outcome, standings, statuses

AGENTS, RUNS = "foreword-agents", "foreword-runs"
# where runs are defined
HOLDERS = ("foreword.work.question_queue", "foreword.work.graph", "foreword.work.panel_runs")
AT_ONCE = 64  # questions that one process asks at the same time
RUNS_AT_ONCE = 32
LONGEST_POLL_SECONDS = 1.0
FINISH_SECONDS = 30
NOTED_SECONDS = 5.0  # for the database to take note of the end of a run

Run = Callable[[dict[str, Any]], dict[str, Any]]


class ShuttingDown(BaseException):
    """This process is going; what it was doing stays unfinished, for whoever comes next."""


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
    # whether it takes over any run of its queues, or only those it has started or waits for
    everything: bool = False
    attended: set[str] = field(default_factory=set)
    # something is waited for: look whether its process is alive
    attention: Event = field(default_factory=Event)
    leaving: Event = field(default_factory=Event)
    asking: set[Event] = field(default_factory=set)
    # runs that it attends to and has gone through itself
    ended: dict[str, RunEnd] = field(default_factory=dict)

    def start(self, kind: str, run: str, payload: Mapping[str, Any], *, queue: str = RUNS) -> None:
        """Start a run in this process; should it die, whoever takes from that queue goes on with
        it."""
        from dbos import DBOS, SetWorkflowAttributes, SetWorkflowID

        self.attended.add(run)
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
        """Wait until a run is over; `watch` is told how its agents stand whenever something
        changes."""
        self.attended.add(run)
        self.attention.set()
        pause, before = dbos_setup.TICK_SECONDS, None
        over = False
        while not over:
            over = statuses([run]).get(run) not in ACTIVE
            if not over and self.untold([run]):
                raise _broken_off(run, self.ended[run].error)
            standing = standings(run) if watch else None
            if watch and standing is not None and standing != before:
                watch(standing)
                before, pause = standing, dbos_setup.TICK_SECONDS
            self.leaving.wait(0 if over else pause)
            pause = min(pause * 1.2, LONGEST_POLL_SECONDS)

    def held_by(self, executors: Sequence[str]) -> dict[str, list[str]]:
        """The unfinished runs of those processes that this one takes over, by queue."""
        from dbos import DBOS

        found: dict[str, list[str]] = {}
        if executors and (self.everything or self.attended):
            wanted = None if self.everything else sorted(self.attended)
            rows = DBOS.list_workflows(
                executor_id=list(executors),
                status="PENDING",
                workflow_id_prefix=wanted,
                load_input=False,
                load_output=False,
            )
            for row in rows:
                queue = row.queue_name or (row.attributes or {}).get("queue", RUNS)
                if queue in self.queues and (self.everything or self.attends(row.workflow_id)):
                    found.setdefault(queue, []).append(row.workflow_id)
        return found

    def untold(self, runs: Collection[str]) -> list[str]:
        """Those that have ended in this process a while ago, which the database could not take:
        a disk may be full."""
        from dbos import DBOS

        long_ago = monotonic() - NOTED_SECONDS
        ended = [run for run in runs if run in self.ended and self.ended[run].at < long_ago]
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

    def put_again(self, untold: Sequence[str], queue: str) -> None:
        """Have runs done again of which the database knows no end; an error where it takes
        nothing still."""
        from dbos import DBOS

        if untold:
            DBOS.resume_workflows(list(untold), queue_name=queue)
        for run in untold:
            self.ended.pop(run, None)

    def strangers(self, known: Collection[str]) -> list[str]:
        """Processes that hold what this one waits for and that nobody has heard of: their rows
        are long gone."""
        from dbos import DBOS

        if not self.attended:
            return []
        rows = DBOS.list_workflows(
            status="PENDING",
            workflow_id_prefix=sorted(self.attended),
            load_input=False,
            load_output=False,
        )
        held = {
            str(row.executor_id)
            for row in rows
            if row.executor_id and self.attends(row.workflow_id)
        }
        return sorted(held.difference(known, (self.executor,)))

    def attends(self, run: str) -> bool:
        """Whether a run is one that this process has started or waits for, or an agent of one."""
        return any(run == mine or run.startswith(f"{mine}/") for mine in self.attended)

    def put_back(self, executors: Sequence[str]) -> list[str]:
        """Put what those processes held back into its queues; returns the runs. The caller holds
        the lock."""
        from dbos import DBOS

        held = self.held_by(executors)
        for queue, runs in held.items():
            DBOS.resume_workflows(runs, queue_name=queue)
        return [run for runs in held.values() for run in runs]


_collected: dict[str, Run] = {}
_known: dict[str, Any] = {}
_engine: Engine | None = None
_rounds: ContextVar[Iterator[int]] = ContextVar("rounds")


def workflow(kind: str) -> Callable[[Run], Run]:
    """Collect a function from JSON to JSON as a kind of run."""

    def collect(run: Run) -> Run:
        _collected[kind] = run
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
    queues: Sequence[str] = (AGENTS, RUNS),
    concurrency: int | None = None,
    everything: bool = False,
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
        undo.enter_context(dbos_setup.no_pickles())
        registered_runs()
        driver.DBOS(config=dbos_setup.settings(db, root, executor))
        undo.callback(driver.DBOS.destroy)
        driver.DBOS.listen_queues(queues)
        with dbos_setup.translate_errors():
            driver.DBOS.launch()
            for queue in queues:
                _make_queue(
                    queue,
                    dbos_setup.poll_seconds(db, root),
                    concurrency if queue == AGENTS else None,
                )
        engine = _engine = Engine(
            db=db, root=root, executor=executor, queues=tuple(queues), everything=everything
        )
        undo.callback(_leave, engine)
        yield engine
        _finish(engine)


def step(name: str, do: Callable[..., Any], *args: Any) -> Any:
    """Inside a run: do something once; from then on it is known what came of it."""
    from dbos import DBOS

    return DBOS.run_step({"name": name}, do, *args)


def current() -> Engine:
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


def _leave(engine: Engine) -> None:
    """Tell every thread that is still at work to stop; what they were at stays unfinished."""
    global _engine
    engine.leaving.set()
    for cancel in list(engine.asking):
        cancel.set()
    _engine = None


def registered_runs() -> dict[str, Any]:
    """Every kind of run as dbos knows it; the modules that define them are imported first."""
    for holder in HOLDERS:
        import_module(holder)
    from dbos import DBOS

    for kind, run in _collected.items():
        if kind not in _known:
            _known[kind] = DBOS.workflow(name=f"{dbos_setup.APPLICATION}.{kind}")(
                _counting_rounds(run)
            )
    return _known


def next_round() -> int:
    """Inside a run: how often it has asked, this time included."""
    return next(_rounds.get())


def _counting_rounds(run: Run) -> Run:
    """The run, with a count of how often it has asked: the same each time it is gone through."""
    from dbos import DBOS

    def counted(payload: dict[str, Any]) -> dict[str, Any]:
        _rounds.set(count(1))
        current().ended.pop(str(DBOS.workflow_id), None)
        try:
            came_to = run(payload)
        except BaseException as error:
            _note_end(error)
            raise
        _note_end(None)
        return came_to

    counted.__qualname__ = counted.__name__ = run.__name__
    return counted


def _note_end(error: BaseException | None) -> None:
    """A run has ended here; where the database can't take that, whoever waits for it has to
    know."""
    from dbos import DBOS

    name = str(DBOS.workflow_id)
    if _engine is not None and _engine.attends(name):
        _engine.ended[name] = RunEnd(monotonic(), error)


def _broken_off(run: str, error: BaseException | None) -> StoreError:
    what = plain(mask(str(error or ""))).strip().splitlines() or [
        "the database does not take what it came to"
    ]
    return StoreError(
        f"{run} broke off: {what[0][:300]}",
        hint="put that right; `foreword flow resume` goes on where it was",
    )


def _make_queue(name: str, poll_seconds: float, concurrency: int | None) -> None:
    """Make a queue where there is none; a limit that is given is from then on that of every
    process."""
    from dbos import DBOS

    rule: Any = "never_update" if concurrency is None else "always_update"
    # flows are few, and wait for no other flow
    usual = {AGENTS: AT_ONCE, RUNS: RUNS_AT_ONCE}.get(name)
    DBOS.register_queue(
        name,
        worker_concurrency=concurrency or usual,
        polling_interval_sec=poll_seconds,
        on_conflict=rule,
    )
