"""Recording all that a process does, on one time axis, for `weft trace`."""
