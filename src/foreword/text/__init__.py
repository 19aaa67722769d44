"""Text cut along its own structure: Markdown blocks, pieces, relevance, weight, the three ways to
shorten.

Pure functions without I/O, clock or tokenizer. Callers import the modules (`from foreword.text
import cut`).
"""
