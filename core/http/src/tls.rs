//! TLS over the stamped socket, without I/O of its own: rustls turns bytes into bytes, the socket moves them.

use std::cell::OnceCell;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use tokio::io::unix::AsyncFd;

use crate::error::{ErrorKind, ExchangeError};
use crate::trust::{Tls, TlsSettings};

/// Makes TLS sessions; without settings of its own it reads the system's certificates when the first one is made.
pub(crate) struct Connector {
    config: OnceCell<Arc<ClientConfig>>,
}

impl Connector {
    pub(crate) fn new(tls: Option<&Tls>) -> Self {
        let config = OnceCell::new();
        if let Some(tls) = tls {
            // The cell is empty.
            let _ = config.set(Arc::clone(&tls.0));
        }
        Self { config }
    }

    /// Shakes hands over a connected stream.
    pub(crate) async fn handshake(&self, stream: &AsyncFd<TcpStream>, host: &str) -> Result<Session, ExchangeError> {
        let failure = |reason: &dyn std::fmt::Display| {
            ExchangeError::new(ErrorKind::Tls, format!("TLS handshake with {host:?} failed: {reason}"))
        };
        let name = ServerName::try_from(host.to_string()).map_err(|error| failure(&error))?;
        // Boxed: it is large, and most connections have none.
        let mut tls = Box::new(ClientConnection::new(self.config()?, name).map_err(|error| failure(&error))?);
        loop {
            while tls.wants_write() {
                match tls.write_tls(&mut stream.get_ref()) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        stream.writable().await.map_err(|error| failure(&error))?.clear_ready();
                    }
                    Err(error) => return Err(failure(&error)),
                }
            }
            if !tls.is_handshaking() {
                return Ok(Session { tls, accepted: 0 });
            }
            match tls.read_tls(&mut stream.get_ref()) {
                Ok(0) => return Err(failure(&"the server closed the connection")),
                Ok(_) => {
                    if let Err(error) = tls.process_new_packets() {
                        // The alert that tells the server why; whether it arrives doesn't matter any more.
                        let _ = tls.write_tls(&mut stream.get_ref());
                        return Err(failure(&error));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    stream.readable().await.map_err(|error| failure(&error))?.clear_ready();
                }
                Err(error) => return Err(failure(&error)),
            }
        }
    }

    fn config(&self) -> Result<Arc<ClientConfig>, ExchangeError> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let tls = TlsSettings::default()
            .load()
            .map_err(|error| ExchangeError::new(ErrorKind::Tls, error.to_string()))?;
        Ok(Arc::clone(self.config.get_or_init(|| tls.0)))
    }
}

/// An established TLS session.
pub(crate) struct Session {
    tls: Box<ClientConnection>,
    /// Bytes accepted for encryption that have not all left yet.
    accepted: usize,
}

impl Session {
    /// Decrypts what a read brought into `buffer`; tells how many bytes of content that made. Content is never longer than
    /// what carried it.
    pub(crate) fn decrypt(&mut self, mut bytes: &[u8], buffer: &mut [u8]) -> io::Result<usize> {
        let mut length = 0;
        while !bytes.is_empty() {
            self.tls.read_tls(&mut bytes)?;
            self.tls
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            loop {
                match self.tls.reader().read(&mut buffer[length..]) {
                    Ok(0) => break,
                    Ok(read) => length += read,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(length)
    }

    /// Encrypts and writes `slices`. How many of their bytes were accepted is told only once all of those have left;
    /// until then the caller comes back with the same slices.
    pub(crate) fn write(&mut self, slices: &[io::IoSlice<'_>], mut stream: &TcpStream) -> io::Result<usize> {
        if self.accepted == 0 {
            self.accepted = self.tls.writer().write_vectored(slices)?;
        }
        while self.tls.wants_write() {
            self.tls.write_tls(&mut stream)?;
        }
        Ok(std::mem::take(&mut self.accepted))
    }

    /// Whether the server has ended the session, as far as has been read.
    pub(crate) fn is_over(&mut self) -> bool {
        // Without new bytes, reading tells the state: nothing there yet, or the end.
        !matches!(self.tls.reader().read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}
