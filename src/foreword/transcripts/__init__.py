"""Sessions that coding agents have left in files, and recorded conversations of any kind.

Claude Code, Codex, Gemini CLI and opencode have one event reader each; `plumbing` decides whose
words a text is. `reader` recognizes a file and goes through what was said in it, `import_file`
reads one whole to import it, `places` finds those on this machine. Modules here are imported one by
one: the store needs only the marks of an import.
"""
