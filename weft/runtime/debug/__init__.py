"""What a step did, for people: dumps, traces, reports, numeric checks."""
