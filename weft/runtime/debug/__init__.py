"""Records of steps, for people: dumps, traces, reports, numeric checks."""
