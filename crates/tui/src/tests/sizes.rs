//! Every screen, in every state that draws differently, at every small size and at those around each limit of a layout.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fixture::{Fixture, pass};
use super::lint::lint;
use super::{home_views, replaying, sessions};
use crate::event_loop::InteractiveScreen;
use crate::session::ScreenMessage;

/// All sizes up to 12x12, then wide and low, narrow and high ones, and the neighbours of every limit of a layout.
fn sizes() -> Vec<(u16, u16)> {
    let mut sizes: Vec<(u16, u16)> =
        (1..=12).flat_map(|width| (1..=12).map(move |height| (width, height))).collect();
    let limits =
        [15, 16, 19, 20, 21, 23, 24, 29, 30, 44, 45, 59, 60, 79, 80, 99, 100, 101, 119, 120, 160];
    for limit in limits {
        for small in [1, 3, 12, 16, 24, 45] {
            sizes.extend([(limit, small), (small, limit)]);
        }
    }
    sizes.extend([(500, 1), (500, 3), (500, 12), (1, 200), (3, 200), (12, 200), (500, 200)]);
    sizes
}

fn draw_everywhere(app: &mut impl InteractiveScreen, what: &str) {
    for (width, height) in sizes() {
        let drawn = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
            app.draw(&mut buf).unwrap();
            lint(&buf);
        }));
        assert!(drawn.is_ok(), "{what} at {width}x{height}");
    }
}

fn press(app: &mut impl InteractiveScreen, keys: &str) {
    for letter in keys.chars() {
        let code = match letter {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\u{1b}' => KeyCode::Esc,
            '\u{2193}' => KeyCode::Down,
            '\u{7f}' => KeyCode::Delete,
            letter => KeyCode::Char(letter),
        };
        let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        app.update(ScreenMessage::Input(event)).unwrap();
        let _ = app.take_external_action();
    }
}

#[test]
fn home_is_drawn_at_every_size_in_every_state() {
    let long = "i many words of a goal that do not fit into one line \u{6771}\u{4eac} of any box";
    let states = [
        "",
        "i",
        long,
        "/",
        "/port",
        "/port\t",
        "tw",
        "\u{7f}",
        "t",
        "tl",
        "?",
        ":",
        ":op",
        "\u{2193}\u{2193}",
        "\t",
        " ",
    ];
    for keys in states {
        for (name, view) in [("empty", home_views::first_view()), ("full", home_views::full_view())]
        {
            let mut home = sessions::stage(view).home;
            press(&mut home, keys);
            draw_everywhere(&mut home, &format!("home, {name}, after {keys:?}"));
        }
    }
}

#[test]
fn a_session_is_drawn_at_every_size_in_every_state() {
    let states = [
        "", "?", ":", ":re", "/", "/a", "r", "i", "f", "p", "v", "\t", "\t\t", "\n", "g", "c", "z",
        "1", "2", "3", "5",
    ];
    let fixtures = [
        Fixture::release(),
        Fixture::running(),
        Fixture::failed(),
        Fixture::in_doubt(),
        Fixture::capped(),
    ];
    for (number, fixture) in fixtures.iter().enumerate() {
        for keys in states {
            let mut shown = fixture.live();
            pass(400);
            press(&mut shown.screen, keys);
            draw_everywhere(&mut shown.screen, &format!("session {number} after {keys:?}"));
        }
        let mut past = fixture.replay(3);
        draw_everywhere(&mut past.screen, &format!("replay of session {number}"));
    }
}

#[test]
fn a_comparison_is_drawn_at_every_size() {
    for keys in ["", "\n", "?", "\u{2193}\n", "f", "s", "t"] {
        let mut screen = replaying::screen(&std::sync::Arc::default());
        press(&mut screen, keys);
        draw_everywhere(&mut screen, &format!("comparison after {keys:?}"));
    }
}
