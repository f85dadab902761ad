//! Saves rows: a node that nothing leads to may stand at either end of its layer, and one of the two often has room.

use super::crossing_reduction::LayerOrder;
use super::crossings::CrossingCounter;
use super::layered_graph::LayeredGraph;
use super::row_assignment::assign_rows;

/// Larger graphs are left as they are: one row less does not show in them.
const MOST_ITEMS: usize = 96;

/// Moves such nodes where the drawing needs fewer rows by it and has no more crossings.
pub(super) fn save_rows(
    proper: &LayeredGraph,
    order: LayerOrder,
    rows: Vec<u32>,
) -> (LayerOrder, Vec<u32>) {
    let (mut order, mut rows) = (order, rows);
    if proper.item_count() > MOST_ITEMS {
        return (order, rows);
    }
    let mut counter = CrossingCounter::default();
    order.count_crossings(proper, &mut counter);
    let loose = |item: u32| !proper.is_dummy(item) && proper.up.neighbors(item).is_empty();
    for item in (0..proper.real as u32).filter(|&item| loose(item)) {
        let layer = proper.layer[item as usize] as usize;
        if layer == 0 || order.layers[layer].len() < 2 {
            continue;
        }
        for to_front in [true, false] {
            let mut tried = order.clone();
            let items = &mut tried.layers[layer];
            items.retain(|other| *other != item);
            items.insert(if to_front { 0 } else { items.len() }, item);
            tried.renumber_layer(layer);
            if tried.count_crossings(proper, &mut counter) > order.crossings {
                continue;
            }
            let mut lower = assign_rows(proper, &tried);
            align_with_neighbors(proper, &tried, item, &mut lower);
            if height(&lower) < height(&rows) {
                (order, rows) = (tried, lower);
            }
        }
    }
    (order, rows)
}

/// Puts a node into a row that a node of the layer before has, if its place in the layer allows that: boxes then stand in
/// line although no edge runs between them.
fn align_with_neighbors(proper: &LayeredGraph, order: &LayerOrder, item: u32, rows: &mut [u32]) {
    let layer = proper.layer[item as usize] as usize;
    let at = order.position[item as usize] as usize;
    let row_of = |place: usize| order.layers[layer].get(place).map(|&other| rows[other as usize]);
    let low = at.checked_sub(1).and_then(row_of).map_or(0, |row| row + 1);
    let high = row_of(at + 1).unwrap_or(u32::MAX);
    let own = rows[item as usize];
    let before = order.layers[layer - 1].iter().filter(|&&other| !proper.is_dummy(other));
    let free = before.map(|&other| rows[other as usize]).filter(|row| (low..high).contains(row));
    if let Some(row) = free.min_by_key(|row| row.abs_diff(own)) {
        rows[item as usize] = row;
    }
}

fn height(rows: &[u32]) -> u32 {
    rows.iter().max().copied().unwrap_or(0)
}
