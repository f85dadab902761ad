//! Random keys, sizes and texts: nothing panics, and nothing that acts on a terminal gets into a frame.

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use proptest::prelude::*;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;

use super::fixture::{Fixture, pass, release_plan};
use super::lint::lint;
use crate::session::ScreenMessage;
use planwright_model::RunKind;

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
            shown.screen.update(ScreenMessage::Input(event)).unwrap();
            lint(&shown.draw(width, height));
            pass(90);
            shown.screen.update(ScreenMessage::Tick).unwrap();
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
            shown.screen.update(ScreenMessage::Input(event)).unwrap();
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
    let broken: [&[u8]; 4] = [b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f\x98"];
    (0..10_000)
        .map(|number| {
            let mut text: String = (0..=next(6)).map(|_| parts[next(parts.len())]).collect();
            // What is not text is replaced before it is kept.
            if number % 5 == 0 {
                text.push_str(&String::from_utf8_lossy(broken[next(broken.len())]));
            }
            text
        })
        .collect()
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

/// A session in which every string stands in the title of a task of its own, in its id, its command and its output.
fn spread(group: &[String]) -> Fixture {
    let mut plan = release_plan();
    let model = plan.tasks[0].clone();
    plan.tasks = group
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let mut task = model.clone();
            task.id = format!("x{number}{text}").as_str().into();
            task.description = format!("t{number} {text}");
            task.run = RunKind::Shell(format!("echo {text}"));
            task
        })
        .collect();
    let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.to_string()).collect();
    let title = group.first().cloned().unwrap_or_default();
    let mut fixture = Fixture::new(&title).propose(plan, vec![]).ask_plan().approved();
    for (id, text) in ids.iter().zip(group) {
        fixture = fixture.start(id).output(id, text).fail(id, 1, text);
    }
    fixture
}

/// What is written beside frames: the notice, the clipboard and the words that stay in the scrollback.
fn check_beside(text: &str, summary: &str) {
    let notice = String::from_utf8(crate::external_programs::notification_sequence(text)).unwrap();
    let (escapes, bells) = (notice.matches('\u{1b}').count(), notice.matches('\u{7}').count());
    assert_eq!((escapes, bells), (4, 1), "{notice:?}");
    let copied = String::from_utf8(crate::external_programs::clipboard_sequence(text)).unwrap();
    let coded = copied.strip_prefix("\u{1b}]52;c;").unwrap();
    let end = coded.find(|letter: char| letter.is_control()).unwrap();
    assert!(coded[end..] == *"\u{7}" || coded[end..] == *"\u{1b}\\", "{copied:?}");
    let acts = |letter: char| letter.is_control() && letter != '\n';
    assert!(!summary.contains(acts), "{summary:?}");
}

/// Every string goes through every text path of the session screen: titles, ids, commands and output in all views, the
/// trace, lists and cards, questions, evidence, answers and choices, what is typed, what is sent to the terminal
/// beside frames. Each stands in a row of its own, so that all of them are drawn.
#[test]
fn ten_thousand_hostile_strings_reach_no_terminal() {
    let strings = ten_thousand();
    assert_eq!(strings.len(), 10_000);
    let requests = super::journals::every_request();
    for (index, group) in strings.chunks(50).enumerate() {
        let fixture = spread(group);
        let mut shown = if index % 2 == 0 { fixture.live() } else { fixture.replay(200) };
        for (key, view) in [("2", "graph"), ("1", "outline"), ("3", "Gantt"), ("5", "table")] {
            shown.press(&[key]);
            let whole = matches!(view, "outline" | "table");
            let buf = if whole { shown.draw(120, 130) } else { shown.draw(100, 50) };
            check(&buf);
            // The table names tasks by their titles alone.
            if view == "outline" {
                let text = super::fixture::text_of(&buf);
                let name = if view == "table" { 'x' } else { 't' };
                let missing = (0..group.len()).find(|at| !text.contains(&format!("{name}{at}")));
                assert_eq!(missing, None, "{view} shows every task:\n{text}");
            }
        }
        shown.screen.ui.focus = crate::ui_state::PaneFocus::Trace;
        check(&shown.draw(80, 160));
        for keys in [&["Enter"][..], &[":"], &["Esc", "#"]] {
            shown.press(keys);
            check(&shown.draw(100, 60));
        }
        let summary = shown.screen.exit_summary(crate::ExitReason::Quit);
        for text in group {
            check_beside(text, &summary);
        }
        let (_, request) = &requests[index % requests.len()];
        let mut shown = hostile_request(request.clone(), group).live();
        check(&shown.draw(100, 220));
        shown.press(&["r"]);
        shown.screen.update(ScreenMessage::Input(Event::Paste(group.join("\n")))).unwrap();
        check(&shown.draw(80, 60));
    }
}

/// The same request with hostile words in every field, and evidence with all of them.
fn hostile_request(mut fixture: Fixture, group: &[String]) -> Fixture {
    use planwright_model::RequestKind;
    use planwright_model::event::{ApprovalEvent, Event as Happened};
    use planwright_model::request::RequestDetail;
    let mut texts = group.iter().cycle();
    let mut add = |text: &mut String| text.push_str(texts.next().map_or("", String::as_str));
    for record in &mut fixture.records {
        if let Happened::Approval(ApprovalEvent::Asked { request }) = &mut record.event {
            let asked = std::sync::Arc::make_mut(request);
            add(&mut asked.question);
            add(&mut asked.why);
            asked
                .details
                .extend(group.iter().map(|text| RequestDetail::new("evidence", text.clone())));
            asked
                .verbatim
                .extend(group.iter().map(|text| RequestDetail::new("command", text.clone())));
            for detail in asked.details.iter_mut().chain(&mut asked.verbatim) {
                add(&mut detail.label);
            }
            for choice in &mut asked.choices {
                add(&mut choice.label);
                add(&mut choice.consequence);
            }
            if let RequestKind::Questions { questions } = &mut asked.kind {
                for question in questions {
                    add(&mut question.text);
                    add(&mut question.assumed);
                    for choice in &mut question.choices {
                        add(&mut choice.answer);
                        add(&mut choice.effect);
                    }
                }
            }
        }
    }
    fixture
}
