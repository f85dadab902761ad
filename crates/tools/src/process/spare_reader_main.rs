//! What the process of the spare reader does.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use planwright_model::event::OutputStream;
use planwright_spool::SpoolWriter;
use planwright_text::Redactor;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;

use super::output::OutputLines;
use super::output_pipes::{PIPE_ENDINGS, lock_pipe};
use super::spare_reader::{ReaderOrder, SPARE_READER};

/// How long the pipes of a program that was killed may take to be free.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// Whether this process was started as the spare reader.
pub fn is_spare_reader() -> bool {
    std::env::args_os().next().is_some_and(|name| name == SPARE_READER)
}

/// Waits for the end of the program that started it, and reads what is left to be read.
pub fn spare_reader_main() -> ExitCode {
    // A key that ends all that runs in a terminal does not end this.
    let _ = rustix::process::setsid();
    let mut reader = ReaderProcess::default();
    while reader.is_needed() {
        if reader.handle_ready().is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// A pipe that is read.
struct OpenPipe {
    file: File,
    path: PathBuf,
    stream: OutputStream,
    /// The spool that what it carries goes to; `None` if nothing is kept of it.
    spool: Option<PathBuf>,
}

/// The output of one attempt.
struct AttemptSpool {
    writer: Option<SpoolWriter>,
    lines: Option<OutputLines>,
    begun: Instant,
}

#[derive(Default)]
struct ReaderProcess {
    /// The program that started this one is gone.
    is_alone: bool,
    /// Orders that did not arrive whole yet.
    unread: Vec<u8>,
    sessions: BTreeMap<PathBuf, u64>,
    redactor: Redactor,
    pipes: Vec<OpenPipe>,
    spools: BTreeMap<PathBuf, AttemptSpool>,
}

impl ReaderProcess {
    fn is_needed(&self) -> bool {
        !self.is_alone || !self.pipes.is_empty()
    }

    /// Waits until something can be read, and reads it.
    fn handle_ready(&mut self) -> io::Result<()> {
        let input = io::stdin();
        let mut waited: Vec<PollFd<'_>> =
            self.pipes.iter().map(|pipe| PollFd::new(&pipe.file, PollFlags::IN)).collect();
        if !self.is_alone {
            waited.push(PollFd::new(&input, PollFlags::IN));
        }
        match poll(&mut waited, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready: Vec<usize> =
            (0..waited.len()).filter(|place| !waited[*place].revents().is_empty()).collect();
        drop(waited);
        if ready.last() == Some(&self.pipes.len()) {
            ready.pop();
            self.read_orders();
            if self.is_alone {
                // The pipes have other places now.
                return Ok(());
            }
        }
        ready.retain(|place| !self.read_pipe(*place));
        // From the end, so that what is removed moves nothing that is still to come.
        ready.into_iter().rev().for_each(|place| self.close_pipe(place));
        Ok(())
    }

    fn read_orders(&mut self) {
        let mut buffer = [0; 4096];
        match rustix::io::read(io::stdin().as_fd(), &mut buffer) {
            Ok(0) => self.take_over(),
            Ok(read) => {
                self.unread.extend_from_slice(&buffer[..read]);
                while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = self.unread.drain(..=end).collect();
                    if let Ok(order) = serde_json::from_slice(&line) {
                        self.obey(order);
                    }
                }
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => self.take_over(),
        }
    }

    fn obey(&mut self, order: ReaderOrder) {
        match order {
            ReaderOrder::Session { directory, cap } => {
                self.sessions.insert(directory, cap);
            }
            ReaderOrder::Secret(value) => self.redactor.add_secret(&value),
            ReaderOrder::Drain(paths) => {
                for path in paths {
                    if let Ok(file) = open_pipe(&path) {
                        let stream = OutputStream::Stdout;
                        self.pipes.push(OpenPipe { file, path: path.clone(), stream, spool: None });
                    }
                    // Whoever writes to it keeps it open; only its name goes.
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }

    /// The program is gone: whatever its commands print is read here from now on.
    fn take_over(&mut self) {
        self.is_alone = true;
        for (directory, cap) in std::mem::take(&mut self.sessions) {
            for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                let path = entry.path();
                let ending = path.extension().and_then(|ending| ending.to_str());
                let stream = match ending {
                    Some(ending) if ending == PIPE_ENDINGS[0] => OutputStream::Stdout,
                    Some(ending) if ending == PIPE_ENDINGS[1] => OutputStream::Stderr,
                    _ => continue,
                };
                if let Some(file) = claim_pipe(&path) {
                    let spool = path.with_extension("spool");
                    self.open_spool(&spool, cap);
                    self.pipes.push(OpenPipe { file, path, stream, spool: Some(spool) });
                }
            }
        }
        // Where both have something, standard output goes first, as it does while the program is there.
        self.pipes.sort_by_key(|pipe| pipe.stream == OutputStream::Stderr);
        // One whose writers were gone before it was opened never becomes ready, and would be waited for forever.
        let mut ended: Vec<usize> = (0..self.pipes.len()).collect();
        ended.retain(|place| !self.read_pipe(*place));
        ended.into_iter().rev().for_each(|place| self.close_pipe(place));
    }

    fn open_spool(&mut self, path: &Path, cap: u64) {
        let redactor = &self.redactor;
        self.spools.entry(path.to_owned()).or_insert_with(|| AttemptSpool {
            // One that cannot be added to is read all the same, so that its command can go on.
            writer: SpoolWriter::reopen(path.to_owned(), cap).ok(),
            lines: Some(OutputLines::new(redactor)),
            begun: Instant::now(),
        });
    }

    /// Reads once. `false` at the end.
    fn read_pipe(&mut self, place: usize) -> bool {
        let pipe = &self.pipes[place];
        let mut buffer = vec![0; 64 * 1024];
        let read = match rustix::io::read(&pipe.file, &mut buffer) {
            Ok(0) => return false,
            Ok(read) => read,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return true,
            Err(_) => return false,
        };
        let spool = pipe.spool.as_ref().and_then(|path| self.spools.get_mut(path));
        if let Some(spool) = spool {
            spool.keep(pipe.stream, &buffer[..read]);
        }
        true
    }

    fn close_pipe(&mut self, place: usize) {
        let closed = self.pipes.remove(place);
        let Some(path) = closed.spool else { return };
        let is_last = !self.pipes.iter().any(|pipe| pipe.spool.as_ref() == Some(&path));
        if is_last && let Some(spool) = self.spools.remove(&path) {
            spool.finish();
        }
        // Whoever resumes the session sees by this that there is no more to come.
        let _ = std::fs::remove_file(closed.path);
    }
}

impl AttemptSpool {
    fn keep(&mut self, stream: OutputStream, bytes: &[u8]) {
        if let Some(lines) = &mut self.lines {
            lines.push(stream, bytes);
            let complete = lines.take_complete();
            self.append(complete);
        }
    }

    /// Keeps what is left of the last lines. The spool stays open for whoever resumes the session.
    fn finish(mut self) {
        if let Some(lines) = self.lines.take() {
            let rest: Vec<(OutputStream, String)> = lines.finish().collect();
            self.append(rest);
        }
    }

    fn append(&mut self, pieces: Vec<(OutputStream, String)>) {
        let millis = u32::try_from(self.begun.elapsed().as_millis()).unwrap_or(u32::MAX);
        for (stream, text) in pieces {
            let Some(writer) = &mut self.writer else { return };
            if writer.append(stream, millis, &text).is_err() {
                self.writer = None;
            }
        }
    }
}

fn open_pipe(path: &Path) -> io::Result<File> {
    let waits_for_nobody = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(waits_for_nobody).open(path)
}

/// Opens a pipe that nobody else reads. The locks of a program that was just killed are freed one by one.
fn claim_pipe(path: &Path) -> Option<File> {
    let file = open_pipe(path).ok()?;
    let begun = Instant::now();
    while !lock_pipe(&file) {
        if begun.elapsed() > LOCK_PATIENCE {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(file)
}
