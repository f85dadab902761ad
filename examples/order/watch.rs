//! Runs the program under `valgrind` and says which functions ran.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::Result;

/// Everything is some fifty times slower while it is watched.
const FIRST_KEY: Duration = Duration::from_secs(15);
const BETWEEN_KEYS: Duration = Duration::from_secs(2);

/// The names of all functions that ran: while a home screen was shown, a session of 300 tasks looked at, and one of a
/// thousand commands run.
pub(crate) fn all(program: &Path) -> Result<HashSet<String>> {
    let place = tempfile::tempdir()?;
    let large = plan(place.path(), "large", 300, "human = {}")?;
    let commands = plan(place.path(), "commands", 1_000, "shell = \"true\"")?;
    let home = place.path().join("home");
    std::fs::create_dir(&home)?;
    let mut ran = HashSet::new();
    for (data, keys, arguments) in [
        (home.as_path(), "\u{1b}?\u{1b}q", &[][..]),
        (&large, "", &["run", "plan.toml", "--headless"]),
        (&large, "234jj1lkq", &["resume", "last"]),
        (&commands, "", &["run", "plan.toml", "--headless", "--yes"]),
    ] {
        println!("watching: planwright {}", arguments.join(" "));
        ran.extend(watched(program, data, arguments, keys)?);
    }
    Ok(ran)
}

/// A data directory with a plan of so many tasks of one kind, in layers of ten.
fn plan(place: &Path, name: &str, tasks: usize, kind: &str) -> Result<std::path::PathBuf> {
    let data = place.join(name);
    std::fs::create_dir(&data)?;
    let mut text = format!("title = \"{name}\"\n");
    for index in 0..tasks {
        write!(
            text,
            "[[tasks]]\nid = \"t{index}\"\ndescription = \"Task {index}\"\nrun = {{ {kind} }}\n"
        )?;
        if index >= 10 {
            writeln!(text, "depends_on = [\"t{}\"]", (index / 10 - 1) * 10 + (index * 7) % 10)?;
        }
    }
    std::fs::write(data.join("plan.toml"), text)?;
    Ok(data)
}

/// The functions that one start of the program ran.
fn watched(program: &Path, data: &Path, arguments: &[&str], keys: &str) -> Result<HashSet<String>> {
    let counts = data.join("counts");
    let config = data.join("config.toml");
    std::fs::write(&config, "")?;
    let mut command = CommandBuilder::new("valgrind");
    command.args(["--tool=callgrind", "--demangle=no"]);
    command.arg(format!("--callgrind-out-file={}", counts.display()));
    command.arg(program);
    command.args(arguments);
    command.cwd(data);
    command.env("PLANWRIGHT_DATA_DIR", data);
    command.env("PLANWRIGHT_CONFIG", config);
    command.env("PLANWRIGHT_PROVIDER", "offline");
    command.env("TERM", "xterm-256color");
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size)?;
    let mut reader = pair.master.try_clone_reader()?;
    let mut writer = pair.master.take_writer()?;
    let mut child = pair.slave.spawn_command(command)?;
    drop(pair.slave);
    // What is written must be read, or the program waits.
    std::thread::spawn(move || {
        let mut buffer = [0; 1 << 14];
        while matches!(reader.read(&mut buffer), Ok(1..)) {}
    });
    let mut pause = FIRST_KEY;
    for key in keys.chars() {
        std::thread::sleep(pause);
        pause = BETWEEN_KEYS;
        writer.write_all(key.to_string().as_bytes())?;
        writer.flush()?;
    }
    child.wait()?;
    Ok(names(&std::fs::read_to_string(counts)?))
}

/// Callgrind names a function where it first occurs, `fn=(12) name`, and says `fn=(12)` from then on. A recursive one has
/// a number behind its name.
fn names(counts: &str) -> HashSet<String> {
    counts
        .lines()
        .filter_map(|line| line.strip_prefix("cfn=").or_else(|| line.strip_prefix("fn=")))
        .filter_map(|named| named.split_once(") "))
        .map(|(_, name)| name.split('\'').next().unwrap_or(name).to_owned())
        .collect()
}
