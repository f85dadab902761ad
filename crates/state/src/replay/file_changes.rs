//! What agents changed in the workspace, from the edits that a journal records: who, when, and how each file read after it.
//!
//! Only tools that write one file leave such a record. What commands change is not in a journal; [`EditLog::commands_up_to`]
//! counts them, so that a screen can say so.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{History, RecordSourceError};
use planwright_model::event::{AgentEvent, CallEvent, Event, Record, RiskClass, WorktreeEvent};
use planwright_model::{Seq, TaskId};

/// One edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEdit {
    pub seq: Seq,
    pub at: Timestamp,
    pub task: TaskId,
    /// Relative to the workspace.
    pub path: String,
    /// The file did not exist before.
    pub created: bool,
    /// The difference as the tool showed it, without its two lines of names.
    pub diff: String,
    pub added: usize,
    pub removed: usize,
}

impl RecordedEdit {
    /// Reads the edit that a record reports, if it reports one.
    pub fn from_record(record: &Record) -> Option<Self> {
        let Event::Agent(AgentEvent::Observed { task, step, .. }) = &record.event else {
            return None;
        };
        let data = step.tool_output.as_ref()?.get("data")?;
        let text = |name: &str| data.get(name).and_then(|value| value.as_str());
        let (path, _) = text("path").zip(text("file_hash"))?;
        let diff = hunks_of(text("diff").unwrap_or_default()).to_owned();
        let count = |sign: char| diff.lines().filter(|line| line.starts_with(sign)).count();
        Some(Self {
            seq: record.seq,
            at: record.at,
            task: task.clone(),
            path: path.to_owned(),
            created: data.get("created").and_then(serde_json::Value::as_bool).unwrap_or(false),
            added: count('+'),
            removed: count('-'),
            diff,
        })
    }
}

/// A unified difference without the lines that name its files.
fn hunks_of(diff: &str) -> &str {
    diff.find("@@").map_or("", |start| &diff[start..])
}

/// A file and all that was done to it up to a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile<'a> {
    pub path: &'a str,
    /// In the order in which they were made; never empty.
    pub edits: Vec<&'a RecordedEdit>,
    pub added: usize,
    pub removed: usize,
}

impl<'a> ChangedFile<'a> {
    fn new(path: &'a str, edits: Vec<&'a RecordedEdit>) -> Self {
        let sum = |figure: fn(&RecordedEdit) -> usize| edits.iter().map(|edit| figure(edit)).sum();
        let (added, removed) = (sum(|edit| edit.added), sum(|edit| edit.removed));
        let mut file = Self { path, edits, added, removed };
        // A file that is new altogether has as many new lines as it has lines.
        let new = file.edits.first().is_some_and(|edit| edit.created);
        if let Some(lines) = new.then(|| file.content()).flatten() {
            (file.added, file.removed) = (lines.len(), 0);
        }
        file
    }

    /// The whole text at that moment: known where the file was created in the run and every edit since applies.
    pub fn content(&self) -> Option<Vec<String>> {
        let created = self.edits.iter().rposition(|edit| edit.created)?;
        let mut lines = Vec::new();
        for edit in &self.edits[created..] {
            let base = if edit.created { Vec::new() } else { lines };
            lines = apply_hunks(&base, &edit.diff)?;
        }
        Some(lines)
    }

    /// The task that changed it last.
    pub fn last_task(&self) -> Option<&TaskId> {
        self.edits.last().map(|edit| &edit.task)
    }
}

/// Applies the hunks of a unified difference; `None` where they do not fit.
fn apply_hunks(base: &[String], diff: &str) -> Option<Vec<String>> {
    let (mut out, mut next) = (Vec::new(), 0);
    for line in diff.lines() {
        if let Some(range) = line.strip_prefix("@@ -") {
            let start = range.split([' ', ',']).next()?.parse::<usize>().ok()?;
            let start = start.saturating_sub(1).max(next);
            out.extend_from_slice(base.get(next..start)?);
            next = start;
            continue;
        }
        let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        match sign {
            "+" => out.push(text.to_owned()),
            " " | "-" => {
                if base.get(next)? != text {
                    return None;
                }
                if sign == " " {
                    out.push(text.to_owned());
                }
                next += 1;
            }
            // A remark, such as that the last line does not end.
            _ => {}
        }
    }
    out.extend_from_slice(base.get(next..)?);
    Some(out)
}

/// All edits of a session as far as its journal was read.
#[derive(Clone, Debug, Default)]
pub struct EditLog {
    edits: Vec<RecordedEdit>,
    /// Where commands were started.
    commands: Vec<Seq>,
    /// Where what a task had changed until then was discarded or undone.
    dropped: Vec<(Seq, TaskId)>,
    upto: Seq,
}

impl EditLog {
    /// How far the journal was read.
    pub fn read_up_to(&self) -> Seq {
        self.upto
    }

    /// Reads on, one page of the journal at most. Returns whether there is more up to `head`.
    pub fn read_on(&mut self, history: &mut History, head: Seq) -> Result<bool, RecordSourceError> {
        let records = history.records_after(self.upto, head)?;
        if records.is_empty() {
            return Ok(false);
        }
        for record in &records {
            self.apply(record);
        }
        Ok(self.upto < head)
    }

    /// Adds one record.
    pub fn apply(&mut self, record: &Record) {
        if record.seq <= self.upto {
            return;
        }
        self.upto = record.seq;
        if let Event::Call(CallEvent::Intended { class: RiskClass::Execute, .. }) = &record.event {
            self.commands.push(record.seq);
        }
        if let Event::Worktree(
            WorktreeEvent::Discarded { task, .. } | WorktreeEvent::Undone { task },
        ) = &record.event
        {
            self.dropped.push((record.seq, task.clone()));
        }
        self.edits.extend(RecordedEdit::from_record(record));
    }

    /// How many commands were started up to an event.
    pub fn commands_up_to(&self, seq: Seq) -> usize {
        self.commands.partition_point(|command| *command <= seq)
    }

    /// How many edits there are up to an event.
    pub fn edits_up_to(&self, seq: Seq) -> usize {
        self.edits.partition_point(|edit| edit.seq <= seq)
    }

    /// The files that were changed up to an event, by path.
    pub fn files_at(&self, seq: Seq) -> Vec<ChangedFile<'_>> {
        let mut files: BTreeMap<&str, Vec<&RecordedEdit>> = BTreeMap::new();
        let is_dropped = |edit: &RecordedEdit| {
            let later = self.dropped.iter().filter(|(at, _)| *at > edit.seq && *at <= seq);
            later.into_iter().any(|(_, task)| *task == edit.task)
        };
        let edits = self.edits[..self.edits_up_to(seq)].iter();
        for edit in edits.filter(|edit| !is_dropped(edit)) {
            files.entry(&edit.path).or_default().push(edit);
        }
        files.into_iter().map(|(path, edits)| ChangedFile::new(path, edits)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::MemorySource;
    use planwright_model::{ReActStep, StepAction, StepMetadata};

    fn edit(seq: u64, task: &str, path: &str, created: bool, diff: &str) -> Record {
        let step = ReActStep {
            timestamp: Timestamp::UNIX_EPOCH,
            task_id: task.into(),
            action: StepAction::Observation,
            content: "written".into(),
            tool_used: Some("file.write".into()),
            tool_input: None,
            tool_output: Some(serde_json::json!({ "ok": true, "data": {
                "path": path, "file_hash": "x", "created": created, "diff": diff,
            }})),
            confidence_score: None,
            metadata: StepMetadata::default(),
        };
        let event = AgentEvent::from_step(task.into(), 1, step);
        Record::new(Seq(seq), Timestamp::UNIX_EPOCH, event)
    }

    fn records() -> Vec<Record> {
        vec![
            edit(
                1,
                "a",
                "notes.md",
                true,
                "--- a/notes.md\n+++ b/notes.md\n@@ -0,0 +1,3 @@\n+one\n+two\n+three\n",
            ),
            edit(
                2,
                "b",
                "old.rs",
                false,
                "--- a/old.rs\n+++ b/old.rs\n@@ -7,2 +7,2 @@\n same\n-before\n+after\n",
            ),
            edit(
                3,
                "b",
                "notes.md",
                false,
                "--- a/notes.md\n+++ b/notes.md\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n",
            ),
        ]
    }

    #[test]
    fn a_new_file_is_known_whole_at_every_moment() {
        let mut log = EditLog::default();
        let mut history = History::new(MemorySource::new(records()));
        assert!(!log.read_on(&mut history, Seq(3)).unwrap());
        assert_eq!(log.files_at(Seq(0)), []);
        let first = log.files_at(Seq(1));
        assert_eq!((first.len(), first[0].path, first[0].added), (1, "notes.md", 3));
        assert_eq!(first[0].content().unwrap(), ["one", "two", "three"]);
        let all = log.files_at(Seq(3));
        let figures: Vec<_> =
            all.iter().map(|file| (file.path, file.added, file.removed)).collect();
        assert_eq!(figures, [("notes.md", 4, 0), ("old.rs", 1, 1)]);
        assert_eq!(all[0].content().unwrap(), ["one", "2", "2.5", "three"]);
        assert_eq!(all[0].last_task().unwrap().as_str(), "b");
        assert_eq!(all[1].content(), None, "what was there before is not in the journal");
    }

    #[test]
    fn what_was_discarded_or_undone_is_gone_from_then_on() {
        let mut log = EditLog::default();
        let mut records = records();
        let undone = WorktreeEvent::Undone { task: "b".into() };
        records.push(Record::new(Seq(4), Timestamp::UNIX_EPOCH, undone));
        for record in &records {
            log.apply(record);
        }
        let paths = |seq| log.files_at(seq).iter().map(|file| file.path).collect::<Vec<_>>();
        assert_eq!(paths(Seq(3)), ["notes.md", "old.rs"]);
        assert_eq!(paths(Seq(4)), ["notes.md"]);
        assert_eq!(log.files_at(Seq(4))[0].content().unwrap(), ["one", "two", "three"]);
    }

    #[test]
    fn hunks_that_do_not_fit_give_no_text() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(apply_hunks(&lines("a\nb"), "@@ -1,2 +1,1 @@\n a\n-c\n"), None);
        assert_eq!(apply_hunks(&[], "@@ -5,1 +5,1 @@\n-x\n"), None);
        assert_eq!(
            apply_hunks(&lines("a\nb\nc"), "@@ -2,1 +2,1 @@\n-b\n+B\n"),
            Some(lines("a\nB\nc"))
        );
    }
}
