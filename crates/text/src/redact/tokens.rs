//! Secrets recognized by their own shape: keys with a vendor's prefix, web tokens, bearer tokens, passwords in URLs.

use super::SecretKind;
use super::scan::{
    ByteClass, CONTEXT, NeedsMoreInput, RedactionVerdict, ScanInput, SecretHit, SecretRemainder,
    TriggerPairs,
};
use super::value_shape::{LABEL, ValueShape, contains_bytes, is_placeholder};

/// The number of bytes of a token that are read to judge it; the rest is consumed without being examined.
const MAX_JUDGED_BYTES: usize = 128;
/// The longest web token header that is recognized.
const MAX_JWT_HEADER: usize = 2_048;
/// The longest user and password in a URL.
const MAX_USERINFO: usize = 512;
/// The maximum number of blanks between the words of a `.netrc` file.
const MAX_BLANKS: usize = 16;

/// What must follow a prefix.
enum TokenBody {
    /// At least this many bytes of a class.
    AtLeast(usize, ByteClass),
    /// Exactly this many, because longer runs are something else.
    Exactly(usize, ByteClass),
    /// At least this many that look random, because the prefix alone proves little.
    Random(usize, ByteClass),
}

struct TokenPrefix(&'static str, SecretKind, TokenBody);

#[rustfmt::skip]
const PREFIXES: &[TokenPrefix] = &[
    TokenPrefix("AKIA", SecretKind::AwsKey, TokenBody::Exactly(16, is_upper_or_digit_byte)),
    TokenPrefix("ASIA", SecretKind::AwsKey, TokenBody::Exactly(16, is_upper_or_digit_byte)),
    TokenPrefix("ABIA", SecretKind::AwsKey, TokenBody::Exactly(16, is_upper_or_digit_byte)),
    TokenPrefix("ACCA", SecretKind::AwsKey, TokenBody::Exactly(16, is_upper_or_digit_byte)),
    TokenPrefix("sk-ant-", SecretKind::ApiKey, TokenBody::AtLeast(16, is_dashed_byte)),
    TokenPrefix("sk-proj-", SecretKind::ApiKey, TokenBody::Random(20, is_dashed_byte)),
    TokenPrefix("sk-or-v1-", SecretKind::ApiKey, TokenBody::AtLeast(20, is_dashed_byte)),
    TokenPrefix("sk-", SecretKind::ApiKey, TokenBody::Random(20, is_dashed_byte)),
    TokenPrefix("xai-", SecretKind::ApiKey, TokenBody::Random(20, is_dashed_byte)),
    TokenPrefix("gsk_", SecretKind::ApiKey, TokenBody::Random(20, is_alnum_byte)),
    TokenPrefix("pplx-", SecretKind::ApiKey, TokenBody::Random(20, is_alnum_byte)),
    TokenPrefix("nvapi-", SecretKind::ApiKey, TokenBody::Random(20, is_dashed_byte)),
    TokenPrefix("tvly-", SecretKind::ApiKey, TokenBody::Random(16, is_dashed_byte)),
    TokenPrefix("r8_", SecretKind::ApiKey, TokenBody::Random(30, is_alnum_byte)),
    TokenPrefix("hf_", SecretKind::ApiKey, TokenBody::AtLeast(30, is_alnum_byte)),
    TokenPrefix("ghp_", SecretKind::GithubToken, TokenBody::AtLeast(30, is_alnum_byte)),
    TokenPrefix("gho_", SecretKind::GithubToken, TokenBody::AtLeast(30, is_alnum_byte)),
    TokenPrefix("ghu_", SecretKind::GithubToken, TokenBody::AtLeast(30, is_alnum_byte)),
    TokenPrefix("ghs_", SecretKind::GithubToken, TokenBody::AtLeast(30, is_alnum_byte)),
    TokenPrefix("ghr_", SecretKind::GithubToken, TokenBody::AtLeast(30, is_alnum_byte)),
    TokenPrefix("github_pat_", SecretKind::GithubToken, TokenBody::AtLeast(22, is_dashed_byte)),
    TokenPrefix("glpat-", SecretKind::GitlabToken, TokenBody::AtLeast(20, is_dotted_byte)),
    TokenPrefix("glrt-", SecretKind::GitlabToken, TokenBody::AtLeast(20, is_dotted_byte)),
    TokenPrefix("gldt-", SecretKind::GitlabToken, TokenBody::AtLeast(20, is_dotted_byte)),
    TokenPrefix("glptt-", SecretKind::GitlabToken, TokenBody::AtLeast(20, is_dotted_byte)),
    TokenPrefix("xoxa-", SecretKind::SlackToken, TokenBody::AtLeast(10, is_dashed_byte)),
    TokenPrefix("xoxb-", SecretKind::SlackToken, TokenBody::AtLeast(10, is_dashed_byte)),
    TokenPrefix("xoxo-", SecretKind::SlackToken, TokenBody::AtLeast(10, is_dashed_byte)),
    TokenPrefix("xoxp-", SecretKind::SlackToken, TokenBody::AtLeast(10, is_dashed_byte)),
    TokenPrefix("xoxr-", SecretKind::SlackToken, TokenBody::AtLeast(10, is_dashed_byte)),
    TokenPrefix("xoxs-", SecretKind::SlackToken, TokenBody::AtLeast(10, is_dashed_byte)),
    TokenPrefix("xoxe", SecretKind::SlackToken, TokenBody::Random(20, is_dotted_byte)),
    TokenPrefix("xapp-", SecretKind::SlackToken, TokenBody::Random(20, is_dashed_byte)),
    TokenPrefix("hooks.slack.com/services/", SecretKind::SlackToken, TokenBody::AtLeast(20, is_slashed_byte)),
    TokenPrefix("AIza", SecretKind::GoogleKey, TokenBody::AtLeast(30, is_dashed_byte)),
    TokenPrefix("ya29.", SecretKind::GoogleKey, TokenBody::AtLeast(20, is_dotted_byte)),
    TokenPrefix("GOCSPX-", SecretKind::GoogleKey, TokenBody::AtLeast(20, is_dashed_byte)),
    TokenPrefix("sk_live_", SecretKind::StripeKey, TokenBody::AtLeast(16, is_alnum_byte)),
    TokenPrefix("sk_test_", SecretKind::StripeKey, TokenBody::AtLeast(16, is_alnum_byte)),
    TokenPrefix("rk_live_", SecretKind::StripeKey, TokenBody::AtLeast(16, is_alnum_byte)),
    TokenPrefix("rk_test_", SecretKind::StripeKey, TokenBody::AtLeast(16, is_alnum_byte)),
    TokenPrefix("whsec_", SecretKind::StripeKey, TokenBody::AtLeast(20, is_base64_byte)),
    TokenPrefix("npm_", SecretKind::NpmToken, TokenBody::AtLeast(30, is_alnum_byte)),
    TokenPrefix("pypi-AgE", SecretKind::Token, TokenBody::AtLeast(40, is_dashed_byte)),
    TokenPrefix("SG.", SecretKind::Token, TokenBody::Random(40, is_dotted_byte)),
    TokenPrefix("dop_v1_", SecretKind::Token, TokenBody::AtLeast(40, is_alnum_byte)),
    TokenPrefix("dckr_pat_", SecretKind::Token, TokenBody::AtLeast(20, is_dashed_byte)),
    TokenPrefix("shpat_", SecretKind::Token, TokenBody::AtLeast(32, is_alnum_byte)),
    TokenPrefix("lin_api_", SecretKind::Token, TokenBody::AtLeast(30, is_alnum_byte)),
    TokenPrefix("sbp_", SecretKind::Token, TokenBody::AtLeast(40, is_alnum_byte)),
    TokenPrefix("tskey-", SecretKind::Token, TokenBody::Random(20, is_dashed_byte)),
    TokenPrefix("rubygems_", SecretKind::Token, TokenBody::AtLeast(40, is_alnum_byte)),
    TokenPrefix("AGE-SECRET-KEY-1", SecretKind::PrivateKey, TokenBody::AtLeast(40, is_upper_or_digit_byte)),
];

/// Registers the byte pairs that can start a match of these rules, and the pairs that must follow, overlapping by one
/// byte.
pub(super) fn add_triggers(triggers: &mut TriggerPairs, seconds: &mut TriggerPairs) {
    let others: [&[u8]; 5] = [b"eyJ", b"Bea", b"bea", b"BEA", b"pas"];
    for text in PREFIXES.iter().map(|prefix| prefix.0.as_bytes()).chain(others) {
        triggers.add(text[0], text[1]);
        seconds.add(text[1], text[2]);
    }
    triggers.add(b':', b'/');
}

/// Judges a token that starts at `at`.
pub(super) fn judge_token(input: ScanInput<'_>, at: usize) -> RedactionVerdict {
    if !input.starts_token(at) {
        return Ok(None);
    }
    match input.bytes[at] {
        b'e' => judge_jwt(input, at),
        b'p' if input.starts_with(at, b"password")? => judge_netrc(input, at),
        b'b' | b'B' => judge_bearer(input, at),
        first => {
            let begins = |prefix: &&TokenPrefix| prefix.0.as_bytes()[0] == first;
            for TokenPrefix(text, kind, body) in PREFIXES.iter().filter(begins) {
                if input.starts_with(at, text.as_bytes())?
                    && let Some((end, class)) = body_end(input, at + text.len(), body)?
                {
                    return Ok(Some(SecretHit {
                        span: at..end,
                        kind: *kind,
                        rest: SecretRemainder::Run(class),
                    }));
                }
            }
            Ok(None)
        }
    }
}

fn body_end(
    input: ScanInput<'_>,
    at: usize,
    body: &TokenBody,
) -> Result<Option<(usize, ByteClass)>, NeedsMoreInput> {
    let (least, class) = match body {
        TokenBody::AtLeast(least, class)
        | TokenBody::Exactly(least, class)
        | TokenBody::Random(least, class) => (*least, *class),
    };
    let end = input.run_end(at, MAX_JUDGED_BYTES, class)?;
    let fits = match body {
        TokenBody::AtLeast(..) => end - at >= least,
        TokenBody::Exactly(..) => {
            end - at == least
                && !input.byte_at(end)?.is_some_and(|byte| is_alnum_byte(byte) || byte == b'_')
        }
        TokenBody::Random(..) => {
            let body = &input.bytes[at..end];
            end - at >= least
                && (ValueShape::from_bytes(body).is_random() || has_unbroken_run(body))
        }
    };
    Ok(fits.then_some((end, class)))
}

/// Returns whether a body is not a name made of words, although it does not look random: the letters of a key may be in
/// alphabetical order. Names are joined by dashes, and hardly any word has this many letters.
fn has_unbroken_run(body: &[u8]) -> bool {
    body.split(|byte| !is_alnum_byte(*byte)).any(|run| {
        let shape = ValueShape::from_bytes(run);
        run.len() >= 24 || run.len() >= 20 && shape.digits >= 2
    })
}

/// Judges a web token by its first two parts: `eyJ….…`; the signature is consumed with them.
fn judge_jwt(input: ScanInput<'_>, at: usize) -> RedactionVerdict {
    if !input.starts_with(at, b"eyJ")? {
        return Ok(None);
    }
    // In hostile text a token could start at every dash, each of them read to the end.
    let longest =
        if input.byte_before(at) == Some(b'-') { MAX_JUDGED_BYTES } else { MAX_JWT_HEADER };
    let dot = input.run_end(at, longest, is_dashed_byte)?;
    if dot - at < 12 || input.byte_at(dot)? != Some(b'.') {
        return Ok(None);
    }
    let end = input.run_end(dot + 1, 16, is_dashed_byte)?;
    let long = end == dot + 17;
    Ok(long.then_some(SecretHit {
        span: at..end,
        kind: SecretKind::Jwt,
        rest: SecretRemainder::Run(is_dotted_byte),
    }))
}

fn judge_bearer(input: ScanInput<'_>, at: usize) -> RedactionVerdict {
    if !input.starts_with_any_case(at, b"bearer ")? {
        return Ok(None);
    }
    judge_credential(input, input.run_end(at + 7, 8, |byte| byte == b' ')?, 16)
}

/// Judges a line of a `.netrc` file: `machine HOST login NAME password …`, also over several lines.
fn judge_netrc(input: ScanInput<'_>, at: usize) -> RedactionVerdict {
    let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let start = input.run_end(at + 8, MAX_BLANKS, blank)?;
    let before = &input.bytes[at.saturating_sub(CONTEXT - 1)..at];
    let mut words = before.split(|byte| blank(*byte)).filter(|word| !word.is_empty()).rev();
    let named = words.nth(1) == Some(b"login");
    if start == at + 8
        || !named
        || !words.take(3).any(|word| matches!(word, b"machine" | b"default"))
    {
        return Ok(None);
    }
    let end = input.run_end(start, MAX_JUDGED_BYTES, |byte| !blank(byte))?;
    let secret = &input.bytes[start..end];
    let hit = SecretHit {
        span: start..end,
        kind: SecretKind::Password,
        rest: SecretRemainder::Run(is_graphic_byte),
    };
    Ok((!secret.is_empty() && !is_placeholder(secret)).then_some(hit))
}

/// Judges what follows the name of a scheme, as in `Bearer …` and `Basic …`.
pub(super) fn judge_credential(input: ScanInput<'_>, at: usize, least: usize) -> RedactionVerdict {
    let end = input.run_end(at, MAX_JUDGED_BYTES, is_credential_byte)?;
    let token = &input.bytes[at..end];
    let shape = ValueShape::from_bytes(token);
    let secret = token.len() >= least && (shape.digits > 0 || shape.lower > 0 && shape.upper > 1);
    let hit = SecretHit {
        span: at..end,
        kind: SecretKind::Authorization,
        rest: SecretRemainder::Run(is_credential_byte),
    };
    Ok((secret && !is_placeholder(token)).then_some(hit))
}

/// Judges the URL whose `://` starts at `at`: a password before its host, or a token in place of a user.
pub(super) fn judge_url(input: ScanInput<'_>, at: usize) -> RedactionVerdict {
    if !input.starts_with(at, b"://")? {
        return Ok(None);
    }
    let start = at + 3;
    let end = input.run_end(start, MAX_USERINFO, is_userinfo_byte)?;
    let authority = &input.bytes[start..end];
    let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') else { return Ok(None) };
    let colon = authority[..sign].iter().position(|byte| *byte == b':');
    let from = colon.map_or(0, |colon| colon + 1);
    let secret = &authority[from..sign];
    let found = match colon {
        Some(_) => !secret.is_empty() && !is_placeholder(secret),
        None => ValueShape::from_bytes(secret).is_random(),
    };
    let found = found && !contains_bytes(authority, LABEL);
    let hit = SecretHit {
        span: start + from..start + sign,
        kind: SecretKind::UrlPassword,
        rest: SecretRemainder::Nothing,
    };
    Ok(found.then_some(hit))
}

fn is_graphic_byte(byte: u8) -> bool {
    byte > b' ' && byte != 0x7F
}

fn is_alnum_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_upper_or_digit_byte(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_dashed_byte(byte: u8) -> bool {
    is_alnum_byte(byte) || matches!(byte, b'_' | b'-')
}

fn is_dotted_byte(byte: u8) -> bool {
    is_dashed_byte(byte) || byte == b'.'
}

fn is_slashed_byte(byte: u8) -> bool {
    is_alnum_byte(byte) || byte == b'/'
}

fn is_base64_byte(byte: u8) -> bool {
    is_alnum_byte(byte) || matches!(byte, b'+' | b'/' | b'=')
}

fn is_credential_byte(byte: u8) -> bool {
    is_alnum_byte(byte) || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b':')
}

fn is_userinfo_byte(byte: u8) -> bool {
    byte > b' ' && byte != 0x7F && !b"/?#\"'<>`\\(){}|,;".contains(&byte)
}
