"""Summaries for TensorBoard: what adds them to a graph, and what writes them to event files."""
