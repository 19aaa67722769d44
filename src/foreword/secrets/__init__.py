"""Finding and hiding secrets: by name, by shape, by a value that is known."""
