//! Converts grid rows to cells across the flow: the distance between rows is what the boxes on them need.

use std::ops::Range;

use super::drawing_metrics::{BoxExtent, DrawingMetrics};
use crate::{LayerItem, Layout};

/// Returns the line of every grid row, in cells, as the boxes of some layers need them.
///
/// Rows without boxes stay one cell apart, so that long edges pass through the gaps between boxes.
pub(super) fn position_rows(
    layout: &Layout,
    layers: Range<usize>,
    extents: &[BoxExtent],
    low_entry: &[bool],
    metrics: &DrawingMetrics,
) -> Vec<i32> {
    let mut needs: Vec<Vec<(u32, i32)>> = vec![Vec::new(); layout.rows as usize];
    let mut top = vec![0; layout.rows as usize];
    let mut used = vec![false; layout.rows as usize];
    for (layer, items) in layers.clone().zip(&layout.layers[layers]) {
        let mut last: Option<(LayerItem, u32)> = None;
        for &item in items {
            let Some(place) = layout.item_position(item, layer as u32) else {
                continue;
            };
            used[place.row as usize] = true;
            match last {
                Some((before, row)) => {
                    let distance = line_distance(before, item, extents, low_entry, metrics);
                    needs[place.row as usize].push((row, distance));
                }
                None => {
                    top[place.row as usize] =
                        cells_before_line(item, extents).max(top[place.row as usize]);
                }
            }
            last = Some((item, place.row));
        }
    }
    stack_rows(&needs, &top, &used)
}

/// Places each row as close to the start as the rows before it allow.
fn stack_rows(needs: &[Vec<(u32, i32)>], top: &[i32], used: &[bool]) -> Vec<i32> {
    let mut lines: Vec<i32> = Vec::with_capacity(needs.len());
    let mut last = -1;
    for (row, needs) in needs.iter().enumerate() {
        let apart = needs
            .iter()
            .map(|&(other, distance)| lines[other as usize] + distance)
            .max()
            .unwrap_or(0);
        let line = apart.max(top[row]).max(last + 1);
        lines.push(line);
        if used[row] {
            last = line;
        }
    }
    lines
}

fn cells_before_line(item: LayerItem, extents: &[BoxExtent]) -> i32 {
    match item {
        LayerItem::Node(node) => extents[node as usize].before,
        LayerItem::Edge(_) => 0,
    }
}

/// Returns the minimum distance between the lines of two neighbors.
fn line_distance(
    above: LayerItem,
    below: LayerItem,
    extents: &[BoxExtent],
    low_entry: &[bool],
    metrics: &DrawingMetrics,
) -> i32 {
    let (after, extra) = match above {
        LayerItem::Node(node) => {
            (extents[node as usize].after, i32::from(low_entry[node as usize]))
        }
        LayerItem::Edge(_) => (0, 0),
    };
    let gap = match (above, below) {
        (LayerItem::Node(_), LayerItem::Node(_)) => metrics.gap.max(extra),
        _ => metrics.line_gap.max(extra),
    };
    after + gap + cells_before_line(below, extents) + 1
}
