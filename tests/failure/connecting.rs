//! What proves that a connection was still being made, and what doesn't: a wrong NO delivers a call twice.

use hanaming::failure::{CompletionStatus, classify_text};

const NO: CompletionStatus = CompletionStatus::No;
const MAYBE: CompletionStatus = CompletionStatus::Maybe;

fn check(text: &str, expected: CompletionStatus) {
    let found = classify_text(text.as_bytes());
    assert_eq!(found.completion, Some(expected), "{text}\n{found:?}");
}

#[test]
fn a_python_line_proves_it_where_it_is_one_connect_call() {
    for (line, expected) in [
        (r#"s.connect(("10.0.0.1", 80))"#, NO),
        ("sock.connect(sa)", NO),
        ("self.sock.connect(a)  # at last", NO),
        ("s = socket.create_connection((host, port), timeout=3)", NO),
        ("r, w = await asyncio.open_connection(h, 1)", NO),
        (r#"s.connect(a); s.send(b"1"); s.recv(1)"#, MAYBE),
        ("return s.recv(1)  # after s.connect(a)", MAYBE),
        ("socket.create_connection(a).recv(1)", MAYBE),
        (r#"with socket.create_connection(a) as s: s.sendall(b"PAY"); return s.recv(1)"#, MAYBE),
        ("s.connect(pay())", MAYBE),
        ("s.connect(a) or s.recv(1)", MAYBE),
        ("client.connect_and_pay(a)", MAYBE),
        ("connect(a)", MAYBE),
        ("s.recv(1)", MAYBE),
    ] {
        for error in ["ConnectionResetError: [Errno 104] Connection reset by peer", "TimeoutError: timed out"] {
            let text = format!("Traceback (most recent call last):\n  File \"/app/m.py\", line 3, in pay\n    {line}\n{error}");
            check(&text, expected);
        }
    }
}

#[test]
fn a_function_proves_it_where_it_is_a_library_s() {
    for (path, function, expected) in [
        ("/usr/lib/python3.13/socket.py", "create_connection", NO),
        ("/usr/lib/python3.13/asyncio/selector_events.py", "_sock_connect_cb", NO),
        ("C:\\Programs\\Python310\\Lib\\ssl.py", "do_handshake", NO),
        ("/app/.venv/lib/python3.10/site-packages/urllib3/connection.py", "_new_conn", NO),
        ("/usr/lib/python3.13/ssl.py", "read", MAYBE),
        ("/usr/lib/python3.13/asyncio/streams.py", "readexactly", MAYBE),
        ("/app/client.py", "create_connection", MAYBE),
        ("/app/client.py", "connect_and_pay", MAYBE),
        ("/app/socket.py", "create_connection", MAYBE),
        ("/app/.venv/lib/python3.10/site-packages/acme/client.py", "connect", MAYBE),
    ] {
        let outer = r#"  File "/app/main.py", line 1, in connect"#;
        let text = format!(
            "Traceback (most recent call last):\n{outer}\n    connect()\n  File \"{path}\", line 3, in {function}\n    x()\nTimeoutError: timed out"
        );
        check(&text, expected);
    }
}

#[test]
fn a_java_frame_proves_it_where_it_is_the_jdk_s() {
    for (error, frames, expected) in [
        ("SocketTimeoutException: Read timed out", "com.acme.Client.connect", MAYBE),
        ("SocketTimeoutException: timeout", "com.acme.Client.connect", MAYBE),
        ("SocketTimeoutException: Read timed out", "java.base/java.net.Socket.connect", MAYBE),
        ("SocketException: Connection reset", "com.acme.Client.doConnect", MAYBE),
        ("SocketException: Connection reset", "java.net.SocketInputStream.read", MAYBE),
        ("SocketException: Connection reset", "java.base/sun.nio.ch.Net.pollConnect", NO),
        ("SocketTimeoutException: timeout", "java.net.PlainSocketImpl.socketConnect", NO),
    ] {
        let outer = "\tat java.net.Socket.connect(Socket.java:9)";
        check(&format!("java.net.{error}\n\tat {frames}(X.java:3)\n{outer}"), expected);
    }
}

#[test]
fn a_connection_that_breaks_is_no_complaint_about_the_peer() {
    for (text, expected) in [
        ("javax.net.ssl.SSLException: java.net.SocketException: Broken pipe (Write failed)", MAYBE),
        ("javax.net.ssl.SSLException: java.net.SocketException: Connection reset", MAYBE),
        ("javax.net.ssl.SSLException: foo\nCaused by: java.net.SocketException: Broken pipe (Write failed)", MAYBE),
        ("javax.net.ssl.SSLHandshakeException: bad certificate\nCaused by: java.net.SocketException: Connection reset", NO),
        ("javax.net.ssl.SSLException: foo", NO),
        ("java.net.SocketException: No route to host (Read failed)", MAYBE),
        ("java.net.SocketException: Network is unreachable (Write failed)", MAYBE),
        ("java.net.SocketException: No route to host", NO),
    ] {
        check(text, expected);
    }
}
