"""Reads old programs without running them: which names they use, and whether weft has those."""
