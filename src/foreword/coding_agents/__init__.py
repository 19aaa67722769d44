"""Foreword inside coding agents: what their hooks are answered, their status line, and the files
`init` writes.

Below the faces and above `context`, `session` and `work`. Modules here are imported one by one: a
hook that has nothing to do must cost next to nothing, so heavy imports are where they are used.
"""
