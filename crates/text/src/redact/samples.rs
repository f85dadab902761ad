//! Made-up secrets for tests: a table of shapes, filled by a small generator, so that no source file contains a
//! complete one.

/// A shape: letters in braces are generated (`{a36}` is 36 letters and digits), the rest is literal.
#[rustfmt::skip]
const SHAPES: [&str; 50] = [
    "AKIA{U16}", "ASIA{U16}", "sk-ant-api03-{a40}-{a20}AA", "sk-{a48}", "sk-proj-{a40}_{a20}", "sk-or-v1-{h64}",
    "ghp_{a36}", "gho_{a36}", "ghs_{a36}", "github_pat_{a22}_{a59}", "glpat-{a20}", "xoxb-{d12}-{d12}-{a24}",
    "xoxp-{d12}-{d12}-{h32}", "AIza{a35}", "ya29.{a60}", "sk_live_{a24}", "rk_test_{a24}", "npm_{a36}", "hf_{a34}",
    "eyJ{a30}.eyJ{a60}.{a43}", "dop_v1_{h64}", "SG.{a22}.{a43}", "https://hooks.slack.com/services/T{U8}/B{U8}/{a24}",
    "Authorization: Bearer {a40}", "authorization: Basic {a24}==", "\"Authorization\": \"token {h40}\"",
    "-H 'Authorization: Bearer {a32}'", "Bearer {a64}", "PASSWORD={a12}", "export DB_PASSWORD={a16}", "password={a14}",
    "password: {a12}9", "\"password\": \"{a12}!\"", "passwd = '{a10}#7'", "api_key={a32}", "API_KEY=\"{a32}\"",
    "\"apiKey\": \"{h32}\"", "secret_key: {a40}", "aws_secret_access_key = {a40}", "client_secret: \"{a24}\"",
    "https://x.test/?user=a&token={a20}&x=1", "https://x.test/cb?access_token={h40}", "postgres://app:{a12}@db/x",
    "https://{a40}@git.test/r.git", "--password {a14}7", "--token={a30}", "<password>{a12}</password>",
    "{\\\"client_secret\\\":\\\"{a30}\\\"}", "const API_TOKEN: &str = \"{a30}\";", "headers.set(\"x-api-key\", \"{a32}\")",
];

/// A made-up secret in its context, and the part that must not survive.
pub(super) struct Sample {
    pub(super) text: String,
    pub(super) secret: String,
}

/// Makes 200 samples and one private key block.
pub(super) fn samples() -> Vec<Sample> {
    let mut seed = 42;
    let mut made: Vec<_> =
        (0..4).flat_map(|_| SHAPES).map(|shape| fill(shape, &mut seed)).collect();
    made.push(private_key(&mut seed));
    made
}

fn private_key(seed: &mut u64) -> Sample {
    let lines: Vec<_> = (0..12).map(|_| drawn('a', 64, seed)).collect();
    let title = "PRIVATE KEY-----";
    let text = format!("-----BEGIN RSA {title}\n{}\n-----END RSA {title}", lines.join("\n"));
    Sample { text, secret: lines[5].clone() }
}

fn fill(shape: &str, seed: &mut u64) -> Sample {
    let mut text = String::new();
    let mut secret = String::new();
    let mut rest = shape;
    while let Some((before, after)) = rest.split_once('{') {
        let slot = after
            .split_once('}')
            .filter(|(slot, _)| slot.get(1..).is_some_and(|n| n.parse::<usize>().is_ok()));
        text.push_str(before);
        let Some((slot, after)) = slot else {
            text.push('{');
            rest = after;
            continue;
        };
        let (class, len) = slot.split_at(1);
        let part = drawn(class.chars().next().unwrap(), len.parse().unwrap(), seed);
        text.push_str(&part);
        // The longest part is the one to search for.
        if part.len() > secret.len() {
            secret = part;
        }
        rest = after;
    }
    text.push_str(rest);
    Sample { text, secret }
}

/// Generates characters of a class.
fn drawn(class: char, len: usize, seed: &mut u64) -> String {
    let alphabet: &[u8] = match class {
        'a' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        'U' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        'h' => b"0123456789abcdef",
        _ => b"0123456789",
    };
    let mut next = || {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(alphabet[(*seed >> 33) as usize % alphabet.len()])
    };
    (0..len).map(|_| next()).collect()
}
