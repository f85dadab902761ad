//! What agents changed in the workspace from the start up to the cursor: the files, and the difference of the selected one.
//!
//! The journal is read page by page while the pane is on the screen, and only once.

mod draw;

use std::collections::BTreeSet;

use jiff::tz::TimeZone;

pub(crate) use draw::FilesPane;

use crate::clock::format_time_of_day;
use crate::ui_state::FilesUi;
use planwright_model::{Seq, TaskId};
use planwright_state::SessionState;
use planwright_state::replay::file_changes::{ChangedFile, EditLog};
use planwright_state::replay::{History, RecordSourceError};
use planwright_text::clean_line;

/// How many pages of the journal are read before keys are looked at again.
const PAGES_PER_TICK: usize = 4;

/// A file of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRow {
    pub(crate) path: String,
    /// The title of the task that changed it last.
    pub(crate) task: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// What a line of a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffRowKind {
    Added,
    Removed,
    Same,
    /// Where the next edit begins.
    Heading,
}

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiffRow {
    pub(crate) kind: DiffRowKind,
    pub(crate) text: String,
}

/// What the rows were made from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FilesKey {
    edits: usize,
    commands: usize,
    selected: Option<String>,
}

/// How many files agents changed, and by how many lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EditSums {
    pub(crate) files: usize,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) tasks: usize,
}

/// The edits of the session, and what of them is on the screen.
#[derive(Debug, Default)]
pub(crate) struct FilesCache {
    log: EditLog,
    sums: EditSums,
    known: Option<FilesKey>,
    pub(crate) files: Vec<FileRow>,
    /// Which of the files is shown.
    pub(crate) shown: usize,
    pub(crate) diff: Vec<DiffRow>,
    /// Whether commands were started up to the cursor, whose changes nobody recorded.
    pub(crate) commands: usize,
}

impl FilesCache {
    /// Whether some of the journal has not been read yet.
    pub(crate) fn is_behind(&self, head: Seq) -> bool {
        self.log.read_up_to() < head
    }

    /// How many edits there are in what was read.
    pub(crate) fn edit_count(&self) -> usize {
        self.log.edits_up_to(self.log.read_up_to())
    }

    /// Reads on a little.
    pub(crate) fn read_on(
        &mut self,
        history: &mut History,
        head: Seq,
    ) -> Result<(), RecordSourceError> {
        for _ in 0..PAGES_PER_TICK {
            if !self.log.read_on(history, head)? {
                break;
            }
        }
        if !self.is_behind(head) {
            self.sums = sum_edits(&self.log.files_at(head));
        }
        Ok(())
    }

    /// What agents changed up to a moment, once all of the journal was read and if that is its last change.
    pub(crate) fn edit_sums(&self, seq: Seq) -> Option<EditSums> {
        let all = self.log.edits_up_to(seq) == self.edit_count();
        Some(self.sums).filter(|sums| all && sums.files > 0)
    }

    /// Settles what is shown at a moment.
    pub(crate) fn update(&mut self, state: &SessionState, ui: &mut FilesUi, zone: &TimeZone) {
        let key = FilesKey {
            edits: self.log.edits_up_to(state.seq),
            commands: self.log.commands_up_to(state.seq),
            selected: ui.selected.clone(),
        };
        if self.known.as_ref() == Some(&key) {
            return;
        }
        self.commands = key.commands;
        self.known = Some(key);
        let files = self.log.files_at(state.seq);
        let title = |task: &TaskId| task_title(state, task);
        let shown = ui.selected.as_ref();
        let shown =
            shown.and_then(|path| files.iter().position(|file| clean_line(file.path) == *path));
        self.shown = shown.unwrap_or(0);
        self.diff =
            files.get(self.shown).map_or_else(Vec::new, |file| diff_rows(file, state, zone));
        self.files = files
            .iter()
            .map(|file| FileRow {
                path: clean_line(file.path).into_owned(),
                task: file.last_task().map(title).unwrap_or_default(),
                added: file.added,
                removed: file.removed,
            })
            .collect();
        ui.scroll = ui.scroll.min(self.diff.len().saturating_sub(1));
    }

    /// The file that is shown, as it was at that moment, or what is known of its changes.
    pub(crate) fn shown_text(
        &self,
        seq: Seq,
        zone: &TimeZone,
        state: &SessionState,
    ) -> Option<String> {
        let files = self.log.files_at(seq);
        let file = files.get(self.shown)?;
        Some(match file.content() {
            Some(lines) => lines.join("\n") + "\n",
            None => plain_difference(file, state, zone),
        })
    }

    /// All differences up to a moment, one file after the other.
    pub(crate) fn whole_difference(
        &self,
        seq: Seq,
        zone: &TimeZone,
        state: &SessionState,
    ) -> String {
        let files = self.log.files_at(seq);
        files.iter().map(|file| plain_difference(file, state, zone)).collect::<Vec<_>>().join("\n")
    }
}

fn sum_edits(files: &[ChangedFile<'_>]) -> EditSums {
    let edits = files.iter().flat_map(|file| &file.edits);
    let tasks: BTreeSet<&TaskId> = edits.map(|edit| &edit.task).collect();
    EditSums {
        files: files.len(),
        added: files.iter().map(|file| file.added).sum(),
        removed: files.iter().map(|file| file.removed).sum(),
        tasks: tasks.len(),
    }
}

fn plain_difference(file: &ChangedFile<'_>, state: &SessionState, zone: &TimeZone) -> String {
    let mut text = format!("{}  +{} -{}\n", file.path, file.added, file.removed);
    for row in diff_rows(file, state, zone) {
        let sign = match row.kind {
            DiffRowKind::Added => "+ ",
            DiffRowKind::Removed => "- ",
            DiffRowKind::Same => "  ",
            DiffRowKind::Heading => "",
        };
        text.push_str(sign);
        text.push_str(&row.text);
        text.push('\n');
    }
    text
}

/// The title of a task, its id where the plan does not have it.
fn task_title(state: &SessionState, task: &TaskId) -> String {
    let node = state.plan.current.as_ref().and_then(|current| {
        let place = state.tasks.position(task)?;
        current.plan.tasks.get(place)
    });
    clean_line(node.map_or(task.as_str(), |node| &node.description)).into_owned()
}

/// A new file is shown whole; of another one every edit, with who made it and when.
fn diff_rows(file: &ChangedFile<'_>, state: &SessionState, zone: &TimeZone) -> Vec<DiffRow> {
    let row = |kind, text: &str| DiffRow { kind, text: clean_line(text).into_owned() };
    let new = file.edits.first().is_some_and(|edit| edit.created);
    if let Some(lines) = new.then(|| file.content()).flatten() {
        return lines.iter().map(|line| row(DiffRowKind::Added, line)).collect();
    }
    let mut rows = Vec::new();
    for edit in &file.edits {
        let time = format_time_of_day(edit.at, zone);
        let title = task_title(state, &edit.task);
        rows.push(row(DiffRowKind::Heading, &format!("{time}  {title}")));
        for line in edit.diff.lines() {
            let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            match sign {
                "+" => rows.push(row(DiffRowKind::Added, text)),
                "-" => rows.push(row(DiffRowKind::Removed, text)),
                " " => rows.push(row(DiffRowKind::Same, text)),
                _ => {}
            }
        }
    }
    rows
}
