//! The card of a task: what it is, when, and what can be done with it. Opening it never finishes anything.

mod content;

use crossterm::event::{KeyCode, KeyEvent};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

pub(crate) use content::{TaskCardLine, TaskCardSource, card_lines};

use super::frame::CardFrame;
use crate::keymap::{KeyAction, KeyChord, KeyContext, Keymap};
use crate::theme::{Palette, ThemeRole};
use crate::widgets::{NOT_A_TIME, ScreenLine, TextField, WhenInput, styled_piece};
use planwright_model::event::Command;
use planwright_model::{Actor, TaskId};
use planwright_state::{SessionState, TaskStatus};
use planwright_text::clean_line;

/// The widest card.
const WIDTH: u16 = 98;
/// Columns of the labels.
const LABEL: usize = 12;

/// What a card looks at.
pub(crate) struct CardContext<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) keymap: &'a Keymap,
    pub(crate) palette: &'a Palette,
    pub(crate) now: Timestamp,
    pub(crate) zone: &'a TimeZone,
    /// Whether commands can be sent: not in the past, and not while another process has the session.
    pub(crate) can_act: bool,
}

/// An open card.
#[derive(Clone, Debug)]
pub(crate) struct TaskCard {
    pub(crate) task: TaskId,
    /// Of a repeating task, the time that is meant.
    pub(crate) occurrence: Option<u32>,
    pub(crate) scroll: usize,
    details: bool,
    input: Option<CardInput>,
    /// The last lines of its output, where whoever opened it knows them.
    pub(crate) output: Vec<String>,
    /// What made it fail, where whoever opened it has read its output.
    pub(crate) cause: Option<String>,
    /// What became of the last key.
    pub(crate) message: Option<String>,
    /// What was typed into its lines and not sent.
    pub(crate) unsent: UnsentCardText,
}

/// What was typed into the lines of a card and not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnsentCardText {
    pub(crate) note: String,
    pub(crate) when: String,
}

impl UnsentCardText {
    pub(crate) fn is_empty(&self) -> bool {
        self.note.is_empty() && self.when.is_empty()
    }
}

/// What is being typed in a card.
#[derive(Clone, Debug)]
enum CardInput {
    When { block: String, input: WhenInput },
    Note(TextField),
}

/// What a key in a card leads to.
#[derive(Debug, PartialEq)]
pub(crate) enum TaskCardOutcome {
    Stay,
    Close,
    /// The card stays open and shows what becomes of it.
    Send {
        command: Command,
        words: String,
    },
    Copy(String),
    /// Another task: the failure because of which this one was skipped.
    GoTo(TaskId),
    /// Something that the plan does with the task; the card closes.
    Run(KeyAction),
}

impl TaskCard {
    pub(crate) fn new(task: TaskId, occurrence: Option<u32>) -> Self {
        Self {
            task,
            occurrence,
            scroll: 0,
            details: false,
            input: None,
            output: Vec::new(),
            cause: None,
            message: None,
            unsent: UnsentCardText::default(),
        }
    }

    /// The status of the task, or of the time that is meant.
    fn status(&self, state: &SessionState) -> Option<TaskStatus> {
        let row = state.tasks.get(&self.task)?;
        Some(match self.occurrence.and_then(|time| row.occurrences.get(&time)) {
            Some(true) => TaskStatus::Done,
            Some(false) => TaskStatus::Skipped(planwright_model::SkipReason::ByPerson),
            None => row.status,
        })
    }

    /// Whether letters go into a line of it.
    pub(crate) fn is_typing(&self) -> bool {
        self.input.is_some()
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        match &mut self.input {
            Some(CardInput::When { input, .. }) => input.on_paste(text),
            Some(CardInput::Note(field)) => field.on_paste(text),
            None => {}
        }
    }

    pub(crate) fn on_key(&mut self, event: &KeyEvent, cx: &CardContext<'_>) -> TaskCardOutcome {
        self.message = None;
        if self.input.is_some() {
            return self.on_input_key(event, cx);
        }
        let key = KeyChord::from_event(event);
        let places = [KeyContext::Today, KeyContext::Graph, KeyContext::Screen];
        match (cx.keymap.action_for(key, &places), key.code) {
            (_, KeyCode::Char('v')) => self.details = !self.details,
            (_, KeyCode::Char('y')) => return TaskCardOutcome::Copy(self.as_text(cx)),
            (Some(KeyAction::Down), _) => self.scroll += 1,
            (Some(KeyAction::Up), _) => self.scroll = self.scroll.saturating_sub(1),
            (Some(KeyAction::PageDown), _) => self.scroll += 10,
            (Some(KeyAction::PageUp), _) => self.scroll = self.scroll.saturating_sub(10),
            (Some(KeyAction::Open), _) => {
                let failure = self.failure_behind(cx.state);
                return failure.map_or(TaskCardOutcome::Close, TaskCardOutcome::GoTo);
            }
            (Some(KeyAction::Back | KeyAction::Quit), _) => return TaskCardOutcome::Close,
            (Some(action), _) => return self.on_action(action, cx),
            (None, _) => {}
        }
        TaskCardOutcome::Stay
    }

    fn on_action(&mut self, action: KeyAction, cx: &CardContext<'_>) -> TaskCardOutcome {
        let acts = matches!(
            action,
            KeyAction::TodayDone
                | KeyAction::Done
                | KeyAction::TodayLater
                | KeyAction::When
                | KeyAction::TodaySkip
                | KeyAction::Skip
                | KeyAction::Comment
                | KeyAction::Undo
                | KeyAction::Edit
                | KeyAction::AddNode
                | KeyAction::SplitRow
                | KeyAction::Retry
                | KeyAction::StopTask
        );
        if !acts {
            return TaskCardOutcome::Stay;
        }
        if !cx.can_act {
            return self.refuse("This can't be changed from here.".to_owned());
        }
        match action {
            KeyAction::TodayDone | KeyAction::Done => self.mark(true, cx),
            KeyAction::TodaySkip | KeyAction::Skip => self.skip(cx),
            KeyAction::TodayLater | KeyAction::When => self.ask_when(cx),
            KeyAction::Comment => {
                self.input = Some(CardInput::Note(TextField::new(&self.unsent.note)));
                TaskCardOutcome::Stay
            }
            KeyAction::Undo => self.reopen(cx),
            other => TaskCardOutcome::Run(other),
        }
    }

    fn refuse(&mut self, why: String) -> TaskCardOutcome {
        self.message = Some(why);
        TaskCardOutcome::Stay
    }

    /// The failed task because of which this one was skipped.
    fn failure_behind(&self, state: &SessionState) -> Option<TaskId> {
        let root = state.failure_behind(state.tasks.position(&self.task)?)?;
        Some(state.tasks.id(root).clone())
    }

    fn is_human(&self, state: &SessionState) -> bool {
        state.tasks.position(&self.task).is_some_and(|task| state.tasks.is_human(task))
    }

    /// Marks the task done, or says why that is not possible.
    pub(crate) fn mark_done(&mut self, cx: &CardContext<'_>) -> TaskCardOutcome {
        self.mark(true, cx)
    }

    fn mark(&mut self, done: bool, cx: &CardContext<'_>) -> TaskCardOutcome {
        let state = cx.state;
        let Some(task) = state.tasks.position(&self.task) else { return TaskCardOutcome::Stay };
        if !state.tasks.is_human(task) {
            return self.refuse("d: this task is not yours; it finishes by itself".to_owned());
        }
        if !state.is_runnable() {
            return self.refuse("d: approve the plan first".to_owned());
        }
        if let Some(status) = self.status(state).filter(|status| status.is_settled()) {
            return self.refuse(format!("d: this task is {} already", status.label()));
        }
        let unmet = state.unmet_dependencies(task, self.occurrence);
        if let Some(first) = unmet.first().filter(|_| done) {
            return self.refuse(format!("d: first comes {}", state.task_title(*first)));
        }
        let words = if done { "done" } else { "skipped" };
        let command = Command::MarkTask {
            task: self.task.clone(),
            occurrence: self.occurrence,
            done,
            note: None,
            by: Actor::Person,
        };
        TaskCardOutcome::Send { command, words: words.to_owned() }
    }

    fn skip(&mut self, cx: &CardContext<'_>) -> TaskCardOutcome {
        if self.is_human(cx.state) {
            return self.mark(false, cx);
        }
        TaskCardOutcome::Run(KeyAction::Skip)
    }

    fn reopen(&mut self, cx: &CardContext<'_>) -> TaskCardOutcome {
        let settled = self.status(cx.state).is_some_and(TaskStatus::is_settled);
        if !settled || !self.is_human(cx.state) {
            return TaskCardOutcome::Run(KeyAction::Undo);
        }
        let command = Command::ReopenTask {
            task: self.task.clone(),
            occurrence: self.occurrence,
            by: Actor::Person,
        };
        TaskCardOutcome::Send { command, words: "open again".to_owned() }
    }

    /// Opens the line for another time of the next block that is still to be worked in.
    pub(crate) fn ask_when(&mut self, cx: &CardContext<'_>) -> TaskCardOutcome {
        let schedule = cx.state.planning.schedule.as_deref();
        let row = cx.state.tasks.get(&self.task);
        let open = |block: &&planwright_model::ScheduledBlock| match self.occurrence {
            Some(time) => block.occurrence == Some(time),
            None => block
                .occurrence
                .is_none_or(|time| row.is_none_or(|row| !row.occurrences.contains_key(&time))),
        };
        let block = schedule
            .iter()
            .flat_map(|schedule| schedule.blocks_for_node(&self.task))
            .filter(open)
            .min_by_key(|block| block.start.at);
        let Some(block) = block else {
            return self.refuse("w: this task has no planned time".to_owned());
        };
        let today = cx.now.to_zoned(cx.zone.clone()).date();
        let input = WhenInput::new(&block.start.at.to_zoned(cx.zone.clone()), today)
            .with_text(&self.unsent.when);
        self.input = Some(CardInput::When { block: block.id.clone(), input });
        TaskCardOutcome::Stay
    }

    /// Closes the open line and keeps what was typed.
    fn keep_input(&mut self) {
        match self.input.take() {
            Some(CardInput::When { input, .. }) => input.typed().clone_into(&mut self.unsent.when),
            Some(CardInput::Note(field)) => field.text().trim().clone_into(&mut self.unsent.note),
            None => {}
        }
    }

    fn on_input_key(&mut self, event: &KeyEvent, cx: &CardContext<'_>) -> TaskCardOutcome {
        if event.code == KeyCode::Esc {
            self.keep_input();
            return TaskCardOutcome::Stay;
        }
        let sends = event.code == KeyCode::Enter;
        match &mut self.input {
            Some(CardInput::When { block, input }) if sends => {
                let now = cx.now.to_zoned(cx.zone.clone());
                let (Some(to), block) = (input.read(&now), block.clone()) else {
                    return self.refuse(NOT_A_TIME.to_owned());
                };
                self.input = None;
                self.unsent.when.clear();
                let command = Command::MoveBlock { block, to };
                TaskCardOutcome::Send { command, words: "moved".to_owned() }
            }
            Some(CardInput::Note(field)) if sends => {
                let text = field.text().trim().to_owned();
                self.input = None;
                self.unsent.note.clear();
                if text.is_empty() {
                    return TaskCardOutcome::Stay;
                }
                let command =
                    Command::NoteTask { task: self.task.clone(), text, by: Actor::Person };
                TaskCardOutcome::Send { command, words: "note".to_owned() }
            }
            Some(CardInput::When { input, .. }) => {
                input.on_key(event);
                TaskCardOutcome::Stay
            }
            Some(CardInput::Note(field)) => {
                field.on_key(event);
                TaskCardOutcome::Stay
            }
            None => TaskCardOutcome::Stay,
        }
    }

    fn source<'a>(&'a self, cx: &CardContext<'a>) -> Option<TaskCardSource<'a>> {
        Some(TaskCardSource {
            state: cx.state,
            task: cx.state.tasks.position(&self.task)?,
            occurrence: self.occurrence,
            now: cx.now,
            zone: cx.zone,
            details: self.details,
            output: &self.output,
            cause: self.cause.as_deref(),
        })
    }

    /// The whole card as text, for the clipboard.
    fn as_text(&self, cx: &CardContext<'_>) -> String {
        let Some(source) = self.source(cx) else { return String::new() };
        let mut text = format!("{}\n", cx.state.task_title(source.task));
        for line in card_lines(&source, 100) {
            let label = if line.wide { String::new() } else { format!("{:<LABEL$}", line.label) };
            let row = format!("{label}{}  {}", line.text, line.right);
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    /// The keys that work on this task now, each with its word.
    fn keys(&self, cx: &CardContext<'_>) -> Vec<(String, &'static str)> {
        let key = |action| cx.keymap.key_hint(action);
        let mut keys = Vec::new();
        if self.failure_behind(cx.state).is_some() {
            keys.push((key(KeyAction::Open), "go to the failure"));
        }
        if cx.can_act {
            let status = self.status(cx.state);
            let settled = status.is_some_and(TaskStatus::is_settled);
            match (self.is_human(cx.state), status) {
                (true, _) if settled => keys.push((key(KeyAction::Undo), "undo")),
                // Nothing is done before the plan is approved.
                (true, _) if !cx.state.plan.is_approved() => {}
                (true, _) => keys.extend([
                    (key(KeyAction::TodayDone), "done"),
                    (key(KeyAction::TodayLater), "when"),
                ]),
                (false, Some(TaskStatus::Failed | TaskStatus::Skipped(_))) => {
                    keys.push((key(KeyAction::Retry), "retry"));
                }
                (false, Some(TaskStatus::Running)) => keys.push((key(KeyAction::StopTask), "stop")),
                (false, _) => {}
            }
            keys.push((key(KeyAction::Comment), "note"));
            if !settled && cx.state.plan.is_approved() {
                keys.push((key(KeyAction::TodaySkip), "skip"));
            }
            keys.push((key(KeyAction::Edit), "edit"));
            keys.push((key(KeyAction::AddNode), "subtask"));
            if cx.state.planning.outline.is_some() && !settled {
                keys.push((key(KeyAction::SplitRow), "split"));
            }
        }
        keys.push(("y".to_owned(), "copy"));
        keys
    }

    /// Draws the card over a screen whose first rows stay visible.
    pub(crate) fn draw(&self, room: Rect, buf: &mut Buffer, cx: &CardContext<'_>) {
        let width = room.width.min(WIDTH);
        let source = self.source(cx);
        let title = source.as_ref().map_or_else(
            || "This task is not in the plan now".to_owned(),
            |source| clean_line(cx.state.task_title(source.task)).into_owned(),
        );
        let lines = source.map(|source| card_lines(&source, usize::from(width).saturating_sub(4)));
        let lines = lines.unwrap_or_default();
        let wanted = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4);
        let height = wanted.clamp(6, room.height.max(6));
        let note = if self.details { "v hide the details" } else { "v id and estimate" };
        let frame = CardFrame { title: &title, note, hint: "Esc close" };
        let style = cx.palette.style(ThemeRole::Focus);
        let inner = frame.draw(room, (width, height), style, buf);
        let rows = inner.height.saturating_sub(2);
        let body =
            Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), height: rows, ..inner };
        let most = lines.len().saturating_sub(usize::from(rows));
        for (line, y) in lines.iter().skip(self.scroll.min(most)).zip(body.y..body.bottom()) {
            draw_card_line(line, Rect { y, height: 1, ..body }, cx.palette, buf);
        }
        let foot = Rect { y: body.bottom() + 1, height: u16::from(inner.height > 1), ..body };
        self.draw_foot(foot, buf, cx);
    }

    fn draw_foot(&self, row: Rect, buf: &mut Buffer, cx: &CardContext<'_>) {
        let style = |role| cx.palette.style(role);
        if let Some(message) = &self.message {
            ScreenLine::new(buf, row).skip(2).put(message, style(ThemeRole::Warn));
            return;
        }
        let label = match &self.input {
            None => {
                draw_key_row(&self.keys(cx), row, cx.palette, buf);
                return;
            }
            Some(CardInput::When { .. }) => "When  ",
            Some(CardInput::Note(_)) => "Note  ",
        };
        ScreenLine::new(buf, row).put(label, style(ThemeRole::Key));
        let used = (label.len() as u16).min(row.width);
        let area = Rect { x: row.x + used, width: row.width - used, ..row };
        match &self.input {
            Some(CardInput::When { input, .. }) => {
                let now = cx.now.to_zoned(cx.zone.clone());
                let styles =
                    (style(ThemeRole::Text), style(ThemeRole::Selection), style(ThemeRole::Dim));
                input.draw(area, &now, styles, buf);
            }
            Some(CardInput::Note(field)) => field.draw(area, style(ThemeRole::Text), buf),
            None => {}
        }
    }
}

/// Keys with their words, as many as fit whole.
fn draw_key_row(keys: &[(String, &'static str)], row: Rect, palette: &Palette, buf: &mut Buffer) {
    let mut line = ScreenLine::new(buf, row);
    line.skip(2);
    for (key, words) in keys {
        if line.cells_left() < key.len() + words.len() + 1 {
            break;
        }
        line.put(key, palette.style(ThemeRole::Key))
            .put(&format!(" {words}"), palette.style(ThemeRole::Dim))
            .skip(5);
    }
}

/// Draws one line of a card.
pub(crate) fn draw_card_line(line: &TaskCardLine, row: Rect, palette: &Palette, buf: &mut Buffer) {
    let style = |role| -> Style { palette.style(role) };
    let mut out = ScreenLine::new(buf, row);
    if !line.right.is_empty() {
        out.put_right(&[styled_piece(line.right.as_str(), style(ThemeRole::Text))]);
    }
    if !line.wide {
        out.put_column(&line.label, LABEL, style(ThemeRole::Dim));
    }
    out.put(&line.text, style(line.role));
}
