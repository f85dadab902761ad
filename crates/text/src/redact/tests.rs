use super::samples::samples;
use super::*;
use proptest::prelude::*;

fn redact(text: &str) -> String {
    Redactor::default().redact(text).into_owned()
}

fn streamed(redactor: &Redactor, pieces: &[&str]) -> String {
    let mut stream = redactor.start_stream();
    let mut out: String = pieces.iter().map(|piece| stream.push(piece)).collect();
    out.push_str(&stream.finish());
    out
}

#[test]
fn tokens_are_replaced_and_their_surroundings_kept() {
    let token = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";
    let cases = [
        ("key AKIA0123456789ABCDEF ok", "key [redacted:aws_key] ok"),
        ("x=ghp_TOKEN, y", "x=[redacted:github_token], y"),
        (r#""a\nsk-ant-api03-TOKEN""#, r#""a\n[redacted:api_key]""#),
        ("Authorization: Bearer TOKEN\r\n", "Authorization: Bearer [redacted:authorization]\r\n"),
        (r#"let key: &str = "TOKEN";"#, r#"let key: &str = "[redacted:secret]";"#),
        ("https://TOKEN@host/x", "https://[redacted:url_password]@host/x"),
    ];
    for (text, expected) in cases {
        assert_eq!(redact(&text.replace("TOKEN", token)), expected);
    }
}

#[test]
fn named_values_are_replaced_and_their_surroundings_kept() {
    let cases = [
        ("https://me:hunter2@host/x", "https://me:[redacted:url_password]@host/x"),
        ("DB_PASSWORD=hunter2 next", "DB_PASSWORD=[redacted:password] next"),
        (r#"{"password": "hunter2", "a": 1}"#, r#"{"password": "[redacted:password]", "a": 1}"#),
        (r#"{\"password\":\"hunter2\"}"#, r#"{\"password\":\"[redacted:password]\"}"#),
        (r"PASSWORD=hunter2\nHOME=/root", r"PASSWORD=[redacted:password]\nHOME=/root"),
        ("/cb?token=abcd1234efgh&next=1", "/cb?token=[redacted:secret]&next=1"),
        ("deploy --password hunter2 now", "deploy --password [redacted:password] now"),
        ("<password>hunter2</password>", "<password>[redacted:password]</password>"),
        ("Server=x;Password=hunter2;", "Server=x;Password=[redacted:password];"),
        ("password=hunter2;db=x", "password=[redacted:password];db=x"),
        ("API_KEY_2=\"abc123def", "API_KEY_2=\"[redacted:secret]"),
        ("?password=%24ecret&x", "?password=[redacted:password]&x"),
        ("  password: hunter2\n", "  password: [redacted:password]\n"),
    ];
    for (text, expected) in cases {
        assert_eq!(redact(text), expected);
    }
}

/// Keys need not look random, and passwords appear in other contexts than after `password=`.
#[test]
fn keys_in_order_and_passwords_of_tools_are_replaced() {
    let ordered = "abcdefghijklmnopqrstuvwxyz";
    let cases = [
        ("sk-KEY", "[redacted:api_key]"),
        ("sk-KEY0123456789", "[redacted:api_key]"),
        ("sk-proj-KEY", "[redacted:api_key]"),
        ("gsk_KEY", "[redacted:api_key]"),
        ("SECRET_KEY=KEY", "SECRET_KEY=[redacted:secret]"),
        ("curl -u me:hunter2 x", "curl -u me:[redacted:password] x"),
        ("curl -s -u 'me:hunter2' x", "curl -s -u 'me:[redacted:password]' x"),
        ("curl -ume:hunter2 x", "curl -ume:[redacted:password] x"),
        ("curl --user me:hunter2 x", "curl --user me:[redacted:password] x"),
        ("curl --user=me:hunter2 x", "curl --user=me:[redacted:password] x"),
        ("curl --proxy-user me:hunter2 x", "curl --proxy-user me:[redacted:password] x"),
        (
            "machine x.test login me password hunter2\n",
            "machine x.test login me password [redacted:password]\n",
        ),
        (
            "machine x.test\n\tlogin me\n\tpassword hunter2\n",
            "machine x.test\n\tlogin me\n\tpassword [redacted:password]\n",
        ),
        ("default login me password hunter2", "default login me password [redacted:password]"),
    ];
    let redactor = Redactor::default();
    for (text, expected) in cases {
        let text =
            text.replace("KEY0", &format!("{ordered}0")).replace("-KEY", &format!("-{ordered}"));
        let text = text.replace("_KEY=KEY", &format!("_KEY={ordered}"));
        let text = text.replace("gsk_KEY", &format!("gsk_{ordered}"));
        assert_eq!(redactor.redact(&text), expected, "{text}");
        for cut in 0..text.len() {
            assert_eq!(streamed(&redactor, &[&text[..cut], &text[cut..]]), expected, "{text}");
        }
    }
    for innocent in [
        "sk-internationalization-guide",
        "docker run -u 1000:1000 image",
        "sort -u a:b",
        "a machine login page asks for password and more",
        "curl -u me https://x.test",
        "curl -u $NAME:$PASS https://x.test",
    ] {
        assert_eq!(redactor.redact(innocent), innocent);
    }
}

#[test]
fn leaves_ordinary_lines_alone() {
    let lines = include_str!("testdata/innocent.txt");
    for line in lines.lines() {
        assert_eq!(redact(line), line);
    }
    assert!(matches!(Redactor::default().redact(lines), Cow::Borrowed(_)));
}

#[test]
fn leaves_our_own_source_alone() {
    let sources = [
        include_str!("assignment.rs"),
        include_str!("literal.rs"),
        include_str!("loaded_secrets.rs"),
        include_str!("mod.rs"),
        include_str!("pem.rs"),
        include_str!("samples.rs"),
        include_str!("scan.rs"),
        include_str!("stream.rs"),
        include_str!("tokens.rs"),
        include_str!("value_shape.rs"),
        include_str!("../clean.rs"),
        include_str!("../units.rs"),
        include_str!("../wrap.rs"),
    ];
    for source in sources {
        assert_eq!(redact(source), source);
    }
}

#[test]
fn every_sample_is_found() {
    let redactor = Redactor::default();
    for sample in samples() {
        let redacted = redactor.redact(&sample.text);
        assert!(!redacted.contains(&sample.secret), "{} -> {redacted}", sample.text);
        assert_eq!(redactor.redact(&redacted), redacted, "redacting again changes {}", sample.text);
        assert!(redactor.would_change(&sample.text) && !redactor.would_change(&redacted));
    }
}

#[test]
fn every_sample_is_found_at_every_split_of_a_stream() {
    let redactor = Redactor::default();
    for sample in samples().iter().take(50).chain(samples().last()) {
        let text = format!("before é {} after, and more\n", sample.text);
        let expected = redactor.redact(&text);
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            assert_eq!(streamed(&redactor, &[&text[..cut], &text[cut..]]), expected);
        }
        let letters: Vec<_> = text.split_inclusive(|_| true).collect();
        assert_eq!(streamed(&redactor, &letters), expected);
    }
}

#[test]
fn key_blocks_end_at_their_footer() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nq83vEjRWeJq83vEjRWeJq83vEjRWeJ\n";
    let (begin, end) =
        (["-----BEGIN", "PRIVATE KEY-----"].join(" "), ["-----END", "PRIVATE KEY-----"].join(" "));
    assert_eq!(redact(&format!("a\n{begin}\n{body}{end}\nb")), "a\n[redacted:private_key]\nb");
    let json = format!(
        "{{\"private_key\": \"{begin}\\n{}\\n{end}\\n\", \"id\": 1}}",
        body.replace('\n', "\\n")
    );
    assert_eq!(redact(&json), "{\"private_key\": \"[redacted:private_key]\\n\", \"id\": 1}");
    let cut = format!("{begin}\n{body}and here is the rest of the log, which goes on");
    assert_eq!(redact(&cut), "[redacted:private_key] of the log, which goes on");
    let named = format!("if text.contains(\"{begin}\") {{ warn() }}");
    assert_eq!(redact(&named), named);
    let endless = format!("{begin}\n{}", body.repeat(2_000));
    assert!(redact(&endless).len() > 1_000);
}

#[test]
fn long_secrets_are_consumed_to_their_end() {
    let long = "a1B2".repeat(20_000);
    for text in [
        format!("sk-ant-{long}"),
        format!("TOKEN={long}"),
        format!("eyJ{}.{long}.{long}", "a1B2".repeat(9)),
    ] {
        let redacted = redact(&format!("{text} end"));
        assert!(
            redacted.len() < 40 && redacted.ends_with(" end"),
            "{}",
            &redacted[..80.min(redacted.len())]
        );
    }
    assert_eq!(redact(&format!("\"token\": \"{long}\",")), "\"token\": \"[redacted:secret]\",");
}

#[test]
fn hostile_repetition_costs_linear_time() {
    let pieces = [
        "eyJ-",
        "sk-",
        "://",
        "a:b@",
        "token=",
        "token=\"",
        "--token ",
        "-",
        "= ",
        "-----BEGIN PRIVATE KEY-----",
        "\\",
    ];
    for piece in pieces {
        let text = piece.repeat(10_000 / piece.len());
        assert_eq!(streamed(&Redactor::default(), &[&text]), redact(&text), "{piece}");
    }
}

#[test]
fn streams_hold_back_little() {
    let redactor = Redactor::new(["loaded-secret-value"]);
    let mut stream = redactor.start_stream();
    let (mut given, mut longest) = (0, 0);
    for sample in samples() {
        let text = format!("plain words, then {} and words\n", sample.text);
        for piece in text.split_inclusive(' ') {
            given += piece.len();
            longest = longest.max(stream.held());
            stream.push(piece);
        }
    }
    assert!(given > 10_000 && longest < 1_024, "held {longest}");
}

#[test]
fn loaded_values_are_found_in_every_form() {
    let redactor = Redactor::new(["pa\"ss/wo rd-é", "two-lines-1\ntwo-lines-2\n", "", "abc"]);
    let text = "pa\"ss/wo rd-é|pa\\\"ss/wo rd-é|pa%22ss%2Fwo%20rd-%C3%A9|two-lines-2|abc";
    let label = "[redacted:loaded_key]";
    assert_eq!(redactor.redact(text), format!("{label}|{label}|{label}|{label}|abc"));
    assert!(!format!("{redactor:?}{:?}", redactor.start_stream()).contains("two-lines"));
    let found = redactor.find_secret("say two-lines-1").unwrap();
    assert_eq!((found.kind, found.span), (SecretKind::LoadedKey, 4..15));
}

#[test]
fn a_pattern_never_cuts_a_loaded_value() {
    let redactor = Redactor::new(["super1secret,part2"]);
    assert_eq!(redactor.redact("password=super1secret,part2;"), "password=[redacted:loaded_key];");
}

/// Text made of pieces that are significant to the rules.
fn suspicious() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "password",
        "token",
        "api_key",
        "Authorization",
        "Bearer ",
        "secret",
        "=",
        ": ",
        "\"",
        "'",
        "\\",
        "\\n",
        "\n",
        " ",
        "--",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "://",
        "user:",
        "@",
        "sk-",
        "sk-ant-",
        "ghp_",
        "eyJ",
        ".",
        "AKIA",
        "IOSFODNN7EXAMPLE",
        "a1B2c3D4e5F6g7H8",
        "0123456789abcdef",
        "hunter2",
        "é",
        "日",
        ",",
        "&",
        "?",
        "<",
        ">",
        "</",
        "(",
        "[redacted:password]",
        "x",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

fn cut(text: &str, places: &[prop::sample::Index]) -> Vec<String> {
    let mut ends: Vec<_> =
        places.iter().map(|place| text.floor_char_boundary(place.index(text.len() + 1))).collect();
    ends.extend([0, text.len()]);
    ends.sort_unstable();
    ends.windows(2).map(|ends| text[ends[0]..ends[1]].to_owned()).collect()
}

proptest! {
    #[test]
    fn a_stream_is_redacted_like_the_complete_text(
        text in suspicious(),
        key in "[a-zA-Z0-9:=/-]{6,20}",
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let redactor = Redactor::new([&key]);
        let text = text.replacen("hunter2", &key, 1);
        let pieces = cut(&text, &places);
        let pieces: Vec<_> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(streamed(&redactor, &pieces), redactor.redact(&text));
    }

    #[test]
    fn a_loaded_key_never_survives(
        before in suspicious(),
        after in suspicious(),
        key in "[!-~]{8,40}",
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let redactor = Redactor::new([&key]);
        let text = format!("{before}{key}{after}");
        let pieces = cut(&text, &places);
        let pieces: Vec<_> = pieces.iter().map(String::as_str).collect();
        prop_assert!(!streamed(&redactor, &pieces).contains(&key));
        prop_assert!(redactor.would_change(&text));
    }

    #[test]
    fn redaction_is_idempotent(text in suspicious()) {
        let once = redact(&text);
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let redactor = Redactor::new(["é secret"]);
        prop_assert_eq!(streamed(&redactor, &[&text]), redactor.redact(&text));
    }
}
