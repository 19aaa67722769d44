"""Foreword in the frameworks people already use: a module for each, imported by nothing of ours.

Whoever imports one has the framework installed. Each brings the framework's own history into a
`foreword.Session` before a call and gives it the context that fits; what the framework keeps is
left as it is.
"""
