//! Options of the HTTP client from the plan: certificates and keys are read here, before anything is sent.

use aiperf_config::{RunPlan, UrlSpec};
use aiperf_http::{Options, Proxy, Scheme, Target, TlsSettings};

use super::SetupError;

/// The options, and what the user should be warned of. `urls` are the plan's, with the mock server's address in place of
/// `mock:`.
///
/// # Errors
/// When a file can't be used, or the proxy's URL is none. The error names the flag.
pub fn options(plan: &RunPlan, urls: &[UrlSpec]) -> Result<(Options, Vec<String>), SetupError> {
    let mut options = Options {
        kernel_timestamps: plan.kernel_timestamps,
        ..Options::default()
    };
    // Who asks for so many at once gets as many connections.
    let concurrency = plan.phases.iter().filter_map(|phase| phase.concurrency).max();
    options.max_connections = options.max_connections.max(concurrency.unwrap_or(0) as usize);
    let endpoint = &plan.endpoint;
    let mut warnings = Vec::new();
    let https = |url: &UrlSpec| Target::parse(url.expose(), None).is_ok_and(|target| target.scheme() == Scheme::Https);
    if urls.iter().any(https) {
        let settings = TlsSettings {
            insecure: endpoint.tls.insecure,
            ca_file: endpoint.tls.ca_file.clone(),
            client_cert: endpoint.tls.client_cert.clone(),
            client_key: endpoint.tls.client_key.clone(),
        };
        options.tls = Some(settings.load()?);
        if settings.insecure {
            warnings.push(
                "certificates are not checked (--insecure or AIPERF_HTTP_SSL_VERIFY): anyone may pose as the server"
                    .into(),
            );
        }
    }
    if let Some(proxy) = &endpoint.proxy {
        options.proxy = Some(Proxy::parse(proxy.expose()).map_err(|error| SetupError::Flag {
            flag: "--http-proxy",
            problem: error.to_string(),
        })?);
    }
    Ok((options, warnings))
}
