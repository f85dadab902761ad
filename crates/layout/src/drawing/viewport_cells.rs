//! The cells of a viewport.

use super::line_glyphs::{LineArm, LineArms, LineStroke, double_frame_glyph};
use super::{EdgeSegment, GraphDrawing, PlacedBox, Viewport};

/// The element a cell belongs to, in increasing order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CellRole {
    /// An ordinary edge.
    Edge,
    /// An edge of the critical path.
    Critical,
    /// A highlighted edge, such as one of the selected node; it takes precedence where edges share a cell.
    Lit,
    /// The frame of a node's box.
    Frame(u32),
}

/// One character of the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawingCell {
    /// Column in the drawing.
    pub x: i32,
    /// Row in the drawing.
    pub y: i32,
    /// The character.
    pub glyph: char,
    /// The element it belongs to.
    pub role: CellRole,
}

/// What to highlight. Entries past the end of a list are treated as false.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrawingMarks<'a> {
    /// The selected node: double frame, its own edges highlighted.
    pub selected: Option<u32>,
    /// Nodes of the critical path, by node.
    pub critical_nodes: &'a [bool],
    /// Edges of the critical path, by edge.
    pub critical_edges: &'a [bool],
    /// Further edges to highlight, by edge.
    pub lit_edges: &'a [bool],
}

impl DrawingMarks<'_> {
    fn edge_role(&self, drawing: &GraphDrawing, edge: u32) -> CellRole {
        let is = |list: &[bool]| list.get(edge as usize).copied().unwrap_or(false);
        let (source, target) = drawing.ends[edge as usize];
        if is(self.lit_edges) || self.selected.is_some_and(|node| node == source || node == target)
        {
            CellRole::Lit
        } else if is(self.critical_edges) {
            CellRole::Critical
        } else {
            CellRole::Edge
        }
    }

    fn stroke_at(list: &[bool], index: u32) -> LineStroke {
        if list.get(index as usize).copied().unwrap_or(false) {
            LineStroke::Heavy
        } else {
            LineStroke::Light
        }
    }
}

impl GraphDrawing {
    /// Returns the frames and edges inside a viewport, row by row. The cost is proportional to what is visible.
    pub fn cells_in(
        &self,
        view: Viewport,
        marks: &DrawingMarks<'_>,
    ) -> impl Iterator<Item = DrawingCell> + use<> {
        let mut canvas = Canvas::new(view);
        self.paint_lines(&mut canvas, marks);
        self.paint_arrows(&mut canvas, marks);
        for found in self.boxes_in(view) {
            if self.framed {
                canvas.draw_frame(
                    found,
                    DrawingMarks::stroke_at(marks.critical_nodes, found.node),
                    marks.selected == Some(found.node),
                );
            } else {
                canvas.clear_box(found);
            }
        }
        canvas.into_cells()
    }

    fn paint_lines(&self, canvas: &mut Canvas, marks: &DrawingMarks<'_>) {
        let view = canvas.view;
        for row in visible_slice(&self.rows, view.y, view.h) {
            for line in row
                .iter()
                .take_while(|line| line.from < view.x + view.w)
                .filter(|line| line.to >= view.x)
            {
                canvas.draw_horizontal(
                    line,
                    DrawingMarks::stroke_at(marks.critical_edges, line.edge),
                    marks.edge_role(self, line.edge),
                );
            }
        }
        for column in visible_slice(&self.columns, view.x, view.w) {
            for line in column
                .iter()
                .take_while(|line| line.from < view.y + view.h)
                .filter(|line| line.to >= view.y)
            {
                canvas.draw_vertical(
                    line,
                    DrawingMarks::stroke_at(marks.critical_edges, line.edge),
                    marks.edge_role(self, line.edge),
                );
            }
        }
    }

    fn paint_arrows(&self, canvas: &mut Canvas, marks: &DrawingMarks<'_>) {
        let view = canvas.view;
        let first = self.arrows.partition_point(|arrow| arrow.y < view.y);
        for arrow in self.arrows[first..].iter().take_while(|arrow| arrow.y < view.y + view.h) {
            if let Some(spot) = canvas.spot_mut(arrow.x, arrow.y) {
                spot.glyph = Some(arrow.glyph);
                spot.raise_role(marks.edge_role(self, arrow.edge));
            }
        }
    }
}

/// Returns the part of `list` that starts at `from` and has `count` entries, as far as it exists.
fn visible_slice<T>(list: &[T], from: i32, count: i32) -> &[T] {
    let clamp = |at: i32| (at.max(0) as usize).min(list.len());
    let (first, last) = (clamp(from), clamp(from.saturating_add(count)));
    &list[first..last.max(first)]
}

#[derive(Clone, Copy, Default)]
struct CanvasSpot {
    arms: LineArms,
    glyph: Option<char>,
    role: Option<CellRole>,
}

impl CanvasSpot {
    fn raise_role(&mut self, role: CellRole) {
        self.role = self.role.max(Some(role));
    }
}

/// The cells of a viewport under construction.
struct Canvas {
    view: Viewport,
    spots: Vec<CanvasSpot>,
}

impl Canvas {
    fn new(view: Viewport) -> Self {
        let view = Viewport { w: view.w.max(0), h: view.h.max(0), ..view };
        Self { view, spots: vec![CanvasSpot::default(); view.w as usize * view.h as usize] }
    }

    fn spot_mut(&mut self, x: i32, y: i32) -> Option<&mut CanvasSpot> {
        let (column, row) = (x - self.view.x, y - self.view.y);
        let inside = (0..self.view.w).contains(&column) && (0..self.view.h).contains(&row);
        inside.then(|| &mut self.spots[row as usize * self.view.w as usize + column as usize])
    }

    fn add_arm(&mut self, x: i32, y: i32, arm: LineArm, stroke: LineStroke) {
        if let Some(spot) = self.spot_mut(x, y) {
            spot.arms.add(arm, stroke);
        }
    }

    fn draw_horizontal(&mut self, line: &EdgeSegment, stroke: LineStroke, role: CellRole) {
        let (first, last) =
            (line.from.max(self.view.x), line.to.min(self.view.x + self.view.w - 1));
        for x in first..=last {
            let Some(spot) = self.spot_mut(x, line.at) else {
                continue;
            };
            spot.raise_role(role);
            if x > line.from {
                spot.arms.add(LineArm::Left, stroke);
            }
            if x < line.to {
                spot.arms.add(LineArm::Right, stroke);
            }
        }
    }

    fn draw_vertical(&mut self, line: &EdgeSegment, stroke: LineStroke, role: CellRole) {
        let (first, last) =
            (line.from.max(self.view.y), line.to.min(self.view.y + self.view.h - 1));
        for y in first..=last {
            let Some(spot) = self.spot_mut(line.at, y) else {
                continue;
            };
            spot.raise_role(role);
            if y > line.from {
                spot.arms.add(LineArm::Up, stroke);
            }
            if y < line.to {
                spot.arms.add(LineArm::Down, stroke);
            }
        }
    }

    /// Draws a frame over the lines that start in it. A double frame has no joints: its edges stay outside.
    fn draw_frame(&mut self, at: &PlacedBox, stroke: LineStroke, selected: bool) {
        let (right, bottom) = (at.x + at.w - 1, at.y + at.h - 1);
        for x in at.x + 1..=right {
            for y in [at.y, bottom] {
                self.add_arm(x, y, LineArm::Left, stroke);
                self.add_arm(x - 1, y, LineArm::Right, stroke);
            }
        }
        for y in at.y + 1..=bottom {
            for x in [at.x, right] {
                self.add_arm(x, y, LineArm::Up, stroke);
                self.add_arm(x, y - 1, LineArm::Down, stroke);
            }
        }
        let rim = (at.x..=right)
            .flat_map(|x| [(x, at.y), (x, bottom)])
            .chain((at.y + 1..bottom).flat_map(|y| [(at.x, y), (right, y)]));
        for (x, y) in rim {
            let Some(spot) = self.spot_mut(x, y) else {
                continue;
            };
            spot.role = Some(CellRole::Frame(at.node));
            if selected {
                spot.glyph = Some(double_frame_glyph(frame_glyph(at, x, y)));
            }
        }
    }

    /// Leaves the cells of an unframed box to the caller.
    fn clear_box(&mut self, at: &PlacedBox) {
        for y in at.y..at.y + at.h {
            for x in at.x..at.x + at.w {
                if let Some(spot) = self.spot_mut(x, y) {
                    *spot = CanvasSpot::default();
                }
            }
        }
    }

    fn into_cells(self) -> impl Iterator<Item = DrawingCell> {
        let Viewport { x, y, w, h } = self.view;
        let places = (y..y + h).flat_map(move |y| (x..x + w).map(move |x| (x, y)));
        places.zip(self.spots).filter_map(|((x, y), spot)| {
            let role = spot.role?;
            let glyph =
                spot.glyph.or_else(|| (!spot.arms.is_empty()).then(|| spot.arms.glyph()))?;
            Some(DrawingCell { x, y, glyph, role })
        })
    }
}

/// Returns the light character of a frame at one of its cells, without joints.
fn frame_glyph(at: &PlacedBox, x: i32, y: i32) -> char {
    let (left, right) = (x == at.x, x == at.x + at.w - 1);
    let (top, bottom) = (y == at.y, y == at.y + at.h - 1);
    match (left, right, top, bottom) {
        (true, _, true, _) => '┌',
        (_, true, true, _) => '┐',
        (true, _, _, true) => '└',
        (_, true, _, true) => '┘',
        (_, _, true, _) | (_, _, _, true) => '─',
        _ => '│',
    }
}
