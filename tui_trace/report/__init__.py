"""What a trace says, in words and in files. Sentences and number formats are shared with the screens."""
