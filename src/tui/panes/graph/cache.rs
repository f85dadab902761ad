//! The layout and the drawings of a plan, kept beside the screen and made once for each revision.

use std::collections::{HashMap, HashSet};

use crate::model::{Digest, TaskId};
use crate::planning::drawing::{Drawing, Flow, Size, Viewport, Zoom};
use crate::planning::layout::{Graph, Layout, layout, relayout};
use crate::state::PlanRevision;
use crate::text::{clean_line, display_width};

/// Cells between the frame of a box and its text, both sides together, frame included.
pub(super) const BOX_PADDING: u16 = 4;
/// Text columns of a box: the least and the most.
const BOX_TEXT: (usize, usize) = (14, 22);
/// The widest id on a chip.
pub(super) const CHIP_ID: usize = 14;

/// One revision, laid out.
#[derive(Debug)]
pub(crate) struct Placed {
    hash: Digest,
    ids: Vec<TaskId>,
    pub(crate) layout: Layout,
    pub(crate) critical_nodes: Vec<bool>,
    pub(crate) critical_edges: Vec<bool>,
    edges: Vec<(u32, u32)>,
    /// Edges of everything that the selected task needs or frees, and which task that is.
    pub(crate) lit_edges: Vec<bool>,
    lit_for: Option<u32>,
    drawings: HashMap<(Zoom, u16), Drawing>,
    /// The columns of a box whose id is never cut.
    roomy: u16,
    chips: Vec<Size>,
}

/// What is shown of the graph, for whoever draws it.
#[derive(Debug, Default)]
pub(crate) struct GraphCache {
    placed: Option<Placed>,
    pub(crate) zoom: Zoom,
    /// Columns of a box, frame included.
    box_width: u16,
    pub(crate) view: Viewport,
}

impl GraphCache {
    /// Lays a revision out unless it is at hand. A new one moves as little as possible.
    pub(crate) fn place(&mut self, revision: Option<&PlanRevision>) {
        let Some(revision) = revision else {
            self.placed = None;
            return;
        };
        if self.placed.as_ref().is_none_or(|placed| placed.hash != revision.hash) {
            self.placed = Some(Placed::new(revision, self.placed.take().as_ref()));
        }
    }

    /// Lights what belongs to the selected task.
    pub(crate) fn light(&mut self, selected: Option<u32>) {
        if let Some(placed) = &mut self.placed {
            let known = selected.filter(|node| (*node as usize) < placed.ids.len());
            placed.light(known);
        }
    }

    pub(crate) fn placed(&self) -> Option<&Placed> {
        self.placed.as_ref()
    }

    /// The drawing at the zoom in use.
    pub(crate) fn drawing(&self) -> Option<&Drawing> {
        self.placed.as_ref()?.drawings.get(&self.key(self.zoom))
    }

    /// Chooses the zoom: the one asked for, or the largest that fits. Boxes give up width before they give up.
    pub(crate) fn choose(&mut self, asked: Option<Zoom>, (width, height): (u16, u16)) {
        let Some(placed) = &mut self.placed else { return };
        let tight = BOX_TEXT.0 as u16 + BOX_PADDING;
        let widths = [placed.roomy, tight];
        let mut fits = |columns: u16| {
            let drawing = placed.draw((Zoom::Boxes, columns));
            drawing.width <= i32::from(width) && drawing.height <= i32::from(height)
        };
        let fitting = widths.into_iter().find(|columns| fits(*columns));
        self.box_width = fitting.unwrap_or(tight);
        self.zoom = asked.unwrap_or(if fitting.is_some() { Zoom::Boxes } else { Zoom::Chips });
        let key = self.key(self.zoom);
        if let Some(placed) = &mut self.placed {
            placed.draw(key);
        }
    }

    fn key(&self, zoom: Zoom) -> (Zoom, u16) {
        (zoom, if zoom == Zoom::Boxes { self.box_width } else { 0 })
    }

    /// Rows the drawing takes.
    pub(crate) fn rows(&self) -> u16 {
        self.drawing().map_or(3, |drawing| drawing.height.clamp(1, 4096) as u16)
    }
}

impl Placed {
    fn new(revision: &PlanRevision, before: Option<&Placed>) -> Self {
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
        let graph = Graph::new(ids.len() as u32, edges.iter().copied())
            .prefer_straight(straight.map(|(edge, _)| edge));
        let layout = match before {
            Some(before) => relayout(&before.layout, &graph, &before.places_of(&ids)),
            None => layout(&graph),
        };
        let (roomy, chips) = sizes(&ids);
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
            chips,
        }
    }

    /// Lights the edges between the selected task and all it needs and frees, directly or not.
    fn light(&mut self, selected: Option<u32>) {
        if self.lit_for == selected {
            return;
        }
        self.lit_for = selected;
        self.lit_edges.clear();
        if let Some(node) = selected {
            self.lit_edges = kin(&self.edges, self.ids.len(), node);
        }
    }

    /// Where each task of a new revision stood in this one.
    fn places_of(&self, ids: &[TaskId]) -> Vec<Option<u32>> {
        let index: HashMap<&TaskId, u32> = self.ids.iter().zip(0..).collect();
        ids.iter().map(|id| index.get(id).copied()).collect()
    }

    fn draw(&mut self, (zoom, columns): (Zoom, u16)) -> &Drawing {
        self.drawings.entry((zoom, columns)).or_insert_with(|| {
            let sizes = match zoom {
                Zoom::Boxes => vec![Size { w: columns, h: 4 }; self.ids.len()],
                Zoom::Chips => self.chips.clone(),
                Zoom::Dots => Vec::new(),
            };
            Drawing::new(&self.layout, &sizes, zoom, Flow::Right)
        })
    }
}

/// The edges on the ways to and from a node.
fn kin(edges: &[(u32, u32)], nodes: usize, node: u32) -> Vec<bool> {
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
fn sizes(ids: &[TaskId]) -> (u16, Vec<Size>) {
    let widths: Vec<usize> = ids.iter().map(|id| display_width(&clean_line(id.as_str()))).collect();
    // Glyph, id, a space and a time of six cells.
    let text = widths.iter().map(|id| id + 9).max().unwrap_or(0).clamp(BOX_TEXT.0, BOX_TEXT.1);
    let chips = widths.iter().map(|id| Size { w: (*id).min(CHIP_ID) as u16 + 4, h: 1 }).collect();
    (text as u16 + BOX_PADDING, chips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_needs_and_frees_is_lit_and_nothing_else() {
        // 0 → 1 → 2 → 3, 4 → 2, 1 → 5
        let edges = [(0, 1), (1, 2), (2, 3), (4, 2), (1, 5)];
        assert_eq!(kin(&edges, 6, 1), [true, true, true, false, true]);
        assert_eq!(kin(&edges, 6, 2), [true, true, true, true, false]);
        assert_eq!(kin(&edges, 6, 3), [true, true, true, true, false]);
    }
}
