//! Leaving: the question while something runs here, and the lines that stay in the shell afterwards.

use super::{ScreenEffect, SessionScreen};
use crate::clock;
use crate::overlays::{LeaveChoice, Overlay, QuitCard, RunHome};
use crate::panes::header::SessionBadge;
use crate::{ExitReason, pane_context::SessionViewMode};
use planwright_model::MicroDollars;
use planwright_model::event::{CloseReason, Command};
use planwright_state::{RunPhase, SessionState, TaskStatus};
use planwright_text::{clean_line, truncate_end, units};

/// How many tasks of a kind are named.
const NAMED: usize = 3;

impl SessionScreen {
    /// Whether something runs, or starts by itself, that leaving may stop.
    pub(super) fn is_running_here(&self) -> bool {
        self.commands.is_some() && self.latest.goes_on_by_itself()
    }

    /// Where the run goes on without this screen.
    pub(super) fn run_home(&self) -> RunHome {
        if self.is_attached() {
            RunHome::OtherProcess
        } else if self.detaches && self.latest.waiting_for_terminal().is_none() {
            RunHome::ThisProcess
        } else {
            RunHome::Screen
        }
    }

    /// Leaves the run to itself.
    pub(super) fn detach_run(&mut self) -> ScreenEffect {
        match self.run_home() {
            RunHome::OtherProcess => ScreenEffect::Exit(ExitReason::Quit),
            RunHome::ThisProcess => ScreenEffect::Exit(ExitReason::Detached),
            // The key is refused with its reason before this.
            RunHome::Screen => ScreenEffect::Draw,
        }
    }

    /// Leaves at once, or asks while something runs here.
    pub(super) fn request_quit(&mut self, reason: ExitReason) -> ScreenEffect {
        if !self.is_running_here() {
            return ScreenEffect::Exit(reason);
        }
        if matches!(self.ui.overlay, Some(Overlay::Quit(_))) {
            let signalled = matches!(reason, ExitReason::Signal(_)) || self.is_attached();
            return ScreenEffect::Exit(if signalled {
                reason
            } else {
                ExitReason::QuitWhileRunning
            });
        }
        self.ui.overlay = Some(Overlay::Quit(QuitCard::new(self.run_home())));
        ScreenEffect::Draw
    }

    /// Does what was chosen in the card.
    pub(super) fn leave_run(&mut self, choice: LeaveChoice) -> ScreenEffect {
        match choice {
            LeaveChoice::Detach => self.detach_run(),
            LeaveChoice::StopRun => {
                let close = Command::Close { why: CloseReason::Quit };
                let sent = self.send_command(close, "stop the run");
                // The screen of a run that cannot be reached stays.
                if self.ui.message.is_some() { sent } else { ScreenEffect::Exit(ExitReason::Quit) }
            }
            LeaveChoice::Now => ScreenEffect::Exit(ExitReason::QuitWhileRunning),
            LeaveChoice::Stay => ScreenEffect::Draw,
            LeaveChoice::AfterStep => {
                self.leaves_when_idle = true;
                if self.latest.run.phase == RunPhase::Running {
                    let sent = self.send_command(Command::Pause, "stop after this step");
                    self.leaves_when_idle = self.ui.message.is_none();
                    return sent;
                }
                self.exit_if_idle().unwrap_or(ScreenEffect::Draw)
            }
        }
    }

    /// Leaves once nothing runs any more, if that was chosen; whoever resumes the run stays.
    pub(super) fn exit_if_idle(&mut self) -> Option<ScreenEffect> {
        if !self.leaves_when_idle {
            return None;
        }
        // What waits for an answer does not get further without the person.
        let idle =
            self.latest.tasks.status_counts().running == 0 || self.latest.waits_for_person_only();
        let held = self.latest.run.phase != RunPhase::Running;
        (idle && held).then_some(ScreenEffect::Exit(ExitReason::QuitWhileRunning))
    }

    /// What stays in the scrollback; nothing if there is none any more.
    pub(crate) fn exit_summary(&self, reason: ExitReason) -> String {
        if matches!(reason, ExitReason::TerminalGone | ExitReason::Signal("SIGHUP")) {
            return String::new();
        }
        let watched = self.note.is_some() || reason == ExitReason::Detached;
        let badge = SessionBadge::from_state(&self.latest, SessionViewMode::Live, watched);
        let mut lines = vec![self.status_line(badge)];
        if !self.is_saved() {
            // A run that ended here is summed up as its card was.
            match self.finished_text() {
                text if text.is_empty() => lines.extend(self.failed_line()),
                text => lines.push(text),
            }
            lines.extend(waiting_line(&self.latest));
            let commands = next_commands(badge, &self.latest, self.id.short_id());
            lines.push(format!("  {}", commands.join("   ")));
        }
        lines.join("\n")
    }

    /// `1 failed: Fuzz for 2 minutes (index out of bounds)`.
    fn failed_line(&self) -> Option<String> {
        let state = &self.latest;
        let failed = titled_tasks(state, TaskStatus::Failed);
        let named = failed.iter().take(NAMED).map(|(task, title)| {
            let cause = self.tails.short_cause(state.tasks.id(*task), state, &self.timeline);
            let cause = truncate_end(&clean_line(cause.trim()), 60).into_owned();
            if cause.is_empty() { title.clone() } else { format!("{title} ({cause})") }
        });
        named_line(failed.len(), "failed", &named.collect::<Vec<_>>())
    }

    fn status_line(&self, badge: SessionBadge) -> String {
        let state = &self.latest;
        let title = clean_line(&state.session.title);
        let counts = state.tasks.work_counts();
        let mut facts = vec![status_words(badge, state).to_owned()];
        if counts.total() > 0 {
            facts.push(format!("{} of {} done", counts.done, counts.total()));
        }
        let end = state.run.finished_at.or(state.at);
        let time = state
            .run
            .started_at
            .zip(end)
            .map(|(begun, end)| units::format_clock(clock::duration_between(begun, end)));
        facts.extend(time.filter(|_| badge != SessionBadge::Active));
        if state.totals.cost > MicroDollars::ZERO {
            facts.push(state.totals.cost.to_string());
        }
        format!("{title}: {}", facts.join(", "))
    }
}

fn status_words(badge: SessionBadge, state: &SessionState) -> &'static str {
    match badge {
        SessionBadge::Draft if !state.requests.open.is_empty() => "draft, waits for your answer",
        SessionBadge::Draft => "draft",
        SessionBadge::Active => "active",
        SessionBadge::Watch => "running in the background",
        SessionBadge::Stopped if state.plan.abandoned => "discarded",
        SessionBadge::Stopped if state.run.phase == RunPhase::Idle => "approved, not started",
        SessionBadge::Live | SessionBadge::Paused | SessionBadge::Stopped => "stopped",
        SessionBadge::Done if state.run.phase == (RunPhase::Finished { success: false }) => {
            "failed"
        }
        SessionBadge::Done | SessionBadge::Replay => "finished",
    }
}

/// `1 waits for you: Renew the signing key`.
fn waiting_line(state: &SessionState) -> Option<String> {
    let yours = titled_tasks(state, TaskStatus::Yours);
    let verb = if yours.len() == 1 { "waits for you" } else { "wait for you" };
    named_line(
        yours.len(),
        verb,
        yours.iter().take(NAMED).map(|(_, title)| title.clone()).collect::<Vec<_>>().as_slice(),
    )
}

fn named_line(count: usize, words: &str, named: &[String]) -> Option<String> {
    if count == 0 {
        return None;
    }
    let more = count.saturating_sub(named.len());
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    Some(format!("  {count} {words}: {}{more}", named.join(", ")))
}

fn titled_tasks(state: &SessionState, status: TaskStatus) -> Vec<(usize, String)> {
    let Some(current) = &state.plan.current else { return Vec::new() };
    let wanted = |task: &usize| state.tasks.row(*task).status == status;
    let title = |task: usize| {
        let words = current.plan.tasks.get(task).map_or("", |node| &node.description);
        (task, clean_line(words).into_owned())
    };
    (0..state.tasks.len()).filter(wanted).map(title).collect()
}

/// The commands that continue from here.
fn next_commands(badge: SessionBadge, state: &SessionState, id: &str) -> Vec<String> {
    let command = |words: &str| format!("planwright {words}");
    let (resume, replay) = (command(&format!("resume {id}")), command(&format!("replay {id}")));
    match badge {
        SessionBadge::Active => vec![command("today"), resume],
        SessionBadge::Draft => vec![resume],
        SessionBadge::Stopped if state.plan.abandoned => vec![replay],
        SessionBadge::Stopped if state.run.phase == RunPhase::Idle => {
            vec![command(&format!("run {id}"))]
        }
        SessionBadge::Live | SessionBadge::Paused | SessionBadge::Stopped => vec![resume, replay],
        SessionBadge::Done if state.tasks.status_counts().failed > 0 => {
            vec![command(&format!("resume {id} --retry failed")), replay]
        }
        SessionBadge::Watch => {
            let logs = if state.tasks.status_counts().failed > 0 { "--failed" } else { "-f" };
            vec![
                command(&format!("attach {id}")),
                command(&format!("logs {id} {logs}")),
                command(&format!("stop {id}")),
            ]
        }
        SessionBadge::Done | SessionBadge::Replay => vec![replay],
    }
}
