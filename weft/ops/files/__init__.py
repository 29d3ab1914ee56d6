"""Checkpoints and summaries as operations."""
