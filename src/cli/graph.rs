//! `planwright graph`: a plan drawn on standard output, or figures about its drawing.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Exit, Out, Problem, Shared};
use crate::app::{self, App};
use crate::event::{Event, PlanningEvent};
use crate::model::{GraphFacts, Plan, Seq};
use crate::planning::controller::picture;
use crate::planning::drawing::{Drawing, Flow, Marks, Size, Viewport, Zoom, ascii};
use crate::planning::graph::resolve;
use crate::planning::layout::{Graph, Layout, layout};
use crate::planning::plan_file;
use crate::text::{clean_line, display_width, fit, truncate_middle};

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// A plan file, or a session: its id, a unique prefix, or `last`
    #[arg(value_name = "FILE|SESSION", required_unless_present = "controller")]
    plan: Option<String>,
    /// Draw the planning controller's table instead, with the path that the session took
    #[arg(long)]
    controller: bool,
    /// How the controller is drawn
    #[arg(long, value_name = "FORMAT", default_value = "mermaid", requires = "controller")]
    format: ControllerFormat,
    /// Print figures about the drawing instead of the drawing
    #[arg(long)]
    stats: bool,
    /// Draw ids in one line each instead of boxes
    #[arg(long)]
    chips: bool,
    /// Draw from the top down
    #[arg(long)]
    down: bool,
    /// Draw with plain ASCII
    #[arg(long)]
    ascii: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ControllerFormat {
    Mermaid,
    Dot,
}

/// What is known about a drawing.
#[derive(Debug, Serialize)]
struct Stats {
    nodes: usize,
    edges: usize,
    layers: usize,
    crossings: u64,
    layout_ms: f64,
}

pub(super) fn graph(shared: &Shared, args: &GraphArgs) -> anyhow::Result<Exit> {
    let named = args.plan.as_deref();
    if args.controller {
        return draw_controller(shared, named, args.format);
    }
    let (plan, facts) = read(shared, named.unwrap_or_default())?;
    let graph = edges_of(&plan, &facts);
    let started = Instant::now();
    let placed = layout(&graph);
    let layout_ms = started.elapsed().as_secs_f64() * 1_000.0;
    let mut out = Out::new();
    if args.stats {
        let stats = Stats {
            nodes: plan.tasks.len(),
            edges: graph.edges().len(),
            layers: placed.layers.len(),
            crossings: placed.crossings,
            layout_ms: (layout_ms * 1_000.0).round() / 1_000.0,
        };
        return print_stats(&mut out, &stats, shared.json);
    }
    let mut text = drawn(&plan, &facts, &graph, &placed, args);
    if args.ascii {
        text = text.chars().map(ascii).collect();
    }
    out.text(&text)?;
    Ok(Exit::Success)
}

/// The controller's table, with the rows that a session went through.
fn draw_controller(
    shared: &Shared,
    session: Option<&str>,
    format: ControllerFormat,
) -> anyhow::Result<Exit> {
    let mut walked = BTreeSet::new();
    if let Some(name) = session {
        let app = App::settings_only(shared)?;
        let Some(store) = app.read_store()? else { return Err(app::no_session(name)) };
        let id = app::find(&store, name)?;
        let mut history = app::history(&store, &id)?;
        let head = history.head()?;
        let mut seq = Seq::START;
        while seq < head {
            seq = seq.next();
            let Some(record) = history.record(seq)? else { break };
            if let Event::Planning(PlanningEvent::Moved { row, .. }) = &record.event {
                walked.insert(row.clone());
            }
        }
    }
    let text = match format {
        ControllerFormat::Mermaid => picture::mermaid(&walked),
        ControllerFormat::Dot => picture::dot(&walked),
    };
    Out::new().text(&text)?;
    Ok(Exit::Success)
}

fn print_stats(out: &mut Out, stats: &Stats, json: bool) -> anyhow::Result<Exit> {
    let text = if json {
        format!("{}\n", serde_json::to_string(stats)?)
    } else {
        format!(
            "{} nodes, {} edges, {} layers, {} crossings, laid out in {:.3} ms\n",
            stats.nodes, stats.edges, stats.layers, stats.crossings, stats.layout_ms
        )
    };
    out.text(&text)?;
    Ok(Exit::Success)
}

/// A file if there is one of this name, else a session.
fn read(shared: &Shared, name: &str) -> anyhow::Result<(Plan, GraphFacts)> {
    let path = Path::new(name);
    if path.exists() {
        let read = plan_file::read(path).map_err(|error| super::run::plan_problem(&error))?;
        let resolved = resolve(&read.plan.tasks, |_| true).map_err(|cycle| {
            Problem::failed(format!("{name}: tasks wait for each other: {cycle}"))
                .remedy(format!("take one of these out; planwright check {name} names the lines"))
        })?;
        let facts = resolved.facts(&read.plan.tasks);
        return Ok((read.plan, facts));
    }
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::no_session(name)) };
    let id = app::find(&store, name)?;
    let mut history = app::history(&store, &id)?;
    let head = history.head()?;
    let state = history.state_at(head)?;
    let Some(current) = &state.plan.current else {
        return Err(Problem::failed(format!("session {} has no plan yet", id.short()))
            .remedy(format!("go on with it: planwright resume {}", id.short()))
            .into());
    };
    Ok(((*current.plan).clone(), (*current.facts).clone()))
}

fn edges_of(plan: &Plan, facts: &GraphFacts) -> Graph {
    let index: std::collections::HashMap<_, u32> =
        plan.tasks.iter().map(|task| &task.id).zip(0..).collect();
    let mut edges = Vec::new();
    for (to, task) in (0..).zip(&plan.tasks) {
        let sources = task.dependencies.iter().filter_map(|link| index.get(&link.task));
        edges.extend(sources.map(|from| (*from, to)));
    }
    let path: Vec<u32> =
        facts.critical_path.iter().filter_map(|id| index.get(id).copied()).collect();
    let straight: Vec<u32> = (0..)
        .zip(&edges)
        .filter(|(_, (from, to))| path.windows(2).any(|pair| pair == [*from, *to]))
        .map(|(edge, _)| edge)
        .collect();
    Graph::new(plan.tasks.len() as u32, edges).prefer_straight(straight)
}

/// The drawing as lines.
fn drawn(
    plan: &Plan,
    facts: &GraphFacts,
    graph: &Graph,
    placed: &Layout,
    args: &GraphArgs,
) -> String {
    let names: Vec<String> =
        plan.tasks.iter().map(|task| clean_line(task.id.as_str()).into_owned()).collect();
    let widest = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
    let (zoom, sizes): (Zoom, Vec<Size>) = if args.chips {
        let chip = |name: &String| Size { w: display_width(name).min(24) as u16 + 2, h: 1 };
        (Zoom::Chips, names.iter().map(chip).collect())
    } else {
        let width = widest.clamp(10, 24) as u16 + 4;
        (Zoom::Boxes, vec![Size { w: width, h: 4 }; names.len()])
    };
    let flow = if args.down { Flow::Down } else { Flow::Right };
    let drawing = Drawing::new(placed, &sizes, zoom, flow);
    let path: std::collections::HashSet<_> = facts.critical_path.iter().collect();
    let critical_nodes: Vec<bool> = plan.tasks.iter().map(|task| path.contains(&task.id)).collect();
    let on_path = |&(from, to): &(u32, u32)| {
        facts.critical_path.windows(2).any(|pair| {
            pair[0] == plan.tasks[from as usize].id && pair[1] == plan.tasks[to as usize].id
        })
    };
    let critical_edges: Vec<bool> = graph.edges().iter().map(on_path).collect();
    let marks = Marks {
        critical_nodes: &critical_nodes,
        critical_edges: &critical_edges,
        ..Marks::default()
    };
    let mut page = Page::new(drawing.width, drawing.height);
    let view = Viewport { x: 0, y: 0, w: drawing.width, h: drawing.height };
    for cell in drawing.cells_in(view, &marks) {
        page.put(cell.x, cell.y, &cell.glyph.to_string());
    }
    for at in &drawing.boxes {
        let name = &names[at.node as usize];
        if at.h == 1 {
            let text = truncate_middle(name, (at.w - 2).max(1) as usize);
            page.put(at.x + 1, at.y, &text);
            continue;
        }
        let room = (at.w - 4).max(1) as usize;
        page.put(at.x + 2, at.y + 1, &truncate_middle(name, room));
        let title = clean_line(&plan.tasks[at.node as usize].description).into_owned();
        page.put(at.x + 2, at.y + 2, &fit(&title, room));
    }
    page.text()
}

/// Cells of text; a wide character takes two.
struct Page {
    cells: Vec<Vec<Option<String>>>,
}

impl Page {
    fn new(width: i32, height: i32) -> Self {
        let row = vec![Some(" ".to_owned()); width.max(0) as usize];
        Self { cells: vec![row; height.max(0) as usize] }
    }

    fn put(&mut self, x: i32, y: i32, text: &str) {
        let Some(row) = usize::try_from(y).ok().and_then(|y| self.cells.get_mut(y)) else { return };
        let Ok(mut at) = usize::try_from(x) else { return };
        for letter in text.chars() {
            let width = display_width(letter.encode_utf8(&mut [0; 4]));
            if at + width > row.len() {
                return;
            }
            if width == 0 {
                // A mark that stands on the character before it.
                if let Some(Some(before)) = at.checked_sub(1).and_then(|before| row.get_mut(before))
                {
                    before.push(letter);
                }
                continue;
            }
            row[at] = Some(letter.to_string());
            row[at + 1..at + width].fill(None);
            at += width;
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.cells {
            let line: String = row.iter().flatten().map(String::as_str).collect();
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Link, TaskNode};

    fn plan() -> (Plan, GraphFacts) {
        let mut tasks = ["audit", "api", "絵文字", "keys"]
            .map(|id| TaskNode::new(id, "Freeze the API"))
            .to_vec();
        tasks[1].dependencies = vec![Link::finish_to_start("audit")];
        tasks[2].dependencies = vec![Link::finish_to_start("api"), Link::finish_to_start("keys")];
        let facts = resolve(&tasks, |_| true).unwrap().facts(&tasks);
        (Plan { tasks, ..Plan::default() }, facts)
    }

    fn text_of(chips: bool) -> String {
        let (plan, facts) = plan();
        let graph = edges_of(&plan, &facts);
        let args = GraphArgs {
            plan: None,
            controller: false,
            format: ControllerFormat::Mermaid,
            stats: false,
            chips,
            down: false,
            ascii: false,
        };
        super::drawn(&plan, &facts, &graph, &layout(&graph), &args)
    }

    #[test]
    fn a_plan_is_drawn_as_text() {
        insta::assert_snapshot!("boxes", text_of(false));
        insta::assert_snapshot!("chips", text_of(true));
    }

    #[test]
    fn every_line_is_as_wide_as_it_looks() {
        let text = text_of(false);
        let widest = text.lines().map(display_width).max().unwrap();
        assert!(text.lines().all(|line| display_width(line) <= widest));
        assert!(text.contains("絵文字"));
    }
}
