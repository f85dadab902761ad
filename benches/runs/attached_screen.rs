//! Output of a run in the background, as a screen in another process shows it.

use std::io::{Read as _, Write as _};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);

/// Prints each word that it is given through a pipe.
const PLAN: &str = "version = 2\n[[tasks]]\nid = \"a\"\ndescription = \"Repeat\"\nrun = { shell = \"while read word < pipe; do [ $word = end ] && break; echo $word; done\" }\n";

/// How long after a command wrote a line the screen of another process showed it, so many times.
pub(crate) fn first_line_times(count: usize) -> Vec<Duration> {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("plan.toml"), PLAN).unwrap();
    std::fs::write(dir.path().join("config.toml"), "").unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let program = env!("CARGO_BIN_EXE_planwright");
    let started = Command::new(program)
        .args(["run", "plan.toml", "--yes", "--detach"])
        .env("PLANWRIGHT_DATA_DIR", dir.path().join("data"))
        .env("PLANWRIGHT_CONFIG", dir.path().join("config.toml"))
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(started.status.success());
    let pair = native_pty_system()
        .openpty(PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 })
        .unwrap();
    let mut command = CommandBuilder::new(program);
    command.args(["attach", "last"]);
    command.cwd(dir.path());
    command.env("PLANWRIGHT_DATA_DIR", dir.path().join("data"));
    command.env("PLANWRIGHT_CONFIG", dir.path().join("config.toml"));
    command.env("TERM", "xterm-256color");
    let mut child = pair.slave.spawn_command(command).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let (sender, pieces) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            if sender.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                return;
            }
        }
    });
    let cells = |count| std::num::NonZero::new(count).unwrap();
    let mut screen = vt100::Parser::new(cells(40), cells(120), 0);
    wait_for(&pieces, &mut screen, "running in process");
    let mut times = Vec::new();
    for number in 0..count {
        // Long enough that nothing of the last line is on its way.
        std::thread::sleep(Duration::from_millis(180 + (number as u64 * 7) % 60));
        let word = format!("word-{number}-x");
        let written = Instant::now();
        std::fs::write(&pipe, format!("{word}\n")).unwrap();
        times.push(wait_for(&pieces, &mut screen, &word).duration_since(written));
    }
    std::fs::write(&pipe, "end\n").unwrap();
    let mut writer = pair.master.take_writer().unwrap();
    wait_for(&pieces, &mut screen, "1 of 1 done");
    let deadline = Instant::now() + PATIENCE;
    // One key is not enough where it comes while the screen turns to the end of the run.
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "the screen does not quit");
        let _ = writer.write_all(b"q");
        std::thread::sleep(Duration::from_millis(200));
    }
    times
}

/// When the piece arrived after which the screen shows a text.
fn wait_for(
    pieces: &Receiver<(Instant, Vec<u8>)>,
    screen: &mut vt100::Parser,
    words: &str,
) -> Instant {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok((at, bytes)) = pieces.recv_timeout(left) else {
            panic!("no {words} on the screen:\n{}", screen.screen().contents());
        };
        screen.process(&bytes);
        if screen.screen().contents().contains(words) {
            return at;
        }
    }
}
