//! What the process tells its caller.

/// Exit codes of `aiperf`, one per class of outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum ExitCode {
    /// The run finished, or was interrupted once, with at least one successful request.
    Ok = 0,
    /// Wrong usage or configuration, a failed start, every request failed, or an export failed.
    Failed = 1,
    /// A plugin could not be loaded, or failed while running.
    Plugin = 3,
    /// The run finished, but its results are not valid and validity was required.
    NotValid = 4,
    /// Interrupted twice: left at once, without reports.
    Interrupted = 130,
}

impl ExitCode {
    /// The number that the process exits with.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}
