//! Parses the value after a name, in the notations that programs and files use.

use std::ops::Range;

use super::scan::{ByteClass, NeedsMoreInput, ScanInput, SecretRemainder};

/// The maximum number of spaces around an operator.
pub(super) const MAX_SPACES: usize = 32;
/// The number of bytes of a value that are read to judge it; the rest is consumed without being examined.
const MAX_JUDGED_BYTES: usize = 256;
const MAX_TYPE: usize = 48;

/// The context in which a value appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueContext {
    /// In a URL after `?` or `&`, or in a connection string after `;`.
    Query,
    /// In quotes.
    Quoted,
    /// In quotes, after a name in quotes and a comma.
    Listed,
    /// After `NAME=`, in uppercase and without spaces, as in environment files.
    Environment,
    /// After `name=` without spaces.
    Compact,
    /// After `name: `, `name = ` or `--name `.
    Spaced,
    /// Between tags.
    Element,
}

/// A value and how it was parsed.
pub(super) struct AssignedValue {
    pub(super) span: Range<usize>,
    pub(super) place: ValueContext,
    pub(super) rest: SecretRemainder,
    /// Whether a comma or semicolon follows as in program code, unlike in `password=…;database=…`.
    pub(super) separated: bool,
}

/// Reads the value after a quoted name and a comma, as in `set("x-api-key", "…")`.
pub(super) fn listed_value(
    input: ScanInput<'_>,
    at: usize,
) -> Result<Option<AssignedValue>, NeedsMoreInput> {
    let value = quoted_value(input, skip_spaces(input, at)?)?;
    Ok(value.map(|value| AssignedValue { place: ValueContext::Listed, ..value }))
}

/// Skips a type, as in `const API_KEY: &str = "…"`, and reads the value after it.
pub(super) fn typed_value(
    input: ScanInput<'_>,
    at: usize,
) -> Result<Option<AssignedValue>, NeedsMoreInput> {
    let part = |byte: u8| is_name_byte(byte) || b"&'<>?:* ".contains(&byte);
    let sign = input.run_end(at, MAX_TYPE, part)?;
    if input.byte_at(sign)? != Some(b'=') || matches!(input.byte_at(sign + 1)?, Some(b'=' | b'>')) {
        return Ok(None);
    }
    quoted_value(input, skip_spaces(input, sign + 1)?)
}

/// Reads a quoted value, whose quotes may be escaped, as in JSON inside JSON.
pub(super) fn quoted_value(
    input: ScanInput<'_>,
    at: usize,
) -> Result<Option<AssignedValue>, NeedsMoreInput> {
    let prefix = matches!(input.byte_at(at)?, Some(b'b' | b'r' | b'u' | b'B' | b'R' | b'U'));
    let slashes = if prefix { at + 1 } else { at };
    let open = input.run_end(slashes, 7, |byte| byte == b'\\')?;
    let Some(quote @ (b'"' | b'\'' | b'`')) = input.byte_at(open)? else { return Ok(None) };
    let escaped = open > slashes;
    let start = open + 1;
    let mut end = start;
    while end < start + MAX_JUDGED_BYTES {
        match input.byte_at(end)? {
            // Output is often truncated, so a missing quote proves nothing.
            None | Some(b'\n') => break,
            Some(byte) if byte == quote => break,
            Some(b'\\') if escaped => break,
            Some(b'\\') => end += 2,
            Some(_) => end += 1,
        }
    }
    let closed = end < start + MAX_JUDGED_BYTES;
    let rest = match quote {
        _ if closed => SecretRemainder::Nothing,
        _ if escaped => SecretRemainder::Run(|byte| !matches!(byte, b'\\' | b'\n')),
        b'"' => SecretRemainder::Run(|byte| !matches!(byte, b'"' | b'\n')),
        b'\'' => SecretRemainder::Run(|byte| !matches!(byte, b'\'' | b'\n')),
        _ => SecretRemainder::Run(|byte| !matches!(byte, b'`' | b'\n')),
    };
    // An escape may have moved the end past the bytes that have been examined.
    input.byte_at(end.saturating_sub(1))?;
    let end = end.min(input.bytes.len());
    Ok(Some(AssignedValue {
        span: start..end,
        place: ValueContext::Quoted,
        rest,
        separated: false,
    }))
}

/// Reads a value without quotes.
pub(super) fn bare_value(
    input: ScanInput<'_>,
    at: usize,
    place: ValueContext,
) -> Result<AssignedValue, NeedsMoreInput> {
    let class: ByteClass = if place == ValueContext::Query { is_query_byte } else { is_bare_byte };
    let mut end = at;
    loop {
        end = input.run_end(end, MAX_JUDGED_BYTES - (end - at), class)?;
        // A backslash belongs to the value unless it begins an escape, as in a dump inside a JSON string.
        let escape = matches!(input.byte_at(end)?, Some(b'\\'))
            && end < at + MAX_JUDGED_BYTES
            && input
                .byte_at(end + 1)?
                .is_some_and(|byte| class(byte) && !matches!(byte, b'n' | b'r' | b't' | b'u'));
        if !escape {
            break;
        }
        end += 1;
    }
    let rest = if end < at + MAX_JUDGED_BYTES {
        SecretRemainder::Nothing
    } else {
        SecretRemainder::Run(class)
    };
    Ok(AssignedValue { span: at..end, place, rest, separated: is_separated(input, end)? })
}

fn is_separated(input: ScanInput<'_>, end: usize) -> Result<bool, NeedsMoreInput> {
    Ok(matches!(input.byte_at(end)?, Some(b',' | b';'))
        && !input.byte_at(end + 1)?.is_some_and(is_name_byte))
}

/// Reads the text of an element up to its end tag.
pub(super) fn element_value(
    input: ScanInput<'_>,
    at: usize,
) -> Result<Option<AssignedValue>, NeedsMoreInput> {
    let end = input.run_end(at, MAX_JUDGED_BYTES, |byte| !matches!(byte, b'<' | b'\n' | b' '))?;
    if end == at || !input.starts_with(end, b"</")? {
        return Ok(None);
    }
    Ok(Some(AssignedValue {
        span: at..end,
        place: ValueContext::Element,
        rest: SecretRemainder::Nothing,
        separated: false,
    }))
}

fn is_bare_byte(byte: u8) -> bool {
    byte > b' ' && byte != 0x7F && !b"\"'`,;\\".contains(&byte)
}

fn is_query_byte(byte: u8) -> bool {
    is_bare_byte(byte) && !b"&#<>()[]{}|".contains(&byte)
}

/// Returns the position after any spaces.
pub(super) fn skip_spaces(input: ScanInput<'_>, at: usize) -> Result<usize, NeedsMoreInput> {
    input.run_end(at, MAX_SPACES, |byte| matches!(byte, b' ' | b'\t'))
}

/// Returns whether a byte may be part of a name.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
