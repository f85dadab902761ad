//! The entire drawing scaled down to a few cells.

use super::{GraphDrawing, Viewport};
use std::collections::BTreeMap;

/// One cell of a minimap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimapCell {
    /// Column in the minimap.
    pub x: u16,
    /// Row in the minimap.
    pub y: u16,
    /// How full the cell is: `·` for an empty cell inside the view, then `░▒▓█`.
    pub glyph: char,
    /// The nodes whose center lies here; empty for a cell that only shows the view.
    pub nodes: Vec<u32>,
    /// Whether the viewport shows this part.
    pub in_view: bool,
}

impl GraphDrawing {
    /// Returns the drawing at `w` by `h` cells: every cell that contains a node or lies in the view, row by row.
    pub fn minimap_cells(&self, w: u16, h: u16, view: Viewport) -> Vec<MinimapCell> {
        if w == 0 || h == 0 || self.boxes.is_empty() {
            return Vec::new();
        }
        let column = |x: i32| scale_to_minimap(x, self.width, w);
        let row = |y: i32| scale_to_minimap(y, self.height, h);
        let mut nodes: BTreeMap<(u16, u16), Vec<u32>> = BTreeMap::new();
        for found in &self.boxes {
            nodes
                .entry((row(found.y + found.h / 2), column(found.x + found.w / 2)))
                .or_default()
                .push(found.node);
        }
        let shown_rows = row(view.y)..=row(view.y + view.h - 1);
        let shown_columns = column(view.x)..=column(view.x + view.w - 1);
        let most = nodes.values().map(Vec::len).max().unwrap_or(1);
        let cells = (0..h).flat_map(|y| (0..w).map(move |x| (x, y)));
        cells
            .filter_map(|(x, y)| {
                let nodes = nodes.remove(&(y, x)).unwrap_or_default();
                let in_view = view.w > 0
                    && view.h > 0
                    && shown_rows.contains(&y)
                    && shown_columns.contains(&x);
                let glyph = density_glyph(nodes.len(), most);
                (in_view || !nodes.is_empty()).then_some(MinimapCell {
                    x,
                    y,
                    glyph,
                    nodes,
                    in_view,
                })
            })
            .collect()
    }
}

/// Maps a cell of the drawing to a cell of the minimap.
fn scale_to_minimap(at: i32, size: i32, cells: u16) -> u16 {
    let at = i64::from(at.clamp(0, (size - 1).max(0)));
    (at * i64::from(cells) / i64::from(size.max(1))) as u16
}

fn density_glyph(count: usize, most: usize) -> char {
    match (count * 4).div_ceil(most.max(1)) {
        0 => '·',
        1 => '░',
        2 => '▒',
        3 => '▓',
        _ => '█',
    }
}
