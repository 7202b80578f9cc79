"""The client commands against one node: output, exit status, errors; each in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from cli_support import HANAMING, LIMIT, closed_port, deaf_server, environment, run, serving, without_replies
from hanaming import __version__

COMMANDS = [
    "demo",
    "serve",
    "lookup",
    "bind",
    "rebind",
    "unbind",
    "ls",
    "tree",
    "resolve",
    "check",
    "status",
    "quiesce",
]


@pytest.fixture(scope="module")
def node():
    with serving("--name", "solo") as served:
        yield served


@pytest.fixture
def hanaming(node):
    def call(*args, **kwargs):
        return run(*args, provider=node.url, **kwargs)

    return call


def test_bind_lookup_rebind_unbind(hanaming):
    assert hanaming("bind", "cycle", '{"url": "http://10.0.0.5"}').status == 0
    found = hanaming("lookup", "cycle")
    assert (found.status, json.loads(found.out), found.err) == (0, {"url": "http://10.0.0.5"}, "")
    assert hanaming("rebind", "cycle", "2").status == 0
    assert hanaming("lookup", "cycle").out == "2\n"
    gone = hanaming("unbind", "cycle", "--json")
    assert (gone.status, json.loads(gone.out)) == (0, {"removed": True})
    again = hanaming("unbind", "cycle")
    assert (again.status, again.out) == (0, "")
    assert "nothing was bound" in again.err


def test_a_receipt_says_who_holds_it(hanaming):
    made = hanaming("bind", "receipts/one", "1", "-p", "--json")
    assert made.status == 0
    receipt = json.loads(made.out)
    assert receipt["acked_by"] == ["solo"]
    assert (receipt["live"], receipt["members"]) == (1, 1)


def test_naming_answers_are_exit_status_1(hanaming):
    missing = hanaming("lookup", "nothing/here")
    assert (missing.status, missing.out) == (1, "")
    assert missing.err.startswith("hanaming: ")
    assert "nothing/here" in missing.err
    assert missing.err.count("\n") == 1
    assert hanaming("bind", "taken", "1").status == 0
    taken = hanaming("bind", "taken", "2")
    assert taken.status == 1
    assert "taken" in taken.err
    assert hanaming("bind", "no/parent", "1").status == 1
    assert hanaming("ls", "taken").status == 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["lookup"], "Missing argument"),
        (["lookup", "a//b"], "a//b"),
        (["bind", "", "1"], "name"),
        (["bind", "a", "http://x"], "a string needs quotes"),
        (["bind", "a", str(2**63)], "64"),
        (["bind", "a", r'"\ud800"'], "surrogate"),
        (["bind", "a", r'{"$reference": {"class_name": "\ud800"}}'], "surrogate"),
        (["bind", "a", "[1e999]"], '{"$float": "inf"}'),
        (["bind", b"\xff\xfe", "1"], r"not UTF-8: '\xff\xfe'"),
        (["lookup", "a", b"b\xff"], r"not UTF-8: 'b\xff'"),
        (["ls", "--provider", b"hn://\xff"], r"not UTF-8: 'hn://\xff'"),
        (["ls", "--provider", ""], "no address"),
        (["quiesce", "--provider", "a1,a2"], "quiesce takes exactly one node's address"),
        (["ls", "a", "b\x1b[2J\n"], r"b\x1b[2J\n"),
        (["lookup", "a", "--timeout", "0"], "--timeout"),
        (["lookup", "a", "b", "--raw"], "one name"),
        (["ls", "--tree", "forest"], "forest"),
        (["ls", "--tree", "cluster", "--local"], "--tree cluster"),
        (["tree", "--tree", "cluster", "--local"], "--tree cluster"),
        (["frobnicate"], "frobnicate"),
        (["bind", "a", "-1"], "'hanaming bind … -- -1'"),
        (["--json", "lookup", "a"], "'hanaming lookup --json …'"),
        (["lookup", "a", "--timeout", "abc"], "'abc' is not a valid number of seconds"),
        (["tree", "--depth", "x"], "'x' is not a valid whole number"),
        (["serve", "--listen", "no.such.invalid"], "its host name does not resolve"),
        (["lookup", "x", "--provider", "hn://h:99999"], "99999"),
    ],
)
def test_usage_is_exit_status_2_and_says_what_is_wrong(hanaming, args, says):
    wrong = hanaming(*args)
    assert wrong.status == 2
    assert wrong.out == ""
    assert says in wrong.err
    assert "Traceback" not in wrong.err


def test_unreachable_is_exit_status_3_with_attempts_under_v():
    provider = closed_port()
    plain = run("lookup", "a", provider=provider)
    assert plain.status == 3
    assert plain.err.count("\n") == 1
    shown = run("lookup", "a", "-v", provider=provider)
    assert shown.status == 3
    assert "1. " in shown.err
    assert "connect" in shown.err
    assert "completed NO" in shown.err


def test_a_change_whose_reply_is_lost_is_exit_status_4(node):
    with without_replies(node.address) as provider:
        lost = run("bind", "--local", "a", "1", "--timeout", "1", provider=provider)
        assert lost.status == 4
        assert "may have run" in lost.err
        # It did run, as it happens.
        assert run("lookup", "--local", "a", provider=node.url).out == "1\n"
        # A read leaves nothing behind that would be unknown.
        assert run("lookup", "--local", "a", "--timeout", "1", provider=provider).status == 3


def test_a_change_that_a_server_never_took_is_exit_status_3():
    with deaf_server() as provider:
        refused = run("bind", "--local", "a", "1", "--timeout", "0.5", provider=provider)
        assert refused.status == 3
        assert "Safe to retry" in refused.err


def test_the_attempts_of_a_success_are_shown_on_standard_error(hanaming, node):
    assert hanaming("bind", "seen", "1").status == 0
    shown = hanaming("lookup", "seen", "-v")
    assert shown.out == "1\n"
    assert node.address in shown.err
    assert "answer" in shown.err


def test_several_names_at_once(hanaming):
    for name in ("many-a", "many-b"):
        assert hanaming("bind", name, f'"{name}"').status == 0
    both = hanaming("lookup", "many-a", "many-b")
    assert (both.status, json.loads(both.out)) == (0, {"many-a": "many-a", "many-b": "many-b"})
    some = hanaming("lookup", "many-a", "many-c")
    assert (some.status, json.loads(some.out)) == (1, {"many-a": "many-a"})
    assert "many-c" in some.err


def test_every_json_form_goes_in_and_comes_out(hanaming):
    document = {
        "bytes": {"$bytes": "AP8="},
        "link": {"$link": "elsewhere"},
        "reference": {
            "$reference": {"class_name": "C", "addresses": [["url", "x"], ["k", {"$bytes": "AA=="}]], "factory": None}
        },
        "float": {"$float": "inf"},
        "dict": {"$dict": {"$link": "plain"}},
        "more": [None, True, 1, 1.0, "ü", {}],
    }
    assert hanaming("bind", "forms", "-", stdin=json.dumps(document)).status == 0
    assert json.loads(hanaming("lookup", "forms").out) == document


def test_raw_prints_strings_and_bytes_as_they_are(hanaming):
    assert hanaming("bind", "raw-text", '"plain text"').status == 0
    assert hanaming("lookup", "--raw", "raw-text").out == "plain text\n"
    assert hanaming("bind", "raw-bytes", '{"$bytes": "AGhpCg=="}').status == 0
    assert hanaming("lookup", "--raw", "raw-bytes").out == "\x00hi\n"


def test_links(hanaming):
    assert hanaming("bind", "link-target", '"there"').status == 0
    assert hanaming("bind", "a-link", '{"$link": "link-target"}').status == 0
    assert hanaming("lookup", "a-link").out == '"there"\n'
    assert json.loads(hanaming("lookup", "--no-follow", "a-link").out) == {"$link": "link-target"}


def test_listing(hanaming):
    assert hanaming("bind", "-p", "list/inner/x", '"v"').status == 0
    assert hanaming("bind", "list/b", "2").status == 0
    # Each name can be given back to `lookup` as it is.
    assert hanaming("ls", "list").out == "list/b\nlist/inner\n"
    rows = {row["name"]: row for row in json.loads(hanaming("ls", "list", "--json").out)}
    assert rows["list/b"]["value"] == 2
    assert rows["list/b"]["node"] == "solo"
    assert rows["list/inner"]["kind"] == "context"
    assert "value" not in rows["list/inner"]
    table = hanaming("ls", "-l", "list").out
    assert table.splitlines()[0].split() == ["name", "kind", "source", "node", "value"]
    shown = hanaming("tree", "list")
    assert shown.out == 'list\n├── b  2  [solo]\n└── inner\n    └── x  "v"  [solo]\n'
    assert "2 bindings in 1 context\n" in shown.err
    assert hanaming("tree", "list", "--depth", "1", "-q").out == "list\n├── b  2  [solo]\n└── inner\n"
    nested = json.loads(hanaming("tree", "list", "--json").out)
    assert nested[1]["children"][0]["name"] == "list/inner/x"


def test_a_context_is_said_to_be_one(hanaming):
    assert hanaming("bind", "-p", "some-context/x", "1").status == 0
    found = hanaming("lookup", "some-context")
    assert (found.status, json.loads(found.out)) == (0, {"$context": "some-context"})
    assert "hanaming ls" in found.err


def test_resolve_says_who_answered(hanaming):
    assert hanaming("bind", "resolved", "1").status == 0
    text = hanaming("resolve", "resolved").out
    assert "the cluster tree" in text
    assert "solo" in text
    document = json.loads(hanaming("resolve", "resolved", "--json").out)
    assert (document["value"], document["source"], document["node"], document["asked"]) == (
        1,
        "cluster",
        "solo",
        ["solo"],
    )
    everywhere = json.loads(hanaming("resolve", "resolved", "--all", "--json").out)
    assert [(one["node"], one["source"]) for one in everywhere] == [("solo", "cluster")]


def test_local_is_the_nodes_own_tree(hanaming):
    assert hanaming("bind", "--local", "mine", '"local"').status == 0
    assert hanaming("lookup", "mine").out == '"local"\n'
    assert json.loads(hanaming("resolve", "mine", "--json").out)["source"] == "local"
    assert hanaming("bind", "shared", '"cluster"').status == 0
    assert hanaming("lookup", "--local", "shared").status == 1


def test_check_reports_a_hidden_binding_with_exit_status_1(hanaming):
    assert hanaming("bind", "-p", "checked/hidden", '"cluster"').status == 0
    assert hanaming("check", "checked").status == 0
    assert hanaming("bind", "-p", "--local", "checked/hidden", '"local"').status == 0
    found = hanaming("check", "checked")
    assert found.status == 1
    assert "checked/hidden" in found.out
    document = json.loads(hanaming("check", "checked", "--json").out)
    assert [hidden["name"] for hidden in document["hidden"]] == ["checked/hidden"]
    assert document["hidden"][0]["cluster"]["value"] == "cluster"


def test_a_context_in_a_report_has_its_name(hanaming):
    assert hanaming("bind", "-p", "reported/c/d", "1").status == 0
    assert hanaming("bind", "-p", "--local", "reported/c", '"local"').status == 0
    shown = hanaming("check", "reported")
    assert shown.status == 1
    assert '{"$context": "reported/c"}' in shown.out
    document = json.loads(hanaming("check", "reported", "--json").out)
    assert document["hidden"][0]["cluster"]["value"] == {"$context": "reported/c"}


def test_errors_are_json_too(hanaming):
    missing = hanaming("lookup", "nowhere/deep", "--json")
    assert (missing.status, missing.out, missing.err.count("\n")) == (1, "", 1)
    error = json.loads(missing.err)["error"]
    assert (error["type"], error["name"], error["remaining_name"]) == (
        "NameNotFoundError",
        "nowhere/deep",
        "nowhere/deep",
    )
    assert (error["completion"], error["safe_to_retry"], error["status"]) == ("YES", False, 1)
    assert error["message"] == "'nowhere/deep': no such name"
    assert [attempt["phase"] for attempt in error["attempts"]] == ["answer"]
    several = hanaming("lookup", "nowhere", "nothing", "--json")
    assert (several.status, json.loads(several.out)) == (1, {})
    assert json.loads(several.err)["error"]["names"] == ["nowhere", "nothing"]
    wrong = hanaming("bind", "a", "{", "--json")
    assert wrong.status == 2
    assert json.loads(wrong.err)["error"]["type"] == "UsageError"
    assert json.loads(hanaming("lookup", "--json", "--no-such-option").err)["error"]["status"] == 2
    unreachable = run("lookup", "a", "--json", provider=closed_port())
    assert unreachable.status == 3
    assert json.loads(unreachable.err)["error"]["safe_to_retry"] is True


def test_status_shows_the_node_and_where_the_provider_is_from(hanaming, node):
    shown = hanaming("status")
    assert shown.status == 0
    assert "solo" in shown.out
    assert node.address in shown.out
    assert "HANAMING_PROVIDER" in shown.err
    document = json.loads(hanaming("status", "--json").out)
    assert document["members"][0]["state"] == "live"
    assert document["members"][0]["requests"] > 0
    flag = run("status", "--json", "--provider", node.url)
    assert json.loads(flag.out)["provider_source"] == "--provider"


def test_quiet_leaves_the_answer_alone(hanaming):
    made = hanaming("bind", "quiet", "1", "-q")
    assert (made.status, made.out, made.err) == (0, "", "")


def test_quiet_and_verbose_may_stand_before_the_command(hanaming, node):
    assert hanaming("-q", "bind", "quiet-before", "1").err == ""
    assert node.address in hanaming("-v", "lookup", "quiet-before").err
    assert hanaming("lookup", "quiet-before").err == ""


def test_the_provider_of_the_environment():
    # Empty is unset, and bytes that are no text are no provider.
    assert (
        "127.0.0.1:11100" in run("bind", "a", "1", "--timeout", "0.5", provider="", env={"HANAMING_PROVIDER": ""}).err
    )
    for command in (["ls"], ["ls", "--local"], ["quiesce"]):
        wrong = run(*command, provider="hn://\udcff")
        assert (wrong.status, wrong.err) == (2, "hanaming: HANAMING_PROVIDER is not UTF-8: 'hn://\\xff'\n")


def test_a_name_takes_one_line_whatever_is_in_it(hanaming):
    name = "line\none\ttab\u202eback\u2066isolated"
    shown = r"line\none\ttab\u202eback\u2066isolated"
    assert hanaming("bind", "-p", f"lines/{name}", "1").err == f"bound 'lines/{shown}', held by solo\n"
    assert hanaming("ls", "lines").out == f"lines/{shown}\n"
    assert hanaming("tree", "lines", "-q").out == f"lines\n└── {shown}  1  [solo]\n"
    assert shown in hanaming("ls", "-l", "lines").out
    missing = hanaming("lookup", f"lines/none/{name}").err
    assert shown in missing
    assert missing.count("\n") == 1


def test_a_name_cannot_steer_the_terminal(hanaming):
    assert hanaming("bind", "-p", "steer/a\x1b[2J", '"\\u001b[31m"').status == 0
    for args in (["ls", "steer"], ["ls", "-l", "steer"], ["tree", "steer"], ["lookup", "steer/none\x1b[2J"]):
        shown = hanaming(*args)
        assert "\x1b" not in shown.out + shown.err


def test_a_reader_that_leaves_ends_the_program_quietly(node, hanaming):
    value = json.dumps("x" * 60_000)
    for number in range(4):
        assert hanaming("bind", "-p", f"pipe/n{number}", "-", stdin=value).status == 0
    process = subprocess.Popen(
        [*HANAMING, "ls", "pipe", "--json", "--provider", node.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout.read(1) == b"["
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(LIMIT) == 141
    assert err == b""


def test_ctrl_c_ends_a_waiting_command_quietly():
    with deaf_server() as provider:
        # --local never goes elsewhere: the command waits for this server until its time is up.
        process = subprocess.Popen(
            [*HANAMING, "lookup", "a", "--local", "--timeout", "60", "--provider", provider],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
        assert process.returncode == 130
        assert (out, err) == (b"", b"")


def test_help_starts_with_examples():
    root = run("--help")
    assert root.status == 0
    assert root.out.index("hanaming demo") < root.out.index("Commands:")
    for command in COMMANDS:
        assert f"\n  {command} " in root.out
        shown = run(command, "--help")
        assert shown.status == 0
        assert shown.out.index("Examples") < shown.out.index("Options")
        assert f"  hanaming {command}" in shown.out


def test_version():
    for flag in ("-V", "--version"):
        shown = run(flag)
        assert (shown.status, shown.out) == (0, f"hanaming {__version__}\n")


def test_no_color_and_no_terminal_give_plain_text(hanaming):
    assert hanaming("bind", "-p", "plain/x", "1").status == 0
    assert "\x1b" not in hanaming("ls", "-l", "plain", env={"NO_COLOR": "1", "FORCE_COLOR": ""}).out


def test_the_program_is_installed():
    program = subprocess.run(
        [
            sys.executable,
            "-c",
            "import importlib.metadata as m; print(m.entry_points(group='console_scripts', name='hanaming'))",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    )
    assert "hanaming.cli:main" in program.stdout


def test_a_missing_parent_is_told_with_what_makes_it(hanaming):
    for command in ("bind", "rebind"):
        refused = hanaming(command, "nowhere/deep", "1")
        assert refused.status == 1
        assert refused.err.endswith("; -p (--create-parents) makes the contexts on the way\n")
    assert "--create-parents" not in hanaming("lookup", "nowhere/deep").err


def test_a_tree_of_nothing_prints_nothing(hanaming):
    missing = hanaming("tree", "nowhere")
    assert (missing.status, missing.out) == (1, "")


def test_what_is_about_nodes_takes_no_tree(hanaming):
    for command in ("status", "quiesce"):
        refused = hanaming(command, "--local")
        assert (refused.status, refused.out) == (2, "")
        assert "--local" in refused.err
        assert "--local" not in hanaming(command, "--help").out


def test_one_is_one(hanaming):
    assert hanaming("bind", "-p", "single/one", "1").status == 0
    assert hanaming("tree", "single").err == "1 binding in 0 contexts\n"


def test_commands_and_options_are_completed():
    def completed(*words):
        typed = {"COMP_WORDS": " ".join(("hanaming", *words)), "COMP_CWORD": str(len(words))}
        return run(env={"_HANAMING_COMPLETE": "bash_complete", **typed}).out.split()

    assert completed("lo") == ["plain,lookup"]
    assert "plain,--provider" in completed("status", "--p")
