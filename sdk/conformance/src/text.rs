//! Texts that break what was not thought through, and rules for names and headers.

/// Odd texts: quotes, breaks, zero bytes, other scripts, direction marks, formulas, tags.
pub(crate) const ODD: &[&str] = &[
    "",
    " ",
    "\"quoted\" 'text', with; separators|and\ttabs",
    "line one\nline two\r\nline three\rline four",
    "back\\slash \\n \\u0000 %s {} ${x}",
    "nul \u{0} bell \u{7} escape \u{1b}[31m delete \u{7f}",
    "日本語 العربية עברית ไทย हिन्दी",
    "👩‍👩‍👧‍👦 e\u{301} \u{200b}\u{202e}backwards\u{202c} \u{feff}",
    "=1+1",
    "<script>alert(1)</script> & [red]markup[/red]",
    "\u{2028}\u{2029}\u{85}",
    "\u{10ffff}",
];

/// A header name in the grammar of HTTP.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// No control character but the tab, so no line break either.
pub(crate) fn is_header_value(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || !c.is_control())
}

/// A path on the server that the run talks to: `/`, no scheme, no host, nothing that ends a request line.
pub(crate) fn is_origin_form(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && path
            .chars()
            .all(|c| !c.is_control() && !c.is_whitespace() && c != '#' && c != '\\')
}

/// Lower case, digits and `_`.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Why a name can't be that of a file inside the artifact folder, on any system.
pub(crate) fn unsafe_file_name(name: &str) -> Option<&'static str> {
    const RESERVED: &[&str] = &["con", "prn", "aux", "nul", "com", "lpt", "conin$", "conout$"];
    if name.is_empty() || name.len() > 1024 {
        return Some("it is empty or too long");
    }
    if name.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
        return Some("it has a character that some systems don't allow");
    }
    if name.chars().any(char::is_control) {
        return Some("it has a control character");
    }
    if name.starts_with('/') {
        return Some("it is absolute");
    }
    for part in name.split('/') {
        if part.is_empty() || part == "." || part == ".." {
            return Some("it leads out of the folder or nowhere");
        }
        if part.len() > 255 || part.ends_with(['.', ' ']) {
            return Some("a part of it is too long or ends with a dot or a space");
        }
        let stem = part.split('.').next().unwrap_or(part).to_ascii_lowercase();
        let device = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbered = matches!(device, "com" | "lpt");
        if RESERVED.contains(&device) && (numbered == (device.len() + 1 == stem.len())) {
            return Some("it is the name of a device on some system");
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (path, good) in [
            ("/v1/chat", true),
            ("/v1/videos/7?x=%20", true),
            ("", false),
            ("v1", false),
            ("//evil/x", false),
            ("http://evil/x", false),
            ("/a b", false),
            ("/a\r\nHost: x", false),
            ("/a#b", false),
            ("/\\evil", false),
        ] {
            assert_eq!(is_origin_form(path), good, "{path:?}");
        }
    }

    #[test]
    fn file_names() {
        for (name, good) in [
            ("a.json", true),
            ("folder/a.json", true),
            ("console.txt", true),
            ("com.json", true),
            ("comments.csv", true),
            ("", false),
            ("/etc/passwd", false),
            ("../x", false),
            ("a/../../x", false),
            ("a//b", false),
            ("./a", false),
            ("C:\\x", false),
            ("c:x", false),
            ("nul", false),
            ("NUL.txt", false),
            ("com1.json", false),
            ("a\nb", false),
            ("a.", false),
        ] {
            assert_eq!(unsafe_file_name(name).is_none(), good, "{name:?}");
        }
    }

    #[test]
    fn headers_and_names() {
        assert!(is_token("X-Request-ID") && !is_token("") && !is_token("a b") && !is_token("a:"));
        assert!(is_header_value("a b\tc é") && !is_header_value("a\r\nb") && !is_header_value("\u{0}"));
        assert!(is_name("p99_latency") && !is_name("") && !is_name("A") && !is_name("a-b"));
    }
}
