//! The pipes that a command prints into. They outlive this program: they are files, and the command keeps both ends of them
//! open, so that it is not ended by its own output when nobody reads it. Whoever reads a pipe has its lock. After a crash
//! that is the spare reader, or else whoever resumes the session.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, FlockOperation, Mode, OFlags, flock, mknodat, open};
use rustix::io::Errno;
use tokio::net::unix::pipe;
use tokio::process::Command;

use super::idle_pipes::{PipeFiles, PipePair};
use super::output::OutputLines;
use super::pipe_reading::PipeReading;
use super::{SpoolTarget, send_event};
use crate::executor::{AttemptEvent, AttemptEventSink};
use planwright_model::event::{OutputStream, SpoolRange};
use planwright_model::{CallId, SessionId};
use planwright_spool::{SpoolContent, SpoolDirectory, SpoolError, SpoolReader, SpoolWriter};
use planwright_text::Redactor;

/// What the files of the two pipes end in.
pub(super) const PIPE_ENDINGS: [&str; 2] = ["out", "err"];

/// How often a spool that another process writes is looked at.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(50);

/// Takes the lock of a pipe, which whoever reads it has. `false` if somebody else does.
pub(super) fn lock_pipe(pipe: &impl AsFd) -> bool {
    flock(pipe, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Standard output and standard error of a command, as files beside its spool.
#[derive(Debug)]
pub(super) struct OutputPipes {
    pair: PipePair,
}

impl OutputPipes {
    /// Makes the pipes, or takes those of a command that has ended, and gives a command its ends of them.
    pub(super) fn attach(
        target: &SpoolTarget,
        redactor: &Redactor,
        command: &mut Command,
    ) -> io::Result<Self> {
        let paths = pipe_paths(target);
        if let Some(reader) = &target.spare_reader
            && let Some(directory) = paths[0].parent()
        {
            reader.prepare(directory, target.cap, redactor);
        }
        let pair = match target.idle_pipes.take(&paths) {
            Some(pair) => pair,
            None => make_pair(&paths)?,
        };
        let own = |path: &PathBuf| File::options().read(true).write(true).open(path);
        command.stdout(Stdio::from(own(&paths[0])?)).stderr(Stdio::from(own(&paths[1])?));
        Ok(Self { pair })
    }

    /// The ends to read from. The files are removed with the pair.
    pub(super) fn into_readers(self) -> io::Result<(OwnedFd, OwnedFd, PipePair)> {
        let (out, err) = self.pair.clone_ends()?;
        Ok((out, err, self.pair))
    }
}

fn pipe_paths(target: &SpoolTarget) -> [PathBuf; 2] {
    call_pipe_paths(&target.directory, &target.session, &target.call)
}

fn call_pipe_paths(spools: &SpoolDirectory, session: &SessionId, call: &CallId) -> [PathBuf; 2] {
    let spool = spools.path(session, call);
    PIPE_ENDINGS.map(|ending| spool.with_extension(ending))
}

/// Removes the pipes of a call whose command is gone, unless somebody still reads them.
pub fn remove_dead_pipes(spools: &SpoolDirectory, session: &SessionId, call: &CallId) {
    for path in call_pipe_paths(spools, session, call) {
        let is_dead =
            pipe::OpenOptions::new().open_receiver(&path).is_ok_and(|end| lock_pipe(&end));
        if is_dead && let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!(%error, "a pipe that nobody needs any more stays");
        }
    }
}

/// Two new pipes, with the ends that are read here. The command gets ends that can be read as well: a pipe that has a reader
/// never ends its writer.
fn make_pair(paths: &[PathBuf; 2]) -> io::Result<PipePair> {
    if let Some(directory) = paths[0].parent() {
        std::fs::create_dir_all(directory)?;
    }
    let ends = [make_pipe(&paths[0])?, make_pipe(&paths[1])?];
    Ok(PipePair::new(ends, paths.clone()))
}

fn make_pipe(path: &Path) -> io::Result<OwnedFd> {
    let make = || mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
    match make() {
        // What an earlier process left there.
        Err(Errno::EXIST) => {
            std::fs::remove_file(path)?;
            make()?;
        }
        made => made?,
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let reader = open(path, flags, Mode::empty())?;
    // Where there are no locks nobody takes over either.
    lock_pipe(&reader);
    Ok(reader)
}

/// Whether what a command prints after a crash may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftoverText {
    Kept,
    /// It may hold secrets whose values nobody knows any more.
    Discarded,
}

/// Reads on what a command prints that outlived the process that started it, until it has ended. Its spool grows, from
/// `journaled` on by what nobody has reported yet.
pub(crate) async fn collect_leftover_output(
    target: SpoolTarget,
    redactor: &Redactor,
    events: &AttemptEventSink,
    text: LeftoverText,
    journaled: u64,
) {
    let mut followed = FollowedSpool { target: &target, reported: journaled };
    loop {
        let Some((out, err, files)) = open_pipes(&target) else {
            // The spare reader has read them to their end, or there never were any.
            return followed.report_new(events).await;
        };
        if lock_pipe(&out) && lock_pipe(&err) {
            followed.report_new(events).await;
            return read_to_end(&target, (out, err, files), redactor, events, text).await;
        }
        // Not ours to remove.
        drop(files.into_paths());
        followed.report_new(events).await;
        tokio::time::sleep(FOLLOW_INTERVAL).await;
    }
}

fn open_pipes(target: &SpoolTarget) -> Option<(pipe::Receiver, pipe::Receiver, PipeFiles)> {
    let [out, err] = pipe_paths(target);
    let open = |path: &Path| pipe::OpenOptions::new().open_receiver(path).ok();
    let ends = (open(&out)?, open(&err)?);
    Some((ends.0, ends.1, PipeFiles::new(vec![out, err])))
}

/// A spool that another process may add to.
struct FollowedSpool<'a> {
    target: &'a SpoolTarget,
    /// Up to where it was reported.
    reported: u64,
}

impl FollowedSpool<'_> {
    /// Reports what was added. What cannot be read is left alone; its end is noticed all the same.
    async fn report_new(&mut self, events: &AttemptEventSink) {
        let SpoolTarget { directory, session, call, .. } = self.target;
        let opened = directory.open(session, call, self.reported);
        let Ok(Some(mut reader)) = opened.inspect_err(note_unreadable) else {
            return;
        };
        while let Some((stream, range, text)) = next_text(&mut reader) {
            self.reported = range.to;
            send_event(events, AttemptEvent::Spooled { stream, range, text }).await;
        }
    }
}

fn note_unreadable(error: &SpoolError) {
    tracing::warn!(%error, "the output of a command cannot be read");
}

/// The next text of a spool, with its place.
fn next_text(reader: &mut SpoolReader) -> Option<(OutputStream, SpoolRange, String)> {
    loop {
        let piece = reader.next_piece().inspect_err(note_unreadable).ok()??;
        let range = SpoolRange { from: piece.offset, to: reader.offset() };
        if let SpoolContent::Text { stream, text } = piece.content {
            return Some((stream, range, text));
        }
    }
}

/// Reads pipes until nobody writes to them any more. What can't be kept is read all the same, since a full pipe would hold
/// the command for good.
async fn read_to_end(
    target: &SpoolTarget,
    (out, err, files): (pipe::Receiver, pipe::Receiver, PipeFiles),
    redactor: &Redactor,
    events: &AttemptEventSink,
    text: LeftoverText,
) {
    let writer = target.directory.reopen(&target.session, &target.call, target.cap);
    let mut writer = match writer {
        Ok(writer) => writer,
        Err(error) => {
            tracing::warn!(%error, call = %target.call, "output cannot be added to its spool");
            return;
        }
    };
    let begun = Instant::now();
    let mut lines = OutputLines::new(redactor);
    let started = match (out.into_nonblocking_fd(), err.into_nonblocking_fd()) {
        (Ok(out), Ok(err)) => PipeReading::start(out, err),
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    let mut reading = match started {
        Ok(reading) => reading,
        Err(error) => {
            tracing::warn!(%error, call = %target.call, "its output cannot be read");
            return;
        }
    };
    let mut keeps = text == LeftoverText::Kept;
    while let Some((stream, bytes)) = reading.next_chunk().await {
        if !keeps {
            continue;
        }
        lines.push(stream, &bytes);
        keeps = append_all(&mut writer, lines.take_complete(), begun, events).await.is_ok();
    }
    if append_all(&mut writer, lines.finish(), begun, events).await.is_ok()
        && let Err(error) = writer.finish()
    {
        tracing::error!(%error, "an output spool cannot be ended");
    }
    drop(files);
}

/// Keeps pieces of output, and reports them. An error ends the reading: the spool cannot be written any more.
async fn append_all(
    writer: &mut SpoolWriter,
    pieces: impl IntoIterator<Item = (OutputStream, String)>,
    begun: Instant,
    events: &AttemptEventSink,
) -> Result<(), SpoolError> {
    let millis = u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX);
    for (stream, text) in pieces {
        let range = writer
            .append(stream, millis, &text)
            .inspect_err(|error| tracing::error!(%error, "output is not kept any more"))?;
        send_event(events, AttemptEvent::Spooled { stream, range, text }).await;
    }
    Ok(())
}
