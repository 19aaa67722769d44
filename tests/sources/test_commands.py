"""Commands in a skill run under a policy, cost what was agreed, and never break the text around
them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import UsageError
from foreword.sources.commands import CommandText, Policy, alternatives, inject
from tests.corpus import check_each, rows

ALL = Policy(allow=("*",))
LIMITED = Policy(allow=("*",), shell=True, output_bytes=1_000)
SHORT = replace(LIMITED, timeout_seconds=0.3)  # for what hangs


def outcomes(result: CommandText) -> list[str]:
    return [ran.outcome for ran in result.ran]


def test_nothing_runs_unless_it_is_allowed(tmp_path: Path) -> None:
    text = "State:\n!`touch made`\nMore: !touch made\n!`echo hello`\n"
    result = inject(text, tmp_path, Policy())
    assert result.text == text
    assert outcomes(result) == ["not allowed"] * 3
    assert not (tmp_path / "made").exists()


def test_output_takes_the_commands_place(tmp_path: Path) -> None:
    (tmp_path / "STATE.md").write_text("# State\nhalf done\n\n")
    result = inject("<state>\n!`cat STATE.md`\n</state>\n", tmp_path, Policy(allow=("cat",)))
    assert result.text == "<state>\n# State\nhalf done\n</state>\n"
    (ran,) = result.ran
    assert (ran.command, ran.line, ran.outcome) == ("cat STATE.md", 2, "ran")


def test_several_commands_in_a_line_and_their_line_ends_are_kept(tmp_path: Path) -> None:
    result = inject("a !`echo 1` b (!`echo 2`), c\r\nState: !echo 3 \r\nend", tmp_path, ALL)
    assert result.text == "a 1 b (2), c\r\nState: 3 \r\nend"
    assert [ran.line for ran in result.ran] == [1, 1, 2]


@pytest.mark.parametrize(
    ("allow", "command", "outcome"),
    [
        ("git log", "git log -5 --oneline", "failed"),
        ("git log", "git push", "not allowed"),
        ("git log", "git", "not allowed"),
        ("git log", "git logs", "not allowed"),
        ("cat", "cat a.md b.md", "ran"),
        ("cat", "./cat a.md", "not allowed"),
        ("cat", "cats a.md", "not allowed"),
        ("cat", "cat none || rm -rf x", "not allowed"),
        ("cat a.md", "cat a.md", "ran"),
        ("cat 'a.md'", 'cat "a.md" b.md', "ran"),
        ("cat", "cat a.md | wc -l", "needs a shell"),
        ("*", "no-such-program-here", "failed"),
    ],
)
def test_an_allowance_is_the_beginning_of_a_command_word_by_word(
    tmp_path: Path, allow: str, command: str, outcome: str
) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(name)
    assert outcomes(inject(f"!`{command}`", tmp_path, Policy(allow=(allow,)))) == [outcome]


@pytest.mark.parametrize("name", ["STATE.md", "none.md"])
def test_the_idiom_of_real_skills_needs_no_shell(tmp_path: Path, name: str) -> None:
    (tmp_path / "STATE.md").write_text("here\n")
    result = inject(
        f'!`cat {name} 2>/dev/null || echo "NO PROJECT"`', tmp_path, Policy(allow=("cat",))
    )
    assert result.text == ("here" if name == "STATE.md" else "NO PROJECT")
    assert outcomes(result) == ["ran"]
    assert (result.ran[0].detail == "") is (name == "STATE.md")


def test_an_empty_fallback_leaves_nothing(tmp_path: Path) -> None:
    assert (
        inject('a !`cat none 2>/dev/null || echo ""` b', tmp_path, Policy(allow=("cat",))).text
        == "a  b"
    )


def test_the_first_alternative_that_succeeds_is_the_last_to_run(tmp_path: Path) -> None:
    assert inject("!`false || echo one || echo two`", tmp_path, ALL).text == "one"


def test_what_only_a_shell_can_read_stays_without_one(tmp_path: Path) -> None:
    def stays(command: str) -> None:
        text = f"before !`{command}` after"
        result = inject(text, tmp_path, Policy(allow=("cat", "*")))
        assert result.text == text
        assert outcomes(result) == ["needs a shell"]

    check_each(rows("commands/need_a_shell.jsonl"), stays)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cat a.md", [["cat", "a.md"]]),
        ("cat 'a b' \"c d\" e\\ f", [["cat", "a b", "c d", "e f"]]),
        (
            'git log --format="%h %s" HEAD~3 2>/dev/null',
            [["git", "log", "--format=%h %s", "HEAD~3"]],
        ),
        ("cat a 2> /dev/null||echo {}", [["cat", "a"], ["echo", "{}"]]),
        ('echo "a | b; c" \'$HOME\' ""', [["echo", "a | b; c", "$HOME", ""]]),
        ('echo "say \\"hi\\""', [["echo", 'say "hi"']]),
        ("echo über c#", [["echo", "über", "c#"]]),
    ],
)
def test_plain_commands_are_read_as_a_shell_reads_them(
    command: str, words: list[list[str]]
) -> None:
    assert alternatives(command) == words


def test_a_shell_runs_only_what_is_allowed_letter_for_letter(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("1\n2\n3\n")
    text = "!`cat a.md | tail -1` !`cat a.md | head -1`"
    result = inject(text, tmp_path, Policy(allow=("cat", "cat a.md | tail -1"), shell=True))
    assert result.text == "3 !`cat a.md | head -1`"
    assert outcomes(result) == ["ran", "not allowed"]
    assert inject(text, tmp_path, Policy(allow=("*",), shell=True)).text == "3 1"


def test_a_failure_leaves_one_line_and_is_never_fatal(tmp_path: Path) -> None:
    result = inject("a\n!`cat none.md`\nb\n!`no-such-program x`\n", tmp_path, ALL)
    assert (
        result.text
        == "a\n[command failed with exit 1: cat none.md]\nb\n[command failed with exit 127:"
        " no-such-program x]\n"
    )
    assert outcomes(result) == ["failed", "failed"]
    assert "No such file" in result.ran[0].detail


def test_a_root_that_is_gone_is_a_failure_like_any_other(tmp_path: Path) -> None:
    assert outcomes(inject("!`cat a`", tmp_path / "gone", ALL)) == ["failed"]


def test_a_command_killed_by_a_signal_says_so(tmp_path: Path) -> None:
    assert (
        inject("!`kill -9 $$`", tmp_path, LIMITED).text
        == "[command failed with signal 9: kill -9 $$]"
    )


@pytest.mark.parametrize(
    "command",
    ["sleep 9000", "sleep 9000; echo x", "trap '' TERM; sleep 9000", "exec >&- 2>&-; sleep 9000"],
)
def test_a_command_that_hangs_is_ended(tmp_path: Path, command: str) -> None:
    result = inject(f"a !`{command}` b", tmp_path, SHORT)
    assert result.text == f"a [command took longer than 0.3 seconds: {command}] b"
    assert outcomes(result) == ["timed out"]


@pytest.mark.parametrize("command", ["yes", "yes >&2", "head -c 100000000 /dev/zero", "yes & yes"])
def test_a_command_that_floods_is_cut_and_ended(tmp_path: Path, command: str) -> None:
    result = inject(f"!`{command}`", tmp_path, Policy(allow=("*",), shell=True, output_bytes=1_000))
    assert outcomes(result) == ["cut"]
    assert result.text.endswith(f"\n[output cut at 1,000 bytes: {command}]")
    assert len(result.text) < 1_100


def test_output_up_to_the_limit_is_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 1_000)
    (tmp_path / "b").write_text("é" * 501)
    result = inject("!`cat a`\n!`cat b`", tmp_path, LIMITED)
    assert outcomes(result) == ["ran", "cut"]
    assert result.text == "x" * 1_000 + "\n" + "é" * 500 + "\n[output cut at 1,000 bytes: cat b]"


def test_half_a_character_at_the_cut_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" + "é" * 600)
    assert inject("!`cat a`", tmp_path, LIMITED).text.startswith("x" + "é" * 499 + "\n[")


def test_a_child_left_behind_neither_holds_us_up_nor_lives_on(tmp_path: Path) -> None:
    policy = Policy(allow=("*",), shell=True, timeout_seconds=9_000)
    result = inject("!`sleep 9000 & echo $!`", tmp_path, policy)
    assert outcomes(result) == ["ran"]
    while _lives(int(result.text)):  # a kill takes effect a moment after it is sent
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    """Whether a process still runs; a zombie that nobody has collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_command_does_not_read_what_was_meant_for_us(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\nfrom foreword.sources.commands import Policy, inject\n"
        "print(inject('[!`cat`]', Path(), Policy(allow=('cat',))).text, input())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        input="ours\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[] ours\n"


def test_commands_get_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    text = inject("!`env`", tmp_path, ALL).text
    assert "PATH=" in text
    assert "secret" not in text
    assert "GIT_DIR" not in text


def test_all_commands_of_a_text_together_have_an_end(tmp_path: Path) -> None:
    slow = Policy(allow=("sleep",), timeout_seconds=0.05)
    result = inject("!`sleep 600`\n" * 9 + "!`rm all`\n", tmp_path, slow)
    assert outcomes(result) == ["timed out"] * 9 + ["not allowed"]
    assert [ran.detail.endswith("all together") for ran in result.ran[4:]] == [True] * 5 + [False]


@pytest.mark.parametrize("entry", ["git", "git --no-pager", "git -C sub", "/usr/bin/git", "'git'"])
def test_allowing_git_without_a_verb_is_an_error_that_says_so(entry: str) -> None:
    with pytest.raises(UsageError, match="says nothing of what git may do") as caught:
        Policy(allow=("cat", entry))
    assert "name a verb, as in 'git log'" in caught.value.hint


@pytest.mark.parametrize(
    ("entry", "command", "outcome"),
    [
        ("git log", "git log -1", "ran"),
        ("/usr/bin/git log", "/usr/bin/git log -1", "ran"),
        ("/usr/bin/git log", "/usr/bin/git log --output=x", "not allowed"),
        ("git log", "/usr/bin/git log -1", "not allowed"),
        ("git log", "./git log -1", "not allowed"),
        ("git log", "bin/../git log -1", "not allowed"),
        ("git push", "git push", "not allowed"),
        ("git push origin", "git push origin", "not allowed"),
        ("./git", "./git log", "ran"),
        ("./x.sh", "./x.sh", "ran"),
        ("./x.sh", "x.sh", "not allowed"),
        ("x.sh", "./x.sh", "not allowed"),
        ("./x.sh", "././x.sh", "not allowed"),
        ("./x.sh", "bin/../x.sh", "not allowed"),
    ],
)
def test_a_program_of_the_project_runs_only_by_the_users_own_word_for_it(
    tmp_path: Path, entry: str, command: str, outcome: str
) -> None:
    for argv in (
        ["init", "-q"],
        ["-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "x", "--allow-empty"],
    ):
        subprocess.run(["git", *argv], cwd=tmp_path, check=True)
    for name in ("git", "x.sh"):
        (tmp_path / name).write_text("#!/bin/sh\ntouch ours\n")
        (tmp_path / name).chmod(0o755)
    assert outcomes(inject(f"!`{command}`", tmp_path, Policy(allow=(entry,)))) == [outcome]
    assert (tmp_path / "ours").exists() is (outcome == "ran" and command.startswith("./"))


def test_output_does_not_steer_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(
        b"\x1b[1;31mred\x1b[0m\ttab\n\x1b]0;title\x07bell\x07\b "
        b"\x1b]8;;http://x\x1b\\link\x1b(B \x1b\xc2\x9b2J end\r\nlast\n"
    )
    assert inject("!`cat a`", tmp_path, ALL).text == "red\ttab\nbell link 2J end\r\nlast"


def test_output_that_is_no_text_is_made_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"caf\xe9\0!\n")
    assert inject("!`cat a`", tmp_path, ALL).text == "caf\ufffd\ufffd!"


def test_output_is_not_read_for_commands_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("!`touch made`\n")
    result = inject("!`cat a`", tmp_path, ALL)
    assert result.text == "!`touch made`"
    assert not (tmp_path / "made").exists()


def test_what_merely_looks_like_a_command_is_left_alone(tmp_path: Path) -> None:
    policy = Policy(allow=("cat", "echo", "*"), shell=True)
    for text in rows("commands/none.jsonl"):
        assert inject(text, tmp_path, policy) == CommandText(text)


def test_every_form_that_authors_use_is_found(tmp_path: Path) -> None:
    (tmp_path / "VISION.md").write_text("a better world\n")

    def is_found(text: str) -> None:
        result = inject(text, tmp_path, Policy(allow=("cat",)))
        assert outcomes(result) == ["ran"]
        assert "a better world" in result.text
        assert "cat" not in result.text

    check_each(rows("commands/found.jsonl"), is_found)


def test_a_bare_script_of_the_project_is_a_command_only_where_it_exists(tmp_path: Path) -> None:
    script = tmp_path / "scripts/state.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho fine\n")
    script.chmod(0o755)
    text = "State: !scripts/state.sh\nOther: !scripts/none.sh"
    result = inject(text, tmp_path, ALL)
    assert result.text == "State: fine\nOther: !scripts/none.sh"


def test_a_line_of_backquotes_costs_no_time(tmp_path: Path) -> None:
    text = "!" + " ".join("`" * length for length in range(1, 1_500)) + " : !" * 100_000
    assert inject(text, tmp_path, Policy()).text == text


@given(st.text(alphabet="!`~ \n\r:-abc.>\\é", max_size=120))
def test_with_the_policy_off_any_text_stays_byte_for_byte(text: str) -> None:
    result = inject(text, Path(os.sep), Policy())
    assert result.text == text
    assert {ran.outcome for ran in result.ran} <= {"not allowed"}
