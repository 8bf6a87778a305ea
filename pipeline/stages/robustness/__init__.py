"""Findings tested again with look-alikes of their images; only if asked for."""
