"""What a failure means: did the call run, and may it be sent again?

An exception object, a description or text becomes a chain of what was thrown, which the core's tables judge; nothing is
decided here. Exceptions of other libraries are known by their classes' names and what hangs on them, so none of those is
imported. Whole logs are read as they come, in constant memory.
"""

from hanaming.classification.classifier import classify
from hanaming.classification.report import Event, Group, Report, read_failures
from hanaming.classification.verdict import Verdict

__all__ = ["Event", "Group", "Report", "Verdict", "classify", "read_failures"]
