"""Computing in half precision with variables in full: policies, variables, loss scales."""
