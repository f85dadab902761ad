//! A limit on the length of one message from a server.
//!
//! The SDK drops a line that is too long and waits for the next one, so the request it answered would wait until its
//! time limit. Here, such a line ends the connection, and the reason is kept for the error message.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// The longest message of a server, including its line break. Lower than the SDK's own limit, so that this one applies
/// first.
pub(super) const LONGEST_MESSAGE: usize = 16_000_000;

/// Why a connection was closed by us, if it was.
pub(super) type ConnectionFault = Arc<OnceLock<String>>;

/// The output of a server; ends at the first line that is too long.
#[derive(Debug)]
pub(super) struct LineLimit<R> {
    inner: R,
    longest: usize,
    /// Bytes read of the current line.
    length: usize,
    fault: ConnectionFault,
}

impl<R> LineLimit<R> {
    pub(super) fn new(inner: R, longest: usize, fault: ConnectionFault) -> Self {
        Self { inner, longest, length: 0, fault }
    }

    /// Counts a chunk. Returns false if it contains a line that is too long.
    fn count_bytes(&mut self, piece: &[u8]) -> bool {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.length = self.length.saturating_add(part.len());
            if self.length > self.longest {
                return false;
            }
            if part.ends_with(b"\n") {
                self.length = 0;
            }
        }
        true
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineLimit<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        if this.fault.get().is_some() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.inner).poll_read(context, buffer);
        if polled.is_ready() {
            let piece = buffer.filled()[before..].to_vec();
            if !this.count_bytes(&piece) {
                let limit = planwright_text::units::format_bytes(this.longest as u64);
                // The first fault is the one that counts.
                let _ = this.fault.set(format!(
                    "it sent a message longer than the limit of {limit}; the connection was ended"
                ));
                // The end of the stream makes the SDK fail every open request.
                buffer.set_filled(before);
            }
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn read(text: &str, longest: usize) -> (String, Option<String>) {
        let fault = ConnectionFault::default();
        let mut read = String::new();
        let mut limited = LineLimit::new(text.as_bytes(), longest, Arc::clone(&fault));
        limited.read_to_string(&mut read).await.unwrap();
        (read, fault.get().cloned())
    }

    #[tokio::test]
    async fn a_line_over_the_limit_ends_the_stream_with_a_reason() {
        assert_eq!(read("abc\nabc\n\nab", 4).await, ("abc\nabc\n\nab".to_owned(), None));
        let (passed, fault) = read("abcd\n", 4).await;
        assert_eq!(passed, "");
        assert!(fault.unwrap().contains("longer than the limit of 4 B"));
    }
}
