//! The layout and the drawings of a plan, kept beside the screen and made once for each revision.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread::JoinHandle;

use planwright_layout::drawing::{FlowDirection, GraphDrawing, Viewport, Zoom};
use planwright_layout::{Layout, LayoutGraph, layout_graph, relayout_graph};
use planwright_model::{Digest, TaskId};
use planwright_state::PlanRevision;
use planwright_text::{clean_line, shorten_titles};

use super::content::link_name;
use super::shape::{DrawingFlow, DrawingShape, GraphRoom};

/// From so many tasks on a layout takes longer than everything else on the screen together, if they stand side by side:
/// so many in a layer, as a rule.
const LARGE: usize = 64;
const BROAD: usize = 4;

/// More rows than any pane has.
const MOST_ROWS: u16 = 4096;
/// How many drawings of a revision are kept.
const KEPT_DRAWINGS: usize = 24;

/// One revision, laid out.
#[derive(Debug)]
pub(crate) struct RevisionLayout {
    hash: Digest,
    ids: Vec<TaskId>,
    pub(crate) layout: Layout,
    pub(crate) critical_nodes: Vec<bool>,
    pub(crate) critical_edges: Vec<bool>,
    edges: Vec<(u32, u32)>,
    /// What an edge is called that is not simply "after", with a space at both sides; empty for the others.
    pub(super) link_names: Vec<String>,
    /// Edges of everything that the selected task needs or frees, and which task that is.
    pub(crate) lit_edges: Vec<bool>,
    lit_for: Option<u32>,
    pub(super) drawings: HashMap<DrawingShape, Option<GraphDrawing>>,
    /// The clean titles, by task.
    pub(super) titles: Vec<String>,
    /// The titles on chips, and for how many columns they were shortened.
    chip_titles: (u16, Vec<String>),
}

/// What is shown of the graph, for whoever draws it.
#[derive(Debug, Default)]
pub(crate) struct GraphCache {
    placed: Option<RevisionLayout>,
    pub(crate) zoom: Zoom,
    shape: DrawingShape,
    /// What the shape was chosen for.
    chosen_for: Option<(Option<Zoom>, GraphRoom)>,
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
            self.chosen_for = None;
        }
        let Some(revision) = revision else {
            self.placed = None;
            return;
        };
        if self.placed.as_ref().is_none_or(|placed| placed.hash != revision.hash) {
            self.placed = Some(RevisionLayout::new(revision, self.placed.take().as_ref()));
            self.chosen_for = None;
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

    /// The drawing in use.
    pub(crate) fn drawing(&self) -> Option<&GraphDrawing> {
        self.placed.as_ref()?.drawings.get(&self.shape)?.as_ref()
    }

    /// The title of a task as a chip shows it.
    pub(crate) fn chip_title(&self, task: usize) -> &str {
        let placed = self.placed.as_ref();
        placed.and_then(|placed| placed.chip_titles.1.get(task)).map_or("", String::as_str)
    }

    /// Chooses zoom and direction: the zoom asked for, or the largest that fits. It depends on the plan and on the
    /// room alone, so that nothing that happens moves a box.
    pub(crate) fn choose_zoom(&mut self, asked: Option<Zoom>, room: GraphRoom) {
        let Some(placed) = &mut self.placed else { return };
        if self.chosen_for == Some((asked, room)) {
            return;
        }
        if placed.drawings.len() > KEPT_DRAWINGS {
            placed.drawings.clear();
        }
        self.shape = placed.choose_shape(asked, room);
        self.chosen_for = Some((asked, room));
        self.zoom = self.shape.zoom;
        self.flow = match self.shape.flow {
            DrawingFlow::Down => FlowDirection::Down,
            DrawingFlow::Right | DrawingFlow::Folded(_) => FlowDirection::Right,
        };
        if self.shape.zoom == Zoom::Chips {
            placed.shorten_chip_titles(self.shape.columns);
        }
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
        let mut link_names = Vec::new();
        for (target, task) in (0..).zip(&plan.tasks) {
            for link in &task.dependencies {
                if let Some(source) = index.get(&link.task) {
                    edges.push((*source, target));
                    link_names.push(match link_name(link) {
                        Some(name) => format!(" {name} "),
                        None => String::new(),
                    });
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
        let titles = plan.tasks.iter().map(|task| clean_line(&task.description).into_owned());
        let titles = titles.collect();
        Self {
            hash: revision.hash.clone(),
            ids,
            layout,
            critical_nodes,
            critical_edges,
            lit_edges: Vec::new(),
            lit_for: None,
            edges,
            link_names,
            drawings: HashMap::new(),
            titles,
            chip_titles: (0, Vec::new()),
        }
    }

    /// Shortens the titles for chips of so many columns.
    fn shorten_chip_titles(&mut self, columns: u16) {
        if self.chip_titles.0 == columns && !self.chip_titles.1.is_empty() {
            return;
        }
        self.chip_titles = (columns, short_titles(&self.titles, columns));
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
}

/// Titles for chips of so many columns.
pub(super) fn short_titles(titles: &[String], columns: u16) -> Vec<String> {
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let room = usize::from(columns.saturating_sub(super::shape::CHIP_MARKS)).max(1);
    shorten_titles(&titles, room).into_iter().map(std::borrow::Cow::into_owned).collect()
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
