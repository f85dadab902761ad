//! The terminal itself: gone, or resized and pasted into excessively.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::times;
use crate::program::{DIAMOND, Place};
use crate::screen::{Terminal, assert_restored, cells};
use crate::torture::Random;

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// The other end of the terminal is closed, as when a window is closed.
#[test]
fn a_terminal_that_is_gone_ends_the_session_cleanly() {
    for round in 0..times("PLANWRIGHT_SIGNALS", 2) {
        let running = round % 2 == 1;
        let place = Place::new();
        let plan = place.plan(
            "title = \"Long\"\n[[tasks]]\nid = \"a\"\ndescription = \"Wait\"\nrun = { shell = \"echo $$ > pid; sleep 600\" }\n",
        );
        let pair = native_pty_system().openpty(size(40, 120)).unwrap();
        let mut command = CommandBuilder::new(assert_cmd::cargo::cargo_bin("planwright"));
        command.args(["run", &plan]);
        command.cwd(place.work());
        command.env("PLANWRIGHT_DATA_DIR", place.data());
        command.env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"));
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let mut writer = Some(pair.master.take_writer().unwrap());
        let mut parser = vt100::Parser::new(cells(40), cells(120), 0);
        let mut buffer = [0; 8192];
        let file = place.work().join("pid");
        let begun = move || std::fs::read_to_string(&file).is_ok_and(|pid| !pid.trim().is_empty());
        let mut asks = false;
        // A card accepts no key at the moment it appears: press it until the command has started.
        let mut presses = None;
        while !(asks && (!running || begun())) {
            let read = reader.read(&mut buffer).unwrap();
            parser.process(&buffer[..read]);
            asks |= parser.screen().contents().contains("run this plan?");
            if asks && running && presses.is_none() {
                let (mut writer, begun) = (writer.take().unwrap(), begun.clone());
                presses = Some(std::thread::spawn(move || {
                    while !begun() {
                        writer.write_all(b"a").unwrap();
                        writer.flush().unwrap();
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }));
            }
        }
        if let Some(presses) = presses {
            presses.join().unwrap();
        }
        drop((reader, writer, pair.master));
        let deadline = Instant::now() + Duration::from_secs(40);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "it ends when its terminal is gone");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(child.wait().unwrap().exit_code(), 129);
        while super::outside::is_used(&place.work()) {
            assert!(Instant::now() < deadline, "its commands end as well");
            std::thread::sleep(Duration::from_millis(5));
        }
        let expected = if running { "stopped" } else { "needs you" };
        assert_eq!(place.sessions()[0]["status"], expected);
    }
}

/// Sizes from one cell to very large and a large paste: the last frame is the one that a fresh screen of that
/// size would show.
#[test]
fn resizes_and_a_paste_leave_the_frame_that_a_fresh_start_draws() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let mut terminal = Terminal::start(&place, &["replay", "last"], 40, 120);
    terminal.shows("REPLAY");
    let mut random = Random(7);
    for _ in 0..times("PLANWRIGHT_RESIZES", 200) {
        let (rows, cols) = (1 + random.below(200) as u16, 1 + random.below(500) as u16);
        terminal.master.resize(size(rows, cols)).unwrap();
        terminal.skim();
    }
    terminal.keys(&format!("\x1b[200~{}\x1b[201~", "paste q ".repeat(131_072)));
    terminal.resize(40, 120);
    // Back to the first view and the last event.
    at_the_end(&mut terminal);
    let (after, colors) = settled_screen(&mut terminal);
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);

    let mut fresh = Terminal::start(&place, &["replay", "last"], 40, 120);
    fresh.shows("REPLAY");
    at_the_end(&mut fresh);
    let (expected, expected_colors) = settled_screen(&mut fresh);
    fresh.keys("q");
    fresh.end();
    assert_eq!(after, expected);
    assert!(colors == expected_colors, "the colours differ");
}

fn at_the_end(terminal: &mut Terminal) {
    terminal.press_while("2", |text| !text.contains("graph"));
    terminal.press_while("\x1b[F", |text| !text.contains("no landmark after this"));
}

/// The screen once everything typed is processed and drawn: input is processed in order, so a palette that opened
/// and closed came last, and every frame marks its end.
fn settled_screen(terminal: &mut Terminal) -> (String, String) {
    terminal.press_until(":", "┌── commands");
    terminal.press_while("\x1b", |text| text.contains("┌── commands"));
    terminal.until_written("\x1b[?2026l");
    (terminal.text(), terminal.parser.screen().contents_formatted())
}
