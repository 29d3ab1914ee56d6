"""Queues, readers, accumulators, barriers and staging areas."""
