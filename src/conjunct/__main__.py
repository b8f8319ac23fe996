"""Run the command ``conjunct`` as ``python -m conjunct``."""

import sys

from conjunct.cli import main

sys.exit(main())
