//! The cells of a viewport.

use super::glyphs::{Arm, Arms, Stroke, double};
use super::{BoxAt, Drawing, Segment, Viewport};

/// What a cell belongs to, from the weakest to the strongest claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// An ordinary edge.
    Edge,
    /// An edge of the critical path.
    Critical,
    /// An edge that is lit, such as one of the selected node; it wins where edges share a cell.
    Lit,
    /// The frame of a node's box.
    Frame(u32),
}

/// One character of the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Column in the drawing.
    pub x: i32,
    /// Row in the drawing.
    pub y: i32,
    /// The character.
    pub glyph: char,
    /// What it belongs to.
    pub role: Role,
}

/// What to set off. Lists shorter than the graph count as false.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks<'a> {
    /// The selected node: double frame, its own edges lit.
    pub selected: Option<u32>,
    /// Nodes of the critical path, by node.
    pub critical_nodes: &'a [bool],
    /// Edges of the critical path, by edge.
    pub critical_edges: &'a [bool],
    /// Further edges to light, by edge.
    pub lit_edges: &'a [bool],
}

impl Marks<'_> {
    fn role(&self, drawing: &Drawing, edge: u32) -> Role {
        let is = |list: &[bool]| list.get(edge as usize).copied().unwrap_or(false);
        let (source, target) = drawing.ends[edge as usize];
        if is(self.lit_edges) || self.selected.is_some_and(|node| node == source || node == target)
        {
            Role::Lit
        } else if is(self.critical_edges) {
            Role::Critical
        } else {
            Role::Edge
        }
    }

    fn stroke(list: &[bool], index: u32) -> Stroke {
        if list.get(index as usize).copied().unwrap_or(false) {
            Stroke::Heavy
        } else {
            Stroke::Light
        }
    }
}

impl Drawing {
    /// The frames and edges that a viewport shows, row by row. Costs what is visible.
    pub fn cells_in(
        &self,
        view: Viewport,
        marks: &Marks<'_>,
    ) -> impl Iterator<Item = Cell> + use<> {
        let mut canvas = Canvas::new(view);
        self.paint_lines(&mut canvas, marks);
        self.paint_arrows(&mut canvas, marks);
        for found in self.boxes_in(view) {
            if self.framed {
                canvas.frame(
                    found,
                    Marks::stroke(marks.critical_nodes, found.node),
                    marks.selected == Some(found.node),
                );
            } else {
                canvas.clear(found);
            }
        }
        canvas.into_cells()
    }

    fn paint_lines(&self, canvas: &mut Canvas, marks: &Marks<'_>) {
        let view = canvas.view;
        for row in visible(&self.rows, view.y, view.h) {
            for line in row
                .iter()
                .take_while(|line| line.from < view.x + view.w)
                .filter(|line| line.to >= view.x)
            {
                canvas.horizontal(
                    line,
                    Marks::stroke(marks.critical_edges, line.edge),
                    marks.role(self, line.edge),
                );
            }
        }
        for column in visible(&self.columns, view.x, view.w) {
            for line in column
                .iter()
                .take_while(|line| line.from < view.y + view.h)
                .filter(|line| line.to >= view.y)
            {
                canvas.vertical(
                    line,
                    Marks::stroke(marks.critical_edges, line.edge),
                    marks.role(self, line.edge),
                );
            }
        }
    }

    fn paint_arrows(&self, canvas: &mut Canvas, marks: &Marks<'_>) {
        let view = canvas.view;
        let first = self.arrows.partition_point(|arrow| arrow.y < view.y);
        for arrow in self.arrows[first..].iter().take_while(|arrow| arrow.y < view.y + view.h) {
            if let Some(spot) = canvas.spot(arrow.x, arrow.y) {
                spot.glyph = Some(arrow.glyph);
                spot.claim(marks.role(self, arrow.edge));
            }
        }
    }
}

/// The part of `list` from `from` on, `count` long, as far as it exists.
fn visible<T>(list: &[T], from: i32, count: i32) -> &[T] {
    let clamp = |at: i32| (at.max(0) as usize).min(list.len());
    let (first, last) = (clamp(from), clamp(from.saturating_add(count)));
    &list[first..last.max(first)]
}

#[derive(Clone, Copy, Default)]
struct Spot {
    arms: Arms,
    glyph: Option<char>,
    role: Option<Role>,
}

impl Spot {
    fn claim(&mut self, role: Role) {
        self.role = self.role.max(Some(role));
    }
}

/// The cells of a viewport while they are put together.
struct Canvas {
    view: Viewport,
    spots: Vec<Spot>,
}

impl Canvas {
    fn new(view: Viewport) -> Self {
        let view = Viewport { w: view.w.max(0), h: view.h.max(0), ..view };
        Self { view, spots: vec![Spot::default(); view.w as usize * view.h as usize] }
    }

    fn spot(&mut self, x: i32, y: i32) -> Option<&mut Spot> {
        let (column, row) = (x - self.view.x, y - self.view.y);
        let inside = (0..self.view.w).contains(&column) && (0..self.view.h).contains(&row);
        inside.then(|| &mut self.spots[row as usize * self.view.w as usize + column as usize])
    }

    fn add(&mut self, x: i32, y: i32, arm: Arm, stroke: Stroke) {
        if let Some(spot) = self.spot(x, y) {
            spot.arms.add(arm, stroke);
        }
    }

    fn horizontal(&mut self, line: &Segment, stroke: Stroke, role: Role) {
        let (first, last) =
            (line.from.max(self.view.x), line.to.min(self.view.x + self.view.w - 1));
        for x in first..=last {
            let Some(spot) = self.spot(x, line.at) else {
                continue;
            };
            spot.claim(role);
            if x > line.from {
                spot.arms.add(Arm::Left, stroke);
            }
            if x < line.to {
                spot.arms.add(Arm::Right, stroke);
            }
        }
    }

    fn vertical(&mut self, line: &Segment, stroke: Stroke, role: Role) {
        let (first, last) =
            (line.from.max(self.view.y), line.to.min(self.view.y + self.view.h - 1));
        for y in first..=last {
            let Some(spot) = self.spot(line.at, y) else {
                continue;
            };
            spot.claim(role);
            if y > line.from {
                spot.arms.add(Arm::Up, stroke);
            }
            if y < line.to {
                spot.arms.add(Arm::Down, stroke);
            }
        }
    }

    /// Draws a frame over the lines that start in it. A double frame has no joints: its edges stay outside.
    fn frame(&mut self, at: &BoxAt, stroke: Stroke, selected: bool) {
        let (right, bottom) = (at.x + at.w - 1, at.y + at.h - 1);
        for x in at.x + 1..=right {
            for y in [at.y, bottom] {
                self.add(x, y, Arm::Left, stroke);
                self.add(x - 1, y, Arm::Right, stroke);
            }
        }
        for y in at.y + 1..=bottom {
            for x in [at.x, right] {
                self.add(x, y, Arm::Up, stroke);
                self.add(x, y - 1, Arm::Down, stroke);
            }
        }
        let rim = (at.x..=right)
            .flat_map(|x| [(x, at.y), (x, bottom)])
            .chain((at.y + 1..bottom).flat_map(|y| [(at.x, y), (right, y)]));
        for (x, y) in rim {
            let Some(spot) = self.spot(x, y) else {
                continue;
            };
            spot.role = Some(Role::Frame(at.node));
            if selected {
                spot.glyph = Some(double(plain_frame(at, x, y)));
            }
        }
    }

    /// Leaves the cells of an unframed box to the caller.
    fn clear(&mut self, at: &BoxAt) {
        for y in at.y..at.y + at.h {
            for x in at.x..at.x + at.w {
                if let Some(spot) = self.spot(x, y) {
                    *spot = Spot::default();
                }
            }
        }
    }

    fn into_cells(self) -> impl Iterator<Item = Cell> {
        let Viewport { x, y, w, h } = self.view;
        let places = (y..y + h).flat_map(move |y| (x..x + w).map(move |x| (x, y)));
        places.zip(self.spots).filter_map(|((x, y), spot)| {
            let role = spot.role?;
            let glyph =
                spot.glyph.or_else(|| (!spot.arms.is_empty()).then(|| spot.arms.glyph()))?;
            Some(Cell { x, y, glyph, role })
        })
    }
}

/// The light character of a frame at one of its cells, joints left out.
fn plain_frame(at: &BoxAt, x: i32, y: i32) -> char {
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
