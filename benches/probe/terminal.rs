//! A program in a pseudo-terminal, with the time at which each piece of its output arrived.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::minimal;

pub const ROWS: u16 = 40;
pub const COLS: u16 = 120;
/// How long anything may take before the probe gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What runs in the terminal.
pub struct Program(CommandBuilder);

impl Program {
    pub fn minimal() -> Self {
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.env(minimal::VARIABLE, "1");
        Self::in_terminal(command)
    }

    pub fn planwright(data: &Path, args: &[&str]) -> Self {
        std::fs::create_dir_all(data).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_planwright"));
        command.args(args);
        command.cwd(data);
        command.env("PLANWRIGHT_DATA_DIR", data);
        command.env("PLANWRIGHT_CONFIG", data.join("config.toml"));
        command.env("PLANWRIGHT_PROVIDER", "offline");
        Self::in_terminal(command)
    }

    fn in_terminal(mut command: CommandBuilder) -> Self {
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        Self(command)
    }
}

/// The usual maximum for a screen.
const SETTLE: Duration = Duration::from_millis(25);

/// A running program.
pub struct Terminal {
    _master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    pieces: Receiver<(Instant, Vec<u8>)>,
    parser: vt100::Parser,
    began: Instant,
    pause: u64,
}

impl Terminal {
    pub fn start(program: &Program) -> Self {
        let size = PtySize { rows: ROWS, cols: COLS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, pieces) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if sender.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        let cells = |number| NonZero::new(number).unwrap();
        let parser = vt100::Parser::new(cells(ROWS), cells(COLS), 0);
        let began = Instant::now();
        let child = pair.slave.spawn_command(program.0.clone()).unwrap();
        Self { _master: pair.master, writer, child, pieces, parser, began, pause: 1 }
    }

    /// The time from the start until the screen shows a text.
    pub fn first(&mut self, words: &str) -> Duration {
        self.until(words).duration_since(self.began)
    }

    /// The time from the start until the screen shows one text and no longer another.
    pub fn first_without(&mut self, words: &str, others: &str) -> Duration {
        let shown = |screen: &str| screen.contains(words) && !screen.contains(others);
        self.when(shown).duration_since(self.began)
    }

    /// The time from a key until the screen shows a text.
    pub fn key(&mut self, key: &str, words: &str) -> Duration {
        // Keys come at arbitrary times, not in step with the frames of either side.
        self.pause = self.pause.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros(20_000 + (self.pause >> 33) % 30_000));
        while let Ok((_, bytes)) = self.pieces.try_recv() {
            self.parser.process(&bytes);
        }
        let pressed = Instant::now();
        self.writer.write_all(key.as_bytes()).unwrap();
        self.writer.flush().unwrap();
        self.until(words).duration_since(pressed)
    }

    /// Quits while work runs, so that its commands are ended.
    pub fn quit(mut self) {
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() && Instant::now() < deadline {
            self.writer.write_all(b"q").unwrap();
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// When the piece arrived after which the screen shows a text.
    fn until(&mut self, words: &str) -> Instant {
        self.when(|screen| screen.contains(words))
    }

    /// Pieces carry their arrival time, and are parsed when most have arrived: parsing a screen takes a processor
    /// that the program may need.
    fn when(&mut self, shown: impl Fn(&str) -> bool) -> Instant {
        std::thread::sleep(SETTLE);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok((at, bytes)) = self.pieces.recv_timeout(left) else {
                panic!("not what was waited for:\n{}", self.parser.screen().contents());
            };
            self.parser.process(&bytes);
            if shown(&self.parser.screen().contents()) {
                return at;
            }
        }
    }

    /// The share of one processor that the program used over a period, in percent.
    pub fn processor_use(&mut self, over: Duration) -> Option<f64> {
        std::thread::sleep(Duration::from_secs(2));
        let before = self.ticks()?;
        std::thread::sleep(over);
        let ticks = self.ticks()? - before;
        // Linux reports a hundred ticks per second, whatever its own clock does.
        Some(ticks as f64 / 100.0 / over.as_secs_f64() * 100.0)
    }

    fn ticks(&self) -> Option<u64> {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.child.process_id()?)).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
    }

    pub fn resident_bytes(&self) -> Option<u64> {
        let path = format!("/proc/{}/status", self.child.process_id()?);
        let text = std::fs::read_to_string(path).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
