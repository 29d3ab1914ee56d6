"""What programs have around their graphs: flags, an entry point, logging, tests, versions."""
