//! Every setting makes a difference. The settings come from the file that `config init` writes, which a test keeps in step
//! with what the program reads; a setting without an entry in `cases.toml` fails here, and so does one whose two configs
//! lead to the same.

mod observers;
mod servers;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use observers::observe;

/// A setting, two configs, and what shows the difference.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingCase {
    setting: String,
    observer: ObserverName,
    #[serde(default)]
    with: String,
    #[serde(default)]
    without: String,
    /// Arguments of the command that is printed.
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    goal: String,
    /// Whether planning may ask before it drafts.
    #[serde(default)]
    asks: bool,
    /// The variable for the time zone; empty for none.
    zone: Option<String>,
    #[serde(default)]
    plan: String,
    /// What a recorded model answers: words, or `{"tool": …, "args": …}`.
    #[serde(default)]
    answers: Vec<String>,
    /// What is answered to the questions of planning, one after the other.
    #[serde(default)]
    replies: Vec<String>,
    /// What the model server does.
    #[serde(default)]
    server: servers::ServerBehavior,
    /// The test that shows the difference.
    test: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ObserverName {
    Printed,
    Planned,
    Journal,
    AsksToRun,
    Ran,
    Asked,
    Tested,
}

#[derive(Deserialize)]
struct SettingCases {
    case: Vec<SettingCase>,
}

fn all_cases() -> Vec<SettingCase> {
    toml::from_str::<SettingCases>(include_str!("cases.toml")).unwrap().case
}

/// Tables of the file that are settings themselves; the others are examples for names of the person's own.
const TABLES: [&str; 5] = ["me", "confidence_weights", "policy", "limits", "tools"];

/// The names of all settings in the file of `config init`.
fn declared_settings() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut table = String::new();
    for line in include_str!("../../../assets/config.toml").lines() {
        let own = line.strip_prefix('#').unwrap_or(line);
        let example = own.strip_prefix(' ').filter(|_| line.starts_with('#'));
        if let Some(heading) = example.unwrap_or(line).strip_prefix('[') {
            let heading = heading.trim_start_matches('[');
            heading.split(']').next().unwrap().clone_into(&mut table);
            continue;
        }
        if !line.starts_with('#') {
            continue;
        }
        let text = example.unwrap_or(own);
        let Some((name, _)) = text.split_once(" =") else { continue };
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        // Words of a comment are no setting.
        let in_example = example.is_some() && !table.is_empty() && !TABLES.contains(&&*table);
        if name.is_empty() || !is_name(name) || (example.is_some() && !in_example) {
            continue;
        }
        let prefix = if in_example || TABLES.contains(&&*table) {
            format!("{table}.")
        } else {
            String::new()
        };
        names.insert(format!("{prefix}{name}"));
    }
    names
}

/// Settings whose difference no test shows yet. Nothing may be added; what gets a case is taken out.
const NOT_SHOWN: &str = include_str!("not_shown.txt");

#[test]
fn every_setting_has_a_case() {
    let cases: BTreeSet<String> = all_cases().into_iter().map(|case| case.setting).collect();
    let open: BTreeSet<String> =
        NOT_SHOWN.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let declared = declared_settings();
    assert!(declared.len() > 100, "{declared:?}");
    let missing: Vec<_> =
        declared.iter().filter(|name| !cases.contains(*name) && !open.contains(*name)).collect();
    assert!(missing.is_empty(), "nothing shows that these settings do something: {missing:?}");
    let gone: Vec<_> = cases.union(&open).filter(|name| !declared.contains(*name)).collect();
    assert!(gone.is_empty(), "no such settings: {gone:?}");
    let twice: Vec<_> = cases.intersection(&open).collect();
    assert!(twice.is_empty(), "these have a case now: {twice:?}");
}

/// How often a run is repeated whose text differs from that of an equal one.
const REPEATS: usize = 6;

fn require_differences(wanted: &[ObserverName]) {
    let cases: Vec<SettingCase> =
        all_cases().into_iter().filter(|case| wanted.contains(&case.observer)).collect();
    assert!(!cases.is_empty());
    let mut dead = Vec::new();
    for case in &cases {
        let with = observe(case, &case.with);
        // A difference means something only where the same config shows none. On a busy machine a time, or how a connection
        // ended, may differ once in a while.
        let mut without = observe(case, &case.without);
        let mut again = observe(case, &case.without);
        let mut seen = vec![without.clone(), again.clone()];
        for _ in 0..REPEATS {
            if again == without {
                break;
            }
            without = again;
            again = observe(case, &case.without);
            seen.push(again.clone());
        }
        if seen.contains(&with) {
            dead.push(format!("{}: both times\n{with}", case.setting));
        }
        if again != without {
            dead.push(format!("{}: two runs differ\n{without}\n{again}", case.setting));
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn settings_of_planning_change_what_is_planned_or_asked() {
    require_differences(&[ObserverName::Planned, ObserverName::Journal]);
}

#[test]
fn settings_of_tools_and_agents_change_what_commands_print() {
    require_differences(&[ObserverName::Printed, ObserverName::AsksToRun]);
}

#[test]
fn settings_of_runs_change_what_the_journal_has() {
    require_differences(&[ObserverName::Ran]);
}

#[test]
fn settings_of_models_change_what_a_provider_is_asked() {
    require_differences(&[ObserverName::Asked]);
}

#[test]
fn tests_that_show_a_difference_exist_and_set_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for case in all_cases().iter().filter(|case| case.observer == ObserverName::Tested) {
        let (file, test) = case.test.as_deref().unwrap().split_once("::").unwrap();
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(text.contains(&format!("fn {test}(")), "{}: no {test} in {file}", case.setting);
        let name = case.setting.rsplit('.').next().unwrap();
        assert!(text.contains(name), "{}: {file} does not set it", case.setting);
    }
}
