"""How often the files and functions that a fix touched are in a context of N tokens.

    python -m benchmarks.repository_tasks TASKS.jsonl.gz --cache FOLDER [--budget 8000]

A task is an issue of a Python project with the patch that fixed it. The sources are the newest
source distribution to which the patch applies, fetched from the package index that pip uses and
kept in the cache folder; a task without one is told and left out. Beside the recipe stands BM25
over content and path with whole files, the plain way, at the same number of tokens.
"""

from __future__ import annotations

import gzip
import html
import json
import os
import re
import shutil
import subprocess
import tarfile
import urllib.parse
import urllib.request
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from pathlib import Path
from typing import Any

import click

from foreword.context.assemble import assemble
from foreword.engine.package import Package
from foreword.repository.code_terms import terms_of_name
from foreword.repository.index import RepositoryIndex, open_index
from foreword.repository.task_words import words_of
from foreword.repository.views import paths_in
from foreword.tokens import counter

BUDGETS = (8_000, 32_000)
# Releases in a row to which no patch of a project applies before looking further back is given up.
MOST_MISSES = 15
SECONDS = 180
# Of a patch: the files that were there before it.
_TOUCHED = re.compile(r"^--- a/(.+?)[ \t]*$", re.MULTILINE)
_GAP = re.compile(r"\[\.\.\. lines? (\d+)(?:-(\d+))?[;\]]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An issue, and what its fix touched."""

    name: str
    project: str
    text: str
    files: tuple[str, ...]
    functions: tuple[tuple[str, str], ...]  # a file and a qualified name
    patch: str


@dataclass(slots=True, kw_only=True)
class Outcome:
    """Of one way at one budget: for how many tasks everything was there."""

    tasks: int = 0
    files: int = 0  # with some of their lines
    named: int = 0  # or at least by their paths
    functions: int = 0  # every line of every one
    over: int = 0
    by_project: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class Seen:
    """What a context shows of a code base."""

    lines: dict[str, set[int]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    tokens: int = 0


def read_tasks(path: Path) -> list[Task]:
    """The tasks of a file of JSON lines: ours, or SWE-bench's own, which name no functions."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf8") as lines:
        cases = [json.loads(line) for line in lines if line.strip()]
    return [_published_task(case) if "instance_id" in case else _task(case) for case in cases]


def _task(case: Mapping[str, Any]) -> Task:
    functions: list[tuple[str, str]] = []
    for entity in case["meta"]["entities"]:
        file, _, name = entity.partition(":")
        functions.append((file, name))
    return Task(
        name=case["id"],
        project=case["repo"],
        text=case["query"],
        files=tuple(case["must_keep"]),
        functions=tuple(functions),
        patch=case["meta"]["patch"],
    )


def _published_task(case: Mapping[str, Any]) -> Task:
    """A line of SWE-bench or SWE-bench Lite; its patch says which files were touched."""
    return Task(
        name=case["instance_id"],
        project=case["repo"],
        text=case["problem_statement"],
        files=tuple(_TOUCHED.findall(case["patch"])),
        functions=(),
        patch=case["patch"],
    )


# --- sources --------------------------------------------------------------------------------------


def sources(tasks: Sequence[Task], cache: Path) -> dict[str, Path]:
    """For each task the folder with the sources it is about, where there is a release."""
    known = _known_places(cache)
    by_project: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if task.name not in known:
            by_project[task.project].append(task)
    for project, waiting in by_project.items():
        known |= _find_releases(project, waiting, cache)
        (cache / "places.json").write_text(json.dumps(known, indent=1, sort_keys=True))
    places: dict[str, Path] = {}
    for task in tasks:
        if known.get(task.name):
            places[task.name] = cache / "sources" / known[task.name]
    return places


def _known_places(cache: Path) -> dict[str, str]:
    path = cache / "places.json"
    found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _find_releases(project: str, tasks: Sequence[Task], cache: Path) -> dict[str, str]:
    """The newest release of a project to which the patch of each task applies, or nothing."""
    package = project.rpartition("/")[2]
    found = {task.name: "" for task in tasks}
    misses = 0
    for version, address in _releases(package):
        waiting = [task for task in tasks if not found[task.name]]
        if not waiting or misses > MOST_MISSES:
            break
        name = f"{package}-{version}"
        folder = cache / "sources" / name
        if not folder.exists():
            _fetch(address, folder)
        fitting = [task for task in waiting if _applies(task.patch, folder)]
        for task in fitting:
            found[task.name] = name
        has_begun = any(found.values())
        misses = misses + 1 if has_begun and not fitting else 0
    return found


def _releases(package: str) -> Iterator[tuple[str, str]]:
    """The releases that begin a series, and their first previews, newest first."""
    from pip._internal.models.index import PyPI  # which knows the index
    from pip._vendor.packaging.version import InvalidVersion, Version

    with urllib.request.urlopen(f"{PyPI.simple_url}/{package}/", timeout=SECONDS) as page:
        base = page.geturl()
        text = page.read().decode()
    stem = re.escape(package).replace(r"\-", "[-_.]")
    name = re.compile(rf"{stem}-(.+)\.(?:tar\.gz|tar\.bz2|zip)", re.IGNORECASE)
    found: dict[Version, str] = {}
    for address, shown in re.findall(r'<a[^>]*href="([^"]+)"[^>]*>([^<]+)</a>', text):
        match = name.fullmatch(shown.strip())
        if match is None:
            continue
        try:
            version = Version(match[1])
        except InvalidVersion:
            continue
        is_preview = version.pre is not None and version.pre in (("a", 1), ("b", 1), ("rc", 1))
        if version.micro == 0 and (is_preview or not version.is_prerelease):
            found[version] = urllib.parse.urljoin(base, html.unescape(address))
    for version in sorted(found, reverse=True):
        yield str(version), found[version]


def _fetch(address: str, folder: Path) -> None:
    """Unpack a source distribution; nothing of it is run."""
    scratch = folder.parent / f"{folder.name}.unpacking"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    archive = scratch / "archive"
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        archive.write_bytes(answer.read())
    inside = scratch / "inside"
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(inside)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(inside, filter="data")
    tops = [path for path in inside.iterdir() if path.is_dir()]
    tops[0].rename(folder)
    shutil.rmtree(scratch)


def _applies(patch: str, folder: Path) -> bool:
    done = subprocess.run(
        ["git", "apply", "--check", "-p1", "-"],
        cwd=folder,
        input=patch.encode(),
        capture_output=True,
        env={"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )
    return done.returncode == 0


# --- contexts -------------------------------------------------------------------------------------


def shown_by_recipe(task: Task, root: Path, budget: int) -> Seen:
    """What the recipe shows, read back from the text by its marks."""
    package = assemble(
        "repository",
        root=root,
        task=task.text + "\n",
        budget=budget,
        counter="estimate",
        save=False,
    )
    return read_back(package)


def read_back(package: Package) -> Seen:
    """The lines that a context shows, by its own marks, and the paths it names."""
    seen = Seen(tokens=package.report.total_tokens)
    for choice in package.report.choices:
        section = choice.section
        if choice.body.form == "gone" or section.tag not in ("files", "paths"):
            continue
        if section.tag == "paths":
            seen.named |= paths_in(choice.body.text)
            continue
        lines = set(range(1, section.text.count("\n") + 2))
        if choice.body.form == "regions":
            for first, last in _GAP.findall(choice.body.text):
                lines -= set(range(int(first), int(last or first) + 1))
        elif choice.body.form == "outline":
            lines = {int(number) for number in re.findall(r"(?m)^(\d+): ", choice.body.text)}
        seen.lines[section.source] = lines
    return seen


def shown_by_bm25(task: Task, index: RepositoryIndex, budget: int) -> Seen:
    """Whole files in the order of BM25 over content and path, each that still fits."""
    files = {file.number: file for file in index.files()}
    average = sum(file.words for file in files.values()) / len(files)
    in_paths: dict[str, set[int]] = defaultdict(set)
    for number, file in files.items():
        for name in re.split(r"[/.]", file.path):
            for term in terms_of_name(name):
                in_paths[term].add(number)
    scores: dict[int, float] = defaultdict(float)
    wanted = words_of(task.text)
    for term in {*wanted.words, *wanted.phrases}:
        counts = dict(index.counts(term))
        for number in in_paths[term]:
            counts[number] = counts.get(number, 0) + 1
        rarity = log(1 + (len(files) - len(counts) + 0.5) / (len(counts) + 0.5))
        for number, count in counts.items():
            norm = 1.2 * (0.25 + 0.75 * files[number].words / average)
            scores[number] += rarity * 2.2 * count / (count + norm)
    seen = Seen()
    measure = counter("estimate")
    for number in sorted(scores, key=lambda number: (-scores[number], files[number].path)):
        path = files[number].path
        text = index.read(path).text
        tokens = measure.count(f"# {path}\n{text}\n")
        if seen.tokens + tokens <= budget:
            seen.tokens += tokens
            seen.lines[path] = set(range(1, text.count("\n") + 2))
        if budget - seen.tokens < 100:
            break
    return seen


def add(outcome: Outcome, task: Task, seen: Seen, index: RepositoryIndex, budget: int) -> None:
    """Count one task."""
    has_files = all(path in seen.lines for path in task.files)
    outcome.tasks += 1
    outcome.files += has_files
    outcome.named += all(path in seen.lines or path in seen.named for path in task.files)
    outcome.functions += _has_functions(task, seen, index)
    outcome.over += seen.tokens > budget
    outcome.by_project[task.project].append(has_files)


def _has_functions(task: Task, seen: Seen, index: RepositoryIndex) -> bool:
    """Whether every line of every function that the fix touched is shown; a class counts by its
    first line where a method of it is named, too."""
    numbers = {file.path: file.number for file in index.files()}
    names = {name for _, name in task.functions}
    for path, name in task.functions:
        if path not in numbers or path not in seen.lines:
            return False
        is_around = any(other.startswith(f"{name}.") for other in names)
        for one in index.definitions_of(numbers[path]):
            if one.qualified_name != name or is_around:
                continue
            last = one.last if one.kind == "function" else one.first
            if not set(range(one.first, last + 1)) <= seen.lines[path]:
                return False
    return bool(seen.lines.keys() & set(task.files))


def evaluate(
    tasks: Sequence[Task], places: Mapping[str, Path], budgets: Sequence[int] = BUDGETS
) -> dict[tuple[str, int], Outcome]:
    """The outcome of each way at each budget."""
    outcomes: dict[tuple[str, int], Outcome] = defaultdict(Outcome)
    known = [task for task in tasks if task.name in places]
    for task in sorted(known, key=lambda task: str(places[task.name])):
        root = places[task.name]
        index = open_index(root)
        for budget in budgets:
            ours = shown_by_recipe(task, root, budget)
            add(outcomes["repository", budget], task, ours, index, budget)
            plain = shown_by_bm25(task, index, budget)
            add(outcomes["bm25, whole files", budget], task, plain, index, budget)
            if not set(task.files) <= ours.lines.keys():
                click.echo(
                    f"{task.name} at {budget:,}: {', '.join(task.files)} not shown", err=True
                )
        index.close()
    return outcomes


def interval(hits: int, count: int) -> str:
    """A share in percent with its 95% interval (Wilson)."""
    if not count:
        return "none"
    share = hits / count
    z = 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    spread = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    spread /= 1 + z * z / count
    low, high = 100 * (middle - spread), 100 * (middle + spread)
    return f"{100 * share:.1f} ({low:.0f}-{high:.0f})"


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--cache", type=click.Path(path_type=Path), required=True, help="For the sources.")
@click.option("--budget", "budgets", type=int, multiple=True, default=BUDGETS)
@click.option("--only", default="", help="Only tasks whose name has this in it.")
def main(path: Path, cache: Path, budgets: tuple[int, ...], only: str) -> None:
    """Run the tasks of a file and print a table."""
    tasks = [task for task in read_tasks(path) if only in task.name]
    cache.mkdir(parents=True, exist_ok=True)
    places = sources(tasks, cache)
    outcomes = evaluate(tasks, places, budgets)
    click.echo(f"{len(places)} of {len(tasks)} tasks have sources\n")
    click.echo("| way | tokens | files shown | files named | functions whole | over budget |")
    click.echo("|---|---|---|---|---|---|")
    for (way, budget), one in sorted(outcomes.items(), key=lambda each: (each[0][1], each[0][0])):
        shares = [interval(hits, one.tasks) for hits in (one.files, one.named, one.functions)]
        click.echo(f"| {way} | {budget:,} | {' | '.join(shares)} | {one.over} |")


if __name__ == "__main__":
    main()
