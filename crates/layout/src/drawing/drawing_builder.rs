//! Positions boxes and lines.

use std::ops::Range;

use super::band_folds::BandFold;
use super::channel_routing::{self, ChannelPiece, RoutedChannel};
use super::drawing_metrics::{BoxExtent, BoxSize, DrawingMetrics, FlowDirection, Zoom};
use super::{
    DrawnSizes, EdgeArrow, EdgeSegment, GraphDrawing, PlacedBox, PlacedName, row_positions,
};
use crate::{GridPosition, LayerItem, Layout};

/// Draws a layout in bands of so many layers each, one below the other; all layers in one band is the usual drawing.
pub(super) fn build_drawing(
    layout: &Layout,
    sizes: DrawnSizes<'_>,
    zoom: Zoom,
    flow: FlowDirection,
    layers_in_band: usize,
) -> GraphDrawing {
    let mut metrics = DrawingMetrics::new(zoom, flow);
    if zoom == Zoom::Chips && layers_in_band < layout.layers.len() {
        // What is folded has few rows to spare.
        metrics.gap = 0;
    }
    let usual = BoxSize::for_zoom(zoom);
    let extents: Vec<BoxExtent> = (0..layout.nodes.len())
        .map(|node| metrics.box_extent(sizes.boxes.get(node).copied().unwrap_or(usual)))
        .collect();
    let per_band = layers_in_band.max(1);
    let mut second = find_second_entries(layout, &extents, &metrics);
    for (edge, second) in second.iter_mut().enumerate() {
        // An edge from another band comes from the side, whatever row it had there.
        let target = layout.nodes.get(layout.edges[edge].target as usize);
        *second &= target.is_some_and(|at| !(at.layer as usize).is_multiple_of(per_band));
    }
    let mut low_entry = vec![false; layout.nodes.len()];
    if metrics.enters_from_below() {
        for (route, _) in layout.edges.iter().zip(&second).filter(|(_, second)| **second) {
            low_entry[route.target as usize] = true;
        }
    }
    let count = layout.layers.len();
    let bands = (0..count.div_ceil(per_band).max(1)).map(|band| {
        let layers = band * per_band..((band + 1) * per_band).min(count);
        let lines =
            row_positions::position_rows(layout, layers.clone(), &extents, &low_entry, &metrics);
        LayerBand { layers, lines }
    });
    let bands = bands.collect();
    DrawingBuilder { layout, metrics, extents, bands, second, names: sizes.names }.draw()
}

/// Finds the edges that enter their target beside its main line, so that unrelated lines stay apart.
fn find_second_entries(
    layout: &Layout,
    extents: &[BoxExtent],
    metrics: &DrawingMetrics,
) -> Vec<bool> {
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); layout.nodes.len()];
    let mut leaving = std::collections::BTreeMap::new();
    let mut busy = std::collections::BTreeSet::new();
    for (edge, route) in layout.edges.iter().enumerate().filter(|(_, route)| route.drawn) {
        into[route.target as usize].push(edge);
        let from = position_before_target(layout, edge);
        *leaving.entry((from.layer, from.row)).or_insert(0) += 1;
        let source = layout.nodes[route.source as usize];
        let mut path = vec![source];
        path.extend(&route.dummies);
        busy.extend(path.iter().map(|at| (at.layer, at.row)));
    }
    // Rows of a layer from which a line continues straight to the next layer.
    let mut second = vec![false; layout.edges.len()];
    for (node, edges) in into.iter().enumerate() {
        if metrics.second_entry_offset(extents[node]).is_none() {
            continue;
        }
        let row = layout.nodes[node].row;
        let from: Vec<GridPosition> =
            edges.iter().map(|&edge| position_before_target(layout, edge)).collect();
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

/// Returns the position from which an edge reaches its target.
fn position_before_target(layout: &Layout, edge: usize) -> GridPosition {
    let route = &layout.edges[edge];
    route.dummies.last().copied().unwrap_or(layout.nodes[route.source as usize])
}

/// Adjacent layers that are drawn side by side.
struct LayerBand {
    layers: Range<usize>,
    /// The cell of each grid row, counted from the top of the band.
    lines: Vec<i32>,
}

/// Where a band is drawn.
#[derive(Clone, Copy)]
struct BandPlace {
    left: i32,
    top: i32,
}

/// Where a band ended: the first and the last cell of its last layer, and the row below it.
struct BandEnd {
    start: i32,
    end: i32,
    below: i32,
}

pub(super) struct DrawingBuilder<'a> {
    pub(super) layout: &'a Layout,
    pub(super) metrics: DrawingMetrics,
    extents: Vec<BoxExtent>,
    bands: Vec<LayerBand>,
    second: Vec<bool>,
    /// Columns of the name of each edge.
    names: &'a [u16],
}

impl DrawingBuilder<'_> {
    fn draw(&self) -> GraphDrawing {
        let pieces = self.channel_pieces();
        let mut pen = SegmentCollector { flow: self.metrics.flow, ..SegmentCollector::default() };
        let mut boxes =
            vec![PlacedBox { node: 0, x: 0, y: 0, w: 1, h: 1 }; self.layout.nodes.len()];
        let mut place = BandPlace { left: 0, top: 0 };
        let (mut along, mut across) = (0, 0);
        for (index, band) in self.bands.iter().enumerate() {
            let done = self.draw_band(band, place, &pieces, &mut pen, &mut boxes);
            (along, across) = (along.max(done.end), across.max(done.below));
            let last = band.layers.end.wrapping_sub(1);
            let Some(crossing) = pieces.get(last).filter(|_| index + 1 < self.bands.len()) else {
                continue;
            };
            let fold = BandFold::new(crossing, done.end, self.metrics.zoom);
            let next = BandPlace { left: fold.left_width(), top: fold.next_top(done.below) };
            for piece in crossing {
                let turns = fold.piece_turns(piece, done.below, next.top);
                let from = ChannelPiece { left: piece.left + place.top, ..*piece };
                self.draw_piece(
                    &mut pen,
                    last,
                    &from,
                    turns.into_iter(),
                    done.start,
                    next.left,
                    done.end,
                );
            }
            along = along.max(fold.right_end());
            place = next;
        }
        pen.into_drawing(self, boxes, along, across)
    }

    /// Draws the boxes of a band and the lines between them.
    fn draw_band(
        &self,
        band: &LayerBand,
        place: BandPlace,
        pieces: &[Vec<ChannelPiece>],
        pen: &mut SegmentCollector,
        boxes: &mut [PlacedBox],
    ) -> BandEnd {
        let inner = band.layers.start..band.layers.end.saturating_sub(1);
        let routed: Vec<RoutedChannel> =
            pieces[inner].iter().map(|pieces| channel_routing::route_channel(pieces)).collect();
        let mut far = routed.iter().map(|channel| channel.last_row + 1).max().unwrap_or(0);
        let (mut start, mut last_start, mut end) = (place.left, place.left, place.left);
        for (at, layer) in band.layers.clone().enumerate() {
            let items = &self.layout.layers[layer];
            let extents = items.iter().filter_map(|item| self.item_extent(*item));
            let depth = extents.map(|extent| extent.along).max().unwrap_or(1);
            for &item in items {
                let line = self.item_line(item, layer as u32, band);
                match item {
                    LayerItem::Node(node) => {
                        far = far.max(line + self.extents[node as usize].after + 1);
                        boxes[node as usize] = self.place_box(node, start, line + place.top);
                    }
                    LayerItem::Edge(edge) => {
                        far = far.max(line + 1);
                        pen.add_along(line + place.top, start, start + depth - 1, edge);
                    }
                }
            }
            (last_start, end) = (start, start + depth);
            if let Some(routed) = routed.get(at) {
                let measures = self.metrics.channel_metrics(routed.columns);
                let next = end + measures.width + self.name_room(layer, &pieces[layer]);
                for (piece, path) in pieces[layer].iter().zip(&routed.paths) {
                    let turns = path.turns.iter().map(|&(column, row)| {
                        (end + measures.first + column * measures.pitch, row + place.top)
                    });
                    let from = ChannelPiece { left: piece.left + place.top, ..*piece };
                    self.draw_piece(pen, layer, &from, turns, start, next, end);
                }
                start = next;
            }
        }
        BandEnd { start: last_start, end, below: place.top + far }
    }

    /// The name of an edge that ends in the layer after this one, in columns.
    fn ending_name(&self, layer: usize, edge: u32) -> Option<i32> {
        let route = &self.layout.edges[edge as usize];
        let ends = self.layout.nodes[route.target as usize].layer as usize == layer + 1;
        let width = self.names.get(edge as usize).copied().filter(|width| ends && *width > 0)?;
        (self.metrics.zoom != Zoom::Dots).then_some(i32::from(width))
    }

    /// Cells that a channel gets more, so that the names of its edges fit on their lines before the arrow heads.
    fn name_room(&self, layer: usize, pieces: &[ChannelPiece]) -> i32 {
        if self.metrics.flow == FlowDirection::Down {
            return 0;
        }
        let widths = pieces.iter().filter_map(|piece| self.ending_name(layer, piece.edge));
        widths.max().map_or(0, |widest| widest + 1)
    }

    /// Draws one piece: from its box or the end of its layer, over its trunks, to the next layer or the arrow.
    #[expect(clippy::too_many_arguments, reason = "the frame of one channel, used once")]
    fn draw_piece(
        &self,
        pen: &mut SegmentCollector,
        layer: usize,
        piece: &ChannelPiece,
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
            pen.add_along(row, at, column, piece.edge);
            pen.add_across(column, row, to, piece.edge);
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
        pen.add_along(row, at, stop, piece.edge);
        if to_node && self.metrics.has_arrows() {
            let below = stop >= next;
            pen.add_arrow(stop, row, piece.edge, below);
        }
        if let Some(width) = self.ending_name(layer, piece.edge) {
            // On its line before the arrow head; from top to bottom, beside the head.
            let fits = next - 2 - width > at;
            let (x, y) = match self.metrics.flow {
                FlowDirection::Right => (next - 2 - width, row),
                FlowDirection::Down => (row + 2, stop),
            };
            if fits || self.metrics.flow == FlowDirection::Down {
                pen.names.push(PlacedName { edge: piece.edge, x, y, w: width });
            }
        }
    }

    /// Returns the pieces of each channel; the rows on each side count from the top of the band there.
    fn channel_pieces(&self) -> Vec<Vec<ChannelPiece>> {
        let count = self.layout.layers.len().saturating_sub(1);
        let mut pieces = vec![Vec::new(); count];
        for (edge, route) in self.layout.edges.iter().enumerate().filter(|(_, route)| route.drawn) {
            let source = self.layout.nodes[route.source as usize];
            let target = self.layout.nodes[route.target as usize];
            let mut left = self.row_line(source);
            let rows = route.dummies.iter().map(|at| self.row_line(*at));
            for (step, right) in
                rows.chain([self.entry_line(edge, target, route.target)]).enumerate()
            {
                pieces[source.layer as usize + step].push(ChannelPiece {
                    edge: edge as u32,
                    left,
                    right,
                });
                left = right;
            }
        }
        pieces
    }

    /// Returns the line on which an edge reaches its target.
    fn entry_line(&self, edge: usize, target: GridPosition, node: u32) -> i32 {
        let beside = if self.second[edge] {
            self.metrics.second_entry_offset(self.extents[node as usize]).unwrap_or(0)
        } else {
            0
        };
        self.row_line(target) + beside
    }

    /// Returns the cell of a position, counted from the top of its band.
    fn row_line(&self, at: GridPosition) -> i32 {
        let per_band = self.bands[0].layers.len().max(1);
        self.bands[at.layer as usize / per_band].lines[at.row as usize]
    }

    fn item_extent(&self, item: LayerItem) -> Option<BoxExtent> {
        match item {
            LayerItem::Node(node) => Some(self.extents[node as usize]),
            LayerItem::Edge(_) => None,
        }
    }

    fn item_line(&self, item: LayerItem, layer: u32, band: &LayerBand) -> i32 {
        self.layout.item_position(item, layer).map_or(0, |place| band.lines[place.row as usize])
    }

    fn place_box(&self, node: u32, start: i32, line: i32) -> PlacedBox {
        let BoxExtent { along, before, after } = self.extents[node as usize];
        let (first, wide) = (line - before, before + 1 + after);
        match self.metrics.flow {
            FlowDirection::Right => PlacedBox { node, x: start, y: first, w: along, h: wide },
            FlowDirection::Down => PlacedBox { node, x: first, y: start, w: wide, h: along },
        }
    }
}

/// Collects lines relative to the flow direction and converts them to rows and columns.
#[derive(Default)]
struct SegmentCollector {
    flow: FlowDirection,
    along: Vec<EdgeSegment>,
    across: Vec<EdgeSegment>,
    arrows: Vec<EdgeArrow>,
    names: Vec<PlacedName>,
}

impl SegmentCollector {
    fn add_along(&mut self, at: i32, from: i32, to: i32, edge: u32) {
        self.along.push(EdgeSegment { at, from: from.min(to), to: from.max(to), edge });
    }

    fn add_across(&mut self, at: i32, from: i32, to: i32, edge: u32) {
        self.across.push(EdgeSegment { at, from: from.min(to), to: from.max(to), edge });
    }

    fn add_arrow(&mut self, along: i32, across: i32, edge: u32, below: bool) {
        self.arrows.push(match self.flow {
            FlowDirection::Right => {
                EdgeArrow { x: along, y: across, glyph: if below { '▲' } else { '►' }, edge }
            }
            FlowDirection::Down => EdgeArrow { x: across, y: along, glyph: '▼', edge },
        });
    }

    fn into_drawing(
        mut self,
        plan: &DrawingBuilder<'_>,
        boxes: Vec<PlacedBox>,
        along: i32,
        across: i32,
    ) -> GraphDrawing {
        let (width, height) = match self.flow {
            FlowDirection::Right => (along, across),
            FlowDirection::Down => (across, along),
        };
        if self.flow == FlowDirection::Down {
            std::mem::swap(&mut self.along, &mut self.across);
        }
        self.arrows.sort_unstable_by_key(|arrow| (arrow.y, arrow.x));
        let node = |item: &LayerItem| {
            if let LayerItem::Node(node) = item { Some(*node) } else { None }
        };
        let names = free_names(&self.names, self.flow, &self.across);
        let right = names.iter().map(|name| name.x + name.w).max().unwrap_or(0);
        let width = width.max(right);
        GraphDrawing {
            width,
            height,
            boxes,
            names,
            framed: plan.metrics.zoom == Zoom::Boxes,
            layers: plan
                .layout
                .layers
                .iter()
                .map(|items| items.iter().filter_map(node).collect())
                .collect(),
            flow: self.flow,
            ends: plan.layout.edges.iter().map(|route| (route.source, route.target)).collect(),
            rows: group_segments(self.along, height),
            columns: group_segments(self.across, width),
            arrows: self.arrows,
        }
    }
}

/// The names that overlap no other one and, beside their arrow heads, no line.
fn free_names(
    names: &[PlacedName],
    flow: FlowDirection,
    vertical: &[EdgeSegment],
) -> Vec<PlacedName> {
    let mut free: Vec<PlacedName> = Vec::new();
    for name in names {
        let columns = name.x - 1..name.x + name.w + 1;
        let over = |line: &EdgeSegment| {
            columns.contains(&line.at) && (line.from..=line.to).contains(&name.y)
        };
        let beside = |other: &PlacedName| {
            other.y == name.y && other.x < name.x + name.w && name.x < other.x + other.w
        };
        let hidden = flow == FlowDirection::Down && vertical.iter().any(over);
        if !hidden && !free.iter().any(beside) {
            free.push(*name);
        }
    }
    free
}

/// Groups segments by the row or column they lie in.
fn group_segments(segments: Vec<EdgeSegment>, count: i32) -> Vec<Vec<EdgeSegment>> {
    let mut sheaves = vec![Vec::new(); count.max(0) as usize];
    for segment in segments {
        sheaves[segment.at as usize].push(segment);
    }
    for sheaf in &mut sheaves {
        sheaf.sort_unstable_by_key(|segment| (segment.from, segment.to, segment.edge));
    }
    sheaves
}
