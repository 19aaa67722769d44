"""Long conversations made short: what stands in for messages that no longer fit, who said it, and
whether a summary says only what they say."""
