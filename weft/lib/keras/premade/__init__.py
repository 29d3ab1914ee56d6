"""Models that are ready to be used."""
