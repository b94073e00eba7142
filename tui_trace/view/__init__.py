"""What the screens show, worked out without a screen.

Everything here is pure: arrays and frozen values in, text runs out. Textual and Rich are not imported,
so every rule of the drawing can be tested on numbers alone.
"""
