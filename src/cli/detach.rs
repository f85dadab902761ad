//! Runs that go on without a screen: the process of their own is started here, and set up at its beginning.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use anyhow::Context;

use super::{CliExit, SharedArgs, StdoutWriter, eprint_line};
use planwright_model::SessionId;
use planwright_model::event::DetachedLine;

/// The flag that starts a run in the background.
const DETACH: &str = "--detach";
/// The flag that its process is started with.
const BACKGROUND: &str = "--background";

/// Starts this command once more in a process of its own and prints the id of the session it works on. What keeps it from
/// starting is reported as the command itself would.
pub(super) fn start_in_background(shared: &SharedArgs, input: Stdio) -> anyhow::Result<CliExit> {
    let program = std::env::current_exe().context("finding this program")?;
    let given: Vec<OsString> = std::env::args_os().skip(1).filter(|arg| arg != DETACH).collect();
    let mut child = Command::new(program)
        .args(given)
        .arg(BACKGROUND)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("starting the process of the run")?;
    let mut first = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut first).context("waiting for the session")?;
    }
    let id = first.trim();
    if id.is_empty() {
        return report_failed_start(child);
    }
    let id = SessionId::new(id);
    let (short, pid) = (id.short_id(), child.id());
    let mut out = StdoutWriter::new();
    if shared.json {
        out.write_line(&serde_json::to_string(&DetachedLine { session: id, pid })?)?;
        return Ok(CliExit::Success);
    }
    out.write_line(id.as_str())?;
    eprint_line(&format!("session {short} runs in the background, in process {pid}"));
    eprint_line(&format!(
        "  planwright attach {short}   planwright logs {short} -f   planwright stop {short}"
    ));
    Ok(CliExit::Success)
}

/// Passes on what the process said before it ended, and its exit code.
fn report_failed_start(mut child: Child) -> anyhow::Result<CliExit> {
    let mut said = String::new();
    if let Some(errors) = &mut child.stderr {
        // What cannot be read as text is left out; the exit code tells enough.
        let _ = errors.read_to_string(&mut said);
    }
    let status = child.wait().context("waiting for the process of the run")?;
    said.lines().for_each(eprint_line);
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(CliExit::Failed, CliExit::from_code))
}

/// Leaves the terminal that this process was started from, so that nothing that happens there ends the run.
pub(super) fn leave_terminal() {
    // It fails only for the first process of a group, which a process that another one starts is not.
    if let Err(error) = rustix::process::setsid() {
        tracing::warn!(%error, "the run stays in the terminal that it was started from");
    }
}

/// Tells whoever started this process which session it works on. Nobody reads anything after that.
pub(super) fn announce_session(id: &SessionId) -> anyhow::Result<()> {
    StdoutWriter::new().write_line(id.as_str())?;
    close_standard_streams()
}

/// Whatever is printed from now on goes nowhere, and nothing can be read.
pub(super) fn close_standard_streams() -> anyhow::Result<()> {
    let nowhere =
        OpenOptions::new().read(true).write(true).open("/dev/null").context("opening /dev/null")?;
    rustix::stdio::dup2_stdin(&nowhere).context("closing standard input")?;
    rustix::stdio::dup2_stdout(&nowhere).context("closing standard output")?;
    rustix::stdio::dup2_stderr(&nowhere).context("closing standard error")?;
    Ok(())
}
