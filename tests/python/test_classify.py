"""`classify`: exceptions of all kinds, descriptions, and text."""

from __future__ import annotations

import asyncio
import builtins
import json
import pickle
from pathlib import Path

import pytest

import hanaming
from broken_servers import closed_port, failure, frozen, serving
from hanaming import Action, Category, CompletionStatus, Context, HAContext, Node, Verdict, classify, corba

NO, MAYBE, YES = CompletionStatus.NO, CompletionStatus.MAYBE, CompletionStatus.YES
CASES = Path(__file__).resolve().parents[1] / "failure" / "cases" / "handed.jsonl"


def cases():
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines() if line.strip()]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_cases(case):
    found, expected = classify(case["input"]), case["expected"]
    completion = None if expected["completion"] == "NA" else CompletionStatus(expected["completion"])
    assert (found.completion, found.action) == (completion, Action(expected["action"]))
    if "action_if_idempotent" in expected:
        assert found.action_if_idempotent is Action(expected["action_if_idempotent"])
    assert found.category is Category(expected["category"])
    if isinstance(case["input"], str):
        assert classify(case["input"].encode()) == found


def told(x):
    found = classify(x)
    return found.category, found.completion, found.action


# -- our own --------------------------------------------------------------------------------------------------------


def test_our_own_errors(node):
    closed = [f"127.0.0.1:{closed_port()}", f"127.0.0.1:{closed_port()}"]
    with HAContext(closed, timeout=1.0) as ctx:
        assert told(failure(ctx.lookup, "x")) == (Category.ALL_UNAVAILABLE, NO, Action.RETRY_LATER)
    with HAContext(node.url) as ctx:
        ctx.bind("a", 1)
        ctx.rebind("round", hanaming.LinkRef("round"))
        table = [
            (ctx.lookup, ("missing",), (Category.NAMING_ANSWER, YES)),
            (ctx.bind, ("a", 2), (Category.NAMING_ANSWER, YES)),
            (ctx.lookup, ("a/b",), (Category.NAMING_ANSWER, YES)),
            (ctx.lookup, ("round",), (Category.NAMING_ANSWER, YES)),
            (ctx.bind, ("", 1), (Category.NAMING_ANSWER, NO)),
            (ctx.bind, ("b", "x" * 100_000), (Category.NAMING_ANSWER, NO)),
        ]
        for call, args, expected in table:
            assert told(failure(call, *args)) == (*expected, Action.SURFACE), (call, args)
    assert told(failure(ctx.lookup, "a")) == (Category.CLIENT_SHUTDOWN, NO, Action.SURFACE)
    assert told(failure(HAContext, "gopher://h")) == (Category.CONFIGURATION, NO, Action.SURFACE)


def test_our_own_errors_know_whether_they_may_be_sent_again():
    with serving(frozen) as port, Context(f"127.0.0.1:{port}", timeout=0.3) as ctx:
        error = failure(ctx.lookup, "x")
    assert (error.completion, error.safe_to_retry) == (MAYBE, True)
    assert told(error) == (Category.NO_RESPONSE, MAYBE, Action.RETRY_LATER)


def test_a_pickled_error_means_the_same(node):
    with HAContext(node.url) as ctx:
        error = failure(ctx.lookup, "missing")
    assert classify(pickle.loads(pickle.dumps(error))) == classify(error)


# -- CORBA ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "category", "completion", "action"),
    [
        (corba.TRANSIENT(0x49421040, NO), Category.QUIESCING, NO, Action.FAILOVER),
        (corba.NO_IMPLEMENT(0x49421040, NO), Category.ALL_UNAVAILABLE, NO, Action.RETRY_LATER),
        (corba.INTERNAL(0x49421040), Category.WORKLOAD_MANAGER_FAULT, MAYBE, Action.SURFACE),
        (corba.COMM_FAILURE(corba.SUN | 201, NO), Category.NOT_CONNECTED, NO, Action.FAILOVER),
        (corba.COMM_FAILURE(corba.OMNIORB | 7, MAYBE), Category.CONNECTION_LOST, MAYBE, Action.SURFACE),
        (corba.COMM_FAILURE(corba.OMNIORB | 6, YES), Category.RESULT_LOST, YES, Action.SUCCESS),
        (corba.NO_RESPONSE(0, MAYBE), Category.NO_RESPONSE, MAYBE, Action.SURFACE),
        (corba.OBJECT_NOT_EXIST(corba.OMG | 1, NO), Category.STALE_REFERENCE, NO, Action.FAILOVER),
        (corba.NO_PERMISSION(0, NO), Category.SECURITY, NO, Action.SURFACE),
        (corba.TRANSACTION_ROLLEDBACK(), Category.TRANSACTION_ROLLED_BACK, MAYBE, Action.SURFACE),
    ],
    ids=repr,
)
def test_system_exceptions(error, category, completion, action):
    assert told(error) == (category, completion, action)
    # Printed, it reads the same.
    assert told(f"hanaming.corba.{type(error).__name__}: {error}") == (category, completion, action)


def test_an_orb_s_own_classes_are_read_alike():
    # As an ORB makes them: classes of its own, and items of an enum of its own.
    class Item:
        def __init__(self, name):
            self._n = name

    class SystemException(Exception):  # noqa: N818
        def __init__(self, minor, completed):
            self.minor, self.completed = minor, completed

    class TRANSIENT(SystemException):
        pass

    for cls in (SystemException, TRANSIENT):
        cls.__module__ = "omniORB.CORBA"
    assert told(TRANSIENT(0x41540002, Item("COMPLETED_NO"))) == (Category.NOT_CONNECTED, NO, Action.FAILOVER)
    assert told(TRANSIENT(-0x7FFFFFFF, 2))[1] is MAYBE


# -- chains ---------------------------------------------------------------------------------------------------------


class AppError(Exception):
    pass


def chained(outer, cause=None, context=None):
    outer.__context__ = context
    if cause is not None:
        outer.__cause__ = cause
    return outer


def test_the_cause_decides():
    refused = ConnectionRefusedError(111, "x")
    assert told(chained(AppError("order failed"), cause=refused))[:2] == (Category.NOT_CONNECTED, NO)
    assert told(chained(AppError("order failed"), context=refused))[:2] == (Category.NOT_CONNECTED, NO)
    hidden = chained(AppError("order failed"), context=refused)
    hidden.__suppress_context__ = True
    assert told(hidden)[0] is Category.UNKNOWN


def test_a_circle_ends():
    one, two = AppError("one"), AppError("two")
    one.__cause__, two.__cause__ = two, one
    assert classify(one).category is Category.UNKNOWN
    one.args = (one,)
    assert classify(one).category is Category.UNKNOWN


def test_a_class_of_one_s_own_is_what_it_inherits_from():
    class GoneError(ConnectionResetError):
        pass

    class BusyError(AppError):
        pass

    assert told(GoneError("x"))[:2] == (Category.CONNECTION_LOST, MAYBE)
    assert told(BusyError("x")) == (Category.UNKNOWN, MAYBE, Action.SURFACE)


def test_a_group_means_what_the_worst_of_its_members_means():
    group = getattr(builtins, "ExceptionGroup", None) or pytest.importorskip("exceptiongroup").ExceptionGroup
    refused, lost = ConnectionRefusedError(), ConnectionResetError()
    assert told(group("many", [refused, TimeoutError()]))[:2] == (Category.NO_RESPONSE, MAYBE)
    assert told(group("many", [refused, lost]))[:2] == (Category.CONNECTION_LOST, MAYBE)
    assert told(group("many", [refused, group("more", [refused])])) == (Category.NOT_CONNECTED, NO, Action.FAILOVER)
    assert told(group("many", [refused, ValueError("x")]))[1:] == (MAYBE, Action.SURFACE)


def test_what_came_while_an_unknown_failure_was_handled_proves_nothing():
    refused = ConnectionRefusedError(111, "Connection refused")
    assert told(chained(refused, context=AppError("no answer"))) == (Category.UNKNOWN, MAYBE, Action.SURFACE)
    # Of a missing key no call is known.
    assert told(chained(ConnectionRefusedError(), context=KeyError("x")))[:2] == (Category.NOT_CONNECTED, NO)


def test_strangers_do_no_harm():
    class Hostile(Exception):  # noqa: N818
        def __str__(self):
            raise RuntimeError("no")

        @property
        def reason(self):
            raise RuntimeError("no")

        def code(self):
            raise RuntimeError("no")

    assert classify(Hostile()).category is Category.UNKNOWN


def test_an_application_s_own_exception_is_surfaced():
    for error in (ValueError("bad order"), KeyError("x"), ZeroDivisionError(), AssertionError(), AppError("no")):
        assert classify(error).action is Action.SURFACE
        assert classify(error).action_if_idempotent is Action.SURFACE


def stranger(module, name, *bases):
    """A class as another library has it."""
    return type(name, bases or (Exception,), {"__module__": module})


OPERATIONAL = stranger("psycopg", "OperationalError")
USER = stranger("omniORB.CORBA", "UserException")


@pytest.mark.parametrize(
    ("error", "category", "completion"),
    [
        (
            OPERATIONAL('connection failed: connection to server at "h", port 1 failed: Connection refused'),
            Category.NOT_CONNECTED,
            NO,
        ),
        (OPERATIONAL('could not translate host name "h" to address'), Category.NOT_CONNECTED, NO),
        (OPERATIONAL('FATAL:  password authentication failed for user "x"'), Category.SECURITY, NO),
        (OPERATIONAL("server closed the connection unexpectedly"), Category.CONNECTION_LOST, MAYBE),
        (OPERATIONAL("the connection is closed"), Category.CONNECTION_LOST, MAYBE),
        (stranger("psycopg.errors", "ConnectionTimeout", OPERATIONAL)("expired"), Category.NOT_CONNECTED, NO),
        (stranger("psycopg.errors", "AdminShutdown", OPERATIONAL)("x"), Category.CONNECTION_LOST, MAYBE),
        (stranger("psycopg.errors", "SerializationFailure", OPERATIONAL)("x"), Category.TRANSACTION_ROLLED_BACK, MAYBE),
        (stranger("psycopg.errors", "UniqueViolation")("x"), Category.APPLICATION, YES),
        (stranger("kazoo.exceptions", "ConnectionLoss")(), Category.CONNECTION_LOST, MAYBE),
        (stranger("kazoo.exceptions", "NoNodeError")(), Category.NAMING_ANSWER, YES),
        (stranger("kazoo.exceptions", "SessionExpiredError")(), Category.CONNECTION_LOST, MAYBE),
        (stranger("kazoo.handlers.threading", "KazooTimeoutError")("Connection time-out"), Category.NOT_CONNECTED, NO),
        (stranger("redis.exceptions", "BusyLoadingError")("loading"), Category.QUIESCING, NO),
        (stranger("redis.exceptions", "AuthenticationError")("x"), Category.SECURITY, NO),
        (stranger("redis.exceptions", "ResponseError")("WRONGTYPE"), Category.APPLICATION, YES),
        (stranger("CosNaming.NamingContext", "NotFound", USER)(), Category.NAMING_ANSWER, YES),
        (stranger("Bank", "Insufficient", USER)("x"), Category.APPLICATION, YES),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_other_libraries_are_known_by_name(error, category, completion):
    assert told(error)[:2] == (category, completion)


def test_cancellation_may_have_run():
    assert told(asyncio.CancelledError())[1:] == (MAYBE, Action.SURFACE)


# -- descriptions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("description", "category", "completion"),
    [
        ({"exception": "org.omg.CORBA.TRANSIENT", "minor": "0x49421040", "completed": None}, Category.QUIESCING, NO),
        ({"exception": "TRANSIENT", "minor": 1229066304}, Category.QUIESCING, NO),
        ({"exception": "CORBA.COMM_FAILURE", "vmcid": "SUN", "minor": 201}, Category.NOT_CONNECTED, NO),
        ({"exception": "CORBA.COMM_FAILURE", "vmcid": 0x53550000, "minor": "201"}, Category.NOT_CONNECTED, NO),
        ({"class": "COMM_FAILURE", "completed": CompletionStatus.YES}, Category.RESULT_LOST, YES),
        ({"exception": "COMM_FAILURE", "completed": "COMPLETED_NO"}, Category.NOT_CONNECTED, NO),
        ({"exception": "COMM_FAILURE", "completed": 1}, Category.NOT_CONNECTED, NO),
        ({"grpc_code": "UNAVAILABLE", "details": "failed to connect to all addresses"}, Category.NOT_CONNECTED, NO),
        ({"grpc_code": "StatusCode.DEADLINE_EXCEEDED"}, Category.NO_RESPONSE, MAYBE),
        ({"exception": "OSError", "errno": 111}, Category.NOT_CONNECTED, NO),
        ({"exception": "OSError", "code": "ECONNRESET"}, Category.CONNECTION_LOST, MAYBE),
        ({"exception": "OSError", "errno": "ECONNRESET", "phase": "connect"}, Category.NOT_CONNECTED, NO),
        ({"exception": "AppError", "cause": {"exception": "java.net.ConnectException"}}, Category.NOT_CONNECTED, NO),
        (
            {"exception": "AppError", "causes": ["x.Y: z", "java.net.ConnectException: refused"]},
            Category.NOT_CONNECTED,
            NO,
        ),
        ({"message": "java.net.SocketTimeoutException: Read timed out"}, Category.NO_RESPONSE, MAYBE),
        ({"exception": "com.example.Strange"}, Category.UNKNOWN, MAYBE),
    ],
    ids=str,
)
def test_descriptions(description, category, completion):
    assert told(description)[:2] == (category, completion)


def test_what_is_only_read_may_go_elsewhere():
    lost = {"exception": "ConnectionResetError"}
    assert classify(lost).action is Action.SURFACE
    assert classify({**lost, "op": "read"}).action is Action.FAILOVER
    assert classify({**lost, "idempotent": True}).action is Action.FAILOVER
    assert classify({**lost, "op": "write"}).action is Action.SURFACE


# -- text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "  \n", "all is well", "jdbc:oracle:thin:@h:1521:x", "0 errors, 0 warnings"])
def test_no_failure(text):
    found = classify(text)
    assert (found.category, found.completion, found.action) == (Category.NOT_A_FAILURE, None, Action.IGNORE)


def test_text_of_any_encoding():
    line = "java.net.ConnectException: Connexion refusée"
    for data in (
        line.encode("latin-1"),
        line.encode("utf-16"),
        b"\x80\xff\x00 " * 10 + line.encode(),
        bytearray(line, "utf-8"),
    ):
        assert classify(data).completion is NO, data[:20]
    assert classify(line + "\udce9").completion is NO


def test_a_file_s_name_is_not_what_stands_in_it(tmp_path):
    path = tmp_path / "server.log"
    path.write_text("java.net.ConnectException: Connection refused", encoding="utf-8")
    for name in (str(path), "/var/log/nowhere/server.log"):
        found = classify(name)
        assert found.category is Category.NOT_A_FAILURE
        assert "read_failures" in found.advice
        assert found.evidence == name
    with pytest.raises(TypeError, match="read_failures"):
        classify(path)
    with pytest.raises(TypeError, match="not int"):
        classify(1)


# -- the verdict ----------------------------------------------------------------------------------------------------


def test_a_verdict_is_shown_kept_and_compared():
    found = classify(ConnectionRefusedError(111, "x"))
    assert isinstance(found, Verdict)
    assert repr(found) == "<Verdict not_connected/connect_refused NO: failover>"
    assert found.confidence > 0.9
    assert found.advice
    assert found.reason
    assert "ConnectionRefusedError" in found.evidence
    assert pickle.loads(pickle.dumps(found)) == found
    assert json.loads(json.dumps(found.as_dict()))["completion"] == "NO"
    assert "not_connected" in found._repr_html_()
    assert "<script>" not in classify("java.net.ConnectException: <script>")._repr_html_()


def test_a_node_that_is_closed_in_this_process():
    with Node("n1") as node:
        local = node.local
    assert told(failure(local.lookup, "x"))[0] is Category.CLIENT_SHUTDOWN


@pytest.mark.parametrize("text", ["word " * 120, "x" * 500, "\ud800/x", "a" * 300 + ".log"])
def test_prose_that_no_file_could_be_named_is_no_failure(text):
    assert classify(text).category is Category.NOT_A_FAILURE


def raised_while_a_reset_is_handled(later):
    try:
        raise ConnectionResetError(104, "reset by peer")  # noqa: TRY301 - as it happens
    except ConnectionResetError:
        raise later  # noqa: B904 - its context is the point


@pytest.mark.parametrize(
    "later",
    [
        corba.BAD_INV_ORDER(0x4F4D0004, corba.COMPLETED_NO),
        hanaming.NameNotFoundError("x"),
        hanaming.ContextClosedError("c"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_raised_while_a_lost_call_is_handled_says_nothing_of_that_call(later):
    found = classify(failure(raised_while_a_reset_is_handled, later))
    assert (found.completion, found.action) == (MAYBE, Action.SURFACE)


def test_a_description_whose_causes_lead_round_is_refused():
    given = {"exception": "java.net.ConnectException"}
    given["cause"] = given
    with pytest.raises(ValueError, match="lead round in a circle"):
        classify(given)
    deep = {"exception": "java.net.ConnectException", "message": "Connection refused"}
    for _ in range(64):
        deep = {"exception": "a.WrapperException", "cause": deep}
    assert classify(deep).category
