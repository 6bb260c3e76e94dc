//! An HTTP proxy that the user names: whole URLs for http targets, a tunnel (`CONNECT`) for https ones.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::unix::AsyncFd;

use crate::error::{ErrorKind, ExchangeError};
use crate::target::{Target, TargetError};

/// Longest head of an answer to `CONNECT` in bytes.
const LONGEST_HEAD: usize = 64 * 1024;

/// A proxy. Printing it leaves its credentials out.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    target: Target,
    /// The header line with the credentials, line end included; empty without credentials.
    header: String,
}

/// A proxy URL that can't be used. Its text holds no credentials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// Not http.
    #[error("the scheme {scheme:?} is not supported: use an http:// proxy")]
    Scheme {
        /// What stands before `://`.
        scheme: String,
    },
    /// Something follows host and port.
    #[error("a proxy has no path: write http://HOST:PORT")]
    Path,
    /// A `%` in the credentials without two hexadecimal digits, or a colon in the user's name.
    #[error("the credentials are not well-formed: percent-encode what is not a letter or digit")]
    Credentials,
    /// Host or port are not usable.
    #[error(transparent)]
    Target(#[from] TargetError),
}

impl Proxy {
    /// Reads `http://[USER:PASSWORD@]HOST[:PORT]`. The scheme may be left out; the port is 80 then, as for any URL.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn parse(url: &str) -> Result<Self, ProxyError> {
        let (scheme, rest) = url.trim().split_once("://").unwrap_or(("http", url.trim()));
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(ProxyError::Scheme { scheme: scheme.into() });
        }
        let (credentials, host) = match rest.rsplit_once('@') {
            Some((credentials, host)) => (Some(credentials), host),
            None => (None, rest),
        };
        let host = host.strip_suffix('/').unwrap_or(host);
        if host.contains(['/', '?', '#']) {
            return Err(ProxyError::Path);
        }
        let header = match credentials {
            None => String::new(),
            Some(credentials) => {
                let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
                let (user, password) = (decoded(user)?, decoded(password)?);
                if user.contains(&b':') {
                    return Err(ProxyError::Credentials);
                }
                let basic = STANDARD.encode([&user[..], b":", &password].concat());
                format!("Proxy-Authorization: Basic {basic}\r\n")
            }
        };
        Ok(Self {
            target: Target::parse(&format!("http://{host}"), None)?,
            header,
        })
    }

    /// Where it listens.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Header line with the credentials; empty if there are none.
    pub(crate) fn header(&self) -> &str {
        &self.header
    }

    /// A failure to reach the proxy itself. Lack of file descriptors is not its fault.
    pub(crate) fn unreachable(&self, error: ExchangeError) -> ExchangeError {
        match error.kind {
            ErrorKind::TooManyOpenFiles => error,
            _ => self.failure(error.message),
        }
    }

    fn failure(&self, problem: impl fmt::Display) -> ExchangeError {
        ExchangeError::new(
            ErrorKind::Proxy,
            format!("proxy {}: {problem}", self.target.authority()),
        )
    }

    /// Has the proxy connect `stream` to `target`.
    pub(crate) async fn tunnel(&self, stream: &AsyncFd<TcpStream>, target: &Target) -> Result<(), ExchangeError> {
        let host = target.host();
        let authority = if host.contains(':') {
            format!("[{host}]:{}", target.port())
        } else {
            format!("{host}:{}", target.port())
        };
        let request = format!(
            "CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{}\r\n",
            self.header
        );
        let broken =
            |error: io::Error| self.failure(format!("the connection broke before the tunnel was open: {error}"));
        write_all(stream, request.as_bytes()).await.map_err(broken)?;
        let head = read_head(stream).await.map_err(broken)?;
        match status(&head) {
            Some((200..=299, _)) => Ok(()),
            Some((407, _)) => Err(self.failure(format!(
                "it opens no tunnel to {authority} without credentials that it accepts (407)"
            ))),
            Some((status, reason)) => {
                Err(self.failure(format!("it opens no tunnel to {authority}: {status} {reason}")))
            }
            None => Err(self.failure("what it answered to CONNECT is not HTTP/1.1")),
        }
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.target.authority())
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.to_string()).finish()
    }
}

async fn write_all(stream: &AsyncFd<TcpStream>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut ready = stream.writable().await?;
        match stream.get_ref().write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads to the end of a head and not a byte further: what follows belongs to the tunnel.
async fn read_head(stream: &AsyncFd<TcpStream>) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == LONGEST_HEAD {
            return Err(io::Error::other("its answer is too long"));
        }
        let mut ready = stream.readable().await?;
        let mut byte = [0];
        match stream.get_ref().read(&mut byte) {
            Ok(0) => return Err(io::Error::other("it closed the connection")),
            Ok(_) => head.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(head)
}

/// Status and reason of a head.
fn status(head: &[u8]) -> Option<(u16, String)> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let line = String::from_utf8_lossy(line);
    let (status, reason) = line
        .strip_prefix("HTTP/1.")?
        .get(1..)?
        .trim_start()
        .split_at_checked(3)?;
    let reason = reason.trim().chars().filter(|c| !c.is_control()).take(200).collect();
    Some((status.parse().ok()?, reason))
}

/// Percent-decoded.
fn decoded(text: &str) -> Result<Vec<u8>, ProxyError> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || {
            let digit = char::from(bytes.next()?).to_digit(16)?;
            u8::try_from(digit).ok()
        };
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err(ProxyError::Credentials);
        };
        decoded.push(high << 4 | low);
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read() {
        // RFC 7617's own example: Aladdin, open sesame.
        for (url, shown, header) in [
            ("http://p:3128", "http://p:3128", ""),
            ("p:3128", "http://p:3128", ""),
            ("HTTP://p/", "http://p", ""),
            ("http://[::1]:8", "http://[::1]:8", ""),
            (
                "http://Aladdin:open%20sesame@p:1",
                "http://p:1",
                "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n",
            ),
            ("user@p:1", "http://p:1", "Proxy-Authorization: Basic dXNlcjo=\r\n"),
        ] {
            let proxy = Proxy::parse(url).unwrap();
            assert_eq!((proxy.to_string().as_str(), proxy.header()), (shown, header), "{url}");
            assert_eq!(format!("{proxy:?}"), format!("Proxy({shown:?})"));
        }
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_its_credentials() {
        for (url, part) in [
            ("https://u:secret@p:1", "\"https\" is not supported"),
            ("socks5://u:secret@p:1", "\"socks5\" is not supported"),
            ("http://u:secret@p:1/path", "no path"),
            ("http://u:%zz@p:1", "percent-encode"),
            ("http://u%3a:secret@p:1", "percent-encode"),
            ("http://u:secret@p:x", "port"),
            ("http://u:secret@", "no host"),
        ] {
            let error = Proxy::parse(url).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{url}: {error}");
        }
    }

    #[test]
    fn status_lines_are_read() {
        for (head, expected) in [
            (
                "HTTP/1.1 200 Connection established\r\n\r\n",
                Some((200, "Connection established")),
            ),
            ("HTTP/1.0 403\r\n\r\n", Some((403, ""))),
            ("HTTP/2 200\r\n\r\n", None),
            ("SSH-2.0\r\n\r\n", None),
            ("HTTP/1.1 2\r\n\r\n", None),
            ("HTTP/1.\u{fc}", None),
        ] {
            assert_eq!(
                status(head.as_bytes()),
                expected.map(|(status, reason)| (status, reason.to_owned())),
                "{head}"
            );
        }
    }
}
