//! Draws a laid-out graph with box-drawing characters: frames, edges with their junctions, arrow heads.
//!
//! A [`GraphDrawing`] contains the position of every box and every line; [`GraphDrawing::cells_in`] returns the cells
//! of one viewport, at a cost proportional to what is visible. Marks such as the selection or the critical path change
//! characters and roles, never positions. The content of boxes and all colors are up to the caller.
//!
//! Lines share a trunk only when they share a source or a target, and `┼` is always a crossing, never a join.

mod band_folds;
mod channel_routing;
mod drawing_builder;
mod drawing_metrics;
mod line_glyphs;
mod minimap;
mod row_positions;
#[cfg(test)]
mod tests;
mod trunk_columns;
mod viewport_cells;

pub use drawing_metrics::{BoxSize, FlowDirection, Zoom};
pub use line_glyphs::ascii_glyph;
pub use minimap::MinimapCell;
pub use viewport_cells::{CellRole, DrawingCell, DrawingMarks};

use crate::Layout;

/// A box on the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedBox {
    /// The node it represents.
    pub node: u32,
    /// Left column.
    pub x: i32,
    /// Top row.
    pub y: i32,
    /// Columns, frame included.
    pub w: i32,
    /// Rows, frame included.
    pub h: i32,
}

/// A part of the drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Viewport {
    /// Left column; may be negative, which leaves a margin.
    pub x: i32,
    /// Top row; may be negative, which leaves a margin.
    pub y: i32,
    /// Columns shown.
    pub w: i32,
    /// Rows shown.
    pub h: i32,
}

/// A straight line of one edge: `at` is its row (or column), `from` and `to` its first and last cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EdgeSegment {
    at: i32,
    from: i32,
    to: i32,
    edge: u32,
}

/// The point at which an edge reaches its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EdgeArrow {
    x: i32,
    y: i32,
    glyph: char,
    edge: u32,
}

/// The place of a name on an edge, in the row of its line or beside its arrow head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedName {
    /// The edge it names.
    pub edge: u32,
    /// Left column.
    pub x: i32,
    /// Row.
    pub y: i32,
    /// Columns.
    pub w: i32,
}

/// What is drawn at which size: the boxes by node, and the widths of the names of edges, 0 where an edge has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrawnSizes<'a> {
    /// One size per node; missing sizes default to that of the zoom level.
    pub boxes: &'a [BoxSize],
    /// One width per edge; missing widths are 0.
    pub names: &'a [u16],
}

impl<'a> From<&'a Vec<BoxSize>> for DrawnSizes<'a> {
    fn from(boxes: &'a Vec<BoxSize>) -> Self {
        Self { boxes, names: &[] }
    }
}

impl<'a> From<&'a [BoxSize]> for DrawnSizes<'a> {
    fn from(boxes: &'a [BoxSize]) -> Self {
        Self { boxes, names: &[] }
    }
}

/// A drawn graph.
#[derive(Clone, Debug, Default)]
pub struct GraphDrawing {
    /// Columns of the entire drawing.
    pub width: i32,
    /// Rows of the entire drawing.
    pub height: i32,
    /// One box per node, indexed by node.
    pub boxes: Vec<PlacedBox>,
    framed: bool,
    /// Boxes by layer, each layer in order across the flow.
    layers: Vec<Vec<u32>>,
    flow: FlowDirection,
    ends: Vec<(u32, u32)>,
    /// Horizontal lines by row, sorted by their first cell.
    rows: Vec<Vec<EdgeSegment>>,
    /// Vertical lines by column, sorted by their first cell.
    columns: Vec<Vec<EdgeSegment>>,
    arrows: Vec<EdgeArrow>,
    /// Where names of edges go; those that found no room have none.
    pub names: Vec<PlacedName>,
}

impl GraphDrawing {
    /// Draws `layout` with sizes for its boxes and the names of its edges.
    pub fn new<'a>(
        layout: &Layout,
        sizes: impl Into<DrawnSizes<'a>>,
        zoom: Zoom,
        flow: FlowDirection,
    ) -> Self {
        drawing_builder::build_drawing(layout, sizes.into(), zoom, flow, layout.layers.len())
    }

    /// Draws `layout` in rows of at most `columns` cells, as few as possible: a line that leaves a row at the right
    /// returns at the left of the next one. `None` if a single layer is wider.
    pub fn folded<'a>(
        layout: &Layout,
        sizes: impl Into<DrawnSizes<'a>>,
        zoom: Zoom,
        columns: i32,
    ) -> Option<Self> {
        let sizes = sizes.into();
        let layers = layout.layers.len();
        // Rows of equal length read better than full ones with a short rest.
        let mut lengths: Vec<usize> = (1..=layers).map(|rows| layers.div_ceil(rows)).collect();
        lengths.dedup();
        lengths.into_iter().find_map(|length| {
            let flow = FlowDirection::Right;
            let drawing = drawing_builder::build_drawing(layout, sizes, zoom, flow, length);
            (drawing.width <= columns).then_some(drawing)
        })
    }

    /// Returns the box of a node.
    pub fn box_of(&self, node: u32) -> Option<&PlacedBox> {
        self.boxes.get(node as usize)
    }

    /// Returns the node whose box covers a cell.
    pub fn node_at(&self, x: i32, y: i32) -> Option<u32> {
        self.boxes_in(Viewport { x, y, w: 1, h: 1 }).next().map(|found| found.node)
    }

    /// Returns the boxes that are at least partly inside a viewport.
    pub fn boxes_in(&self, view: Viewport) -> impl Iterator<Item = &PlacedBox> {
        let shows = move |found: &&PlacedBox| {
            found.x < view.x + view.w
                && view.x < found.x + found.w
                && found.y < view.y + view.h
                && view.y < found.y + found.h
        };
        self.layers
            .iter()
            .flat_map(move |layer| self.visible_layer_boxes(layer, view))
            .filter(shows)
    }

    /// Returns the boxes of one layer that lie in the view across the flow.
    fn visible_layer_boxes(
        &self,
        layer: &[u32],
        view: Viewport,
    ) -> impl Iterator<Item = &PlacedBox> {
        let boxes = &self.boxes;
        let (from, to) = match self.flow {
            FlowDirection::Right => (view.y, view.y + view.h),
            FlowDirection::Down => (view.x, view.x + view.w),
        };
        let span = move |node: u32| {
            let found = boxes[node as usize];
            if self.flow == FlowDirection::Right {
                (found.y, found.y + found.h)
            } else {
                (found.x, found.x + found.w)
            }
        };
        let first = layer.partition_point(|&node| span(node).1 <= from);
        layer[first..]
            .iter()
            .take_while(move |&&node| span(node).0 < to)
            .map(move |&node| &boxes[node as usize])
    }
}
