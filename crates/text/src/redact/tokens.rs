//! Secrets that can be told by their own shape: keys with a vendor's prefix, web tokens, bearer tokens, passwords in
//! addresses.

use super::Kind;
use super::scan::{CONTEXT, Class, Hit, Input, NeedMore, Rest, Triggers, Verdict};
use super::value::{LABEL, Shape, contains, is_placeholder};

/// How much of a token is read to judge it; the rest is swallowed unseen.
const LOOK: usize = 128;
/// Longest web token header that is recognised.
const MAX_JWT_HEADER: usize = 2_048;
/// Longest user and password in an address.
const MAX_USERINFO: usize = 512;
/// Most blanks between the words of a `.netrc` file.
const MAX_BLANKS: usize = 16;

/// What must follow a prefix.
enum Body {
    /// At least so many bytes of a class.
    AtLeast(usize, Class),
    /// Exactly so many, as longer runs are something else.
    Exactly(usize, Class),
    /// At least so many that look random, because the prefix alone proves little.
    Random(usize, Class),
}

struct Prefix(&'static str, Kind, Body);

#[rustfmt::skip]
const PREFIXES: &[Prefix] = &[
    Prefix("AKIA", Kind::AwsKey, Body::Exactly(16, upper_digit)),
    Prefix("ASIA", Kind::AwsKey, Body::Exactly(16, upper_digit)),
    Prefix("ABIA", Kind::AwsKey, Body::Exactly(16, upper_digit)),
    Prefix("ACCA", Kind::AwsKey, Body::Exactly(16, upper_digit)),
    Prefix("sk-ant-", Kind::ApiKey, Body::AtLeast(16, dashed)),
    Prefix("sk-proj-", Kind::ApiKey, Body::Random(20, dashed)),
    Prefix("sk-or-v1-", Kind::ApiKey, Body::AtLeast(20, dashed)),
    Prefix("sk-", Kind::ApiKey, Body::Random(20, dashed)),
    Prefix("xai-", Kind::ApiKey, Body::Random(20, dashed)),
    Prefix("gsk_", Kind::ApiKey, Body::Random(20, alnum)),
    Prefix("pplx-", Kind::ApiKey, Body::Random(20, alnum)),
    Prefix("nvapi-", Kind::ApiKey, Body::Random(20, dashed)),
    Prefix("tvly-", Kind::ApiKey, Body::Random(16, dashed)),
    Prefix("r8_", Kind::ApiKey, Body::Random(30, alnum)),
    Prefix("hf_", Kind::ApiKey, Body::AtLeast(30, alnum)),
    Prefix("ghp_", Kind::GithubToken, Body::AtLeast(30, alnum)),
    Prefix("gho_", Kind::GithubToken, Body::AtLeast(30, alnum)),
    Prefix("ghu_", Kind::GithubToken, Body::AtLeast(30, alnum)),
    Prefix("ghs_", Kind::GithubToken, Body::AtLeast(30, alnum)),
    Prefix("ghr_", Kind::GithubToken, Body::AtLeast(30, alnum)),
    Prefix("github_pat_", Kind::GithubToken, Body::AtLeast(22, dashed)),
    Prefix("glpat-", Kind::GitlabToken, Body::AtLeast(20, dotted)),
    Prefix("glrt-", Kind::GitlabToken, Body::AtLeast(20, dotted)),
    Prefix("gldt-", Kind::GitlabToken, Body::AtLeast(20, dotted)),
    Prefix("glptt-", Kind::GitlabToken, Body::AtLeast(20, dotted)),
    Prefix("xoxa-", Kind::SlackToken, Body::AtLeast(10, dashed)),
    Prefix("xoxb-", Kind::SlackToken, Body::AtLeast(10, dashed)),
    Prefix("xoxo-", Kind::SlackToken, Body::AtLeast(10, dashed)),
    Prefix("xoxp-", Kind::SlackToken, Body::AtLeast(10, dashed)),
    Prefix("xoxr-", Kind::SlackToken, Body::AtLeast(10, dashed)),
    Prefix("xoxs-", Kind::SlackToken, Body::AtLeast(10, dashed)),
    Prefix("xoxe", Kind::SlackToken, Body::Random(20, dotted)),
    Prefix("xapp-", Kind::SlackToken, Body::Random(20, dashed)),
    Prefix("hooks.slack.com/services/", Kind::SlackToken, Body::AtLeast(20, slashed)),
    Prefix("AIza", Kind::GoogleKey, Body::AtLeast(30, dashed)),
    Prefix("ya29.", Kind::GoogleKey, Body::AtLeast(20, dotted)),
    Prefix("GOCSPX-", Kind::GoogleKey, Body::AtLeast(20, dashed)),
    Prefix("sk_live_", Kind::StripeKey, Body::AtLeast(16, alnum)),
    Prefix("sk_test_", Kind::StripeKey, Body::AtLeast(16, alnum)),
    Prefix("rk_live_", Kind::StripeKey, Body::AtLeast(16, alnum)),
    Prefix("rk_test_", Kind::StripeKey, Body::AtLeast(16, alnum)),
    Prefix("whsec_", Kind::StripeKey, Body::AtLeast(20, base64)),
    Prefix("npm_", Kind::NpmToken, Body::AtLeast(30, alnum)),
    Prefix("pypi-AgE", Kind::Token, Body::AtLeast(40, dashed)),
    Prefix("SG.", Kind::Token, Body::Random(40, dotted)),
    Prefix("dop_v1_", Kind::Token, Body::AtLeast(40, alnum)),
    Prefix("dckr_pat_", Kind::Token, Body::AtLeast(20, dashed)),
    Prefix("shpat_", Kind::Token, Body::AtLeast(32, alnum)),
    Prefix("lin_api_", Kind::Token, Body::AtLeast(30, alnum)),
    Prefix("sbp_", Kind::Token, Body::AtLeast(40, alnum)),
    Prefix("tskey-", Kind::Token, Body::Random(20, dashed)),
    Prefix("rubygems_", Kind::Token, Body::AtLeast(40, alnum)),
    Prefix("AGE-SECRET-KEY-1", Kind::PrivateKey, Body::AtLeast(40, upper_digit)),
];

/// Names the pairs of bytes these rules begin with, and the pairs that must follow, overlapping by one.
pub(super) fn add_triggers(triggers: &mut Triggers, seconds: &mut Triggers) {
    let others: [&[u8]; 5] = [b"eyJ", b"Bea", b"bea", b"BEA", b"pas"];
    for text in PREFIXES.iter().map(|prefix| prefix.0.as_bytes()).chain(others) {
        triggers.add(text[0], text[1]);
        seconds.add(text[1], text[2]);
    }
    triggers.add(b':', b'/');
}

/// Judges a token that begins at `at`.
pub(super) fn judge(input: Input<'_>, at: usize) -> Verdict {
    if !input.starts_token(at) {
        return Ok(None);
    }
    match input.bytes[at] {
        b'e' => judge_jwt(input, at),
        b'p' if input.starts_with(at, b"password")? => judge_netrc(input, at),
        b'b' | b'B' => judge_bearer(input, at),
        first => {
            let begins = |prefix: &&Prefix| prefix.0.as_bytes()[0] == first;
            for Prefix(text, kind, body) in PREFIXES.iter().filter(begins) {
                if input.starts_with(at, text.as_bytes())?
                    && let Some((end, class)) = body_end(input, at + text.len(), body)?
                {
                    return Ok(Some(Hit { span: at..end, kind: *kind, rest: Rest::Run(class) }));
                }
            }
            Ok(None)
        }
    }
}

fn body_end(input: Input<'_>, at: usize, body: &Body) -> Result<Option<(usize, Class)>, NeedMore> {
    let (least, class) = match body {
        Body::AtLeast(least, class) | Body::Exactly(least, class) | Body::Random(least, class) => {
            (*least, *class)
        }
    };
    let end = input.run(at, LOOK, class)?;
    let fits = match body {
        Body::AtLeast(..) => end - at >= least,
        Body::Exactly(..) => {
            end - at == least && !input.get(end)?.is_some_and(|byte| alnum(byte) || byte == b'_')
        }
        Body::Random(..) => {
            let body = &input.bytes[at..end];
            end - at >= least && (Shape::of(body).is_random() || has_unbroken_run(body))
        }
    };
    Ok(fits.then_some((end, class)))
}

/// Returns whether a body is no name of words, although it does not look random: keys may have their letters in order.
/// Names are joined by dashes, and hardly a word has so many letters.
fn has_unbroken_run(body: &[u8]) -> bool {
    body.split(|byte| !alnum(*byte)).any(|run| {
        let shape = Shape::of(run);
        run.len() >= 24 || run.len() >= 20 && shape.digits >= 2
    })
}

/// Judges a web token by its first two parts: `eyJ….…`; the signature is swallowed with them.
fn judge_jwt(input: Input<'_>, at: usize) -> Verdict {
    if !input.starts_with(at, b"eyJ")? {
        return Ok(None);
    }
    // Hostile text could have one begin at every dash, each of them read to the end.
    let longest = if input.before(at) == Some(b'-') { LOOK } else { MAX_JWT_HEADER };
    let dot = input.run(at, longest, dashed)?;
    if dot - at < 12 || input.get(dot)? != Some(b'.') {
        return Ok(None);
    }
    let end = input.run(dot + 1, 16, dashed)?;
    let long = end == dot + 17;
    Ok(long.then_some(Hit { span: at..end, kind: Kind::Jwt, rest: Rest::Run(dotted) }))
}

fn judge_bearer(input: Input<'_>, at: usize) -> Verdict {
    if !input.starts_with_any_case(at, b"bearer ")? {
        return Ok(None);
    }
    judge_credential(input, input.run(at + 7, 8, |byte| byte == b' ')?, 16)
}

/// Judges a line of a `.netrc` file: `machine HOST login NAME password …`, also over several lines.
fn judge_netrc(input: Input<'_>, at: usize) -> Verdict {
    let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let start = input.run(at + 8, MAX_BLANKS, blank)?;
    let before = &input.bytes[at.saturating_sub(CONTEXT - 1)..at];
    let mut words = before.split(|byte| blank(*byte)).filter(|word| !word.is_empty()).rev();
    let named = words.nth(1) == Some(b"login");
    if start == at + 8
        || !named
        || !words.take(3).any(|word| matches!(word, b"machine" | b"default"))
    {
        return Ok(None);
    }
    let end = input.run(start, LOOK, |byte| !blank(byte))?;
    let secret = &input.bytes[start..end];
    let hit = Hit { span: start..end, kind: Kind::Password, rest: Rest::Run(graphic) };
    Ok((!secret.is_empty() && !is_placeholder(secret)).then_some(hit))
}

/// Judges what follows the name of a scheme, as in `Bearer …` and `Basic …`.
pub(super) fn judge_credential(input: Input<'_>, at: usize, least: usize) -> Verdict {
    let end = input.run(at, LOOK, credential)?;
    let token = &input.bytes[at..end];
    let shape = Shape::of(token);
    let secret = token.len() >= least && (shape.digits > 0 || shape.lower > 0 && shape.upper > 1);
    let hit = Hit { span: at..end, kind: Kind::Authorization, rest: Rest::Run(credential) };
    Ok((secret && !is_placeholder(token)).then_some(hit))
}

/// Judges the address whose `://` begins at `at`: a password before its host, or a token in place of a user.
pub(super) fn judge_address(input: Input<'_>, at: usize) -> Verdict {
    if !input.starts_with(at, b"://")? {
        return Ok(None);
    }
    let start = at + 3;
    let end = input.run(start, MAX_USERINFO, userinfo)?;
    let authority = &input.bytes[start..end];
    let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') else { return Ok(None) };
    let colon = authority[..sign].iter().position(|byte| *byte == b':');
    let from = colon.map_or(0, |colon| colon + 1);
    let secret = &authority[from..sign];
    let found = match colon {
        Some(_) => !secret.is_empty() && !is_placeholder(secret),
        None => Shape::of(secret).is_random(),
    };
    let found = found && !contains(authority, LABEL);
    let hit =
        Hit { span: start + from..start + sign, kind: Kind::UrlPassword, rest: Rest::Nothing };
    Ok(found.then_some(hit))
}

fn graphic(byte: u8) -> bool {
    byte > b' ' && byte != 0x7F
}

fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn upper_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn dashed(byte: u8) -> bool {
    alnum(byte) || matches!(byte, b'_' | b'-')
}

fn dotted(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}

fn slashed(byte: u8) -> bool {
    alnum(byte) || byte == b'/'
}

fn base64(byte: u8) -> bool {
    alnum(byte) || matches!(byte, b'+' | b'/' | b'=')
}

fn credential(byte: u8) -> bool {
    alnum(byte) || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b':')
}

fn userinfo(byte: u8) -> bool {
    byte > b' ' && byte != 0x7F && !b"/?#\"'<>`\\(){}|,;".contains(&byte)
}
