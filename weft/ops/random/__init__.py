"""Random numbers: stateful by seed, stateless, and from generators."""
