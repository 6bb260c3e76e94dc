//! Standard output. A reader that has seen enough and closes the pipe is no error.

use std::io::{self, ErrorKind, Write};

use crate::failure::Failure;

/// Writes the text at once.
///
/// # Errors
/// When it can't be written for another reason than a closed pipe: a full disk, for one.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    outcome(io::stdout().lock(), text)
}

fn outcome(mut out: impl Write, text: &str) -> Result<(), Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("standard output can't be written: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Refusing(ErrorKind);
    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_a_closed_pipe_is_forgiven() {
        assert!(outcome(Refusing(ErrorKind::BrokenPipe), "x").is_ok());
        let failure = outcome(Refusing(ErrorKind::StorageFull), "x").unwrap_err();
        assert!(failure.message.contains("standard output"), "{}", failure.message);
    }
}
