"""Whether the tests notice a changed line: `make mutants`.

mutmut changes the central modules in one place at a time (a mutant), and the tests chosen for that
module run. A mutant is killed where one of them fails. Each module is worked on in a copy below
`mutants/`, so the tree stays as it is. No part of CI: a whole run takes most of an hour.

Not mutated: what mutmut never touches (module-level values, decorated functions), and string
literals with a blank in them. Those are sentences for people, whose wording no test should pin, or
SQL, in which a change of case means nothing and any other is noticed by the first statement. Names,
keys and codes have no blanks and are mutated.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import Mutation, create_mutations
from mutmut.stats import status_by_exit_code
from mutmut.utils.format_utils import get_mutant_name, make_mutant_key

ROOT = Path(__file__).parents[1]
WORKSPACES = ROOT / "mutants"
WANTED = 0.85  # of the mutants of a module, and of all
# Of one module: 250 tell its share to within 4 points (two standard errors at 85% are 4.5, less
# for a module that has hardly more). Twice as many took twice the hour on two cores.
MOST_MUTANTS = 250
SEED = 14  # which mutants are in a sample; the same ones every time
# mutmut gives a mutant (the usual seconds of its tests + 2) * 5 before it counts as hanging, which
# is a kill. The defaults, + 1 and * 15, let one endless loop take a quarter of a minute.
TIMEOUT_CONSTANT, TIMEOUT_MULTIPLIER = 2.0, 5.0
KILLED = ("killed", "timeout", "segfault")
AROUND_CHARS = 60  # of the code on each side of a change in the output: a line's worth in all


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A module, or a room of them, and the tests that should notice a change in it."""

    name: str
    sources: tuple[str, ...]  # below src/foreword
    tests: tuple[str, ...]  # arguments of pytest


# On SQLite: the statements are the same on PostgreSQL, and a server for every mutant takes long.
STORE_TESTS = (
    "tests/store/test_contract.py",
    "tests/store/test_locations.py",
    "-k",
    "not postgresql and not megabytes",
)
WINDOW_TESTS = "tests/session/test_session_window.py"
TARGETS = (  # the quick ones first
    Target(
        name="window",
        sources=("session/cut_plan.py",),
        tests=("tests/session/test_window.py",),
    ),
    Target(
        name="render",
        sources=("engine/render.py",),
        tests=("tests/engine/test_boundaries.py", "tests/engine/test_render.py"),
    ),
    Target(
        name="fit",
        sources=("engine/fit.py",),
        tests=("tests/engine/test_fit.py",),
    ),
    Target(
        name="guard",
        sources=("faces/http/request_guard.py",),
        tests=("tests/faces/http/test_request_guard.py",),
    ),
    Target(
        name="compressions",
        sources=("store/compressions.py",),
        tests=STORE_TESTS,
    ),
    Target(
        name="messages",
        sources=("store/messages.py",),
        tests=STORE_TESTS,
    ),
    Target(
        name="history",
        sources=("session/call_text.py",),
        tests=(
            "tests/session/test_history_section.py",
            "tests/session/test_session_secrets.py",
            f"{WINDOW_TESTS}::test_a_single_message_left_out_is_one_message_in_words",
            f"{WINDOW_TESTS}::test_in_provider_forms_the_mark_is_said_once_inside_a_message",
        ),
    ),
    Target(
        name="call_log",
        sources=("session/calls.py", "plan/changed_lines.py", "store/cuts.py"),
        tests=("tests/session/test_call_log.py", "tests/session/test_state_changes.py"),
    ),
    Target(
        name="secrets",
        sources=("secrets/*.py",),
        # what is measured there by the clock says nothing about a mutant
        tests=("tests/secrets", "-k", "not four_times"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change in one place."""

    name: str  # by which mutmut knows it
    source: Path
    line: int
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the mutants of a target."""

    target: Target
    total: int  # before sampling
    statuses: Counter[str]
    survivors: Sequence[Mutant]

    @property
    def run(self) -> int:
        """How many were tried."""
        return self.statuses.total() - self.statuses["not checked"]

    @property
    def killed(self) -> int:
        """How many the tests noticed."""
        return sum(self.statuses[status] for status in KILLED)

    @property
    def hung(self) -> int:
        """How many of these were noticed because a test did not end."""
        return self.statuses["timeout"]


def main() -> int:
    """Run the targets one after the other; 1 where too many mutants survived."""
    arguments = _arguments()
    chosen = [target for target in TARGETS if target.name in arguments.targets]
    chosen = chosen or list(TARGETS)
    last_deadline = time.monotonic() + 60 * arguments.minutes
    outcomes = list[Outcome]()
    for place, target in enumerate(chosen):
        # an even share of the time that is left: who is done early leaves more to the others
        now = time.monotonic()
        deadline = now + (last_deadline - now) / (len(chosen) - place)
        outcome = _run(target, arguments, deadline)
        outcomes.append(outcome)
        _print_survivors(outcome)
    _print_table(outcomes)
    return _verdict(outcomes)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [target.name for target in TARGETS]
    parser.add_argument("targets", nargs="*", help=f"some of: {', '.join(names)}")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60, help="of the whole run, at most")
    parser.add_argument("--most", type=int, default=MOST_MUTANTS, help="mutants of each target")
    parser.add_argument("--seed", type=int, default=SEED, help="another sample")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(names):
        parser.error(f"no such module: {', '.join(sorted(unknown))}")
    return arguments


def _run(target: Target, arguments: argparse.Namespace, deadline: float) -> Outcome:
    """Have mutmut try a sample of the target's mutants, until the deadline."""
    all_mutants = list[Mutant]()
    for source in _sources(target):
        all_mutants += _mutants_of(source)
    mutants = all_mutants
    if len(mutants) > arguments.most:
        mutants = random.Random(f"{arguments.seed} {target.name}").sample(mutants, arguments.most)
    print(f"{target.name}: {len(mutants)} of {len(all_mutants)} mutants", flush=True)
    workspace = _workspace(target)
    _run_mutmut(workspace, mutants, jobs=arguments.jobs, deadline=deadline)
    statuses = _statuses(workspace, mutants)
    survivors = [mutant for mutant in mutants if statuses[mutant.name] not in KILLED]
    survivors = [mutant for mutant in survivors if statuses[mutant.name] != "not checked"]
    survivors.sort(key=lambda mutant: (mutant.source, mutant.line))
    return Outcome(
        target=target,
        total=len(all_mutants),
        statuses=Counter(statuses.values()),
        survivors=survivors,
    )


def _sources(target: Target) -> Iterator[Path]:
    """The files of a target, from the root of the project."""
    for pattern in target.sources:
        for path in sorted((ROOT / "src/foreword").glob(pattern)):
            yield path.relative_to(ROOT)


def _mutants_of(source: Path) -> list[Mutant]:
    """The mutants of a file under the names that mutmut gives them, without those of sentences."""
    module, mutations, _, _ = create_mutations(str(source), (ROOT / source).read_text())
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    class_names = _class_names(module)
    numbers = Counter[libcst.CSTNode]()
    mutants = list[Mutant]()
    for mutation in mutations:
        function = mutation.contained_by_top_level_function
        if not isinstance(function, libcst.FunctionDef):
            continue
        numbers[function] += 1
        if _is_sentence(mutation.original_node):
            continue
        key = make_mutant_key(function.name.value, class_names.get(function))
        mutants.append(
            Mutant(
                name=get_mutant_name(source, f"{key}__mutmut_{numbers[function]}"),
                source=source,
                line=positions[mutation.original_node].start.line,
                change=_change(module, mutation),
            )
        )
    return mutants


def _class_names(module: libcst.Module) -> dict[libcst.CSTNode, str]:
    """By method: the class it is in."""
    names = dict[libcst.CSTNode, str]()
    for statement in module.body:
        if isinstance(statement, libcst.ClassDef):
            for member in statement.body.body:
                names[member] = statement.name.value
    return names


def _is_sentence(node: libcst.CSTNode) -> bool:
    return isinstance(node, libcst.SimpleString) and " " in node.value


def _change(module: libcst.Module, mutation: Mutation) -> str:
    """The change in one line: both sides, and of long ones what is around the difference."""
    before = " ".join(module.code_for_node(mutation.original_node).split())
    after = " ".join(module.code_for_node(mutation.mutated_node).split())
    place = _first_difference(before, after)
    around = slice(max(0, place - AROUND_CHARS), place + AROUND_CHARS)
    return f"{before[around]}  ->  {after[around]}"


def _first_difference(before: str, after: str) -> int:
    for place, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            return place
    return min(len(before), len(after))


def _workspace(target: Target) -> Path:
    """A folder in which mutmut finds the project under a configuration of the target's own."""
    workspace = WORKSPACES / target.name
    shutil.rmtree(workspace, ignore_errors=True)
    # made before Python looks there: it remembers which folders were missing
    _mutated_source(workspace).mkdir(parents=True)
    for name in ("src", "tests"):
        (workspace / name).symlink_to(ROOT / name)
    options = {
        "source_paths": ["src"],
        "only_mutate": [str(source) for source in _sources(target)],
        "also_copy": [],
        "pytest_add_cli_args": ["-p", "no:cacheprovider", "--hypothesis-profile=mutants"],
        "pytest_add_cli_args_test_selection": list(target.tests),
        # a process of its own for each mutant, in which no test has run: what an earlier run left
        # in a cache would hide a change from the tests
        "process_isolation": "forkserver",
        "timeout_constant": TIMEOUT_CONSTANT,
        "timeout_multiplier": TIMEOUT_MULTIPLIER,
    }
    # the arrays, strings and numbers of JSON are those of TOML
    table = "\n".join(f"{name} = {json.dumps(value)}" for name, value in options.items())
    project = (ROOT / "pyproject.toml").read_text()
    (workspace / "pyproject.toml").write_text(f"{project}\n[tool.mutmut]\n{table}\n")
    return workspace


def _mutated_source(workspace: Path) -> Path:
    return workspace / "mutants/src"


def _run_mutmut(workspace: Path, mutants: Iterable[Mutant], *, jobs: int, deadline: float) -> None:
    """Run mutmut in the workspace; what is not done at the deadline stays undone."""
    names = [mutant.name for mutant in mutants]
    mutmut = str(Path(sys.executable).with_name("mutmut"))
    command = [mutmut, "run", f"--max-children={jobs}", *names]
    environment = {
        **os.environ,
        # commands that tests start must find the changed code, too
        "PYTHONPATH": str(_mutated_source(workspace)),
        "PYTHONHASHSEED": "0",  # mutmut keeps the tests of a mutant in a set: the same order twice
    }
    log = workspace / "mutmut.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=workspace,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            print(f"  time is up: not all mutants of {workspace.name} were tried")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if process.returncode > 0:
        sys.exit(f"mutmut failed, see {log.relative_to(ROOT)}:\n{log.read_text()[-2000:]}")


def _statuses(workspace: Path, mutants: Sequence[Mutant]) -> dict[str, str]:
    """By mutant: what mutmut wrote down about it."""
    exit_codes = dict[str, int | None]()
    for source in {mutant.source for mutant in mutants}:
        written = workspace / "mutants" / f"{source}.meta"
        if written.exists():
            exit_codes |= json.loads(written.read_text())["exit_code_by_key"]
    return {mutant.name: status_by_exit_code[exit_codes.get(mutant.name)] for mutant in mutants}


def _print_survivors(outcome: Outcome) -> None:
    for mutant in outcome.survivors:
        print(f"  survived: {mutant.source}:{mutant.line}: {mutant.change}")


def _print_table(outcomes: Sequence[Outcome]) -> None:
    print("\nmodule         mutants   tried  killed  (hung)   share")
    for outcome in outcomes:
        _print_row(outcome.target.name, [outcome])
    _print_row("all", outcomes)


def _print_row(name: str, outcomes: Sequence[Outcome]) -> None:
    total = sum(outcome.total for outcome in outcomes)
    run = sum(outcome.run for outcome in outcomes)
    killed = sum(outcome.killed for outcome in outcomes)
    hung = sum(outcome.hung for outcome in outcomes)
    share = _share(killed, run)
    print(f"{name:<14}{total:>8,}{run:>8,}{killed:>8,}{hung:>8,}{share:>8.1%}")


def _share(killed: int, run: int) -> float:
    return killed / run if run else 0.0


def _verdict(outcomes: Sequence[Outcome]) -> int:
    """1, and a line that names them, where too few mutants of some modules were killed."""
    poor = list[str]()
    for outcome in outcomes:
        if _share(outcome.killed, outcome.run) < WANTED:
            poor.append(outcome.target.name)
    if poor:
        print(f"fewer than {WANTED:.0%} were killed in: {', '.join(poor)}", file=sys.stderr)
    return 1 if poor else 0


if __name__ == "__main__":
    sys.exit(main())
