//! The pipes that a command prints into. They outlive this program: they are files, and the command keeps both ends of them
//! open, so that it is not ended by its own output when nobody reads it. Whoever resumes the session reads on.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::mpsc;

use super::output::OutputLines;
use super::{BoxedPipe, SpoolTarget, forward_pipes, send_event};
use crate::executor::{AttemptEvent, AttemptEventSink};
use planwright_model::event::OutputStream;
use planwright_spool::{SpoolError, SpoolWriter};
use planwright_text::Redactor;

/// Standard output and standard error of a command, as files beside its spool.
#[derive(Debug)]
pub(super) struct OutputPipes {
    out: (PathBuf, pipe::Receiver),
    err: (PathBuf, pipe::Receiver),
}

impl OutputPipes {
    /// Makes the pipes and gives a command its ends of them.
    pub(super) fn attach(target: &SpoolTarget, command: &mut Command) -> io::Result<Self> {
        let [out, err] = pipe_paths(target);
        if let Some(directory) = out.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let (out, own_out) = make_pipe(out)?;
        let (err, own_err) = make_pipe(err)?;
        command.stdout(Stdio::from(own_out)).stderr(Stdio::from(own_err));
        Ok(Self { out, err })
    }

    /// The ends to read from. The files are removed when the guard is dropped.
    pub(super) fn into_readers(self) -> (BoxedPipe, BoxedPipe, PipeFiles) {
        let files = PipeFiles(vec![self.out.0, self.err.0]);
        (Box::new(self.out.1), Box::new(self.err.1), files)
    }
}

/// Removes the files of the pipes once nobody needs them any more.
#[derive(Debug)]
pub(super) struct PipeFiles(Vec<PathBuf>);

impl Drop for PipeFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            // The session may have been removed meanwhile, and its files with it.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn pipe_paths(target: &SpoolTarget) -> [PathBuf; 2] {
    let spool = target.directory.path(&target.session, &target.call);
    ["out", "err"].map(|ending| spool.with_extension(ending))
}

/// A pipe with the end that is read here, and the one for the command. That one can be read as well: a pipe that has a
/// reader never ends its writer.
fn make_pipe(path: PathBuf) -> io::Result<((PathBuf, pipe::Receiver), File)> {
    if let Err(error) = std::fs::remove_file(&path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    let reader = pipe::OpenOptions::new().open_receiver(&path)?;
    let own = File::options().read(true).write(true).open(&path)?;
    Ok(((path, reader), own))
}

/// Whether what a command prints after a crash may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftoverText {
    Kept,
    /// It may hold secrets whose values nobody knows any more.
    Discarded,
}

/// Reads on what a command prints that outlived the process that started it, until it has ended. Its spool grows. What
/// can't be kept is read all the same, since a full pipe would hold the command for good.
pub(crate) async fn collect_leftover_output(
    target: SpoolTarget,
    redactor: &Redactor,
    events: &AttemptEventSink,
    text: LeftoverText,
) {
    let [out, err] = pipe_paths(&target);
    let open = |path: &Path| pipe::OpenOptions::new().open_receiver(path);
    let (Ok(out_end), Ok(err_end)) = (open(&out), open(&err)) else { return };
    let files = PipeFiles(vec![out, err]);
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
    let (sender, mut pieces) = mpsc::channel(16);
    let reading = tokio::spawn(forward_pipes(out_end, err_end, sender));
    let mut keeps = text == LeftoverText::Kept;
    while let Some((stream, bytes)) = pieces.recv().await {
        if !keeps {
            continue;
        }
        lines.push(stream, &bytes);
        keeps = append_all(&mut writer, lines.take_complete(), begun, events).await.is_ok();
    }
    drop(reading);
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
