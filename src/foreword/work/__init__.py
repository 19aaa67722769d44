"""Agents at work: tasks, flows and panels, their runs on the durable engine, checkpoints and
artifacts."""
