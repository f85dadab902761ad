//! Standard output that may be closed by its reader at any time, and standard error that may be full.

use std::io::{self, IsTerminal, Write};

/// Writes lines to standard output. Once the reader is gone, lines are dropped quietly: the work goes on. Where the reader
/// is a terminal, nothing that acts on one gets through; a file or a pipe gets every byte.
#[derive(Debug)]
pub(crate) struct StdoutWriter {
    closed: bool,
    terminal: bool,
    /// The beginning of a line, of something that is written in pieces.
    begun: Vec<u8>,
}

impl StdoutWriter {
    pub(crate) fn new() -> Self {
        Self { closed: false, terminal: io::stdout().is_terminal(), begun: Vec::new() }
    }

    /// Writes one line.
    pub(crate) fn write_line(&mut self, text: &str) -> io::Result<()> {
        self.write_text(&format!("{text}\n"))
    }

    /// Writes one line; on a terminal it is broken between words, and what follows hangs so many columns in.
    pub(crate) fn write_hanging(&mut self, text: &str, hang: usize) -> io::Result<()> {
        if text.is_empty() {
            return self.write_line(text);
        }
        for line in planwright_text::wrap_words(text, self.columns(), hang) {
            self.write_line(line.trim_end())?;
        }
        Ok(())
    }

    /// Writes lines that are broken between words where a terminal would break them anywhere.
    pub(crate) fn write_lines(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| self.write_hanging(line, 2))
    }

    /// How many columns a line has on a terminal; a file or a pipe has no end.
    pub(crate) fn columns(&self) -> usize {
        let width = || crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width));
        if self.terminal { width() } else { usize::MAX }
    }

    /// Writes text as it is.
    pub(crate) fn write_text(&mut self, text: &str) -> io::Result<()> {
        let text = if self.terminal { planwright_text::clean_text(text) } else { text.into() };
        self.write_bytes(text.as_bytes())
    }

    /// Takes away the line that the cursor stands in, on a terminal.
    pub(crate) fn clear_line(&mut self) -> io::Result<()> {
        self.write_bytes(b"\r\x1b[2K")
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }
}

/// For what is too large to be held as one text. On a terminal it is written line by line.
impl Write for StdoutWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.terminal {
            self.write_bytes(bytes)?;
            return Ok(bytes.len());
        }
        self.begun.extend_from_slice(bytes);
        if let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.begun.split_off(end + 1);
            let lines = std::mem::replace(&mut self.begun, rest);
            self.write_text(&planwright_text::from_bytes_lossy(&lines))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.begun);
        self.write_text(&planwright_text::from_bytes_lossy(&rest))
    }
}

impl Default for StdoutWriter {
    fn default() -> Self {
        Self::new()
    }
}

/// Says a line on standard error, which scripts keep apart from the result. If nobody can read it, nothing else changes.
pub(crate) fn eprint_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", planwright_text::clean_text(line));
}
