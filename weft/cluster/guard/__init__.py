"""Security, quotas, keep-alives and diagnosis of connections."""
