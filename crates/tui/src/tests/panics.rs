//! A panic while a frame is drawn: the terminal is given back, and the message comes after that.
//!
//! The test binary runs itself again in a terminal of its own, and one test plays the part of the broken screen.

use std::io::Read;
use std::time::Duration;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::buffer::Buffer;

use crate::event_loop::{InteractiveScreen, run_screen};
use crate::session::{ScreenEffect, ScreenMessage};
use crate::{KeyError, UiAppearance};
use planwright_state::replay::RecordSourceError;

const ROLE: &str = "PLANWRIGHT_TEST_BROKEN";

/// Draws a few frames and then cannot any more.
struct Broken {
    frames: u32,
}

impl InteractiveScreen for Broken {
    fn update(&mut self, _: ScreenMessage) -> Result<ScreenEffect, RecordSourceError> {
        Ok(ScreenEffect::Draw)
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), RecordSourceError> {
        self.frames += 1;
        assert!(self.frames < 4, "broken as the test asked");
        buf.set_string(0, 0, format!("frame {}", self.frames), ratatui::style::Style::new());
        Ok(())
    }

    fn tick_delay(&mut self) -> Option<Duration> {
        Some(Duration::from_millis(20))
    }

    fn show_notice(&mut self, _: &str) {}

    fn apply_appearance(&mut self, _: &UiAppearance) -> Result<(), KeyError> {
        Ok(())
    }
}

#[test]
fn plays_the_broken_screen() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _ = runtime.block_on(run_screen(&mut Broken { frames: 0 }, None, None));
}

#[test]
fn a_panic_in_drawing_gives_the_terminal_back_before_it_says_so() {
    let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let me = std::env::current_exe().unwrap();
    let mut command = CommandBuilder::new("sh");
    let role = "tests::panics::plays_the_broken_screen";
    command.args(["-c", "\"$0\" --exact \"$1\" --nocapture; echo exit $?; stty -a"]);
    command.arg(me);
    command.arg(role);
    command.env(ROLE, "1");
    command.env("TERM", "xterm-256color");
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut raw = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        raw.extend_from_slice(&buffer[..read]);
    }
    child.wait().unwrap();
    let raw = String::from_utf8_lossy(&raw).into_owned();
    let at = |words: &str| raw.rfind(words).unwrap_or_else(|| panic!("no {words:?} in {raw:?}"));
    assert!(at("\x1b[?1049h") < at("\x1b[?1049l"), "the screen was left");
    assert!(at("\x1b[?1049l") < at("broken as the test asked"), "the message comes after it");
    assert!(at("\x1b[?25l") < at("\x1b[?25h"), "the cursor is back");
    assert!(raw.contains("exit 101"), "{raw:?}");
    let settings = &raw[at("exit 101")..];
    assert!(!settings.contains("-icanon") && !settings.contains("-echo "), "{settings}");
}
