//! Which drawing of a plan fits a pane best: boxes from left to right, from top to bottom or folded into rows, then
//! one line for each task, then dots. What fits nowhere is panned.

use planwright_layout::LayerItem;
use planwright_layout::drawing::{BoxSize, DrawnSizes, FlowDirection, GraphDrawing, Zoom};
use planwright_text::{display_width, wrap_words};

use super::cache::RevisionLayout;

/// Columns of a box, frame included: the least and the most.
const BOX_COLUMNS: (u16, u16) = (19, 34);
/// Cells between the outer edge of a box and its text, both sides together.
pub(super) const BOX_PADDING: u16 = 4;
/// Columns of a chip beside its title: bracket, glyph, space, bracket.
pub(super) const CHIP_MARKS: u16 = 4;
/// Columns of chips that go from left to right, the best first.
const CHIP_COLUMNS: [u16; 8] = [38, 32, 28, 25, 22, 20, 18, 16];
/// Columns of chips that go from top to bottom.
const DOWN_COLUMNS: [u16; 8] = [64, 54, 44, 36, 30, 26, 23, 20];
/// Columns of chips whose titles are cut hard, for what would else be dots.
const NARROW_COLUMNS: [u16; 2] = [13, 11];
/// Larger graphs are not folded: the lines between the rows would say nothing any more.
const MOST_FOLDED: usize = 120;

/// How many drawings of a revision are kept.
const KEPT_DRAWINGS: usize = 24;
/// Plans of up to so many tasks keep their titles and are panned rather than drawn as dots, which say nothing.
const MOST_PANNED: usize = 40;

/// What a drawing may take, and how many lines its titles may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphRoom {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) title_lines: u16,
}

/// Which way a drawing goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum DrawingFlow {
    #[default]
    Right,
    Down,
    /// From left to right, in rows of so many cells.
    Folded(u16),
}

/// What a drawing is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DrawingShape {
    pub(crate) zoom: Zoom,
    /// Columns of a box or a chip.
    pub(crate) columns: u16,
    /// Rows of a box.
    pub(crate) rows: u16,
    pub(crate) flow: DrawingFlow,
}

/// How well a drawing fits its pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DrawingFit {
    /// It is larger than the pane.
    Panned,
    Dots,
    Chips,
    Boxes,
}

impl DrawingShape {
    fn boxes(columns: u16, title_lines: u16, flow: DrawingFlow) -> Self {
        Self { zoom: Zoom::Boxes, columns, rows: title_lines + 2, flow }
    }

    fn chips(columns: u16, flow: DrawingFlow) -> Self {
        Self { zoom: Zoom::Chips, columns, rows: 1, flow }
    }
}

impl RevisionLayout {
    /// The best shape for a pane; one that does not fit at the zoom asked for is panned.
    pub(super) fn choose_shape(
        &mut self,
        asked: Option<Zoom>,
        room: GraphRoom,
    ) -> (DrawingShape, DrawingFit) {
        if self.drawings.len() > KEPT_DRAWINGS {
            self.drawings.clear();
        }
        let wants = |zoom: Zoom| asked.is_none() || asked == Some(zoom);
        let dots = DrawingShape { zoom: Zoom::Dots, columns: 1, rows: 1, flow: DrawingFlow::Right };
        let found = None
            .or_else(|| self.fitting_boxes(room).filter(|_| wants(Zoom::Boxes)))
            .or_else(|| self.fitting_chips(room).filter(|_| wants(Zoom::Chips)))
            .or_else(|| {
                let few = asked.is_none() && self.titles.len() <= MOST_PANNED;
                Some(dots).filter(|_| wants(Zoom::Dots) && !few && self.fits(dots, room))
            });
        let fit = match found.map(|shape| shape.zoom) {
            None => DrawingFit::Panned,
            Some(Zoom::Dots) => DrawingFit::Dots,
            Some(Zoom::Chips) => DrawingFit::Chips,
            Some(Zoom::Boxes) => DrawingFit::Boxes,
        };
        let shape = found.unwrap_or(match asked {
            Some(Zoom::Boxes) => DrawingShape::boxes(BOX_COLUMNS.0, 2, DrawingFlow::Right),
            Some(Zoom::Dots) => dots,
            Some(Zoom::Chips) | None => DrawingShape::chips(CHIP_COLUMNS[2], DrawingFlow::Right),
        });
        self.draw(shape);
        (shape, fit)
    }

    /// Boxes as wide as the pane allows and the titles can use: to the right, else down, else in rows.
    fn fitting_boxes(&mut self, room: GraphRoom) -> Option<DrawingShape> {
        let widest = self.widest_box();
        let right = DrawingShape::boxes(BOX_COLUMNS.0, 2, DrawingFlow::Right);
        if self.fits(right, room) {
            // All channels keep their width, so that every layer gets the same share of what is left.
            let layers = self.layout.layers.len().max(1) as u16;
            let used = self.draw(right).map_or(0, |drawing| drawing.width) as u16;
            let share = room.columns.saturating_sub(used) / layers;
            let columns = (BOX_COLUMNS.0 + share).min(widest);
            return Some(self.tallest_that_fits(columns, DrawingFlow::Right, room));
        }
        let folded = DrawingFlow::Folded(room.columns);
        for flow in [DrawingFlow::Down, folded] {
            let mut columns = widest;
            while columns >= BOX_COLUMNS.0 {
                if self.fits(DrawingShape::boxes(columns, 2, flow), room) {
                    return Some(self.tallest_that_fits(columns, flow, room));
                }
                columns -=
                    if columns == BOX_COLUMNS.0 { 1 } else { 5.min(columns - BOX_COLUMNS.0) };
            }
        }
        None
    }

    /// A third line for the titles where one of them needs it and it fits.
    fn tallest_that_fits(
        &mut self,
        columns: u16,
        flow: DrawingFlow,
        room: GraphRoom,
    ) -> DrawingShape {
        let text = usize::from(columns - BOX_PADDING);
        let is_cut = self.titles.iter().any(|title| wrap_words(title, text, 0).len() > 2);
        let tall = DrawingShape::boxes(columns, 3, flow);
        if is_cut && room.title_lines > 2 && self.fits(tall, room) {
            return tall;
        }
        DrawingShape::boxes(columns, 2, flow)
    }

    fn fitting_chips(&mut self, room: GraphRoom) -> Option<DrawingShape> {
        let widest = self.widest_title() + CHIP_MARKS;
        let folded = DrawingFlow::Folded(room.columns);
        let choices = [
            (DrawingFlow::Right, &CHIP_COLUMNS[..]),
            (DrawingFlow::Down, &DOWN_COLUMNS[..]),
            (folded, &CHIP_COLUMNS[..]),
            (DrawingFlow::Right, &NARROW_COLUMNS[..]),
            (folded, &NARROW_COLUMNS[..]),
        ];
        for (flow, columns) in choices {
            for columns in columns.iter().map(|columns| (*columns).min(widest)) {
                let shape = DrawingShape::chips(columns, flow);
                if self.fits(shape, room) {
                    return Some(shape);
                }
            }
        }
        None
    }

    fn widest_title(&self) -> u16 {
        let widths = self.titles.iter().map(|title| display_width(title));
        widths.max().unwrap_or(0).min(usize::from(DOWN_COLUMNS[0])) as u16
    }

    /// A box that has its title in one line, as far as boxes go.
    fn widest_box(&self) -> u16 {
        (self.widest_title() + BOX_PADDING).clamp(BOX_COLUMNS.0, BOX_COLUMNS.1)
    }

    /// Whether a drawing fits. What cannot fit is not drawn to find out.
    fn fits(&mut self, shape: DrawingShape, room: GraphRoom) -> bool {
        let (width, height) = (usize::from(room.columns), usize::from(room.rows));
        let layers = self.layout.layers.len();
        let most = |layer: &Vec<LayerItem>| {
            layer.iter().filter(|item| matches!(item, LayerItem::Node(_))).count()
        };
        let widest = self.layout.layers.iter().map(most).max().unwrap_or(0);
        // A chip is as wide as its title, which may be less than a chip may have.
        let few = shape.zoom == Zoom::Chips && self.titles.len() <= MOST_FOLDED;
        let least = if few { CHIP_COLUMNS[7].min(shape.columns) } else { shape.columns };
        let (w, h) = (usize::from(least.max(1)), usize::from(shape.rows.max(1)));
        let impossible = match shape.flow {
            DrawingFlow::Right => layers * w > width || widest * h > height,
            DrawingFlow::Down => widest * w > width || layers * h > height,
            DrawingFlow::Folded(_) => {
                let bands = layers.div_ceil((width / w).max(1));
                self.titles.len() > MOST_FOLDED || w > width || bands * h > height
            }
        };
        if impossible {
            return false;
        }
        self.draw(shape).is_some_and(|drawing| {
            drawing.width as usize <= width && drawing.height as usize <= height
        })
    }

    fn draw(&mut self, shape: DrawingShape) -> Option<&GraphDrawing> {
        let made = self.drawings.entry(shape).or_insert_with(|| {
            let sizes: Vec<BoxSize> = match shape.zoom {
                // A line begins where its title ends; from top to bottom chips stand under each other.
                Zoom::Chips if shape.flow != DrawingFlow::Down => {
                    let short = super::cache::short_titles(&self.titles, shape.columns);
                    let wide = |title: &String| display_width(title) as u16 + CHIP_MARKS;
                    short.iter().map(|title| BoxSize { w: wide(title), h: 1 }).collect()
                }
                Zoom::Chips | Zoom::Boxes => {
                    vec![BoxSize { w: shape.columns, h: shape.rows }; self.titles.len()]
                }
                Zoom::Dots => Vec::new(),
            };
            let names: Vec<u16> =
                self.link_names.iter().map(|name| display_width(name) as u16).collect();
            let sizes = DrawnSizes { boxes: &sizes, names: &names };
            let draw = |flow| Some(GraphDrawing::new(&self.layout, sizes, shape.zoom, flow));
            match shape.flow {
                DrawingFlow::Right => draw(FlowDirection::Right),
                DrawingFlow::Down => draw(FlowDirection::Down),
                DrawingFlow::Folded(columns) => {
                    GraphDrawing::folded(&self.layout, sizes, shape.zoom, i32::from(columns))
                }
            }
        });
        made.as_ref()
    }
}
