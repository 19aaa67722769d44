"""What every server of ours has, whatever it speaks: stores, sessions, threads, live updates."""
