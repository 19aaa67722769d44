"""One module for each kind of text: how it falls into pieces that stay or go whole.

`layout_of` is the one way in. Modules that need a parser of their own are imported when a text of
their kind is cut.
"""

from __future__ import annotations

from functools import partial

from foreword.text.content_type import GRAMMARS
from foreword.text.pieces import Layout, Over

__all__ = ["layout_of"]


def layout_of(text: str, kind: str, over: Over) -> Layout:
    """The pieces of a text of that kind (`content_type`)."""
    if kind == "python":
        from foreword.text.layouts import python_code

        return python_code.layout(text, over)
    if kind in ("code", "sql") or kind in GRAMMARS:
        from foreword.text.layouts import code

        return code.sql_layout(text, over) if kind == "sql" else code.layout(text, kind, over)
    if kind == "diff":
        from foreword.text.layouts import diff

        return diff.layout(text)
    if kind in ("json", "yaml", "settings"):
        from foreword.text.layouts import data

        if kind == "settings":
            return data.settings_layout(text)
        return data.json_layout(text, over) if kind == "json" else data.yaml_layout(text, over)
    if kind in ("log", "table"):
        from foreword.text.layouts import entries

        return entries.log_layout(text, over) if kind == "log" else entries.table_layout(text)
    if kind == "markup":
        from foreword.text.layouts import markup

        return markup.layout(text, over)
    from foreword.text.document_blocks import document_blocks
    from foreword.text.layouts import prose

    return prose.layout(text, over, partial(document_blocks, kind=kind))
