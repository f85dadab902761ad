//! Output on its way from a pipe to the journal: joined into lines, redacted, and limited.

use std::collections::VecDeque;

use planwright_model::event::OutputStream;
use planwright_text::{Redactor, StreamRedactor};

/// So much is passed on without waiting for more. Larger pieces cost the journal less, smaller ones show sooner.
const LARGE: usize = 64 * 1024;
/// More is not joined, however much is there already.
const LARGEST: usize = 512 * 1024;

/// Joins pieces of both streams into lines, in the order in which the lines were completed.
pub(super) struct OutputLines {
    stdout: StreamAssembler,
    stderr: StreamAssembler,
    /// Complete lines, each piece of one stream.
    complete: Vec<(OutputStream, String)>,
    complete_bytes: usize,
}

struct StreamAssembler {
    redactor: StreamRedactor,
    /// Bytes of an incomplete character.
    rest: Vec<u8>,
    text: String,
}

impl StreamAssembler {
    fn new(redactor: &Redactor) -> Self {
        Self { redactor: redactor.start_stream(), rest: Vec::new(), text: String::new() }
    }

    fn push(&mut self, bytes: &[u8]) {
        // Nearly all output is whole text; then nothing has to be put together first.
        if self.rest.is_empty()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return self.push_redacted(text);
        }
        self.rest.extend_from_slice(bytes);
        let complete = self.rest.len() - incomplete_tail(&self.rest);
        let text = String::from_utf8_lossy(&self.rest[..complete]).into_owned();
        self.rest.drain(..complete);
        self.push_redacted(&text);
    }

    fn push_redacted(&mut self, text: &str) {
        let redacted = self.redactor.push(text);
        if self.text.is_empty() {
            self.text = redacted;
        } else {
            self.text.push_str(&redacted);
        }
    }

    fn finish(mut self) -> String {
        self.text.push_str(&self.redactor.push(&String::from_utf8_lossy(&self.rest)));
        self.text.push_str(&self.redactor.finish());
        self.text
    }
}

/// How many bytes at the end are the beginning of a character.
fn incomplete_tail(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let needed = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if needed > back { back } else { 0 };
    }
    0
}

impl OutputLines {
    pub(super) fn new(redactor: &Redactor) -> Self {
        Self {
            stdout: StreamAssembler::new(redactor),
            stderr: StreamAssembler::new(redactor),
            complete: Vec::new(),
            complete_bytes: 0,
        }
    }

    pub(super) fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        let assembly = match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        };
        assembly.push(bytes);
        // Complete lines, or a long line without an end.
        let end = match assembly.text.rfind('\n') {
            Some(end) => end + 1,
            None if assembly.text.len() >= LARGE => assembly.text.len(),
            None => return,
        };
        let rest = assembly.text.split_off(end);
        let text = std::mem::replace(&mut assembly.text, rest);
        self.complete_bytes += text.len();
        match self.complete.last_mut() {
            Some((last, joined)) if *last == stream => joined.push_str(&text),
            _ => self.complete.push((stream, text)),
        }
    }

    pub(super) fn is_large(&self) -> bool {
        self.complete_bytes >= LARGE
    }

    pub(super) fn is_full(&self) -> bool {
        self.complete_bytes >= LARGEST
    }

    /// What can be passed on now.
    pub(super) fn take_complete(&mut self) -> Vec<(OutputStream, String)> {
        self.complete_bytes = 0;
        std::mem::take(&mut self.complete)
    }

    /// Everything that remains.
    pub(super) fn finish(self) -> impl Iterator<Item = (OutputStream, String)> {
        let rest = [
            (OutputStream::Stdout, self.stdout.finish()),
            (OutputStream::Stderr, self.stderr.finish()),
        ];
        self.complete.into_iter().chain(rest).filter(|(_, text)| !text.is_empty())
    }
}

/// Passes the beginning of the output on, keeps its end, and counts the bytes in between.
pub(super) struct OutputLimiter {
    room: usize,
    tail_room: usize,
    tail: VecDeque<(OutputStream, String)>,
    tail_bytes: usize,
    total: u64,
    dropped: u64,
}

impl OutputLimiter {
    /// Three quarters of the limit are for the beginning, the rest for the end.
    pub(super) fn new(limit: usize) -> Self {
        let tail_room = limit / 4;
        Self {
            room: limit - tail_room,
            tail_room,
            tail: VecDeque::new(),
            tail_bytes: 0,
            total: 0,
            dropped: 0,
        }
    }

    /// Returns the text if it should be passed on now.
    pub(super) fn admit(&mut self, stream: OutputStream, text: String) -> Option<String> {
        self.total += text.len() as u64;
        if self.tail.is_empty() && self.dropped == 0 && text.len() <= self.room {
            self.room -= text.len();
            return Some(text);
        }
        let (now, later) = if self.tail.is_empty() && self.dropped == 0 {
            let cut = line_boundary(&text, self.room);
            self.room = 0;
            (Some(text[..cut].to_owned()).filter(|text| !text.is_empty()), text[cut..].to_owned())
        } else {
            (None, text)
        };
        self.keep_tail(stream, later);
        now
    }

    fn keep_tail(&mut self, stream: OutputStream, text: String) {
        self.tail_bytes += text.len();
        self.tail.push_back((stream, text));
        while self.tail_bytes > self.tail_room {
            let excess = self.tail_bytes - self.tail_room;
            let Some((_, front)) = self.tail.front_mut() else { break };
            let cut = if front.len() <= excess { front.len() } else { line_start(front, excess) };
            front.drain(..cut);
            self.tail_bytes -= cut;
            self.dropped += cut as u64;
            if front.is_empty() {
                self.tail.pop_front();
            }
        }
    }

    /// The kept end, once the output is complete, after a line that reports what is missing.
    pub(super) fn take_tail(&mut self) -> Vec<(OutputStream, String)> {
        let mut tail: Vec<_> = std::mem::take(&mut self.tail).into();
        if let Some((_, first)) = tail.first_mut().filter(|_| self.dropped > 0) {
            first.insert_str(0, &format!("… [{} bytes not kept]\n", self.dropped));
        }
        tail
    }

    pub(super) fn byte_totals(&self) -> (u64, u64) {
        (self.total, self.dropped)
    }
}

/// The end of the last complete line within `limit` bytes.
fn line_boundary(text: &str, limit: usize) -> usize {
    let bytes = &text.as_bytes()[..limit.min(text.len())];
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

/// The start of the first line at or after `from`; a line without an end is split at a character.
fn line_start(text: &str, from: usize) -> usize {
    match text.as_bytes()[from..].iter().position(|byte| *byte == b'\n') {
        Some(newline) => from + newline + 1,
        None => (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_of_both_streams_keep_the_order_in_which_they_came() {
        let mut lines = OutputLines::new(&Redactor::default());
        for (stream, text) in [
            (OutputStream::Stdout, "out 1\nout"),
            (OutputStream::Stderr, "err 1\n"),
            (OutputStream::Stdout, " 2\n"),
            (OutputStream::Stdout, "out 3\n"),
            (OutputStream::Stderr, "err 2"),
        ] {
            lines.push(stream, text.as_bytes());
        }
        let all: Vec<(OutputStream, String)> = lines.finish().collect();
        let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["out 1\n", "err 1\n", "out 2\nout 3\n", "err 2"]);
    }

    proptest! {
        #[test]
        fn splitting_the_bytes_changes_nothing(text in "\\PC{0,60}", cuts in prop::collection::vec(1..5usize, 0..40)) {
            let redactor = Redactor::default();
            let mut lines = OutputLines::new(&redactor);
            let mut rest = text.as_bytes();
            for cut in cuts {
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                lines.push(OutputStream::Stdout, piece);
                rest = tail;
            }
            lines.push(OutputStream::Stdout, rest);
            let out: String = lines.finish().map(|(_, text)| text).collect();
            prop_assert_eq!(out, redactor.redact(&text));
        }

        #[test]
        fn the_limiter_accounts_for_every_byte(sizes in prop::collection::vec(0..300usize, 0..40), limit in 0..2000usize) {
            let mut limiter = OutputLimiter::new(limit);
            let mut passed = 0;
            let mut given = 0;
            for size in sizes {
                given += size;
                passed += limiter.admit(OutputStream::Stdout, "x".repeat(size)).map_or(0, |text| text.len());
            }
            let (total, dropped) = limiter.byte_totals();
            let kept: usize = std::mem::take(&mut limiter.tail).iter().map(|(_, text)| text.len()).sum();
            prop_assert_eq!(total, given as u64);
            prop_assert_eq!(passed + kept + dropped as usize, given);
            prop_assert!(passed + kept <= limit);
        }
    }
}
