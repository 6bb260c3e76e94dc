//! Why an exchange brought no complete answer.

use std::fmt;
use std::io;

use crate::response::ResponseError;

/// The ways an exchange can fail. A status outside 200–299 is not among them: that is an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request can't be put on the wire as it is.
    InvalidRequest,
    /// The host name has no address.
    Dns,
    /// The server's machine refused the connection.
    ConnectRefused,
    /// The connection could not be established for another reason.
    ConnectFailed,
    /// The connection was not established in time.
    ConnectTimeout,
    /// The TLS handshake failed, or the server's certificate is not trusted.
    Tls,
    /// The proxy can't be reached, or refuses.
    Proxy,
    /// This process, or the machine, has no file descriptor left.
    TooManyOpenFiles,
    /// The exchange took longer than the request's timeout.
    Timeout,
    /// A request that was to be cancelled after its sending could not even be sent within its timeout.
    SendTimeout,
    /// The server closed the connection before a complete response head.
    Closed,
    /// The connection was reset before a complete response head.
    Reset,
    /// The server's machine stopped acknowledging what was sent.
    Unresponsive,
    /// The connection ended within the body.
    BodyIncomplete,
    /// The response is not valid HTTP/1.1.
    Protocol,
    /// The body is encoded in a way that nobody asked for and that can't be decoded, or its encoding is damaged.
    Encoding,
    /// The body is larger than the client accepts.
    BodyTooLarge,
    /// The stream reported an error of its own (`event: error`).
    SseError,
    /// The owner cancelled the exchange.
    Cancelled,
    /// The request's own cancellation delay elapsed.
    CancelledAfterSend,
}

impl ErrorKind {
    /// Name for the `type` field of a record.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "InvalidRequestError",
            Self::Dns => "DnsError",
            Self::ConnectRefused => "ConnectionRefusedError",
            Self::ConnectFailed => "ConnectError",
            Self::ConnectTimeout => "ConnectTimeoutError",
            Self::Tls => "TlsError",
            Self::Proxy => "ProxyError",
            Self::TooManyOpenFiles => "TooManyOpenFilesError",
            Self::Timeout => "TimeoutError",
            Self::SendTimeout => "RequestSendTimeout",
            Self::Closed => "ServerDisconnectedError",
            Self::Reset => "ConnectionResetError",
            Self::Unresponsive => "UnresponsiveServerError",
            Self::BodyIncomplete => "IncompleteBodyError",
            Self::Protocol => "ProtocolError",
            Self::Encoding => "ContentEncodingError",
            Self::BodyTooLarge => "BodyTooLargeError",
            Self::SseError => "SSEResponseError",
            Self::Cancelled | Self::CancelledAfterSend => "RequestCancellationError",
        }
    }

    /// Number for the `code` field of a record, where the original gives one.
    #[must_use]
    pub fn code(self) -> Option<u16> {
        match self {
            Self::SendTimeout => Some(0),
            Self::Cancelled | Self::CancelledAfterSend => Some(499),
            Self::SseError => Some(502),
            _ => None,
        }
    }

    /// What a user can do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::InvalidRequest => "correct the URL or the header named in the message",
            Self::Dns => "check the host name in --url and the machine's name resolution",
            Self::ConnectRefused => "check that the server is running and listens on the host and port of --url",
            Self::ConnectFailed => "check the network path to the host and port of --url",
            Self::Unresponsive => "check the network path and whether the server's machine is alive",
            Self::ConnectTimeout => "check the network path, or whether the server's accept queue is full",
            Self::Tls => {
                "check that the port speaks TLS and that the server's certificate is valid; --tls-ca-file names \
                 certificates to trust, --tls-client-cert the client's own, and --insecure trusts anyone"
            }
            Self::Proxy => "check host, port and credentials of --http-proxy, and that the proxy may reach the server",
            Self::TooManyOpenFiles => "raise the limit on open files (ulimit -n) or lower the concurrency",
            Self::Timeout => "raise the request timeout or lower the load",
            Self::SendTimeout => "the server does not read: lower the load or raise the request timeout",
            Self::Closed | Self::Reset | Self::BodyIncomplete => {
                "look into the server's log: it ended the connection; a proxy's idle timeout may be too short"
            }
            Self::Protocol => "check that the port of --url speaks HTTP/1.1",
            Self::Encoding => "switch off compression in the server or whatever stands before it: none was asked for",
            Self::BodyTooLarge => "ask for shorter answers",
            Self::SseError => "look into the server's log: it reported an error inside the stream",
            Self::Cancelled | Self::CancelledAfterSend => "nothing: the cancellation was intended",
        }
    }
}

/// An exchange's failure: a kind to act on, and a message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeError {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// What happened, with addresses and causes.
    pub message: String,
}

impl ExchangeError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Names the server in the message, unless it is named already or the failure is not about the connection to it.
    pub(crate) fn at(mut self, authority: &str) -> Self {
        let elsewhere = matches!(
            self.kind,
            ErrorKind::InvalidRequest | ErrorKind::SseError | ErrorKind::Cancelled | ErrorKind::CancelledAfterSend
        );
        if !elsewhere && !self.message.contains(authority) {
            self.message = format!("{authority}: {}", self.message);
        }
        self
    }

    /// A failure of the socket while a connection was opened.
    pub(crate) fn connect(error: &io::Error, to: impl fmt::Display) -> Self {
        let kind = match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => ErrorKind::TooManyOpenFiles,
            Some(libc::ECONNREFUSED) => ErrorKind::ConnectRefused,
            Some(libc::ETIMEDOUT) => ErrorKind::ConnectTimeout,
            _ => ErrorKind::ConnectFailed,
        };
        let hint = match error.raw_os_error() {
            Some(libc::EADDRNOTAVAIL) => " (no local port is free: reuse connections or lower the rate)",
            _ => "",
        };
        Self::new(kind, format!("can't connect to {to}: {error}{hint}"))
    }

    /// A failure of the socket while a request was written or a response head was awaited.
    pub(crate) fn before_head(error: &io::Error) -> Self {
        // In TLS 1.3 a server judges the client's certificate after the client's part of the handshake is over.
        if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return Self::new(ErrorKind::Tls, format!("the TLS session failed: {tls}"));
        }
        match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => Self::new(
                ErrorKind::Reset,
                format!("the connection was reset before the response: {error}"),
            ),
            io::ErrorKind::TimedOut => Self::new(
                ErrorKind::Unresponsive,
                format!("the server's machine stopped acknowledging before the response: {error}"),
            ),
            io::ErrorKind::UnexpectedEof => Self::closed(),
            _ => Self::new(
                ErrorKind::Protocol,
                format!("the connection failed before the response: {error}"),
            ),
        }
    }

    pub(crate) fn closed() -> Self {
        Self::new(
            ErrorKind::Closed,
            "the server closed the connection before the response was complete",
        )
    }

    /// Bytes that are no response.
    pub(crate) fn response(error: ResponseError) -> Self {
        let part = if error.in_head() { "head" } else { "body" };
        Self::new(
            ErrorKind::Protocol,
            format!("the response {part} is not valid HTTP/1.1: {error}"),
        )
    }

    /// A failure of the socket within the body.
    pub(crate) fn body_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => Self::new(
                ErrorKind::Protocol,
                format!("the response body is not valid HTTP/1.1: {error}"),
            ),
            io::ErrorKind::UnexpectedEof => Self::new(
                ErrorKind::BodyIncomplete,
                "the server closed the connection within the response body",
            ),
            _ => Self::new(
                ErrorKind::BodyIncomplete,
                format!("the connection broke within the body: {error}"),
            ),
        }
    }
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExchangeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connect_failures_are_told_apart() {
        for (code, expected, hint) in [
            (libc::ECONNREFUSED, ErrorKind::ConnectRefused, ""),
            (libc::ETIMEDOUT, ErrorKind::ConnectTimeout, ""),
            (libc::EMFILE, ErrorKind::TooManyOpenFiles, ""),
            (libc::ENFILE, ErrorKind::TooManyOpenFiles, ""),
            (libc::ENETUNREACH, ErrorKind::ConnectFailed, ""),
            (libc::EADDRNOTAVAIL, ErrorKind::ConnectFailed, "no local port"),
        ] {
            let error = ExchangeError::connect(&io::Error::from_raw_os_error(code), "h:1");
            assert_eq!(error.kind, expected);
            assert!(error.message.contains("h:1") && error.message.contains(hint), "{error}");
        }
    }

    #[test]
    fn the_server_is_named_once() {
        for (kind, message, expected) in [
            (ErrorKind::Closed, "closed", "h:1: closed"),
            (
                ErrorKind::ConnectRefused,
                "can't connect to h:1",
                "can't connect to h:1",
            ),
            (ErrorKind::Cancelled, "cancelled", "cancelled"),
        ] {
            assert_eq!(ExchangeError::new(kind, message).at("h:1").message, expected);
        }
    }

    #[test]
    fn failures_before_the_head_are_told_apart() {
        for (cause, expected) in [
            (io::ErrorKind::UnexpectedEof, ErrorKind::Closed),
            (io::ErrorKind::ConnectionReset, ErrorKind::Reset),
            (io::ErrorKind::BrokenPipe, ErrorKind::Reset),
            (io::ErrorKind::TimedOut, ErrorKind::Unresponsive),
            (io::ErrorKind::Other, ErrorKind::Protocol),
        ] {
            assert_eq!(ExchangeError::before_head(&cause.into()).kind, expected, "{cause}");
        }
    }
}
