//! Cells of text that a drawing is put together in.

use std::collections::BTreeMap;

use planwright_layout::drawing::Viewport;
use planwright_text::display_width;

/// Cells of text; a wide character takes two. A character costs four bytes here, because drawings may be large.
pub(super) struct TextCanvas {
    view: Viewport,
    cells: Vec<char>,
    /// Marks that stand on the character of a cell.
    marks: BTreeMap<usize, String>,
}

/// The second cell of a wide character.
const COVERED: char = '\0';

impl TextCanvas {
    pub(super) fn new(view: Viewport) -> Self {
        let count = view.w.max(0) as usize * view.h.max(0) as usize;
        Self { view, cells: vec![' '; count], marks: BTreeMap::new() }
    }

    /// Puts a character of the drawing, which is never wide.
    pub(super) fn put_glyph(&mut self, x: i32, y: i32, glyph: char) {
        let (column, row) = (x - self.view.x, y - self.view.y);
        if (0..self.view.h).contains(&row) && (0..self.view.w).contains(&column) {
            self.cells[row as usize * self.view.w as usize + column as usize] = glyph;
        }
    }

    pub(super) fn put_text(&mut self, x: i32, y: i32, text: &str) {
        let (column, row) = (x - self.view.x, y - self.view.y);
        if !(0..self.view.h).contains(&row) || column < 0 {
            return;
        }
        let start = row as usize * self.view.w as usize;
        let (mut at, end) = (start + column as usize, start + self.view.w as usize);
        for letter in text.chars() {
            let width = display_width(letter.encode_utf8(&mut [0; 4]));
            if at + width > end {
                return;
            }
            if width == 0 {
                if at > start {
                    self.marks.entry(at - 1).or_default().push(letter);
                }
                continue;
            }
            self.cells[at] = letter;
            self.cells[at + 1..at + width].fill(COVERED);
            at += width;
        }
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for (row, cells) in self.cells.chunks(self.view.w.max(1) as usize).enumerate() {
            let start = row * self.view.w.max(1) as usize;
            let mut line = String::with_capacity(cells.len());
            for (at, letter) in cells.iter().enumerate() {
                if *letter != COVERED {
                    line.push(*letter);
                }
                if let Some(marks) = self.marks.get(&(start + at)) {
                    line.push_str(marks);
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}
