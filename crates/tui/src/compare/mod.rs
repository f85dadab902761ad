//! Two runs side by side: their figures, how the plans differ, each task in both, and where they went apart.

mod draw;
mod outputs;
mod table;
mod traces;

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::event_loop::InteractiveScreen;
use super::frame_keys::key_at;
use super::glyphs::sanitize_frame;
use super::keymap::{KeyAction, KeyChord, KeyContext, KeyError, Keymap, TABLE};
use super::overlays::{
    CommandPalette, KeyListHelp, KeyListOutcome, KeyListRow, OverlayRoom, PaletteCommand,
    PaletteItem, PaletteOutcome,
};
use super::session::{ScreenEffect, ScreenMessage};
use super::session_actions::{CompareView, SessionActions};
use super::theme::{ColorDepth, Palette, ThemeRole};
use super::{ExitReason, TuiError, UiAppearance, UiSettings};
use outputs::TaskOutputs;
use planwright_state::replay::RecordSourceError;
use planwright_state::replay::compare::{RunComparison, TaskComparison};
use traces::TaskTraces;

/// What the keys of a comparison do, in the order of its help.
const HELP_KEYS: [(KeyAction, &str); 17] = [
    (KeyAction::NextDivergence, "next difference"),
    (KeyAction::PreviousDivergence, "previous difference"),
    (KeyAction::Open, "what the task did in both runs"),
    (KeyAction::CompareOutputs, "outputs of both as a difference"),
    (KeyAction::FoldSame, "hide or show what is the same"),
    (KeyAction::SwapRuns, "swap A and B"),
    (KeyAction::ExportComparison, "export the comparison"),
    (KeyAction::Palette, "commands"),
    (KeyAction::FocusNext, "the other run's steps"),
    (KeyAction::Down, "down"),
    (KeyAction::Up, "up"),
    (KeyAction::PageDown, "page down"),
    (KeyAction::PageUp, "page up"),
    (KeyAction::Start, "first"),
    (KeyAction::Latest, "last"),
    (KeyAction::Back, "close"),
    (KeyAction::Quit, "back"),
];

/// Those that work while one task is looked at.
const INNER_KEYS: [KeyAction; 12] = [
    KeyAction::NextDivergence,
    KeyAction::PreviousDivergence,
    KeyAction::Palette,
    KeyAction::FocusNext,
    KeyAction::Down,
    KeyAction::Up,
    KeyAction::PageDown,
    KeyAction::PageUp,
    KeyAction::Start,
    KeyAction::Latest,
    KeyAction::Back,
    KeyAction::Quit,
];

/// The screen of a comparison.
pub(crate) struct CompareScreen {
    view: CompareView,
    actions: Option<Arc<dyn SessionActions>>,
    /// The row under the cursor, among those that are shown.
    cursor: usize,
    /// What is the same is hidden.
    folded: bool,
    /// The first row of the table on the screen.
    top: usize,
    /// Where the table was drawn.
    body: Rect,
    /// What one task did in both runs.
    traces: Option<TaskTraces>,
    /// What one task printed in both runs.
    outputs: Option<TaskOutputs>,
    message: Option<String>,
    /// The whole screen as it was drawn last.
    size: Rect,
    /// The open commands.
    commands: Option<Box<CommandPalette>>,
    /// The open list of keys.
    help: Option<Box<KeyListHelp>>,
    /// What was chosen among them, the last first.
    recent: Vec<PaletteCommand>,
    palette: Palette,
    color: ColorDepth,
    keymap: Keymap,
    ascii: bool,
    time_zone: TimeZone,
    clock: fn() -> Timestamp,
}

impl CompareScreen {
    /// Opens on the first divergence.
    pub(crate) fn new(
        view: CompareView,
        actions: Option<Arc<dyn SessionActions>>,
        settings: &UiSettings,
    ) -> Result<Self, TuiError> {
        let mut screen = Self {
            view,
            actions,
            cursor: 0,
            folded: true,
            top: 0,
            body: Rect::default(),
            traces: None,
            outputs: None,
            message: None,
            size: Rect::default(),
            commands: None,
            help: None,
            recent: Vec::new(),
            palette: settings.theme.palette(settings.color),
            color: settings.color,
            keymap: Keymap::new(&settings.keys)?,
            ascii: settings.ascii,
            time_zone: settings.time_zone.clone(),
            clock: settings.now,
        };
        let first =
            screen.comparison().first_divergence.as_ref().and_then(|first| first.task.clone());
        let rows = screen.table_rows();
        let of_first =
            |place: &usize| Some(&screen.comparison().tasks[*place].task) == first.as_ref();
        screen.cursor = match rows.iter().position(of_first) {
            Some(row) => row,
            None => rows.iter().position(|row| screen.row_differs(*row)).unwrap_or(0),
        };
        Ok(screen)
    }

    fn comparison(&self) -> &RunComparison {
        &self.view.comparison
    }

    fn table_rows(&self) -> Vec<usize> {
        table::visible_rows(&self.comparison().tasks, self.folded)
    }

    /// The task under the cursor.
    fn selected_task(&self) -> Option<&TaskComparison> {
        self.comparison().tasks.get(*self.table_rows().get(self.cursor)?)
    }

    /// Whether the runs did something else in this task.
    fn row_differs(&self, place: usize) -> bool {
        let task = &self.comparison().tasks[place];
        !task.reused && (task.divergence.is_some() || task.a.is_none() || task.b.is_none())
    }

    fn on_key(&mut self, event: &KeyEvent) -> Result<ScreenEffect, RecordSourceError> {
        self.message = None;
        let key = KeyChord::from_event(event);
        if key.ctrl {
            match key.code {
                KeyCode::Char('c') => return Ok(ScreenEffect::Exit(ExitReason::Signal("SIGINT"))),
                KeyCode::Char('z') => return Ok(ScreenEffect::Suspend),
                KeyCode::Char('l') => return Ok(ScreenEffect::Redraw),
                _ => {}
            }
        }
        if let Some(help) = &mut self.help {
            if help.on_key(event) == KeyListOutcome::Close {
                self.help = None;
            }
            return Ok(ScreenEffect::Draw);
        }
        if self.commands.is_some() {
            return self.on_commands_key(event);
        }
        let Some(action) = self.keymap.action_for(key, &[KeyContext::Compare, KeyContext::Screen])
        else {
            return Ok(self.refuse_key(key));
        };
        match action {
            KeyAction::Palette => return Ok(self.open_commands()),
            KeyAction::Help => return Ok(self.open_help()),
            _ => {}
        }
        if self.outputs.is_some() {
            return Ok(self.on_output_action(action));
        }
        if self.traces.is_some() {
            return Ok(self.on_trace_action(action));
        }
        self.perform_action(action)
    }

    fn on_output_action(&mut self, action: KeyAction) -> ScreenEffect {
        let Some(outputs) = &mut self.outputs else { return ScreenEffect::Idle };
        match action {
            KeyAction::Down => outputs.scroll(1),
            KeyAction::Up => outputs.scroll(-1),
            KeyAction::PageDown => outputs.scroll(10),
            KeyAction::PageUp => outputs.scroll(-10),
            KeyAction::Start => outputs.scroll(isize::MIN / 2),
            KeyAction::Latest => outputs.scroll(isize::MAX / 2),
            KeyAction::NextDivergence => outputs.go_to_difference(true),
            KeyAction::PreviousDivergence => outputs.go_to_difference(false),
            KeyAction::Back | KeyAction::Quit | KeyAction::CompareOutputs => self.outputs = None,
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    fn on_trace_action(&mut self, action: KeyAction) -> ScreenEffect {
        let Some(traces) = &mut self.traces else { return ScreenEffect::Idle };
        match action {
            KeyAction::Down => traces.scroll(1),
            KeyAction::Up => traces.scroll(-1),
            KeyAction::PageDown => traces.scroll(10),
            KeyAction::PageUp => traces.scroll(-10),
            KeyAction::Start => traces.scroll(isize::MIN / 2),
            KeyAction::Latest => traces.scroll(isize::MAX / 2),
            KeyAction::FocusNext
            | KeyAction::FocusPrevious
            | KeyAction::Left
            | KeyAction::Right => {
                traces.switch_side();
            }
            KeyAction::NextDivergence | KeyAction::PreviousDivergence => traces.go_to_divergence(),
            KeyAction::Back | KeyAction::Quit | KeyAction::Open => self.traces = None,
            _ => return ScreenEffect::Idle,
        }
        ScreenEffect::Draw
    }

    fn perform_action(&mut self, action: KeyAction) -> Result<ScreenEffect, RecordSourceError> {
        let page = isize::try_from(self.body.height).unwrap_or(1).max(1);
        match action {
            KeyAction::Down => self.move_cursor(1),
            KeyAction::Up => self.move_cursor(-1),
            KeyAction::PageDown => self.move_cursor(page),
            KeyAction::PageUp => self.move_cursor(-page),
            KeyAction::Start => self.move_cursor(isize::MIN / 2),
            KeyAction::Latest => self.move_cursor(isize::MAX / 2),
            KeyAction::NextDivergence => self.go_to_divergence(true),
            KeyAction::PreviousDivergence => self.go_to_divergence(false),
            KeyAction::FoldSame => self.toggle_fold(),
            KeyAction::SwapRuns => self.swap_runs(),
            KeyAction::ExportComparison => self.export_comparison(),
            KeyAction::Open => return self.open_traces(),
            KeyAction::CompareOutputs => return self.open_outputs(),
            KeyAction::Back | KeyAction::Quit => {
                return Ok(ScreenEffect::Exit(ExitReason::BackToList));
            }
            other => return Ok(self.refuse_action(other)),
        }
        Ok(ScreenEffect::Draw)
    }

    fn refuse_key(&mut self, key: KeyChord) -> ScreenEffect {
        self.message = Some(format!("{key}: not used while two runs are compared"));
        ScreenEffect::Draw
    }

    fn refuse_action(&mut self, action: KeyAction) -> ScreenEffect {
        let key = self.keymap.key_hint(action);
        self.message = Some(format!("{key}: not while two runs are compared"));
        ScreenEffect::Draw
    }

    /// Everything that can be done with a comparison.
    fn open_commands(&mut self) -> ScreenEffect {
        let here = TABLE.iter().filter(|entry| entry.place == KeyContext::Compare);
        let items = here.map(|entry| {
            let keys = self.keymap.key_hint(entry.action);
            PaletteItem::from_action(entry.action, entry.words, keys)
        });
        let palette = CommandPalette::new(items.collect(), &self.recent);
        self.commands = Some(Box::new(palette));
        ScreenEffect::Draw
    }

    /// The keys of the table, or of what one task did or printed in both runs.
    fn open_help(&mut self) -> ScreenEffect {
        let inner = self.traces.is_some() || self.outputs.is_some();
        let row = |(action, words): &(KeyAction, &'static str)| {
            let works = !inner || INNER_KEYS.contains(action);
            KeyListRow { action: *action, words, note: "", works }
        };
        let rows = HELP_KEYS.iter().map(row).collect();
        self.help = Some(Box::new(KeyListHelp::new("compare", rows)));
        ScreenEffect::Draw
    }

    fn on_commands_key(&mut self, event: &KeyEvent) -> Result<ScreenEffect, RecordSourceError> {
        let Some(commands) = &mut self.commands else { return Ok(ScreenEffect::Idle) };
        match commands.on_key(event) {
            PaletteOutcome::Stay => {}
            PaletteOutcome::Close => self.commands = None,
            PaletteOutcome::Search(words) => {
                self.commands = None;
                self.message = Some(format!("No command for \"{words}\""));
            }
            PaletteOutcome::Run(command) => {
                self.commands = None;
                self.recent.retain(|used| *used != command);
                self.recent.insert(0, command.clone());
                if let PaletteCommand::Action(action) = command {
                    return self.perform_action(action);
                }
            }
        }
        Ok(ScreenEffect::Draw)
    }

    /// Presses the key that is drawn under the pointer.
    fn press_key_at(&mut self, at: Position) -> Option<Result<ScreenEffect, RecordSourceError>> {
        let mut frame = Buffer::empty(self.size);
        self.draw_all(&mut frame);
        if !frame.area.contains(at) || at.y + 1 != frame.area.bottom() {
            return None;
        }
        let key = key_at(&frame, at, &[self.palette.style(ThemeRole::Key)])?;
        Some(self.on_key(&KeyEvent::new(key.code, KeyModifiers::NONE)))
    }

    fn move_cursor(&mut self, by: isize) {
        let last = self.table_rows().len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }

    /// The next row in which the runs differ, around the end as well.
    fn go_to_divergence(&mut self, forward: bool) {
        let rows = self.table_rows();
        let count = rows.len();
        if count == 0 {
            self.message = Some("No tasks differ.".to_owned());
            return;
        }
        let step = |by: usize| {
            if forward { (self.cursor + by) % count } else { (self.cursor + count - by) % count }
        };
        match (1..=count).map(step).find(|at| self.row_differs(rows[*at])) {
            Some(at) => self.cursor = at,
            None => self.message = Some("No tasks differ.".to_owned()),
        }
    }

    /// Folds what is the same, or unfolds it; the cursor stays on its task.
    fn toggle_fold(&mut self) {
        let kept = self.selected_task().map(|task| task.task.clone());
        self.folded = !self.folded;
        let rows = self.table_rows();
        let same = |place: &usize| Some(&self.comparison().tasks[*place].task) == kept.as_ref();
        self.cursor = rows.iter().position(same).unwrap_or(0);
    }

    fn swap_runs(&mut self) {
        self.view.comparison = self.view.comparison.swap_sides();
        std::mem::swap(&mut self.view.a, &mut self.view.b);
    }

    fn export_comparison(&mut self) {
        let kept = match &self.actions {
            Some(actions) => actions.export_comparison(self.comparison()),
            None => Err("there is nowhere to write it to".to_owned()),
        };
        self.message = Some(kept.unwrap_or_else(|why| why));
    }

    /// Shows what the task under the cursor did in both runs.
    fn open_traces(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        if let Some(task) = self.selected_task().cloned() {
            self.traces = Some(TaskTraces::read(&task, &mut self.view)?);
        }
        Ok(ScreenEffect::Draw)
    }

    /// Shows what the task under the cursor printed in both runs, as a difference.
    fn open_outputs(&mut self) -> Result<ScreenEffect, RecordSourceError> {
        if let Some(task) = self.selected_task().cloned() {
            self.outputs = Some(TaskOutputs::read(&task, &mut self.view)?);
        }
        Ok(ScreenEffect::Draw)
    }

    /// Draws the whole screen.
    pub(crate) fn render(&mut self, buf: &mut Buffer) {
        self.size = buf.area;
        self.draw_all(buf);
        if let Some(commands) = &self.commands {
            let room = OverlayRoom { screen: buf.area, header: 1 };
            commands.draw(room, &self.palette, buf);
        }
        if let Some(help) = &self.help {
            help.draw(buf.area, &self.keymap, &self.palette, buf);
        }
        self.palette.settle_selection(buf);
        sanitize_frame(buf, self.ascii);
    }
}

impl InteractiveScreen for CompareScreen {
    fn update(&mut self, message: ScreenMessage) -> Result<ScreenEffect, RecordSourceError> {
        let ScreenMessage::Input(event) = message else { return Ok(ScreenEffect::Draw) };
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(&key),
            Event::Mouse(mouse) => {
                let by = match mouse.kind {
                    MouseEventKind::ScrollDown => 1,
                    MouseEventKind::ScrollUp => -1,
                    MouseEventKind::Down(MouseButton::Left)
                        if self.traces.is_none() && self.outputs.is_none() =>
                    {
                        let at = Position::new(mouse.column, mouse.row);
                        if let Some(flow) = self.press_key_at(at) {
                            return flow;
                        }
                        if !self.body.contains(at) {
                            return Ok(ScreenEffect::Idle);
                        }
                        let row = self.top + usize::from(at.y - self.body.y);
                        self.cursor = row.min(self.table_rows().len().saturating_sub(1));
                        return Ok(ScreenEffect::Draw);
                    }
                    _ => return Ok(ScreenEffect::Idle),
                };
                match (&mut self.outputs, &mut self.traces) {
                    (Some(outputs), _) => outputs.scroll(by),
                    (None, Some(traces)) => traces.scroll(by),
                    (None, None) => self.move_cursor(by),
                }
                Ok(ScreenEffect::Draw)
            }
            Event::Resize(..) => Ok(ScreenEffect::Draw),
            _ => Ok(ScreenEffect::Idle),
        }
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), RecordSourceError> {
        self.render(buf);
        Ok(())
    }

    fn tick_delay(&mut self) -> Option<Duration> {
        None
    }

    fn show_notice(&mut self, line: &str) {
        self.message = Some(line.to_owned());
    }

    fn apply_appearance(&mut self, look: &UiAppearance) -> Result<(), KeyError> {
        self.keymap = Keymap::new(&look.keys)?;
        self.palette = look.theme.palette(self.color);
        self.ascii = look.ascii;
        Ok(())
    }
}
