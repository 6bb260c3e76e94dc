//! JSON texts.

/// Appends a string in quotes, with the escapes that JSON demands and no others.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    // One pass without branches: almost no text needs an escape.
    let clean = text.bytes().fold(true, |clean, byte| clean & !must_escape(byte));
    if clean {
        out.extend_from_slice(text.as_bytes());
    } else {
        push_escaped(out, text);
    }
    out.push(b'"');
}

fn must_escape(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[cold]
fn push_escaped(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for byte in text.bytes() {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            _ if byte < 0x20 => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
                continue;
            }
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        for (text, json) in [
            ("plain", r#""plain""#),
            ("", r#""""#),
            ("grüße 你好", "\"grüße 你好\""),
            ("a\"b\\c/d", r#""a\"b\\c/d""#),
            ("\n\r\t\u{8}\u{c}", r#""\n\r\t\b\f""#),
            ("\u{1b}[0m\u{0}\u{7f}", "\"\\u001b[0m\\u0000\u{7f}\""),
        ] {
            let mut out = Vec::new();
            push_string(&mut out, text);
            assert_eq!(String::from_utf8(out).unwrap(), json);
        }
    }

    proptest::proptest! {
        #[test]
        fn strings_read_back(text in ".*") {
            let mut out = Vec::new();
            push_string(&mut out, &text);
            proptest::prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }
}
