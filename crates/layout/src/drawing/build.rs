//! Puts boxes and lines in place.

use super::channel::{self, Piece};
use super::metrics::{Extent, Flow, Metrics, Size, Zoom};
use super::{Arrow, BoxAt, Drawing, Segment, axis};
use crate::{Item, Layout, Placed};

pub(super) fn build(layout: &Layout, sizes: &[Size], zoom: Zoom, flow: Flow) -> Drawing {
    let metrics = Metrics::new(zoom, flow);
    let usual = Size::of(zoom);
    let extents: Vec<Extent> = (0..layout.nodes.len())
        .map(|node| metrics.extent(sizes.get(node).copied().unwrap_or(usual)))
        .collect();
    let second = second_entries(layout, &extents, &metrics);
    let mut low_entry = vec![false; layout.nodes.len()];
    if metrics.enters_from_below() {
        for (route, _) in layout.edges.iter().zip(&second).filter(|(_, second)| **second) {
            low_entry[route.target as usize] = true;
        }
    }
    let lines = axis::lines(layout, &extents, &low_entry, &metrics);
    let plan = Plan { layout, metrics, extents, lines, second };
    plan.draw()
}

/// Which edges enter their target beside its line, so that lines which do not belong together stay apart.
fn second_entries(layout: &Layout, extents: &[Extent], metrics: &Metrics) -> Vec<bool> {
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); layout.nodes.len()];
    let mut leaving = std::collections::BTreeMap::new();
    let mut busy = std::collections::BTreeSet::new();
    for (edge, route) in layout.edges.iter().enumerate().filter(|(_, route)| route.drawn) {
        into[route.target as usize].push(edge);
        let from = before_target(layout, edge);
        *leaving.entry((from.layer, from.row)).or_insert(0) += 1;
        let source = layout.nodes[route.source as usize];
        let mut way = vec![source];
        way.extend(&route.dummies);
        busy.extend(way.iter().map(|at| (at.layer, at.row)));
    }
    // Rows of a layer from which a line goes on straight to the next layer.
    let mut second = vec![false; layout.edges.len()];
    for (node, edges) in into.iter().enumerate() {
        if metrics.second_entry(extents[node]).is_none() {
            continue;
        }
        let row = layout.nodes[node].row;
        let from: Vec<Placed> = edges.iter().map(|&edge| before_target(layout, edge)).collect();
        let straight = from.iter().any(|at| at.row == row);
        let above = from.iter().any(|at| at.row < row);
        for (&edge, at) in edges.iter().zip(&from) {
            let blocked = !straight && busy.contains(&(at.layer, row));
            second[edge] = if at.row > row {
                straight || above || blocked
            } else {
                straight && at.row < row && leaving[&(at.layer, at.row)] > 1
            };
        }
    }
    second
}

/// The place from which an edge reaches its target.
fn before_target(layout: &Layout, edge: usize) -> Placed {
    let route = &layout.edges[edge];
    route.dummies.last().copied().unwrap_or(layout.nodes[route.source as usize])
}

struct Plan<'a> {
    layout: &'a Layout,
    metrics: Metrics,
    extents: Vec<Extent>,
    /// The cell of each grid row.
    lines: Vec<i32>,
    second: Vec<bool>,
}

impl Plan<'_> {
    fn draw(&self) -> Drawing {
        let pieces = self.pieces();
        let routed: Vec<_> = pieces.iter().map(|pieces| channel::route(pieces)).collect();
        let mut pen = Pen { flow: self.metrics.flow, ..Pen::default() };
        let mut start = 0;
        let mut boxes = vec![BoxAt { node: 0, x: 0, y: 0, w: 1, h: 1 }; self.layout.nodes.len()];
        let mut far = routed.iter().map(|channel| channel.last_row + 1).max().unwrap_or(0);
        let mut end = 0;
        for (layer, items) in self.layout.layers.iter().enumerate() {
            let depth = items
                .iter()
                .filter_map(|item| self.extent(*item))
                .map(|extent| extent.along)
                .max()
                .unwrap_or(1);
            for &item in items {
                let line = self.line(item, layer as u32);
                match item {
                    Item::Node(node) => {
                        let placed = self.box_at(node, start, line);
                        far = far.max(line + self.extents[node as usize].after + 1);
                        boxes[node as usize] = placed;
                    }
                    Item::Edge(edge) => {
                        far = far.max(line + 1);
                        pen.along(line, start, start + depth - 1, edge);
                    }
                }
            }
            end = start + depth;
            if let (Some(pieces), Some(routed)) = (pieces.get(layer), routed.get(layer)) {
                let measures = self.metrics.channel_of(routed.columns);
                let next = end + measures.width;
                for (piece, way) in pieces.iter().zip(&routed.ways) {
                    let turns = way.turns.iter().map(|&(column, row)| {
                        (end + measures.first + column * measures.pitch, row)
                    });
                    self.draw_piece(&mut pen, layer, piece, turns, start, next, end);
                }
                start = next;
            }
        }
        pen.finish(self, boxes, end, far)
    }

    /// Draws one piece: from its box or its layer's end, over its trunks, to the next layer or the arrow.
    #[expect(clippy::too_many_arguments, reason = "the frame of one channel, used once")]
    fn draw_piece(
        &self,
        pen: &mut Pen,
        layer: usize,
        piece: &Piece,
        turns: impl Iterator<Item = (i32, i32)>,
        start: i32,
        next: i32,
        end: i32,
    ) {
        let route = &self.layout.edges[piece.edge as usize];
        let source = self.layout.nodes[route.source as usize];
        let from_node = source.layer as usize == layer;
        let mut at =
            if from_node { start + self.extents[route.source as usize].along - 1 } else { end - 1 };
        let mut row = piece.left;
        for (column, to) in turns {
            pen.along(row, at, column, piece.edge);
            pen.across(column, row, to, piece.edge);
            (at, row) = (column, to);
        }
        let to_node = self.layout.nodes[route.target as usize].layer as usize == layer + 1;
        let stop = if !to_node || !self.metrics.has_arrows() {
            next
        } else if self.second[piece.edge as usize] && self.metrics.enters_from_below() {
            next + (self.extents[route.target as usize].along - 1).min(3)
        } else {
            next - 1
        };
        pen.along(row, at, stop, piece.edge);
        if to_node && self.metrics.has_arrows() {
            let below = stop >= next;
            pen.arrow(stop, row, piece.edge, below);
        }
    }

    /// The pieces of each channel.
    fn pieces(&self) -> Vec<Vec<Piece>> {
        let count = self.layout.layers.len().saturating_sub(1);
        let mut pieces = vec![Vec::new(); count];
        for (edge, route) in self.layout.edges.iter().enumerate().filter(|(_, route)| route.drawn) {
            let source = self.layout.nodes[route.source as usize];
            let target = self.layout.nodes[route.target as usize];
            let mut left = self.lines[source.row as usize];
            let rows = route.dummies.iter().map(|at| self.lines[at.row as usize]);
            for (step, right) in rows.chain([self.entry(edge, target, route.target)]).enumerate() {
                pieces[source.layer as usize + step].push(Piece { edge: edge as u32, left, right });
                left = right;
            }
        }
        pieces
    }

    /// The line on which an edge reaches its target.
    fn entry(&self, edge: usize, target: Placed, node: u32) -> i32 {
        let beside = if self.second[edge] {
            self.metrics.second_entry(self.extents[node as usize]).unwrap_or(0)
        } else {
            0
        };
        self.lines[target.row as usize] + beside
    }

    fn extent(&self, item: Item) -> Option<Extent> {
        match item {
            Item::Node(node) => Some(self.extents[node as usize]),
            Item::Edge(_) => None,
        }
    }

    fn line(&self, item: Item, layer: u32) -> i32 {
        self.layout.place(item, layer).map_or(0, |place| self.lines[place.row as usize])
    }

    fn box_at(&self, node: u32, start: i32, line: i32) -> BoxAt {
        let Extent { along, before, after } = self.extents[node as usize];
        let (first, wide) = (line - before, before + 1 + after);
        match self.metrics.flow {
            Flow::Right => BoxAt { node, x: start, y: first, w: along, h: wide },
            Flow::Down => BoxAt { node, x: first, y: start, w: wide, h: along },
        }
    }
}

/// Collects lines in terms of the flow and turns them into rows and columns.
#[derive(Default)]
struct Pen {
    flow: Flow,
    along: Vec<Segment>,
    across: Vec<Segment>,
    arrows: Vec<Arrow>,
}

impl Pen {
    fn along(&mut self, at: i32, from: i32, to: i32, edge: u32) {
        self.along.push(Segment { at, from, to, edge });
    }

    fn across(&mut self, at: i32, from: i32, to: i32, edge: u32) {
        self.across.push(Segment { at, from: from.min(to), to: from.max(to), edge });
    }

    fn arrow(&mut self, along: i32, across: i32, edge: u32, below: bool) {
        self.arrows.push(match self.flow {
            Flow::Right => {
                Arrow { x: along, y: across, glyph: if below { '▲' } else { '►' }, edge }
            }
            Flow::Down => Arrow { x: across, y: along, glyph: '▼', edge },
        });
    }

    fn finish(mut self, plan: &Plan<'_>, boxes: Vec<BoxAt>, along: i32, across: i32) -> Drawing {
        let (width, height) = match self.flow {
            Flow::Right => (along, across),
            Flow::Down => (across, along),
        };
        if self.flow == Flow::Down {
            std::mem::swap(&mut self.along, &mut self.across);
        }
        self.arrows.sort_unstable_by_key(|arrow| (arrow.y, arrow.x));
        let node = |item: &Item| {
            if let Item::Node(node) = item { Some(*node) } else { None }
        };
        Drawing {
            width,
            height,
            boxes,
            framed: plan.metrics.zoom == Zoom::Boxes,
            layers: plan
                .layout
                .layers
                .iter()
                .map(|items| items.iter().filter_map(node).collect())
                .collect(),
            flow: self.flow,
            ends: plan.layout.edges.iter().map(|route| (route.source, route.target)).collect(),
            rows: sheaves(self.along, height),
            columns: sheaves(self.across, width),
            arrows: self.arrows,
        }
    }
}

/// Segments by the row or column they lie in.
fn sheaves(segments: Vec<Segment>, count: i32) -> Vec<Vec<Segment>> {
    let mut sheaves = vec![Vec::new(); count.max(0) as usize];
    for segment in segments {
        sheaves[segment.at as usize].push(segment);
    }
    for sheaf in &mut sheaves {
        sheaf.sort_unstable_by_key(|segment| (segment.from, segment.to, segment.edge));
    }
    sheaves
}
