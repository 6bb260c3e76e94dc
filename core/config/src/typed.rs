//! Stage 1: what was typed and where. Tokens become settings; nothing is interpreted beyond the grammar.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use crate::error::{ConfigError, ConfigErrorKind, shortened};
use crate::flags::{self, Flag, Kind, Secrecy};
use crate::{quote, shown};

/// Where a setting was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// As the argument with this index, from 0.
    Argument(usize),
}

/// One setting as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The spelling that was used first, such as `--isl`.
    pub(crate) spelling: String,
    /// The values in order, one for each token; switches hold `true` or `false`.
    pub(crate) values: Vec<String>,
    /// Where it was given first.
    pub(crate) origin: Origin,
}

/// All settings as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    /// By name of the setting ([`Flag::id`]).
    settings: BTreeMap<&'static str, Setting>,
    /// The arguments with secrets redacted, quoted for a shell.
    pub(crate) command_line: String,
}

impl Typed {
    /// Reads arguments, those after `aiperf profile`.
    pub(crate) fn parse<S: AsRef<OsStr>>(arguments: &[S]) -> Result<Self, ConfigError> {
        let mut tokens = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let text = argument.as_ref().to_str().ok_or_else(|| {
                ConfigError::stray(format!("argument {} is not valid UTF-8", index + 1))
                    .remedy("AIPerf reads text only; rename the file if it is a path")
            })?;
            tokens.push(text);
        }
        let mut reader = Reader {
            tokens: &tokens,
            at: 0,
            settings: BTreeMap::new(),
            echo: vec!["aiperf profile".to_owned()],
        };
        while reader.at < tokens.len() {
            reader.read_flag()?;
        }
        Ok(Self {
            settings: reader.settings,
            command_line: reader.echo.join(" "),
        })
    }

    /// The setting with this name, if given.
    pub(crate) fn get(&self, id: &str) -> Option<&Setting> {
        debug_assert!(
            flags::by_id(id).is_some_and(|flag| flag.supported),
            "no such setting: {id}"
        );
        self.settings.get(id)
    }

    /// True if the setting was given, be it as `=false`.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.get(id).is_some()
    }

    /// The spelling that was used for a setting, or its main one.
    pub(crate) fn spelling(&self, id: &str) -> String {
        self.get(id)
            .map_or_else(|| format!("--{id}"), |setting| setting.spelling.clone())
    }

    /// Names of the settings given.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.settings.keys().copied()
    }

    /// The first of these settings that was given, in the order typed.
    pub(crate) fn first_of<'a>(&self, ids: &[&'a str]) -> Option<&'a str> {
        ids.iter()
            .copied()
            .filter_map(|id| self.get(id).map(|setting| (setting.origin, id)))
            .min_by_key(|(Origin::Argument(index), _)| *index)
            .map(|(_, id)| id)
    }
}

/// A flag token taken apart.
struct FlagToken<'a> {
    flag: &'static Flag,
    /// The spelling in the table.
    spelling: &'static str,
    /// The value in the same token, and what stands between the two (`=` or nothing).
    inline: Option<(&'static str, &'a str)>,
}

struct Reader<'a> {
    tokens: &'a [&'a str],
    at: usize,
    settings: BTreeMap<&'static str, Setting>,
    echo: Vec<String>,
}

impl Reader<'_> {
    /// Reads the flag at `at` with its values and moves on behind them.
    fn read_flag(&mut self) -> Result<(), ConfigError> {
        let origin = Origin::Argument(self.at);
        let token = self.tokens[self.at];
        if !looks_like_flag(token) {
            return Err(self.stray(token));
        }
        let FlagToken { flag, spelling, inline } = take_apart(token)?;
        if !flag.supported {
            return Err(
                ConfigError::new(ConfigErrorKind::NotSupportedYet, spelling, "is not supported yet")
                    .remedy("leave it out"),
            );
        }
        if self.settings.contains_key(flag.id()) && !flag.repeatable() {
            return Err(
                ConfigError::new(ConfigErrorKind::Repeated, spelling, "given more than once")
                    .remedy("give it once (its other spellings count too)"),
            );
        }
        self.at += 1;
        let mut values = if flag.kind == Kind::Switch {
            self.echo.push(token.to_owned());
            vec![switch(spelling, inline.map(|(_, value)| value))?.to_string()]
        } else {
            self.read_values(flag, spelling, inline)
        };
        if values.is_empty() {
            let error = ConfigError::new(ConfigErrorKind::BadValue, spelling, "needs a value");
            return Err(match self.tokens.get(self.at) {
                Some(_) => error.remedy(format!("write {spelling}=VALUE if the value starts with a dash")),
                None => error,
            });
        }
        let setting = self.settings.entry(flag.id()).or_insert_with(|| Setting {
            spelling: spelling.to_owned(),
            values: Vec::new(),
            origin,
        });
        setting.values.append(&mut values);
        Ok(())
    }

    /// Reads the value in the flag's own token and those behind it that belong to the flag.
    fn read_values(&mut self, flag: &Flag, spelling: &str, inline: Option<(&'static str, &str)>) -> Vec<String> {
        let shown = |value: &str| quote::for_shell(&shown::value(flag.secrecy, value));
        let mut values = Vec::new();
        match inline {
            Some((joint, value)) => {
                self.echo.push(format!("{spelling}{joint}{}", shown(value)));
                values.push(value.to_owned());
            }
            None => self.echo.push(spelling.to_owned()),
        }
        let several = matches!(flag.kind, Kind::Pairs | Kind::List { tokens: true });
        while values.is_empty() || several {
            let Some(value) = self.tokens.get(self.at).filter(|token| !looks_like_flag(token)) else {
                break;
            };
            self.echo.push(shown(value));
            values.push((*value).to_owned());
            self.at += 1;
        }
        values
    }

    /// A token that belongs to no flag. It is not quoted if it may belong to a secret.
    fn stray(&self, token: &str) -> ConfigError {
        let before = self.tokens[..self.at].iter().rev().find(|token| looks_like_flag(token));
        let before = before.and_then(|token| take_apart(token).ok()).map(|parts| parts.flag);
        let secrecy = before.map_or(Secrecy::Open, |flag| flag.secrecy);
        let error = ConfigError::stray(format!(
            "unexpected argument {}",
            shortened(&shown::stray(secrecy, token))
        ));
        match before {
            None => error.remedy("a flag starts with two dashes"),
            Some(flag) if flag.kind == Kind::Switch => error.remedy(format!(
                "{name} takes a value only as {name}=false",
                name = flag.names[0]
            )),
            Some(flag) => error.remedy(format!(
                "{} takes one value: quote it if it holds blanks",
                flag.names[0]
            )),
        }
    }
}

/// True if a token is a flag rather than a value: it starts with a dash and is no number.
fn looks_like_flag(token: &str) -> bool {
    token.len() > 1 && token.starts_with('-') && token.parse::<f64>().is_err()
}

/// Finds the flag of a token: `--name`, `--name=value`, `-n`, `-n=value` or `-nvalue`.
fn take_apart(token: &str) -> Result<FlagToken<'_>, ConfigError> {
    let (name, inline) = match token.split_once('=') {
        Some((name, value)) => (name, Some(("=", value))),
        None => (token, None),
    };
    if let Some((flag, spelling)) = flags::by_spelling(name) {
        return Ok(FlagToken { flag, spelling, inline });
    }
    if !token.starts_with("--")
        && let Some((end, _)) = token.char_indices().nth(2)
        && let Some((flag, spelling)) = flags::by_spelling(&token[..end])
        && flag.kind != Kind::Switch
    {
        return Ok(FlagToken {
            flag,
            spelling,
            inline: Some(("", &token[end..])),
        });
    }
    let error = ConfigError::new(ConfigErrorKind::Unknown, name, "is not a flag of aiperf profile");
    Err(match flags::nearest(name) {
        Some(meant) => error.remedy(format!("did you mean {meant}?")),
        None => error.remedy("aiperf profile --help lists all flags"),
    })
}

/// The value of a switch: on without one.
fn switch(spelling: &str, inline: Option<&str>) -> Result<bool, ConfigError> {
    let Some(value) = inline else { return Ok(true) };
    match value.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Ok(true),
        "false" | "f" | "no" | "n" | "0" => Ok(false),
        _ => Err(ConfigError::new(ConfigErrorKind::BadValue, spelling, "is a switch")
            .remedy(format!("write {spelling}, {spelling}=true or {spelling}=false"))),
    }
}
