"""A device for every node: constraints, costs, a simulated step."""
