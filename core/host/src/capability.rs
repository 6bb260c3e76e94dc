//! What a package may ask for beyond computing, and what a user may grant it: exactly that, nothing implied.

use std::fmt;
use std::net::Ipv6Addr;

/// One thing that a package may do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Requests to the servers that the user grants one by one. A package may ask for this; it can't be granted as it is.
    AnyHttp,
    /// Requests to one host and port, as plain HTTP or over TLS.
    Http {
        /// A name in lower case, an IPv4 address, or an IPv6 address in brackets.
        host: String,
        /// The port.
        port: u16,
    },
    /// The run's API key.
    Secrets,
}

impl Capability {
    /// How a grant is written.
    pub const FORM: &str =
        "write `http:HOST:PORT` (one host and port, such as http:telemetry.example.com:443) or `secrets`";

    /// How a registry file asks.
    pub const ASKING: &str = "write `http:HOST:PORT` (one host and port, such as http:telemetry.example.com:443), `http` (those \
                              that the user grants) or `secrets`";

    /// Reads what a registry file asks for: `http:HOST:PORT`, `http` or `secrets`.
    pub fn asked(text: &str) -> Option<Self> {
        if text == "http" {
            return Some(Self::AnyHttp);
        }
        Self::parse(text)
    }

    /// Whether a package that asks for this may be granted `granted`.
    pub fn covers(&self, granted: &Self) -> bool {
        self == granted || matches!((self, granted), (Self::AnyHttp, Self::Http { .. }))
    }

    /// Reads a grant: `http:HOST:PORT` or `secrets`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "secrets" {
            return Some(Self::Secrets);
        }
        let (host, port) = text.strip_prefix("http:")?.rsplit_once(':')?;
        Some(Self::Http {
            host: host_name(host)?,
            port: digits(port)?,
        })
    }

    /// What a request to `http://HOST[:PORT]` or `https://HOST[:PORT]` needs. Neither user names nor paths belong there.
    pub fn of_origin(origin: &str) -> Option<Self> {
        let (scheme, authority) = origin.split_once("://")?;
        let default = match scheme.to_ascii_lowercase().as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        // The colons of an IPv6 address lie inside its brackets.
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, digits(port)?),
            _ => (authority, default),
        };
        Some(Self::Http {
            host: host_name(host)?,
            port,
        })
    }
}

/// Names of hosts do not depend on case.
fn host_name(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('[') {
        let address: Ipv6Addr = rest.strip_suffix(']')?.parse().ok()?;
        return Some(format!("[{address}]"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (!text.is_empty() && text.chars().all(plain)).then(|| text.to_ascii_lowercase())
}

/// A port, in digits alone.
fn digits(text: &str) -> Option<u16> {
    let all = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| all && *port > 0)
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnyHttp => f.write_str("http"),
            Self::Http { host, port } => write!(f, "http:{host}:{port}"),
            Self::Secrets => f.write_str("secrets"),
        }
    }
}

impl serde::Serialize for Capability {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_registry_file_or_a_user_writes() {
        for (text, shown) in [
            ("secrets", Some("secrets")),
            ("http:a.example:443", Some("http:a.example:443")),
            ("http:A.Example:443", Some("http:a.example:443")),
            ("http:127.0.0.1:9", Some("http:127.0.0.1:9")),
            ("http:[::1]:8080", Some("http:[::1]:8080")),
            ("http:[0:0::A]:8080", Some("http:[::a]:8080")),
            ("http:a_b-c:1", Some("http:a_b-c:1")),
            ("http:::1:8080", None),
            ("http:[a.example]:80", None),
            ("http:*:80", None),
            ("http:a.example:*", None),
            ("http:a.example", None),
            ("http::80", None),
            ("http:a.example:0", None),
            ("http:a.example:65536", None),
            ("http:a.example:+80", None),
            ("http:a@b:80", None),
            ("http:a/b:80", None),
            ("https:a.example:443", None),
            ("http", None),
            ("Secrets", None),
            ("", None),
        ] {
            let parsed = Capability::parse(text).map(|found| found.to_string());
            assert_eq!(parsed.as_deref(), shown, "{text}");
        }
    }

    #[test]
    fn what_covers_what() {
        let asked = |text| Capability::asked(text).unwrap();
        for (asks, grant, covered) in [
            ("http", "http:a.example:80", true),
            ("http", "secrets", false),
            ("http:a.example:80", "http:A.example:80", true),
            ("http:a.example:80", "http:a.example:81", false),
            ("http:a.example:80", "http:b.a.example:80", false),
            ("secrets", "secrets", true),
            ("secrets", "http:a.example:80", false),
        ] {
            let granted = Capability::parse(grant).unwrap();
            assert_eq!(asked(asks).covers(&granted), covered, "{asks} and {grant}");
        }
        assert_eq!(asked("http").to_string(), "http");
    }

    #[test]
    fn what_a_request_needs() {
        for (origin, needed) in [
            ("http://a.example", Some("http:a.example:80")),
            ("https://a.example", Some("http:a.example:443")),
            ("HTTPS://A.Example:8443", Some("http:a.example:8443")),
            ("http://[::1]", Some("http:[::1]:80")),
            ("http://[::1]:9", Some("http:[::1]:9")),
            ("http://a.example/", None),
            ("http://a.example/path", None),
            ("http://a.example:80/path", None),
            ("http://a.example:80?x", None),
            ("http://user@a.example", None),
            ("http://user:word@a.example:80", None),
            ("http://a.example#b.example", None),
            ("http://a.example\\.b.example", None),
            ("http://a.example:", None),
            ("http://", None),
            ("ftp://a.example", None),
            ("a.example:80", None),
            ("", None),
        ] {
            let found = Capability::of_origin(origin).map(|found| found.to_string());
            assert_eq!(found.as_deref(), needed, "{origin}");
        }
    }
}
