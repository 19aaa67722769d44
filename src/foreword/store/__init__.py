"""What outlives a process: workflows and their conversations, originals by handle, reports, what
sessions carry on."""
