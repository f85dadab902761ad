//! Tasks as people read them: titles instead of ids, and why a task was skipped.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use planwright_model::{LinkKind, SkipReason, StartTimeCause, TaskHold, TaskId};
use planwright_text::{dates, units};

use crate::{CloseHold, RunPhase, SessionState, SkipRoots, TaskStatus};

/// What a tool call does, without the tool's own name: a command as it is, `read src/error.rs`, `edit src/error.rs`.
pub(crate) fn describe_tool_call(tool: &str, what: &str) -> String {
    let verb = match tool {
        "shell.run" => return what.to_owned(),
        "file.read" => "read",
        "file.write" => "write",
        "file.edit" => "edit",
        _ => return format!("{}  {what}", tool.replace('.', " ")),
    };
    format!("{verb} {what}")
}

/// The words of an action of an agent, which begin with the name of its tool.
pub(crate) fn describe_action(content: &str) -> String {
    match content.split_once("  ") {
        Some((tool, what)) if tool.contains('.') && !tool.contains(' ') => {
            describe_tool_call(tool, what)
        }
        _ => content.to_owned(),
    }
}

impl SessionState {
    /// The title of the task with this id; the id where the plan does not know it.
    pub fn title_by_id<'a>(&'a self, task: &'a TaskId) -> &'a str {
        let position = self.tasks.position(task);
        let title = position.map_or("", |at| self.task_title(at).trim());
        if title.is_empty() { task.as_str() } else { title }
    }

    /// The title of a row of the plan, be it drafted or under way. `None` for what is in neither.
    pub fn row_title(&self, row: &TaskId) -> Option<&str> {
        let planning = &self.planning;
        let drafted = planning.roadmap.as_deref().and_then(|roadmap| roadmap.find_node(row));
        let outlined = || {
            let outline = planning.outline.as_deref()?;
            outline.nodes.iter().find(|node| node.id == *row)
        };
        let known = drafted.or_else(outlined).map(|node| node.title.trim());
        let task = || self.tasks.position(row).map(|at| self.task_title(at).trim());
        known.or_else(task).filter(|title| !title.is_empty())
    }

    /// The failed task because of which another one was skipped.
    pub fn failure_behind(&self, task: usize) -> Option<usize> {
        if !matches!(self.tasks.row(task).status, TaskStatus::Skipped(_)) {
            return None;
        }
        let root = SkipRoots::from_tasks(&self.tasks).root_of(task);
        root.filter(|root| self.tasks.row(*root).status == TaskStatus::Failed)
    }

    /// Why a task was skipped: "because Fuzz for 2 minutes failed".
    pub fn describe_skip(&self, skips: &SkipRoots, task: usize, reason: SkipReason) -> String {
        let cause = match reason {
            SkipReason::DependencyFailed | SkipReason::DependencySkipped => skips.root_of(task),
            _ => None,
        };
        match cause {
            Some(cause) => {
                let title = self.task_title(cause).trim();
                let what = match self.tasks.row(cause).status {
                    TaskStatus::Failed => "failed",
                    _ => "was skipped",
                };
                format!("because {title} {what}")
            }
            None => reason.describe().to_owned(),
        }
    }

    /// What keeps a task from starting: "waiting for db: 1 of 1 used by Migrate", "starts 14:05, 1 min after Build ended".
    pub fn describe_hold(
        &self,
        task: &TaskId,
        hold: &TaskHold,
        now: Timestamp,
        zone: &TimeZone,
    ) -> String {
        match hold {
            TaskHold::Until { at, cause } => {
                let when = format_moment(*at, now, zone);
                match cause {
                    StartTimeCause::LagAfterEnd { task: after } => {
                        let since = self.tasks.get(after).and_then(|row| row.finished_at);
                        let lag = format_lag(since, *at);
                        format!("starts {when}{lag} after {} ended", self.title_by_id(after))
                    }
                    StartTimeCause::LagAfterStart { task: after } => {
                        let since = self.tasks.get(after).and_then(|row| row.started_at);
                        let lag = format_lag(since, *at);
                        format!("starts {when}{lag} after {} started", self.title_by_id(after))
                    }
                    StartTimeCause::NotBefore => format!("starts {when}, not before"),
                    StartTimeCause::FixedStart => format!("starts {when}, as its date is fixed"),
                    StartTimeCause::ScheduledTime => {
                        format!("starts {when}, its scheduled time")
                    }
                }
            }
            TaskHold::Resource { name, capacity, used, users } => {
                let own = self.tasks.position(task).and_then(|at| self.task_node(at));
                let needs = own.and_then(|node| node.resources.get(name)).copied().unwrap_or(1);
                let needs = if needs > 1 { format!("{needs} of ") } else { String::new() };
                let users: Vec<&str> = users.iter().map(|user| self.title_by_id(user)).collect();
                let by = if users.is_empty() {
                    String::new()
                } else {
                    format!(" by {}", users.join(", "))
                };
                format!("waiting for {needs}{name}: {used} of {capacity} used{by}")
            }
        }
    }

    /// What keeps a task whose work is done from ending: "finished, waiting for Deploy to end".
    pub fn describe_close_hold(&self, task: usize, now: Timestamp, zone: &TimeZone) -> String {
        match self.close_hold(task, now) {
            Some(CloseHold::Task(on)) => {
                let id = self.tasks.id(on);
                let links = self.task_node(task).map_or(&[][..], |node| &node.dependencies);
                let starts = links.iter().any(|link| link.task == *id && link.kind == LinkKind::SF);
                let what = if starts { "start" } else { "end" };
                format!("finished, waiting for {} to {what}", self.title_by_id(id))
            }
            Some(CloseHold::Until { at, after }) => {
                let when = format_moment(at, now, zone);
                format!("finished, closes {when} because of {}", self.task_title(after))
            }
            None => "finished, about to close".to_owned(),
        }
    }

    /// What a task waits for although nothing it depends on is open, in words. `None` where it waits for nothing.
    pub fn describe_wait(&self, task: usize, now: Timestamp, zone: &TimeZone) -> Option<String> {
        let row = self.tasks.row(task);
        if row.awaiting_close.is_some() {
            return Some(self.describe_close_hold(task, now, zone));
        }
        let hold = row.hold.as_deref()?;
        Some(self.describe_hold(self.tasks.id(task), hold, now, zone))
    }

    /// How a run that failed ended: "1 failed, 4 of 8 done". `None` for one that did not.
    pub fn describe_failed_run(&self) -> Option<String> {
        let counts = self.tasks.work_counts();
        let ended = self.run.phase == RunPhase::Finished { success: false };
        let failed =
            if counts.failed > 0 { format!("{} failed, ", counts.failed) } else { String::new() };
        ended.then(|| format!("{failed}{} of {} done", counts.done, counts.total()))
    }
}

fn format_moment(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let today = zone.to_datetime(now).date();
    dates::format_near_date_time(zone.to_datetime(at), today)
}

/// How long a lag is on the clock, as the middle of a sentence.
fn format_lag(since: Option<Timestamp>, at: Timestamp) -> String {
    let minutes = since.map_or(0, |since| at.duration_since(since).as_mins());
    if minutes > 0 {
        format!(", {}", units::format_span(minutes.unsigned_abs()))
    } else {
        ",".to_owned()
    }
}
