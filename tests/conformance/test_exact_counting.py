"""X1: whatever a context is made of, by default it has at most as many tokens as its budget.

Counted here by the tokenizer itself, on the final text as one string.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from splintr import Tokenizer

import foreword
from foreword.errors import BadBudget, EssentialsTooLarge
from foreword.tokens import estimate_error
from tests.command import foreword as command_line
from tests.conformance.project import project


def _digest(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


SUMS = "".join(
    f"gopkg.in/yaml.v{n % 4} v{n}.0.1 h1:{base64.b64encode(_digest(n)).decode()}\n"
    for n in range(120)
)
GO = "".join(
    f"func (r *Ring{n}) At(i int) (uint64, error) {{\n\tif i>>{n % 9} >= len(r.buf) {{\n"
    f'\t\treturn 0, fmt.Errorf("at %d: 0x%02x", i, {n})\n\t}}\n'
    f"\treturn r.buf[i&0x{n:04x}], nil\n}}\n\n"
    for n in range(60)
)
MINIFIED = "".join(
    f"!function(e,t){{var n=e[{n}]||(t=t||{{}}),r=n&&n.$${n}?n:{{q{n}:t}};return r.x>>>{n % 7}}}();"
    for n in range(90)
)
ROWS = json.dumps([{"id": n, "at": [n / 7, -n], "ok": n % 2 == 0, "t": "é"} for n in range(90)])
MATERIAL = {
    "go.sum": SUMS,
    "ring.go": GO,
    "app.min.js": MINIFIED,
    "rows.json": ROWS,
    "dump.txt": "\n".join(_digest(n).hex() for n in range(90)),
    "blob.b64": base64.b64encode(b"".join(map(_digest, range(140)))).decode(),
    "chinese.md": "".join(f"窑炉记录第{n}条，温度过高时降低火力。\n\n" for n in range(90)),
    "japanese.md": "".join(f"窓{n}を閉めてから、ボタンを押してください。\n\n" for n in range(90)),
    "emoji.txt": "".join(f"🔥🧑\u200d🍳 {n} 🇧🇪✨✅\n" for n in range(150)),
}
BUDGETS = (120, 230, 500, 1_400)  # the last has room for the essentials of each
QUESTION = "which yaml library"


@cache
def _o200k() -> Callable[[str], list[int]]:
    return Tokenizer.from_pretrained("o200k_base").encode_ordinary


def tokens_of(text: str) -> int:
    return len(_o200k()(text))


def check(package: foreword.Package, budget: int) -> None:
    assert tokens_of(package.text) == package.report.total_tokens <= budget


@pytest.mark.parametrize("name", MATERIAL)
def test_x1_no_context_is_over_its_budget_in_exact_tokens(tmp_path: Path, name: str) -> None:
    text = MATERIAL[name]
    root = project(tmp_path)
    (root / name).write_text(text, "utf-8")
    (root / ".director/research/FEATURES.md").write_text(text, "utf-8")
    (root / ".director/codebase/CONVENTIONS.md").write_text(text, "utf-8")
    items = [{"kind": "decision", "text": text[:90]}, {"kind": "doc", "title": name, "text": text}]
    for budget in BUDGETS:
        for material in (root / name, [text, text[::-1]]):
            with suppress(BadBudget):  # nothing of it fits
                check(foreword.fit(material, question=QUESTION, budget=budget, save=False), budget)
        for recipe, given in (
            ("package", {"purpose": "review", "source": items}),
            ("repository", {"task": f"{QUESTION} is in {name}?"}),
            ("director", {"agent": "builder"}),
        ):
            with suppress(EssentialsTooLarge):
                made = foreword.assemble(recipe, root=root, budget=budget, save=False, **given)
                check(made, budget)


@pytest.mark.parametrize("name", MATERIAL)
def test_x1_no_context_of_a_session_is_over_its_budget(tmp_path: Path, name: str) -> None:
    text = MATERIAL[name]
    url = f"sqlite:///{tmp_path}/talk.db"
    with foreword.Session.open(url, workflow="talk", recipe="chat", budget=900) as session:
        for start in range(0, len(text), 700):
            session.append({"role": "user", "content": text[start : start + 700]})
            session.append({"role": "assistant", "content": "Noted."})
        check(session.context(), 900)


@pytest.mark.parametrize("name", ["go.sum", "chinese.md"])
def test_x1_the_command_line_counts_exactly_by_default(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(MATERIAL[name], "utf-8")
    fit = ("fit", name, "--question", QUESTION, "--budget", "500")
    fitted = command_line(*fit, cwd=tmp_path)
    assert 250 < tokens_of(fitted.out) <= 500
    counted = command_line("count", "-", cwd=tmp_path, stdin=fitted.out.encode())
    assert int(counted.out.split()[0]) == tokens_of(fitted.out)
    estimated = command_line(*fit, "--counter", "estimate", cwd=tmp_path)
    exact = tokens_of(estimated.out)
    assert exact > 500
    assert estimate_error(-(-len(estimated.out) // 4), exact) in estimated.err
