//! One line, as the file and as the console show it.

use std::time::SystemTime;

use jiff::{Timestamp, Zoned, tz::TimeZone};
use tracing::Level;

/// One message with its circumstances.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) at: SystemTime,
    pub(super) level: Level,
    /// The module that speaks.
    pub(super) logger: &'static str,
    pub(super) message: String,
}

impl Line {
    /// `YYYY-MM-DD HH:MM:SS.mmm - logger - LEVEL - message`.
    pub(super) fn for_file(&self, zone: &TimeZone) -> String {
        let time = self.local(zone).strftime("%Y-%m-%d %H:%M:%S%.3f").to_string();
        format!(
            "{time} - {} - {} - {}",
            self.logger,
            level_name(self.level),
            self.message
        )
    }

    /// `HH:MM:SS.mmm LEVEL    message`.
    pub(super) fn for_console(&self, zone: &TimeZone) -> String {
        let time = self.local(zone).strftime("%H:%M:%S%.3f").to_string();
        format!("{time} {:8} {}", level_name(self.level), self.message)
    }

    fn local(&self, zone: &TimeZone) -> Zoned {
        // A clock beyond the years that calendars know is shown as the epoch.
        Timestamp::try_from(self.at)
            .unwrap_or(Timestamp::UNIX_EPOCH)
            .to_zoned(zone.clone())
    }
}

/// Names of the original.
fn level_name(level: Level) -> &'static str {
    match level {
        Level::TRACE => "TRACE",
        Level::DEBUG => "DEBUG",
        Level::INFO => "INFO",
        Level::WARN => "WARNING",
        Level::ERROR => "ERROR",
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn both_shapes() {
        let line = Line {
            // 2001-09-09 01:46:40 UTC.
            at: UNIX_EPOCH + Duration::from_millis(1_000_000_000_007),
            level: Level::WARN,
            logger: "aiperf::profile",
            message: "three were skipped".into(),
        };
        assert_eq!(
            line.for_file(&TimeZone::UTC),
            "2001-09-09 01:46:40.007 - aiperf::profile - WARNING - three were skipped"
        );
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(line.for_console(&zone), "03:46:40.007 WARNING  three were skipped");
    }
}
