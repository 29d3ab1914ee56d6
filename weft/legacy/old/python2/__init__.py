"""Python 2, translated in memory: `tokens` and `statements` its syntax, `meaning` its meaning."""
