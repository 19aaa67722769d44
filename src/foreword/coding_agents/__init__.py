"""Foreword inside coding agents: what their hooks are answered, their status line, and the files
`init` writes.

Below the faces and above the runtime. Modules here are imported one by one: a hook that has nothing
to do must cost next to nothing, so what is heavy is imported where it is used.
"""
