//! The crates of the workspace and the page that describes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type CrateUses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_crate_table_of_the_architecture_page_is_what_the_manifests_name() {
    assert_eq!(table_of_page(), uses_of_manifests());
}

#[test]
fn pure_crates_name_nothing_impure() {
    let impure =
        ["tokio", "ratatui", "crossterm", "rusqlite", "reqwest", "rand", "rustix", "directories"];
    let pure = ["text", "layout", "rcpsp", "model", "schedule", "plan", "drafting", "state"];
    for name in pure {
        let dependencies = dependencies_of(name);
        for dependency in impure.iter().chain(&["planwright-files", "planwright-store"]) {
            assert!(!dependencies.contains(*dependency), "{name} names {dependency}");
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn table_of_page() -> CrateUses {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let (name, rest) = row.split_once('`').unwrap();
        let uses = rest.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap();
        let uses = uses.split(',').map(str::trim).filter(|name| *name != "–");
        (name.to_owned(), uses.map(str::to_owned).collect())
    })
    .collect()
}

fn uses_of_manifests() -> CrateUses {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let names = crates.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names
        .map(|name| {
            let dependencies = dependencies_of(&name);
            let own_dependencies =
                dependencies.iter().filter_map(|name| name.strip_prefix("planwright-"));
            let own_dependencies = own_dependencies.map(str::to_owned).collect();
            (name, own_dependencies)
        })
        .collect()
}

/// What a crate refers to outside of its tests.
fn dependencies_of(name: &str) -> BTreeSet<String> {
    let path = root().join("crates").join(name).join("Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    dependencies.map(|table| table.keys().cloned().collect()).unwrap_or_default()
}
