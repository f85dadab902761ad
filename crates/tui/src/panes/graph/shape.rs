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
/// Columns of chips, the best first.
const CHIP_COLUMNS: [u16; 13] = [64, 54, 44, 38, 32, 28, 25, 22, 20, 18, 16, 13, 11];
/// Chips that go another way must be longer by this factor.
const MUCH_LONGER: (u16, u16) = (4, 3);
/// The fewest columns of a chip with a readable title.
const LEAST_CHIP: u16 = 16;
/// Columns of chips in a drawing that is panned.
const PANNED_COLUMNS: u16 = 28;
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
    /// Chips whose titles are cut hard.
    NarrowChips,
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

    /// Whether titles are cut hard in it.
    fn is_narrow(self) -> bool {
        self.zoom == Zoom::Chips && self.columns < LEAST_CHIP
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
            Some(Zoom::Chips) if found.is_some_and(DrawingShape::is_narrow) => {
                DrawingFit::NarrowChips
            }
            Some(Zoom::Chips) => DrawingFit::Chips,
            Some(Zoom::Boxes) => DrawingFit::Boxes,
        };
        let shape = found.unwrap_or(match asked {
            Some(Zoom::Boxes) => DrawingShape::boxes(BOX_COLUMNS.0, 2, DrawingFlow::Right),
            Some(Zoom::Dots) => dots,
            Some(Zoom::Chips) | None => DrawingShape::chips(PANNED_COLUMNS, DrawingFlow::Right),
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
                // Where every title has one line, so may the boxes.
                let low = DrawingShape::boxes(columns, 1, flow);
                if self.most_title_lines(columns) == 1 && self.fits(low, room) {
                    return Some(low);
                }
                columns -=
                    if columns == BOX_COLUMNS.0 { 1 } else { 5.min(columns - BOX_COLUMNS.0) };
            }
        }
        None
    }

    /// The lines of the longest title in boxes of so many columns.
    fn most_title_lines(&self, columns: u16) -> usize {
        let text = usize::from(columns - BOX_PADDING);
        self.titles.iter().map(|title| wrap_words(title, text, 0).len()).max().unwrap_or(0)
    }

    /// A third line for the titles where one of them needs it and it fits.
    fn tallest_that_fits(
        &mut self,
        columns: u16,
        flow: DrawingFlow,
        room: GraphRoom,
    ) -> DrawingShape {
        let is_cut = self.most_title_lines(columns) > 2;
        let tall = DrawingShape::boxes(columns, 3, flow);
        if is_cut && room.title_lines > 2 && self.fits(tall, room) {
            return tall;
        }
        DrawingShape::boxes(columns, 2, flow)
    }

    /// Chips as wide as they fit, up to their titles: from left to right, from top to bottom where titles are much longer
    /// that way, and folded into rows where they are much longer still.
    fn fitting_chips(&mut self, room: GraphRoom) -> Option<DrawingShape> {
        let folded = DrawingFlow::Folded(room.columns);
        let mut found: Option<DrawingShape> = None;
        for flow in [DrawingFlow::Right, DrawingFlow::Down, folded] {
            let Some(shape) = self.widest_chips(flow, room) else { continue };
            let is_better = found.is_none_or(|found| {
                shape.columns * MUCH_LONGER.1 > found.columns * MUCH_LONGER.0
                    || (self.loses_names(found) && !self.loses_names(shape))
            });
            if is_better {
                found = Some(shape);
            }
        }
        found
    }

    fn widest_chips(&mut self, flow: DrawingFlow, room: GraphRoom) -> Option<DrawingShape> {
        let widest = self.widest_title() + CHIP_MARKS;
        let mut columns: Vec<u16> = CHIP_COLUMNS.iter().map(|one| (*one).min(widest)).collect();
        columns.dedup();
        let mut shapes = columns.into_iter().map(|columns| DrawingShape::chips(columns, flow));
        shapes.find(|shape| self.fits(*shape, room))
    }

    fn widest_title(&self) -> u16 {
        let widths = self.titles.iter().map(|title| display_width(title));
        widths.max().unwrap_or(0).min(usize::from(CHIP_COLUMNS[0])) as u16
    }

    /// A box that has its title in one line, as far as boxes go.
    fn widest_box(&self) -> u16 {
        (self.widest_title() + BOX_PADDING).clamp(BOX_COLUMNS.0, BOX_COLUMNS.1)
    }

    /// Whether the name of a link finds no place in a drawing.
    fn loses_names(&self, shape: DrawingShape) -> bool {
        let named = self.link_names.iter().filter(|name| !name.is_empty()).count();
        let drawing = self.drawings.get(&shape).and_then(Option::as_ref);
        drawing.is_some_and(|drawing| drawing.names.len() < named)
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
        let least = if few { LEAST_CHIP.min(shape.columns) } else { shape.columns };
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
