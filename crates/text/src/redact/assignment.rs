//! Secrets recognized by the name before them: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…`.
//!
//! In source code such names are mostly followed by code, so how readily a value is treated as a secret depends on its
//! context: readily in a URL or an environment file, less so in quotes, rarely where code is likely.

use std::ops::Range;

use super::SecretKind;
use super::literal::{
    AssignedValue, MAX_SPACES, ValueContext, bare_value, element_value, is_name_byte, listed_value,
    quoted_value, skip_spaces, typed_value,
};
use super::scan::{
    ByteClass, CONTEXT, NeedsMoreInput, RedactionVerdict, ScanInput, SecretHit, TriggerPairs,
};
use super::tokens::judge_credential;
use super::value_shape::{ValueShape, is_placeholder, is_secret_name};

const MAX_NAME: usize = 64;

/// How strongly a name indicates a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedSecretClass {
    /// A person's password, which may be short and simple.
    Password,
    /// A machine-generated secret.
    Token,
    /// A key of some kind, secret or not; only a random value is treated as a secret.
    Key,
    /// The header that carries credentials.
    Header,
}

/// Registers the byte pairs that can start a match of these rules.
pub(super) fn add_triggers(triggers: &mut TriggerPairs) {
    for second in (0..=u8::MAX).filter(|second| !b":=~".contains(second)) {
        triggers.add(b':', second);
        triggers.add(b'=', second);
    }
    for second in (b'!'..=b'~').filter(u8::is_ascii_alphanumeric) {
        triggers.add(b'>', second);
    }
    for [first, second] in [*b"\",", *b"',", *b"--", *b"-u", *b"-U"] {
        triggers.add(first, second);
    }
}

/// Judges the value after the operator at `at`.
pub(super) fn judge_assignment(input: ScanInput<'_>, at: usize) -> RedactionVerdict {
    let operator = input.bytes[at];
    let Some(name) = name_before(input, at, operator) else { return Ok(None) };
    let Some(promise) = classify_name(&input.bytes[name.clone()]) else { return Ok(None) };
    let value = match operator {
        b'>' if input.byte_before(name.start) == Some(b'<') => element_value(input, at + 1)?,
        b'>' => None,
        b'"' | b'\'' => listed_value(input, at + 2)?,
        _ => assigned_value(input, at, name)?,
    };
    match (promise, value) {
        (_, None) => Ok(None),
        (NamedSecretClass::Header, Some(value)) => judge_header(input, &value),
        (_, Some(value)) => Ok(secret_hit(input, promise, value)),
    }
}

/// Judges the value after a long option, `--token …`, and the user of `curl`.
pub(super) fn judge_option(input: ScanInput<'_>, at: usize) -> RedactionVerdict {
    if input.byte_before(at).is_some_and(|byte| byte == b'-' || is_name_byte(byte)) {
        return Ok(None);
    }
    if input.bytes[at + 1] != b'-' {
        return judge_curl_user(input, at, at + 2);
    }
    let end = input.run_end(at + 2, MAX_NAME, is_name_byte)?;
    if matches!(&input.bytes[at + 2..end], b"user" | b"proxy-user")
        && matches!(input.byte_at(end)?, Some(b' ' | b'='))
    {
        return judge_curl_user(input, at, end + 1);
    }
    if input.byte_at(end)? != Some(b' ') {
        return Ok(None);
    }
    let Some(promise @ (NamedSecretClass::Password | NamedSecretClass::Token)) =
        classify_name(&input.bytes[at + 2..end])
    else {
        return Ok(None);
    };
    let start = skip_spaces(input, end)?;
    let value = match quoted_value(input, start)? {
        Some(value) => value,
        None => bare_value(input, start, ValueContext::Spaced)?,
    };
    Ok(secret_hit(input, promise, value))
}

/// Judges `-u NAME:PASSWORD` of `curl`. Other programs use the flag for other purposes, so `curl` must precede it.
fn judge_curl_user(input: ScanInput<'_>, at: usize, value: usize) -> RedactionVerdict {
    let before = &input.bytes[at.saturating_sub(CONTEXT - 1)..at];
    if !before.windows(4).any(|window| window == b"curl") {
        return Ok(None);
    }
    let start = input
        .run_end(value, MAX_SPACES, |byte| matches!(byte, b' ' | b'=' | b'\'' | b'"' | b'\\'))?;
    let colon =
        input.run_end(start, MAX_NAME, |byte| !matches!(byte, b':' | b' ' | b'\n' | b'/'))?;
    if colon == start || input.byte_at(colon)? != Some(b':') {
        return Ok(None);
    }
    let value = bare_value(input, colon + 1, ValueContext::Spaced)?;
    let secret = &input.bytes[value.span.clone()];
    let hidden = !secret.is_empty() && !is_placeholder(secret);
    Ok(hidden.then_some(SecretHit {
        span: value.span,
        kind: SecretKind::Password,
        rest: value.rest,
    }))
}

fn secret_hit(
    input: ScanInput<'_>,
    promise: NamedSecretClass,
    value: AssignedValue,
) -> Option<SecretHit> {
    let kind = if promise == NamedSecretClass::Password {
        SecretKind::Password
    } else {
        SecretKind::Secret
    };
    is_secret_value(promise, &input.bytes[value.span.clone()], &value).then_some(SecretHit {
        span: value.span,
        kind,
        rest: value.rest,
    })
}

fn is_secret_value(promise: NamedSecretClass, bytes: &[u8], value: &AssignedValue) -> bool {
    let shape = ValueShape::from_bytes(bytes);
    let begins_code =
        matches!(bytes.first(), Some(b'&' | b'@' | b'/' | b'-' | b'!' | b'#' | b'|' | b'~' | b'.'));
    let code = match value.place {
        ValueContext::Quoted | ValueContext::Listed => {
            bytes.starts_with(b"-----BEGIN") || shape.spaces > 0
        }
        ValueContext::Environment => shape.brackets > 0 || bytes.first() == Some(&b'/'),
        _ => shape.brackets > 0 || begins_code || is_expression(&shape, bytes, value),
    };
    // A URL is judged by its own rule, based on its content.
    if code || is_placeholder(bytes) || bytes.windows(3).any(|window| window == b"://") {
        return false;
    }
    match promise {
        NamedSecretClass::Password => is_password(&shape, bytes, value.place),
        NamedSecretClass::Token => is_token(&shape, bytes, value.place),
        NamedSecretClass::Key => is_key(&shape, bytes, value.place),
        NamedSecretClass::Header => false,
    }
}

/// Returns whether a bare value looks like part of a program: a path of names, or a name followed by a separator.
fn is_expression(shape: &ValueShape, bytes: &[u8], value: &AssignedValue) -> bool {
    let named = shape.is_name_like()
        && !bytes.first().is_some_and(u8::is_ascii_digit)
        && !shape.is_likely_random();
    let path = bytes.iter().any(|byte| matches!(byte, b'.' | b':'));
    named && value.place != ValueContext::Query && (path || value.separated)
}

fn is_password(shape: &ValueShape, bytes: &[u8], place: ValueContext) -> bool {
    let mixed = shape.letter_count() > 0 && shape.digits + shape.signs > 0;
    match place {
        ValueContext::Query | ValueContext::Element => shape.len >= 3,
        ValueContext::Environment => shape.len >= 4,
        ValueContext::Quoted if mixed || shape.digits == shape.len => {
            let named = shape.signs == 0 && shape.joints > 0 && is_secret_name(bytes);
            shape.len >= 6 && !named
        }
        ValueContext::Listed => mixed && shape.len >= 6 && (shape.signs > 0 || shape.joints == 0),
        ValueContext::Quoted => {
            shape.len >= 12 && shape.letter_count() == shape.len && !is_secret_name(bytes)
        }
        ValueContext::Compact | ValueContext::Spaced => {
            (mixed || shape.is_case_scrambled()) && shape.len >= 6 && !is_secret_name(bytes)
        }
    }
}

fn is_token(shape: &ValueShape, bytes: &[u8], place: ValueContext) -> bool {
    let mixed = shape.len >= 8 && shape.letter_count() > 0 && !is_secret_name(bytes);
    // A long unbroken run of letters of one case is not a name, even if it does not look random.
    let unbroken = shape.len >= 24 && (shape.lower == shape.len || shape.upper == shape.len);
    match place {
        ValueContext::Environment | ValueContext::Element | ValueContext::Quoted
            if mixed && unbroken =>
        {
            true
        }
        ValueContext::Query => mixed && (shape.digits > 0 || shape.len >= 16),
        ValueContext::Environment | ValueContext::Element => {
            mixed && (shape.is_likely_random() || shape.digits > 0)
        }
        ValueContext::Quoted | ValueContext::Listed => {
            mixed && (shape.is_likely_random() || shape.digits >= 2)
        }
        ValueContext::Compact | ValueContext::Spaced => {
            mixed && (shape.is_likely_random() || shape.digits >= 3)
        }
    }
}

fn is_key(shape: &ValueShape, bytes: &[u8], place: ValueContext) -> bool {
    let path =
        matches!(place, ValueContext::Compact | ValueContext::Spaced) && bytes.contains(&b'.');
    shape.is_random() && !path && shape.len >= 20 && (shape.upper > 0 || shape.len >= 32)
}

/// Judges the value of an authorization header: a scheme and its credential, or a credential alone.
fn judge_header(input: ScanInput<'_>, value: &AssignedValue) -> RedactionVerdict {
    let start = value.span.start;
    let scheme = input.run_end(start, 16, |byte| byte.is_ascii_alphabetic() || byte == b'-')?;
    if scheme > start && input.byte_at(scheme)? == Some(b' ') {
        return judge_credential(input, skip_spaces(input, scheme)?, 8);
    }
    // A credential alone cannot be distinguished from a name unless it looks random.
    if !ValueShape::from_bytes(&input.bytes[value.span.clone()]).is_random() {
        return Ok(None);
    }
    judge_credential(input, start, 16)
}

/// Finds the name before an operator, skipping spaces, quotes and brackets.
fn name_before(input: ScanInput<'_>, at: usize, operator: u8) -> Option<Range<usize>> {
    let bytes = &input.bytes[..at];
    let last = *bytes.last()?;
    // One byte is enough to rule out most operators.
    let letter = *bytes.iter().rev().take(MAX_SPACES + 1).find(|byte| **byte != b' ')?;
    if !can_end_secret_name(letter) && !letter.is_ascii_digit() && !b"\"'`]:?\t".contains(&letter) {
        return None;
    }
    let mut end = at;
    match operator {
        b'=' if matches!(last, b':' | b'?') => end -= 1,
        b'=' if b"=!<>+-*/%&|^~".contains(&last) => return None,
        b':' if last == b':' => return None,
        _ => {}
    }
    let back = |end: usize, most: usize, class: ByteClass| {
        bytes[..end].iter().rev().take(most).take_while(|byte| class(**byte)).count()
    };
    end -= back(end, MAX_SPACES, |byte| matches!(byte, b' ' | b'\t'));
    let quote: ByteClass = |byte| matches!(byte, b'"' | b'\'' | b'`');
    // A bracket is accepted only with a quote inside, as in `env["TOKEN"] = …`, because our own labels also end in one.
    if matches!(bytes[..end], [.., inner, b']'] if quote(inner)) {
        end -= 1;
    }
    end -= back(end, 1, quote);
    end -= back(end, 7, |byte| byte == b'\\');
    let len = back(end, MAX_NAME, is_name_byte);
    (len > 0).then_some(end - len..end)
}

/// Returns whether a name that indicates a secret can end with this byte.
fn can_end_secret_name(byte: u8) -> bool {
    matches!(byte | 0x20, b'd' | b'e' | b'y' | b't' | b'n' | b's' | b'l' | b'h' | b'g')
}

/// Classifies a name by its ending, ignoring case, separators and a trailing number.
fn classify_name(name: &[u8]) -> Option<NamedSecretClass> {
    const PASSWORDS: [&str; 6] =
        ["password", "passwd", "passphrase", "passcode", "passwort", "pwd"];
    const TOKENS: [&str; 15] = [
        "secret",
        "token",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "accountkey",
        "credential",
        "credentials",
        "signingkey",
        "encryptionkey",
        "masterkey",
        "authkey",
        "secretkeybase",
        "sharedkey",
    ];
    const KEYS: [&str; 9] =
        ["key", "auth", "cookie", "session", "sessionid", "signature", "sig", "creds", "pat"];
    const OPEN: [&str; 5] = ["publickey", "primarykey", "foreignkey", "cachekey", "pubkey"];
    let counter = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
    let name = &name[..=name.iter().rposition(|byte| !counter(byte))?];
    if !can_end_secret_name(*name.last()?) {
        return None;
    }
    let mut folded = [0; MAX_NAME];
    let mut len = 0;
    for byte in name.iter().filter(|byte| !matches!(byte, b'_' | b'-')) {
        folded[len] = byte.to_ascii_lowercase();
        len += 1;
    }
    let folded = &folded[..len];
    let ends = |endings: &[&str]| endings.iter().any(|ending| folded.ends_with(ending.as_bytes()));
    let pass = folded == b"pass"
        || name.ends_with(b"_PASS")
        || name.ends_with(b"_pass")
        || name.ends_with(b"-pass");
    if pass || ends(&PASSWORDS) {
        Some(NamedSecretClass::Password)
    } else if ends(&TOKENS) {
        Some(NamedSecretClass::Token)
    } else if ends(&["authorization"]) {
        Some(NamedSecretClass::Header)
    } else if ends(&KEYS) && !ends(&OPEN) {
        Some(NamedSecretClass::Key)
    } else {
        None
    }
}

fn assigned_value(
    input: ScanInput<'_>,
    at: usize,
    name: Range<usize>,
) -> Result<Option<AssignedValue>, NeedsMoreInput> {
    if input.bytes[at] == b'=' && input.byte_at(at + 1)? == Some(b'>') {
        return quoted_value(input, skip_spaces(input, at + 2)?);
    }
    let start = skip_spaces(input, at + 1)?;
    if let Some(value) = quoted_value(input, start)? {
        return Ok(Some(value));
    }
    if input.bytes[at] == b':'
        && let Some(value) = typed_value(input, start)?
    {
        return Ok(Some(value));
    }
    let tight = start == at + 1 && name.end == at && input.bytes[at] == b'=';
    let place = match input.byte_before(name.start) {
        Some(b'?' | b'&' | b';') if tight => ValueContext::Query,
        _ if tight && !input.bytes[name].iter().any(u8::is_ascii_lowercase) => {
            ValueContext::Environment
        }
        _ if tight => ValueContext::Compact,
        _ => ValueContext::Spaced,
    };
    bare_value(input, start, place).map(Some)
}
