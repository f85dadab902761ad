//! Compression of single payloads: small ones are stored unchanged, larger ones become one zstd frame if that is
//! smaller.

use std::borrow::Cow;
use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{CParameter, get_frame_content_size};

/// The largest accepted payload or checkpoint, and the most that decoding ever allocates.
pub(crate) const MAX_PAYLOAD: usize = 64 << 20;

/// Below this size, the frame header and the lack of context cancel the gain, and most live events are soon sealed
/// anyway.
const COMPRESS_FROM: usize = 1024;
const LEVEL: i32 = 3;

/// Window and table sizes of the journal's own encoder, as powers of two. It writes payloads of a few kilobytes, or a
/// state with many similar rows; with its defaults, zstd would allocate a megabyte for an input of 256 KB.
const SMALL_WINDOW: [CParameter; 3] =
    [CParameter::WindowLog(15), CParameter::HashLog(14), CParameter::ChainLog(14)];

pub(super) const PLAIN: i64 = 0;
pub(super) const ZSTD: i64 = 1;

/// Tables for payloads up to this size are kept for the next one; larger tables, a megabyte and more, are rarely needed
/// again.
const KEPT_UP_TO: usize = 64 << 10;

/// Compresses payloads one by one and reuses zstd's tables. They are allocated on first use.
pub(super) struct PayloadEncoder {
    level: i32,
    small_window: bool,
    zstd: Option<Compressor<'static>>,
}

impl PayloadEncoder {
    pub(super) fn new() -> Self {
        Self { level: LEVEL, small_window: true, zstd: None }
    }

    /// For data that is packed once and kept: the window is not limited.
    pub(super) fn with_level(level: i32) -> Self {
        Self { level, small_window: false, zstd: None }
    }

    /// Chooses the codec and returns the bytes to store.
    pub(super) fn encode<'a>(&mut self, payload: &'a [u8]) -> io::Result<(i64, Cow<'a, [u8]>)> {
        if payload.len() < COMPRESS_FROM {
            return Ok((PLAIN, Cow::Borrowed(payload)));
        }
        let frame = self.compress_frame(payload)?;
        Ok(if frame.len() < payload.len() {
            (ZSTD, Cow::Owned(frame))
        } else {
            (PLAIN, Cow::Borrowed(payload))
        })
    }

    /// Compresses even if that saves nothing.
    pub(super) fn compress_frame(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut zstd = match self.zstd.take() {
            Some(zstd) => zstd,
            None => self.new_compressor()?,
        };
        let frame = zstd.compress(bytes)?;
        self.zstd = (bytes.len() <= KEPT_UP_TO).then_some(zstd);
        Ok(frame)
    }

    /// Frames carry a checksum, so that damage on disk is detected instead of being decoded into something else.
    fn new_compressor(&self) -> io::Result<Compressor<'static>> {
        let mut zstd = Compressor::new(self.level)?;
        zstd.set_parameter(CParameter::ChecksumFlag(true))?;
        for parameter in SMALL_WINDOW.into_iter().filter(|_| self.small_window) {
            zstd.set_parameter(parameter)?;
        }
        Ok(zstd)
    }
}

/// The inverse of [`PayloadEncoder`]. Rejects a frame that declares more than the limit before allocating for it.
#[derive(Default)]
pub(super) struct PayloadDecoder {
    /// Created for the first frame: its tables are large, and many readers never decode one.
    zstd: Option<Decompressor<'static>>,
}

impl PayloadDecoder {
    pub(super) fn decode(&mut self, codec: i64, stored: &[u8]) -> io::Result<Vec<u8>> {
        match codec {
            PLAIN => Ok(stored.to_vec()),
            ZSTD => self.decompress_frame(stored, MAX_PAYLOAD),
            other => Err(invalid_data(format!("unknown codec {other}"))),
        }
    }

    pub(super) fn decompress_frame(&mut self, frame: &[u8], limit: usize) -> io::Result<Vec<u8>> {
        let claimed = get_frame_content_size(frame).ok().flatten();
        let believable = claimed.and_then(|size| usize::try_from(size).ok());
        let Some(size) = believable.filter(|size| *size <= limit) else {
            return Err(invalid_data("a compressed frame without a believable size".into()));
        };
        let zstd = match self.zstd.take() {
            Some(zstd) => zstd,
            None => Decompressor::new()?,
        };
        self.zstd.insert(zstd).decompress(frame, size)
    }
}

pub(super) fn invalid_data(detail: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, detail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(payload: &[u8]) -> (i64, Vec<u8>) {
        let mut encoder = PayloadEncoder::new();
        let (codec, stored) = encoder.encode(payload).unwrap();
        (codec, PayloadDecoder::default().decode(codec, &stored).unwrap())
    }

    #[test]
    fn small_payloads_are_stored_unchanged_and_large_ones_shrink() {
        assert_eq!(round_trip(b"{}").0, PLAIN);
        assert_eq!(round_trip(&b"{\"a\":1}".repeat(1000)).0, ZSTD);
    }

    #[test]
    fn tables_for_a_large_payload_are_freed_and_those_for_small_ones_kept() {
        let mut encoder = PayloadEncoder::new();
        for (length, kept) in [(3_000, true), (300_000, false), (2_000, true)] {
            let payload: Vec<u8> = (0..length).map(|n: u32| (n / 7) as u8).collect();
            let (codec, stored) = encoder.encode(&payload).unwrap();
            assert_eq!(PayloadDecoder::default().decode(codec, &stored).unwrap(), payload);
            assert_eq!(encoder.zstd.is_some(), kept, "{length}");
        }
    }

    #[test]
    fn a_flipped_bit_in_a_frame_is_detected() {
        let payload = b"some words that repeat, ".repeat(200);
        let mut frame = PayloadEncoder::new().compress_frame(&payload).unwrap();
        let last = frame.len() - 1;
        frame[last] ^= 1;
        assert!(PayloadDecoder::default().decode(ZSTD, &frame).is_err());
    }

    #[test]
    fn a_frame_that_claims_too_much_is_refused_before_allocating() {
        let frame = PayloadEncoder::new().compress_frame(&vec![0; 4096]).unwrap();
        assert!(PayloadDecoder::default().decompress_frame(&frame, 4095).is_err());
    }

    proptest! {
        #[test]
        fn every_payload_comes_back(payload in prop::collection::vec(any::<u8>(), 0..5000)) {
            prop_assert_eq!(round_trip(&payload).1, payload);
        }
    }
}
