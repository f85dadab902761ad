//! Random keys, sizes and texts: nothing panics, and nothing that acts on a terminal gets into a frame.

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use proptest::prelude::*;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;

use super::fixture::{Fixture, pass, release_plan};
use super::lint::lint;
use crate::model::RunKind;
use crate::tui::session::Message;

fn input() -> impl Strategy<Value = Event> {
    let letters = "hjklzfqtaswxXRDSPnNdgLyY?[]{}-+= 0123456789:/*&eircKuUpoTmvw<>"
        .chars()
        .collect::<Vec<_>>();
    let codes = vec![
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Backspace,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
    ];
    let kinds = vec![
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::Drag(MouseButton::Left),
        MouseEventKind::Up(MouseButton::Left),
        MouseEventKind::ScrollUp,
        MouseEventKind::ScrollDown,
        MouseEventKind::ScrollLeft,
    ];
    let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
    prop_oneof![
        4 => prop::sample::select(letters).prop_map(move |letter| key(KeyCode::Char(letter))),
        4 => prop::sample::select(codes).prop_map(key),
        2 => (prop::sample::select(kinds), 0..210_u16, 0..70_u16).prop_map(|(kind, column, row)| {
            Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
        }),
        1 => hostile().prop_map(Event::Paste),
    ]
}

fn hostile() -> impl Strategy<Value = String> {
    let parts = vec![
        "\u{1b}[2J",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]52;c;AAAA\u{1b}\\",
        "\u{9b}31m",
        "\u{202e}",
        "\u{200b}",
        "\u{2066}",
        "\u{feff}",
        "\r",
        "\n",
        "\t",
        "\u{8}",
        "\0",
        "日本",
        "👩‍💻",
        "e\u{301}\u{301}",
        "text ",
        "─┃",
        "\u{e0041}",
        "\u{2028}",
        "\u{ad}",
        "\u{7f}",
    ];
    prop::collection::vec(prop::sample::select(parts), 0..8).prop_map(|parts| parts.concat())
}

/// A session in which every text is hostile.
fn session(text: &str) -> Fixture {
    let mut plan = release_plan();
    for task in &mut plan.tasks {
        task.description = format!("{}{text}", task.description);
    }
    plan.tasks[3].run = RunKind::Shell(format!("echo {text}"));
    plan.tasks[6].id = format!("announce{text}").as_str().into();
    plan.tasks[4].dependencies.retain(|link| link.task.as_str() != "announce");
    Fixture::new(text)
        .propose(plan, vec![])
        .ask_plan()
        .wait(60)
        .approved()
        .start("audit")
        .output("audit", &format!("{text}\n{text}\n"))
        .hand_over("keys")
        .wait(20)
        .fail("audit", 20, text)
        .start("bench")
        .output("bench", text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_keys_sizes_or_texts_break_a_frame(
        text in hostile(),
        live: bool,
        at in 0..14_u64,
        inputs in prop::collection::vec((input(), 1..=200_u16, 1..=60_u16), 1..40),
    ) {
        let fixture = session(&text);
        let mut shown = if live { fixture.live() } else { fixture.replay(at) };
        for (event, width, height) in inputs {
            shown.screen.update(Message::Input(event)).unwrap();
            lint(&shown.draw(width, height));
            pass(90);
            shown.screen.update(Message::Tick).unwrap();
        }
    }

    #[test]
    fn a_session_that_grows_under_the_screen_breaks_nothing(
        cut in 0..30_usize,
        inputs in prop::collection::vec(input(), 0..20),
    ) {
        let whole = Fixture::failed();
        let mut part = whole.clone();
        part.records.truncate(cut);
        let mut shown = part.live();
        for (step, event) in inputs.into_iter().enumerate() {
            part.records = whole.records[..(cut + step).min(whole.records.len())].to_vec();
            shown.grow(&part);
            shown.screen.update(Message::Input(event)).unwrap();
            lint(&shown.draw(120, 40));
        }
        shown.grow(&whole);
        prop_assert!(!shown.screen.is_behind());
    }
}

/// Ten thousand strings made of what terminals act on, from a fixed seed.
fn ten_thousand() -> Vec<String> {
    let parts = [
        "\u{1b}[2J",
        "\u{1b}]0;t\u{7}",
        "\u{1b}]52;c;QQ==\u{1b}\\",
        "\u{1b}P+q\u{1b}\\",
        "\u{1b}_x\u{9c}",
        "\u{9b}31m",
        "\u{9d}8;;x\u{9c}",
        "\u{202e}",
        "\u{2066}",
        "\u{200b}",
        "\u{200d}",
        "\u{feff}",
        "\r",
        "\n",
        "\t",
        "\u{8}",
        "\0",
        "\u{7f}",
        "\u{85}",
        "\u{fffd}",
        "日本",
        "👩‍💻",
        "e\u{301}\u{301}",
        "a",
        " ",
        "─┃",
        "\u{e0041}",
        "\u{2028}",
        "\u{ad}",
        "\u{1b}",
    ];
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |most: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % most as u64) as usize
    };
    (0..10_000).map(|_| (0..=next(6)).map(|_| parts[next(parts.len())]).collect()).collect()
}

/// Checks a frame, and then the bytes that a backend makes of it: beside its own sequences for places and styles nothing
/// below a space, no delete, no C1 control, nothing that turns the direction of text or takes no room.
fn check(buf: &Buffer) {
    lint(buf);
    let mut bytes = Vec::new();
    let cells = buf.content().iter().enumerate().map(|(index, cell)| {
        let (x, y) = buf.pos_of(index);
        (x, y, cell)
    });
    CrosstermBackend::new(&mut bytes).draw(cells).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            assert_eq!(letters.next(), Some('['), "a sequence that is not the backend's");
            let end = letters.find(|letter| ('\u{40}'..='\u{7e}').contains(letter));
            assert!(matches!(end, Some('m' | 'H')), "a sequence that ends in {end:?}");
            continue;
        }
        let acts = letter < ' '
            || ('\u{7f}'..='\u{9f}').contains(&letter)
            || matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        assert!(!acts, "{letter:?} reaches the terminal");
    }
}

/// All strings go through every text path: titles, ids, commands, output, notes, questions, evidence, answers, drafts,
/// comments and what is typed. Several share a frame, so that all of them are drawn.
#[test]
fn ten_thousand_hostile_strings_reach_no_terminal() {
    let strings = ten_thousand();
    let requests = super::planned::every_request();
    for (index, group) in strings.chunks(200).enumerate() {
        let text = group.concat();
        let fixture = session(&text).output("bench", &group.join("\n"));
        let live = index % 2 == 0;
        let mut shown = if live { fixture.live() } else { fixture.replay(index as u64 % 14) };
        for keys in [&["1"][..], &["2"], &["3"], &["4"], &["Tab", "Enter"], &[":"], &["Esc", "?"]] {
            shown.press(keys);
            check(&shown.draw(100, 30));
        }
        let (_, request) = &requests[index % requests.len()];
        let mut shown = hostile_request(request.clone(), &text).live();
        check(&shown.draw(120, 40));
        shown.press(&["r"]);
        shown.screen.update(Message::Input(Event::Paste(text.clone()))).unwrap();
        check(&shown.draw(80, 24));
    }
}

/// The same request with hostile words in every field.
fn hostile_request(mut fixture: Fixture, text: &str) -> Fixture {
    use crate::event::{ApprovalEvent, Event as Happened};
    for record in &mut fixture.records {
        if let Happened::Approval(ApprovalEvent::Asked { request }) = &mut record.event {
            let asked = std::sync::Arc::make_mut(request);
            asked.question.push_str(text);
            asked.why.push_str(text);
            for detail in asked.details.iter_mut().chain(&mut asked.verbatim) {
                detail.label.push_str(text);
                detail.text.push_str(text);
            }
            for choice in &mut asked.choices {
                choice.label.push_str(text);
                choice.consequence.push_str(text);
            }
        }
    }
    fixture
}
