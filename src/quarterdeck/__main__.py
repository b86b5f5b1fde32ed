"""``python -m quarterdeck``."""

import sys

from quarterdeck.cli import main

sys.exit(main())
