"""Arrays made, shaped, joined, cut and indexed."""
