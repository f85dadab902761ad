//! What is built in: licences, duplicates and sources, from the lock file and without a network.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

struct Rules {
    licences: BTreeSet<String>,
    duplicates: BTreeSet<String>,
    registries: BTreeSet<String>,
}

fn rules() -> Rules {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/deny.toml");
    let rules: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let list = |section: &str, name: &str| {
        let entries = rules[section][name].as_array().unwrap().iter();
        entries.map(|entry| entry.as_str().unwrap().to_owned()).collect()
    };
    Rules {
        licences: list("licenses", "allow"),
        duplicates: list("bans", "skip"),
        registries: list("sources", "allow-registry"),
    }
}

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Whether a licence expression can be met: `OR` and `/` give a choice, `AND` does not.
fn can_be_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    let met = any_of(&mut words, allowed);
    met && words.is_empty()
}

fn any_of(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    let mut met = all_of(words, allowed);
    while words.last() == Some(&"OR") {
        words.pop();
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, allowed);
    while words.last() == Some(&"AND") {
        words.pop();
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> bool {
    match words.pop() {
        Some("(") => {
            let met = any_of(words, allowed);
            words.pop() == Some(")") && met
        }
        Some(name) if words.last() == Some(&"WITH") => {
            words.pop();
            words
                .pop()
                .is_some_and(|exception| allowed.contains(&format!("{name} WITH {exception}")))
        }
        Some(name) => allowed.contains(name),
        None => false,
    }
}

#[test]
fn every_dependency_has_a_licence_that_was_agreed_to() {
    let rules = rules();
    let bad: Vec<String> = packages()
        .iter()
        .filter(|package| {
            !package["license"].as_str().is_some_and(|text| can_be_met(text, &rules.licences))
        })
        .map(|package| format!("{} ({})", package["name"], package["license"]))
        .collect();
    assert!(bad.is_empty(), "{bad:?}");
    let allowed = BTreeSet::from(["MIT".to_owned(), "ISC".to_owned()]);
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("ISC AND (GPL-3.0 OR MIT)", true),
        ("(MIT", false),
        ("", false),
    ] {
        assert_eq!(can_be_met(expression, &allowed), met, "{expression}");
    }
}

#[test]
fn no_dependency_is_there_twice_that_was_not_before() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let text = |name: &str| package[name].as_str().unwrap().to_owned();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    let rules = rules();
    let new: Vec<_> = versions
        .iter()
        .filter(|(name, found)| found.len() > 1 && !rules.duplicates.contains(*name))
        .collect();
    assert!(new.is_empty(), "{new:?}");
}

#[test]
fn every_dependency_comes_from_a_known_registry() {
    let rules = rules();
    for package in packages() {
        let Some(source) = package["source"].as_str() else { continue };
        let registry = source.trim_start_matches("registry+");
        assert!(rules.registries.contains(registry), "{} from {source}", package["name"]);
    }
}
