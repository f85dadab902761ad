//! What stands where there is nothing to show, and what a key answers that can't act now, a line each as on the screen.

use jiff::civil::date;

use super::fixture::{Fixture, Shown};
use super::home_views::{person_plan, view_of};
use super::sessions::stage;

/// The rows of a screen in which words stand, without the panes beside them.
fn row_with(text: &str, words: &str) -> String {
    let row = text.lines().find(|row| row.contains(words));
    let row = row.unwrap_or_else(|| panic!("{words:?} in\n{text}"));
    let cells = row.split(['│', '─', '━']).find(|part| part.contains(words));
    cells.unwrap_or(row).trim().to_owned()
}

fn opened(fixture: &Fixture, keys: &[&str]) -> Shown {
    let mut shown = fixture.live();
    shown.draw(120, 40);
    for key in keys {
        shown.press(&[key]);
        shown.draw(120, 40);
    }
    shown
}

fn refused(mut shown: Shown, key: &str) -> String {
    shown.draw(120, 40);
    shown.press(&[key]);
    assert_eq!(shown.sent(), None);
    let text = shown.text(120, 40);
    let line = text.lines().last().unwrap().trim();
    line.split("  ").next().unwrap_or(line).to_owned()
}

#[test]
fn nothing_to_show_is_said_with_what_comes() {
    let work = Fixture::recorded_work();
    let of_task = |keys: &[&str]| {
        let mut shown = opened(&work, &[]);
        shown.screen.ui.select_task("publish".into());
        for key in keys {
            shown.press(&[key]);
            shown.draw(120, 40);
        }
        shown.text(120, 40)
    };
    let mut searched = opened(&work, &["/"]);
    searched.type_text("spam");
    let mut help = opened(&work, &["?"]);
    help.type_text("spam");
    let mut commands = opened(&work, &[":"]);
    commands.type_text("spam");
    let plan = person_plan("learn Rust, 5 hours a week", date(2026, 6, 8));
    let mut later = stage(view_of(vec![("aaaaaa000000", plan)]));
    let mut home = |keys: &[&str]| {
        later.press(keys);
        super::fixture::text_of(&later.draw(120, 40))
    };
    let lines = [
        ("inbox", row_with(&home(&["!"]), "Nothing needs you")),
        ("today", row_with(&home(&["Esc"]), "Nothing planned today")),
        ("output", row_with(&of_task(&["o"]), "has not started")),
        ("search", row_with(&searched.text(120, 40), "No match")),
        ("help", row_with(&help.text(120, 40), "No key")),
        ("commands", row_with(&commands.text(120, 40), "No command")),
    ];
    let lines: Vec<String> =
        lines.into_iter().map(|(name, words)| format!("{name:<12}{words}")).collect();
    insta::assert_snapshot!("nothing_to_show", lines.join("\n"));
}

#[test]
fn a_key_that_cannot_act_says_why_in_the_footer() {
    let end = Fixture::recorded_run("15:20:00");
    let lines = [
        ("pause", refused(end.live(), "P")),
        ("stop", refused(end.live(), "X")),
        ("watched", refused(Fixture::recorded_work().watched(), "X")),
        ("past", refused(end.replay(30), "R")),
        ("live", refused(Fixture::recorded_work().live(), "Space")),
        ("draft", refused(Fixture::release().live(), "d")),
        ("needs you", refused(Fixture::release().kept().live(), "n")),
    ];
    let lines: Vec<String> =
        lines.into_iter().map(|(name, words)| format!("{name:<12}{words}")).collect();
    insta::assert_snapshot!("refused_keys", lines.join("\n"));
}
