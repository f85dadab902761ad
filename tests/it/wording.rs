//! Wording as documents: every error message of the command line in one file, and phrases that nothing people read contains.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::program::Place;

/// A command line that is refused, with what it needs to be there.
const REFUSED: &[&[&str]] = &[
    &["resum", "last"],
    &["--headles"],
    &["plan"],
    &["plan", ""],
    &["plan", "learn Rust", "--format", "pdf"],
    &["plan", "learn Rust", "--headless", "--policy", "tone=angry"],
    &["plan", "learn Rust", "--headless", "--policy", "mood"],
    &["plan", "learn Rust", "--headless", "--kind", "nonsense"],
    &["plan", "learn Rust", "--headless", "--calendar", "missing.ics"],
    &["plan", "learn Rust", "--headless", "--gate-override", "nonsense"],
    &["plan", "learn Rust", "--headless", "--workspace", "missing"],
    &["plan", "learn Rust", "--headless", "--provider", "nonsense"],
    &["run", "missing.toml"],
    &["run", "missing.toml", "--jobs", "0"],
    &["run", "missing.toml", "--jobs", "many"],
    &["run", "broken.toml", "--headless"],
    &["run", "cyclic.toml", "--headless"],
    &["run", "good.toml", "nonsense", "--headless"],
    &["run", "good.toml", "--tag", "nonsense", "--headless"],
    &["run", "good.toml", "--from", "nonsense", "--headless"],
    &["run", "good.toml", "colour=red", "--headless"],
    &["resume", "last"],
    &["resume", "7c40"],
    &["attach", "last"],
    &["logs", "last"],
    &["logs", "last", "--since", "yesterdayish"],
    &["stop", "last"],
    &["retry", "last", "build"],
    &["skip", "last", "build"],
    &["replay", "last"],
    &["replay", "missing.jsonl"],
    &["sessions", "show", "last"],
    &["sessions", "dance"],
    &["sessions", "search", "a", "--since", "someday"],
    &["sessions", "search", "a", "--role", "poet"],
    &["sessions", "prune", "--older-than", "long"],
    &["sessions", "rm", "7c40"],
    &["sessions", "bookmark", "last", "0"],
    &["check"],
    &["check", "missing.toml"],
    &["check", "broken.toml"],
    &["check", "cyclic.toml"],
    &["check", "field.toml"],
    &["check", "--explain", "G000"],
    &["graph", "missing.toml"],
    &["tools", "show", "nonsense"],
    &["tools", "call", "file.read", "nonsense"],
    &["tools", "call", "file.read", "{}"],
    &["tools", "trust", "mcp.nonsense"],
    &["tools", "rules", "revoke", "7"],
    &["export", "last", "--format", "html"],
    &["export", "last", "--format", "pdf"],
    &["import", "missing.jsonl"],
    &["import", "broken.toml"],
    &["fork", "last"],
    &["diff", "a", "b"],
    &["config", "set", "colour", "red"],
    &["config", "set", "theme", "pink"],
    &["config", "set", "jobs", "many"],
    &["config", "set", "me.hours", "whenever"],
    &["--config", "missing.toml", "config", "show"],
    &["--config", "wrong.toml", "config", "show"],
    &["--theme", "pink", "demo"],
    &["facts", "last"],
    &["today", "done", "1"],
    &["today", "move", "1", "someday"],
    &["today", "skip", "nonsense"],
    &["demo", "--at", "x"],
    &["answer", "last", "next", "yes"],
    &["template", "show", "nonsense"],
    &["template", "save", "last", "A B"],
    &["message", "last", "port", "hello"],
    &["changes", "last"],
    &["comment", "last", "12", "late"],
    &["mcp", "--http", "x"],
    &["hook", "install", "nonsense"],
    &["agents", "probe", "nonsense"],
    &["agents", "on", "nonsense"],
    &["agents", "off", "nonsense"],
    &["executors", "probe", "nonsense"],
    &["completions", "nonsense"],
    &["man", "dance"],
];

const FILES: &[(&str, &str)] = &[
    ("good.toml", "[[tasks]]\nid = \"build\"\nrun = { shell = \"true\" }\n"),
    ("broken.toml", "[[tasks]\nid = \"build\"\n"),
    (
        "cyclic.toml",
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\ndepends_on = [\"b\"]\n\n[[tasks]]\nid = \"b\"\n\
         run = { shell = \"true\" }\ndepends_on = [\"a\"]\n",
    ),
    ("field.toml", "[[tasks]]\nid = \"build\"\nrun = { shell = \"true\" }\ntimeoot = \"5m\"\n"),
    ("wrong.toml", "jobz = 3\n"),
];

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Every line has its command; `UPDATE_DOCS=1` writes the file anew, and its difference is reviewed as text.
#[test]
fn error_messages_are_those_of_the_document() {
    let mut document = "What the command line prints for mistakes, on an empty store. `UPDATE_DOCS=1 cargo test --test it \
         wording` writes this file anew.\n"
        .to_owned();
    let mut accepted = Vec::new();
    for words in REFUSED {
        let place = Place::new();
        for (name, text) in FILES {
            std::fs::write(place.work().join(name), text).unwrap();
        }
        let output = place.run(words);
        let code = output.status.code().unwrap_or(-1);
        // What `check` finds is its result, and goes to standard output.
        let printed = [&output.stdout[..], &output.stderr[..]].concat();
        let printed = String::from_utf8_lossy(&printed);
        let printed = printed.replace(&*place.dir.path().to_string_lossy(), "DIR");
        let _ = write!(
            document,
            "\n$ planwright {}\n{}\nexit {code}\n",
            words.join(" "),
            printed.trim_end()
        );
        if code == 0 || printed.trim().is_empty() {
            accepted.push(words);
        }
    }
    assert!(accepted.is_empty(), "these are no mistakes, or nothing is printed: {accepted:?}");
    let file = kept("tests/wording/errors.txt");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &document).unwrap();
    }
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = before.lines().zip(document.lines()).find(|(before, now)| before != now);
    assert!(
        before == document,
        "tests/wording/errors.txt is not what is printed; first difference: {differs:?}"
    );
}

#[test]
fn nothing_that_people_read_contains_a_banned_phrase() {
    let list = std::fs::read_to_string(kept("tests/wording/banned.txt")).unwrap();
    let banned: Vec<&str> =
        list.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert!(banned.len() > 50);
    let mut read = 0;
    let mut found = Vec::new();
    for root in ["README.md", "docs", "tests/wording/errors.txt", "tests", "crates", "src"] {
        for file in files_below(&kept(root)) {
            let is_read = match file.extension().and_then(|ending| ending.to_str()) {
                // What agents and their tools said is theirs.
                Some("snap") => !file.to_string_lossy().contains("__transcripts__"),
                Some("md") => root == "docs" || root == "README.md",
                Some("txt") => root == "tests/wording/errors.txt",
                _ => false,
            };
            if !is_read {
                continue;
            }
            read += 1;
            let text = std::fs::read_to_string(&file).unwrap();
            let mut is_file_format = false;
            for (number, line) in text.lines().enumerate() {
                // Names of fields are what they are.
                is_file_format = match line {
                    "```toml" => true,
                    "```" => false,
                    _ => is_file_format,
                };
                if is_file_format {
                    continue;
                }
                let line = line.to_lowercase();
                for phrase in &banned {
                    if contains_words(&line, phrase) {
                        found.push(format!("{}:{}: {phrase}: {line}", file.display(), number + 1));
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(read > 100, "{read}");
}

/// Whether the phrase stands in the line as whole words.
fn contains_words(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, found)| {
        let before = line[..at].chars().next_back();
        let after = line[at + found.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

fn files_below(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

#[test]
fn a_banned_phrase_is_found_as_words_and_not_inside_of_one() {
    assert!(contains_words("2 must be mended, or mend it", "mend"));
    assert!(!contains_words("we recommend it, amendments", "mend"));
}
