//! Secrets that can be told by the name before them: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…`.
//!
//! In source code such names are mostly followed by code, so how freely a value is taken for a secret depends on
//! where it stands: freely in an address or an environment file, less so in quotes, hardly where code is likely.

use std::ops::Range;

use super::Kind;
use super::literal::{
    MAX_SPACES, Place, Value, bare_value, element_value, is_name, listed_value, quoted_value,
    skip_spaces, typed_value,
};
use super::scan::{CONTEXT, Class, Hit, Input, NeedMore, Triggers, Verdict};
use super::tokens::judge_credential;
use super::value::{Shape, is_placeholder, names_a_secret};

const MAX_NAME: usize = 64;

/// How surely a name announces a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// A person's password, which may be short and simple.
    Password,
    /// A secret made by a machine.
    Token,
    /// A key of some kind, secret or not; only a random value counts.
    Key,
    /// The header that carries credentials.
    Header,
}

/// Names the pairs of bytes these rules begin with.
pub(super) fn add_triggers(triggers: &mut Triggers) {
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
pub(super) fn judge(input: Input<'_>, at: usize) -> Verdict {
    let operator = input.bytes[at];
    let Some(name) = name_before(input, at, operator) else { return Ok(None) };
    let Some(promise) = promise(&input.bytes[name.clone()]) else { return Ok(None) };
    let value = match operator {
        b'>' if input.before(name.start) == Some(b'<') => element_value(input, at + 1)?,
        b'>' => None,
        b'"' | b'\'' => listed_value(input, at + 2)?,
        _ => assigned_value(input, at, name)?,
    };
    match (promise, value) {
        (_, None) => Ok(None),
        (Promise::Header, Some(value)) => judge_header(input, &value),
        (_, Some(value)) => Ok(decide(input, promise, value)),
    }
}

/// Judges the value after a long option, `--token …`, and the user of `curl`.
pub(super) fn judge_option(input: Input<'_>, at: usize) -> Verdict {
    if input.before(at).is_some_and(|byte| byte == b'-' || is_name(byte)) {
        return Ok(None);
    }
    if input.bytes[at + 1] != b'-' {
        return judge_user(input, at, at + 2);
    }
    let end = input.run(at + 2, MAX_NAME, is_name)?;
    if matches!(&input.bytes[at + 2..end], b"user" | b"proxy-user")
        && matches!(input.get(end)?, Some(b' ' | b'='))
    {
        return judge_user(input, at, end + 1);
    }
    if input.get(end)? != Some(b' ') {
        return Ok(None);
    }
    let Some(promise @ (Promise::Password | Promise::Token)) = promise(&input.bytes[at + 2..end])
    else {
        return Ok(None);
    };
    let start = skip_spaces(input, end)?;
    let value = match quoted_value(input, start)? {
        Some(value) => value,
        None => bare_value(input, start, Place::Spaced)?,
    };
    Ok(decide(input, promise, value))
}

/// Judges `-u NAME:PASSWORD` of `curl`. Other programs use the flag for other things, so that its name must precede.
fn judge_user(input: Input<'_>, at: usize, value: usize) -> Verdict {
    let before = &input.bytes[at.saturating_sub(CONTEXT - 1)..at];
    if !before.windows(4).any(|window| window == b"curl") {
        return Ok(None);
    }
    let start =
        input.run(value, MAX_SPACES, |byte| matches!(byte, b' ' | b'=' | b'\'' | b'"' | b'\\'))?;
    let colon = input.run(start, MAX_NAME, |byte| !matches!(byte, b':' | b' ' | b'\n' | b'/'))?;
    if colon == start || input.get(colon)? != Some(b':') {
        return Ok(None);
    }
    let value = bare_value(input, colon + 1, Place::Spaced)?;
    let secret = &input.bytes[value.span.clone()];
    let hidden = !secret.is_empty() && !is_placeholder(secret);
    Ok(hidden.then_some(Hit { span: value.span, kind: Kind::Password, rest: value.rest }))
}

fn decide(input: Input<'_>, promise: Promise, value: Value) -> Option<Hit> {
    let kind = if promise == Promise::Password { Kind::Password } else { Kind::Secret };
    is_secret(promise, &input.bytes[value.span.clone()], &value).then_some(Hit {
        span: value.span,
        kind,
        rest: value.rest,
    })
}

fn is_secret(promise: Promise, bytes: &[u8], value: &Value) -> bool {
    let shape = Shape::of(bytes);
    let begins_code =
        matches!(bytes.first(), Some(b'&' | b'@' | b'/' | b'-' | b'!' | b'#' | b'|' | b'~' | b'.'));
    let code = match value.place {
        Place::Quoted | Place::Listed => bytes.starts_with(b"-----BEGIN") || shape.spaces > 0,
        Place::Environment => shape.brackets > 0 || bytes.first() == Some(&b'/'),
        _ => shape.brackets > 0 || begins_code || is_expression(&shape, bytes, value),
    };
    // An address is judged by what stands in it.
    if code || is_placeholder(bytes) || bytes.windows(3).any(|window| window == b"://") {
        return false;
    }
    match promise {
        Promise::Password => is_password(&shape, bytes, value.place),
        Promise::Token => is_token(&shape, bytes, value.place),
        Promise::Key => is_key(&shape, bytes, value.place),
        Promise::Header => false,
    }
}

/// Returns whether a bare value reads as part of a program: a path of names, or a name with a separator after it.
fn is_expression(shape: &Shape, bytes: &[u8], value: &Value) -> bool {
    let named =
        shape.is_name() && !bytes.first().is_some_and(u8::is_ascii_digit) && !shape.is_drawn();
    let path = bytes.iter().any(|byte| matches!(byte, b'.' | b':'));
    named && value.place != Place::Query && (path || value.separated)
}

fn is_password(shape: &Shape, bytes: &[u8], place: Place) -> bool {
    let mixed = shape.letters() > 0 && shape.digits + shape.signs > 0;
    match place {
        Place::Query | Place::Element => shape.len >= 3,
        Place::Environment => shape.len >= 4,
        Place::Quoted if mixed || shape.digits == shape.len => {
            let named = shape.signs == 0 && shape.joints > 0 && names_a_secret(bytes);
            shape.len >= 6 && !named
        }
        Place::Listed => mixed && shape.len >= 6 && (shape.signs > 0 || shape.joints == 0),
        Place::Quoted => shape.len >= 12 && shape.letters() == shape.len && !names_a_secret(bytes),
        Place::Compact | Place::Spaced => {
            (mixed || shape.is_jumbled()) && shape.len >= 6 && !names_a_secret(bytes)
        }
    }
}

fn is_token(shape: &Shape, bytes: &[u8], place: Place) -> bool {
    let mixed = shape.len >= 8 && shape.letters() > 0 && !names_a_secret(bytes);
    // Letters of one case without a break are no name, however little they look drawn at random.
    let unbroken = shape.len >= 24 && (shape.lower == shape.len || shape.upper == shape.len);
    match place {
        Place::Environment | Place::Element | Place::Quoted if mixed && unbroken => true,
        Place::Query => mixed && (shape.digits > 0 || shape.len >= 16),
        Place::Environment | Place::Element => mixed && (shape.is_drawn() || shape.digits > 0),
        Place::Quoted | Place::Listed => mixed && (shape.is_drawn() || shape.digits >= 2),
        Place::Compact | Place::Spaced => mixed && (shape.is_drawn() || shape.digits >= 3),
    }
}

fn is_key(shape: &Shape, bytes: &[u8], place: Place) -> bool {
    let path = matches!(place, Place::Compact | Place::Spaced) && bytes.contains(&b'.');
    shape.is_random() && !path && shape.len >= 20 && (shape.upper > 0 || shape.len >= 32)
}

/// Judges the value of an authorization header: a scheme and its credential, or a credential alone.
fn judge_header(input: Input<'_>, value: &Value) -> Verdict {
    let start = value.span.start;
    let scheme = input.run(start, 16, |byte| byte.is_ascii_alphabetic() || byte == b'-')?;
    if scheme > start && input.get(scheme)? == Some(b' ') {
        return judge_credential(input, skip_spaces(input, scheme)?, 8);
    }
    // A credential alone cannot be told from a name unless it looks random.
    if !Shape::of(&input.bytes[value.span.clone()]).is_random() {
        return Ok(None);
    }
    judge_credential(input, start, 16)
}

/// Finds the name before an operator, through spaces, quotes and brackets.
fn name_before(input: Input<'_>, at: usize, operator: u8) -> Option<Range<usize>> {
    let bytes = &input.bytes[..at];
    let last = *bytes.last()?;
    // Most operators are ruled out by one byte.
    let letter = *bytes.iter().rev().take(MAX_SPACES + 1).find(|byte| **byte != b' ')?;
    if !is_last_letter(letter) && !letter.is_ascii_digit() && !b"\"'`]:?\t".contains(&letter) {
        return None;
    }
    let mut end = at;
    match operator {
        b'=' if matches!(last, b':' | b'?') => end -= 1,
        b'=' if b"=!<>+-*/%&|^~".contains(&last) => return None,
        b':' if last == b':' => return None,
        _ => {}
    }
    let back = |end: usize, most: usize, class: Class| {
        bytes[..end].iter().rev().take(most).take_while(|byte| class(**byte)).count()
    };
    end -= back(end, MAX_SPACES, |byte| matches!(byte, b' ' | b'\t'));
    let quote: Class = |byte| matches!(byte, b'"' | b'\'' | b'`');
    // A bracket counts only with a quote inside, as in `env["TOKEN"] = …`; our own labels end in one as well.
    if matches!(bytes[..end], [.., inner, b']'] if quote(inner)) {
        end -= 1;
    }
    end -= back(end, 1, quote);
    end -= back(end, 7, |byte| byte == b'\\');
    let len = back(end, MAX_NAME, is_name);
    (len > 0).then_some(end - len..end)
}

/// Returns whether a name that promises anything can end so.
fn is_last_letter(byte: u8) -> bool {
    matches!(byte | 0x20, b'd' | b'e' | b'y' | b't' | b'n' | b's' | b'l' | b'h' | b'g')
}

/// Tells what a name promises by how it ends, whatever its case, its separators and a number after it.
fn promise(name: &[u8]) -> Option<Promise> {
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
    if !is_last_letter(*name.last()?) {
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
        Some(Promise::Password)
    } else if ends(&TOKENS) {
        Some(Promise::Token)
    } else if ends(&["authorization"]) {
        Some(Promise::Header)
    } else if ends(&KEYS) && !ends(&OPEN) {
        Some(Promise::Key)
    } else {
        None
    }
}

fn assigned_value(
    input: Input<'_>,
    at: usize,
    name: Range<usize>,
) -> Result<Option<Value>, NeedMore> {
    if input.bytes[at] == b'=' && input.get(at + 1)? == Some(b'>') {
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
    let place = match input.before(name.start) {
        Some(b'?' | b'&' | b';') if tight => Place::Query,
        _ if tight && !input.bytes[name].iter().any(u8::is_ascii_lowercase) => Place::Environment,
        _ if tight => Place::Compact,
        _ => Place::Spaced,
    };
    bare_value(input, start, place).map(Some)
}
