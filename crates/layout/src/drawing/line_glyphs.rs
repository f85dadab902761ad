//! Characters for lines: conversion between arms and glyphs, and the ASCII replacements.

/// The strength of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineStroke {
    Light = 1,
    Heavy = 2,
}

/// One of the four directions out of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineArm {
    Up = 0,
    Right = 1,
    Down = 2,
    Left = 3,
}

/// The lines that leave a cell, two bits per arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineArms(u8);

impl LineArms {
    pub(super) fn add(&mut self, arm: LineArm, stroke: LineStroke) {
        let shift = arm as u8 * 2;
        let had = (self.0 >> shift) & 3;
        self.0 = self.0 & !(3 << shift) | (had.max(stroke as u8) << shift);
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[cfg(test)]
    pub(super) fn get(self, arm: LineArm) -> u8 {
        (self.0 >> (arm as u8 * 2)) & 3
    }

    /// Returns the character with these arms. Box drawing has one for every combination of light and heavy.
    pub(super) fn glyph(self) -> char {
        GLYPHS.iter().find(|entry| entry.0 == self.0).map_or(' ', |entry| entry.1)
    }

    /// Returns the arms of a character; none for anything other than single lines.
    #[cfg(test)]
    pub(super) fn of(glyph: char) -> Self {
        // The first entry wins: single arms use the glyph of the full line.
        GLYPHS.iter().find(|entry| entry.1 == glyph).map_or(Self(0), |entry| Self(entry.0))
    }
}

const fn pack_arms(up: u8, right: u8, down: u8, left: u8) -> u8 {
    up | right << 2 | down << 4 | left << 6
}

/// All combinations of arms in the order up, right, down, left: 0 none, 1 light, 2 heavy.
const GLYPHS: [(u8, char); 80] = [
    (pack_arms(0, 1, 0, 1), '─'),
    (pack_arms(0, 2, 0, 2), '━'),
    (pack_arms(1, 0, 1, 0), '│'),
    (pack_arms(2, 0, 2, 0), '┃'),
    (pack_arms(0, 1, 1, 0), '┌'),
    (pack_arms(0, 2, 1, 0), '┍'),
    (pack_arms(0, 1, 2, 0), '┎'),
    (pack_arms(0, 2, 2, 0), '┏'),
    (pack_arms(0, 0, 1, 1), '┐'),
    (pack_arms(0, 0, 1, 2), '┑'),
    (pack_arms(0, 0, 2, 1), '┒'),
    (pack_arms(0, 0, 2, 2), '┓'),
    (pack_arms(1, 1, 0, 0), '└'),
    (pack_arms(1, 2, 0, 0), '┕'),
    (pack_arms(2, 1, 0, 0), '┖'),
    (pack_arms(2, 2, 0, 0), '┗'),
    (pack_arms(1, 0, 0, 1), '┘'),
    (pack_arms(1, 0, 0, 2), '┙'),
    (pack_arms(2, 0, 0, 1), '┚'),
    (pack_arms(2, 0, 0, 2), '┛'),
    (pack_arms(1, 1, 1, 0), '├'),
    (pack_arms(1, 2, 1, 0), '┝'),
    (pack_arms(2, 1, 1, 0), '┞'),
    (pack_arms(1, 1, 2, 0), '┟'),
    (pack_arms(2, 1, 2, 0), '┠'),
    (pack_arms(2, 2, 1, 0), '┡'),
    (pack_arms(1, 2, 2, 0), '┢'),
    (pack_arms(2, 2, 2, 0), '┣'),
    (pack_arms(1, 0, 1, 1), '┤'),
    (pack_arms(1, 0, 1, 2), '┥'),
    (pack_arms(2, 0, 1, 1), '┦'),
    (pack_arms(1, 0, 2, 1), '┧'),
    (pack_arms(2, 0, 2, 1), '┨'),
    (pack_arms(2, 0, 1, 2), '┩'),
    (pack_arms(1, 0, 2, 2), '┪'),
    (pack_arms(2, 0, 2, 2), '┫'),
    (pack_arms(0, 1, 1, 1), '┬'),
    (pack_arms(0, 1, 1, 2), '┭'),
    (pack_arms(0, 2, 1, 1), '┮'),
    (pack_arms(0, 2, 1, 2), '┯'),
    (pack_arms(0, 1, 2, 1), '┰'),
    (pack_arms(0, 1, 2, 2), '┱'),
    (pack_arms(0, 2, 2, 1), '┲'),
    (pack_arms(0, 2, 2, 2), '┳'),
    (pack_arms(1, 1, 0, 1), '┴'),
    (pack_arms(1, 1, 0, 2), '┵'),
    (pack_arms(1, 2, 0, 1), '┶'),
    (pack_arms(1, 2, 0, 2), '┷'),
    (pack_arms(2, 1, 0, 1), '┸'),
    (pack_arms(2, 1, 0, 2), '┹'),
    (pack_arms(2, 2, 0, 1), '┺'),
    (pack_arms(2, 2, 0, 2), '┻'),
    (pack_arms(1, 1, 1, 1), '┼'),
    (pack_arms(1, 1, 1, 2), '┽'),
    (pack_arms(1, 2, 1, 1), '┾'),
    (pack_arms(1, 2, 1, 2), '┿'),
    (pack_arms(2, 1, 1, 1), '╀'),
    (pack_arms(1, 1, 2, 1), '╁'),
    (pack_arms(2, 1, 2, 1), '╂'),
    (pack_arms(2, 1, 1, 2), '╃'),
    (pack_arms(2, 2, 1, 1), '╄'),
    (pack_arms(1, 1, 2, 2), '╅'),
    (pack_arms(1, 2, 2, 1), '╆'),
    (pack_arms(2, 2, 1, 2), '╇'),
    (pack_arms(1, 2, 2, 2), '╈'),
    (pack_arms(2, 1, 2, 2), '╉'),
    (pack_arms(2, 2, 2, 1), '╊'),
    (pack_arms(2, 2, 2, 2), '╋'),
    (pack_arms(0, 2, 0, 1), '╼'),
    (pack_arms(1, 0, 2, 0), '╽'),
    (pack_arms(0, 1, 0, 2), '╾'),
    (pack_arms(2, 0, 1, 0), '╿'),
    (pack_arms(0, 1, 0, 0), '╶'),
    (pack_arms(0, 2, 0, 0), '╺'),
    (pack_arms(0, 0, 1, 0), '╷'),
    (pack_arms(0, 0, 2, 0), '╻'),
    (pack_arms(0, 0, 0, 1), '╴'),
    (pack_arms(0, 0, 0, 2), '╸'),
    (pack_arms(1, 0, 0, 0), '╵'),
    (pack_arms(2, 0, 0, 0), '╹'),
];

/// Returns the double-frame character for the same sides of the frame as `glyph`.
pub(super) fn double_frame_glyph(glyph: char) -> char {
    match glyph {
        '┌' => '╔',
        '┐' => '╗',
        '└' => '╚',
        '┘' => '╝',
        '─' => '═',
        _ => '║',
    }
}

/// Returns the replacement for terminals without box drawing.
pub fn ascii_glyph(glyph: char) -> char {
    match glyph {
        '─' | '═' | '╴' | '╶' | '▒' => '-',
        '│' | '║' | '╵' | '╷' => '|',
        '━' | '╸' | '╺' | '╼' | '╾' | '▓' => '=',
        '┃' | '╹' | '╻' | '╽' | '╿' | '█' => '#',
        '►' => '>',
        '▲' => '^',
        '▼' => 'v',
        '░' | '·' => '.',
        '\u{2500}'..='\u{257F}' => '+',
        other => other,
    }
}
