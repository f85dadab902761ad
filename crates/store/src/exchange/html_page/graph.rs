//! The graph of a page: one column a layer. A link over several layers has a place of its own in each column between, so that
//! no line runs through a box.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::{escape_html, status_glyph};
use planwright_model::{Plan, TaskId};
use planwright_state::SessionState;
use planwright_text as text;

const BOX: (i64, i64) = (180, 44);
const GAP: (i64, i64) = (60, 18);

/// The height of the place of a link between boxes.
const LANE: i64 = 12;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnItem {
    Task(usize),
    /// The links from this task that lead further.
    Lane(usize),
}

/// Where boxes and links are.
#[derive(Debug)]
pub(super) struct GraphPlaces {
    /// Left and top of the box of each task.
    boxes: Vec<(i64, i64)>,
    /// The height of the lane of a task in a column.
    lanes: HashMap<(usize, u32), i64>,
    width: i64,
    height: i64,
}

impl GraphPlaces {
    pub(super) fn new(plan: &Plan, depth: &[u32]) -> Self {
        let places: HashMap<&TaskId, usize> =
            plan.tasks.iter().enumerate().rev().map(|(index, task)| (&task.id, index)).collect();
        let layer = |index: usize| depth.get(index).copied().unwrap_or(0);
        // How far to the right each task is needed.
        let mut reach: Vec<u32> = (0..plan.tasks.len()).map(layer).collect();
        for (index, task) in plan.tasks.iter().enumerate() {
            for from in task.dependencies.iter().filter_map(|link| places.get(&link.task)) {
                reach[*from] = reach[*from].max(layer(index));
            }
        }
        let mut columns: BTreeMap<u32, Vec<ColumnItem>> = BTreeMap::new();
        for (index, reach) in reach.iter().enumerate() {
            columns.entry(layer(index)).or_default().push(ColumnItem::Task(index));
            for between in layer(index) + 1..*reach {
                columns.entry(between).or_default().push(ColumnItem::Lane(index));
            }
        }
        let mut found = Self {
            boxes: vec![(0, 0); plan.tasks.len()],
            lanes: HashMap::new(),
            width: BOX.0,
            height: BOX.1,
        };
        for (column, items) in columns {
            found.place_column(column, &items);
        }
        found
    }

    fn place_column(&mut self, column: u32, items: &[ColumnItem]) {
        let (left, mut top) = (i64::from(column) * (BOX.0 + GAP.0), 0);
        for item in items {
            match item {
                ColumnItem::Task(index) => {
                    self.boxes[*index] = (left, top);
                    top += BOX.1 + GAP.1;
                }
                ColumnItem::Lane(index) => {
                    self.lanes.insert((*index, column), top + LANE / 2);
                    top += LANE + GAP.1 / 2;
                }
            }
        }
        self.width = self.width.max(left + BOX.0);
        self.height = self.height.max(top);
    }

    /// The line of a link: out of the box on the right, through its lanes, into the other on the left.
    fn line(&self, from: (usize, u32), to: (usize, u32)) -> String {
        let ((from, from_column), (to, to_column)) = (from, to);
        let (mut x, mut y) = (self.boxes[from].0 + BOX.0, self.boxes[from].1 + BOX.1 / 2);
        let mut path = format!("M{x} {y}");
        let mut curve_to = |next_x: i64, next_y: i64, path: &mut String| {
            let half = GAP.0 / 2;
            let _ = write!(path, "C{} {y} {} {next_y} {next_x} {next_y}", x + half, next_x - half);
            (x, y) = (next_x, next_y);
        };
        for column in from_column + 1..to_column {
            let Some(lane) = self.lanes.get(&(from, column)).copied() else { continue };
            let left = i64::from(column) * (BOX.0 + GAP.0);
            curve_to(left, lane, &mut path);
            let _ = write!(path, "H{}", left + BOX.0);
            curve_to(left + BOX.0, lane, &mut path);
        }
        let (left, top) = self.boxes[to];
        curve_to(left, top + BOX.1 / 2, &mut path);
        path
    }
}

/// Draws the graph. A box leads to its task below.
pub(super) fn write_graph(state: &SessionState, out: &mut String) {
    let Some(current) = &state.plan.current else { return };
    let depth = &current.facts.depth;
    let places = GraphPlaces::new(&current.plan, depth);
    let _ = writeln!(
        out,
        "<h2 id=\"graph\">Graph</h2>\n<div class=\"graph\"><svg viewBox=\"-4 -4 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"task graph\">",
        places.width + 8,
        places.height + 8
    );
    let index_of: HashMap<&TaskId, usize> = current
        .plan
        .tasks
        .iter()
        .enumerate()
        .rev()
        .map(|(index, task)| (&task.id, index))
        .collect();
    let layer = |index: usize| depth.get(index).copied().unwrap_or(0);
    for (to, task) in current.plan.tasks.iter().enumerate() {
        for from in task.dependencies.iter().filter_map(|link| index_of.get(&link.task).copied()) {
            let line = places.line((from, layer(from)), (to, layer(to)));
            let _ = writeln!(out, "<path d=\"{line}\"/>");
        }
    }
    for (index, (task, (_, row))) in current.plan.tasks.iter().zip(state.tasks.iter()).enumerate() {
        let (x, y) = places.boxes[index];
        let (mark, class) = status_glyph(row.status);
        let thick = if current.facts.critical_path.contains(&task.id) { 3 } else { 1 };
        let label = |text: &str| escape_html(&text::truncate_end(text, 26));
        let _ = writeln!(
            out,
            "<a href=\"#task-{index}\"><g class=\"{class}\" data-task=\"{index}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" stroke-width=\"{thick}\"/>\
             <text x=\"{}\" y=\"{}\" class=\"m\"><tspan class=\"g\">{mark}</tspan> {}</text><text x=\"{}\" y=\"{}\" class=\"d\">{}</text></g></a>",
            escape_html(&text::clean_line(&task.description)),
            BOX.0,
            BOX.1,
            x + 8,
            y + 18,
            label(&text::clean_line(task.id.as_str())),
            x + 8,
            y + 35,
            label(&text::clean_line(&task.description)),
        );
    }
    out.push_str("</svg></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::{TaskLink, TaskNode};

    /// A chain with shortcuts: every link that skips a layer runs beside the boxes that it passes.
    #[test]
    fn no_line_runs_through_a_box() {
        let mut plan = Plan::default();
        for index in 0..12_usize {
            let mut task = TaskNode::new(format!("t{index}"), "x");
            task.dependencies = (0..index)
                .filter(|from| index - from == 1 || index.is_multiple_of(from + 2))
                .map(|from| TaskLink::finish_to_start(format!("t{from}")))
                .collect();
            plan.tasks.push(task);
        }
        let depth: Vec<u32> = (0..12).collect();
        let places = GraphPlaces::new(&plan, &depth);
        for ((from, column), lane) in &places.lanes {
            let left = i64::from(*column) * (BOX.0 + GAP.0);
            for (index, (x, y)) in places.boxes.iter().enumerate() {
                let inside = *x == left && (*y..=*y + BOX.1).contains(lane);
                assert!(!inside, "a link of {from} runs through {index}");
            }
        }
        let line = places.line((0, 0), (10, 10));
        assert_eq!(line.matches('H').count(), 9, "{line}");
    }
}
