//! Private key blocks, the one secret that spans lines.

use super::SecretKind;
use super::scan::{NeedsMoreInput, RedactionVerdict, ScanInput, SecretHit, SecretRemainder};

/// No key is longer; an unterminated block must not swallow the rest of a log.
const MAX_BODY: usize = 32 * 1024;
/// A line with more gaps between words is prose or code, not part of a key.
const MAX_GAPS: usize = 5;

/// Judges a block header: `-----BEGIN … PRIVATE KEY-----` followed by something that can be a key. Source code that
/// only mentions the header is left alone.
pub(super) fn judge_pem(input: ScanInput<'_>, at: usize) -> RedactionVerdict {
    if !input.starts_with(at, b"-----BEGIN ")? {
        return Ok(None);
    }
    let title = at + 11;
    let title_end = input.run_end(title, 48, is_title_byte)?;
    let private = input.bytes[title..title_end].windows(11).any(|words| words == b"PRIVATE KEY");
    if !private || !input.starts_with(title_end, b"-----")? {
        return Ok(None);
    }
    let end = title_end + 5;
    if !begins_key(input, end)? {
        return Ok(None);
    }
    Ok(Some(SecretHit {
        span: at..end,
        kind: SecretKind::PrivateKey,
        rest: SecretRemainder::Pem(PemBody::default()),
    }))
}

fn begins_key(input: ScanInput<'_>, end: usize) -> Result<bool, NeedsMoreInput> {
    // Line endings may be escaped, and the lines may be string literals joined in source code.
    let mut body = end;
    while body < end + 64 {
        match input.byte_at(body)? {
            Some(b'\\') if matches!(input.byte_at(body + 1)?, Some(b'n' | b'r' | b't')) => {
                body += 2;
            }
            Some(byte) if byte.is_ascii_whitespace() || b"\\\"'`+,.>|#*".contains(&byte) => {
                body += 1;
            }
            _ => break,
        }
    }
    for header in ["Proc-Type", "DEK-Info", "Version:", "Comment:"] {
        if input.starts_with(body, header.as_bytes())? {
            return Ok(true);
        }
    }
    Ok(input.run_end(body, 16, is_base64_byte)? == body + 16)
}

fn is_title_byte(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

fn is_base64_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Tracks a key block to its end.
#[derive(Debug, Default)]
pub(super) struct PemBody {
    swallowed: usize,
    gaps: usize,
    /// A header line such as `Comment: my key` may have gaps.
    colon: bool,
    in_word: bool,
}

impl PemBody {
    /// Consumes bytes from `at`; returns where it stopped, and whether that is the end of the block.
    pub(super) fn consume_body(&mut self, input: ScanInput<'_>, at: usize) -> (usize, bool) {
        for place in at..input.bytes.len() {
            let byte = input.bytes[place];
            if byte == b'-' {
                match footer_end(input, place) {
                    Err(NeedsMoreInput) => return (place, false),
                    Ok(Some(end)) => return (end, true),
                    Ok(None) => {}
                }
            }
            if byte.is_ascii() && (self.swallowed >= MAX_BODY || self.is_foreign(byte)) {
                return (place, true);
            }
            self.swallowed += 1;
        }
        (input.bytes.len(), !input.more)
    }

    fn is_foreign(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' => (self.gaps, self.colon, self.in_word) = (0, false, false),
            b' ' => {
                self.gaps += usize::from(self.in_word);
                self.in_word = false;
            }
            b':' => self.colon = true,
            _ => self.in_word = true,
        }
        self.gaps >= MAX_GAPS && !self.colon
    }
}

fn footer_end(input: ScanInput<'_>, at: usize) -> Result<Option<usize>, NeedsMoreInput> {
    if !input.starts_with(at, b"-----END ")? {
        return Ok(None);
    }
    let title_end = input.run_end(at + 9, 48, is_title_byte)?;
    input.run_end(title_end, 5, |byte| byte == b'-').map(Some)
}
