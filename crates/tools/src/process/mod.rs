//! Runs one shell command in its own process group, with a time limit and an output limit.
//!
//! Cancellation ends the entire group: first with SIGTERM, then with SIGKILL. Output is passed on in complete lines
//! where possible, already redacted, because everybody later reads what is journaled.

mod collect;
mod descendants;
mod group;
mod idle_pipes;
mod output;
mod output_pipes;
mod owner;
mod pipe_reading;
mod program_path;
mod recorder;
mod spare_reader;
mod spare_reader_main;
pub(crate) mod spawner;
mod terminal;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

pub use collect::{CommandOutput, run_and_collect};
pub(crate) use descendants::{HeldNamespace, end_namespace, find_descendants, own_namespace};
pub use group::{
    CALL_VARIABLE, CallOwner, OWNER_VARIABLE, PERSON, enclosing_call, end_leftovers,
    end_leftovers_with_prefix, find_leftovers, start_ticks,
};
pub(crate) use group::{GroupGuard, end_group, kill_exactly};
pub(crate) use idle_pipes::IdlePipes;
use idle_pipes::PipePair;
use output_pipes::OutputPipes;
pub use output_pipes::remove_dead_pipes;
pub(crate) use output_pipes::{LeftoverText, collect_leftover_output};
#[cfg(feature = "mcp")]
pub(crate) use owner::OwnedMark;
pub use owner::end_orphaned_servers;
use pipe_reading::PipeReading;
use recorder::OutputRecorder;
pub use recorder::SpoolTarget;
pub use spare_reader::SpareReader;
pub use spare_reader_main::{is_spare_reader, spare_reader_main};
pub(crate) use terminal::run_on_terminal;
pub use terminal::{TerminalLender, TerminalLoan};

use crate::executor::{AttemptEvent, AttemptEventSink, AttemptOutcome, CommandLauncher};
use crate::sandbox::{ARGV0, SandboxLauncher};
use planwright_model::StopSignal;
use planwright_model::event::{CallOutcome, Usage};
use planwright_text::Redactor;

/// How long a group may take to exit after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait for output of background processes after the command itself ended.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a piece of output may wait for more to be joined with it.
const FLUSH_DELAY: Duration = Duration::from_millis(100);

const DEFAULT_SHELL: &str = "/bin/sh";

/// What to run, where and within which limits.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    pub command: String,
    /// The program that the command is given to, with its arguments; empty means `/bin/sh -c`.
    pub shell: Vec<String>,
    pub directory: PathBuf,
    /// Variables removed from the user's environment, such as the keys of model providers.
    pub without: Vec<String>,
    /// Variables added to it.
    pub with: Vec<(String, String)>,
    pub time_limit: Duration,
    /// How many bytes of output are kept where there is no spool.
    pub output_limit: usize,
    /// Where all of the output is kept.
    pub spool: Option<SpoolTarget>,
    pub redactor: Redactor,
    pub launch: LaunchMode,
    /// What carries the command to where it runs.
    pub launcher: Option<CommandLauncher>,
    /// The signal that asks it to end.
    pub stop: StopSignal,
}

/// Whose command it is, which decides what it may see and do.
#[derive(Clone, Debug, Default)]
pub enum LaunchMode {
    /// The user's own: it sees their environment.
    #[default]
    Person,
    /// A model's: it sees only these variables, and is confined if there is a launcher.
    Model { environment: BTreeMap<String, String>, launcher: Option<SandboxLauncher> },
}

/// Runs a command to its end. Never fails: an error is an outcome.
pub async fn run_command(
    spec: ProcessSpec,
    cancel: CancellationToken,
    events: AttemptEventSink,
) -> AttemptOutcome {
    let begun = Instant::now();
    let mut output = OutputRecorder::new(&spec, &events, begun);
    let outcome = match spawn_command(&spec).await {
        Ok((child, pipes)) => {
            supervise_child(child, pipes, &spec, &cancel, &events, &mut output).await
        }
        Err(error) => CallOutcome::CouldNotStart { message: start_failure_message(&spec, &error) },
    };
    let (output_bytes, dropped_bytes) = output.finish().await;
    AttemptOutcome {
        outcome,
        elapsed: begun.elapsed(),
        output_bytes,
        dropped_bytes,
        usage: Usage::default(),
    }
}

/// Reports an event. Whoever is refused was left behind with the session, and there is nobody to tell.
async fn send_event(events: &AttemptEventSink, event: AttemptEvent) {
    let _ = events.send(event).await;
}

/// The program that is started for a command, with its arguments.
fn program_words(spec: &ProcessSpec) -> Vec<String> {
    let mut words = match spec.shell.as_slice() {
        [] => vec![DEFAULT_SHELL.to_owned(), "-c".to_owned()],
        shell => shell.to_vec(),
    };
    words.push(spec.command.clone());
    let Some(launcher) = &spec.launcher else { return words };
    let call = spec.with.iter().find(|(name, _)| name == CALL_VARIABLE);
    let call = call.map(|(_, mark)| mark.as_str()).unwrap_or_default();
    launcher.wrap_arguments(words, &spec.directory, call)
}

async fn spawn_command(spec: &ProcessSpec) -> std::io::Result<(Child, Option<OutputPipes>)> {
    let mut words = program_words(spec).into_iter();
    // There is always one: the default shell where nothing else is named.
    let program = words.next().unwrap_or_default();
    let mut command;
    if let LaunchMode::Model { launcher: Some(launcher), .. } = &spec.launch {
        // The helper creates its own session, and with it its own group.
        command = Command::new(&launcher.helper);
        command.arg0(ARGV0).arg(&launcher.profile).arg(program);
    } else {
        command = shell_command(&program, spec);
        command.process_group(0);
    }
    command
        .args(words)
        .current_dir(&spec.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let LaunchMode::Model { environment, .. } = &spec.launch {
        command.env_clear().envs(environment);
    }
    for name in &spec.without {
        command.env_remove(name);
    }
    command.envs(spec.with.iter().map(|(name, value)| (name, value)));
    let pipes = match (&spec.spool, &spec.launch) {
        // What a model started is ended when its session is resumed; nobody reads on.
        (Some(target), LaunchMode::Person) => {
            OutputPipes::attach(target, &spec.redactor, &mut command)
                .inspect_err(|error| tracing::debug!(%error, "pipes that end with this process"))
                .ok()
        }
        _ => None,
    };
    Ok((spawner::spawn_from_thread(command).await?, pipes))
}

/// A command for a shell. Its file is looked up here unless the command has a search path of its own.
fn shell_command(program: &str, spec: &ProcessSpec) -> Command {
    let has_own_path = spec.with.iter().any(|(name, _)| name == "PATH")
        || spec.without.iter().any(|name| name == "PATH")
        || matches!(spec.launch, LaunchMode::Model { .. });
    let file = if has_own_path { None } else { program_path::find_program(program) };
    let Some(file) = file else { return Command::new(program) };
    let mut command = Command::new(file);
    command.arg0(program);
    command
}

fn start_failure_message(spec: &ProcessSpec, error: &std::io::Error) -> String {
    if spec.directory.is_dir() {
        let program = program_words(spec).into_iter().next().unwrap_or_default();
        format!("{program}: {error}")
    } else {
        format!("the workspace directory {} does not exist", spec.directory.display())
    }
}

async fn supervise_child(
    mut child: Child,
    pipes: Option<OutputPipes>,
    spec: &ProcessSpec,
    cancel: &CancellationToken,
    events: &AttemptEventSink,
    output: &mut OutputRecorder<'_>,
) -> CallOutcome {
    let pid = child.id().unwrap_or_default();
    // Kills whatever the command left in its group, even if nobody waits for it anymore.
    let _guard = GroupGuard(pid);
    let started_ticks = start_ticks(pid).unwrap_or_default();
    send_event(events, AttemptEvent::Spawned { pid, started_ticks }).await;
    let (mut pieces, pair) = match read_output(&mut child, pipes) {
        Ok(started) => started,
        Err(error) => return CallOutcome::CouldNotStart { message: error.to_string() },
    };
    let deadline = tokio::time::sleep(spec.time_limit);
    tokio::pin!(deadline);
    let mut flush_at: Option<tokio::time::Instant> = None;
    let mut flushed = tokio::time::Instant::now();
    let mut stopped: Option<CallOutcome> = None;
    let mut pipes_open = true;
    let status = loop {
        tokio::select! {
            biased;
            status = child.wait() => break status,
            () = cancel.cancelled(), if stopped.is_none() => {
                stopped = Some(CallOutcome::Cancelled);
                tokio::spawn(group::end_group(pid, spec.stop, GRACE));
            }
            () = &mut deadline, if stopped.is_none() => {
                stopped = Some(CallOutcome::TimedOut { limit_seconds: spec.time_limit.as_secs() });
                tokio::spawn(group::end_group(pid, spec.stop, GRACE));
            }
            piece = pieces.next_chunk(), if pipes_open => match piece {
                Some((stream, bytes)) => {
                    output.push(stream, &bytes);
                    push_ready(&mut pieces, output);
                    if output.is_large() {
                        output.flush().await;
                        (flush_at, flushed) = (None, tokio::time::Instant::now());
                    } else if flush_at.is_none() {
                        // What comes after a pause is shown at once.
                        flush_at = Some(flushed + FLUSH_DELAY);
                    }
                }
                None => pipes_open = false,
            },
            () = sleep_until_flush(flush_at), if flush_at.is_some() => {
                output.flush().await;
                (flush_at, flushed) = (None, tokio::time::Instant::now());
            }
        }
    };
    let state = drain_pipes(&mut pieces, output).await;
    drop(pieces);
    if let (Some(pair), Some(target)) = (pair, &spec.spool) {
        leave_pipes(pair, target, state);
    }
    if let LaunchMode::Model { .. } = &spec.launch {
        end_call_leftovers(spec).await;
    }
    stopped.unwrap_or_else(|| exit_outcome(status))
}

/// Starts to read what a command prints.
fn read_output(
    child: &mut Child,
    pipes: Option<OutputPipes>,
) -> std::io::Result<(PipeReading, Option<PipePair>)> {
    if let Some(pipes) = pipes {
        let (out, err, pair) = pipes.into_readers()?;
        return Ok((PipeReading::start(out, err)?, Some(pair)));
    }
    let no_pipe = || std::io::Error::other("the command has no output to read");
    let out = child.stdout.take().ok_or_else(no_pipe)?.into_owned_fd()?;
    let err = child.stderr.take().ok_or_else(no_pipe)?.into_owned_fd()?;
    Ok((PipeReading::start(out, err)?, None))
}

/// Leaves the pipes of a command that has ended to the next one, or to whoever reads what is still written to them.
fn leave_pipes(pair: PipePair, target: &SpoolTarget, state: PipeState) {
    match (state, &target.spare_reader) {
        (PipeState::Closed, _) => target.idle_pipes.put(pair),
        (PipeState::StillWritten, Some(reader)) => reader.drain(pair.into_paths()),
        (PipeState::StillWritten, None) => {}
    }
}

/// Kills what a model's command left running in another group. The user's own commands may leave processes behind.
async fn end_call_leftovers(spec: &ProcessSpec) {
    let mark =
        spec.with.iter().find(|(name, _)| name == CALL_VARIABLE).map(|(_, mark)| mark.clone());
    if let Some(mark) = mark
        && let Err(error) = tokio::task::spawn_blocking(move || end_leftovers(&mark)).await
    {
        tracing::error!(%error, "what a command left running could not be looked for");
    }
}

async fn sleep_until_flush(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Whether somebody still writes to the pipes of a command that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PipeState {
    Closed,
    StillWritten,
}

/// Takes what has been read meanwhile: of a command that prints faster than its output is kept, few large pieces cost less than
/// many small ones.
fn push_ready(pieces: &mut PipeReading, output: &mut OutputRecorder<'_>) {
    while !output.is_full()
        && let Some((stream, bytes)) = pieces.ready_chunk()
    {
        output.push(stream, &bytes);
    }
}

/// Reads what is still in the pipes. A background process may keep them open, so there is a time limit.
async fn drain_pipes(pieces: &mut PipeReading, output: &mut OutputRecorder<'_>) -> PipeState {
    let end = tokio::time::Instant::now() + DRAIN_TIMEOUT;
    loop {
        match tokio::time::timeout_at(end, pieces.next_chunk()).await {
            Ok(Some((stream, bytes))) => {
                output.push(stream, &bytes);
                push_ready(pieces, output);
            }
            Ok(None) => return PipeState::Closed,
            Err(_) => return PipeState::StillWritten,
        }
        if output.is_large() {
            output.flush().await;
        }
    }
}

fn exit_outcome(status: std::io::Result<std::process::ExitStatus>) -> CallOutcome {
    use std::os::unix::process::ExitStatusExt;
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => CallOutcome::Exited { code },
            (None, signal) => CallOutcome::Signalled { signal: signal.unwrap_or_default() },
        },
        Err(error) => CallOutcome::CouldNotStart { message: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::executor::AttemptReport;
    use planwright_model::CallId;

    async fn reports(
        command: &str,
        limit: Duration,
        cancel_after: Option<Duration>,
    ) -> Vec<AttemptReport> {
        let spec = ProcessSpec {
            shell: Vec::new(),
            command: command.into(),
            directory: std::env::temp_dir(),
            without: vec!["SECRET_OF_OURS".into()],
            with: vec![("ADDED".into(), "yes".into())],
            time_limit: limit,
            output_limit: 1024,
            spool: None,
            redactor: Redactor::default(),
            launch: LaunchMode::Person,
            launcher: None,
            stop: StopSignal::default(),
        };
        let cancel = CancellationToken::new();
        let (sender, mut receiver) = mpsc::channel(4);
        let call = CallId { task: "a".into(), attempt: 1, step: 1 };
        let events = AttemptEventSink::new(call, sender);
        let own = cancel.clone();
        let job = tokio::spawn(async move {
            let outcome = run_command(spec, own, events.clone()).await;
            events.finish(outcome).await;
        });
        if let Some(wait) = cancel_after {
            tokio::time::sleep(wait).await;
            cancel.cancel();
        }
        let mut all = Vec::new();
        while let Some((_, report)) = receiver.recv().await {
            all.push(report);
        }
        job.await.unwrap();
        all
    }

    fn outcome(reports: &[AttemptReport]) -> &CallOutcome {
        match reports.last() {
            Some(AttemptReport::Ended(ended)) => &ended.outcome,
            other => panic!("the last report is {other:?}"),
        }
    }

    fn output(reports: &[AttemptReport]) -> String {
        reports
            .iter()
            .filter_map(|report| match report {
                AttemptReport::Event(AttemptEvent::Output { text, .. }) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn the_exit_code_is_the_outcome() {
        let all = reports("echo one; echo two >&2; exit 3", LONG, None).await;
        assert_eq!(*outcome(&all), CallOutcome::Exited { code: 3 });
        assert!(output(&all).contains("one\n") && output(&all).contains("two\n"));
        assert!(
            matches!(all[0], AttemptReport::Event(AttemptEvent::Spawned { pid, .. }) if pid > 0)
        );
    }

    #[tokio::test]
    async fn variables_are_added_and_removed() {
        let all = reports("echo \"$ADDED-${SECRET_OF_OURS-unset}\"", LONG, None).await;
        assert_eq!(output(&all), "yes-unset\n");
    }

    #[tokio::test]
    async fn the_time_limit_ends_the_entire_group() {
        let all = reports("sleep 60 & sleep 60", Duration::from_millis(50), None).await;
        assert_eq!(*outcome(&all), CallOutcome::TimedOut { limit_seconds: 0 });
    }

    #[tokio::test]
    async fn cancellation_ends_a_command_that_ignores_sigterm() {
        let all =
            reports("trap '' TERM; echo ready; sleep 60", LONG, Some(Duration::from_millis(200)))
                .await;
        assert_eq!(*outcome(&all), CallOutcome::Cancelled);
    }

    #[tokio::test]
    async fn output_beyond_the_limit_is_counted_and_its_tail_kept() {
        let all =
            reports("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done", LONG, None)
                .await;
        let Some(AttemptReport::Ended(AttemptOutcome { output_bytes, dropped_bytes, .. })) =
            all.last()
        else {
            panic!()
        };
        assert!(*output_bytes > 10_000 && *dropped_bytes > 0);
        assert!(output(&all).starts_with("line 0\n"));
        assert!(output(&all).ends_with("line 1999\n"));
        assert!(output(&all).len() < 2048);
    }

    #[tokio::test]
    async fn a_background_process_does_not_hold_the_task_open() {
        let begun = Instant::now();
        let all = reports("sleep 60 & echo done", LONG, None).await;
        assert_eq!(*outcome(&all), CallOutcome::Exited { code: 0 });
        assert_eq!(output(&all), "done\n");
        assert!(begun.elapsed() < LONG);
    }

    #[tokio::test]
    async fn invalid_utf8_is_replaced() {
        let all = reports("printf 'a\\377b\\n'", LONG, None).await;
        assert_eq!(output(&all), "a\u{fffd}b\n");
    }
}
