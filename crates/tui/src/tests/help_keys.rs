//! Every key that the help screen lists does something somewhere: generated from the one table of actions.

use super::fixture::{Fixture, Shown};
use super::{journals, planned};
use crate::keymap::{ActionEntry, KeyContext, TABLE};
use crate::session::ScreenEffect;

/// A situation: what happened so far, and the keys that lead to a pane; `None` looks at the past.
struct Scene {
    fixture: Fixture,
    keys: Option<&'static [&'static str]>,
}

impl Scene {
    fn show(&self) -> Shown {
        let Some(keys) = self.keys else {
            let mut shown = self.fixture.replay(self.fixture.records.len() as u64 / 2);
            shown.draw(120, 40);
            return shown;
        };
        let mut shown = self.fixture.live();
        shown.draw(120, 40);
        for key in keys {
            shown.press(&[key]);
            shown.draw(120, 40);
        }
        while shown.sent().is_some() {}
        shown
    }
}

/// Situations in which keys mean something: live, in the past, with every kind of request, with every pane in focus.
fn scenes() -> Vec<Scene> {
    const WAYS: [&[&str]; 7] =
        [&[], &["Tab"], &["Tab", "Tab"], &["5"], &["j", "l"], &["End"], &["o"]];
    let mut fixtures = vec![
        Fixture::running(),
        Fixture::failed(),
        Fixture::in_doubt(),
        Fixture::capped(),
        Fixture::release().ask_plan(),
        Fixture::running().pause(),
        planned::outlined(),
        planned::scheduled(),
        planned::discussed(),
    ];
    fixtures.extend(journals::every_request().into_iter().map(|(_, fixture)| fixture));
    let ways = WAYS.iter().map(|way| Some(*way)).chain([None]);
    ways.flat_map(|keys| {
        fixtures.iter().map(move |fixture| Scene { fixture: fixture.clone(), keys })
    })
    .collect()
}

/// Whether a key changes the frame, sends something, leaves, or asks something of the terminal.
fn responds(shown: &mut Shown, key: &str) -> bool {
    let before = shown.text(120, 40);
    let flow = shown.press(&[key]);
    let outside = shown.screen.next_external_action().is_some();
    let sent = shown.sent().is_some();
    let after = shown.text(120, 40);
    sent || outside
        || before != after
        || matches!(flow, ScreenEffect::Exit(_) | ScreenEffect::Suspend)
}

#[test]
fn every_key_in_the_help_of_a_session_works() {
    let listed =
        |entry: &&ActionEntry| !entry.place.is_home() && entry.place != KeyContext::Compare;
    let scenes = scenes();
    let mut silent = Vec::new();
    for entry in TABLE.iter().filter(listed) {
        for key in entry.keys {
            let works = scenes.iter().any(|scene| responds(&mut scene.show(), key));
            if !works {
                silent.push(format!("{key} for {}", entry.name));
            }
        }
    }
    assert!(silent.is_empty(), "these keys do nothing anywhere: {silent:?}");
}
