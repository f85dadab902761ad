//! The lines between bars: from where one ends down or up to where the other begins. Pure.

use std::collections::BTreeMap;

/// A line to draw, by place in the list and column of the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkLine {
    pub(crate) from: (usize, i64),
    pub(crate) to: (usize, i64),
}

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

/// The cells of all lines that fall between two places of the list, with the box-drawing glyph of each. Lines that
/// meet are joined, so that no line ends in nothing.
pub(crate) fn link_cells(
    ties: &[LinkLine],
    rows: std::ops::Range<usize>,
) -> BTreeMap<(usize, i64), char> {
    let mut arms: BTreeMap<(usize, i64), u8> = BTreeMap::new();
    for tie in ties {
        let ((from, start), (to, end)) = (tie.from, tie.to);
        // A successor that begins before the end is tied by another kind of link; a line backwards would mislead.
        if from == to || end < start {
            continue;
        }
        let (top, bottom) = (from.min(to), from.max(to));
        if bottom < rows.start || top >= rows.end {
            continue;
        }
        let mut arm = |row: usize, column: i64, bits: u8| {
            if rows.contains(&row) {
                *arms.entry((row, column)).or_default() |= bits;
            }
        };
        let turn = if to > from { DOWN } else { UP };
        for column in start..end {
            arm(from, column, LEFT | RIGHT);
        }
        arm(from, end, LEFT | turn);
        for row in top.max(rows.start)..(bottom + 1).min(rows.end) {
            if row > top && row < bottom {
                arm(row, end, UP | DOWN);
            }
        }
    }
    arms.into_iter().map(|(at, bits)| (at, arms_glyph(bits))).collect()
}

fn arms_glyph(arms: u8) -> char {
    match (arms & UP > 0, arms & DOWN > 0, arms & LEFT > 0, arms & RIGHT > 0) {
        (true, true, true, true) => '┼',
        (true, true, true, false) => '┤',
        (true, true, false, true) => '├',
        (true, false, true, true) => '┴',
        (false, true, true, true) => '┬',
        (false, true, true, false) => '┐',
        (true, false, true, false) => '┘',
        (false, true, false, true) => '┌',
        (true, false, false, true) => '└',
        (true, _, false, false) | (false, true, false, false) => '│',
        _ => '─',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(ties: &[LinkLine], rows: std::ops::Range<usize>) -> Vec<String> {
        let cells = link_cells(ties, rows.clone());
        rows.map(|row| {
            let line: String =
                (0..8).map(|column| cells.get(&(row, column)).copied().unwrap_or(' ')).collect();
            line.trim_end().to_owned()
        })
        .collect()
    }

    #[test]
    fn a_line_leaves_the_end_and_comes_down_on_the_start() {
        let tie = LinkLine { from: (0, 2), to: (3, 5) };
        assert_eq!(drawn(&[tie], 0..4), ["  ───┐", "     │", "     │", ""]);
        let back = LinkLine { from: (2, 1), to: (0, 4) };
        assert_eq!(drawn(&[back], 0..3), ["", "    │", " ───┘"]);
    }

    #[test]
    fn lines_that_meet_are_joined() {
        let ties = [LinkLine { from: (0, 1), to: (3, 4) }, LinkLine { from: (1, 2), to: (3, 6) }];
        assert_eq!(drawn(&ties, 0..3), [" ───┐", "  ──┼─┐", "    │ │"]);
    }

    #[test]
    fn only_what_is_in_view_is_made() {
        let tie = LinkLine { from: (0, 2), to: (1000, 5) };
        assert_eq!(link_cells(&[tie], 500..510).len(), 10);
        assert!(link_cells(&[LinkLine { from: (0, 5), to: (3, 2) }], 0..10).is_empty());
    }
}
