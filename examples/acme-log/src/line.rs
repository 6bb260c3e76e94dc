//! One line of a log.

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// Time since the start of the log in ms.
    pub time_ms: u64,
    /// The session.
    pub session: &'a str,
    /// What happened.
    pub happened: Happened,
}

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// The system message was set.
    System(String),
    /// The user asked.
    Ask {
        /// Limit on output tokens.
        max_tokens: Option<u32>,
        /// The question.
        text: String,
    },
    /// The session is over.
    End,
}

impl<'a> Line<'a> {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it, as a fragment.
    pub fn parse(line: &'a str) -> Result<Self, String> {
        let mut words = line.splitn(3, ' ');
        let mut word = |what: &str| match words.next() {
            Some(word) if !word.is_empty() => Ok(word),
            _ => Err(format!("{what} is missing")),
        };
        let time = word("the time")?;
        let time_ms = time
            .parse()
            .map_err(|_| format!("`{time}` is no time in whole milliseconds"))?;
        let session = word("the session")?;
        let rest = word("what happened (`system`, `ask` or `end`)")?;
        let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let happened = match verb {
            "system" => Happened::System(limit_and_text(rest)?.1),
            "ask" => {
                let (max_tokens, text) = limit_and_text(rest)?;
                Happened::Ask { max_tokens, text }
            }
            "end" if rest.is_empty() => Happened::End,
            "end" => return Err(format!("`end` is followed by `{rest}`")),
            other => return Err(format!("`{other}` is none of `system`, `ask` and `end`")),
        };
        Ok(Self {
            time_ms,
            session,
            happened,
        })
    }
}

fn limit_and_text(rest: &str) -> Result<(Option<u32>, String), String> {
    let (limit, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let max_tokens = match limit {
        "-" => None,
        limit => match limit.parse() {
            Ok(0) | Err(_) => {
                return Err(format!(
                    "`{limit}` is no limit on tokens: give a positive number or `-`"
                ));
            }
            Ok(limit) => Some(limit),
        },
    };
    if text.is_empty() {
        return Err("the text is missing".to_owned());
    }
    Ok((max_tokens, unescaped(text)?))
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (letter, false) => plain.push(letter),
            (_, true) => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('\\') => plain.push('\\'),
                _ => return Err("a backslash is followed by neither `n` nor a backslash".to_owned()),
            },
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let ask = |max_tokens, text: &str| {
            let text = text.to_owned();
            Happened::Ask { max_tokens, text }
        };
        for (line, expected) in [
            ("20 a ask 64 How? So.", ask(Some(64), "How? So.")),
            ("20 a ask - x  y", ask(None, "x  y")),
            (r"20 a ask - one\ntwo\\n", ask(None, "one\ntwo\\n")),
            ("20 a system - Be terse.", Happened::System("Be terse.".to_owned())),
            ("20 a end", Happened::End),
        ] {
            let parsed = Line::parse(line).unwrap();
            assert_eq!((parsed.time_ms, parsed.session), (20, "a"), "{line}");
            assert_eq!(parsed.happened, expected, "{line}");
        }
    }

    #[test]
    fn faults_are_named() {
        for (line, part) in [
            ("", "the time"),
            ("x a end", "`x` is no time"),
            ("-1 a end", "`-1` is no time"),
            ("1.5 a end", "`1.5` is no time"),
            ("1", "the session"),
            ("1 a", "what happened"),
            ("1 a ask", "no limit"),
            ("1 a ask 0 x", "`0` is no limit"),
            ("1 a ask 5", "the text"),
            ("1 a ask - ", "the text"),
            ("1 a end now", "`now`"),
            ("1 a tell - x", "`tell`"),
            (r"1 a ask - x\y", "backslash"),
            (r"1 a ask - x\", "backslash"),
        ] {
            let fault = Line::parse(line).unwrap_err();
            assert!(fault.contains(part), "{line:?}: {fault}");
        }
    }
}
