"""Running recipes on real projects: from names and paths to a package that is kept in the store."""
