//! Keeps the direction in which the modules of this package use each other. Between crates the compiler does it.

use std::path::{Path, PathBuf};

/// Each module with those it may use: only ones that stand below it.
const LAYERS: [(&str, &[&str]); 10] = [
    ("console", &[]),
    ("config", &[]),
    ("environment_secrets", &[]),
    ("plan_source", &[]),
    ("session_commands", &[]),
    ("diagnostics", &["config", "console", "environment_secrets"]),
    ("headless", &["session_commands"]),
    ("doctor", &["config", "console", "diagnostics"]),
    (
        "app",
        &[
            "config",
            "console",
            "diagnostics",
            "environment_secrets",
            "plan_source",
            "session_commands",
        ],
    ),
    (
        "cli",
        &[
            "app",
            "config",
            "console",
            "diagnostics",
            "doctor",
            "headless",
            "plan_source",
            "session_commands",
        ],
    ),
];

fn source_files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).unwrap();
    entries.flat_map(|entry| source_files(&entry.unwrap().path())).collect()
}

/// The module of this package that each `crate::` of a text names. A list in braces names none, and is refused.
fn named_modules<'t>(text: &'t str) -> impl Iterator<Item = &'t str> {
    let word = |rest: &'t str| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
    text.split("crate::").skip(1).filter_map(word)
}

fn forbidden_uses(source: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in source_files(source) {
        let within = file.strip_prefix(source).unwrap();
        let top = within.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        let Some((_, allowed)) = LAYERS.iter().find(|(module, _)| *module == top) else { continue };
        let text = std::fs::read_to_string(&file).unwrap();
        for named in named_modules(&text) {
            if named != top && !allowed.contains(&named) {
                found.push(format!("{}: crate::{named}", within.display()));
            }
        }
    }
    found
}

#[test]
fn modules_use_only_those_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = source_files(&source).into_iter().filter_map(|file| {
        let within = file.strip_prefix(&source).ok()?;
        Some(within.iter().next()?.to_str()?.trim_end_matches(".rs").to_owned())
    });
    for module in modules.filter(|name| !["lib", "main", "layers"].contains(&name.as_str())) {
        assert!(LAYERS.iter().any(|(name, _)| *name == module), "{module} has no layer");
    }
    assert_eq!(forbidden_uses(&source), Vec::<String>::new());
}

#[test]
fn a_use_against_the_direction_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("app.rs", "use crate::config::Settings;\nuse crate::cli::Cli;\n");
    write("app/planning.rs", "fn print() { crate::cli::print(); crate::app::here(); }\n");
    write("config/mod.rs", "pub(crate) fn load() -> crate::app::App {}\n");
    write("cli/home.rs", "use crate::{app::App, config};\n");
    let mut found = forbidden_uses(dir.path());
    found.sort();
    assert_eq!(
        found,
        [
            "app.rs: crate::cli",
            "app/planning.rs: crate::cli",
            "cli/home.rs: crate::",
            "config/mod.rs: crate::app",
        ]
    );
}
