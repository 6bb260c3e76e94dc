//! Takes events from `tracing` and hands them to the writer.

use std::{
    fmt::{self, Write as _},
    time::SystemTime,
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::layer::{Context, Layer};

use super::{line::Line, writer::Queue};

/// Targets of this project begin so.
const OURS: &str = "aiperf";

/// The end of `tracing` in this program.
pub(super) struct LogLayer {
    pub(super) least: LevelFilter,
    pub(super) queue: Queue,
}

impl<S: Subscriber> Layer<S> for LogLayer {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.least && metadata.target().starts_with(OURS)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.least)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        self.queue.push(Line {
            at: SystemTime::now(),
            level: *event.metadata().level(),
            logger: event.metadata().target(),
            message: text.message + &text.fields,
        });
    }
}

/// The message of an event, and its other fields as ` name=value`.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = if field.name() == "message" {
            write!(self.message, "{value}")
        } else {
            write!(self.fields, " {}={value}", field.name())
        };
    }
}
