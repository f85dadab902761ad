//! The rule above a pane: its name on the left, its facts on the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::line::{ScreenLine, StyledPiece, pieces_width};

/// How a rule is drawn: heavy for the pane with focus, dashed for the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleKind {
    pub(crate) focus: bool,
    pub(crate) past: bool,
}

impl RuleKind {
    fn glyph(self) -> &'static str {
        match (self.focus, self.past) {
            (false, false) => "─",
            (true, false) => "━",
            (false, true) => "┄",
            (true, true) => "┅",
        }
    }
}

/// Draws a rule over one row. The facts give way before the name does.
pub(crate) fn draw_pane_rule(
    buf: &mut Buffer,
    row: Rect,
    kind: RuleKind,
    style: Style,
    name: &[StyledPiece<'_>],
    facts: &[StyledPiece<'_>],
) {
    let row = Rect { height: row.height.min(1), ..row }.intersection(buf.area);
    if row.is_empty() {
        return;
    }
    for x in row.x..row.right() {
        buf[(x, row.y)].set_symbol(kind.glyph()).set_style(style);
    }
    let width = usize::from(row.width);
    let named = pieces_width(name);
    if named > 0 && width > 6 {
        draw_rule_label(buf, row, 2, named.min(width - 6), name);
    }
    let stated = pieces_width(facts);
    if stated > 0 && named + stated + 12 <= width {
        draw_rule_label(buf, row, width - stated - 4, stated, facts);
    }
}

/// Writes pieces into the rule with one cell of air on both sides.
fn draw_rule_label(
    buf: &mut Buffer,
    row: Rect,
    at: usize,
    width: usize,
    pieces: &[StyledPiece<'_>],
) {
    let area = Rect { x: row.x + at as u16, width: width as u16 + 2, ..row };
    for x in area.x..area.right().min(row.right()) {
        buf[(x, row.y)].set_symbol(" ");
    }
    let inner = Rect { x: area.x + 1, width: width as u16, ..area };
    ScreenLine::new(buf, inner).put_pieces(pieces);
}
