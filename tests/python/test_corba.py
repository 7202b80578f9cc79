"""CORBA's system exceptions without an ORB."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from hanaming import CompletionStatus, corba

CLASSES = [cls for _, cls in inspect.getmembers(corba, inspect.isclass) if issubclass(cls, corba.SystemException)]


def test_all_of_the_standard_s_are_there():
    assert len(CLASSES) == 40
    assert {"COMM_FAILURE", "TRANSIENT", "OBJECT_NOT_EXIST", "TRANSACTION_ROLLEDBACK"} <= {
        cls.__name__ for cls in CLASSES
    }


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_they_keep_what_they_carry(cls):
    error = cls(0x49421040, CompletionStatus.NO)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is cls
        assert (twin.minor, twin.completed) == (0x49421040, CompletionStatus.NO)
        assert twin == error
        assert hash(twin) == hash(error)


def test_defaults_are_the_mapping_s():
    error = corba.TRANSIENT()
    assert (error.minor, error.completed) == (0, CompletionStatus.MAYBE)
    assert error != corba.COMM_FAILURE()
    assert error != corba.TRANSIENT(1)
    assert error == corba.TRANSIENT(0, corba.COMPLETED_MAYBE)


def test_they_are_shown_as_orbs_show_them():
    error = corba.COMM_FAILURE(corba.OMNIORB | 7)
    assert repr(error) == "COMM_FAILURE(0x41540007, MAYBE)"
    assert str(error) == "vmcid: 0x41540000  minor code: 0x7  completed: MAYBE"


def test_other_spellings_are_understood():
    assert corba.TRANSIENT(-1229066304 - 1).minor == 0xB6BDEFBF
    assert corba.TRANSIENT(0, "COMPLETED_NO").completed is CompletionStatus.NO
    assert corba.TRANSIENT(completed="Yes").completed is CompletionStatus.YES
    with pytest.raises(ValueError, match="minor is 4294967296: it can be from"):
        corba.TRANSIENT(1 << 32)
    with pytest.raises(ValueError, match="completed is 'perhaps'"):
        corba.TRANSIENT(0, "perhaps")
