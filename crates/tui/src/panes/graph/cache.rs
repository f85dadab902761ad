//! The layout and the drawings of a plan, kept beside the screen and made once for each revision.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread::JoinHandle;

use planwright_layout::drawing::{BoxSize, FlowDirection, GraphDrawing, Viewport, Zoom};
use planwright_layout::{LayerItem, Layout, LayoutGraph, layout_graph, relayout_graph};
use planwright_model::{Digest, TaskId, TaskNode};
use planwright_state::PlanRevision;
use planwright_text::{clean_line, display_width};

/// Cells between the frame of a box and its text, both sides together, frame included.
pub(super) const BOX_PADDING: u16 = 4;
/// Text columns of a box: the least and the most.
const BOX_TEXT: (usize, usize) = (14, 22);
/// The widest id on a chip.
pub(super) const CHIP_ID: usize = 14;

/// Columns of chips that go from top to bottom: with a title, with less of one, without.
const CHIP_TITLE: [u16; 4] = [64, 44, 30, 0];
/// More of a title than any chip has room for.
const TITLE: usize = 80;
/// From so many tasks on a layout takes longer than everything else on the screen together, if they stand side by side:
/// so many in a layer, as a rule.
const LARGE: usize = 64;
const BROAD: usize = 4;
/// From so many rows on a graph may go from top to bottom.
const TALL: u16 = 30;

/// More rows than any pane has.
const MOST_ROWS: u16 = 4096;

/// What a drawing is made for: zoom, columns of a box or chip, direction.
type DrawingKey = (Zoom, u16, FlowDirection);

/// One revision, laid out.
#[derive(Debug)]
pub(crate) struct RevisionLayout {
    hash: Digest,
    ids: Vec<TaskId>,
    pub(crate) layout: Layout,
    pub(crate) critical_nodes: Vec<bool>,
    pub(crate) critical_edges: Vec<bool>,
    edges: Vec<(u32, u32)>,
    /// Edges of everything that the selected task needs or frees, and which task that is.
    pub(crate) lit_edges: Vec<bool>,
    lit_for: Option<u32>,
    drawings: HashMap<DrawingKey, GraphDrawing>,
    /// The columns of a box whose id is never cut.
    roomy: u16,
    /// The columns of a chip whose title is never cut.
    titled: u16,
    chips: Vec<BoxSize>,
}

/// What is shown of the graph, for whoever draws it.
#[derive(Debug, Default)]
pub(crate) struct GraphCache {
    placed: Option<RevisionLayout>,
    pub(crate) zoom: Zoom,
    /// Columns of a box, frame included, or of a chip with its title; 0 for those that are as wide as their ids.
    columns: u16,
    /// Which way the edges go.
    pub(crate) flow: FlowDirection,
    pub(crate) view: Viewport,
    /// The layout is left for later.
    layout_deferred: bool,
    /// Who makes it meanwhile.
    pending: Option<JoinHandle<RevisionLayout>>,
}

impl GraphCache {
    /// Has a large plan laid out beside what else it takes to open a screen, which shows the rest at once.
    pub(crate) fn defer_layout(&mut self, revision: Option<&Arc<PlanRevision>>) {
        let Some(revision) = revision.filter(|revision| is_large(revision)).cloned() else {
            return;
        };
        self.layout_deferred = true;
        let layout = move || RevisionLayout::new(&revision, None);
        // Without a thread it is laid out when it is drawn.
        let spawned = std::thread::Builder::new().name("layout".to_owned()).spawn(layout);
        self.pending =
            spawned.inspect_err(|error| tracing::debug!(%error, "no thread for the layout")).ok();
    }

    /// Whether a layout was left for later.
    pub(crate) fn is_layout_deferred(&self) -> bool {
        self.layout_deferred
    }

    /// Later is now. False if nothing was left.
    pub(crate) fn take_deferred(&mut self) -> bool {
        std::mem::take(&mut self.layout_deferred)
    }

    /// Lays a revision out unless it is at hand. A new one moves as little as possible.
    pub(crate) fn update_layout(&mut self, revision: Option<&PlanRevision>) {
        if self.layout_deferred {
            return;
        }
        // One that could not be made is made here.
        if let Some(Ok(placed)) = self.pending.take().map(JoinHandle::join) {
            self.placed = Some(placed);
        }
        let Some(revision) = revision else {
            self.placed = None;
            return;
        };
        if self.placed.as_ref().is_none_or(|placed| placed.hash != revision.hash) {
            self.placed = Some(RevisionLayout::new(revision, self.placed.take().as_ref()));
        }
    }

    /// Lights what belongs to the selected task.
    pub(crate) fn highlight_related(&mut self, selected: Option<u32>) {
        if let Some(placed) = &mut self.placed {
            let known = selected.filter(|node| (*node as usize) < placed.ids.len());
            placed.highlight_related(known);
        }
    }

    pub(crate) fn revision_layout(&self) -> Option<&RevisionLayout> {
        self.placed.as_ref()
    }

    /// The drawing at the zoom in use.
    pub(crate) fn drawing(&self) -> Option<&GraphDrawing> {
        self.placed.as_ref()?.drawings.get(&self.drawing_key())
    }

    /// Chooses zoom and direction: the zoom asked for, or the largest that fits. Boxes give up width before they give
    /// up, and what does not fit from left to right may fit from top to bottom where there are rows for it.
    pub(crate) fn choose_zoom(&mut self, asked: Option<Zoom>, room: (u16, u16)) {
        let Some(placed) = &mut self.placed else { return };
        let tight = BOX_TEXT.0 as u16 + BOX_PADDING;
        let boxes = [placed.roomy, tight].map(|columns| (Zoom::Boxes, columns));
        let bare = [(Zoom::Chips, 0)];
        let down: Vec<(Zoom, u16)> =
            CHIP_TITLE.map(|columns| (Zoom::Chips, columns.min(placed.titled))).to_vec();
        let tall = room.1 >= TALL;
        let mut first = |zooms: &[(Zoom, u16)], flow: FlowDirection| {
            let fits = |(zoom, columns): &&(Zoom, u16)| placed.fits((*zoom, *columns, flow), room);
            zooms.iter().find(fits).map(|(_, columns)| (*columns, flow))
        };
        let mut of_boxes = || {
            first(&boxes, FlowDirection::Right)
                .or_else(|| tall.then(|| first(&boxes, FlowDirection::Down)).flatten())
                .map(|way| (Zoom::Boxes, way))
        };
        let found = match asked {
            None | Some(Zoom::Boxes) => of_boxes(),
            Some(Zoom::Chips | Zoom::Dots) => None,
        };
        let found = found.or_else(|| {
            (asked.is_none() || asked == Some(Zoom::Chips)).then(|| {
                first(&bare, FlowDirection::Right)
                    .or_else(|| tall.then(|| first(&down, FlowDirection::Down)).flatten())
                    .map(|way| (Zoom::Chips, way))
            })?
        });
        let (zoom, (columns, flow)) = found.unwrap_or((Zoom::Chips, (0, FlowDirection::Right)));
        self.zoom = asked.unwrap_or(zoom);
        self.flow = flow;
        self.columns = match self.zoom {
            Zoom::Boxes if columns == 0 => tight,
            Zoom::Dots => 0,
            Zoom::Boxes | Zoom::Chips => columns,
        };
        let key = self.drawing_key();
        if let Some(placed) = &mut self.placed {
            placed.draw(key);
        }
    }

    fn drawing_key(&self) -> DrawingKey {
        (self.zoom, self.columns, self.flow)
    }

    /// Rows the drawing takes. One that is left for later is large, and gets the room that it will have.
    pub(crate) fn drawing_rows(&self) -> u16 {
        let without = if self.layout_deferred { MOST_ROWS } else { 3 };
        self.drawing()
            .map_or(without, |drawing| drawing.height.clamp(1, i32::from(MOST_ROWS)) as u16)
    }
}

fn is_large(revision: &PlanRevision) -> bool {
    let (tasks, layers) = (revision.plan.tasks.len(), revision.facts.layers as usize);
    tasks >= LARGE && tasks >= BROAD * layers
}

impl RevisionLayout {
    fn new(revision: &PlanRevision, before: Option<&RevisionLayout>) -> Self {
        let plan = &revision.plan;
        let ids: Vec<TaskId> = plan.tasks.iter().map(|task| task.id.clone()).collect();
        let index: HashMap<&TaskId, u32> = ids.iter().zip(0..).collect();
        let mut edges = Vec::new();
        for (target, task) in (0..).zip(&plan.tasks) {
            for link in &task.dependencies {
                if let Some(source) = index.get(&link.task) {
                    edges.push((*source, target));
                }
            }
        }
        let path: Vec<u32> =
            revision.facts.critical_path.iter().filter_map(|id| index.get(id).copied()).collect();
        let steps: HashSet<(u32, u32)> = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let critical_edges: Vec<bool> = edges.iter().map(|edge| steps.contains(edge)).collect();
        let mut critical_nodes = vec![false; ids.len()];
        for node in &path {
            critical_nodes[*node as usize] = true;
        }
        let straight = (0..).zip(&critical_edges).filter(|(_, critical)| **critical);
        let graph = LayoutGraph::new(ids.len() as u32, edges.iter().copied())
            .prefer_straight(straight.map(|(edge, _)| edge));
        let layout = match before {
            Some(before) => relayout_graph(&before.layout, &graph, &before.previous_indices(&ids)),
            None => layout_graph(&graph),
        };
        let (roomy, chips) = node_sizes(&ids);
        let title = |task: &TaskNode| display_width(&clean_line(&task.description)).min(TITLE);
        let titled =
            plan.tasks.iter().zip(&chips).map(|(task, chip)| title(task) + usize::from(chip.w));
        let titled = titled.max().unwrap_or(0) as u16 + 4;
        Self {
            hash: revision.hash.clone(),
            ids,
            layout,
            critical_nodes,
            critical_edges,
            lit_edges: Vec::new(),
            lit_for: None,
            edges,
            drawings: HashMap::new(),
            roomy,
            titled,
            chips,
        }
    }

    /// Lights the edges between the selected task and all it needs and frees, directly or not.
    fn highlight_related(&mut self, selected: Option<u32>) {
        if self.lit_for == selected {
            return;
        }
        self.lit_for = selected;
        self.lit_edges.clear();
        if let Some(node) = selected {
            self.lit_edges = related_edges(&self.edges, self.ids.len(), node);
        }
    }

    /// Where each task of a new revision stood in this one.
    fn previous_indices(&self, ids: &[TaskId]) -> Vec<Option<u32>> {
        let index: HashMap<&TaskId, u32> = self.ids.iter().zip(0..).collect();
        ids.iter().map(|id| index.get(id).copied()).collect()
    }

    /// Whether a drawing fits. What cannot fit is not drawn to find out.
    fn fits(&mut self, key: DrawingKey, (width, height): (u16, u16)) -> bool {
        let (zoom, columns, flow) = key;
        let layers = self.layout.layers.len();
        let most = |layer: &Vec<LayerItem>| {
            layer.iter().filter(|item| matches!(item, LayerItem::Node(_))).count()
        };
        let widest = self.layout.layers.iter().map(most).max().unwrap_or(0);
        let (w, h) = match zoom {
            Zoom::Boxes => (usize::from(columns), 4),
            Zoom::Chips | Zoom::Dots => (usize::from(columns.max(1)), 1),
        };
        let (across, along) = match flow {
            FlowDirection::Right => (layers * w, widest * h),
            FlowDirection::Down => (widest * w, layers * h),
        };
        if across > usize::from(width) || along > usize::from(height) {
            return false;
        }
        let drawing = self.draw(key);
        drawing.width <= i32::from(width) && drawing.height <= i32::from(height)
    }

    fn draw(&mut self, key: DrawingKey) -> &GraphDrawing {
        let (zoom, columns, flow) = key;
        self.drawings.entry(key).or_insert_with(|| {
            let sizes = match zoom {
                Zoom::Boxes => vec![BoxSize { w: columns, h: 4 }; self.ids.len()],
                Zoom::Chips if columns > 0 => vec![BoxSize { w: columns, h: 1 }; self.ids.len()],
                Zoom::Chips => self.chips.clone(),
                Zoom::Dots => Vec::new(),
            };
            GraphDrawing::new(&self.layout, &sizes, zoom, flow)
        })
    }
}

/// The edges on the ways to and from a node.
fn related_edges(edges: &[(u32, u32)], nodes: usize, node: u32) -> Vec<bool> {
    let reached = |ends: fn(&(u32, u32)) -> (u32, u32)| {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for edge in edges {
            let (from, to) = ends(edge);
            next[from as usize].push(to);
        }
        let mut seen = vec![false; nodes];
        let mut stack = vec![node];
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut seen[at as usize], true) {
                stack.extend(&next[at as usize]);
            }
        }
        seen
    };
    let after = reached(|edge| *edge);
    let before = reached(|&(from, to)| (to, from));
    let lit = |&(from, to): &(u32, u32)| {
        let (from, to) = (from as usize, to as usize);
        after[from] && after[to] || before[from] && before[to]
    };
    edges.iter().map(lit).collect()
}

/// The columns of a roomy box and the sizes of chips. They depend on ids only, never on what happens.
fn node_sizes(ids: &[TaskId]) -> (u16, Vec<BoxSize>) {
    let widths: Vec<usize> = ids.iter().map(|id| display_width(&clean_line(id.as_str()))).collect();
    // Glyph, id, a space and a time of six cells.
    let text = widths.iter().map(|id| id + 9).max().unwrap_or(0).clamp(BOX_TEXT.0, BOX_TEXT.1);
    let chips =
        widths.iter().map(|id| BoxSize { w: (*id).min(CHIP_ID) as u16 + 4, h: 1 }).collect();
    (text as u16 + BOX_PADDING, chips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_needs_and_frees_is_lit_and_nothing_else() {
        // 0 → 1 → 2 → 3, 4 → 2, 1 → 5
        let edges = [(0, 1), (1, 2), (2, 3), (4, 2), (1, 5)];
        assert_eq!(related_edges(&edges, 6, 1), [true, true, true, false, true]);
        assert_eq!(related_edges(&edges, 6, 2), [true, true, true, true, false]);
        assert_eq!(related_edges(&edges, 6, 3), [true, true, true, true, false]);
    }
}
