//! Splits the bytes of a response into events, within limits. Server-sent events are parsed by a library, JSON lines
//! here.

use std::fmt::Display;
use std::pin::Pin;

use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::stream::{self, Stream, StreamExt};

use super::ExchangeLimits;

/// How the events of a streamed answer are delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamFraming {
    /// `text/event-stream`.
    Events,
    /// One JSON object per line.
    Lines,
}

/// One piece of a streamed answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WireEvent {
    /// The event's name; `message` where the server gives none.
    pub(crate) name: String,
    pub(crate) data: String,
}

/// What can go wrong with a body before it is decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyFault {
    /// The connection broke.
    Dropped(String),
    TooLarge,
    LineTooLong,
    NotUtf8,
    Malformed(String),
}

/// Events in the order of arrival.
pub(crate) type WireEventStream<'a> =
    Pin<Box<dyn Stream<Item = Result<WireEvent, BodyFault>> + Send + 'a>>;

/// Splits bytes into events.
pub(crate) fn wire_events<'a, B, E>(
    bytes: impl Stream<Item = Result<B, E>> + Send + 'a,
    framing: StreamFraming,
    limits: &ExchangeLimits,
) -> WireEventStream<'a>
where
    B: AsRef<[u8]> + Send + 'a,
    E: Display + Send + 'a,
{
    let bytes = limit_bytes(bytes, limits.answer_bytes, limits.line_bytes);
    match framing {
        StreamFraming::Events => Box::pin(bytes.eventsource().map(|event| match event {
            Ok(event) => Ok(WireEvent { name: event.event, data: event.data }),
            Err(EventStreamError::Utf8(_)) => Err(BodyFault::NotUtf8),
            Err(EventStreamError::Parser(error)) => Err(BodyFault::Malformed(error.to_string())),
            Err(EventStreamError::Transport(fault)) => Err(fault),
        })),
        StreamFraming::Lines => Box::pin(line_events(bytes)),
    }
}

impl Display for BodyFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dropped(reason) | Self::Malformed(reason) => reason,
            Self::TooLarge => "too large",
            Self::LineTooLong => "a line is too long",
            Self::NotUtf8 => "not UTF-8",
        })
    }
}

/// Some servers send this mark first. The event parser does not handle it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Removes a byte order mark from the beginning of a stream, even when it is split over chunks.
#[derive(Default)]
struct ByteOrderMarkFilter {
    seen: Vec<u8>,
    passed: bool,
}

impl ByteOrderMarkFilter {
    fn filter_chunk(&mut self, piece: &[u8]) -> Vec<u8> {
        if self.passed {
            return piece.to_vec();
        }
        self.seen.extend_from_slice(piece);
        if self.seen.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&self.seen) {
            return Vec::new();
        }
        self.passed = true;
        let seen = std::mem::take(&mut self.seen);
        seen.strip_prefix(BYTE_ORDER_MARK).map_or_else(|| seen.clone(), <[u8]>::to_vec)
    }
}

/// Passes bytes on until they exceed the limit, in total or within one line.
fn limit_bytes<B, E>(
    bytes: impl Stream<Item = Result<B, E>> + Send,
    most: usize,
    longest_line: usize,
) -> impl Stream<Item = Result<Vec<u8>, BodyFault>> + Send
where
    B: AsRef<[u8]> + Send,
    E: Display + Send,
{
    let (mut total, mut line, mut beginning) = (0usize, 0usize, ByteOrderMarkFilter::default());
    bytes.map(move |piece| {
        let piece = piece.map_err(|error| BodyFault::Dropped(error.to_string()))?;
        let slice = piece.as_ref();
        total = total.saturating_add(slice.len());
        if total > most {
            return Err(BodyFault::TooLarge);
        }
        for part in slice.split_inclusive(|byte| *byte == b'\n' || *byte == b'\r') {
            line = line.saturating_add(part.len());
            if line > longest_line {
                return Err(BodyFault::LineTooLong);
            }
            if part.ends_with(b"\n") || part.ends_with(b"\r") {
                line = 0;
            }
        }
        Ok(beginning.filter_chunk(slice))
    })
}

struct LineReader<S> {
    bytes: S,
    /// Bytes received and not yet returned.
    pending: Vec<u8>,
    ended: bool,
}

fn line_events(
    bytes: impl Stream<Item = Result<Vec<u8>, BodyFault>> + Send,
) -> impl Stream<Item = Result<WireEvent, BodyFault>> + Send {
    let reader = LineReader { bytes: Box::pin(bytes), pending: Vec::new(), ended: false };
    stream::unfold(reader, |mut reader| async move {
        loop {
            if let Some(end) = reader.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = reader.pending.drain(..=end).collect();
                match parse_line_event(&line) {
                    Some(event) => return Some((event, reader)),
                    None => continue,
                }
            }
            if reader.ended {
                let rest = std::mem::take(&mut reader.pending);
                return parse_line_event(&rest).map(|event| (event, reader));
            }
            match reader.bytes.next().await {
                Some(Ok(piece)) => reader.pending.extend_from_slice(&piece),
                Some(Err(fault)) => {
                    reader.ended = true;
                    reader.pending.clear();
                    return Some((Err(fault), reader));
                }
                None => reader.ended = true,
            }
        }
    })
}

fn parse_line_event(line: &[u8]) -> Option<Result<WireEvent, BodyFault>> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    Some(match std::str::from_utf8(line) {
        Ok(data) => Ok(WireEvent { name: "message".to_owned(), data: data.to_owned() }),
        Err(_) => Err(BodyFault::NotUtf8),
    })
}

/// Reads an entire body, within the limit.
pub(crate) async fn read_whole_body<B, E>(
    bytes: impl Stream<Item = Result<B, E>> + Send,
    most: usize,
) -> Result<String, BodyFault>
where
    B: AsRef<[u8]> + Send,
    E: Display + Send,
{
    let mut bytes = Box::pin(limit_bytes(bytes, most, usize::MAX));
    let mut all = Vec::new();
    while let Some(piece) = bytes.next().await {
        all.extend_from_slice(&piece?);
    }
    String::from_utf8(all).map_err(|_| BodyFault::NotUtf8)
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use proptest::prelude::*;

    use super::*;

    fn read(
        pieces: &[&[u8]],
        framing: StreamFraming,
        limits: &ExchangeLimits,
    ) -> Vec<Result<String, BodyFault>> {
        let bytes = stream::iter(pieces.iter().map(|piece| Ok::<_, String>(piece.to_vec())));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let events = wire_events(bytes, framing, limits);
        runtime.block_on(events.map(|event| event.map(|event| event.data)).collect())
    }

    #[test]
    fn comments_and_pings_without_data_are_not_events() {
        let pieces: [&[u8]; 3] = [b": keep-alive\n\n", b"data: {\"a\"", b":1}\r\n\r\n:x\n"];
        assert_eq!(
            read(&pieces, StreamFraming::Events, &ExchangeLimits::default()),
            [Ok("{\"a\":1}".to_owned())]
        );
    }

    #[test]
    fn lines_are_found_across_pieces_and_the_last_needs_no_end() {
        let pieces: [&[u8]; 3] = [b"{\"a\":1}\n{\"b\"", b":2}\r\n\n", b"{\"c\":3}"];
        let all = read(&pieces, StreamFraming::Lines, &ExchangeLimits::default());
        assert_eq!(all, [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#].map(|line| Ok(line.to_owned())));
    }

    #[test]
    fn a_byte_order_mark_is_removed_even_when_split() {
        let stream: &[u8] = b"\xef\xbb\xbfdata: x\n\n";
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        for pieces in [vec![stream], bytes] {
            let all = read(&pieces, StreamFraming::Events, &ExchangeLimits::default());
            assert_eq!(all, [Ok("x".to_owned())]);
        }
        let half: &[u8] = b"\xef\xbb";
        assert!(read(&[half], StreamFraming::Events, &ExchangeLimits::default()).is_empty());
    }

    #[test]
    fn oversized_bodies_and_lines_are_rejected() {
        let limits =
            ExchangeLimits { answer_bytes: 40, line_bytes: 20, ..ExchangeLimits::default() };
        let short: &[u8] = b"data: 12345\n\n";
        let all = read(&[short, short, short, short], StreamFraming::Events, &limits);
        assert_eq!(all.last(), Some(&Err(BodyFault::TooLarge)));
        let long: &[u8] = b"data: 1234567890123456";
        assert_eq!(read(&[long], StreamFraming::Events, &limits), [Err(BodyFault::LineTooLong)]);
        assert_eq!(read(&[long], StreamFraming::Lines, &limits), [Err(BodyFault::LineTooLong)]);
    }

    #[test]
    fn bytes_that_are_not_text_are_rejected() {
        let bad: &[u8] = b"data: \xff\xfe\n\n";
        for framing in [StreamFraming::Events, StreamFraming::Lines] {
            let all = read(&[bad], framing, &ExchangeLimits::default());
            assert_eq!(all, [Err(BodyFault::NotUtf8)], "{framing:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            marked in any::<bool>(),
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..12),
        ) {
            let mark = marked.then_some(BYTE_ORDER_MARK);
            let pieces: Vec<&[u8]> = mark.into_iter().chain(pieces.iter().map(Vec::as_slice)).collect();
            let limits = ExchangeLimits { answer_bytes: 300, line_bytes: 80, ..ExchangeLimits::default() };
            read(&pieces, StreamFraming::Events, &limits);
            read(&pieces, StreamFraming::Lines, &limits);
        }
    }
}
