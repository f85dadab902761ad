//! The lines that an agent writes, within bounds: how long one is, how many come in a second, how much comes at all.
//!
//! What comes too fast is read more slowly, so that the agent waits and nothing is lost. A line that is too long and
//! a flood without end break the connection, with a reason. Lines that are not JSON are left out and counted: some
//! programs print notices where only messages belong.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

/// What an agent may write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineBounds {
    /// The longest line, in bytes.
    pub(crate) line: usize,
    /// Lines in a second, on average. As many again may come at once.
    pub(crate) per_second: u32,
    /// Bytes of one session.
    pub(crate) total: u64,
    /// Lines that are not messages.
    pub(crate) garbage: u32,
}

impl Default for LineBounds {
    fn default() -> Self {
        Self { line: 16_000_000, per_second: 1_000, total: 1_000_000_000, garbage: 200 }
    }
}

/// What became of the lines so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineReport {
    fault: Arc<OnceLock<String>>,
    left_out: Arc<Mutex<(u32, String)>>,
}

impl LineReport {
    /// Why the connection was ended here, if it was.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// How many lines were no messages, and the first of them.
    pub(crate) fn left_out(&self) -> (u32, String) {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note_garbage(&self, line: &[u8]) -> u32 {
        let mut noted = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.0 == 0 {
            let text = String::from_utf8_lossy(&line[..line.len().min(400)]).into_owned();
            noted.1 = planwright_text::clean_line(&text).into_owned();
        }
        noted.0 += 1;
        noted.0
    }

    fn break_off(&self, why: String) -> std::io::Error {
        let error = std::io::Error::other(why.clone());
        // The first reason is the one that counts.
        let _ = self.fault.set(why);
        error
    }
}

struct BoundedAgentLines<R> {
    source: R,
    bounds: LineBounds,
    report: LineReport,
    buffer: Vec<u8>,
    /// Where the search for the next end of a line begins.
    searched: usize,
    total: u64,
    /// When the next line may be taken, at an even pace.
    pace: Instant,
    over: bool,
}

/// The messages among the lines of an agent's output.
pub(crate) fn read_lines<R: AsyncRead + Send + Unpin + 'static>(
    source: R,
    bounds: LineBounds,
    report: LineReport,
) -> impl Stream<Item = std::io::Result<String>> + Send + 'static {
    let lines = BoundedAgentLines {
        source,
        bounds,
        report,
        buffer: Vec::new(),
        searched: 0,
        total: 0,
        pace: Instant::now(),
        over: false,
    };
    futures_util::stream::unfold(lines, |mut lines| async move {
        let next = lines.next_message().await?;
        lines.over |= next.is_err();
        Some((next, lines))
    })
}

impl<R: AsyncRead + Unpin> BoundedAgentLines<R> {
    /// `None` at the end of the output.
    async fn next_message(&mut self) -> Option<std::io::Result<String>> {
        loop {
            if self.over {
                return None;
            }
            let line = match self.next_line().await {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            self.keep_pace().await;
            // A message is an object. Whether it is a good one is for the protocol to say.
            let is_message = line.trim_ascii_start().first() == Some(&b'{');
            match String::from_utf8(line) {
                Ok(text) if is_message => return Some(Ok(text)),
                Ok(text) if text.trim().is_empty() => {}
                other => {
                    let bytes = other
                        .map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
                    if self.report.note_garbage(&bytes) > self.bounds.garbage {
                        let why = format!(
                            "it wrote more than {} lines that are not messages of the protocol",
                            self.bounds.garbage
                        );
                        return Some(Err(self.report.break_off(why)));
                    }
                }
            }
        }
    }

    async fn next_line(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        loop {
            let found = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            if let Some(at) = found {
                let mut line: Vec<u8> = self.buffer.drain(..=self.searched + at).collect();
                line.pop();
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > self.bounds.line {
                let limit = planwright_text::units::format_bytes(self.bounds.line as u64);
                return Err(self
                    .report
                    .break_off(format!("it sent a message longer than {limit}")));
            }
            if self.total > self.bounds.total {
                let limit = planwright_text::units::format_bytes(self.bounds.total);
                return Err(self
                    .report
                    .break_off(format!("it sent more than {limit} in one session")));
            }
            let mut piece = vec![0; 64 * 1024];
            let length = self.source.read(&mut piece).await?;
            if length == 0 {
                // Half a line at the end is no message.
                return Ok(None);
            }
            self.total += length as u64;
            self.buffer.extend_from_slice(&piece[..length]);
        }
    }

    /// Waits where lines come faster than they may. What was not used of a second counts for the next.
    async fn keep_pace(&mut self) {
        let step = Duration::from_secs(1) / self.bounds.per_second.max(1);
        let now = Instant::now();
        let earliest = now.checked_sub(Duration::from_secs(1)).unwrap_or(now);
        self.pace = self.pace.max(earliest) + step;
        if self.pace > now {
            tokio::time::sleep_until(self.pace).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::*;

    async fn read(bytes: Vec<u8>, bounds: LineBounds) -> (Vec<String>, LineReport) {
        let report = LineReport::default();
        let source = std::io::Cursor::new(bytes);
        let lines = read_lines(source, bounds, report.clone());
        let read: Vec<String> = lines.filter_map(|line| async { line.ok() }).collect().await;
        (read, report)
    }

    #[tokio::test(start_paused = true)]
    async fn messages_pass_and_everything_else_is_counted() {
        let bytes = b"{\"a\":1}\nhello\n\n  {\"b\":2}\n\xff\xfe\n{\"half\":".to_vec();
        let (lines, report) = read(bytes, LineBounds::default()).await;
        assert_eq!(lines, ["{\"a\":1}", "  {\"b\":2}"]);
        assert_eq!(report.left_out(), (2, "hello".to_owned()));
        assert_eq!(report.fault(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_line_and_a_flood_break_the_connection_with_a_reason() {
        let mut bytes = b"{}\n{\"x\":\"".to_vec();
        bytes.extend(vec![b'x'; 200_000]);
        let (lines, report) =
            read(bytes, LineBounds { line: 1_000, ..LineBounds::default() }).await;
        assert_eq!(lines, ["{}"]);
        assert!(report.fault().unwrap().contains("longer than 1 kB"), "{report:?}");
        let flood = "{}\n".repeat(100_000).into_bytes();
        let bounds = LineBounds { total: 1_000, ..LineBounds::default() };
        let (_, report) = read(flood, bounds).await;
        assert!(report.fault().unwrap().contains("in one session"), "{report:?}");
        let (_, report) = read("no\n".repeat(300).into_bytes(), LineBounds::default()).await;
        assert!(report.fault().unwrap().contains("more than 200 lines"), "{report:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_too_fast_is_read_more_slowly_and_none_is_lost() {
        let begun = Instant::now();
        let bounds = LineBounds { per_second: 100, ..LineBounds::default() };
        let (lines, _) = read("{}\n".repeat(1_000).into_bytes(), bounds).await;
        assert_eq!(lines.len(), 1_000);
        let took = begun.elapsed();
        assert!(took >= Duration::from_secs(8) && took <= Duration::from_secs(11), "{took:?}");
    }
}
