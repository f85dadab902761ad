//! Sizes, keys and pastes without end: no panic, and what the terminal shows in the end is what a fresh one would show.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::fixture::{Fixture, Shown, pass};
use super::lint::lint;
use crate::session::ScreenMessage;
use planwright_text::display_width;

fn random(state: &mut u64, below: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % below
}

fn key(state: &mut u64) -> Event {
    let codes = [
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::F(5),
    ];
    let code = match random(state, 4) {
        0 => codes[random(state, codes.len() as u64) as usize],
        1 => KeyCode::Char(char::from_u32(random(state, 0x3000) as u32).unwrap_or('x')),
        _ => KeyCode::Char(char::from(32 + random(state, 95) as u8)),
    };
    let modifiers = match random(state, 12) {
        0 => KeyModifiers::CONTROL,
        1 => KeyModifiers::ALT,
        2 => KeyModifiers::SHIFT,
        _ => KeyModifiers::NONE,
    };
    Event::Key(KeyEvent::new(code, modifiers))
}

/// Draws as the program does: only what changed since the last frame is written.
fn draw(shown: &mut Shown, terminal: &mut Terminal<TestBackend>) {
    terminal.draw(|frame| shown.screen.draw(frame.buffer_mut()).unwrap()).unwrap();
}

fn shows_what_a_fresh_one_would(shown: &mut Shown, terminal: &mut Terminal<TestBackend>) {
    draw(shown, terminal);
    let area = *terminal.backend().buffer().area();
    let fresh = shown.draw(area.width, area.height);
    lint(&fresh);
    let shown = terminal.backend().buffer();
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let (ours, theirs) = (&shown[(x, y)], &fresh[(x, y)]);
            assert_eq!(ours, theirs, "at {x}, {y}");
            // What a wide character covers is not drawn.
            x += (display_width(theirs.symbol()) as u16).max(1);
        }
    }
}

#[test]
fn a_thousand_sizes_leave_the_frame_of_the_last_one() {
    let mut state = 0x5eed_0004;
    for fixture in [Fixture::release(), Fixture::running(), Fixture::failed()] {
        let mut shown = fixture.live();
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        for number in 0..1_000 {
            let (width, height) =
                (1 + random(&mut state, 500) as u16, 1 + random(&mut state, 200) as u16);
            terminal.backend_mut().resize(width, height);
            // Some come faster than frames do.
            if number % 10 == 0 {
                draw(&mut shown, &mut terminal);
            }
        }
        terminal.backend_mut().resize(120, 40);
        shows_what_a_fresh_one_would(&mut shown, &mut terminal);
    }
}

#[test]
fn ten_thousand_keys_break_nothing() {
    let mut state = 0x5eed_0005;
    for fixture in [Fixture::release(), Fixture::running(), Fixture::failed(), Fixture::in_doubt()]
    {
        let mut shown = fixture.live();
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        for number in 0..2_500 {
            shown.screen.update(ScreenMessage::Input(key(&mut state))).unwrap();
            while shown.sent().is_some() {}
            let _ = shown.screen.next_external_action();
            if number % 25 == 0 {
                pass(400);
                shown.screen.update(ScreenMessage::Tick).unwrap();
                draw(&mut shown, &mut terminal);
            }
        }
        shows_what_a_fresh_one_would(&mut shown, &mut terminal);
    }
}

#[test]
fn a_paste_of_a_megabyte_is_taken_or_refused_and_drawn() {
    let text = "a line that was pasted \u{1b}[2J日本 \u{202e}\n".repeat(30_000);
    assert!(text.len() > 1 << 20);
    for keys in [&[][..], &["r"], &["/"], &[":"], &["Tab"]] {
        let mut shown = Fixture::release().live();
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        shown.press(keys);
        shown.screen.update(ScreenMessage::Input(Event::Paste(text.clone()))).unwrap();
        shows_what_a_fresh_one_would(&mut shown, &mut terminal);
    }
}
