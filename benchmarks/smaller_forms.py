"""Every smaller form of real texts, at thirteen sizes, by what must be true of all of them.

    python -m benchmarks.smaller_forms FOLDER_OR_FILE... [--slice 1/8] [--crlf] [--bom] [--show 20]

Prints each finding once, with how many forms have it, and ends with 1 where there are any. What is
checked is in `form_checks`; no code that makes the forms is used for it.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import form_checks
from foreword.text import cut, narrow
from foreword.text.content_type import content_type

WAYS: dict[str, Callable[..., str | None]] = {
    "summary": cut.summary,
    "relevant": cut.relevant,
    "excerpt": cut.excerpt,
}
QUERY = "which errors are raised, and what must be tested before it is done"
# Characters: where a form is hardly more than its mark, lines are divided most.
SMALL_ROOMS = (160, 230, 340, 500, 750, 1_100)
SHARES = (0.08, 0.17, 0.29, 0.43, 0.58, 0.74, 0.9)  # of the text
LARGEST = 400_000  # characters of a file


def mark(lines: int, units: int) -> str:
    return f"[... {lines:,} lines, {units:,} tokens left out: foreword recall fw_b7e1d9f3a8c6e2]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--slice", default="1/1")
    parser.add_argument("--crlf", action="store_true")
    parser.add_argument("--bom", action="store_true")
    parser.add_argument("--show", type=int, default=20, help="findings of each kind")
    options = parser.parse_args()
    number, _, of = options.slice.partition("/")
    files = list(_files(options.paths))[int(number) - 1 :: int(of)]
    found: Counter[tuple[str, str, str]] = Counter()
    forms = 0
    started = time.process_time()
    for path in files:
        text = _text(path, crlf=options.crlf, bom=options.bom)
        if not text.strip():
            continue
        narrow.whole_layout.cache_clear()
        for kind, line, count in _findings_of(text, str(path)):
            if kind:
                found[kind, str(path), line] += 1
            forms += count
    _print(found, options.show)
    seconds = time.process_time() - started
    total = sum(found.values())
    print(f"{len(files)} files, {forms} forms, {total} findings, {seconds:.0f} s of CPU")
    sys.exit(1 if total else 0)


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        for each in inside:
            if each.is_file() and not each.is_symlink() and each.stat().st_size <= LARGEST:
                yield each


def _text(path: Path, *, crlf: bool, bom: bool) -> str:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return ""
    if "\0" in text:
        return ""
    # What looks like a mark of ours is none: it would be read as a gap.
    text = text.replace("[...", "[..,")
    if crlf:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return f"\ufeff{text}" if bom else text


def _findings_of(text: str, name: str) -> Iterator[tuple[str, str, int]]:
    kind = "toml" if name.endswith(".toml") else content_type(text, name)
    if kind in ("python", "json", "yaml", "toml") and not form_checks.is_readable(kind, text):
        kind = "text"
    document = form_checks.Document(text, kind)
    rooms = sorted({*SMALL_ROOMS, *[int(share * len(text)) for share in SHARES]})
    for way_name, way in WAYS.items():
        forms: list[str | None] = []
        for room in rooms:
            if room >= len(text):
                break
            form = way(text, room, len, mark, query=QUERY, name=name)
            forms.append(form)
            yield "", "", 1
            if form is None:
                continue
            for what, line in form_checks.findings(document, form, room):
                yield what, f"{way_name} {room}: {line.strip()[:100]}", 0
        for what, line in form_checks.shrinks(forms):
            yield what, f"{way_name}: {line}", 0


def _print(found: Counter[tuple[str, str, str]], most: int) -> None:
    """Each kind of finding: the files that have it, how often, and the first of each."""
    totals: Counter[str] = Counter()
    by_file: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    for kind, path, line in sorted(found):
        totals[kind] += 1
        by_file[kind, path] += 1
        first.setdefault((kind, path), line)
    shown: Counter[str] = Counter()
    for (kind, path), count in sorted(by_file.items()):
        shown[kind] += 1
        if shown[kind] <= most:
            print(f"{kind}\t{count}\t{path}\t{first[kind, path]!r}")
    for kind, count in totals.most_common():
        print(f"{count:6} {kind}")


if __name__ == "__main__":
    main()
