//! Opening TCP connections with the options of the measuring path.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::{Domain, Protocol, TcpKeepalive, Type};
use tokio::io::unix::AsyncFd;

use crate::error::{ErrorKind, ExchangeError};
use crate::receive;

/// How long written data may stay unacknowledged before the connection counts as broken.
#[cfg(target_os = "linux")]
const USER_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens a connection to the first of `addresses` that answers.
pub(crate) async fn connect(
    addresses: &[SocketAddr],
    timeout: Option<Duration>,
) -> Result<(AsyncFd<TcpStream>, SocketAddr), ExchangeError> {
    let mut last = None;
    for address in addresses {
        let attempt = connect_to(*address);
        let result = match timeout {
            None => attempt.await,
            Some(limit) => match tokio::time::timeout(limit, attempt).await {
                Ok(result) => result,
                Err(_) => {
                    let message = format!("can't connect to {address}: no answer within {} s", limit.as_secs_f64());
                    last = Some(ExchangeError::new(ErrorKind::ConnectTimeout, message));
                    continue;
                }
            },
        };
        match result {
            Ok(stream) => return Ok((stream, *address)),
            Err(error) => last = Some(ExchangeError::connect(&error, address)),
        }
    }
    Err(last.unwrap_or_else(|| ExchangeError::new(ErrorKind::Dns, "the host has no address")))
}

async fn connect_to(address: SocketAddr) -> io::Result<AsyncFd<TcpStream>> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(60))
        .with_interval(Duration::from_secs(30))
        .with_retries(1);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
    receive::enable_timestamps(socket.as_fd());
    match socket.connect(&address.into()) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        Err(error) => return Err(error),
    }
    let stream = receive::register(TcpStream::from(socket))?;
    // Writable means connected or failed; which of the two, the socket knows.
    stream.writable().await?.retain_ready();
    match stream.get_ref().take_error()? {
        None => Ok(stream),
        Some(error) => Err(error),
    }
}
