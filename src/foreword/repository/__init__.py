"""The files and regions of a code base that a task is about."""
