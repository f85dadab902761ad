//! Editing rows in place: opening the editor, reading what is typed, and sending it as operations.

use std::collections::BTreeSet;

use crossterm::event::KeyEvent;
use jiff::civil::Date;

use super::{ScreenEffect, SessionScreen};
use crate::keymap::KeyAction;
use crate::panes::plan::PlanView;
use crate::plan_text::{
    PlanRowChange, PlanRowKind, PlanTextRow, PreviewedDay, preview_day, preview_edits,
};
use crate::row_editor::{
    RowEditOutcome, RowEditPurpose, RowEditor, RowReadSource, RowReading, read_row_editor,
};
use crate::ui_state::PaneFocus;
use planwright_model::event::Command;
use planwright_model::{ApprovalTarget, RequestKind, TaskId};
use planwright_text::dates::format_date;

impl SessionScreen {
    fn text_row(&self, id: &TaskId) -> Option<&PlanTextRow> {
        self.plan.rows.position(id).and_then(|row| self.plan.text.get(row))
    }

    /// The title of a row, for messages.
    pub(super) fn row_title(&self, id: &TaskId) -> String {
        self.text_row(id).map_or_else(|| id.to_string(), |row| row.title.clone())
    }

    /// Opens the fields of a row in its place.
    pub(super) fn open_row_editor(&mut self, id: &TaskId) -> ScreenEffect {
        if self.latest.planning.locked.contains(id) {
            let key = self.keymap.key_hint(KeyAction::Lock);
            return self
                .show_message(format!("{} is locked; {key} unlocks it", self.row_title(id)));
        }
        let Some(row) = self.text_row(id) else {
            return self.show_message("this row is not in the draft any more");
        };
        let editor = RowEditor::edit(row, self.today(), &row.after.join(", "));
        self.start_row_editor(editor)
    }

    /// Adds rows after the selected one until the person is done.
    pub(super) fn add_rows(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let first = || self.plan.rows.all.first().map(|row| row.id.clone());
        let Some(anchor) = self.ui.graph.selected.clone().or_else(first) else {
            return self.show_message("there is no row to add one after");
        };
        self.start_row_editor(RowEditor::add(anchor))
    }

    /// Asks for the parts of the selected task.
    pub(super) fn split_row(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let row = self.ui.graph.selected.as_ref().and_then(|id| self.text_row(id));
        match row.filter(|row| row.kind == PlanRowKind::Task) {
            Some(row) => {
                let editor = RowEditor::split(row);
                self.start_row_editor(editor)
            }
            None => self.show_message("select a task; phases and milestones can't be split"),
        }
    }

    /// Asks what the marked tasks become.
    pub(super) fn merge_rows(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_edit() {
            return self.show_message(why);
        }
        let marked = |row: &&PlanTextRow| self.ui.marks.contains(&row.id);
        let rows: Vec<&PlanTextRow> = self.plan.text.iter().filter(marked).collect();
        let ids: Vec<TaskId> = rows.iter().map(|row| row.id.clone()).collect();
        let Some(title) = rows.first().map(|row| row.title.clone()).filter(|_| ids.len() > 1)
        else {
            let key = self.keymap.key_hint(KeyAction::Mark);
            return self.show_message(format!("{key} marks the rows to merge, two at least"));
        };
        self.start_row_editor(RowEditor::merge(ids, &title))
    }

    fn start_row_editor(&mut self, editor: RowEditor) -> ScreenEffect {
        self.ui.view.kind = PlanView::Outline;
        self.ui.view.hides_unchanged = false;
        self.ui.focus = PaneFocus::Graph;
        if let Some(anchor) = editor.anchor().cloned() {
            self.ui.select_task(anchor);
        }
        self.ui.row_editor = Some(Box::new(editor));
        self.read_open_editor();
        ScreenEffect::Draw
    }

    pub(super) fn on_row_editor_key(&mut self, event: &KeyEvent) -> ScreenEffect {
        let Some(editor) = &mut self.ui.row_editor else { return ScreenEffect::Idle };
        match editor.on_key(event) {
            RowEditOutcome::Stay => {}
            RowEditOutcome::Changed => self.read_open_editor(),
            RowEditOutcome::Save => return self.save_row_editor(),
            RowEditOutcome::Cancel => self.ui.row_editor = None,
            RowEditOutcome::Editor => {
                self.ui.row_editor = None;
                return self.edit_plan_externally();
            }
        }
        ScreenEffect::Draw
    }

    /// What is typed is read before it is drawn the next time.
    pub(super) fn read_open_editor(&mut self) {
        self.ui.has_unread_text = true;
    }

    /// Reads what is typed, and what would follow from it.
    pub(super) fn read_row_fields(&mut self) {
        let Some(mut editor) = self.ui.row_editor.take() else { return };
        let today = self.today();
        let source = RowReadSource {
            rows: &self.plan.text,
            links: self.draft_links(),
            today,
            agents: &self.state().session.agents,
        };
        editor.reading = match read_row_editor(&editor, source) {
            Err(why) => RowReading { edits: Vec::new(), text: why, failed: true },
            Ok((edits, _)) if edits.is_empty() => RowReading::default(),
            Ok((edits, words)) => {
                let lead = words.join(" · ");
                match preview_edits(self.preview_source(), &edits) {
                    Ok(effect) => {
                        let parts = [lead, effect];
                        let parts = parts.into_iter().filter(|part| !part.is_empty());
                        let text = parts.collect::<Vec<_>>().join(". ");
                        RowReading { edits, text, failed: false }
                    }
                    Err(why) => RowReading { edits: Vec::new(), text: why, failed: true },
                }
            }
        };
        self.ui.row_editor = Some(editor);
    }

    fn save_row_editor(&mut self) -> ScreenEffect {
        self.read_typed_text();
        let Some(mut editor) = self.ui.row_editor.take() else { return ScreenEffect::Idle };
        let reading = std::mem::take(&mut editor.reading);
        if reading.failed {
            editor.reading = reading;
            self.ui.row_editor = Some(editor);
            return ScreenEffect::Draw;
        }
        if reading.edits.is_empty() {
            return self.show_message("nothing was changed");
        }
        let words = match &editor.purpose {
            RowEditPurpose::Edit { node } => format!("edit {}", self.row_title(node)),
            RowEditPurpose::Add { .. } => "add a row".to_owned(),
            RowEditPurpose::Split { node } => format!("split {}", self.row_title(node)),
            RowEditPurpose::Merge { .. } => "merge the marked rows".to_owned(),
        };
        // Own steps are written one after the other.
        if let RowEditPurpose::Edit { node } = &editor.purpose
            && self.empty_first_step().as_ref() == Some(node)
        {
            self.ui.row_editor = Some(Box::new(RowEditor::add(node.clone())));
        }
        if let RowEditPurpose::Add { anchor, level, .. } = editor.purpose {
            let mut next = RowEditor::add(anchor.clone());
            let known: BTreeSet<TaskId> =
                self.plan.rows.all.iter().map(|row| row.id.clone()).collect();
            next.purpose = RowEditPurpose::Add { anchor, level, known: Some(known) };
            self.ui.row_editor = Some(Box::new(next));
        }
        self.ui.marks.clear();
        self.send_command(Command::Edit { edits: reading.edits }, words)
    }

    /// A plan of own steps begins in the editor of its first, empty step. Whoever leaves it is not brought back.
    pub(super) fn open_first_step(&mut self) {
        if self.ui.opened_first_step
            || self.ui.row_editor.is_some()
            || self.why_cannot_edit().is_some()
        {
            return;
        }
        let asks = self.latest.requests.open.values().any(|open| {
            matches!(open.request.kind, RequestKind::Draft { target: ApprovalTarget::Outline, .. })
        });
        let Some(empty) = self.empty_first_step().filter(|_| asks) else { return };
        self.ui.opened_first_step = true;
        self.open_row_editor(&empty);
    }

    /// The only step of a plan of own steps, while it is empty.
    fn empty_first_step(&self) -> Option<TaskId> {
        let outline = self.latest.planning.outline.as_deref()?;
        outline.pattern.as_ref().filter(|spec| spec.is_own_steps())?;
        let tree = outline.node_tree();
        match tree.leaves(&outline.root_id).as_slice() {
            [only] if only.title.is_empty() => Some(only.id.clone()),
            _ => None,
        }
    }

    /// The next new row goes after the one that was added last, once that is in the plan.
    pub(super) fn follow_added_row(&mut self) {
        let Some(editor) = &mut self.ui.row_editor else { return };
        let RowEditPurpose::Add { anchor, known, .. } = &mut editor.purpose else { return };
        let Some(before) = known else { return };
        let new = self.plan.rows.all.iter().find(|row| !before.contains(&row.id));
        if let Some(id) = new.map(|row| row.id.clone()) {
            anchor.clone_from(&id);
            *known = None;
            self.ui.select_task(id);
        }
    }

    /// The reader's day at the moment that is shown.
    pub(super) fn today(&self) -> jiff::civil::Date {
        self.shown_time().to_zoned(self.time_zone.clone()).date()
    }

    /// Puts the change of the selected row back, or takes it again.
    pub(super) fn settle_change(&mut self, keep: bool) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let Some(node) = self.ui.graph.selected.clone() else {
            return self.show_message("no row is selected");
        };
        let changed =
            self.plan.changes.as_ref().is_some_and(|changes| changes.kinds.contains_key(&node));
        let put_back = self.latest.planning.put_back.contains(&node);
        if !changed && !put_back {
            let key = self.keymap.key_hint(KeyAction::NextHit);
            return self
                .show_message(format!("this row did not change; {key} goes to the next change"));
        }
        if keep && !put_back {
            return self.show_message("this change is in the draft");
        }
        if !keep && put_back {
            return self.show_message("this change was put back");
        }
        let title = self.row_title(&node);
        if let Some(day) = self.day_before(&node).filter(|_| !keep) {
            return self.put_back_day(node, day);
        }
        if keep {
            self.send_command(Command::KeepChange { node }, format!("keep the change of {title}"))
        } else {
            self.send_command(Command::PutBackChange { node }, format!("put back {title}"))
        }
    }

    /// The day on which a row began in the draft before, where its days are all that changed.
    fn day_before(&self, node: &TaskId) -> Option<Date> {
        let changes = self.plan.changes.as_ref()?;
        let only_moved = changes.kinds.get(node) == Some(&PlanRowChange::Moved);
        let (was, row) = (changes.before.get(node)?, self.text_row(node)?);
        let same_place = was.needs == row.needs && was.days != row.days;
        was.days.filter(|_| only_moved && same_place).map(|days| days.first)
    }

    /// Puts a row back to the day it had before, if there is time on it now; the others are dated around it.
    fn put_back_day(&mut self, node: TaskId, day: Date) -> ScreenEffect {
        let (title, named) = (self.row_title(&node), format_date(day, self.today()));
        let why = match preview_day(self.preview_source(), &node, day) {
            Ok(PreviewedDay::Fits) => {
                let words = format!("put {title} back to {named}");
                return self.send_command(Command::PutBackChange { node }, words);
            }
            Ok(PreviewedDay::NoTime) => format!("no time on {named} any more"),
            Ok(PreviewedDay::OutsideHours) => format!("you have no hours on {named} any more"),
            Err(why) => return self.show_message(why),
        };
        let undo = self.keymap.key_hint(KeyAction::Undo);
        self.show_message(format!("{why}; {undo} undoes what moved it"))
    }
}
