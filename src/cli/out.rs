//! Standard output that may be closed by its reader at any time.

use std::io::{self, Write};

/// Writes lines to standard output. Once the reader is gone, lines are dropped quietly: the work goes on.
#[derive(Debug)]
pub struct Out {
    closed: bool,
}

impl Out {
    pub fn new() -> Self {
        Self { closed: false }
    }

    /// Writes one line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.write(|out| writeln!(out, "{text}"))
    }

    /// Writes text as it is.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.write(|out| out.write_all(text.as_bytes()))
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match write(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }
}

/// Writes a line to standard error, where nobody may be listening: what cannot be told must not end the program.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

impl Default for Out {
    fn default() -> Self {
        Self::new()
    }
}
