"""``python -m conjunct`` is the command ``conjunct``."""

import sys

from conjunct.cli import main

sys.exit(main())
