//! Where requests go: a base URL, an endpoint path and query parameters, put together once.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// Protocol of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain HTTP over TCP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// Name in URLs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Port that URLs leave out.
    #[must_use]
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A server and a path on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    scheme: Scheme,
    host: String,
    port: u16,
    authority: Arc<str>,
    path: String,
}

/// A URL that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Neither http nor https.
    #[error("{url:?}: the scheme {scheme:?} is not supported: use http:// or https://")]
    Scheme {
        /// The URL as given.
        url: String,
        /// What stands before `://`.
        scheme: String,
    },
    /// Nothing between `://` and the path.
    #[error("{url:?} has no host: write http://HOST:PORT")]
    NoHost {
        /// The URL as given.
        url: String,
    },
    /// The host has characters that no host name has, or an unclosed bracket.
    #[error("{url:?}: {host:?} is not a host name or address (IPv6 addresses stand in brackets)")]
    Host {
        /// The URL as given.
        url: String,
        /// The part taken for the host.
        host: String,
    },
    /// Not a number from 1 to 65535.
    #[error("{url:?}: {port:?} is not a port: use a number from 1 to 65535")]
    Port {
        /// The URL as given.
        url: String,
        /// The part taken for the port.
        port: String,
    },
    /// `user:password@` in front of the host.
    #[error("the URL of {host:?} contains credentials: send them as a header or API key instead")]
    Credentials {
        /// What follows the credentials, which are not repeated.
        host: String,
    },
    /// A blank or control character inside.
    #[error("{url:?} contains a blank or control character: percent-encode it")]
    Blank {
        /// The URL as given.
        url: String,
    },
    /// The endpoint path must begin with a slash.
    #[error("the endpoint path {path:?} must start with '/'")]
    Path {
        /// The path as given.
        path: String,
    },
}

impl Target {
    /// Puts a base URL and an endpoint path together.
    ///
    /// `http://` is assumed. The path is appended to that of the URL, unless the URL already ends in it; of `/v1` at
    /// the end of the URL and `/v1/` at the start of the path, one remains. `None` or an empty path appends nothing.
    /// Queries are kept, fragments dropped (they are never sent).
    ///
    /// # Errors
    /// If the URL or the path is malformed, or the scheme is neither http nor https.
    pub fn parse(url: &str, path: Option<&str>) -> Result<Self, TargetError> {
        let path = path.unwrap_or_default();
        if !path.is_empty() && !path.starts_with('/') {
            return Err(TargetError::Path { path: path.into() });
        }
        let trimmed = url.trim();
        for text in [trimmed, path] {
            if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
                return Err(TargetError::Blank { url: text.into() });
            }
        }
        let (scheme, rest) = split_scheme(trimmed);
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => {
                return Err(TargetError::Scheme {
                    url: url.into(),
                    scheme: scheme.into(),
                });
            }
        };
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, port) = split_host(&rest[..end], url)?;
        let port = port.unwrap_or(scheme.default_port());
        let (base, query) = rest[end..].split_once('?').unwrap_or((&rest[end..], ""));
        let path = path.split_once('#').map_or(path, |(before, _)| before);
        let (path, path_query) = path.split_once('?').unwrap_or((path, ""));

        let mut path = encode_path(&join(base, path));
        let queries: Vec<_> = [query, path_query]
            .into_iter()
            .filter(|query| !query.is_empty())
            .collect();
        if !queries.is_empty() {
            path.push('?');
            path.push_str(&encode_path(&queries.join("&")));
        }
        let host_in_url = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.clone()
        };
        let authority = if port == scheme.default_port() {
            host_in_url
        } else {
            format!("{host_in_url}:{port}")
        };
        Ok(Self {
            scheme,
            host,
            port,
            authority: authority.into(),
            path,
        })
    }

    /// Merges parameters into the query: of each name one value remains, and a given one wins over one that the URL
    /// already has. Without parameters the query stays as it is.
    #[must_use]
    pub fn with_parameters(mut self, parameters: &[(String, String)]) -> Self {
        if parameters.is_empty() {
            return self;
        }
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        // Pairs in their encoded form.
        let mut merged: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if merged.iter().all(|(known, _)| known != name) {
                merged.push((name.into(), value.into()));
            }
        }
        for (name, value) in parameters {
            let (name, value) = (encode_parameter(name), encode_parameter(value));
            match merged.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => merged.push((name, value)),
            }
        }
        let query: Vec<_> = merged
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        self.path = format!("{path}?{}", query.join("&"));
        self
    }

    /// Protocol.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Host name or address, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// TCP port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Host and, unless it is the scheme's default, port: the `Host` header.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    pub(crate) fn shared_authority(&self) -> &Arc<str> {
        &self.authority
    }

    /// Path and query as sent; begins with a slash.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme.name(), self.authority, self.path)
    }
}

/// A scheme is what stands before `://`, if that comes before any path or query.
fn split_scheme(url: &str) -> (&str, &str) {
    match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', '#']) => (scheme, rest),
        _ => ("http", url),
    }
}

fn split_host(authority: &str, url: &str) -> Result<(String, Option<u16>), TargetError> {
    if let Some((_, host)) = authority.rsplit_once('@') {
        return Err(TargetError::Credentials { host: host.into() });
    }
    let bad_host = |host: &str| TargetError::Host {
        url: url.into(),
        host: host.into(),
    };
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or_else(|| bad_host(authority))?;
            let address: std::net::Ipv6Addr = host.parse().map_err(|_| bad_host(host))?;
            let port = match after.strip_prefix(':') {
                Some(port) => Some(port),
                None if after.is_empty() => None,
                None => return Err(bad_host(authority)),
            };
            (address.to_string(), port)
        }
        None => {
            let (host, port) = match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            };
            if port.is_some_and(|port| port.contains(':')) {
                return Err(bad_host(authority));
            }
            (host.to_ascii_lowercase(), port)
        }
    };
    if host.is_empty() {
        return Err(TargetError::NoHost { url: url.into() });
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    if !host.chars().all(legal) {
        return Err(bad_host(&host));
    }
    let port = match port {
        None | Some("") => None,
        Some(text) => match text.parse() {
            Ok(port) if port > 0 && text.bytes().all(|byte| byte.is_ascii_digit()) => Some(port),
            _ => {
                return Err(TargetError::Port {
                    url: url.into(),
                    port: text.into(),
                });
            }
        },
    };
    Ok((host, port))
}

fn join(base: &str, path: &str) -> String {
    let base = base.trim_end_matches('/');
    let joined = if path.is_empty() || base.ends_with(path) {
        base.to_string()
    } else if base.ends_with("/v1") && path.starts_with("/v1/") {
        format!("{base}{}", &path["/v1".len()..])
    } else {
        format!("{base}{path}")
    };
    if joined.is_empty() { "/".into() } else { joined }
}

/// Encodes what may not stand in a request line; what is already encoded stays.
fn encode_path(text: &str) -> String {
    encode(text, |byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte))
}

fn encode_parameter(text: &str) -> String {
    encode(text, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

fn encode(text: &str, plain: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if plain(byte) {
            encoded.push(byte as char);
        } else {
            // Writing to a String can't fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_paths_join() {
        let chat = "/v1/chat/completions";
        for (url, path, expected) in [
            ("localhost:8000", chat, "http://localhost:8000/v1/chat/completions"),
            (
                "http://localhost:8000/",
                chat,
                "http://localhost:8000/v1/chat/completions",
            ),
            ("HTTP://LocalHost", chat, "http://localhost/v1/chat/completions"),
            ("https://h", "/x", "https://h/x"),
            ("HTTPS://h:443", "/x", "https://h/x"),
            ("https://h:80", "/x", "https://h:80/x"),
            ("h:443", "/x", "http://h:443/x"),
            ("localhost:80", chat, "http://localhost/v1/chat/completions"),
            ("h:8000/v1", chat, "http://h:8000/v1/chat/completions"),
            ("h:8000/v1/", chat, "http://h:8000/v1/chat/completions"),
            ("h/v1/chat/completions", chat, "http://h/v1/chat/completions"),
            ("h/v1/chat/completions///", chat, "http://h/v1/chat/completions"),
            ("h/proxy/v1", chat, "http://h/proxy/v1/chat/completions"),
            ("h/proxy", chat, "http://h/proxy/v1/chat/completions"),
            ("h/v1", "/v1", "http://h/v1"),
            ("h/v1", "/v10/x", "http://h/v1/v10/x"),
            ("h/v1", "/generate", "http://h/v1/generate"),
            ("h/custom", "", "http://h/custom"),
            ("h/custom/", "", "http://h/custom"),
            ("h", "", "http://h/"),
            ("h?key=1", "", "http://h/?key=1"),
            ("h/v1?key=1&key=2#top", chat, "http://h/v1/chat/completions?key=1&key=2"),
            ("h?a=1", "/x?b=2", "http://h/x?a=1&b=2"),
            ("h/v1", "/v1#top", "http://h/v1"),
            ("h", "/x?b=2#/y?c=3", "http://h/x?b=2"),
            ("[::1]:9000", chat, "http://[::1]:9000/v1/chat/completions"),
            ("http://[0:0::1]", "/x", "http://[::1]/x"),
            ("127.0.0.1:1", "/x", "http://127.0.0.1:1/x"),
            ("h:", "/x", "http://h/x"),
            (" h ", "/x", "http://h/x"),
            ("h/ü", "/{x}%20", "http://h/%C3%BC/%7Bx%7D%20"),
            ("h/redirect?to=http://x/", "", "http://h/redirect?to=http://x/"),
        ] {
            assert_eq!(
                Target::parse(url, Some(path)).unwrap().to_string(),
                expected,
                "{url} + {path}"
            );
        }
        let target = Target::parse("[::1]:9000/a", None).unwrap();
        assert_eq!(
            (target.host(), target.port(), target.authority(), target.path()),
            ("::1", 9000, "[::1]:9000", "/a")
        );
    }

    #[test]
    fn bad_urls_are_told_apart() {
        let of = |url: &str| url.to_string();
        for (url, expected) in [
            (
                "grpc://h",
                TargetError::Scheme {
                    url: of("grpc://h"),
                    scheme: of("grpc"),
                },
            ),
            ("", TargetError::NoHost { url: of("") }),
            ("http://", TargetError::NoHost { url: of("http://") }),
            ("http:///x", TargetError::NoHost { url: of("http:///x") }),
            (":80", TargetError::NoHost { url: of(":80") }),
            (
                "h:0",
                TargetError::Port {
                    url: of("h:0"),
                    port: of("0"),
                },
            ),
            (
                "h:65536",
                TargetError::Port {
                    url: of("h:65536"),
                    port: of("65536"),
                },
            ),
            (
                "h:x/y",
                TargetError::Port {
                    url: of("h:x/y"),
                    port: of("x"),
                },
            ),
            (
                "h:+80",
                TargetError::Port {
                    url: of("h:+80"),
                    port: of("+80"),
                },
            ),
            (
                "::1",
                TargetError::Host {
                    url: of("::1"),
                    host: of("::1"),
                },
            ),
            (
                "[::1",
                TargetError::Host {
                    url: of("[::1"),
                    host: of("[::1"),
                },
            ),
            (
                "[::1]8",
                TargetError::Host {
                    url: of("[::1]8"),
                    host: of("[::1]8"),
                },
            ),
            (
                "[x]:8",
                TargetError::Host {
                    url: of("[x]:8"),
                    host: of("x"),
                },
            ),
            (
                "h,i",
                TargetError::Host {
                    url: of("h,i"),
                    host: of("h,i"),
                },
            ),
            ("http://user:secret@h:1", TargetError::Credentials { host: of("h:1") }),
            ("h/a b", TargetError::Blank { url: of("h/a b") }),
            ("h/a\r\nX: y", TargetError::Blank { url: of("h/a\r\nX: y") }),
        ] {
            assert_eq!(Target::parse(url, None), Err(expected), "{url:?}");
        }
        assert_eq!(
            Target::parse("h", Some("x")),
            Err(TargetError::Path { path: "x".into() })
        );
        assert_eq!(
            Target::parse("h", Some("/x y")),
            Err(TargetError::Blank { url: "/x y".into() })
        );
    }

    #[test]
    fn parameters_merge_into_the_query() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<_> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_string(), (*value).to_string()))
                .collect()
        };
        for (url, parameters, expected) in [
            ("h/x?a=1&a=2", pairs(&[]), "/x?a=1&a=2"),
            ("h/x", pairs(&[("a", "1")]), "/x?a=1"),
            (
                "h/x?a=1&b=2&b=3&c",
                pairs(&[("a", "9"), ("d", "4")]),
                "/x?a=9&b=2&c=&d=4",
            ),
            ("h/x", pairs(&[("k y", "a&b=ü")]), "/x?k%20y=a%26b%3D%C3%BC"),
        ] {
            let target = Target::parse(url, None).unwrap().with_parameters(&parameters);
            assert_eq!(target.path(), expected, "{url}");
        }
    }
}
