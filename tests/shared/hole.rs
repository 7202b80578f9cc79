//! A place where connects are swallowed: nobody refuses them, nobody takes them.

use std::net::{Shutdown, SocketAddr};

use socket2::{Domain, Socket, Type};

/// A listener whose queue of connections is full, so that the kernel answers no more of them.
pub struct Hole {
    pub address: SocketAddr,
    _held: Vec<Socket>,
}

impl Hole {
    pub fn dig(ip: &str) -> Self {
        let domain = if ip.contains(':') { Domain::IPV6 } else { Domain::IPV4 };
        let listener = Socket::new(domain, Type::STREAM, None).unwrap();
        listener.bind(&SocketAddr::new(ip.parse().unwrap(), 0).into()).unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap().as_socket().unwrap();
        let mut held = vec![listener];
        for _ in 0..100 {
            let filler = Socket::new(domain, Type::STREAM, None).unwrap();
            let is_full = filler.connect_timeout(&address.into(), std::time::Duration::from_millis(200)).is_err();
            held.push(filler);
            if is_full {
                return Self { address, _held: held };
            }
        }
        for socket in &held {
            let _ = socket.shutdown(Shutdown::Both);
        }
        panic!("{address} takes whoever comes");
    }
}
