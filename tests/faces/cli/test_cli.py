"""The command line: what goes where, and that it starts light."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from foreword import __version__
from foreword.demos import samples
from foreword.errors import UsageError
from foreword.faces.cli.main import COMMANDS, HEADINGS, cli
from foreword.faces.cli.options import DependentOption
from foreword.messages.message import SHAPES
from foreword.store.locations import state_path
from tests.command import foreword

HEAVY = (
    "pydantic",
    "yaml",
    "click",
    "apsw",
    "splintr",
    "markdown_it",
    "rich",
    "httpx",
    "starlette",
)


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not set(HEAVY) & modules_after("import foreword")


def test_a_context_by_a_built_in_recipe_loads_no_pydantic_and_nothing_of_conversations(
    tmp_path: Path,
) -> None:
    project = samples.lay_out(tmp_path / "sample")
    code = f"import foreword; foreword.assemble('director', root={str(project)!r}, agent='builder')"
    loaded = modules_after(code)
    assert "yaml" in loaded  # the recipe was read
    assert not {"pydantic", "pydantic_core", "foreword.messages.detection"} & loaded
    assert not {"foreword.store.messages", "foreword.secrets.patterns"} & loaded


def test_the_version_is_told() -> None:
    assert foreword("--version").out == f"foreword {__version__}\n"


def test_every_command_has_help_with_an_example() -> None:
    for name in commands_with_options():
        ran = CliRunner().invoke(cli, [*name.split(), "--help"], prog_name="foreword")
        assert ran.exit_code == 0
        assert "Usage: foreword" in ran.output, name
        # `recipes` is `recipe list` by another name
        example = ran.output.partition("Example")[2]
        assert f"foreword {name}" in example or name == "recipes", name


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples.lay_out(tmp_path_factory.mktemp("demo") / "sample")


def test_the_context_is_on_stdout_and_the_report_on_stderr(sample: Path) -> None:
    ran = foreword("assemble", "director", "--agent", "builder", "--budget", "3000", cwd=sample)
    assert ran.out.startswith("<vision>\n")
    assert "left out (foreword recall HANDLE brings it back)" in ran.err
    assert "█" in ran.err
    assert foreword("assemble", "director", "--agent", "builder", "-q", cwd=sample).err == ""


@pytest.mark.parametrize("form", ["messages", *SHAPES, "json"])
def test_the_other_formats_are_json_with_the_same_words(sample: Path, form: str) -> None:
    source = ("--phase", "implementation", "--source", "phases.json")
    text = foreword("assemble", "phases", *source, cwd=sample).out
    loaded = json.loads(foreword("assemble", "phases", *source, "--format", form, cwd=sample).out)
    if form == "json":
        assert loaded["text"] == text
        loaded = loaded["messages"]
    flat = json.dumps(loaded, ensure_ascii=False)
    assert "waiting list" in text
    assert "waiting list" in flat


def test_anthropics_format_has_cache_breakpoints_and_joins_to_the_text(sample: Path) -> None:
    ran = foreword(
        "assemble", "director", "--agent", "builder", "--format", "anthropic", cwd=sample
    )
    (message,) = json.loads(ran.out)["messages"]
    text = foreword("assemble", "director", "--agent", "builder", cwd=sample).out
    assert "".join(block["text"] for block in message["content"]) == text
    assert 1 <= sum("cache_control" in block for block in message["content"]) <= 4


def test_count_gives_a_line_for_each_file_and_one_for_all(sample: Path) -> None:
    ran = foreword(
        "count", ".director/VISION.md", ".director/STATE.md", "--counter", "o200k", cwd=sample
    )
    tokens = [int(line.split()[0].replace(",", "")) for line in ran.out.splitlines()]
    assert tokens[2] == tokens[0] + tokens[1]
    piped = foreword("count", "--format", "json", cwd=sample, stdin=b"word " * 40)
    assert json.loads(piped.out)["total_tokens"] == 41


def test_why_says_form_and_reason_of_a_tag_a_path_and_a_missing_one(sample: Path) -> None:
    def why(about: str) -> str:
        return foreword(
            "why",
            "director",
            "--agent",
            "builder",
            "--budget",
            "3000",
            "--about",
            about,
            cwd=sample,
        ).out

    assert "in, whole" in why("vision")
    assert "essential" in why("vision")
    assert "in, as its newest entries" in why("recent_changes")
    assert "in" in why(".director/codebase/CONVENTIONS.md")
    assert "not part of what agent builder reads" in why("gameplan")


def test_a_reader_that_leaves_early_gets_no_traceback(sample: Path) -> None:
    command = f"{sys.executable} -m foreword recipe schema | head -1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=sample, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


def test_the_help_has_every_command_under_one_heading() -> None:
    listed = Counter[str]()
    for names in HEADINGS.values():
        listed.update(list(names))
    assert set(listed) == set(COMMANDS)
    assert set(listed.values()) == {1}
    shown = foreword("--help").out
    for heading, names in HEADINGS.items():
        below = shown.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in below.splitlines()] == list(names)


# What runs until it is ended, talks with a person, or answers in a form that others prescribe.
WITHOUT_JSON = {
    "worker",
    "hook",
    "statusline",
    "director chat",
    "director demo",
    "browser start",
    "serve",
    "mcp",
    "demo",
}


def commands_with_options() -> dict[str, list[click.Option]]:
    """Every command that can be run, with its options."""
    found = dict[str, list[click.Option]]()
    groups: list[tuple[str, click.Group]] = [("", cli)]
    while groups:
        path, group = groups.pop()
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                groups.append((f"{path}{name} ", command))
                continue
            options = [each for each in command.params if isinstance(each, click.Option)]
            found[path + name] = options
    return found


def test_json_is_asked_for_in_the_same_way_everywhere() -> None:
    for name, options in commands_with_options().items():
        forms = {choice for each in options for choice in _formats(each)}
        assert ("json" in forms) == (name not in WITHOUT_JSON), name


def test_an_option_without_the_one_that_it_needs_is_an_error() -> None:
    checked = list[str]()
    for name, options in commands_with_options().items():
        for option in options:
            if isinstance(option, DependentOption):
                value = [] if option.is_flag else ["1"]
                run = CliRunner().invoke(cli, [*name.split(), option.opts[0], *value])
                assert isinstance(run.exception, UsageError), name
                message = f"{option.opts[0]} has no effect without {option.needs}"
                assert run.exception.message == message
                checked.append(f"{name} {option.opts[0]}")
    assert {"mcp --port", "mcp --host", "variable list --last"} <= set(checked)


def _formats(option: click.Option) -> tuple[str, ...]:
    if "--format" not in option.opts or not isinstance(option.type, click.Choice):
        return ()
    return tuple(option.type.choices)


def test_a_thing_has_one_name_whatever_the_command() -> None:
    known = {
        spelling for options in commands_with_options().values() for spelling in _spellings(options)
    }
    # each of these was another word for something that has a name
    assert not known & {"--seconds", "--model-seconds", "--output", "--store", "--timeout-secs"}
    for name, options in commands_with_options().items():
        if "--root" in _spellings(options) and name not in WITHOUT_STORE:
            assert "--db" in _spellings(options), name


# What reads a project's files alone.
WITHOUT_STORE = {
    "checkpoint list",
    "recipe list",
    "recipe show",
    "recipes",
    "panel list",
    "flow show",
    "init",
    "lint",
    "hook",
    "browser start",
    "store adopt",
    "store move",
}


def _spellings(options: list[click.Option]) -> set[str]:
    return {spelling for each in options for spelling in each.opts}


def test_no_option_is_hidden() -> None:
    for name, options in commands_with_options().items():
        assert not [each.opts for each in options if each.hidden], name


def test_an_import_takes_a_name_and_a_file(tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Fire the kiln."}), "utf-8")
    ran = foreword("session", "import", "one", talk, "--format", "json", cwd=tmp_path)
    assert json.loads(ran.out)["imported"] == 1
    listed = json.loads(foreword("session", "list", "--format", "json", cwd=tmp_path).out)
    assert {(each["name"], each["messages"]) for each in listed} == {("one", 1)}
    alone = foreword("session", "import", talk, cwd=tmp_path)
    assert (alone.code, alone.out) == (2, "")
    assert "FILE" in alone.err


def test_a_context_is_kept_in_the_store_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Kiln\n" + "It is hot. " * 400, "utf-8")
    store = f"sqlite:///{tmp_path}/own.db"
    ran = foreword(
        "fit", "notes.md", "--budget", "60", "--db", store, "--format", "json", cwd=tmp_path
    )
    handle = json.loads(ran.out)["report"]["omissions"][0]["handle"]
    assert not state_path(tmp_path).exists()
    recalled = foreword("recall", handle, "--db", store, "--format", "json", cwd=tmp_path)
    assert "It is hot." in json.loads(recalled.out)["text"]


def test_recipes_are_listed_by_either_name() -> None:
    assert foreword("recipe", "list") == foreword("recipes")
