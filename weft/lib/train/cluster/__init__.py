"""Cluster specifications, resolvers and device setters."""
