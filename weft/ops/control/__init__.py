"""Conditionals, loops, assertions, printing and critical sections."""
