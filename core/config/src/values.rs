//! Settings as values of their kind: the bounds come from the flag table, the errors name the flag as it was typed.

use crate::error::{ConfigError, ConfigErrorKind};
use crate::flags::{self, Kind, Secrecy};
use crate::shown;
use crate::typed::{Setting, Typed};

/// Largest finite number that a flag takes: as seconds (32 years) it fits 64 bits of nanoseconds.
const LARGEST: f64 = 1e9;
/// Smallest step above a bound that a number may not touch: one nanosecond, or the rate whose interval is [`LARGEST`].
const SMALLEST: f64 = 1e-9;

impl Typed {
    /// A switch; off if not given.
    pub(crate) fn switch(&self, id: &str) -> bool {
        self.single(id).is_some_and(|value| value == "true")
    }

    /// The text of a setting that takes one value.
    pub(crate) fn text(&self, id: &str) -> Option<&str> {
        self.single(id)
    }

    /// The text of a setting that takes one value, which may not be empty.
    pub(crate) fn full_text(&self, id: &str) -> Result<Option<&str>, ConfigError> {
        match self.single(id) {
            Some(text) if text.trim().is_empty() => Err(self.bad(id, "needs a value that is not empty")),
            text => Ok(text),
        }
    }

    /// A whole number within the bounds of the flag.
    pub(crate) fn int(&self, id: &str) -> Result<Option<u64>, ConfigError> {
        let Some(text) = self.scalar(id)? else { return Ok(None) };
        let (min, max) = match flags::by_id(id).map(|flag| flag.kind) {
            Some(Kind::Int { min, max }) => (min, max),
            _ => (0, u64::MAX),
        };
        match text.parse::<u64>() {
            Ok(number) if (min..=max).contains(&number) => Ok(Some(number)),
            Ok(number) if number > max => Err(self.bad_value(id, format!("expected a whole number up to {max}"))),
            _ => Err(self.bad_value(id, format!("expected a whole number, at least {min}"))),
        }
    }

    /// A whole number whose flag's bounds lie within 32 bits.
    pub(crate) fn int32(&self, id: &str) -> Result<Option<u32>, ConfigError> {
        let Some(number) = self.int(id)? else { return Ok(None) };
        u32::try_from(number)
            .map(Some)
            .map_err(|_| self.bad_value(id, format!("expected a whole number up to {}", u32::MAX)))
    }

    /// A decimal number within the bounds of the flag and of [`LARGEST`]; infinite only where the flag permits it.
    pub(crate) fn float(&self, id: &str) -> Result<Option<f64>, ConfigError> {
        let Some(text) = self.scalar(id)? else { return Ok(None) };
        let (min, above, infinite) = match flags::by_id(id).map(|flag| flag.kind) {
            Some(Kind::Float { min, above, infinite }) => (min, above, infinite),
            _ => (0.0, false, false),
        };
        let smallest = if above { min + SMALLEST } else { min };
        let fits = |number: &f64| (smallest..=LARGEST).contains(number) || (infinite && *number == f64::INFINITY);
        if let Some(number) = text.parse::<f64>().ok().filter(fits) {
            return Ok(Some(number));
        }
        let least = if above {
            format!("above {min} (at least {smallest:e})")
        } else {
            format!("from {min}")
        };
        let or_infinite = if infinite { ", or inf" } else { "" };
        let error = self.bad_value(id, format!("expected a number {least} up to {LARGEST:e}{or_infinite}"));
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        Err(match unit {
            "s" | "sec" | "m" | "min" | "h" | "ms" if unit.len() < text.len() => {
                error.remedy("durations are plain numbers without a unit")
            }
            _ => error,
        })
    }

    /// One of the words of the flag, as the flag table writes it.
    pub(crate) fn choice(&self, id: &str) -> Result<Option<&'static str>, ConfigError> {
        let Some(text) = self.single(id) else { return Ok(None) };
        let Some(Kind::Choice(words)) = flags::by_id(id).map(|flag| flag.kind) else {
            return Ok(None);
        };
        let typed = folded(text);
        match words.iter().find(|word| folded(word) == typed) {
            Some(word) => Ok(Some(word)),
            None => Err(self.bad_value(id, format!("expected one of {}", words.join(", ")))),
        }
    }

    /// The name of a plugin entry, in lower case with underscores.
    pub(crate) fn name(&self, id: &str) -> Result<Option<String>, ConfigError> {
        self.full_text(id)?.map(|text| self.entry_name(id, text)).transpose()
    }

    /// The items of a list, trimmed. Pseudo-URLs of the mock server keep their commas.
    pub(crate) fn list(&self, id: &str) -> Result<Vec<String>, ConfigError> {
        let mut items = Vec::new();
        for value in self.get(id).into_iter().flat_map(|setting| &setting.values) {
            if crate::UrlSpec::is_mock_text(value) {
                items.push(value.clone());
            } else {
                items.extend(value.split(',').map(|item| item.trim().to_owned()));
            }
        }
        if items.iter().any(String::is_empty) {
            return Err(self.bad_value(id, "the list has an empty item"));
        }
        Ok(items)
    }

    /// The names of plugin entries in a list, in lower case with underscores.
    pub(crate) fn names(&self, id: &str) -> Result<Vec<String>, ConfigError> {
        self.list(id)?.iter().map(|item| self.entry_name(id, item)).collect()
    }

    /// Every value of a setting, as typed.
    pub(crate) fn each(&self, id: &str) -> &[String] {
        self.get(id).map_or(&[], |setting| &setting.values)
    }

    /// An error about a setting whose value is not worth quoting.
    pub(crate) fn bad(&self, id: &str, problem: impl Into<String>) -> ConfigError {
        ConfigError::new(ConfigErrorKind::BadValue, self.spelling(id), problem)
    }

    /// An error about a setting that quotes its value, redacted.
    pub(crate) fn bad_value(&self, id: &str, problem: impl Into<String>) -> ConfigError {
        let secrecy = flags::by_id(id).map_or(Secrecy::Whole, |flag| flag.secrecy);
        let values: Vec<String> = self.each(id).iter().map(|value| shown::value(secrecy, value)).collect();
        self.bad(id, problem).value(values.join(" "))
    }

    /// An error about a setting that cannot take effect.
    pub(crate) fn conflict(&self, id: &str, problem: impl Into<String>) -> ConfigError {
        ConfigError::new(ConfigErrorKind::Conflict, self.spelling(id), problem)
    }

    /// An entry name in the form in which names are compared.
    pub(crate) fn entry_name(&self, id: &str, text: &str) -> Result<String, ConfigError> {
        let name = folded(text.trim());
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(self.bad_value(id, "names hold letters, digits, dots, dashes and underscores only"));
        }
        Ok(name)
    }

    fn single(&self, id: &str) -> Option<&str> {
        self.get(id)
            .and_then(|setting: &Setting| setting.values.first())
            .map(String::as_str)
    }

    /// The text of a number. A list of several would be a sweep.
    fn scalar(&self, id: &str) -> Result<Option<&str>, ConfigError> {
        let Some(text) = self.single(id).map(str::trim) else {
            return Ok(None);
        };
        if !flags::by_id(id).is_some_and(|flag| flag.sweepable) {
            return Ok(Some(text));
        }
        let one = text.strip_suffix(',').map_or(text, str::trim);
        if one.contains(',') {
            return Err(ConfigError::new(
                ConfigErrorKind::NotSupportedYet,
                self.spelling(id),
                "sweeps are not supported yet",
            )
            .value(text)
            .remedy(format!("give one value to {}", self.spelling(id))));
        }
        Ok(Some(one))
    }
}

/// The form in which words and names are compared: lower case, `-` as `_`.
fn folded(text: &str) -> String {
    text.to_ascii_lowercase().replace('-', "_")
}
