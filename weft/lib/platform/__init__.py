"""The surroundings of a program's graphs: flags, an entry point, logging, tests, versions."""
