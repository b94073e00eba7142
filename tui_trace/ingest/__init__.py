"""Bytes to columns: open, cut, skip, decode, count what was wrong."""
