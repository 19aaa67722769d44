"""What is to be done: plans, variables, the nodes of a workflow, the phases of a flow. Plain
values and their rules."""
