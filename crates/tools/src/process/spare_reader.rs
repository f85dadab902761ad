//! The spare reader: a process that reads what commands print when nobody else does.
//!
//! It does nothing while this program is at work. When this program is killed, the commands of the person's go on, and the
//! spare reader takes over their pipes: what they print is kept in their spools, and none stands still at a full pipe. It also
//! reads what processes print that outlived the command that started them. It ends when nobody prints any more.

use std::collections::HashSet;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use planwright_text::Redactor;
use serde::{Deserialize, Serialize};

/// What the process is called, by which it knows its part.
pub(super) const SPARE_READER: &str = "planwright-output";

/// What the spare reader has to know.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "order", content = "of", rename_all = "snake_case")]
pub(super) enum ReaderOrder {
    /// Where a session has its spools and pipes, and how many bytes are kept of one attempt.
    Session { directory: PathBuf, cap: u64 },
    /// A value that is covered in what is kept.
    Secret(String),
    /// Pipes whose command has ended and that others still write to: they are read and nothing of it is kept.
    Drain(Vec<PathBuf>),
}

/// The way to the spare reader, whose process is started with the first order.
#[derive(Clone, Debug)]
pub struct SpareReader {
    link: Arc<ReaderLink>,
}

struct ReaderLink {
    orders: Sender<ReaderOrder>,
    told: Mutex<ToldFacts>,
}

impl std::fmt::Debug for ReaderLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReaderLink").finish_non_exhaustive()
    }
}

/// What the process knows already.
#[derive(Default)]
struct ToldFacts {
    directories: HashSet<PathBuf>,
    secrets: HashSet<String>,
}

impl SpareReader {
    /// Starts nothing yet. `None` where no thread can be had to talk to it.
    pub fn new() -> Option<Self> {
        let (orders, received) = channel();
        let work = move || pass_orders(&received);
        let thread = std::thread::Builder::new().name("spare-reader".to_owned()).spawn(work);
        if let Err(error) = thread {
            tracing::warn!(%error, "after a crash nobody will read what commands print");
            return None;
        }
        Some(Self { link: Arc::new(ReaderLink { orders, told: Mutex::default() }) })
    }

    /// Tells where the pipes of a command are and what must be covered in its output.
    pub(super) fn prepare(&self, directory: &Path, cap: u64, redactor: &Redactor) {
        let mut told = self.link.told.lock().unwrap_or_else(PoisonError::into_inner);
        if redactor.value_count() != told.secrets.len() {
            for value in redactor.known_values() {
                if told.secrets.insert(value.clone()) {
                    self.send(ReaderOrder::Secret(value));
                }
            }
        }
        if !told.directories.contains(directory) {
            told.directories.insert(directory.to_owned());
            self.send(ReaderOrder::Session { directory: directory.to_owned(), cap });
        }
    }

    /// Leaves pipes to it that somebody still writes to; it removes their files.
    pub(super) fn drain(&self, paths: Vec<PathBuf>) {
        self.send(ReaderOrder::Drain(paths));
    }

    fn send(&self, order: ReaderOrder) {
        // The thread ends with the last sender.
        let _ = self.link.orders.send(order);
    }
}

/// Starts the process and passes orders on to it, for as long as there may be any. Its end of the pipe is closed with this
/// program, however that ends.
fn pass_orders(orders: &Receiver<ReaderOrder>) {
    let Ok(first) = orders.recv() else { return };
    let mut process = start_process()
        .inspect_err(|error| tracing::warn!(%error, "the spare reader cannot be started"))
        .ok();
    for order in std::iter::once(first).chain(orders) {
        let sent = process.as_mut().is_some_and(|(_, input)| send_line(input, &order));
        if sent {
            continue;
        }
        process = None;
        if let ReaderOrder::Drain(paths) = order {
            for path in paths {
                // Whoever writes to it keeps it open; only its name goes.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

fn start_process() -> std::io::Result<(Child, ChildStdin)> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg0(SPARE_READER)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let input = child.stdin.take().ok_or_else(|| std::io::Error::other("it has no input"))?;
    Ok((child, input))
}

fn send_line(input: &mut ChildStdin, order: &ReaderOrder) -> bool {
    let Ok(mut line) = serde_json::to_vec(order) else { return true };
    line.push(b'\n');
    let written = input.write_all(&line);
    if let Err(error) = &written {
        tracing::warn!(%error, "the spare reader is gone");
    }
    written.is_ok()
}
