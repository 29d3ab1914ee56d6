"""Variables: their nodes, classes, scopes, initializers and optimizer updates."""
