//! Editing the plan in its rows: the fields of a row in place, new rows one after the other, splitting and merging.
//!
//! What is typed is read while it is typed, and what would follow from it is shown before it is saved. Nothing here
//! changes the plan: saving sends operations, which can be undone.

mod draw;
mod reading;
mod row_names;

use std::collections::BTreeSet;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub(crate) use draw::{draw_editor_footer, draw_editor_line, editor_title};
pub(crate) use reading::{RowReadSource, read_row_editor};

use crate::plan_text::PlanTextRow;
use crate::widgets::TextField;
use planwright_model::{PlanEdit, TaskId};

/// Lines that an editor takes in the outline: the fields, what was read, and what else can be done.
pub(crate) const EDITOR_LINES: usize = 3;

/// What is edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowEditPurpose {
    Edit {
        node: TaskId,
    },
    /// New rows, each after the one before.
    Add {
        anchor: TaskId,
        level: RowLevel,
        /// The rows there were when the last one was sent, so that the new one is known.
        known: Option<BTreeSet<TaskId>>,
    },
    Split {
        node: TaskId,
    },
    Merge {
        nodes: Vec<TaskId>,
    },
}

/// Where a new row goes, seen from the row it is added at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowLevel {
    /// Beside what holds the row: a new phase.
    Above,
    #[default]
    Same,
    /// Inside the row.
    Below,
}

/// One field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowFieldKind {
    Title,
    Who,
    Time,
    Dates,
    DoneWhen,
    Needs,
}

impl RowFieldKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Who => "who",
            Self::Time => "time",
            Self::Dates => "dates",
            Self::DoneWhen => "done when",
            Self::Needs => "needs",
        }
    }
}

/// A field that is being typed into.
#[derive(Clone, Debug)]
pub(crate) struct RowField {
    pub(crate) kind: RowFieldKind,
    pub(crate) field: TextField,
    before: String,
}

impl RowField {
    fn new(kind: RowFieldKind, text: &str) -> Self {
        Self { kind, field: TextField::new(text), before: text.trim().to_owned() }
    }

    /// What it was changed to, if it was.
    fn changed_text(&self) -> Option<&str> {
        let text = self.field.text().trim();
        (text != self.before).then_some(text)
    }
}

/// What was made of the typed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowReading {
    pub(crate) edits: Vec<PlanEdit>,
    /// What was read and what follows from it, or why it was not read.
    pub(crate) text: String,
    pub(crate) failed: bool,
}

/// An open editor.
#[derive(Clone, Debug)]
pub(crate) struct RowEditor {
    pub(crate) purpose: RowEditPurpose,
    pub(crate) fields: Vec<RowField>,
    pub(crate) at: usize,
    pub(crate) reading: RowReading,
}

/// What a key in the editor leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowEditOutcome {
    Stay,
    /// The text is another one and has to be read again.
    Changed,
    Save,
    Cancel,
    /// The whole plan goes to `$EDITOR`.
    Editor,
}

impl RowEditor {
    /// The fields of a row as they are.
    pub(crate) fn edit(row: &PlanTextRow, today: jiff::civil::Date, needs: &str) -> Self {
        let who = match &row.command {
            Some(command) => format!("$ {command}"),
            None => row.who.clone(),
        };
        let days = row.days.map(|days| row.with_clock(days, &days.text(today))).unwrap_or_default();
        let mut fields = vec![RowField::new(RowFieldKind::Title, &row.title)];
        if row.kind == crate::plan_text::PlanRowKind::Task {
            fields.push(RowField::new(RowFieldKind::Who, &who));
            fields.push(RowField::new(RowFieldKind::Time, &row.time_text()));
            fields.push(RowField::new(RowFieldKind::Dates, &days));
        }
        fields.push(RowField::new(RowFieldKind::DoneWhen, &row.done_when));
        if row.kind == crate::plan_text::PlanRowKind::Task {
            fields.push(RowField::new(RowFieldKind::Needs, needs));
        }
        Self::new(RowEditPurpose::Edit { node: row.id.clone() }, fields)
    }

    /// An empty row after another.
    pub(crate) fn add(anchor: TaskId) -> Self {
        let purpose = RowEditPurpose::Add { anchor, level: RowLevel::Same, known: None };
        Self::new(purpose, vec![RowField::new(RowFieldKind::Title, "")])
    }

    /// The titles of the parts of a row.
    pub(crate) fn split(row: &PlanTextRow) -> Self {
        let mut field = RowField::new(RowFieldKind::Title, "");
        field.field = TextField::new(&format!("{}; ", row.title));
        Self::new(RowEditPurpose::Split { node: row.id.clone() }, vec![field])
    }

    /// The title of what several rows become.
    pub(crate) fn merge(nodes: Vec<TaskId>, title: &str) -> Self {
        let mut field = RowField::new(RowFieldKind::Title, "");
        field.field = TextField::new(title);
        Self::new(RowEditPurpose::Merge { nodes }, vec![field])
    }

    fn new(purpose: RowEditPurpose, fields: Vec<RowField>) -> Self {
        Self { purpose, fields, at: 0, reading: RowReading::default() }
    }

    /// The row that the editor stands at.
    pub(crate) fn anchor(&self) -> Option<&TaskId> {
        match &self.purpose {
            RowEditPurpose::Edit { node } | RowEditPurpose::Split { node } => Some(node),
            RowEditPurpose::Add { anchor, .. } => Some(anchor),
            RowEditPurpose::Merge { nodes } => nodes.first(),
        }
    }

    /// Whether the row that it stands at stays in sight above it.
    pub(crate) fn keeps_row(&self) -> bool {
        matches!(self.purpose, RowEditPurpose::Add { .. } | RowEditPurpose::Merge { .. })
    }

    pub(crate) fn on_key(&mut self, event: &KeyEvent) -> RowEditOutcome {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Esc => return RowEditOutcome::Cancel,
            KeyCode::Enter => return RowEditOutcome::Save,
            KeyCode::Char('g') if ctrl => return RowEditOutcome::Editor,
            KeyCode::Tab => return self.next_field(true),
            KeyCode::BackTab => return self.next_field(false),
            _ => {}
        }
        let Some(field) = self.fields.get_mut(self.at) else { return RowEditOutcome::Stay };
        if field.field.on_key(event) { RowEditOutcome::Changed } else { RowEditOutcome::Stay }
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        if let Some(field) = self.fields.get_mut(self.at) {
            field.field.on_paste(text);
        }
    }

    /// Tab goes to another field; of a new row, to another level.
    fn next_field(&mut self, forward: bool) -> RowEditOutcome {
        if let RowEditPurpose::Add { level, .. } = &mut self.purpose {
            *level = match (*level, forward) {
                (RowLevel::Above, true) | (RowLevel::Below, false) => RowLevel::Same,
                (_, true) => RowLevel::Below,
                (_, false) => RowLevel::Above,
            };
            return RowEditOutcome::Changed;
        }
        let last = self.fields.len().saturating_sub(1);
        self.at = match forward {
            true if self.at == last => 0,
            true => self.at + 1,
            false => self.at.checked_sub(1).unwrap_or(last),
        };
        self.select_short_field();
        RowEditOutcome::Stay
    }

    /// A person, a time or a date is replaced as a whole by what is typed; sentences are added to.
    fn select_short_field(&mut self) {
        if let Some(field) = self.fields.get_mut(self.at)
            && matches!(field.kind, RowFieldKind::Who | RowFieldKind::Time | RowFieldKind::Dates)
        {
            field.field.select_all();
        }
    }

    fn typed_text(&self) -> &str {
        self.fields.first().map_or("", |field| field.field.text().trim())
    }
}
