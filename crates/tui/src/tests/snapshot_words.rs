//! The wording of every kept snapshot, overlays and cards included: the same rules as for the default views.
//!
//! A snapshot has a letter for the role of each cell below its text, so that what others wrote is left out.

use std::path::{Path, PathBuf};

use super::words::row_findings;

/// Letters of roles in which words of models, tools and commands are written.
const FOREIGN: [char; 5] = ['h', 'o', 'u', '5', 'X'];

/// Views behind `v`, where ids and figures may stand.
const DETAILS: [&str; 2] = ["changing__prdv", "changing__terms"];

/// What people typed in the recorded journals, and what their screens repeat.
const TYPED: [&str; 2] = ["daily_health_protocol_v2", "p2.t2"];

/// Screens that must be among the snapshots, so that a new name takes none of them out of the check.
const REQUIRED: [&str; 9] = [
    "settings__settings",
    "replaying__fork_card",
    "facts__facts",
    "requests__kind",
    "sessions__catch_up",
    "first_start__first_start_hours",
    "requests__change_review",
    "driving__leave",
    "watching__output",
];

fn snapshot_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/snapshots");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "snap")).collect()
}

/// The text of a snapshot and its roles, as many rows each as its name says.
fn text_and_roles(name: &str, content: &str) -> (Vec<String>, Vec<String>) {
    let body = content.splitn(3, "---\n").nth(2).unwrap();
    let rows = |from: usize, count: usize| {
        body.lines().skip(from).take(count).map(str::to_owned).collect::<Vec<String>>()
    };
    let height = name.rsplit_once('x').and_then(|(_, height)| height.parse().ok());
    height.map_or_else(
        || (rows(0, usize::MAX), Vec::new()),
        |height: usize| (rows(0, height), rows(height + 1, height)),
    )
}

/// A row without the cells of others, and without a command, which stands behind its label to the end of the row.
fn own_words(row: &str, roles: &str) -> String {
    let roles = roles.chars().chain(std::iter::repeat(' '));
    let own = row.chars().zip(roles);
    let own: String =
        own.map(|(letter, role)| if FOREIGN.contains(&role) { ' ' } else { letter }).collect();
    let command = ["  $ ", " command: ", " Command  ", " > action "]
        .iter()
        .filter_map(|label| own.find(label))
        .min();
    own[..command.unwrap_or(own.len())].to_owned()
}

/// `p1.t2`: what a task of a drafted plan is called inside.
fn is_drafted_id(word: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.len() > 1
            && part[1..].chars().all(|c| c.is_ascii_digit())
    };
    word.contains('.') && word.split('.').all(part)
}

#[test]
fn every_snapshot_uses_the_words_of_people() {
    let (mut found, mut count) = (Vec::new(), 0);
    for path in snapshot_files() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let name = stem.rsplit("tests__").next().unwrap();
        if DETAILS.iter().any(|details| stem.contains(details)) {
            continue;
        }
        count += 1;
        let content = std::fs::read_to_string(&path).unwrap();
        let (text, roles) = text_and_roles(name, &content);
        for (at, row) in text.iter().enumerate() {
            let own = own_words(row, roles.get(at).map_or("", String::as_str));
            let all = row_findings(&own, is_drafted_id);
            let all =
                all.into_iter().filter(|text| !TYPED.iter().any(|typed| text.contains(typed)));
            found.extend(all.map(|text| format!("{stem}: {text}")));
        }
    }
    assert!(count > 150, "only {count} snapshots were read");
    for screen in REQUIRED {
        let is_there = |path: &PathBuf| path.to_string_lossy().contains(screen);
        assert!(snapshot_files().iter().any(is_there), "no snapshot of {screen}");
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_snapshot_is_read_by_its_roles() {
    let content = "---\nsource: x\n---\n then p1.t2\n say my_word\n\n tttt tttt\n uuu uuuuuuu\n";
    let (text, roles) = text_and_roles("small_20x2", content);
    assert_eq!(own_words(&text[0], &roles[0]).trim(), "then p1.t2");
    assert_eq!(own_words(&text[1], &roles[1]).trim(), "");
    assert_eq!(row_findings(&own_words(&text[0], &roles[0]), is_drafted_id).len(), 1);
    assert!(!is_drafted_id("parser.rs") && !is_drafted_id("2.0") && is_drafted_id("p1.t2.t1"));
}
