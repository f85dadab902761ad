//! Checksums of journal rows, sealed runs and sessions, and what a mismatch reveals about the damage.
//!
//! A checksum is a CRC-32 over every column of a row, including its position in the journal: a row that was moved to
//! another session or number does not match. CRC-32 detects every single flipped bit and every burst of up to 32 bits,
//! and because it is linear, the difference between two checksums identifies a single flipped bit.

use crc32fast::Hasher;

/// Marks a row written without a checksum, by a version that had none. No CRC-32 is negative.
pub(super) const NO_CHECKSUM: i64 = -1;

/// The most numbers and texts a row has together.
const MOST_FIELDS: usize = 9;

/// The columns of a row, with their names for messages. Numbers are hashed first, then the length of each text, then
/// the texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedFields<'a> {
    pub(super) numbers: &'a [(&'static str, i64)],
    /// `None` is a null, which differs from an empty text.
    pub(super) texts: &'a [(&'static str, Option<&'a [u8]>)],
}

impl CheckedFields<'_> {
    /// The checksum as stored in the database.
    pub(super) fn checksum(&self) -> i64 {
        let mut hasher = Hasher::new();
        let (head, length) = self.fixed_bytes();
        hasher.update(&head[..length]);
        for (_, text) in self.texts {
            hasher.update(text.unwrap_or_default());
        }
        hasher.finalize().into()
    }

    /// Numbers and lengths in one buffer, so that the short fields take one pass.
    fn fixed_bytes(&self) -> ([u8; MOST_FIELDS * 8], usize) {
        let numbers = self.numbers.iter().map(|(_, number)| *number);
        // The length is stored plus one, so that zero is left for a null. Hashing all lengths before the texts keeps
        // the end of one text from being read as the beginning of the next.
        let lengths =
            self.texts.iter().map(|(_, text)| text.map_or(0, |text| text.len() as i64 + 1));
        let mut head = [0; MOST_FIELDS * 8];
        let mut length = 0;
        for (slot, number) in head.chunks_exact_mut(8).zip(numbers.chain(lengths)) {
            slot.copy_from_slice(&number.to_le_bytes());
            length += 8;
        }
        (head, length)
    }

    /// Compares with the stored checksum and describes the difference, if any.
    pub(super) fn describe_difference(&self, kept: i64) -> Option<String> {
        let found = self.checksum();
        if kept == found {
            return None;
        }
        let Ok(kept) = u32::try_from(kept) else {
            return Some("its checksum is no checksum".into());
        };
        // A flipped bit of the stored value changes one bit of the difference. A flipped bit of a row cannot do that:
        // it would take a row as long as the period of the polynomial, 2^32 - 1 bits.
        let syndrome = kept ^ found as u32;
        if syndrome.is_power_of_two() {
            return Some("one bit of its checksum was flipped".into());
        }
        let name = self.flipped_byte(syndrome).map(|byte| self.field_at(byte));
        Some(name.map_or_else(
            || "it is not what was written".into(),
            |name| format!("one bit of its {name} was flipped"),
        ))
    }

    fn byte_length(&self) -> usize {
        let texts = self.texts.iter().map(|(_, text)| text.map_or(0, <[u8]>::len)).sum::<usize>();
        (self.numbers.len() + self.texts.len()) * 8 + texts
    }

    /// The byte, counted from the first, in which a single flipped bit explains the difference.
    ///
    /// A flipped bit changes the checksum by the remainder of that bit followed by as many zero bytes as come after it;
    /// the remainders of the eight bits of a byte are carried from the last byte to the first.
    fn flipped_byte(&self, syndrome: u32) -> Option<usize> {
        // Invariant: before each step, `remainders` are the differences caused by the eight bits of the byte under
        // test. One table step appends a zero byte, which moves the test one byte toward the front.
        let mut remainders: [u32; 8] = std::array::from_fn(|bit| TABLE[1 << bit]);
        (0..self.byte_length()).rev().find(|_| {
            let matches_syndrome = remainders.contains(&syndrome);
            for remainder in &mut remainders {
                *remainder = TABLE[(*remainder & 0xff) as usize] ^ (*remainder >> 8);
            }
            matches_syndrome
        })
    }

    fn field_at(&self, byte: usize) -> &'static str {
        let numbers = self.numbers.iter().map(|(name, _)| (*name, 8));
        let lengths = self.texts.iter().map(|(name, _)| (*name, 8));
        let texts = self.texts.iter().map(|(name, text)| (*name, text.map_or(0, <[u8]>::len)));
        let mut end = 0;
        let mut fields = numbers.chain(lengths).chain(texts);
        fields
            .find_map(|(name, length)| {
                end += length;
                (byte < end).then_some(name)
            })
            .unwrap_or("content")
    }
}

/// The remainders of single bytes for the CRC-32 polynomial (IEEE 802.3), least significant bit first.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1 == 1;
            remainder >>= 1;
            if carry {
                remainder ^= 0xedb8_8320;
            }
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
};

/// The checksum of a live row as stored: its payload may be compressed.
pub(super) fn live_checksum(
    (id, at, codec): (i64, i64, i64),
    kind: &str,
    task: Option<&str>,
    payload: &[u8],
) -> i64 {
    let numbers = [("number", id), ("time", at), ("codec", codec)];
    let texts = live_texts(kind.as_bytes(), task.map(str::as_bytes), payload);
    CheckedFields { numbers: &numbers, texts: &texts }.checksum()
}

pub(super) fn live_texts<'a>(
    kind: &'a [u8],
    task: Option<&'a [u8]>,
    payload: &'a [u8],
) -> [(&'static str, Option<&'a [u8]>); 3] {
    [("kind", Some(kind)), ("task", task), ("payload", Some(payload))]
}

/// The position of a sealed run: session, first and last number.
pub(super) type SegmentLocation = (i64, i64, i64);

/// The checksum of a sealed run as stored.
pub(super) fn segment_checksum(location: SegmentLocation, contents: &[u8], payloads: &[u8]) -> i64 {
    let (numbers, texts) = (segment_numbers(location), segment_texts(contents, payloads));
    CheckedFields { numbers: &numbers, texts: &texts }.checksum()
}

/// Describes how a sealed run differs from what was written.
pub(super) fn describe_segment_difference(
    location: SegmentLocation,
    contents: &[u8],
    payloads: &[u8],
    kept: i64,
) -> Option<String> {
    let (numbers, texts) = (segment_numbers(location), segment_texts(contents, payloads));
    CheckedFields { numbers: &numbers, texts: &texts }.describe_difference(kept)
}

fn segment_numbers((key, first, last): SegmentLocation) -> [(&'static str, i64); 3] {
    [("session", key), ("first number", first), ("last number", last)]
}

fn segment_texts<'a>(
    contents: &'a [u8],
    payloads: &'a [u8],
) -> [(&'static str, Option<&'a [u8]>); 2] {
    [("table of events", Some(contents)), ("payloads", Some(payloads))]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn difference(payload: &[u8], task: Option<&[u8]>, kept: i64) -> Option<String> {
        let numbers = [("number", 7), ("time", 1_700_000), ("codec", 0)];
        let texts = live_texts(b"task.started", task, payload);
        CheckedFields { numbers: &numbers, texts: &texts }.describe_difference(kept)
    }

    #[test]
    fn a_null_differs_from_an_empty_text_and_fields_do_not_run_into_each_other() {
        let sum = |kind, task, payload: &[u8]| live_checksum((7, 1, 0), kind, task, payload);
        let all = [
            sum("ab", Some(""), b"c"),
            sum("ab", None, b"c"),
            sum("a", Some("b"), b"c"),
            sum("a", None, b"bc"),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(all[index + 1..].iter().all(|other| other != one));
        }
    }

    #[test]
    fn a_flipped_bit_of_the_checksum_is_distinguished_from_one_of_the_row() {
        let kept = live_checksum((7, 1_700_000, 0), "task.started", None, b"{}");
        assert_eq!(difference(b"{}", None, kept), None);
        let description = difference(b"{}", None, kept ^ 0x400).unwrap();
        assert_eq!(description, "one bit of its checksum was flipped");
        let description = difference(b"[]", Some(b"x"), kept).unwrap();
        assert_eq!(description, "it is not what was written");
        assert!(difference(b"{}", None, 1 << 40).is_some());
    }

    proptest! {
        #[test]
        fn every_flipped_bit_is_found_and_its_field_named(
            payload in prop::collection::vec(any::<u8>(), 1..300),
            position in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let kept = live_checksum((7, 1_700_000, 0), "task.started", Some("a"), &payload);
            let mut damaged = payload.clone();
            damaged[position.index(payload.len())] ^= 1 << bit;
            let description = difference(&damaged, Some(b"a"), kept);
            prop_assert_eq!(description.as_deref(), Some("one bit of its payload was flipped"));
        }
    }
}
