//! From when until when an X.509 certificate is valid: just enough DER (X.690) to find the two dates.

use rustls::pki_types::CertificateDer;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The span in which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    /// First second, counted from the Unix epoch.
    pub(crate) from: i64,
    /// Last second.
    pub(crate) until: i64,
    days: [(i64, i64, i64); 2],
}

impl Validity {
    /// The validity that a certificate states; None if it is malformed.
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (certificate, _) = element(certificate, SEQUENCE)?;
        let (mut fields, _) = element(certificate, SEQUENCE)?;
        if let Some((_, rest)) = element(fields, VERSION) {
            fields = rest;
        }
        let (_serial, fields) = element(fields, INTEGER)?;
        let (_algorithm, fields) = element(fields, SEQUENCE)?;
        let (_issuer, fields) = element(fields, SEQUENCE)?;
        let (dates, _) = element(fields, SEQUENCE)?;
        let (from, first, dates) = time(dates)?;
        let (until, last, _) = time(dates)?;
        Some(Self {
            from,
            until,
            days: [first, last],
        })
    }

    /// Day on which it becomes valid, as `2030-12-31` (UTC).
    pub(crate) fn first_day(&self) -> String {
        day(self.days[0])
    }

    /// Day on which it ends.
    pub(crate) fn last_day(&self) -> String {
        day(self.days[1])
    }
}

fn day((year, month, day): (i64, i64, i64)) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}

/// Content of the element in front, which must have this tag, and what follows it.
fn element(input: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let [found, length, rest @ ..] = input else {
        return None;
    };
    if *found != tag {
        return None;
    }
    let (length, rest) = match *length {
        short @ 0..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            let length = digits.iter().fold(0usize, |all, digit| all << 8 | usize::from(*digit));
            (length, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// A time in seconds since the epoch, its day, and what follows it.
#[expect(clippy::type_complexity, reason = "a parser's result, taken apart at once")]
fn time(input: &[u8]) -> Option<(i64, (i64, i64, i64), &[u8])> {
    // RFC 5280, 4.1.2.5: always UTC and with seconds; two digits of a year mean 1950 to 2049.
    let (text, rest, long) = match element(input, UTC_TIME) {
        Some((text, rest)) => (text, rest, false),
        None => element(input, GENERALIZED_TIME).map(|(text, rest)| (text, rest, true))?,
    };
    let digits = text.strip_suffix(b"Z")?;
    if digits.len() != if long { 14 } else { 12 } || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |digits: &[u8]| {
        digits
            .iter()
            .fold(0i64, |all, digit| all * 10 + i64::from(digit - b'0'))
    };
    let (year, digits) = digits.split_at(if long { 4 } else { 2 });
    let year = match number(year) {
        year if long => year,
        year if year < 50 => 2000 + year,
        year => 1900 + year,
    };
    let part = |index: usize| number(&digits[2 * index..2 * index + 2]);
    let (month, day) = (part(0), part(1));
    if !(1..=12).contains(&month) {
        return None;
    }
    let seconds = days_from_epoch(year, month, day) * 86_400 + part(2) * 3600 + part(3) * 60 + part(4);
    Some((seconds, (year, month, day), rest))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, counted in years that begin in March.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let since_march = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * since_march + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn certificate(from: (i32, u8, u8), until: (i32, u8, u8)) -> CertificateDer<'static> {
        let mut params = rcgen::CertificateParams::new(["h".to_string()]).unwrap();
        params.not_before = rcgen::date_time_ymd(from.0, from.1, from.2);
        params.not_after = rcgen::date_time_ymd(until.0, until.1, until.2);
        params
            .self_signed(&rcgen::KeyPair::generate().unwrap())
            .unwrap()
            .der()
            .clone()
    }

    #[test]
    fn days_are_counted_from_the_epoch() {
        for (date, days) in [
            ((1970, 1, 1), 0),
            ((1970, 3, 1), 59),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((2100, 3, 1), 47_541),
        ] {
            assert_eq!(days_from_epoch(date.0, date.1, date.2), days, "{date:?}");
        }
    }

    #[test]
    fn both_forms_of_dates_are_read() {
        // 2001-09-09 is day 11574; 2060-01-01, beyond the two-digit years, is day 32872.
        let validity = Validity::of(&certificate((2001, 9, 9), (2060, 1, 1))).unwrap();
        assert_eq!((validity.from, validity.until), (11_574 * 86_400, 32_872 * 86_400));
        assert_eq!(
            (validity.first_day(), validity.last_day()),
            ("2001-09-09".into(), "2060-01-01".into())
        );
    }

    proptest! {
        #[test]
        fn a_damaged_certificate_is_no_reason_to_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), end in any::<prop::sample::Index>()) {
            let mut bytes = certificate((2001, 9, 9), (2060, 1, 1)).to_vec();
            let place = at.index(bytes.len());
            bytes[place] = byte;
            bytes.truncate(end.index(bytes.len() + 1));
            let _ = Validity::of(&CertificateDer::from(bytes));
        }
    }
}
