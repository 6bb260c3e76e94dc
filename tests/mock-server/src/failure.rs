//! How a scripted failure looks on the wire.

/// The ways in which a generation request can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// An HTTP error status with an `error` object as body.
    Status,
    /// Status 200 with an `error` object: the body, or the only event of a stream.
    Object,
    /// An SSE message `event: error` in a stream; without a stream the same as [`FailureKind::Object`].
    Event,
    /// Status 200 with a body, or an event, that is not JSON.
    Garbage,
    /// The connection is reset without an answer.
    Reset,
}

impl FailureKind {
    const ALL: [(FailureKind, &'static str); 5] = [
        (Self::Status, "status"),
        (Self::Object, "object"),
        (Self::Event, "event"),
        (Self::Garbage, "garbage"),
        (Self::Reset, "reset"),
    ];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(kind, _)| *kind)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("", |(_, name)| name)
    }
}
