"""What outlives a process: originals by handle, reports, items carried from session to session."""
