//! The list of saved sessions: what needs the person first, then what runs, what is kept for later, what is over.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEventKind, MouseEventKind};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::clock::between;
use super::event_loop::App;
use super::glyphs::{session_glyph, sweep};
use super::keymap::{Action, Key, Keymap, Place};
use super::session::{Flow, Message};
use super::theme::{Palette, Role};
use super::widgets::{Line, RuleKind, piece, rule};
use super::{ExitReason, ListItem, TuiError, UiSettings};
use crate::model::SessionId;
use crate::replay::SourceError;
use crate::state::SessionStatus;
use crate::text::units;

/// The groups of the list, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    NeedsYou,
    Running,
    /// Approved and kept for later.
    Held,
    Finished,
}

impl Group {
    fn of(status: SessionStatus) -> Self {
        match status {
            SessionStatus::NeedsYou | SessionStatus::Yours | SessionStatus::Interrupted => {
                Self::NeedsYou
            }
            SessionStatus::Planning | SessionStatus::Running | SessionStatus::Paused => {
                Self::Running
            }
            SessionStatus::Held => Self::Held,
            SessionStatus::Done | SessionStatus::Failed | SessionStatus::Abandoned => {
                Self::Finished
            }
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Running => "running",
            Self::Held => "held",
            Self::Finished => "finished",
        }
    }
}

/// The list.
pub(crate) struct List {
    items: Vec<ListItem>,
    selected: usize,
    top: usize,
    pub(crate) chosen: Option<SessionId>,
    palette: Palette,
    keymap: Keymap,
    ascii: bool,
    clock: fn() -> Timestamp,
    height: u16,
    /// One line for the person, until the next key.
    message: Option<String>,
}

/// One row of the list on the screen.
enum Row {
    Heading(Group, usize),
    Item(usize),
    Detail(usize),
}

impl List {
    pub(crate) fn new(mut items: Vec<ListItem>, settings: &UiSettings) -> Result<Self, TuiError> {
        items.sort_by_key(|item| (Group::of(item.status), std::cmp::Reverse(item.updated_at)));
        Ok(Self {
            items,
            selected: 0,
            top: 0,
            chosen: None,
            palette: settings.theme.palette(settings.color),
            keymap: Keymap::new(&settings.keys)?,
            ascii: settings.ascii,
            clock: settings.now,
            height: 0,
            message: None,
        })
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for group in [Group::NeedsYou, Group::Running, Group::Held, Group::Finished] {
            let members: Vec<usize> = (0..self.items.len())
                .filter(|item| Group::of(self.items[*item].status) == group)
                .collect();
            if members.is_empty() {
                continue;
            }
            rows.push(Row::Heading(group, members.len()));
            for item in members {
                rows.push(Row::Item(item));
                if self.items[item].detail.is_some() {
                    rows.push(Row::Detail(item));
                }
            }
        }
        rows
    }

    fn style(&self, role: Role) -> ratatui::style::Style {
        self.palette.style(role)
    }

    fn move_by(&mut self, by: isize) -> Flow {
        let last = self.items.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        Flow::Draw
    }

    fn on_key(&mut self, key: Key) -> Flow {
        self.message = None;
        if key.ctrl {
            return match key.code {
                KeyCode::Char('c') => Flow::Exit(ExitReason::Quit),
                KeyCode::Char('z') => Flow::Suspend,
                KeyCode::Char('l') => Flow::Redraw,
                _ => Flow::Idle,
            };
        }
        let page = isize::try_from(self.height / 2).unwrap_or(1).max(1);
        match self.keymap.action(key, &[Place::Screen]) {
            Some(Action::Down) => self.move_by(1),
            Some(Action::Up) => self.move_by(-1),
            Some(Action::PageDown) => self.move_by(page),
            Some(Action::PageUp) => self.move_by(-page),
            Some(Action::Start) => self.move_by(isize::MIN / 2),
            Some(Action::Latest) => self.move_by(isize::MAX / 2),
            Some(Action::Open) => match self.items.get(self.selected) {
                Some(item) => {
                    self.chosen = Some(item.id.clone());
                    Flow::Exit(ExitReason::Quit)
                }
                None => Flow::Idle,
            },
            Some(Action::Quit | Action::Back) => Flow::Exit(ExitReason::Quit),
            _ => Flow::Idle,
        }
    }

    fn draw_header(&self, area: Rect, buf: &mut Buffer) {
        let count = match self.items.len() {
            1 => "1 session".to_owned(),
            count => format!("{} sessions", units::count(count as u64)),
        };
        let dim = self.style(Role::Dim);
        Line::new(buf, Rect { height: 1, ..area })
            .right(&[piece(count, dim), piece(" ", dim)])
            .skip(1)
            .put("Planwright", self.palette.bold(Role::Text));
    }

    fn draw_rows(&mut self, area: Rect, buf: &mut Buffer) {
        let rows = self.rows();
        let room = usize::from(area.height);
        let at =
            rows.iter().position(|row| matches!(row, Row::Item(item) if *item == self.selected));
        let at = at.unwrap_or(0);
        // The heading above and the detail below come into view with the selection.
        self.top = self.top.min(at.saturating_sub(1)).max((at + 2).saturating_sub(room));
        self.top = self.top.min(rows.len().saturating_sub(room));
        for (row, y) in rows.iter().skip(self.top).zip(area.y..area.bottom()) {
            let area = Rect { y, height: 1, ..area };
            match row {
                Row::Heading(group, count) => self.draw_heading(*group, *count, area, buf),
                Row::Item(item) => self.draw_item(*item, area, buf),
                Row::Detail(item) => {
                    let text = self.items[*item].detail.as_deref().unwrap_or_default();
                    Line::new(buf, area).skip(7).put(text, self.style(Role::Asks));
                }
            }
        }
    }

    fn draw_heading(&self, group: Group, count: usize, area: Rect, buf: &mut Buffer) {
        let focus =
            self.items.get(self.selected).is_some_and(|item| Group::of(item.status) == group);
        let style = self.style(if focus { Role::Focus } else { Role::Rule });
        let name = format!("{} {count}", group.word());
        rule(buf, area, RuleKind { focus, past: false }, style, &[piece(name, style)], &[]);
    }

    fn draw_item(&self, index: usize, area: Rect, buf: &mut Buffer) {
        let item = &self.items[index];
        let (glyph, role) = session_glyph(item.status);
        if index == self.selected {
            buf.set_style(area, self.style(Role::Selection));
        }
        let age = units::age(between(item.updated_at, (self.clock)()));
        let done = format!("{}/{}", item.done, item.total);
        let dim = self.style(Role::Dim);
        let figures = format!("{done:>9} {:>8} {age:>8}", item.cost.to_string());
        let mut line = Line::new(buf, area);
        line.right(&[piece(figures, dim), piece("  ", dim)]);
        if area.width >= 70 {
            line.right(&[piece(format!("{:<12}", item.status.word()), self.style(role))]);
        }
        let mark = if index == self.selected { "►" } else { " " };
        line.skip(1).put(mark, self.style(Role::Focus)).skip(1);
        line.put(&format!("{glyph} "), self.style(role));
        line.column(item.id.short(), SessionId::SHORT + 2, dim);
        line.put(&item.title, self.style(Role::Text));
    }

    fn draw_empty(&self, area: Rect, buf: &mut Buffer) {
        let lines = [
            ("No session yet.", Role::Text),
            ("", Role::Text),
            ("   planwright run plan.toml     shows what it would run, asks, runs it", Role::Text),
            ("   planwright check plan.toml   only looks for mistakes", Role::Text),
            ("", Role::Text),
            ("A plan is a list of tasks with what each depends on and how it is run:", Role::Dim),
            ("", Role::Dim),
            ("   [[tasks]]", Role::Untrusted),
            ("   id = \"build\"", Role::Untrusted),
            ("   description = \"Build the release\"", Role::Untrusted),
            ("   run = { shell = \"cargo build --release\" }", Role::Untrusted),
            ("", Role::Dim),
            ("Nothing runs before you approve it.", Role::Dim),
            ("Everything that happens is kept and can be played back.", Role::Dim),
        ];
        for ((text, role), y) in lines.iter().zip(area.y + 1..area.bottom()) {
            Line::new(buf, Rect { y, height: 1, ..area }).skip(2).put(text, self.style(*role));
        }
    }

    fn draw_footer(&self, area: Rect, buf: &mut Buffer) {
        let mut hints = Vec::new();
        if !self.items.is_empty() {
            hints.push((self.keymap.key(Action::Open), "open"));
            hints.push((self.keymap.keys(&[Action::Down, Action::Up]), "move"));
        }
        hints.push((self.keymap.key(Action::Quit), "quit"));
        let mut line = Line::new(buf, area);
        line.skip(1);
        if let Some(message) = &self.message {
            line.put(message, self.style(Role::Warn));
            return;
        }
        for (keys, words) in hints {
            line.put(&keys, self.style(Role::Key))
                .put(&format!(" {words}  "), self.style(Role::Dim));
        }
    }
}

impl App for List {
    fn update(&mut self, message: Message) -> Result<Flow, SourceError> {
        let Message::Input(event) = message else { return Ok(Flow::Draw) };
        Ok(match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(Key::of(&key)),
            Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollDown => self.move_by(1),
            Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollUp => self.move_by(-1),
            Event::Resize(..) => Flow::Draw,
            _ => Flow::Idle,
        })
    }

    fn draw(&mut self, buf: &mut Buffer) -> Result<(), SourceError> {
        let area = buf.area;
        if area.height >= 3 {
            self.height = area.height;
            self.draw_header(area, buf);
            let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
            if self.items.is_empty() {
                self.draw_empty(body, buf);
            } else {
                self.draw_rows(body, buf);
            }
            self.draw_footer(Rect { y: area.bottom() - 1, height: 1, ..area }, buf);
        }
        sweep(buf, self.ascii);
        Ok(())
    }

    fn wake(&mut self) -> Option<Duration> {
        None
    }

    fn notify(&mut self, line: &str) {
        self.message = Some(line.to_owned());
    }
}
