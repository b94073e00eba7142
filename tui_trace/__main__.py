"""`python -m tui_trace`."""

from __future__ import annotations

import sys

from tui_trace.cli import main

sys.exit(main())
