"""Masters and workers: sessions, registered graphs and steps."""
