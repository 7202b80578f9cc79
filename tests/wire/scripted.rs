//! A server on loopback that does exactly what a test tells it, on one connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use hanaming::protocol::{Decoder, Frame, Limits};
use hanaming::topology::Endpoint;

use super::fixtures::{LONG, limits};

/// One thing that the server does.
#[derive(Clone, Debug)]
pub enum Step {
    /// Reads so many whole frames.
    Take(usize),
    /// Writes these bytes.
    Send(Vec<u8>),
    /// Waits for the test's word.
    Await,
    /// Neither reads nor writes until the test ends.
    Stay,
    /// Closes with what it has not read: a reset.
    Reset,
}

/// Closes the connection in good order when its steps are done.
pub struct Server {
    pub address: SocketAddr,
    go: SyncSender<()>,
    thread: Option<JoinHandle<Vec<Frame>>>,
}

impl Server {
    pub fn start(steps: impl Into<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (go, word) = sync_channel(8);
        let steps = steps.into();
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(LONG)).unwrap();
            stream.set_write_timeout(Some(LONG)).unwrap();
            serve(stream, steps, &word)
        });
        Self { address, go, thread: Some(thread) }
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::from(self.address)
    }

    /// Lets the server go on from its [`Step::Await`] or [`Step::Stay`].
    pub fn go(&self) {
        self.go.send(()).unwrap();
    }

    /// The frames that the server took.
    pub fn frames(mut self) -> Vec<Frame> {
        let thread = self.thread.take().unwrap();
        drop(self);
        thread.join().unwrap()
    }
}

fn serve(mut stream: TcpStream, steps: Vec<Step>, word: &Receiver<()>) -> Vec<Frame> {
    let mut decoder = Decoder::new(Limits { ..limits() });
    let mut frames = Vec::new();
    for step in steps {
        match step {
            Step::Take(count) => {
                let wanted = frames.len() + count;
                while frames.len() < wanted {
                    if let Some(frame) = decoder.next_frame().unwrap() {
                        frames.push(frame);
                        continue;
                    }
                    let mut piece = [0; 4096];
                    let count = stream.read(&mut piece).unwrap();
                    assert!(count > 0, "the client closed; {} frames had come", frames.len());
                    decoder.buffer().extend_from_slice(&piece[..count]);
                }
            }
            Step::Send(bytes) => stream.write_all(&bytes).unwrap(),
            // The test may end first: then there is nothing more to do.
            Step::Await | Step::Stay => drop(word.recv()),
            Step::Reset => {
                socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
                return frames;
            }
        }
    }
    frames
}

/// An address where nobody listens.
pub fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}
