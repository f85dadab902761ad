//! Two hundred made-up secrets through everything that is written: none is in the database, its log, or an export.

use std::fmt::Write as _;
use std::path::Path;

use crate::program::Place;
use crate::torture::Random;

/// Shapes of secrets: letters in braces are random, so that no file contains a complete one.
const SHAPES: [&str; 20] = [
    "AKIA{U16}",
    "sk-ant-api03-{a40}-{a20}AA",
    "sk-proj-{a40}_{a20}",
    "ghp_{a36}",
    "github_pat_{a22}_{a59}",
    "glpat-{a20}",
    "xoxb-{d12}-{d12}-{a24}",
    "AIza{a35}",
    "sk_live_{a24}",
    "npm_{a36}",
    "eyJ{a30}.eyJ{a60}.{a43}",
    "Authorization: Bearer {a40}",
    "export DB_PASSWORD={a16}",
    "\"password\": \"{a12}!\"",
    "API_KEY=\"{a32}\"",
    "aws_secret_access_key = {a40}",
    "https://x.test/cb?access_token={h40}",
    "postgres://app:{a12}@db/x",
    "--token={a30}",
    "client_secret: \"{a24}\"",
];

/// A line with a secret, and its longest part, which must not appear anywhere.
fn sample(shape: &str, random: &mut Random) -> (String, String) {
    let (mut text, mut secret, mut rest) = (String::new(), String::new(), shape);
    while let Some((before, after)) = rest.split_once('{') {
        let (slot, after) = after.split_once('}').unwrap();
        let letters: &[u8] = match &slot[..1] {
            "a" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "U" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "h" => b"0123456789abcdef",
            _ => b"0123456789",
        };
        let drawn: String = (0..slot[1..].parse().unwrap())
            .map(|_: usize| char::from(*random.pick(letters)))
            .collect();
        let _ = write!(text, "{before}{drawn}");
        if drawn.len() > secret.len() {
            secret = drawn;
        }
        rest = after;
    }
    (text + rest, secret)
}

fn samples() -> Vec<(String, String)> {
    let mut random = Random(15);
    (0..200).map(|number| sample(SHAPES[number % SHAPES.len()], &mut random)).collect()
}

/// Everything below a directory, byte for byte, and what the program itself reports as stored.
fn written(dir: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(written(&path));
        } else {
            all.extend(std::fs::read(path).unwrap());
        }
    }
    all
}

fn survivors(text: &[u8], samples: &[(String, String)]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    samples
        .iter()
        .filter(|(_, secret)| text.contains(secret.as_str()))
        .map(|(line, _)| line.chars().take(12).collect())
        .collect()
}

#[test]
fn two_hundred_secrets_reach_neither_the_store_nor_an_export() {
    let samples = samples();
    let place = Place::new();
    let lines = samples.iter().map(|(line, _)| line.clone()).collect::<Vec<_>>().join("\n") + "\n";
    std::fs::write(place.work().join("said"), &lines).unwrap();
    // All at once, letter by letter as far as pipes allow, as an error, and as the reason of a failure.
    place.plan(
        "title = \"Says too much\"\n\
         [[tasks]]\nid = \"out\"\ndescription = \"x\"\nrun = { shell = \"cat said\" }\n\
         [[tasks]]\nid = \"err\"\ndescription = \"x\"\nrun = { shell = \"cat said >&2; exit 1\" }\n\
         [[tasks]]\nid = \"slow\"\ndescription = \"x\"\nrun = { shell = \"dd if=said bs=7 status=none\" }\n\
         [[tasks]]\nid = \"cut\"\ndescription = \"x\"\nrun = { shell = \"head -c 3000 said; sleep 0.2; tail -c +3001 said\" }\n",
    );
    let run = place.run(&["run", "../plan.toml", "--headless", "--yes", "--json"]);
    assert_eq!(run.status.code(), Some(1));
    let mut printed = run.stdout;
    printed.extend(run.stderr);
    for format in ["json", "jsonl", "markdown", "html", "otlp", "result"] {
        printed.extend(place.run(&["export", "last", "--format", format]).stdout);
    }
    printed.extend(place.run(&["replay", "last", "--headless"]).stdout);
    printed.extend(written(&place.data()));
    let found = survivors(&printed, &samples);
    assert!(found.is_empty(), "{} of 200: {found:?}", found.len());
}

#[test]
fn secrets_in_texts_and_arguments_are_refused_or_covered() {
    let samples = samples();
    let mut survived = Vec::new();
    for (line, secret) in samples.iter().step_by(8) {
        let place = Place::new();
        let quoted = serde_json::to_string(line).unwrap();
        // In text for people: redacted. In something that would run: refused, and never altered.
        place.plan(&format!("title = {quoted}\n[[tasks]]\nid = \"a\"\ndescription = {quoted}\nrun = {{ shell = \"true\" }}\n"));
        place.run(&["run", "../plan.toml", "--headless", "--yes"]);
        let command = serde_json::to_string(&format!("echo '{line}' > leaked")).unwrap();
        place.plan(&format!("title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\nrun = {{ shell = {command} }}\n"));
        let refused = place.run(&["run", "../plan.toml", "--headless", "--yes"]);
        assert_ne!(refused.status.code(), Some(0), "{line:.12} runs");
        assert!(!place.work().join("leaked").exists());
        let args = serde_json::json!({"path": "leaked", "content": line}).to_string();
        place.run(&["tools", "call", "file.write", &args]);
        assert!(!place.work().join("leaked").exists());
        let args = serde_json::json!({"text": line}).to_string();
        place.run(&["tools", "call", "memory.save", &args]);
        let mut all = if place.data().exists() { written(&place.data()) } else { Vec::new() };
        all.extend(place.run(&["export", "last", "--format", "jsonl"]).stdout);
        all.extend(place.run(&["sessions", "list"]).stdout);
        if String::from_utf8_lossy(&all).contains(secret.as_str()) {
            survived.push(line.chars().take(20).collect::<String>());
        }
    }
    assert!(survived.is_empty(), "{survived:?}");
}

/// How many of many secrets of each shape are found, and how many lines of source are mistaken for one.
#[test]
fn secrets_are_found_and_source_code_is_left_alone() {
    const EACH: usize = 300;
    let redactor = planwright_text::Redactor::default();
    let mut random = Random(1_015);
    for shape in SHAPES {
        let found = (0..EACH)
            .map(|_| sample(shape, &mut random))
            .filter(|(line, secret)| !redactor.redact(line).contains(secret.as_str()))
            .count();
        assert!(found * 100 >= EACH * 98, "{shape}: {found} of {EACH}");
    }
    let (mut lines, mut mistaken) = (0, Vec::new());
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                for line in std::fs::read_to_string(&path).unwrap().lines() {
                    lines += 1;
                    if redactor.would_change(line) {
                        mistaken.push(line.trim().to_owned());
                    }
                }
            }
        }
    }
    println!("{} of {lines} lines of source taken for secrets", mistaken.len());
    assert!(mistaken.len() * 1_000 <= lines, "{} of {lines}: {mistaken:#?}", mistaken.len());
}
