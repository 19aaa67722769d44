"""Find what was said and written about a question, within a budget, in everything that is kept."""
