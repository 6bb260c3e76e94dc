//! Numbers as text, as the original's readers know them: shortest digits that read back as the same value in JSON, two
//! decimals in tables.

/// Appends a real number as Python's `repr` has it: always with a decimal point or an exponent, an exponent of at least two
/// digits with its sign, from 1e16 up and below 1e-4. The value must be finite.
pub(crate) fn push_float(out: &mut Vec<u8>, value: f64) {
    debug_assert!(value.is_finite());
    if let Some(millionths) = millionths(value) {
        push_millionths(out, millionths);
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    let size = value.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        // Here both agree.
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(0)),
        None => (text, 0),
    };
    push_scientific(out, mantissa, exponent);
}

/// The value in millionths, if it is what so many millionths read as: a time of whole ns in ms nearly always is. Up to 15
/// digits no two numbers read as the same value, so these are its shortest digits.
fn millionths(value: f64) -> Option<u64> {
    const MOST: f64 = 1e9;
    // Negative zero is one of the others.
    if value.to_bits() != 0 && !(1e-4..MOST).contains(&value) {
        return None;
    }
    let nearest = (value * 1e6 + 0.5) as i64;
    (nearest as f64 / 1e6 == value).then_some(nearest.unsigned_abs())
}

fn push_millionths(out: &mut Vec<u8>, millionths: u64) {
    push_integer(out, millionths / 1_000_000);
    let rest = millionths % 1_000_000;
    if rest == 0 {
        out.extend_from_slice(b".0");
        return;
    }
    out.push(b'.');
    // One more digit in front keeps the zeros behind it.
    let mut buffer = itoa::Buffer::new();
    let digits = &buffer.format(1_000_000 + rest)[1..];
    out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
}

/// Appends `mantissa · 10^exponent` with one digit before the point.
fn push_scientific(out: &mut Vec<u8>, mantissa: &str, mut exponent: i32) {
    let mantissa = match mantissa.strip_prefix('-') {
        Some(rest) => {
            out.push(b'-');
            rest
        }
        None => mantissa,
    };
    // The mantissa is `d.ddd`, or `0.0000ddd` where it still writes fixed digits.
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    let leading = digits.bytes().take_while(|&digit| digit == b'0').count();
    exponent += whole.len() as i32 - 1 - leading as i32;
    let digits = digits[leading..].trim_end_matches('0').as_bytes();
    let (first, rest) = digits.split_first().unwrap_or((&b'0', &[]));
    out.push(*first);
    if !rest.is_empty() {
        out.push(b'.');
        out.extend_from_slice(rest);
    }
    out.push(b'e');
    out.push(if exponent < 0 { b'-' } else { b'+' });
    let exponent = exponent.unsigned_abs();
    if exponent < 10 {
        out.push(b'0');
    }
    push_integer(out, u64::from(exponent));
}

/// Appends a whole number.
pub(crate) fn push_integer(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Two decimals and thousands separators: `1,179.11`.
pub(crate) fn with_separators(value: f64) -> String {
    let text = format!("{value:.2}");
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    format!("{sign}{}.{fraction}", separated(whole))
}

/// As [`with_separators`], from a million on in scientific notation: `1.23e+06`.
pub(crate) fn adaptive(value: f64) -> String {
    if value.abs() < 1e6 {
        return with_separators(value);
    }
    let text = format!("{value:.2e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa}e+{exponent:0>2}"),
        None => text,
    }
}

/// A count with thousands separators.
pub(crate) fn count_with_separators(value: u64) -> String {
    separated(&value.to_string())
}

fn separated(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: f64) -> String {
        let mut out = Vec::new();
        push_float(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_are_written_as_python_does() {
        // Left: the value; right: what `repr` prints.
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (24.0, "24.0"),
            (-24.0, "-24.0"),
            (999_999_999_999_999.0, "999999999999999.0"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (71.062_345_6, "71.0623456"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (0.000_123_4, "0.0001234"),
            (0.000_099, "9.9e-05"),
            (0.000_01, "1e-05"),
            (0.000_012_5, "1.25e-05"),
            (-0.000_012_5, "-1.25e-05"),
            (1e-7, "1e-07"),
            (1.5e-10, "1.5e-10"),
            (5e-324, "5e-324"),
            (123_456_789.0, "123456789.0"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.7e18, "1.7e+18"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (1.5e300, "1.5e+300"),
            (f64::MAX, "1.7976931348623157e+308"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn two_decimals_round_the_exact_binary_value() {
        // As C's printf: ties, which only values like these are, go to even.
        for (value, text) in [
            (0.125, "0.12"),
            (0.375, "0.38"),
            (2.5, "2.50"),
            (1.005, "1.00"),
            (0.615, "0.61"),
            (1179.105, "1179.11"),
            (-0.001, "-0.00"),
            (1e16, "10000000000000000.00"),
        ] {
            assert_eq!(format!("{value:.2}"), text);
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (value, text) in [
            (0.0, "0.00"),
            (999.994, "999.99"),
            (999.995_1, "1,000.00"),
            (1_179.105, "1,179.11"),
            (-1_234_567.891, "-1,234,567.89"),
            (-999.0, "-999.00"),
        ] {
            assert_eq!(with_separators(value), text);
        }
        assert_eq!(count_with_separators(1_234), "1,234");
        assert_eq!(count_with_separators(123), "123");
    }

    #[test]
    fn millions_are_scientific() {
        for (value, text) in [
            (999_999.0, "999,999.00"),
            (1e6, "1.00e+06"),
            (-1_234_567.0, "-1.23e+06"),
            (9.876e123, "9.88e+123"),
        ] {
            assert_eq!(adaptive(value), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn times_are_written_as_any_number(ns in 0u64..2_000_000_000_000_000, divide in proptest::prelude::any::<bool>()) {
            let value = if divide { ns as f64 / 1e6 } else { ns as f64 * 1e-6 };
            // Where neither has an exponent, this is the shortest, too.
            if value == 0.0 || value >= 1e-4 {
                proptest::prop_assert_eq!(float(value), format!("{value:?}"));
            }
        }

        #[test]
        fn floats_read_back(bits in proptest::prelude::any::<u64>()) {
            let value = f64::from_bits(bits);
            if value.is_finite() {
                let text = float(value);
                proptest::prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
                proptest::prop_assert!(text.contains(['.', 'e']));
            }
        }
    }
}
