"""What a workflow's conversation is built from: plan, snapshot, variables, and what in them is secret.

Pure: values in, values and text out. Where they are kept is the store's business, when they change the tools'.
"""
