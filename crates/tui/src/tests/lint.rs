//! What every frame promises: cells of the right width, lines that join, colours of the theme alone, nothing that acts.

use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::fixture::settings;
use crate::theme::{ColorDepth, ThemeRole};
use planwright_text::display_width;

/// Checks a frame cell by cell: no character that acts, no colour that is not the theme's, widths that add up.
pub(crate) fn lint(buf: &Buffer) {
    let palette = settings().theme.palette(ColorDepth::True);
    let known: Vec<Color> = ThemeRole::ALL
        .iter()
        .map(|role| palette.style(*role))
        .flat_map(|style| [style.fg, style.bg])
        .flatten()
        .chain([Color::Reset])
        .collect();
    let mut good = (Color::Reset, Color::Reset);
    for (index, cell) in buf.content.iter().enumerate() {
        // Most cells are like the one before.
        if cell.symbol() == " " && (cell.fg, cell.bg) == good {
            continue;
        }
        for letter in cell.symbol().chars() {
            assert!(!letter.is_control(), "{:?}", cell.symbol());
            assert!(
                !matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            );
        }
        assert!(
            known.contains(&cell.fg) && known.contains(&cell.bg),
            "{:?} {:?}",
            cell.fg,
            cell.bg
        );
        good = (cell.fg, cell.bg);
        let width = display_width(cell.symbol());
        let column = index % usize::from(buf.area.width.max(1));
        assert!(width <= 2, "{:?} is {width} cells wide", cell.symbol());
        assert!(
            column + width.max(1) <= usize::from(buf.area.width),
            "{:?} runs over the edge",
            cell.symbol()
        );
    }
}

/// Which sides of a cell a line leaves by: up, down, left, right.
fn arms(symbol: &str) -> [bool; 4] {
    let sides = match symbol {
        "─" | "━" | "═" | "┄" | "┅" | "╌" => "lr",
        "│" | "┃" | "║" | "┊" => "ud",
        "┌" | "┏" | "╔" | "┍" | "┎" => "dr",
        "┐" | "┓" | "╗" | "┑" | "┒" => "dl",
        "└" | "┗" | "╚" | "┕" | "┖" => "ur",
        "┘" | "┛" | "╝" | "┙" | "┚" => "ul",
        "├" | "┣" | "┠" | "┝" => "udr",
        "┤" | "┫" | "┨" | "┥" => "udl",
        "┬" | "┳" | "┯" | "┰" | "┭" | "┮" | "┱" | "┲" => "dlr",
        "┴" | "┻" | "┷" | "┸" | "┵" | "┶" | "┹" | "┺" => "ulr",
        "┼" | "╋" | "┿" | "╂" | "╪" => "udlr",
        _ => "",
    };
    ["u", "d", "l", "r"].map(|side| sides.contains(side))
}

/// Checks that corners meet a line on both sides. Only for frames without an overlay and with nothing panned away.
pub(crate) fn lint_joins(buf: &Buffer) {
    let area = buf.area;
    let at = |x: u16, y: u16| buf[(x, y)].symbol();
    for y in 0..area.height {
        for x in 0..area.width {
            let symbol = at(x, y);
            if !"┌┐└┘┏┓┗┛╔╗╚╝".contains(symbol) || symbol == " " {
                continue;
            }
            let [up, down, left, right] = arms(symbol);
            let meets = |wanted: bool, x: Option<u16>, y: Option<u16>, side: usize| {
                let (Some(x), Some(y)) = (x, y) else { return !wanted };
                if !wanted {
                    return true;
                }
                if x >= area.width || y >= area.height {
                    return false;
                }
                let other = at(x, y);
                // Edges end in arrow heads, lines of a chart in bars; a title may stand in the upper side of a box.
                arms(other)[side] || "►▲▼█▓▒·┊ ".contains(other)
            };
            let joined = meets(up, Some(x), y.checked_sub(1), 1)
                && meets(down, Some(x), Some(y + 1), 0)
                && meets(left, x.checked_sub(1), Some(y), 3)
                && meets(right, Some(x + 1), Some(y), 2);
            assert!(joined, "{symbol} at {x},{y} meets nothing:\n{}", super::fixture::text_of(buf));
        }
    }
}

#[test]
fn a_corner_that_meets_nothing_is_found() {
    let mut buf = Buffer::empty(ratatui::layout::Rect::new(0, 0, 4, 3));
    buf[(1, 1)].set_symbol("┌");
    buf[(2, 1)].set_symbol("x");
    let found = std::panic::catch_unwind(|| lint_joins(&buf));
    assert!(found.is_err());
    buf[(2, 1)].set_symbol("─");
    buf[(1, 2)].set_symbol("│");
    lint_joins(&buf);
}
