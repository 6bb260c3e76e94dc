//! How the server is reached: TLS and a proxy.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::error::{ConfigError, ConfigErrorKind};
use crate::plan::{TlsPlan, UrlSpec};
use crate::typed::Typed;

/// Switches the check of certificates off, as in AIPerf.
const VERIFY_VARIABLE: &str = "AIPERF_HTTP_SSL_VERIFY";

pub(super) fn tls(typed: &Typed, urls: &[UrlSpec]) -> Result<TlsPlan, ConfigError> {
    let path = |id: &str| -> Result<Option<PathBuf>, ConfigError> { Ok(typed.full_text(id)?.map(PathBuf::from)) };
    let plan = TlsPlan {
        insecure: typed.switch("insecure") || !verification(std::env::var_os(VERIFY_VARIABLE).as_deref())?,
        ca_file: path("tls-ca-file")?,
        client_cert: path("tls-client-cert")?,
        client_key: path("tls-client-key")?,
    };
    let given = ["tls-ca-file", "tls-client-cert", "tls-client-key", "insecure"];
    let https = |url: &UrlSpec| {
        url.expose()
            .get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case("https://"))
    };
    if let Some(id) = typed.first_of(&given)
        && !urls.iter().any(https)
    {
        return Err(typed
            .conflict(id, "has no effect without an https URL")
            .remedy("write --url https://HOST:PORT, or leave it out"));
    }
    if plan.client_key.is_some() && plan.client_cert.is_none() {
        return Err(typed
            .conflict("tls-client-key", "needs --tls-client-cert")
            .remedy("add it"));
    }
    if plan.insecure && plan.ca_file.is_some() {
        return Err(typed
            .conflict(
                "tls-ca-file",
                format!("has no effect with --insecure or {VERIFY_VARIABLE}=false"),
            )
            .remedy("give one of the two"));
    }
    Ok(plan)
}

pub(super) fn proxy(typed: &Typed, urls: &[UrlSpec]) -> Result<Option<UrlSpec>, ConfigError> {
    let Some(url) = typed.full_text("http-proxy")? else {
        return Ok(None);
    };
    if urls.iter().all(UrlSpec::is_mock) {
        return Err(typed
            .conflict("http-proxy", "has no effect with --url mock:")
            .remedy("leave it out"));
    }
    Ok(Some(UrlSpec::Server(url.to_owned())))
}

/// Whether the environment leaves the check of certificates on. The words are those that AIPerf knows.
fn verification(value: Option<&OsStr>) -> Result<bool, ConfigError> {
    let Some(value) = value else {
        return Ok(true);
    };
    match value.to_string_lossy().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" | "t" | "y" => Ok(true),
        "false" | "0" | "no" | "off" | "f" | "n" => Ok(false),
        _ => Err(
            ConfigError::new(ConfigErrorKind::BadValue, VERIFY_VARIABLE, "expected true or false")
                .value(value.to_string_lossy())
                .remedy("set the environment variable to one of the two, or unset it"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_a_boolean() {
        for (value, expected) in [
            (None, Some(true)),
            (Some("true"), Some(true)),
            (Some("1"), Some(true)),
            (Some("False"), Some(false)),
            (Some("0"), Some(false)),
            (Some("off"), Some(false)),
            (Some(""), None),
            (Some("maybe"), None),
        ] {
            assert_eq!(verification(value.map(OsStr::new)).ok(), expected, "{value:?}");
        }
        let error = verification(Some(OsStr::new("maybe"))).unwrap_err().to_string();
        assert!(
            error.starts_with("AIPERF_HTTP_SSL_VERIFY 'maybe': expected true or false"),
            "{error}"
        );
    }
}
