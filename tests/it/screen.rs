//! The whole program in a real pseudo-terminal, read through a terminal emulator.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::program::{DIAMOND, Place};

/// How often a condition outside the screen is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a screen may take to show something, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// A running program and the screen it draws.
pub struct Terminal {
    pub master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    pub child: Box<dyn Child + Send + Sync>,
    pieces: Receiver<Vec<u8>>,
    pub parser: vt100::Parser,
    raw: Vec<u8>,
}

impl Terminal {
    pub fn start(place: &Place, args: &[&str], rows: u16, cols: u16) -> Self {
        Self::start_with(place, args, rows, cols, &[])
    }

    pub fn start_with(
        place: &Place,
        args: &[&str],
        rows: u16,
        cols: u16,
        environment: &[(&str, &str)],
    ) -> Self {
        let program = assert_cmd::cargo::cargo_bin("planwright");
        Self::program(place, &program.to_string_lossy(), args, (rows, cols), environment)
    }

    /// Any program, in the same environment as Planwright.
    pub fn program(
        place: &Place,
        program: &str,
        args: &[&str],
        (rows, cols): (u16, u16),
        environment: &[(&str, &str)],
    ) -> Self {
        let pair = native_pty_system()
            .openpty(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 })
            .unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(place.work());
        command.env("PLANWRIGHT_DATA_DIR", place.data());
        command.env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"));
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("TZ", "UTC");
        for (name, value) in environment {
            command.env(name, value);
        }
        std::fs::write(place.dir.path().join("config.toml"), "").unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, pieces) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        let parser = vt100::Parser::new(cells(rows), cells(cols), 0);
        Self { master: pair.master, writer, child, pieces, parser, raw: Vec::new() }
    }

    /// Reads what was drawn so far, without waiting.
    pub fn skim(&mut self) {
        while let Ok(bytes) = self.pieces.try_recv() {
            self.parser.process(&bytes);
            self.raw.extend(bytes);
        }
    }

    /// Everything that was written so far.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Resizes the window.
    pub fn resize(&mut self, rows: u16, cols: u16) {
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.parser.screen_mut().set_size(cells(rows), cells(cols));
    }

    /// Presses the left button of the mouse on a cell, counted from 1.
    fn click(&mut self, column: u16, row: u16) {
        self.keys(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    /// Where a text is on the screen, counted from 1.
    fn find(&self, words: &str) -> Option<(u16, u16)> {
        let text = self.text();
        text.lines().zip(1..).find_map(|(line, row)| {
            let at = line.find(words)?;
            Some((line[..at].chars().count() as u16 + 1, row))
        })
    }

    /// Waits until a text is on the screen and returns where it is.
    fn seen(&mut self, words: &str) -> (u16, u16) {
        self.shows(words);
        self.find(words).expect("they are on the screen")
    }

    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// Looks at the screen once: reads what is drawn within a moment.
    pub fn look(&mut self) {
        if let Ok(bytes) = self.pieces.recv_timeout(POLL_INTERVAL) {
            self.parser.process(&bytes);
            self.raw.extend(bytes);
        }
    }

    /// Reads what the program draws until the screen satisfies a condition.
    pub fn until(&mut self, what: &str, condition: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition(&self.text()) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no {what} on the screen:\n{}", self.text());
            if let Ok(bytes) = self.pieces.recv_timeout(left.min(POLL_INTERVAL)) {
                self.parser.process(&bytes);
                self.raw.extend(bytes);
            }
        }
    }

    /// Reads what the program draws until its last bytes are these.
    pub fn until_written(&mut self, last: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.raw.ends_with(last.as_bytes()) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the last bytes are not {last:?}:\n{}", self.text());
            if let Ok(bytes) = self.pieces.recv_timeout(left) {
                self.parser.process(&bytes);
                self.raw.extend(bytes);
            }
        }
    }

    pub fn shows(&mut self, words: &str) {
        self.until(words, |text| text.contains(words));
    }

    /// Presses a key until the screen reacts: a card accepts no keys at the moment it appears.
    pub fn press_until(&mut self, key: &str, words: &str) {
        self.press_while(key, |text| !text.contains(words));
    }

    pub fn press_while(&mut self, key: &str, condition: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.keys(key);
            let pause = Instant::now() + Duration::from_millis(400);
            while let Ok(bytes) =
                self.pieces.recv_timeout(pause.saturating_duration_since(Instant::now()))
            {
                self.parser.process(&bytes);
                self.raw.extend(bytes);
            }
            if !condition(&self.text()) {
                return;
            }
            assert!(Instant::now() < deadline, "{key} does not lead on:\n{}", self.text());
        }
    }

    /// Presses a key until something is gone, and gives each press its time: one too many would change more.
    fn press_patiently_while(&mut self, key: &str, condition: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while condition(&self.text()) {
            assert!(Instant::now() < deadline, "{key} does not lead on:\n{}", self.text());
            self.keys(key);
            let pause = Instant::now() + Duration::from_secs(5);
            while condition(&self.text())
                && let Ok(bytes) =
                    self.pieces.recv_timeout(pause.saturating_duration_since(Instant::now()))
            {
                self.parser.process(&bytes);
                self.raw.extend(bytes);
            }
        }
    }

    /// Waits for the end and returns the exit code and everything that was written.
    pub fn end(mut self) -> (u32, String) {
        let deadline = Instant::now() + PATIENCE;
        let code = loop {
            while let Ok(bytes) = self.pieces.try_recv() {
                self.raw.extend(bytes);
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.exit_code();
            }
            assert!(Instant::now() < deadline, "it does not end:\n{}", self.text());
            std::thread::yield_now();
        };
        while let Ok(bytes) = self.pieces.recv_timeout(Duration::from_millis(500)) {
            self.raw.extend(bytes);
        }
        (code, String::from_utf8_lossy(&self.raw).into_owned())
    }
}

pub fn cells(number: u16) -> std::num::NonZero<u16> {
    std::num::NonZero::new(number).unwrap()
}

/// The last thing that a program does to the alternate screen is to leave it, and the cursor is shown again.
pub fn assert_restored(raw: &str) {
    let (left, entered) = (raw.rfind("\x1b[?1049l"), raw.rfind("\x1b[?1049h"));
    assert!(entered.is_some() && left > entered, "the alternate screen was not left");
    assert!(raw.rfind("\x1b[?25h") > raw.rfind("\x1b[?25l"), "the cursor stays hidden");
}

fn approve_watch_quit_and_replay(rows: u16, cols: u16) {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["run", &plan], rows, cols);
    terminal.shows("run this plan?");
    assert!(!place.work().join("done.txt").exists());
    // Every command has to be seen before the yes keys work.
    for _ in 0..12 {
        terminal.keys("j");
    }
    terminal.press_while("a", |text| text.contains("run this plan?"));
    terminal.until("4 of 4 done", |text| text.contains("4/4") || text.contains("4 of 4 done"));
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);
    let done = std::fs::read_to_string(place.work().join("done.txt")).unwrap();
    assert_eq!(done.lines().count(), 4);

    let mut terminal = Terminal::start(&place, &["replay", "last"], rows, cols);
    terminal.shows("REPLAY");
    terminal.press_until("\x1b[H", "event 1");
    terminal.press_until("]", "event 2");
    terminal.press_until("[", "event 1");
    terminal.keys("\x1b[F");
    terminal.shows("no landmark after this");
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);
    assert_eq!(
        std::fs::read_to_string(place.work().join("done.txt")).unwrap().lines().count(),
        4,
        "a replay runs nothing"
    );
}

#[test]
fn a_plan_is_approved_watched_closed_and_replayed_at_120x40() {
    approve_watch_quit_and_replay(40, 120);
}

#[test]
fn a_plan_is_approved_watched_closed_and_replayed_at_80x24() {
    approve_watch_quit_and_replay(24, 80);
}

#[test]
fn abandoning_runs_nothing() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["run", &plan], 40, 120);
    terminal.shows("run this plan?");
    terminal.press_until("x", "Discard this plan?");
    terminal.keys("x");
    terminal.until("the plan is discarded", |_| place.sessions()[0]["status"] == "discarded");
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 1);
    assert_restored(&raw);
    assert!(!place.work().join("done.txt").exists());
}

#[test]
fn the_exit_code_reports_how_a_session_was_closed() {
    let place = Place::new();
    let waiting = "title = \"Wait\"\n[[tasks]]\nid = \"a\"\ndescription = \"Wait\"\nrun = { shell = \"sleep 600\" }\n";
    let plan = place.plan(waiting);
    // A question that is open when the user quits.
    let mut terminal = Terminal::start(&place, &["run", &plan], 24, 80);
    terminal.shows("run this plan?");
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 3);
    assert!(raw.contains("draft, waits for your answer, 0 of 1 done"), "{raw}");
    assert!(raw.contains("planwright resume "), "{raw}");
    // Ctrl-C, which a program without a screen would receive as a signal.
    let mut terminal = Terminal::start(&place, &["run", &plan], 24, 80);
    terminal.shows("run this plan?");
    terminal.keys("\x03");
    let (code, raw) = terminal.end();
    assert_eq!(code, 130);
    assert_restored(&raw);
    // Quit in the middle of the work.
    let mut terminal = Terminal::start(&place, &["run", &plan], 24, 80);
    terminal.shows("run this plan?");
    terminal.press_until("a", "this terminal");
    terminal.press_until("q", "leave while it runs?");
    terminal.keys("jj\r");
    let (code, raw) = terminal.end();
    assert_eq!(code, 130);
    assert!(raw.contains("stopped, 0 of 1 done"), "{raw}");
    // A task that failed.
    let plan = place.plan(&waiting.replace("sleep 600", "false"));
    let mut terminal = Terminal::start(&place, &["run", &plan, "--yes"], 24, 80);
    terminal.shows("failed");
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 1);
    assert!(raw.contains("--retry failed"), "{raw}");
}

#[test]
fn keys_that_are_typed_ahead_reach_the_next_screen() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    assert_eq!(place.run(&["run", &plan, "--headless", "--yes"]).status.code(), Some(0));
    let mut terminal = Terminal::start(&place, &[], 24, 80);
    terminal.shows("done 1");
    terminal.shows("Enter open ");
    terminal.keys("\r");
    terminal.shows("REPLAY");
    // Back to the list, and quit.
    terminal.keys("qq");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);
}

#[test]
fn a_key_that_is_changed_in_the_config_applies_at_once() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &[], 24, 80);
    terminal.shows("What do you want to get done?");
    std::fs::write(place.dir.path().join("config.toml"), "[keys]\nquit = \"Z\"\n").unwrap();
    terminal.shows("theme and keys are read again");
    terminal.press_until("\x1b", "Z quit");
    terminal.keys("Z");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);
}

#[test]
fn a_signal_restores_the_terminal_and_ends_the_commands() {
    let place = Place::new();
    let plan = place.plan("title = \"Long\"\n[[tasks]]\nid = \"a\"\ndescription = \"Wait\"\nrun = { shell = \"echo $$ > pid; sleep 600\" }\n");
    let mut terminal = Terminal::start(&place, &["run", &plan], 40, 120);
    terminal.shows("run this plan?");
    terminal.press_until("a", "this terminal");
    let pid_file = place.work().join("pid");
    terminal.until("the command", |_| {
        std::fs::read_to_string(&pid_file).is_ok_and(|pid| !pid.trim().is_empty())
    });
    let shell = std::fs::read_to_string(&pid_file).unwrap();
    let program = terminal.child.process_id().unwrap();
    std::process::Command::new("kill").args(["-s", "TERM", &program.to_string()]).status().unwrap();
    let (code, raw) = terminal.end();
    assert_eq!(code, 143);
    assert_restored(&raw);
    let state = std::fs::read_to_string(format!("/proc/{}/stat", shell.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "the command goes on: {state}");
}

#[test]
fn resizing_keeps_the_screen_intact() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["run", &plan], 40, 120);
    terminal.shows("run this plan?");
    for (rows, cols) in [(24, 80), (10, 30), (16, 60), (60, 200)] {
        terminal.resize(rows, cols);
        let words = if rows < 16 { "Planwright needs 60x16" } else { "Diamond" };
        terminal.shows(words);
    }
    terminal.keys("q");
    let (_, raw) = terminal.end();
    assert_restored(&raw);
}

/// Every key is handled, including one right after a resize and one that arrives with it.
#[test]
fn no_key_is_lost_to_a_resize() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["run", &plan], 40, 120);
    terminal.shows("run this plan?");
    terminal.keys("?");
    terminal.shows("┌── help");
    for (rows, cols) in [(24, 80), (10, 30), (24, 80), (12, 200), (60, 200), (40, 120)] {
        let small = rows < 16;
        terminal.resize(rows, cols);
        let words = if small { "Planwright needs 60x16" } else { "┌── help" };
        terminal.shows(words);
        if small {
            // The help closes and opens even while the window is too small to show it.
            terminal.keys("\x1b");
            terminal.resize(40, 120);
            terminal.until("no help", |text| text.contains("DRAFT") && !text.contains("┌── help"));
            terminal.keys("?");
            terminal.shows("┌── help");
            continue;
        }
        terminal.keys("\x1b");
        terminal.until("no help", |text| text.contains("DRAFT") && !text.contains("┌── help"));
        // There is no wait between the two.
        terminal.resize(rows, cols - 1);
        terminal.keys("?");
        terminal.shows("┌── help");
    }
    terminal.keys("q");
    terminal.keys("q");
    let (_, raw) = terminal.end();
    assert_restored(&raw);
}

/// The first task fails once and succeeds when it is tried again.
const ONCE: &str = r#"
title = "Once"

[[tasks]]
id = "flaky"
description = "Fails the first time"
run = { shell = "test -e again || { touch again; exit 3; }" }

[[tasks]]
id = "after"
description = "Needs it"
depends_on = ["flaky"]
run = { shell = "touch reached" }
"#;

fn views_retry_and_quit(rows: u16, cols: u16) {
    let place = Place::new();
    let plan = place.plan(ONCE);
    let mut terminal = Terminal::start(&place, &["run", &plan], rows, cols);
    terminal.shows("run this plan?");
    for _ in 0..12 {
        terminal.keys("j");
    }
    terminal.press_while("a", |text| text.contains("run this plan?"));
    terminal.until("the failure", |text| text.contains("✗ Fails the first time"));
    terminal.keys("\x1b");
    terminal.press_until("1", "plan");
    terminal.press_until("3", "calendar");
    terminal.press_until("5", "table");
    terminal.press_until("2", "graph");
    // The arrows lead from the skipped task to the one that failed.
    terminal.keys("h");
    terminal.keys("R");
    terminal.shows("2 of 2 done");
    assert!(place.work().join("reached").exists());
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    assert_restored(&raw);
}

#[test]
fn a_failed_task_is_retried_and_the_views_turn_at_120x40() {
    views_retry_and_quit(40, 120);
}

#[test]
fn a_failed_task_is_retried_and_the_views_turn_at_80x24() {
    views_retry_and_quit(24, 80);
}

/// A goal from the first word to the approval: a question, a change in words, the difference, a row edited in place, the
/// undo of it, approving, quitting. Everything by keys.
fn from_goal_to_approval(rows: u16, cols: u16) {
    let place = Place::new();
    let goal = "learn conversational Spanish in 6 weeks";
    let mut terminal =
        Terminal::start(&place, &["--provider", "offline", "plan", goal], rows, cols);
    terminal.shows("How many hours a week");
    terminal.press_until("\r", "approve this plan?");
    // A change in words is understood while it is typed, and comes back as a difference.
    terminal.press_until("r", "━━ request changes");
    terminal.keys("\x15drop the last phase");
    terminal.shows("Understood");
    terminal.keys("\r");
    terminal.shows("approve draft 2?");
    terminal.shows("draft 2 against draft 1");
    // A row is edited in place.
    terminal.press_until("e", "editing a row");
    terminal.keys("\x15Call the first tutor\r");
    terminal.shows("Call the first tutor");
    terminal.until("the row is saved", |text| !text.contains("editing a row"));
    terminal.until("the edit is shown", |text| text.contains("was \"Choose one"));
    // A second press too soon would undo what was asked for before.
    terminal.press_patiently_while("u", |text| text.contains("Call the first tutor"));
    terminal.press_while("a", |text| text.contains("approve draft"));
    terminal.shows("ACTIVE");
    // Nothing runs, so that nothing is asked.
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 3);
    assert_restored(&raw);
    assert!(raw.contains("planwright resume"), "the summary says how to continue");
}

#[test]
fn a_goal_is_planned_revised_edited_and_approved_at_120x40() {
    from_goal_to_approval(40, 120);
}

#[test]
fn a_goal_is_planned_revised_edited_and_approved_at_80x24() {
    from_goal_to_approval(24, 80);
}

/// The same with the mouse: it picks, selects and scrolls; only keys decide.
#[test]
fn a_goal_is_planned_and_approved_with_the_mouse() {
    let place = Place::new();
    let goal = "learn conversational Spanish in 6 weeks";
    let mut terminal = Terminal::start(&place, &["--provider", "offline", "plan", goal], 40, 120);
    // An answer is picked with a click and given with a key.
    terminal.shows("How many hours a week");
    let (column, row) = terminal.seen("10 h 30 min  ");
    terminal.click(column, row);
    terminal.shows("►  10 h 30 min  ");
    terminal.press_until("\r", "approve this plan?");
    // A click on a row selects it.
    let (column, row) = terminal.seen("Study sounds and script");
    terminal.click(column, row);
    terminal.until("the selection", |text| text.contains("►     · Study sounds and script"));
    let (column, row) = terminal.seen("── activity");
    terminal.click(column + 4, row);
    terminal.until("the activity has the focus", |text| text.contains("━━ activity"));
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 3);
    assert_restored(&raw);
}

#[test]
fn the_mouse_selects_focuses_and_never_answers() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["run", &plan], 40, 120);
    terminal.shows("run this plan?");
    terminal.until("the actions", |text| text.contains("approve and run"));
    let (column, row) = terminal.find("approve and run").unwrap();
    terminal.click(column, row);
    terminal.click(column, row);
    terminal.press_until("?", "help");
    terminal.press_while("\x1b", |text| text.contains("┌── help"));
    assert!(terminal.text().contains("run this plan?"), "a click answered");
    assert!(!place.work().join("done.txt").exists());
    let (column, row) = terminal.find("── activity").unwrap();
    terminal.click(column + 4, row);
    terminal.until("the trace has the focus", |text| text.contains("━━ activity"));
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 3);
    assert_restored(&raw);
}

#[test]
fn a_plan_is_edited_outside_and_comes_back_as_a_difference() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let editor = place.work().join("editor.sh");
    let script = "#!/bin/sh\nsed -i '0,/^description = /s/^description = .*/description = \"Edited outside\"/' \"$1\"\n";
    std::fs::write(&editor, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&editor, mode).unwrap();
    let editor = editor.to_string_lossy().into_owned();
    let environment = [("VISUAL", editor.as_str())];
    let mut terminal = Terminal::start_with(&place, &["run", &plan], 40, 120, &environment);
    terminal.shows("run this plan?");
    terminal.keys("\x07");
    terminal.shows("draft 2 against draft 1");
    terminal.shows("Edited outside");
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 3);
    assert_restored(&raw);
}

#[test]
fn linear_mode_asks_the_same_in_words() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["--plain", "run", &plan], 40, 80);
    terminal.shows("Planwright, plain mode");
    terminal.shows("Choices:");
    // The commands of the plan are shown in full before the question.
    assert!(terminal.written().contains("Runs exactly:"), "{}", terminal.text());
    // A line that arrives with the request, or right after it, was meant for something else.
    terminal.press_until("yes\n", "Not one of the choices");
    assert!(!place.work().join("done.txt").exists());
    terminal.keys("approve\n");
    let (code, raw) = terminal.end();
    assert_eq!(code, 0);
    let done = std::fs::read_to_string(place.work().join("done.txt")).unwrap();
    assert_eq!(done.lines().count(), 4);
    assert!(!raw.contains("\u{1b}["), "linear mode moves no cursor");
}

#[test]
fn linear_mode_accepts_no_answer_that_was_typed_ahead() {
    let place = Place::new();
    let plan = place.plan(DIAMOND);
    let mut terminal = Terminal::start(&place, &["--plain", "run", &plan], 40, 80);
    terminal.keys("approve\n");
    terminal.shows("Run this plan?");
    assert!(!place.work().join("done.txt").exists(), "nothing was approved");
    let done = place.work().join("done.txt");
    terminal.press_while("approve\n", |_| !done.exists());
    let (code, _) = terminal.end();
    assert_eq!(code, 0);
}

/// Three more things use the terminal: the notice of a question while the window has no focus, copied text, and the
/// pager, which takes over the screen.
#[test]
fn a_notice_the_clipboard_and_the_pager_go_through_the_terminal() {
    let place = Place::new();
    let pager = place.work().join("pager.sh");
    std::fs::write(&pager, "#!/bin/sh\ncat \"$@\" > paged.txt\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&pager, mode).unwrap();
    let pager = pager.to_string_lossy().into_owned();
    let environment = [("PAGER", pager.as_str())];
    let args = ["--provider", "offline", "plan", "learn conversational Spanish in 6 weeks"];
    let mut terminal = Terminal::start_with(&place, &args, 40, 120, &environment);
    terminal.shows("How many hours a week");
    assert!(!terminal.written().contains("\x1b]9;"), "nobody is told of what is looked at");
    // The window loses the focus, then something is asked.
    terminal.keys("\x1b[O");
    terminal.press_until("S", "approve this plan?");
    let written = terminal.written();
    let notice = written.find("\x1b]9;asks: Approve this plan?\x1b\\").expect("a notice");
    assert!(written[notice..].contains('\x07'), "and the bell");
    terminal.keys("\x1b[I");
    terminal.press_while("\t", |text| !text.contains("━━ activity"));
    terminal.press_until("y", "on the clipboard");
    assert!(terminal.written().contains("\x1b]52;c;"), "the step is copied");
    // The pager is a command.
    terminal.press_until(":", "┌── commands");
    terminal.keys("pager\r");
    let paged = place.work().join("paged.txt");
    terminal.until("the pager", |_| std::fs::read_to_string(&paged).is_ok_and(|it| !it.is_empty()));
    terminal.press_until("?", "┌── help");
    terminal.keys("q");
    terminal.keys("q");
    let (code, raw) = terminal.end();
    assert_eq!(code, 3);
    assert_restored(&raw);
}
