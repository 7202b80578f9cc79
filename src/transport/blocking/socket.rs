//! A socket whose waits end often enough for the caller to be asked whether it still wants to wait.
//!
//! Time limits stand on the socket itself (`SO_RCVTIMEO`, `SO_SNDTIMEO`), so a call that is answered in time costs no
//! system call for them. No single wait is longer than [`SLICE`]; between two waits the deadline is checked and the
//! caller asked.

use std::io::{self, ErrorKind, Read, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockAddr, SockRef, Socket as RawSocket, Type};

/// The longest single wait.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// A wait of zero would be one without limit.
const SHORTEST: Duration = Duration::from_millis(1);

#[cfg(any(target_os = "linux", target_os = "android"))]
const MSG_PEEK_NOW: i32 = 0x02 | 0x40;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const MSG_PEEK_NOW: i32 = 0x02 | 0x80;

/// Why a wait ended without what was waited for.
#[derive(Debug)]
pub(super) enum Wait {
    /// The deadline is over.
    TimedOut,
    /// The caller gave up.
    Cancelled,
    /// The socket failed.
    Io(io::Error),
}

/// Until when to wait, and whether the caller still wants to.
pub(super) struct Patience<'a> {
    pub(super) deadline: Instant,
    /// Asked at least every [`SLICE`] and whenever a signal came; `true` gives up.
    pub(super) give_up: &'a mut dyn FnMut() -> bool,
}

impl Patience<'_> {
    #[expect(clippy::disallowed_methods, reason = "this driver reads the clock here and nowhere else")]
    pub(super) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Asks the caller, then the clock: what the next wait may take.
    fn next_slice(&mut self) -> Result<Duration, Wait> {
        if (self.give_up)() {
            return Err(Wait::Cancelled);
        }
        let left = self.left();
        if left.is_zero() { Err(Wait::TimedOut) } else { Ok(left.clamp(SHORTEST, SLICE)) }
    }
}

/// A connected socket.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    read_limit: Duration,
}

impl Socket {
    pub(super) fn connect(address: SocketAddr, patience: &mut Patience<'_>) -> Result<Self, Wait> {
        let stream = connect(address, patience)?;
        let prepare = || {
            stream.set_nodelay(true)?;
            stream.set_write_timeout(Some(SLICE))?;
            stream.set_read_timeout(Some(SLICE))
        };
        prepare().map_err(Wait::Io)?;
        Ok(Self { stream, read_limit: SLICE })
    }

    /// Readies the socket for a call that has `left`: its first wait must not be longer. The limits used are few, so
    /// that calls of about the same time find the right one set.
    pub(super) fn prepare(&mut self, left: Duration) -> io::Result<()> {
        if self.read_limit <= left {
            return Ok(());
        }
        let mut limit = SLICE;
        while limit > left && limit > SHORTEST {
            limit /= 2;
        }
        self.limit_reads(limit)
    }

    fn limit_reads(&mut self, limit: Duration) -> io::Result<()> {
        let limit = limit.clamp(SHORTEST, SLICE);
        if limit != self.read_limit {
            self.stream.set_read_timeout(Some(limit))?;
            self.read_limit = limit;
        }
        Ok(())
    }

    /// Writes a part of `bytes`; gives how much, never 0.
    pub(super) fn write(&mut self, bytes: &[u8], patience: &mut Patience<'_>) -> Result<usize, Wait> {
        loop {
            match self.stream.write(bytes) {
                Ok(0) => return Err(Wait::Io(ErrorKind::WriteZero.into())),
                Ok(count) => return Ok(count),
                // A write may take a whole slice longer than its deadline: then nothing of the frame had a taker.
                Err(error) if is_pause(&error) => drop(patience.next_slice()?),
                Err(error) => return Err(Wait::Io(error)),
            }
        }
    }

    /// Reads what there is, waiting for the first byte; 0 is the end of the stream.
    pub(super) fn read(&mut self, into: &mut [u8], patience: &mut Patience<'_>) -> Result<usize, Wait> {
        loop {
            match self.stream.read(into) {
                Ok(count) => return Ok(count),
                Err(error) if is_pause(&error) => {
                    let slice = patience.next_slice()?;
                    self.limit_reads(slice).map_err(Wait::Io)?;
                }
                Err(error) => return Err(Wait::Io(error)),
            }
        }
    }

    /// Reads what [`has_news`](Self::has_news) has just found.
    pub(super) fn read_available(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.read(into)
    }

    /// Whether something can be read at once: bytes, the end of the stream, or an error.
    pub(super) fn has_news(&self) -> bool {
        let peeked = SockRef::from(&self.stream).recv_with_flags(&mut [MaybeUninit::uninit()], MSG_PEEK_NOW);
        !matches!(peeked, Err(error) if is_pause(&error))
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Connects in slices: with a send limit on the socket, Linux lets a blocking `connect` be repeated, and each repetition
/// waits on for the same handshake.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn connect(address: SocketAddr, patience: &mut Patience<'_>) -> Result<TcpStream, Wait> {
    const IN_PROGRESS: i32 = 115;
    const ALREADY: i32 = 114;
    const IS_CONNECTED: i32 = 106;
    let socket = RawSocket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP)).map_err(Wait::Io)?;
    let address = SockAddr::from(address);
    let mut limit = Duration::ZERO;
    loop {
        let slice = patience.next_slice()?;
        if slice != limit {
            socket.set_write_timeout(Some(slice)).map_err(Wait::Io)?;
            limit = slice;
        }
        match socket.connect(&address) {
            Ok(()) => return Ok(socket.into()),
            Err(error) if error.raw_os_error() == Some(IS_CONNECTED) => return Ok(socket.into()),
            Err(error) if is_pause(&error) || matches!(error.raw_os_error(), Some(IN_PROGRESS | ALREADY)) => {}
            // The kernel's own limit, long before our deadline, is a fault of the network like any other.
            Err(error) => return Err(Wait::Io(error)),
        }
    }
}

/// Connects in one wait: other systems do not let it be taken up again.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn connect(address: SocketAddr, patience: &mut Patience<'_>) -> Result<TcpStream, Wait> {
    patience.next_slice()?;
    TcpStream::connect_timeout(&address, patience.left().max(SHORTEST)).map_err(|error| match error.kind() {
        ErrorKind::TimedOut => Wait::TimedOut,
        _ => Wait::Io(error),
    })
}
