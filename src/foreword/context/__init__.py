"""Making a context: from a recipe and a project to sections, and from those to a package."""
