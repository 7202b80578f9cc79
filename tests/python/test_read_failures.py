"""`read_failures`: whole logs, folders, compressed files, streams."""

from __future__ import annotations

import gzip
import io
import re
import tracemalloc
from datetime import datetime, timedelta

import pytest

from hanaming import Action, Category, CompletionStatus, ConfigurationError, Report, read_failures
from hanaming.classification import times

REFUSED = "2026-11-30 10:00:{:02},000 ERROR [com.example.Orders] java.net.ConnectException: Connection refused\n\tat x.Y.z(Y.java:1)\n"
LOST = "2026-11-30 11:00:{:02},000 ERROR [com.example.Orders] java.net.SocketException: Connection reset\n\tat x.Y.z(Y.java:1)\n"
QUIET = "2026-11-30 10:30:00,000 INFO  [com.example.Orders] all is well\n"


def log():
    return QUIET + "".join(REFUSED.format(i) + QUIET for i in range(3)) + LOST.format(1) + QUIET


def test_events_and_groups(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(log(), encoding="utf-8")
    report = read_failures(path)
    assert [event.line for event in report.events] == [2, 5, 8, 11]
    assert [event.verdict.completion for event in report.events] == [CompletionStatus.NO] * 3 + [CompletionStatus.MAYBE]
    assert [(group.count, group.first.line, group.last_line) for group in report.groups] == [(3, 2, 8), (1, 11, 11)]
    assert report.groups[0].verdict.category is Category.NOT_CONNECTED
    assert report.groups[0].last_time == "2026-11-30 10:00:02,000"
    assert (report.total, report.lines, report.sources) == (4, 13, [str(path)])
    assert report.events[0].classes == ["java.net.ConnectException"]
    assert report


def test_wherever_it_comes_from(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(log(), encoding="utf-8")
    packed = tmp_path / "old" / "server.log.1.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(log().encode()))
    (tmp_path / ".hidden").write_text(log(), encoding="utf-8")
    assert read_failures(str(path)).total == 4
    assert read_failures(packed).total == 4
    with path.open("rb") as stream:
        assert read_failures(stream).total == 4
    with path.open(encoding="utf-8") as stream:
        assert read_failures(stream).total == 4
    assert read_failures(io.StringIO(log())).total == 4
    assert read_failures(io.BytesIO(gzip.compress(log().encode()))).total == 4

    folder = read_failures(tmp_path)
    assert folder.total == 8
    assert folder.sources == [str(packed), str(path)]
    assert folder.lines == 26
    # One report: the same kind in two files is one group, each line counted in its own file.
    assert [group.count for group in folder.groups] == [6, 2]
    assert [(event.source, event.line) for event in folder.events][::4] == [(str(packed), 2), (str(path), 2)]
    assert folder.groups[0].last_source == str(path)


def test_what_can_t_be_read(tmp_path):
    with pytest.raises(ConfigurationError, match="No such file"):
        read_failures(tmp_path / "missing.log")
    with pytest.raises(ConfigurationError, match="no file"):
        read_failures(tmp_path)


@pytest.mark.parametrize("name", ["", "x" * 300, "\0x"])
def test_what_no_file_is_named_is_refused(name):
    with pytest.raises(ConfigurationError):
        read_failures(name)


def test_a_file_cut_by_a_few_bytes_has_nearly_all(tmp_path):
    line = "2026-11-30 10:00:00 ERROR java.net.ConnectException: Connection refused number %d\n"
    packed = gzip.compress("".join(line % number for number in range(20_000)).encode())
    path = tmp_path / "server.log.gz"
    path.write_bytes(packed[:-20])
    report = read_failures(path)
    assert report.total > 19_000
    assert "as far as it goes" in report.warnings[0]


def test_a_file_cut_short_counts_as_far_as_it_goes(tmp_path):
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(log().encode() * 2000)[:-20])
    report = read_failures(path)
    assert report.total > 1000
    assert len(report.warnings) == 1
    assert report.warnings[0].startswith(f"{path}: read as far as it goes")


@pytest.mark.parametrize("data", [b"", b"\0" * 1000, bytes(range(256)) * 100, "ordinary text\n".encode("utf-16")])
def test_no_failure_in_anything_else(data):
    report = read_failures(io.BytesIO(data))
    assert (report.total, report.groups, report.events, bool(report)) == (0, [], [], False)


def test_pieces_do_not_matter():
    class Slow(io.RawIOBase):
        def __init__(self, data):
            self._data = data

        def readable(self):
            return True

        def read(self, size=-1):
            piece, self._data = self._data[:7], self._data[7:]
            return piece

    whole = read_failures(io.BytesIO(log().encode()))
    slow = read_failures(Slow(log().encode()))
    assert [(e.line, e.verdict, e.text) for e in slow.events] == [(e.line, e.verdict, e.text) for e in whole.events]


def test_records_are_plain_rows(tmp_path):
    records = read_failures(io.StringIO(log())).records
    assert len(records) == 4
    assert records[0]["category"] == "not_connected"
    assert records[0]["completion"] == "NO"
    assert records[0]["exception"] == "java.net.ConnectException"
    assert {type(value) for record in records for value in record.values()} <= {str, int, float, type(None)}


def test_memory_does_not_grow_with_the_log():
    class Endless(io.RawIOBase):
        def __init__(self, times):
            self._piece = (log() * 50).encode()
            self._left = times

        def read(self, size=-1):
            self._left -= 1
            return self._piece if self._left >= 0 else b""

    def peak(times):
        tracemalloc.start()
        try:
            report = read_failures(Endless(times), max_events=100)
            assert report.total == times * 200
            assert len(report.events) == 100
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)
    assert peak(40) < 2 * peak(4)


def test_progress_is_told(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(log(), encoding="utf-8")
    told = []
    read_failures(path, progress=lambda *args: told.append(args))
    assert told == [(str(path), path.stat().st_size, path.stat().st_size)]


def test_since_leaves_out_what_is_older():
    since = times.read_time("2026-11-30 11:00:00")
    report = read_failures(io.StringIO(log()), since=since)
    assert [group.verdict.category for group in report.groups] == [Category.CONNECTION_LOST]
    without_time = "java.net.ConnectException: Connection refused\n"
    assert read_failures(io.StringIO(without_time), since=since).total == 1


def test_times_in_logs():
    local = datetime(2026, 11, 30, 10, 0, 1).astimezone()
    for text in (
        "2026-11-30 10:00:01,123",
        "2026-11-30T10:00:01",
        "[2026/11/30 10:00:01]",
        "Nov 30, 2026 10:00:01 AM",
        "30-Nov-2026 10:00:01",
        "30/Nov/2026:10:00:01",
        "11-30-2026 10:00:01",
        "Mon Nov 30 10:00:01 2026",
    ):
        assert times.read_time(text) == local, text
    assert times.read_time("2026-11-30T10:00:01Z").utcoffset() is not None
    assert times.read_time("2026-11-30T10:00:01+0200") == times.read_time("2026-11-30T08:00:01Z")
    for text in (None, "", "10:00:01,123", "soon", "2026-99-99 10:00:01"):
        assert times.read_time(text) is None


def test_since_when():
    now = datetime(2026, 11, 30, 12, 0, 0).astimezone()
    assert times.since("2h", now) == now - timedelta(hours=2)
    assert times.since("90min", now) == now - timedelta(minutes=90)
    assert times.since("3d", now) == now - timedelta(days=3)
    assert times.since("2026-11-30T08:00", now) == datetime(2026, 11, 30, 8).astimezone()
    with pytest.raises(ValueError, match="write 2h"):
        times.since("yesterday", now)


def test_a_report_is_shown():
    report = read_failures(io.StringIO(log()))
    assert isinstance(report, Report)
    shown = repr(report).splitlines()
    assert shown[0] == "4 failures of 2 kinds in 13 lines"
    assert shown[2].split()[:5] == ["3", "2", "not_connected", "NO", Action.FAILOVER.value]
    assert "ConnectException" in report._repr_html_()
    assert repr(read_failures(io.StringIO("fine"))) == "0 failures of 0 kinds in 1 line"


def test_a_table_has_one_column_for_all_long_texts():
    path = "/opt/IBM/" + "x" * 200 + ".log"
    stream = io.StringIO(REFUSED.format(1).replace("refused", "refused: " + "y" * 200))
    stream.name = path
    html = read_failures(stream)._repr_html_()
    cells = re.findall("<td[^>]*>(.*?)</td>", html)
    assert [path in cell for cell in cells] == ["yyy" in cell for cell in cells] == [False] * 4 + [True]
    assert "overflow-wrap:anywhere" in cells[-1]
    assert "…" in cells[-1]


def test_what_reads_neither_text_nor_bytes_is_refused():
    class Odd:
        def read(self, _size=-1):
            return 5

    with pytest.raises(TypeError, match="what <stream> reads must be str or bytes, not int"):
        read_failures(Odd())
