"""Loops and conditionals folded into structured nodes, and unfolded again."""
