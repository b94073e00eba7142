"""The panes of the explorer, one module each. Data comes down from the screen, wishes go up as messages."""
