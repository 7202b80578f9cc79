"""What operations return beside values: small, frozen, picklable, comparable.

Rust builds them by position, so the order of fields is part of the agreement with `src/python/records.rs`. Each has
a short `repr` and, where people look at it, an HTML form for notebooks; showing one never uses the network.
"""

from .answers import Binding, Event, Instance, Listing, NameEntry, OperationStatus, Receipt, Resolution
from .attempts import Attempt, Attempts
from .cluster import Member, NodeStatus, Setting, TreeCopy, View
from .findings import CheckReport, Conflict, Hidden, Mismatch
from .targets import Metrics, Target, Targets

__all__ = [
    "Attempt",
    "Attempts",
    "Binding",
    "CheckReport",
    "Conflict",
    "Event",
    "Hidden",
    "Instance",
    "Listing",
    "Member",
    "Metrics",
    "Mismatch",
    "NameEntry",
    "NodeStatus",
    "OperationStatus",
    "Receipt",
    "Resolution",
    "Setting",
    "Target",
    "Targets",
    "TreeCopy",
    "View",
]
