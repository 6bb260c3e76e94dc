//! Secrets of a run, blotted out of text that is about to be shown or written. A server may repeat them in an error message.

use crate::{RunPlan, UrlSpec, redact};

/// Anything shorter is no secret, and would blot out half of every text.
const SHORTEST: usize = 6;

/// Texts that must not be shown, longest first.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// The API key, the values of sensitive headers, members of bodies and plugin options, and the credentials in URLs.
    #[must_use]
    pub fn of(plan: &RunPlan) -> Self {
        let endpoint = &plan.endpoint;
        let mut secrets: Vec<String> = Vec::new();
        secrets.extend(endpoint.api_key.iter().map(|key| key.expose().to_owned()));
        for (name, value) in endpoint.headers.iter() {
            if redact::is_sensitive_header(name) {
                // `Bearer KEY`: the key alone is the secret.
                secrets.extend(value.split_whitespace().map(str::to_owned));
            }
        }
        let sources = plan.gpu_collectors.iter().flat_map(|collector| &collector.sources);
        let urls = endpoint.urls.iter().chain(&endpoint.proxy).chain(sources);
        secrets.extend(urls.flat_map(credentials));
        let members = std::iter::once(&endpoint.extra).chain(plan.plugins.options.values().map(|options| &options.0));
        for (name, value) in members.flatten() {
            if let (true, Some(value)) = (redact::is_sensitive_parameter(name), value.as_str()) {
                secrets.push(value.to_owned());
            }
        }
        Self::new(secrets)
    }

    fn new(mut secrets: Vec<String>) -> Self {
        secrets.retain(|secret| secret.len() >= SHORTEST && secret != "Bearer");
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// The text without secrets.
    #[must_use]
    pub fn blot(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) {
                text.replace(secret.as_str(), redact::REDACTED)
            } else {
                text
            }
        })
    }
}

/// User name, password and the values of sensitive parameters of a URL.
fn credentials(url: &UrlSpec) -> Vec<String> {
    let text = url.expose();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let user = authority.rsplit_once('@').map(|(user, _)| user.splitn(2, ':'));
    let parameters = rest
        .split(['?', '&', '#'])
        .filter_map(|parameter| parameter.split_once('='))
        .filter(|(name, _)| redact::is_sensitive_parameter(name))
        .map(|(_, value)| value);
    user.into_iter()
        .flatten()
        .chain(parameters)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_plan_holds_is_blotted_out() {
        let plan = crate::parse_profile(&[
            "--model",
            "m",
            "--tokenizer",
            "builtin",
            "--url",
            "http://somebody:pass-word@127.0.0.1:1/v1?api_key=url-key",
            "--api-key",
            "sk-0123456789",
            "--header",
            "X-Api-Key: header-key",
            "--header",
            "X-Tenant: tenant-name",
            "--plugin-opt",
            "exporter/x.token=option-key",
        ])
        .unwrap();
        let secrets = Secrets::of(&plan);
        let shown = secrets.blot("sk-0123456789 pass-word somebody header-key tenant-name url-key option-key".into());
        assert_eq!(
            shown,
            "<redacted> <redacted> <redacted> <redacted> tenant-name <redacted> <redacted>"
        );
    }

    #[test]
    fn longer_ones_first_and_short_ones_never() {
        let secrets = Secrets::new(vec![
            "abcdef".into(),
            "abcdefghi".into(),
            "none".into(),
            "Bearer".into(),
        ]);
        assert_eq!(
            secrets.blot("abcdefghi abcdef none Bearer".into()),
            "<redacted> <redacted> none Bearer"
        );
    }
}
