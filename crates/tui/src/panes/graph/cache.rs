//! The layout and the drawings of a plan, kept beside the screen and made once for each revision.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::thread::JoinHandle;

use planwright_layout::drawing::{FlowDirection, GraphDrawing, Viewport, Zoom};
use planwright_layout::{Layout, LayoutGraph, layout_graph, relayout_graph};
use planwright_model::{Digest, TaskId};
use planwright_state::PlanRevision;
use planwright_text::{clean_line, shorten_titles};

use super::content::link_name;
use super::groups::{FoldedNodes, GraphNode, TaskGroups};
use super::shape::{DrawingFit, DrawingFlow, DrawingShape, GraphRoom};

/// From so many tasks on a layout takes longer than everything else on the screen together, if they stand side by side:
/// so many in a layer, as a rule.
const LARGE: usize = 64;
const BROAD: usize = 4;

/// More rows than any pane has.
const MOST_ROWS: u16 = 4096;

/// One revision, laid out.
#[derive(Debug)]
pub(crate) struct RevisionLayout {
    hash: Digest,
    /// The groups that are to be one box each.
    folded: BTreeSet<TaskId>,
    /// What the boxes stand for.
    pub(crate) nodes: FoldedNodes,
    /// The id of each box: of its task or of its group.
    ids: Vec<TaskId>,
    pub(crate) layout: Layout,
    pub(crate) critical_nodes: Vec<bool>,
    pub(crate) critical_edges: Vec<bool>,
    pub(super) edges: Vec<(u32, u32)>,
    /// What an edge is called that is not simply "after", with a space at both sides; empty for the others.
    pub(super) link_names: Vec<String>,
    /// Edges of everything that the selected task needs or frees, and which task that is.
    pub(crate) lit_edges: Vec<bool>,
    lit_for: Option<u32>,
    pub(super) drawings: HashMap<DrawingShape, Option<GraphDrawing>>,
    /// The clean titles, by box.
    pub(super) titles: Vec<String>,
    /// The titles on chips, and for how many columns they were shortened.
    chip_titles: (u16, Vec<String>),
}

/// Which groups are drawn as one box each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GroupFolding {
    /// Those that the person folded; all of them where the tasks would not have a readable title each.
    #[default]
    Automatic,
    All,
    /// Those that the person folded.
    Chosen,
}

/// The groups of the plan and what the person did with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldRequest<'a> {
    pub(crate) groups: &'a TaskGroups,
    pub(crate) folding: GroupFolding,
    pub(crate) folded: &'a HashSet<TaskId>,
    pub(crate) opened: &'a HashSet<TaskId>,
}

impl FoldRequest<'_> {
    /// The groups that the person folded.
    fn chosen(&self) -> BTreeSet<TaskId> {
        self.groups.ids().filter(|id| self.folded.contains(*id)).cloned().collect()
    }

    /// All groups but those that the person opened.
    fn all(&self) -> BTreeSet<TaskId> {
        self.groups.ids().filter(|id| !self.opened.contains(*id)).cloned().collect()
    }
}

/// What is shown of the graph, for whoever draws it.
#[derive(Debug, Default)]
pub(crate) struct GraphCache {
    placed: Option<RevisionLayout>,
    /// The same plan with its groups folded, where the tasks have no room.
    condensed: Option<RevisionLayout>,
    /// The second of them is the one that is drawn.
    is_condensed: bool,
    pub(crate) zoom: Zoom,
    shape: DrawingShape,
    /// What the shape was chosen for.
    chosen_for: Option<ShapeKey>,
    /// Which way the edges go.
    pub(crate) flow: FlowDirection,
    pub(crate) view: Viewport,
    /// The layout is left for later.
    layout_deferred: bool,
    /// Who makes it meanwhile.
    pending: Option<JoinHandle<RevisionLayout>>,
}

/// What a shape depends on.
#[derive(Clone, Debug, PartialEq)]
struct ShapeKey {
    asked: Option<Zoom>,
    room: GraphRoom,
    folding: GroupFolding,
    all: BTreeSet<TaskId>,
}

impl GraphCache {
    /// Has a large plan laid out beside what else it takes to open a screen, which shows the rest at once.
    pub(crate) fn defer_layout(&mut self, revision: Option<&Arc<PlanRevision>>) {
        let Some(revision) = revision.filter(|revision| is_large(revision)).cloned() else {
            return;
        };
        self.layout_deferred = true;
        let layout =
            move || RevisionLayout::new(&revision, &TaskGroups::default(), BTreeSet::new(), None);
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
    pub(crate) fn update_layout(
        &mut self,
        revision: Option<&PlanRevision>,
        folds: FoldRequest<'_>,
    ) {
        if self.layout_deferred {
            return;
        }
        // One that could not be made is made here.
        if let Some(Ok(placed)) = self.pending.take().map(JoinHandle::join) {
            self.placed = Some(placed);
            self.chosen_for = None;
        }
        let Some(revision) = revision else {
            (self.placed, self.condensed, self.is_condensed) = (None, None, false);
            return;
        };
        let is_new = update_revision(&mut self.placed, revision, folds.groups, folds.chosen());
        if is_new {
            self.chosen_for = None;
        }
        let other = self.condensed.as_ref().is_some_and(|made| made.hash != revision.hash);
        if other || folds.groups.is_empty() {
            self.condensed = None;
        }
    }

    /// Lights what belongs to the selected box.
    pub(crate) fn highlight_related(&mut self, selected: Option<u32>) {
        if let Some(placed) = self.shown_mut() {
            let known = selected.filter(|node| (*node as usize) < placed.ids.len());
            placed.highlight_related(known);
        }
    }

    fn shown_mut(&mut self) -> Option<&mut RevisionLayout> {
        if self.is_condensed { self.condensed.as_mut() } else { self.placed.as_mut() }
    }

    pub(crate) fn revision_layout(&self) -> Option<&RevisionLayout> {
        if self.is_condensed { self.condensed.as_ref() } else { self.placed.as_ref() }
    }

    /// The drawing in use.
    pub(crate) fn drawing(&self) -> Option<&GraphDrawing> {
        self.revision_layout()?.drawings.get(&self.shape)?.as_ref()
    }

    /// The title of a box as a chip shows it.
    pub(crate) fn chip_title(&self, node: usize) -> &str {
        let placed = self.revision_layout();
        placed.and_then(|placed| placed.chip_titles.1.get(node)).map_or("", String::as_str)
    }

    /// The box of a task, or of a folded group.
    pub(crate) fn node_of(&self, id: &TaskId, task: Option<usize>) -> Option<u32> {
        let placed = self.revision_layout()?;
        match task {
            Some(task) => placed.nodes.by_task.get(task).copied(),
            None => placed.ids.iter().position(|known| known == id).map(|node| node as u32),
        }
    }

    /// What a box stands for.
    pub(crate) fn node(&self, node: u32) -> Option<&GraphNode> {
        self.revision_layout()?.nodes.nodes.get(node as usize)
    }

    /// The id of what a box stands for.
    pub(crate) fn node_id(&self, node: u32) -> Option<&TaskId> {
        self.revision_layout()?.ids.get(node as usize)
    }

    /// Whether all groups are folded, be it because the person wants it or because there is no room.
    pub(crate) fn is_condensed(&self) -> bool {
        self.is_condensed
    }

    /// How many groups are one box each.
    pub(crate) fn folded_groups(&self) -> usize {
        let is_group = |node: &&GraphNode| matches!(node, GraphNode::Group { .. });
        self.revision_layout()
            .map_or(0, |placed| placed.nodes.nodes.iter().filter(is_group).count())
    }

    /// Chooses zoom and direction: the zoom asked for, or the largest that fits. It depends on the plan, on what is folded
    /// and on the room alone, so that nothing that happens moves a box.
    pub(crate) fn choose_zoom(
        &mut self,
        revision: Option<&PlanRevision>,
        asked: Option<Zoom>,
        room: GraphRoom,
        folds: FoldRequest<'_>,
    ) {
        let Some(placed) = &mut self.placed else { return };
        let key = ShapeKey { asked, room, folding: folds.folding, all: folds.all() };
        if self.chosen_for.as_ref() == Some(&key) {
            return;
        }
        let (mut shape, fit) = placed.choose_shape(asked, room);
        self.is_condensed = false;
        let wanted = match folds.folding {
            GroupFolding::All => true,
            GroupFolding::Automatic => asked.is_none() && fit < DrawingFit::Chips,
            GroupFolding::Chosen => false,
        };
        if let Some(revision) = revision.filter(|_| wanted && !folds.groups.is_empty()) {
            update_revision(&mut self.condensed, revision, folds.groups, folds.all());
            if let Some(condensed) = &mut self.condensed {
                let (folded_shape, folded_fit) = condensed.choose_shape(asked, room);
                // What the person opened stays open, with room or without.
                let chosen = folds.folding == GroupFolding::All || !folds.opened.is_empty();
                if chosen || folded_fit > fit {
                    self.is_condensed = true;
                    shape = folded_shape;
                }
            }
        }
        self.use_shape(shape);
        self.chosen_for = Some(key);
    }

    fn use_shape(&mut self, shape: DrawingShape) {
        self.shape = shape;
        self.zoom = shape.zoom;
        self.flow = match shape.flow {
            DrawingFlow::Down => FlowDirection::Down,
            DrawingFlow::Right | DrawingFlow::Folded(_) => FlowDirection::Right,
        };
        if let Some(placed) = self.shown_mut().filter(|_| shape.zoom == Zoom::Chips) {
            placed.shorten_chip_titles(shape.columns);
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

/// Lays a plan out unless it is at hand with these groups folded; says whether it did.
fn update_revision(
    placed: &mut Option<RevisionLayout>,
    revision: &PlanRevision,
    groups: &TaskGroups,
    folded: BTreeSet<TaskId>,
) -> bool {
    let same = |made: &RevisionLayout| made.hash == revision.hash && made.folded == folded;
    if placed.as_ref().is_some_and(same) {
        return false;
    }
    *placed = Some(RevisionLayout::new(revision, groups, folded, placed.take().as_ref()));
    true
}

/// The links of a plan as places of its tasks, and what each is called.
fn plan_links(revision: &PlanRevision) -> (Vec<(u32, u32)>, Vec<String>) {
    let plan = &revision.plan;
    let index: HashMap<&TaskId, u32> = plan.tasks.iter().map(|task| &task.id).zip(0..).collect();
    let mut links = Vec::new();
    let mut names = Vec::new();
    for (target, task) in (0..).zip(&plan.tasks) {
        for link in &task.dependencies {
            if let Some(source) = index.get(&link.task) {
                links.push((*source, target));
                names.push(match link_name(link) {
                    Some(name) => format!(" {name} "),
                    None => String::new(),
                });
            }
        }
    }
    (links, names)
}

impl RevisionLayout {
    fn new(
        revision: &PlanRevision,
        groups: &TaskGroups,
        folded: BTreeSet<TaskId>,
        before: Option<&RevisionLayout>,
    ) -> Self {
        let plan = &revision.plan;
        let (links, names) = plan_links(revision);
        let nodes = groups.fold_nodes(plan.tasks.len(), &links, &folded);
        let mut edges = nodes.fold_edges(&links);
        let index: HashMap<&TaskId, u32> =
            plan.tasks.iter().map(|task| &task.id).zip(0..).collect();
        let path: Vec<u32> =
            revision.facts.critical_path.iter().filter_map(|id| index.get(id).copied()).collect();
        let steps: HashSet<(u32, u32)> = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let is_step =
            |(_, places): &(_, Vec<usize>)| places.iter().any(|at| steps.contains(&links[*at]));
        let pairs: Vec<(u32, u32)> = edges.iter().map(|(edge, _)| *edge).collect();
        let implied = implied_edges(&pairs, nodes.nodes.len());
        let has_name =
            |(_, places): &(_, Vec<usize>)| matches!(places[..], [only] if !names[only].is_empty());
        let mut implied = implied.into_iter();
        edges.retain(|edge| !implied.next().unwrap_or(false) || is_step(edge) || has_name(edge));
        let critical_edges: Vec<bool> = edges.iter().map(is_step).collect();
        let mut critical_nodes = vec![false; nodes.nodes.len()];
        for task in &path {
            critical_nodes[nodes.by_task[*task as usize] as usize] = true;
        }
        // A link that stands for several has no name of its own.
        let link_name = |(_, places): &(_, Vec<usize>)| match places[..] {
            [only] => names[only].clone(),
            _ => String::new(),
        };
        let link_names = edges.iter().map(link_name).collect();
        let edges: Vec<(u32, u32)> = edges.into_iter().map(|(edge, _)| edge).collect();
        let straight = (0..).zip(&critical_edges).filter(|(_, critical)| **critical);
        let graph = LayoutGraph::new(nodes.nodes.len() as u32, edges.iter().copied())
            .prefer_straight(straight.map(|(edge, _)| edge));
        let ids: Vec<TaskId> = nodes.nodes.iter().map(|node| node_id(node, revision)).collect();
        let layout = match before {
            Some(before) => relayout_graph(&before.layout, &graph, &before.previous_indices(&ids)),
            None => layout_graph(&graph),
        };
        let titles = nodes.nodes.iter().map(|node| node_title(node, revision)).collect();
        Self {
            hash: revision.hash.clone(),
            folded,
            nodes,
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

fn node_id(node: &GraphNode, revision: &PlanRevision) -> TaskId {
    match node {
        GraphNode::Task(task) => revision.plan.tasks[*task].id.clone(),
        GraphNode::Group { id, .. } => id.clone(),
    }
}

fn node_title(node: &GraphNode, revision: &PlanRevision) -> String {
    match node {
        GraphNode::Task(task) => clean_line(&revision.plan.tasks[*task].description).into_owned(),
        GraphNode::Group { title, .. } => format!("▸ {}", clean_line(title)),
    }
}

/// Titles for chips of so many columns.
pub(super) fn short_titles(titles: &[String], columns: u16) -> Vec<String> {
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let room = usize::from(columns.saturating_sub(super::shape::CHIP_MARKS)).max(1);
    shorten_titles(&titles, room).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// Larger plans keep all their edges: nobody could tell them apart.
const MOST_REDUCED: usize = 2_048;

/// Which edges say nothing that a longer way between the same two does not say: where b comes after a and c after b, a line
/// from a to c only hides the others.
fn implied_edges(edges: &[(u32, u32)], nodes: usize) -> Vec<bool> {
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    let mut before = vec![0_usize; nodes];
    for (from, to) in edges {
        next[*from as usize].push(*to);
        before[*to as usize] += 1;
    }
    let mut order: Vec<u32> =
        (0..nodes as u32).filter(|node| before[*node as usize] == 0).collect();
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        for to in &next[node as usize] {
            before[*to as usize] -= 1;
            if before[*to as usize] == 0 {
                order.push(*to);
            }
        }
        at += 1;
    }
    // A plan with a cycle is drawn as it is.
    if order.len() < nodes || nodes > MOST_REDUCED {
        return vec![false; edges.len()];
    }
    let words = nodes.div_ceil(64);
    // What can be reached from each node in one step or more.
    let mut reached = vec![vec![0_u64; words]; nodes];
    for node in order.into_iter().rev() {
        let mut all = vec![0_u64; words];
        for to in &next[node as usize] {
            all[*to as usize / 64] |= 1 << (to % 64);
            all.iter_mut().zip(&reached[*to as usize]).for_each(|(one, other)| *one |= other);
        }
        reached[node as usize] = all;
    }
    let leads = |from: u32, to: u32| reached[from as usize][to as usize / 64] >> (to % 64) & 1 == 1;
    let is_implied = |&(from, to): &(u32, u32)| {
        next[from as usize].iter().any(|between| *between != to && leads(*between, to))
    };
    edges.iter().map(is_implied).collect()
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
    fn a_link_that_others_imply_is_not_drawn() {
        // 0 → 1 → 2 and 0 → 2; 3 → 2 stands alone.
        let edges = [(0, 1), (1, 2), (0, 2), (3, 2)];
        assert_eq!(implied_edges(&edges, 4), [false, false, true, false]);
        // A cycle implies everything and nothing.
        assert_eq!(implied_edges(&[(0, 1), (1, 0)], 2), [false, false]);
    }

    #[test]
    fn what_a_task_needs_and_frees_is_lit_and_nothing_else() {
        // 0 → 1 → 2 → 3, 4 → 2, 1 → 5
        let edges = [(0, 1), (1, 2), (2, 3), (4, 2), (1, 5)];
        assert_eq!(related_edges(&edges, 6, 1), [true, true, true, false, true]);
        assert_eq!(related_edges(&edges, 6, 2), [true, true, true, true, false]);
        assert_eq!(related_edges(&edges, 6, 3), [true, true, true, true, false]);
    }
}
