"""``python -m quarterdeck``."""

import sys

from quarterdeck.cli.main import main

sys.exit(main())
