//! The process of a screen. The one that a shell starts and waits for only waits in turn, for another one that shows the
//! screen and works on the run. So a run can leave its terminal: the waiting process ends, the shell is back at its prompt,
//! and the one that works goes on. And a screen that is killed, which can restore nothing itself, leaves no broken terminal:
//! the waiting process restores it. If that one is killed instead, the screen is told and ends in good order.

use std::io::IsTerminal as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process,
    set_parent_process_death_signal, waitpid,
};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::session::is_hang_up_ignored;
use super::{Cli, CliCommand, CliExit, eprint_line};

/// What the process of a screen is called: it knows its part by it, and a list of processes tells the two apart.
const SCREEN_PROCESS: &str = "planwright-screen";

/// Tells the waiting process that nothing is left to wait for.
const DETACHED: Signal = Signal::USR1;

/// Whether a process waits for this one and can be sent back to its shell.
static HAS_WAITING_PARENT: AtomicBool = AtomicBool::new(false);

pub(super) fn has_waiting_parent() -> bool {
    HAS_WAITING_PARENT.load(Ordering::SeqCst)
}

/// Shows the screen of a command in a process of its own and waits for it. `None` where this process is to do the work
/// itself: it is that process, the command has no screen, or no other process can be started.
pub(super) fn run_in_screen_process(cli: &Cli) -> Option<CliExit> {
    if std::env::args_os().next().is_some_and(|name| name == SCREEN_PROCESS) {
        claim_screen();
        return None;
    }
    if !has_screen(cli) {
        return None;
    }
    // Where there can be no other process the screen is shown here: no run can leave it, and nobody restores the terminal of
    // one that is killed.
    let started = ScreenWait::start(step_after_kill(cli.command.as_ref())).ok()?;
    Some(started.wait().unwrap_or_else(|error| {
        eprint_line(&format!("planwright: {error:#}"));
        CliExit::Failed
    }))
}

/// Takes up the part of the process that shows the screen: the run ends in good order if the waiting one is killed.
fn claim_screen() {
    let told = set_parent_process_death_signal(Some(Signal::HUP)).is_ok();
    HAS_WAITING_PARENT.store(told && getppid().is_some(), Ordering::SeqCst);
}

/// Whether a command shows a screen.
fn has_screen(cli: &Cli) -> bool {
    let shared = &cli.shared;
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let without = shared.headless || shared.background || shared.json || !has_terminal;
    !without
        && match &cli.command {
            None
            | Some(
                CliCommand::Plan(_)
                | CliCommand::Demo(_)
                | CliCommand::Attach(_)
                | CliCommand::Replay(_),
            ) => true,
            Some(CliCommand::Fork(_)) => shared.yes,
            Some(CliCommand::Run(args)) => !args.0.starts_detached(),
            Some(CliCommand::Resume(args)) => !args.0.starts_detached(),
            Some(CliCommand::Today(args)) => args.0.opens_screen(),
            _ => false,
        }
}

/// What to do after the screen of a command was killed.
fn step_after_kill(command: Option<&CliCommand>) -> &'static str {
    match command {
        Some(CliCommand::Attach(_)) => {
            "the run goes on; planwright ps lists it, planwright attach shows it again"
        }
        Some(CliCommand::Replay(_)) => {
            "nothing was running in it; open it again with planwright replay"
        }
        _ => "planwright resume last continues what was in progress",
    }
}

/// Lets the waiting process go, so that the shell is back at its prompt. What this process prints goes nowhere after that.
pub(super) fn leave_terminal() -> anyhow::Result<()> {
    rustix::process::setsid().context("leaving the terminal")?;
    super::detach::close_standard_streams()?;
    set_parent_process_death_signal(None).context("outliving the waiting process")?;
    if HAS_WAITING_PARENT.swap(false, Ordering::SeqCst)
        && let Some(parent) = getppid()
    {
        kill_process(parent, DETACHED).context("sending the waiting process back to its shell")?;
    }
    Ok(())
}

/// What happened to the process of the screen.
enum ScreenChange {
    Stopped,
    Ended(WaitStatus),
}

/// A process that shows a screen, and what the terminal was like before it.
struct ScreenWait {
    screen: Pid,
    terminal: Option<Termios>,
    runtime: tokio::runtime::Runtime,
    /// What is said if the screen is killed.
    next_step: &'static str,
}

impl ScreenWait {
    fn start(next_step: &'static str) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("finding this program")?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let terminal = tcgetattr(std::io::stdin()).ok();
        let child = Command::new(program)
            .arg0(SCREEN_PROCESS)
            .args(std::env::args_os().skip(1))
            .spawn()
            .context("starting the process of the screen")?;
        Ok(Self { screen: Pid::from_child(&child), terminal, runtime, next_step })
    }

    /// Waits until the screen has ended or has left the terminal. Signals are for it.
    fn wait(self) -> anyhow::Result<CliExit> {
        let (sender, mut changes) = mpsc::channel(1);
        let screen = self.screen;
        std::thread::spawn(move || report_changes(screen, &sender));
        let ended = self.runtime.block_on(async {
            let mut signals = PassedSignals::new()?;
            let mut detached = signal(SignalKind::from_raw(DETACHED.as_raw()))?;
            loop {
                tokio::select! {
                    biased;
                    _ = detached.recv() => return anyhow::Ok(None),
                    change = changes.recv() => match change {
                        Some(ScreenChange::Ended(status)) => return Ok(Some(status)),
                        Some(ScreenChange::Stopped) => stop_with(screen),
                        None => anyhow::bail!("nobody waits for the screen any more"),
                    },
                    signal = signals.next_signal() => pass_on(screen, signal),
                }
            }
        })?;
        let Some(status) = ended else { return Ok(CliExit::Success) };
        if let Some(signal) = status.terminating_signal() {
            self.restore_terminal(signal);
            return Ok(CliExit::Signal(u8::try_from(signal).unwrap_or(9)));
        }
        let code = status.exit_status().and_then(|code| u8::try_from(code).ok());
        Ok(code.map_or(CliExit::Failed, CliExit::from_code))
    }

    /// Gives the terminal back in the place of a screen that could not.
    fn restore_terminal(&self, signal: i32) {
        // Where the terminal is gone nothing is left to restore.
        let _ = planwright_tui::reset_terminal(&mut std::io::stdout());
        if let Some(before) = &self.terminal {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
        eprint_line(&format!("planwright: its process was killed by signal {signal}"));
        eprint_line(&format!("  {}", self.next_step));
    }
}

/// Reports each stop and the end of the screen, from a thread that has nothing else to do.
fn report_changes(screen: Pid, changes: &mpsc::Sender<ScreenChange>) {
    loop {
        let change = match waitpid(Some(screen), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => ScreenChange::Stopped,
            Ok(Some((_, status))) => ScreenChange::Ended(status),
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        };
        let is_over = matches!(change, ScreenChange::Ended(_));
        if changes.blocking_send(change).is_err() || is_over {
            return;
        }
    }
}

/// Stops as well, so that the shell has the terminal, and lets the screen go on afterwards. One that goes on already was
/// stopped and continued together with this process.
fn stop_with(screen: Pid) {
    if is_stopped(screen) {
        // Nothing forbids a process to stop itself, or to continue its own child.
        let _ = kill_process(getpid(), Signal::STOP);
        pass_on(screen, Signal::CONT);
    }
}

fn is_stopped(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
    })
}

fn pass_on(screen: Pid, signal: Signal) {
    // A screen that has ended meanwhile is noticed by its end.
    let _ = kill_process(screen, signal);
}

/// The signals that are meant for the screen although they reach the process that waits for it.
struct PassedSignals {
    received: mpsc::Receiver<Signal>,
}

impl PassedSignals {
    fn new() -> anyhow::Result<Self> {
        let mut passed = vec![Signal::TERM, Signal::INT, Signal::QUIT, Signal::TSTP, Signal::CONT];
        if !is_hang_up_ignored() {
            passed.push(Signal::HUP);
        }
        let (sender, received) = mpsc::channel(4);
        for kind in passed {
            let mut stream = signal(SignalKind::from_raw(kind.as_raw()))?;
            let sender = sender.clone();
            tokio::spawn(async move {
                while stream.recv().await.is_some() && sender.send(kind).await.is_ok() {}
            });
        }
        Ok(Self { received })
    }

    async fn next_signal(&mut self) -> Signal {
        match self.received.recv().await {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }
}
