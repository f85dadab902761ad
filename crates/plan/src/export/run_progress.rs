//! How far the tasks of a run came, for exports that show a run and not only its plan.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use planwright_model::TaskId;
use planwright_text::units;

/// What became of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportedStatus {
    /// It has not started.
    Open,
    Running,
    Done,
    Failed,
    Skipped,
}

impl ExportedStatus {
    /// In the order in which styles are listed.
    pub(super) const STYLED: [Self; 4] = [Self::Running, Self::Done, Self::Failed, Self::Skipped];

    /// The word for people, which is also the name of the style.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Fill and border, readable on light and dark pages.
    pub(super) fn colors(self) -> (&'static str, &'static str) {
        match self {
            Self::Open => ("#ffffff", "#57606a"),
            Self::Running => ("#ddf4ff", "#0969da"),
            Self::Done => ("#dafbe1", "#1a7f37"),
            Self::Failed => ("#ffebe9", "#cf222e"),
            Self::Skipped => ("#eaeef2", "#8c959f"),
        }
    }
}

/// One task of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportedTask {
    pub status: ExportedStatus,
    /// When its last attempt started and ended.
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
}

impl ExportedTask {
    /// "done in 3 s", "failed", "skipped"; nothing for a task that has not started.
    pub(super) fn describe(&self) -> Option<String> {
        let took = self
            .started
            .zip(self.ended)
            .map(|(start, end)| Duration::try_from(end.duration_since(start)).unwrap_or_default());
        match (self.status, took) {
            (ExportedStatus::Open, _) => None,
            (ExportedStatus::Done, Some(took)) => {
                Some(format!("done in {}", units::format_elapsed(took)))
            }
            (ExportedStatus::Failed, Some(took)) => {
                Some(format!("failed after {}", units::format_elapsed(took)))
            }
            (status, _) => Some(status.word().to_owned()),
        }
    }

    /// What became of it and, in a zone, when it started.
    pub(super) fn describe_lines(&self, zone: &TimeZone) -> Vec<String> {
        let at = self.started.filter(|_| self.status != ExportedStatus::Open);
        let at =
            at.map(|at| zone.to_datetime(at).strftime("started %a %-d %b %H:%M:%S").to_string());
        self.describe().into_iter().chain(at).collect()
    }
}

/// The tasks of a run by id; empty for a plan that has not run.
pub type ExportedRun = BTreeMap<TaskId, ExportedTask>;
