"""Where material comes from: files, git, commands, items. All reading of the outside world by the
engine is here.

Callers import the modules (`from foreword.sources import files`). What a section does with the
material is decided elsewhere.
"""
