"""Pure functions on arrays: what the ops of a replay say."""
