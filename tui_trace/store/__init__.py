"""Columns, interned names and the event store keyed by correlation."""
