"""Monitored sessions, supervisors, hooks and coordinators."""
