//! The wording of default views: no enum or field name, no rule code, no bare minutes, no id where a title exists.
//!
//! What others wrote is not judged: cells in the roles of commands, output, models and files are left out, and so are
//! quoted text and file names. The rest is Planwright's own words.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Style};

use super::fixture::{Fixture, Shown, settings};
use super::home_views::{first_view, full_sessions, full_view};
use super::journals::{every_request, recorded_request};
use super::planned;
use super::replaying::compared_runs;
use super::sessions::stage;
use crate::theme::{ColorDepth, ThemeRole};
use planwright_model::TaskId;
use planwright_model::event::Event;
use planwright_state::SessionState;

/// The sizes of the drawn screens.
const SIZES: [(u16, u16); 4] = [(60, 16), (80, 24), (120, 40), (200, 60)];

/// More than this is said in hours.
const MOST_MINUTES: u64 = 120;

/// Roles of text that others wrote.
const FOREIGN: [ThemeRole; 9] = [
    ThemeRole::Untrusted,
    ThemeRole::Thought,
    ThemeRole::Action,
    ThemeRole::Observed,
    ThemeRole::RiskWrite,
    ThemeRole::RiskExecute,
    ThemeRole::RiskNetwork,
    ThemeRole::DiffAdded,
    ThemeRole::DiffRemoved,
];

/// What is wrong with the words of a frame, a line each.
fn word_findings(buf: &Buffer, ids: &[TaskId]) -> Vec<String> {
    let is_id = |word: &str| ids.iter().any(|id| id.as_str() == word);
    own_words(buf).iter().flat_map(|row| row_findings(row, is_id)).collect()
}

/// What is wrong with one row of Planwright's own words.
pub(super) fn row_findings(row: &str, is_id: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let row = without_quotes(row);
    for word in row.split(|c: char| c.is_whitespace() || "()[],;:→–".contains(c)) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if is_file_name(word) {
            continue;
        }
        if has_snake_case(word) {
            found.push(format!("snake_case {word:?} in {:?}", row.trim()));
        }
        if is_rule_code(word) {
            found.push(format!("rule code {word:?} in {:?}", row.trim()));
        }
        if is_id(word) {
            found.push(format!("id {word:?} in {:?}", row.trim()));
        }
    }
    found.extend(bare_minutes(&row).map(|figure| format!("{figure} min in {:?}", row.trim())));
    found
}

/// The rows of a frame with spaces in the place of what others wrote.
fn own_words(buf: &Buffer) -> Vec<String> {
    let palette = settings().theme.palette(ColorDepth::True);
    let foreign: Vec<Style> = FOREIGN.iter().map(|role| palette.style(*role)).collect();
    let plain = palette.style(ThemeRole::Text);
    let is_foreign =
        |fg: Color| Some(fg) != plain.fg && foreign.iter().any(|style| style.fg == Some(fg));
    let row = |y: u16| {
        let cell = |x: u16| &buf[(x, y)];
        let shown = |x: u16| if is_foreign(cell(x).fg) { " " } else { cell(x).symbol() };
        (0..buf.area.width).map(shown).collect()
    };
    (0..buf.area.height).map(row).collect()
}

fn without_quotes(row: &str) -> String {
    row.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Whether a word names a file: it has a slash, or ends like one.
fn is_file_name(word: &str) -> bool {
    let ending = |(_, ending): (&str, &str)| {
        (1..=4).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_lowercase())
    };
    word.contains('/') || word.rsplit_once('.').is_some_and(ending)
}

fn has_snake_case(word: &str) -> bool {
    let letters = word.as_bytes();
    letters.windows(3).any(|three| {
        three[1] == b'_' && three[0].is_ascii_lowercase() && three[2].is_ascii_alphanumeric()
    })
}

fn is_rule_code(word: &str) -> bool {
    let mut letters = word.chars();
    word.len() == 4 && letters.next() == Some('G') && letters.all(|c| c.is_ascii_digit())
}

fn bare_minutes(row: &str) -> impl Iterator<Item = u64> + '_ {
    row.match_indices(" min").filter_map(|(at, _)| {
        let before = &row[..at];
        let figure = before.trim_start_matches(|c: char| !c.is_ascii_digit());
        let figure = figure.rsplit(|c: char| !c.is_ascii_digit() && c != ',').next()?;
        let figure: u64 = figure.replace(',', "").parse().ok()?;
        (figure > MOST_MINUTES).then_some(figure)
    })
}

/// The ids that no reader would take for a word, of tasks that have a title.
fn telling_ids(state: &SessionState) -> Vec<TaskId> {
    let telling = |id: &TaskId| {
        id.as_str().contains(|c: char| c.is_ascii_digit() || "._-".contains(c))
            && state.title_by_id(id) != id.as_str()
    };
    state.tasks.iter().map(|(id, _)| id.clone()).filter(telling).collect()
}

/// What the person typed, what commands are and printed (a window over them dims their color), and what a recorded
/// request says: its words are those of the version that asked, and the tests of the model judge the words of today.
fn recorded_texts(fixture: &Fixture) -> String {
    let state = fixture.state();
    let open = state.requests.open.values().map(|open| format!("{:?}", open.request));
    let goal = format!("{} {}", state.planning.goal, state.session.title);
    let calls = fixture.records.iter().filter(|record| matches!(record.event, Event::Call(_)));
    let calls = calls.map(|record| serde_json::to_string(&record.event).unwrap());
    let tasks = state.plan.current.iter().flat_map(|revision| &revision.plan.tasks);
    let commands = tasks.map(|task| format!("{:?}", task.run));
    open.chain(calls).chain(commands).chain([goal]).collect::<Vec<_>>().join(" ")
}

fn check_words(name: &str, fixture: &Fixture) -> Vec<String> {
    check_views(name, fixture, &[&[]])
}

/// Draws a session after each of several rows of keys, at every size.
fn check_views(name: &str, fixture: &Fixture, views: &[&[&str]]) -> Vec<String> {
    views.iter().flat_map(|keys| check_shown(name, fixture, keys, Fixture::live)).collect()
}

fn check_shown(
    name: &str,
    fixture: &Fixture,
    keys: &[&str],
    open: impl Fn(&Fixture) -> Shown,
) -> Vec<String> {
    let state = fixture.state();
    let (ids, recorded) = (telling_ids(&state), recorded_texts(fixture));
    let is_recorded =
        |text: &String| text.split('"').nth(1).is_some_and(|word| recorded.contains(word));
    let mut found = Vec::new();
    for (width, height) in SIZES {
        // Beside the plan the graph has chips, which may be too narrow for a title.
        let ids = if width < 160 { ids.as_slice() } else { &[] };
        let mut shown = open(fixture);
        shown.draw(width, height);
        for key in keys {
            shown.press(&[key]);
            shown.draw(width, height);
        }
        let buf = shown.draw(width, height);
        let all = word_findings(&buf, ids).into_iter().filter(|text| !is_recorded(text));
        found.extend(all.map(|text| format!("{name} {keys:?} {width}x{height}: {text}")));
    }
    found
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

/// The ways to look at a session that are not a details view.
const VIEWS: [&[&str]; 15] = [
    &["1"],
    &["2"],
    &["3"],
    &["4"],
    &["5"],
    &["1", "Enter"],
    &["n"],
    &["Tab"],
    &["o"],
    &["z"],
    &["?"],
    &[":"],
    &["p"],
    &["X"],
    &["q"],
];

#[test]
fn default_views_use_the_words_of_people() {
    let mut found = Vec::new();
    for (name, fixture) in every_request() {
        found.extend(check_words(name, &fixture));
    }
    for (name, fixture) in [
        ("release", Fixture::release()),
        ("revised", Fixture::revised()),
        ("running", Fixture::running()),
        ("failed", Fixture::failed()),
        ("capped", Fixture::capped()),
        ("in doubt", Fixture::in_doubt()),
        ("kept", Fixture::release().kept()),
        ("interrupted", Fixture::running().interrupted()),
        ("scheduled", planned::scheduled()),
        ("begun", planned::begun()),
    ] {
        found.extend(check_words(name, &fixture));
    }
    assert_none(&found);
}

#[test]
fn every_view_of_a_plan_and_a_run_uses_the_words_of_people() {
    let mut found = Vec::new();
    for (name, fixture) in [
        ("draft", recorded_request("drafts", 5)),
        ("revised", Fixture::revised()),
        ("run", Fixture::recorded_run("14:22:24")),
        ("end", Fixture::recorded_run("15:20:00")),
        ("person", Fixture::for_person()),
    ] {
        found.extend(check_views(name, &fixture, &VIEWS));
    }
    assert_none(&found);
}

#[test]
fn replays_use_the_words_of_people() {
    let run = Fixture::recorded_run("15:20:00");
    let last = run.records.len() as u64;
    let mut found = Vec::new();
    for at in [1, last / 3, last] {
        let replay = |fixture: &Fixture| fixture.replay(at);
        for keys in [&[][..], &["O"], &["}"], &["Enter"], &["4"], &["?"], &["g"]] {
            found.extend(check_shown("replay", &run, keys, replay));
        }
    }
    assert_none(&found);
}

#[test]
fn home_and_comparisons_use_the_words_of_people() {
    let ids: Vec<TaskId> =
        full_sessions().iter().flat_map(|(_, state)| telling_ids(state)).collect();
    let mut found = Vec::new();
    for (width, height) in SIZES {
        for keys in [&[][..], &["t"], &["t", "Enter"], &["Tab"], &["!"], &["C"], &["?"], &[":"]] {
            let mut stage = stage(full_view());
            stage.draw(width, height);
            stage.press(keys);
            let all = word_findings(&stage.draw(width, height), &ids);
            found.extend(all.into_iter().map(|text| format!("home {keys:?} {width}: {text}")));
        }
        let first = word_findings(&stage(first_view()).draw(width, height), &[]);
        found.extend(first.into_iter().map(|text| format!("first start {width}: {text}")));
        let compared = word_findings(&compared_runs(width, height), &[]);
        found.extend(compared.into_iter().map(|text| format!("compare {width}: {text}")));
    }
    assert_none(&found);
}

#[test]
fn the_lint_finds_what_it_is_for_and_spares_what_others_wrote() {
    let palette = settings().theme.palette(ColorDepth::True);
    let findings = |text: &str, role: ThemeRole| {
        let mut buf = Buffer::empty(ratatui::layout::Rect::new(0, 0, 80, 1));
        buf.set_string(0, 0, text, palette.style(role));
        word_findings(&buf, &[TaskId::from("p1.t1")]).len()
    };
    for text in ["kind: milestone_project", "G403 breaks", "1,260 min of work", "then p1.t1"] {
        assert_eq!(findings(text, ThemeRole::Text), 1, "{text}");
        assert_eq!(findings(text, ThemeRole::Untrusted), 0, "{text}");
    }
    for text in ["\"weekly_minutes\" is what you typed", "src/my_file.rs", "90 min", "1 h 30 min"] {
        assert_eq!(findings(text, ThemeRole::Text), 0, "{text}");
    }
}
