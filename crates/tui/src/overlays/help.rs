//! Help: the keys of the pane with the focus, those that work now in bold, why others do not, and what the marks mean.
//! Typing narrows it to what has these words, over all panes.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::help_table::{
    self, ACTIVITY, DECISION, HelpRow, HelpSection, LEGEND, LOOKING, NOT_NOW, PLAN, RUN, TASK, TIME,
};
use super::{Overlay, OverlayOutcome, frame};
use crate::action_situation::ActionSituation;
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, StyledPiece, TextField, pieces_width, styled_piece};

/// Cells that keys take before their words.
const KEY_COLUMN: usize = 9;
/// From here on three columns fit.
const WIDE: u16 = 90;
/// From here on two.
const MEDIUM: u16 = 64;

/// Which keys help is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HelpTopic {
    Plan,
    Run,
    Activity,
    Decision,
    Replay,
}

impl HelpTopic {
    const ALL: [Self; 5] = [Self::Plan, Self::Run, Self::Activity, Self::Decision, Self::Replay];

    /// What the pane with the focus is about.
    fn from_context(cx: &PaneContext<'_>) -> Self {
        let drafting = !cx.state.plan.is_approved() && !cx.state.run.is_active();
        match cx.ui.focus {
            _ if cx.mode.is_past() => Self::Replay,
            PaneFocus::Trace => Self::Activity,
            PaneFocus::Approval => Self::Decision,
            _ if drafting => Self::Plan,
            _ => Self::Run,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Run => "run",
            Self::Activity => "activity",
            Self::Decision => "question",
            Self::Replay => "replay",
        }
    }

    fn sections(self) -> [&'static HelpSection; 3] {
        match self {
            Self::Plan => [&PLAN, &DECISION, &LOOKING],
            Self::Run => [&TASK, &RUN, &LOOKING],
            Self::Activity => [&ACTIVITY, &RUN, &LOOKING],
            Self::Decision => [&DECISION, &PLAN, &LOOKING],
            Self::Replay => [&TIME, &ACTIVITY, &LOOKING],
        }
    }
}

/// Open help, and what was open when it was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct HelpOverlay {
    filter: TextField,
    scroll: usize,
    /// How many panes further than the focused one the person turned to.
    turned: usize,
    /// What is shown again once help is closed.
    pub(crate) behind: Option<Box<Overlay>>,
}

/// One line of help.
enum HelpLine {
    Columns(Vec<Option<HelpCell>>),
    Text(Vec<StyledPiece<'static>>),
    Divider,
}

/// A heading or a row of a column.
#[derive(Clone, Copy)]
enum HelpCell {
    Heading(&'static str),
    Row(HelpRow),
}

impl HelpOverlay {
    /// Help over something that stays open behind it.
    pub(crate) fn over(behind: Option<Overlay>) -> Self {
        Self { behind: behind.map(Box::new), ..Self::default() }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent, action: Option<KeyAction>) -> OverlayOutcome {
        let empty = self.filter.text().is_empty();
        match (event.code, action) {
            (KeyCode::Esc | KeyCode::Enter, _) => return OverlayOutcome::Close,
            (KeyCode::Down, _) => self.scroll += 1,
            (KeyCode::Up, _) => self.scroll = self.scroll.saturating_sub(1),
            (KeyCode::PageDown, _) => self.scroll += 10,
            (KeyCode::PageUp, _) => self.scroll = self.scroll.saturating_sub(10),
            (KeyCode::Tab, _) => {
                self.turned += 1;
                self.scroll = 0;
            }
            (_, Some(KeyAction::Help | KeyAction::Quit)) if empty => return OverlayOutcome::Close,
            (_, Some(KeyAction::Down)) if empty => self.scroll += 1,
            (_, Some(KeyAction::Up)) if empty => self.scroll = self.scroll.saturating_sub(1),
            (KeyCode::Char('/'), _) if empty => {}
            _ => {
                if self.filter.on_key(event) {
                    self.scroll = 0;
                }
            }
        }
        OverlayOutcome::Stay
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.filter.on_paste(text);
        self.scroll = 0;
    }

    fn topic(&self, cx: &PaneContext<'_>) -> HelpTopic {
        let focused = HelpTopic::from_context(cx);
        let at = HelpTopic::ALL.iter().position(|topic| *topic == focused).unwrap_or(0);
        HelpTopic::ALL[(at + self.turned) % HelpTopic::ALL.len()]
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let width = usize::from(screen.width.min(100)).saturating_sub(4);
        let situation = cx.situation();
        let lines = if self.filter.text().trim().is_empty() {
            self.pane_lines(width, &situation, cx)
        } else {
            self.matching_lines(&situation, cx)
        };
        let size = (100, lines.len() as u16 + 4);
        let inner = frame::draw_overlay_frame(screen, size, "help", "Esc close", buf, cx);
        if inner.height < 3 {
            return;
        }
        frame::draw_frame_note(inner, "j k scroll  Tab other panes", buf, cx);
        self.draw_filter(inner, buf, cx);
        let room = usize::from(inner.height - 2);
        let top = self.scroll.min(lines.len().saturating_sub(room));
        for (line, y) in lines.iter().skip(top).zip(inner.y + 2..inner.bottom()) {
            draw_line(line, Rect { y, height: 1, ..inner }, &situation, buf, cx);
        }
        let below = lines.len().saturating_sub(top + room);
        if below > 0 {
            let more = format!("j k scroll, {below} more  Tab other panes");
            frame::draw_frame_note(inner, &more, buf, cx);
        }
    }

    fn draw_filter(&self, inner: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let row = Rect { height: 1, ..inner };
        let dim = cx.style(ThemeRole::Dim);
        let topic = self.topic(cx);
        let facts = if self.turned.is_multiple_of(HelpTopic::ALL.len()) {
            format!("{} has the focus ", topic.label())
        } else {
            format!("keys of the {} ", topic.label())
        };
        let mut line = ScreenLine::new(buf, row);
        line.put_right(&[styled_piece(facts, dim)]);
        line.skip(1).put("/", cx.style(ThemeRole::Key));
        let room = line.cells_left();
        if self.filter.text().is_empty() {
            line.skip(3).put("type to filter", dim);
        }
        let field = Rect { x: inner.x + 2, width: (room as u16).min(40), ..row };
        let field = if self.filter.text().is_empty() { Rect { width: 1, ..field } } else { field };
        self.filter.draw(field, cx.style(ThemeRole::Text), buf);
        frame::draw_frame_divider(Rect { y: inner.y + 1, ..row }, buf, cx);
    }

    /// The sections of a pane side by side, then what is the same everywhere, what does not work now, and the marks.
    fn pane_lines(
        &self,
        width: usize,
        situation: &ActionSituation<'_>,
        cx: &PaneContext<'_>,
    ) -> Vec<HelpLine> {
        let sections = self.topic(cx).sections();
        let columns: Vec<Vec<HelpCell>> = sections.iter().map(|section| cells(section)).collect();
        let mut lines = place_columns(columns, width);
        lines.push(HelpLine::Divider);
        lines.extend(wrap_facts("everywhere", everywhere(cx), width, cx));
        // Keys with one reason share it.
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for (action, words) in &NOT_NOW {
            let Some(why) = situation.why_unavailable(*action) else { continue };
            let key = format!("{} {words}", cx.keymap.key_hint(*action));
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, keys)) => keys.push(key),
                None => reasons.push((why, vec![key])),
            }
        }
        let reasons = reasons.into_iter().map(|(why, keys)| {
            vec![styled_piece(format!("{}: {why}", keys.join(", ")), cx.style(ThemeRole::Dim))]
        });
        lines.extend(wrap_facts("not now", reasons.collect(), width, cx).into_iter().take(3));
        for legend in LEGEND {
            let marks = legend
                .iter()
                .map(|mark| vec![styled_piece(*mark, cx.style(ThemeRole::Dim))])
                .collect();
            lines.extend(wrap_facts("", marks, width, cx));
        }
        lines
    }

    /// Every row that has the typed words in it, each with its reason where it does not work now.
    fn matching_lines(
        &self,
        situation: &ActionSituation<'_>,
        cx: &PaneContext<'_>,
    ) -> Vec<HelpLine> {
        let typed = self.filter.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let mut seen: Vec<&[KeyAction]> = Vec::new();
        let mut lines = Vec::new();
        for section in help_table::ALL {
            for row in section.rows {
                let keys = row_keys(row, cx);
                let text = format!("{} {} {}", keys.to_lowercase(), row.1, section.title);
                if seen.contains(&row.0) || !words.iter().all(|word| text.contains(word)) {
                    continue;
                }
                seen.push(row.0);
                lines.push(HelpLine::Text(row_pieces(*row, section.title, situation, cx)));
            }
        }
        if lines.is_empty() {
            let text = format!("No key for \"{}\"", self.filter.text().trim());
            lines.push(HelpLine::Text(vec![styled_piece(text, cx.style(ThemeRole::Warn))]));
        }
        lines
    }
}

/// Three columns side by side where there is room, else two of equal height, else one.
fn place_columns(columns: Vec<Vec<HelpCell>>, width: usize) -> Vec<HelpLine> {
    let columns: Vec<Vec<HelpCell>> = if width >= usize::from(WIDE) {
        columns
    } else {
        let all: Vec<HelpCell> = columns.into_iter().flatten().collect();
        let count = if width >= usize::from(MEDIUM) { 2 } else { 1 };
        all.chunks(all.len().div_ceil(count)).map(<[HelpCell]>::to_vec).collect()
    };
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let line = |row: usize| columns.iter().map(|column| column.get(row).copied()).collect();
    (0..height).map(|row| HelpLine::Columns(line(row))).collect()
}

fn cells(section: &HelpSection) -> Vec<HelpCell> {
    let rows = section.rows.iter().map(|row| HelpCell::Row(*row));
    std::iter::once(HelpCell::Heading(section.title)).chain(rows).collect()
}

fn row_keys(row: &HelpRow, cx: &PaneContext<'_>) -> String {
    let keys: Vec<String> = row.0.iter().map(|action| cx.keymap.key_hint(*action)).collect();
    keys.join(" ")
}

fn is_row_available(row: HelpRow, situation: &ActionSituation<'_>) -> bool {
    row.0.iter().any(|action| situation.is_available(*action))
}

fn row_pieces(
    row: HelpRow,
    section: &'static str,
    situation: &ActionSituation<'_>,
    cx: &PaneContext<'_>,
) -> Vec<StyledPiece<'static>> {
    let works = is_row_available(row, situation);
    let role = |role| if works { cx.style(role) } else { cx.style(ThemeRole::Dim) };
    let keys = planwright_text::fit_width(&row_keys(&row, cx), KEY_COLUMN).into_owned();
    let words = planwright_text::fit_width(row.1, 26).into_owned();
    let why = row.0.first().and_then(|action| situation.why_unavailable(*action));
    let note = match why.filter(|_| !works) {
        Some(why) => format!("not now: {why}"),
        None => section.to_owned(),
    };
    vec![
        styled_piece(keys, role(ThemeRole::Key)),
        styled_piece(words, role(ThemeRole::Text)),
        styled_piece(note, cx.style(ThemeRole::Dim)),
    ]
}

fn draw_line(
    line: &HelpLine,
    area: Rect,
    situation: &ActionSituation<'_>,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    match line {
        HelpLine::Divider => frame::draw_frame_divider(area, buf, cx),
        HelpLine::Text(pieces) => {
            ScreenLine::new(buf, area).skip(1).put_pieces(pieces);
        }
        HelpLine::Columns(cells) => {
            let width = area.width / cells.len().max(1) as u16;
            for (column, cell) in (0..).zip(cells) {
                let area = Rect { x: area.x + column * width, width, ..area };
                draw_cell(*cell, area, situation, buf, cx);
            }
        }
    }
}

fn draw_cell(
    cell: Option<HelpCell>,
    area: Rect,
    situation: &ActionSituation<'_>,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let mut line = ScreenLine::new(buf, area);
    match cell {
        None => {}
        Some(HelpCell::Heading(title)) => {
            line.skip(1).put(title, cx.theme.bold_style(ThemeRole::Text));
        }
        Some(HelpCell::Row(row)) => {
            let works = is_row_available(row, situation);
            let role = |role| if works { cx.style(role) } else { cx.style(ThemeRole::Dim) };
            line.skip(1).put_column(&row_keys(&row, cx), KEY_COLUMN, role(ThemeRole::Key));
            let room = line.cells_left().saturating_sub(1);
            line.put_column(row.1, room, role(ThemeRole::Text));
        }
    }
}

/// The keys that mean the same on every screen.
fn everywhere(cx: &PaneContext<'_>) -> Vec<Vec<StyledPiece<'static>>> {
    let moves = [KeyAction::Left, KeyAction::Down, KeyAction::Up, KeyAction::Right];
    let keys = [
        (format!("arrows or {}", cx.keymap.keys_hint(&moves)), "move"),
        (cx.keymap.key_hint(KeyAction::FocusNext), "pane"),
        (cx.keymap.key_hint(KeyAction::Back), "close"),
        (cx.keymap.key_hint(KeyAction::Palette), "commands"),
        (cx.keymap.key_hint(KeyAction::Help), "help"),
        (cx.keymap.key_hint(KeyAction::Quit), "back"),
    ];
    let pieces = keys.into_iter().map(|(keys, words)| {
        vec![
            styled_piece(keys, cx.style(ThemeRole::Key)),
            styled_piece(format!(" {words}"), cx.style(ThemeRole::Text)),
        ]
    });
    pieces.collect()
}

/// Facts side by side under a label, three cells apart, on as many lines as they need.
fn wrap_facts(
    label: &'static str,
    facts: Vec<Vec<StyledPiece<'static>>>,
    width: usize,
    cx: &PaneContext<'_>,
) -> Vec<HelpLine> {
    let indent = if label.is_empty() { 0 } else { 13 };
    let start = |label: &str| {
        vec![styled_piece(
            planwright_text::fit_width(label, indent).into_owned(),
            cx.style(ThemeRole::Text),
        )]
    };
    let mut lines = Vec::new();
    let mut line = start(label);
    let mut used = indent;
    // One cell of air at each edge of the frame.
    let width = width.saturating_sub(2);
    for fact in facts {
        let wide = pieces_width(&fact);
        if used > indent && used + wide > width {
            lines.push(HelpLine::Text(std::mem::replace(&mut line, start(""))));
            used = indent;
        }
        if used > indent {
            line.push(styled_piece("   ", cx.style(ThemeRole::Dim)));
            used += 3;
        }
        used += wide;
        line.extend(fact);
    }
    if used > indent {
        lines.push(HelpLine::Text(line));
    }
    lines
}
