"""The schema, and its creation in a new database.

`{names}` stand for what the two databases spell differently.
"""

from __future__ import annotations

from collections.abc import Mapping

from foreword.errors import StoreError
from foreword.store.database import Database

SQLITE = {
    "id": "INTEGER PRIMARY KEY",
    "number": "INTEGER",
    "key": "TEXT",
    "bytes": "BLOB",
    "keyed": "WITHOUT ROWID",
    "data": "",
    # Fed with terms that `search_index` has made: a tokenizer has nothing to do but to part them.
    "search_words": (
        "CREATE VIRTUAL TABLE search_words USING fts5(words, content='', contentless_delete=1,"
        " detail=none, tokenize=\"ascii tokenchars '_'\")"
    ),
    "director_plans": "",  # a file that was named by a user may hold programs, so views don't run
}
# What people write is kept as they wrote it, in `written`; `data` is the same for SQL to look into.
# jsonb forgets the order of keys and takes neither NUL nor half characters, so it can't be the
# original. Keys are compared by their bytes, as in SQLite, whatever the language of the database.
POSTGRES = {
    "id": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "number": "bigint",
    "key": 'TEXT COLLATE "C"',
    "bytes": "bytea",
    "keyed": "",
    "data": (
        ", data jsonb GENERATED ALWAYS AS (regexp_replace(written,"
        " '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g')::jsonb) STORED"
    ),
    "search_words": (
        "CREATE TABLE search_words (rowid bigint PRIMARY KEY, words tsvector NOT NULL);\n"
        "CREATE INDEX search_words_in ON search_words USING gin (words)"
    ),
    # For programs that know plans as a table of that name; a plan's id is the same at every look.
    "director_plans": (
        "CREATE VIEW director_plans AS SELECT md5(workflow || ' ' || version)::uuid AS id,"
        " workflow AS workflow_id, version AS plan_version, data AS plan_data,"
        " (data ->> 'created_at')::timestamptz AS created_at,"
        " (data ->> 'updated_at')::timestamptz AS updated_at FROM plans;\n"
    ),
}

VERSION = 1
TABLES = """
CREATE TABLE originals (
    handle {key} PRIMARY KEY,
    created {key} NOT NULL,
    body {bytes} NOT NULL
) {keyed};
CREATE TABLE carried (
    name {key} NOT NULL,
    kind {key} NOT NULL,
    title {key} NOT NULL,
    item TEXT NOT NULL,
    PRIMARY KEY (name, kind, title)
) {keyed};
CREATE TABLE workflows (
    id {id},
    name {key} NOT NULL UNIQUE,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    revision {number} NOT NULL,
    written TEXT NOT NULL {data},
    last_node {number} NOT NULL DEFAULT 0
);
CREATE TABLE nodes (
    workflow {number} NOT NULL REFERENCES workflows (id),
    node {key} NOT NULL,
    position {number} NOT NULL,
    updated TEXT NOT NULL,
    written TEXT NOT NULL {data},
    PRIMARY KEY (workflow, node)
);
CREATE TABLE plans (
    workflow {number} NOT NULL REFERENCES workflows (id),
    version {number} NOT NULL,
    reason TEXT NOT NULL,
    created TEXT NOT NULL,
    written TEXT NOT NULL {data},
    PRIMARY KEY (workflow, version)
);
CREATE TABLE variables (
    id {id},
    workflow {number} NOT NULL REFERENCES workflows (id),
    name {key} NOT NULL,
    updated TEXT NOT NULL,
    written TEXT NOT NULL {data},
    UNIQUE (workflow, name)
);
CREATE TABLE variable_changes (
    id {id},
    workflow {number} NOT NULL REFERENCES workflows (id),
    name TEXT NOT NULL,
    action TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    reason TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX variable_changes_of ON variable_changes (workflow, id);
CREATE TABLE conversations (
    id {id},
    workflow {number} NOT NULL REFERENCES workflows (id),
    name {key} NOT NULL,
    created TEXT NOT NULL,
    counter TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    warned {number} NOT NULL,
    quiet_until {number} NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}',
    revision {number} NOT NULL DEFAULT 0,
    call {number} NOT NULL DEFAULT 0,
    call_last {number} NOT NULL DEFAULT 0,
    call_tokens {number} NOT NULL DEFAULT 0,
    call_running {number} NOT NULL DEFAULT 0,
    call_entry {number} NOT NULL DEFAULT 0,
    call_open TEXT NOT NULL DEFAULT '[]',
    call_again {number} NOT NULL DEFAULT 0,
    cut_due TEXT NOT NULL DEFAULT '[]',
    state TEXT NOT NULL DEFAULT '{}',
    sent TEXT NOT NULL DEFAULT '',
    UNIQUE (workflow, name)
);
CREATE TABLE messages (
    conversation {number} NOT NULL REFERENCES conversations (id),
    seq {number} NOT NULL,
    kind TEXT NOT NULL,
    pinned {number} NOT NULL,
    tokens {number} NOT NULL,
    running {number} NOT NULL,
    place {number} NOT NULL,
    created TEXT NOT NULL,
    written TEXT NOT NULL {data},
    branch {number} NOT NULL DEFAULT 0,
    answers {number} NOT NULL DEFAULT 0,
    PRIMARY KEY (conversation, seq)
);
CREATE INDEX pinned_messages ON messages (conversation, seq) WHERE pinned = 1;
CREATE TABLE compressions (
    conversation {number} NOT NULL REFERENCES conversations (id),
    number {number} NOT NULL,
    last {number} NOT NULL,
    summary TEXT NOT NULL,
    method TEXT NOT NULL,
    note TEXT NOT NULL,
    replaced_tokens {number} NOT NULL,
    summary_tokens {number} NOT NULL,
    tokens_before {number} NOT NULL,
    tokens_after {number} NOT NULL,
    created TEXT NOT NULL,
    undone {number} NOT NULL,
    excerpts TEXT NOT NULL,
    left_out {number} NOT NULL,
    PRIMARY KEY (conversation, number)
);
CREATE TABLE cuts (
    conversation {number} NOT NULL REFERENCES conversations (id),
    number {number} NOT NULL,
    created TEXT NOT NULL,
    call {number} NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    recipe TEXT NOT NULL,
    tools TEXT NOT NULL,
    start {number} NOT NULL,
    last {number} NOT NULL,
    head TEXT NOT NULL,
    total_tokens {number} NOT NULL,
    omitted_messages {number} NOT NULL,
    omitted_tokens {number} NOT NULL,
    reread_tokens {number} NOT NULL,
    thinking {number} NOT NULL,
    PRIMARY KEY (conversation, number)
);
CREATE TABLE log_entries (
    conversation {number} NOT NULL REFERENCES conversations (id),
    cut {number} NOT NULL,
    number {number} NOT NULL,
    place {number} NOT NULL,
    kind TEXT NOT NULL,
    tokens {number} NOT NULL,
    written TEXT NOT NULL,
    PRIMARY KEY (conversation, cut, number)
);
CREATE TABLE ranges (
    handle {key} PRIMARY KEY,
    conversation {number} NOT NULL REFERENCES conversations (id),
    first {number} NOT NULL,
    last {number} NOT NULL,
    branch {number} NOT NULL DEFAULT 0
) {keyed};
CREATE TABLE checkpoints (
    id {id},
    workflow {number} NOT NULL REFERENCES workflows (id),
    name {key} NOT NULL,
    created TEXT NOT NULL,
    done TEXT NOT NULL,
    UNIQUE (workflow, name)
);
CREATE TABLE reports (
    id {id},
    created TEXT NOT NULL,
    recipe TEXT NOT NULL,
    total_tokens {number} NOT NULL,
    budget_tokens {number} NOT NULL,
    report TEXT NOT NULL,
    conversation {number} REFERENCES conversations (id),
    usage TEXT
);
CREATE INDEX reports_of ON reports (conversation, id);
CREATE TABLE artifacts (
    run {key} NOT NULL,
    name {key} NOT NULL,
    task {key} NOT NULL,
    phase TEXT NOT NULL,
    title TEXT NOT NULL,
    tokens {number} NOT NULL,
    handle {key} NOT NULL,
    created TEXT NOT NULL,
    PRIMARY KEY (run, name)
) {keyed};
CREATE INDEX artifacts_of ON artifacts (task);
CREATE TABLE workers (
    executor {key} PRIMARY KEY,
    host TEXT NOT NULL,
    pid {number} NOT NULL,
    started {number} NOT NULL,
    seen {number} NOT NULL,
    gone {number} NOT NULL
) {keyed};
CREATE TABLE node_runs (
    id {id},
    workflow {number} NOT NULL REFERENCES workflows (id),
    run {key} NOT NULL,
    attempt {number} NOT NULL,
    status TEXT NOT NULL,
    executor TEXT NOT NULL,
    failed_at TEXT NOT NULL,
    started TEXT NOT NULL,
    updated TEXT NOT NULL,
    UNIQUE (workflow, run)
);
CREATE TABLE node_results (
    id {id},
    workflow {number} NOT NULL REFERENCES workflows (id),
    run {key} NOT NULL,
    key {key} NOT NULL,
    node {key} NOT NULL,
    status TEXT NOT NULL,
    created TEXT NOT NULL,
    written TEXT NOT NULL {data},
    UNIQUE (workflow, run, key)
);
CREATE INDEX node_results_of ON node_results (workflow, node, id);
CREATE TABLE append_keys (
    conversation {number} NOT NULL REFERENCES conversations (id),
    name {key} NOT NULL,
    digest TEXT NOT NULL,
    receipt TEXT NOT NULL,
    created TEXT NOT NULL,
    PRIMARY KEY (conversation, name)
) {keyed};
CREATE TABLE node_steps (
    id {id},
    workflow {number} NOT NULL REFERENCES workflows (id),
    run {key} NOT NULL,
    attempt {number} NOT NULL,
    key {key} NOT NULL,
    node {key} NOT NULL,
    status TEXT NOT NULL,
    began TEXT NOT NULL,
    ended TEXT NOT NULL
);
CREATE INDEX node_steps_of ON node_steps (workflow, run, id);
CREATE TABLE client_messages (
    conversation {number} NOT NULL REFERENCES conversations (id),
    place {number} NOT NULL,
    seq {number} NOT NULL,
    chain TEXT NOT NULL,
    PRIMARY KEY (conversation, place)
) {keyed};
CREATE TABLE search_sources (
    id {id},
    kind {key} NOT NULL,
    name {key} NOT NULL,
    stamp TEXT NOT NULL,
    about TEXT NOT NULL,
    last {number} NOT NULL,
    entries {number} NOT NULL,
    UNIQUE (kind, name)
);
CREATE TABLE search_entries (
    id {id},
    source {number} NOT NULL REFERENCES search_sources (id),
    number {number} NOT NULL,
    part {number} NOT NULL,
    field {key} NOT NULL,
    about TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (source, number, part)
);
{search_words};
CREATE INDEX messages_in_branches ON messages (conversation, seq, branch) WHERE branch > 0;
CREATE TABLE answer_usage (
    conversation {number} NOT NULL REFERENCES conversations (id),
    answer {key} NOT NULL,
    created TEXT NOT NULL,
    model TEXT NOT NULL,
    input {number} NOT NULL,
    cached {number} NOT NULL,
    written {number} NOT NULL,
    written_hour {number} NOT NULL,
    output {number} NOT NULL,
    PRIMARY KEY (conversation, answer)
) {keyed};
{director_plans}"""


def create_schema(db: Database, spelling: Mapping[str, str]) -> None:
    """Create the tables in a new database, one process at a time.

    Raises `StoreError` where the database has a schema of another version, and changes nothing.
    """
    if not checked_version(db):
        with db.transaction("foreword: schema"):
            if not checked_version(db):
                db.create_schema(in_dialect(TABLES, spelling), VERSION)


def checked_version(db: Database) -> int:
    """Return the version of the schema, 0 for a new database; raise where it is another one."""
    version = db.version()
    if version not in (0, VERSION):
        raise StoreError(
            f"{db.name} was written by another Foreword (schema {version}, this one knows"
            f" {VERSION})",
            hint="use the Foreword that wrote it, or another database",
        )
    return version


def in_dialect(script: str, spelling: Mapping[str, str]) -> str:
    """Return the script in the words of one database."""
    for name, words in spelling.items():
        script = script.replace(f"{{{name}}}", words)
    return script
