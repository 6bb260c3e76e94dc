//! Quoting for a POSIX shell.

/// The token as a shell reads it back: unchanged if it holds only harmless characters, else in single quotes.
pub(crate) fn for_shell(token: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:,=@%+".contains(c);
    if !token.is_empty() && token.chars().all(harmless) {
        return token.to_owned();
    }
    format!("'{}'", token.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::for_shell;

    #[test]
    fn quotes_only_where_needed() {
        let cases = [
            ("abc-1.5/x:y,z=1", "abc-1.5/x:y,z=1"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("<redacted>", "'<redacted>'"),
            ("$HOME", "'$HOME'"),
            ("{\"a\":1}", "'{\"a\":1}'"),
        ];
        for (token, expected) in cases {
            assert_eq!(for_shell(token), expected);
        }
    }
}
