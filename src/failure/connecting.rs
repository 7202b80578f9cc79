//! What stack frames prove of how far an exchange had come: that a connection was still being made.
//!
//! Such a proof makes a call safe to send again, so it takes the innermost call itself: a known function of a library
//! that does nothing but connect, or a line of source that is one connect call and nothing else. What a program calls its
//! own functions proves nothing: `connect_and_pay` is one of them. In doubt the request may have left.

/// Whether the frames, the one that threw first, prove that a connection was being made.
pub fn is_proved(frames: &[String]) -> bool {
    if frames.first().and_then(|frame| source(frame)).is_some_and(is_connect_call) {
        return true;
    }
    for frame in frames {
        match Does::of(frame) {
            Does::Connect => return true,
            Does::Other => {}
            Does::Exchange | Does::Unknown => return false,
        }
    }
    false
}

/// What a frame's function does.
enum Does {
    /// It makes a connection, and no more.
    Connect,
    /// It sends or reads.
    Exchange,
    /// A library's, which says nothing by itself: its caller may.
    Other,
    /// It is nobody's that is known: whatever called it may have done anything before.
    Unknown,
}

impl Does {
    fn of(frame: &str) -> Self {
        let (known, connects, function) = match python(frame) {
            Some((path, function)) => match library(path) {
                Some((_, functions)) => (true, functions.contains(&function), function),
                None => (false, false, function),
            },
            None => java(frame),
        };
        let exchanges = || {
            let name = function.to_ascii_lowercase();
            EXCHANGING.iter().any(|word| name.contains(word))
        };
        match (known, connects) {
            (false, _) => Self::Unknown,
            (true, true) => Self::Connect,
            (true, false) if exchanges() => Self::Exchange,
            (true, false) => Self::Other,
        }
    }
}

const EXCHANGING: &[&str] = &["read", "recv", "receive", "write", "send", "response", "reply", "getresult"];

/// Python's libraries by the start of their path, and those of their functions that return before a request can leave.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("socket.py", &["create_connection", "getaddrinfo"]),
    ("ssl.py", &["do_handshake", "connect", "_real_connect", "_create", "wrap_socket"]),
    ("http/client.py", &["connect"]),
    ("urllib/request.py", &[]),
    (
        "asyncio/",
        &[
            "sock_connect",
            "_sock_connect",
            "_sock_connect_cb",
            "_connect_sock",
            "create_connection",
            "_create_connection_transport",
            "create_unix_connection",
            "open_connection",
            "open_unix_connection",
            "getaddrinfo",
        ],
    ),
    ("uvloop/", &["create_connection", "create_unix_connection", "sock_connect", "_sock_connect"]),
    ("urllib3/", &["_new_conn", "create_connection", "connect", "ssl_wrap_socket", "_ssl_wrap_socket_impl"]),
    ("httpcore/", &["connect_tcp", "connect_unix_socket", "start_tls", "_connect"]),
    ("anyio/", &["connect_tcp", "connect_unix", "try_connect", "wrap"]),
    ("trio/", &["open_tcp_stream", "open_ssl_over_tcp_stream", "attempt_connect", "connect", "do_handshake"]),
    (
        "aiohttp/connector.py",
        &["_create_connection", "_create_direct_connection", "_wrap_create_connection", "_resolve_host", "connect"],
    ),
    ("aiohttp/", &[]),
    ("aiohappyeyeballs/", &["start_connection", "_connect_sock"]),
    ("gevent/", &["create_connection", "connect"]),
    ("eventlet/", &["create_connection", "connect", "socket_connect"]),
];

/// The path and the function of `File "p", line 1, in f`.
fn python(frame: &str) -> Option<(&str, &str)> {
    let (path, rest) = frame.strip_prefix("File \"")?.split_once('"')?;
    let function = rest.split_once(", in ").map_or("", |(_, rest)| rest);
    Some((path, function.split([':', ' ']).next().unwrap_or_default()))
}

/// The library whose file that is, seen by where libraries are installed, or by a path that begins with it, as programs
/// have that are packed into one file.
fn library(path: &str) -> Option<&'static (&'static str, &'static [&'static str])> {
    let path = path.replace('\\', "/");
    let inner = [".egg/", "/site-packages/", "/dist-packages/"].iter().find_map(|mark| Some(path.rsplit_once(mark)?.1));
    let standard = || {
        let (before, rest) = ["/lib/", "/lib64/", "/Lib/"].iter().find_map(|mark| path.rsplit_once(mark))?;
        match rest.split_once('/') {
            Some((version, rest)) if version.starts_with("python3") || version.starts_with("pypy3") => Some(rest),
            // Windows has no folder for the version.
            _ => before.to_ascii_lowercase().contains("python").then_some(rest),
        }
    };
    let inner = inner.or_else(standard).unwrap_or(&path);
    LIBRARIES.iter().find(|(start, _)| if start.ends_with('/') { inner.starts_with(start) } else { inner == *start })
}

/// Packages of the JDK.
const JDK: &[&str] = &["java.", "javax.net.", "sun.", "jdk.", "com.sun.jndi."];
/// Its methods that connect.
const JDK_CONNECT: &[&str] = &[
    "connect",
    "connect0",
    "socketConnect",
    "doConnect",
    "connectToAddress",
    "beginConnect",
    "endConnect",
    "implConnect",
    "blockingConnect",
    "finishConnect",
    "timedFinishConnect",
    "pollConnect",
    "pollConnectNow",
    "checkConnect",
    "connectAsync",
    "plainConnect",
    "plainConnect0",
    "waitForConnect",
];

/// Whether a frame of Java's is the JDK's own, whether that connects, and its method.
fn java(frame: &str) -> (bool, bool, &str) {
    let place = frame.strip_prefix("at ").unwrap_or(frame).trim_start();
    let place = place.split(['(', ' ']).next().unwrap_or_default();
    // The class loader and the module stand before.
    let place = place.rsplit('/').next().unwrap_or_default();
    let (class, method) = place.rsplit_once('.').unwrap_or(("", place));
    let known = JDK.iter().any(|package| class.starts_with(package));
    // What LDAP's provider calls its connecting includes the bind: only its connection's making does not.
    let connects = if class.starts_with("com.sun.jndi.") {
        class.ends_with("ldap.Connection") && method == "<init>"
    } else {
        JDK_CONNECT.contains(&method)
    };
    // A stream's class says what each of its methods is for.
    let streams = class.ends_with("InputStream") || class.ends_with("OutputStream");
    (known, known && connects, if streams { "read" } else { method })
}

/// The source of `File "p", line 1, in f: source`.
fn source(frame: &str) -> Option<&str> {
    let (_, rest) = frame.strip_prefix("File \"")?.split_once("\", line ")?;
    Some(rest.split_once(": ")?.1)
}

/// Whether a line of Python is one connect call and nothing else: neither a second statement nor a call among its
/// arguments, of which each might be the one that failed.
pub fn is_connect_call(line: &str) -> bool {
    let line = line.trim();
    let Some(open) = line.find('(') else { return false };
    let (head, arguments) = line.split_at(open);
    let call = head.rsplit_once('=').map_or(head, |(_, call)| call).trim();
    let call = call.strip_prefix("return ").unwrap_or(call).trim_start();
    let call = call.strip_prefix("await ").unwrap_or(call).trim_start();
    if !head.chars().all(|c| c.is_alphanumeric() || "_., =".contains(c)) || call.contains([' ', ',']) {
        return false;
    }
    let (object, function) = call.rsplit_once('.').unwrap_or(("", call));
    let connects = match function {
        "connect" => !object.is_empty(),
        "create_connection" | "open_connection" | "sock_connect" => true,
        _ => false,
    };
    connects && is_one_argument_list(arguments)
}

/// Whether a text is one pair of parentheses without a call in it, up to its end or a comment.
fn is_one_argument_list(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if c == '\\' => return false,
            Some(open) => quote = (c != open).then_some(open),
            None => match c {
                '"' | '\'' => quote = Some(c),
                '(' if at > 0 && (before.is_alphanumeric() || "_)]\"'".contains(before)) => return false,
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let rest = text[at + 1..].trim_start();
                        return c == ')' && (rest.is_empty() || rest.starts_with('#'));
                    }
                }
                '#' | ';' => return false,
                // A subscript of an object runs its code, like a call.
                _ => {}
            },
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    false
}
