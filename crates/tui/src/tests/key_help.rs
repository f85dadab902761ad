//! Refused keys, help, the footer, and clicks on keys that are drawn.

use crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::fixture::{Fixture, Shown, pass};
use super::journals::every_request;
use crate::overlays::Overlay;
use crate::session::ScreenMessage;
use planwright_model::event::Command;

fn footer(shown: &mut Shown, width: u16, height: u16) -> String {
    shown.text(width, height).lines().last().unwrap_or_default().to_owned()
}

fn click(shown: &mut Shown, column: u16, row: u16) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    let click = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    shown.screen.update(ScreenMessage::Input(Event::Mouse(click))).unwrap();
}

/// Clicks on words that are on the screen; the last place where they stand.
fn click_on(shown: &mut Shown, words: &str) {
    let text = shown.text(120, 40);
    let rows: Vec<&str> = text.lines().collect();
    let (row, line) =
        rows.iter().enumerate().rev().find(|(_, line)| line.contains(words)).unwrap_or_else(|| {
            panic!("{words:?} is not on the screen:\n{text}");
        });
    let before = line.rfind(words).unwrap();
    let column = planwright_text::display_width(&line[..before]);
    click(shown, column as u16, row as u16);
}

#[test]
fn a_refused_key_says_why_for_four_seconds() {
    let mut shown = Fixture::release().live();
    shown.draw(120, 40);
    shown.press(&["Esc", "d"]);
    assert!(footer(&mut shown, 120, 40).contains("d: approve the plan first"));
    let left = shown.screen.message_time_left().unwrap();
    assert_eq!(left, std::time::Duration::from_secs(4));
    pass(3_999);
    shown.screen.update(ScreenMessage::Tick).unwrap();
    assert!(footer(&mut shown, 120, 40).contains("d: approve the plan first"));
    pass(1);
    shown.screen.update(ScreenMessage::Tick).unwrap();
    assert!(!footer(&mut shown, 120, 40).contains("approve the plan first"));
    assert_eq!(shown.screen.message_time_left(), None);
}

#[test]
fn refusals_name_the_cause() {
    let refused = |fixture: Fixture, keys: &[&str]| {
        let mut shown = fixture.live();
        shown.draw(120, 40);
        shown.press(keys);
        let line = footer(&mut shown, 120, 40);
        assert_eq!(shown.sent(), None);
        line
    };
    let cases: [(Fixture, &[&str], &str); 7] = [
        (Fixture::failed(), &["P"], "P: nothing is running to pause"),
        (Fixture::failed(), &["X"], "X: nothing is running to stop"),
        (Fixture::release(), &["P"], "P: approve the plan first"),
        (Fixture::running(), &["Space"], "Space: this is live; [ goes back in time"),
        (Fixture::running(), &["a"], "a: no question is open"),
        (Fixture::running(), &["t"], "t: this plan has no dates"),
        (Fixture::running(), &["Q"], "Q: not used here; ? lists the keys"),
    ];
    for (fixture, keys, words) in cases {
        let line = refused(fixture, keys);
        assert!(line.contains(words), "{keys:?}: {line}");
    }
}

#[test]
fn help_is_about_the_pane_and_narrows_by_typing() {
    let mut shown = Fixture::recorded_work().live();
    shown.draw(120, 40);
    shown.press(&["?"]);
    let text = shown.text(120, 40);
    for words in ["the task", "the run", "looking", "everywhere", "not now", "✓ done"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    shown.type_text("retry");
    insta::assert_snapshot!("help_filter_120x40", shown.frame(120, 40));
    let text = shown.text(120, 40);
    assert!(text.contains("not now: ") && !text.contains("everywhere"), "{text}");
    shown.type_text(" nonsense");
    assert!(shown.text(120, 40).contains("No key for \"retry nonsense\""));
    shown.press(&["Esc"]);
    assert!(shown.screen.ui.overlay.is_none());
}

#[test]
fn help_on_a_card_helps_and_leaves_the_card_open() {
    let mut shown = Fixture::running().live();
    shown.screen.ui.select_task("fuzz".into());
    shown.draw(120, 40);
    shown.press(&["S"]);
    assert!(matches!(shown.screen.ui.overlay, Some(Overlay::Choose(_))));
    shown.press(&["?"]);
    assert!(shown.text(120, 40).contains("type to filter"));
    shown.press(&["Esc"]);
    assert!(matches!(shown.screen.ui.overlay, Some(Overlay::Choose(_))));
    assert_eq!(shown.sent(), None);
}

#[test]
fn the_way_to_help_is_in_every_footer() {
    for (name, fixture) in every_request() {
        for width in [60, 70, 80, 98, 120, 200] {
            let mut shown = fixture.live();
            let line = footer(&mut shown, width, 40);
            assert!(line.contains("? help"), "{name} at {width}: {line}");
            assert!(!line.contains('…'), "{name} at {width}: {line}");
        }
    }
}

#[test]
fn a_click_presses_the_key_that_is_drawn() {
    let mut shown = Fixture::running().live();
    click_on(&mut shown, "? help");
    assert!(matches!(shown.screen.ui.overlay, Some(Overlay::Help(_))));
    click_on(&mut shown, "Esc close");
    assert!(shown.screen.ui.overlay.is_none());
    click_on(&mut shown, "pause");
    assert_eq!(shown.sent(), Some(Command::Pause));
    click_on(&mut shown, "commands");
    assert!(matches!(shown.screen.ui.overlay, Some(Overlay::Palette(_))));
}

#[test]
fn no_click_says_yes() {
    for (name, fixture) in every_request() {
        let mut shown = fixture.live();
        shown.draw(120, 40);
        pass(400);
        for row in 0..40 {
            for column in [3, 8, 40, 78, 84, 100] {
                click(&mut shown, column, row);
                let sent = shown.sent();
                let yes = sent.as_ref().is_some_and(|command| {
                    matches!(command, Command::Answer { answer, .. } if matches!(
                        answer.action,
                        planwright_model::ChoiceAction::ApproveAndRun
                            | planwright_model::ChoiceAction::Approve
                            | planwright_model::ChoiceAction::AllowOnce
                            | planwright_model::ChoiceAction::AllowForSession
                            | planwright_model::ChoiceAction::AllowAlways
                            | planwright_model::ChoiceAction::RaiseOnce
                            | planwright_model::ChoiceAction::RaiseForSession
                            | planwright_model::ChoiceAction::RaiseForGood
                    ))
                });
                assert!(!yes, "{name}: a click at {column},{row} sent {sent:?}");
            }
        }
    }
}

#[test]
fn a_search_finds_while_it_is_typed() {
    let mut shown = Fixture::recorded_work().live();
    shown.draw(120, 40);
    let before = shown.screen.ui.graph.selected.clone();
    shown.press(&["/"]);
    shown.type_text("por");
    assert_eq!(shown.screen.ui.graph.selected.as_ref().unwrap().as_str(), "port");
    let line = footer(&mut shown, 120, 40);
    assert!(line.starts_with(" /por") && line.contains("1 of "), "{line}");
    insta::assert_snapshot!("search_line_80x24", shown.frame(80, 24));
    shown.type_text("zzz");
    assert!(footer(&mut shown, 120, 40).contains("No match for \"porzzz\""));
    shown.press(&["Esc"]);
    assert_eq!(shown.screen.ui.graph.selected, before, "Esc leaves everything as it was");
    // Enter keeps what was found, and n goes on.
    shown.press(&["/"]);
    shown.type_text("e");
    shown.press(&["Enter"]);
    let first = shown.screen.ui.graph.selected.clone();
    shown.press(&["n"]);
    assert_ne!(shown.screen.ui.graph.selected, first);
    shown.press(&["N"]);
    assert_eq!(shown.screen.ui.graph.selected, first);
}

#[test]
fn a_command_without_a_match_is_searched_for() {
    let mut shown = Fixture::running().live();
    shown.draw(120, 40);
    shown.press(&[":"]);
    shown.type_text("announcement");
    let text = shown.text(120, 40);
    assert!(text.contains("No command for \"announcement\"."), "{text}");
    shown.press(&["Enter"]);
    assert!(footer(&mut shown, 120, 40).starts_with(" /announcement"));
}

mod settings {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::{SettingItem, SettingsStore};

    /// Settings in memory.
    #[derive(Debug, Default)]
    pub(super) struct KeptSettings(pub(super) Mutex<BTreeMap<String, String>>);

    impl SettingsStore for KeptSettings {
        fn items(&self) -> Result<Vec<SettingItem>, String> {
            let kept = self.0.lock().unwrap();
            let value = |name: &str, built_in: &str| {
                kept.get(name).cloned().unwrap_or_else(|| built_in.to_owned())
            };
            let item = |group, name, label, built_in: &str, effect: &str| SettingItem {
                group,
                name,
                label,
                value: value(name, built_in),
                shown: match name {
                    "daily_budget_usd" => format!("${}.00", value(name, built_in)),
                    _ => value(name, built_in),
                },
                effect: effect.to_owned(),
                choices: Vec::new(),
            };
            let themes = ["dark", "light"].map(str::to_owned).to_vec();
            Ok(vec![
                item("provider", "daily_budget_usd", "Limit for a day", "5", "asks before more"),
                SettingItem {
                    choices: themes,
                    ..item("display", "theme", "Theme", "dark", "changes at once")
                },
            ])
        }

        fn change(&self, name: &str, value: Option<&str>) -> Result<Option<String>, String> {
            if value == Some("x") {
                return Err("not an amount".to_owned());
            }
            let mut kept = self.0.lock().unwrap();
            Ok(match value {
                Some(value) => kept.insert(name.to_owned(), value.to_owned()),
                None => kept.remove(name),
            })
        }

        fn file_text(&self) -> Result<String, String> {
            Ok("theme = \"dark\"\n".to_owned())
        }

        fn replace_file(&self, _: &str) -> Result<(), String> {
            Ok(())
        }

        fn theme_names(&self) -> Vec<String> {
            vec!["dark".to_owned(), "light".to_owned()]
        }
    }

    fn opened() -> (Shown, Arc<KeptSettings>) {
        let store = Arc::new(KeptSettings::default());
        let mut shown = Fixture::running().live();
        shown.screen.use_settings_store(store.clone());
        shown.draw(120, 40);
        shown.press(&[":"]);
        shown.type_text("settings");
        shown.press(&["Enter"]);
        (shown, store)
    }

    fn kept(store: &KeptSettings, name: &str) -> Option<String> {
        store.0.lock().unwrap().get(name).cloned()
    }

    #[test]
    fn a_setting_is_changed_at_once_and_undone() {
        let (mut shown, store) = opened();
        insta::assert_snapshot!("settings_120x40", shown.frame(120, 40));
        insta::assert_snapshot!("settings_80x24", shown.frame(80, 24));
        shown.press(&["j", "Enter"]);
        assert_eq!(kept(&store, "theme").as_deref(), Some("light"));
        shown.press(&["u"]);
        assert_eq!(kept(&store, "theme"), None);
        // An amount is typed; what cannot be read stays in its box with the reason.
        shown.press(&["k", "Enter", "Ctrl-U", "x", "Enter"]);
        assert!(shown.text(120, 40).contains("not an amount"));
        shown.press(&["Ctrl-U", "7", "Enter"]);
        assert_eq!(kept(&store, "daily_budget_usd").as_deref(), Some("7"));
        shown.press(&["Esc"]);
        assert!(shown.screen.ui.overlay.is_none());
    }

    #[test]
    fn the_config_file_opens_in_the_editor() {
        let (mut shown, _) = opened();
        shown.press(&["Ctrl-G"]);
        let wanted = shown.screen.next_external_action();
        assert!(format!("{wanted:?}").contains("Config"), "{wanted:?}");
    }

    #[test]
    fn a_theme_is_chosen_by_its_name() {
        let store = Arc::new(KeptSettings::default());
        let mut shown = Fixture::running().live();
        shown.screen.use_settings_store(store.clone());
        shown.draw(120, 40);
        shown.press(&[":"]);
        shown.type_text("theme light");
        shown.press(&["Enter"]);
        assert_eq!(kept(&store, "theme").as_deref(), Some("light"));
        // What was used last comes first.
        shown.press(&[":"]);
        let text = shown.text(120, 40);
        assert!(text.contains("► Theme: light") && text.contains("recent"), "{text}");
    }
}
