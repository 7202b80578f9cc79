"""`python -m hanaming` is the `hanaming` program."""

import sys

from hanaming.cli import main

sys.exit(main())
