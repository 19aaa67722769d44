"""Material for trying things out: sample projects, the practice site, the scripted model."""
