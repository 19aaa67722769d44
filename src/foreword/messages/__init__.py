"""Messages as their providers, frameworks and users wrote them, each with a view of what it says.

`message` has the values, `shapes` the table of all shapes, and each shape a module of its own.
"""
