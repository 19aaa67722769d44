"""The types of nodes and what they take, in the few words that a model reads with each request.

Made from the same shapes as checks, forms and documentation: a type, its fields, a question mark
behind those that may be left away.
"""

from __future__ import annotations

from collections.abc import Iterable

from foreword.plan.node_shape import CONFIGS

# Of every action on a page, told once for all of them.
COMMON = ("tab", "timeout", "retries", "on_failure", "dialog", "dialog_text")


def outline(kinds: Iterable[str]) -> str:
    """Each type with its fields: `click {selector, button?: left | right | middle}`."""
    return "; ".join(f"{kind} {{{', '.join(_fields(kind))}}}" for kind in kinds)


def _fields(kind: str) -> list[str]:
    schema = CONFIGS[kind].model_json_schema()
    needed = schema.get("required", ())
    written = list[str]()
    for name, field in schema["properties"].items():
        if name in COMMON:
            continue
        mark = "" if name in needed else "?"
        options = f": {' | '.join(field['enum'])}" if 0 < len(field.get("enum", ())) < 4 else ""
        written.append(f"{name}{mark}{options}")
    return sorted(written, key=lambda text: "?" in text)


def markdown_table() -> str:
    """Every type of node with what it does and what it takes, for the documentation."""
    lines = ["| type | does | takes |", "|---|---|---|"]
    for kind, shape in CONFIGS.items():
        schema = shape.model_json_schema()
        takes = list[str]()
        for name in _fields(kind):
            plain = name.partition(":")[0].rstrip("?")
            takes.append(
                f"`{name.replace('|', 'or')}` {schema['properties'][plain]['description']}"
            )
        lines.append(f"| `{kind}` | {schema['description']} | {'<br>'.join(takes) or 'nothing'} |")
    return "\n".join(line.replace("\n", " ") for line in lines)
