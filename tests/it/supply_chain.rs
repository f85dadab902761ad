//! The dependencies: licenses, duplicates, sources and known vulnerabilities, from the lock file and without a network.
//!
//! Advisories are checked where `PLANWRIGHT_ADVISORY_DB` names a copy of <https://github.com/rustsec/advisory-db>.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use semver::{Version, VersionReq};
use serde_json::Value;

struct Rules {
    licenses: BTreeSet<String>,
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
        licenses: list("licenses", "allow"),
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

/// Whether a license expression can be met: `OR` and `/` give a choice, `AND` does not.
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
fn every_dependency_has_an_allowed_license() {
    let rules = rules();
    let bad: Vec<String> = packages()
        .iter()
        .filter(|package| {
            !package["license"].as_str().is_some_and(|text| can_be_met(text, &rules.licenses))
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
fn no_dependency_has_a_new_duplicate() {
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

/// The parts of an advisory that decide whether a version is affected.
struct Advisory {
    id: String,
    package: String,
    /// Why the advisory exists, if not for a vulnerability: `unmaintained`, `unsound`, `notice`.
    informational: Option<String>,
    withdrawn: bool,
    /// Versions that are not affected: patched, or never vulnerable.
    safe: Vec<VersionReq>,
}

impl Advisory {
    /// Reads the table at the start of an advisory: the first TOML block in its Markdown.
    fn read(text: &str) -> Self {
        let (_, rest) = text.split_once("```toml").expect("an advisory begins with a table");
        let (head, _) = rest.split_once("```").expect("the table ends");
        let table: toml::Table = head.parse().expect("the table is TOML");
        let advisory = &table["advisory"];
        let text = |name: &str| advisory.get(name).and_then(|value| value.as_str());
        let requirements = |name: &str| {
            let listed = table.get("versions").and_then(|versions| versions.get(name));
            let listed = listed.and_then(|listed| listed.as_array()).cloned().unwrap_or_default();
            listed.into_iter().map(|one| VersionReq::parse(one.as_str().unwrap()).unwrap())
        };
        Self {
            id: text("id").unwrap().to_owned(),
            package: text("package").unwrap().to_owned(),
            informational: text("informational").map(str::to_owned),
            withdrawn: advisory.get("withdrawn").is_some(),
            safe: requirements("patched").chain(requirements("unaffected")).collect(),
        }
    }

    fn affects(&self, name: &str, version: &Version) -> bool {
        !self.withdrawn
            && self.package == name
            && !self.safe.iter().any(|requirement| requirement.matches(version))
    }
}

/// Every crate of the lock file, for all platforms.
fn locked() -> Vec<(String, Version)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    let lock: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let text = |package: &toml::Value, name: &str| package[name].as_str().unwrap().to_owned();
    let packages = lock["package"].as_array().unwrap().iter();
    packages
        .map(|package| (text(package, "name"), text(package, "version").parse().unwrap()))
        .collect()
}

#[test]
fn no_dependency_has_a_known_vulnerability() {
    let Some(database) = std::env::var_os("PLANWRIGHT_ADVISORY_DB") else {
        eprintln!("skipped: PLANWRIGHT_ADVISORY_DB names no copy of the RustSec database");
        return;
    };
    let crates = Path::new(&database).join("crates");
    assert!(crates.is_dir(), "{} has no directory `crates`", crates.display());
    let (mut read, mut found, mut noted) = (0, Vec::new(), Vec::new());
    for (name, version) in locked() {
        let Ok(files) = std::fs::read_dir(crates.join(&name)) else { continue };
        for file in files {
            let advisory = Advisory::read(&std::fs::read_to_string(file.unwrap().path()).unwrap());
            read += 1;
            if advisory.affects(&name, &version) {
                let line = format!("{} {name} {version}", advisory.id);
                match advisory.informational {
                    Some(why) if why != "unsound" => noted.push(format!("{line}: {why}")),
                    _ => found.push(line),
                }
            }
        }
    }
    println!("{} crates, {read} advisories about them, notices: {noted:?}", locked().len());
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn an_advisory_is_read_by_its_versions() {
    let advisory = |rest: &str| {
        let text = format!(
            "```toml\n[advisory]\nid = \"RUSTSEC-0\"\npackage = \"a\"\n{rest}\n```\n\n# Title\n"
        );
        Advisory::read(&text)
    };
    let ranges =
        advisory("[versions]\npatched = [\">= 1.2.3\", \"^0.9.5\"]\nunaffected = [\"< 0.5\"]");
    for (version, affected) in [
        ("0.4.9", false),
        ("0.5.0", true),
        ("0.9.4", true),
        ("0.9.5", false),
        ("1.0.0", true),
        ("1.2.3", false),
        ("2.0.0", false),
    ] {
        assert_eq!(ranges.affects("a", &version.parse().unwrap()), affected, "{version}");
    }
    let version = "1.0.0".parse().unwrap();
    assert!(!ranges.affects("b", &version));
    let old = advisory("withdrawn = \"2025-01-01\"\n[versions]\npatched = []");
    assert!(!old.affects("a", &version));
    let unmaintained = advisory("informational = \"unmaintained\"\n[versions]\npatched = []");
    assert!(unmaintained.affects("a", &version) && unmaintained.informational.is_some());
}
