"""The commands that look at a dump: the options and the answer of each, a module for a few."""
