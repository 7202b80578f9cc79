//! The floor's server: echoes 120-byte messages from one epoll loop. Prints its port, ends with standard input.

use std::io::Read;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    // The programs that measure read this line.
    #[allow(clippy::print_stdout)]
    {
        println!("{}", listener.local_addr()?.port());
    }
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });
    loop {
        let (mut stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let mut buffer = vec![0_u8; 65536];
            while let Ok(read) = stream.read(&mut buffer).await {
                if read == 0 || stream.write_all(&buffer[..read]).await.is_err() {
                    break;
                }
            }
        });
    }
}
