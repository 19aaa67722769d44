"""Recipes: what a context is made of, as data. Reading and checking them; the built-in ones are
in `builtin/`."""
