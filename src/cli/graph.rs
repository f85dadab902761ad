//! `planwright graph`: a plan drawn on standard output, or figures about its drawing.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::graph_canvas::TextCanvas;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{self, App};
use crate::plan_source::read_plan_outline;
use planwright_drafting::controller::diagram;
use planwright_layout::drawing::{
    BoxSize, DrawingMarks, FlowDirection, GraphDrawing, Viewport, Zoom, ascii_glyph,
};
use planwright_layout::{Layout, LayoutGraph, layout_graph};
use planwright_model::event::{Event, PlanningEvent};
use planwright_model::{GraphFacts, Plan, RunKind, Seq, TaskNode};
use planwright_plan::graph::resolve_graph;
use planwright_text::{clean_line, display_width, shorten_titles, truncate_end, units, wrap_words};

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
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
    /// Draw one line for each task instead of boxes
    #[arg(long)]
    chips: bool,
    /// Draw from the top down
    #[arg(long)]
    down: bool,
    /// Columns to draw in; those of the terminal if it is one, else 100
    #[arg(long, value_name = "COLUMNS")]
    width: Option<u16>,
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
struct DrawingStats {
    nodes: usize,
    edges: usize,
    layers: usize,
    crossings: u64,
    layout_ms: f64,
}

pub(super) fn execute_graph(shared: &SharedArgs, args: &GraphArgs) -> anyhow::Result<CliExit> {
    let named = args.plan.as_deref();
    if args.controller {
        return draw_controller(shared, named, args.format);
    }
    let (plan, facts) = load_plan(shared, named.unwrap_or_default())?;
    let graph = build_graph(&plan, &facts);
    let started = Instant::now();
    let placed = layout_graph(&graph);
    let layout_ms = started.elapsed().as_secs_f64() * 1_000.0;
    let mut out = StdoutWriter::new();
    if args.stats {
        let stats = DrawingStats {
            nodes: plan.tasks.len(),
            edges: graph.edges().len(),
            layers: placed.layers.len(),
            crossings: placed.crossings,
            layout_ms: (layout_ms * 1_000.0).round() / 1_000.0,
        };
        return print_stats(&mut out, &stats, shared.json);
    }
    let columns = args.width.unwrap_or_else(output_columns);
    let drawing = NamedDrawing::new(&plan, &facts, &graph, &placed, args, columns);
    drawing.require_drawable()?;
    drawing.write_bands(CELLS_AT_ONCE, |text| {
        if args.ascii {
            let text: String = text.chars().map(ascii_glyph).collect();
            return Ok(out.write_text(&text)?);
        }
        Ok(out.write_text(text)?)
    })?;
    Ok(CliExit::Success)
}

/// The controller's table, with the rows that a session went through.
fn draw_controller(
    shared: &SharedArgs,
    session: Option<&str>,
    format: ControllerFormat,
) -> anyhow::Result<CliExit> {
    let mut walked = BTreeSet::new();
    if let Some(name) = session {
        let app = App::settings_only(shared)?;
        let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(name)) };
        let id = app::find_session(&store, name)?;
        let mut history = app::session_history(&store, &id)?;
        let head = history.head_seq()?;
        let mut seq = Seq::START;
        while seq < head {
            seq = seq.next();
            let Some(record) = history.record_at(seq)? else { break };
            if let Event::Planning(PlanningEvent::Moved { row, .. }) = &record.event {
                walked.insert(row.clone());
            }
        }
    }
    let text = match format {
        ControllerFormat::Mermaid => diagram::render_mermaid(&walked),
        ControllerFormat::Dot => diagram::render_dot(&walked),
    };
    StdoutWriter::new().write_text(&text)?;
    Ok(CliExit::Success)
}

fn print_stats(
    out: &mut StdoutWriter,
    stats: &DrawingStats,
    json: bool,
) -> anyhow::Result<CliExit> {
    let text = if json {
        format!("{}\n", serde_json::to_string(stats)?)
    } else {
        format!(
            "{} nodes, {} edges, {} layers, {} crossings, laid out in {:.3} ms\n",
            stats.nodes, stats.edges, stats.layers, stats.crossings, stats.layout_ms
        )
    };
    out.write_text(&text)?;
    Ok(CliExit::Success)
}

/// A file if there is one of this name, else a session.
fn load_plan(shared: &SharedArgs, name: &str) -> anyhow::Result<(Plan, GraphFacts)> {
    let path = Path::new(name);
    if path.exists() {
        let read = read_plan_outline(path).map_err(|error| super::run::plan_problem(&error))?;
        let resolved = resolve_graph(&read.plan.tasks, |_| true).map_err(|cycle| {
            CliProblem::failed(format!("{name}: tasks wait for each other: {cycle}")).with_remedy(
                format!("take one of these out; planwright check {name} names the lines"),
            )
        })?;
        let facts = resolved.to_facts(&read.plan.tasks);
        return Ok((read.plan, facts));
    }
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else { return Err(app::unknown_session_error(name)) };
    let id = app::find_session(&store, name)?;
    let mut history = app::session_history(&store, &id)?;
    let head = history.head_seq()?;
    let state = history.state_at(head)?;
    let Some(current) = &state.plan.current else {
        return Err(CliProblem::failed(format!("session {} has no plan yet", id.short_id()))
            .with_remedy(format!("resume it: planwright resume {}", id.short_id()))
            .into());
    };
    Ok(((*current.plan).clone(), (*current.facts).clone()))
}

fn build_graph(plan: &Plan, facts: &GraphFacts) -> LayoutGraph {
    let index: HashMap<_, u32> = plan.tasks.iter().map(|task| &task.id).zip(0..).collect();
    let mut edges = Vec::new();
    for (to, task) in (0..).zip(&plan.tasks) {
        let sources = task.dependencies.iter().filter_map(|link| index.get(&link.task));
        edges.extend(sources.map(|from| (*from, to)));
    }
    let steps = path_steps(plan, facts);
    let straight: Vec<u32> =
        (0..).zip(&edges).filter(|(_, edge)| steps.contains(edge)).map(|(edge, _)| edge).collect();
    LayoutGraph::new(plan.tasks.len() as u32, edges).prefer_straight(straight)
}

/// How many cells of a drawing are put together at once, and how many a drawing may have. What is larger fills no screen
/// and no file that anybody could look at.
const CELLS_AT_ONCE: i64 = 1 << 20;
const MOST_CELLS: i64 = 100_000_000;

/// Columns of a box, the best first; of a line for each task.
const BOX_COLUMNS: [u16; 4] = [34, 28, 23, 19];
const LINE_COLUMNS: [u16; 4] = [44, 32, 22, 14];
/// Columns of a drawing that goes to a file or another program.
const USUAL_COLUMNS: u16 = 100;

/// The columns of the terminal, or what a file gets.
fn output_columns() -> u16 {
    use std::io::IsTerminal as _;
    let terminal = std::io::stdout().is_terminal().then(crossterm::terminal::size);
    terminal.and_then(Result::ok).map_or(USUAL_COLUMNS, |(columns, _)| columns.max(20))
}

/// A drawing and what stands in its boxes.
struct NamedDrawing<'a> {
    drawing: GraphDrawing,
    plan: &'a Plan,
    /// The titles as lines show them; boxes wrap the whole ones.
    short: Vec<String>,
    critical_nodes: Vec<bool>,
    critical_edges: Vec<bool>,
}

impl<'a> NamedDrawing<'a> {
    fn new(
        plan: &'a Plan,
        facts: &GraphFacts,
        graph: &LayoutGraph,
        placed: &Layout,
        args: &GraphArgs,
        columns: u16,
    ) -> Self {
        let titles: Vec<String> = plan.tasks.iter().map(task_title).collect();
        let (drawing, short) = fit_drawing(&titles, placed, args, columns);
        let on_path: HashSet<_> = facts.critical_path.iter().collect();
        let steps = path_steps(plan, facts);
        Self {
            drawing,
            plan,
            short,
            critical_nodes: plan.tasks.iter().map(|task| on_path.contains(&task.id)).collect(),
            critical_edges: graph.edges().iter().map(|edge| steps.contains(edge)).collect(),
        }
    }

    fn require_drawable(&self) -> anyhow::Result<()> {
        let (columns, rows) = (self.drawing.width, self.drawing.height);
        if i64::from(columns) * i64::from(rows) <= MOST_CELLS {
            return Ok(());
        }
        let what =
            format!("the drawing would have {columns} columns and {rows} rows, too many to draw");
        Err(CliProblem::failed(what)
            .with_remedy("--chips draws it smaller, --stats prints its figures; the screen shows it in parts")
            .into())
    }

    /// Writes the drawing from top to bottom, in bands of a size that memory does not notice.
    fn write_bands(
        &self,
        cells_at_once: i64,
        mut write: impl FnMut(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (width, height) = (self.drawing.width, self.drawing.height);
        let rows = (cells_at_once / i64::from(width.max(1))).clamp(1, i64::from(height.max(1)));
        let mut top = 0;
        while top < height {
            let band = Viewport { x: 0, y: top, w: width, h: (rows as i32).min(height - top) };
            write(&self.render_band(band))?;
            top += band.h;
        }
        Ok(())
    }

    fn render_band(&self, view: Viewport) -> String {
        let mut page = TextCanvas::new(view);
        let marks = DrawingMarks {
            critical_nodes: &self.critical_nodes,
            critical_edges: &self.critical_edges,
            ..DrawingMarks::default()
        };
        for cell in self.drawing.cells_in(view, &marks) {
            page.put_glyph(cell.x, cell.y, cell.glyph);
        }
        for at in self.drawing.boxes_in(view) {
            let task = &self.plan.tasks[at.node as usize];
            if at.h == 1 {
                page.put_text(at.x + 1, at.y, &self.short[at.node as usize]);
                continue;
            }
            let room = (at.w - 4).max(1) as usize;
            let time = estimate_text(task, room.saturating_sub(2));
            if !time.is_empty() {
                page.put_text(at.x + 2, at.y, &format!(" {time} "));
            }
            let worker = truncate_end(worker_text(task), room.saturating_sub(2)).into_owned();
            page.put_text(at.x + 2, at.y + at.h - 1, &format!(" {worker} "));
            for (line, y) in
                title_lines(&task_title(task), room, (at.h - 2) as usize).iter().zip(at.y + 1..)
            {
                page.put_text(at.x + 2, y, line);
            }
        }
        page.to_text()
    }
}

/// The largest drawing that fits: boxes, then lines, each across if that fits, else folded into rows. What was asked
/// for goes first, and what fits nowhere is drawn as narrow as it can be.
fn fit_drawing(
    titles: &[String],
    placed: &Layout,
    args: &GraphArgs,
    columns: u16,
) -> (GraphDrawing, Vec<String>) {
    let fits = |drawing: &GraphDrawing| drawing.width <= i32::from(columns);
    let widest = titles.iter().map(|title| display_width(title)).max().unwrap_or(0) as u16;
    let across = if args.down { FlowDirection::Down } else { FlowDirection::Right };
    let boxes = BOX_COLUMNS.map(|w| (Zoom::Boxes, w.min(widest + 4).max(BOX_COLUMNS[3])));
    let lines = LINE_COLUMNS.map(|w| (Zoom::Chips, w.min(widest + 2)));
    let sizes = if args.chips { lines.to_vec() } else { [boxes, lines].concat() };
    for fold in [false, true] {
        for (zoom, w) in &sizes {
            // A line for each task is better across than boxes in rows only if nothing else fits.
            if !fold && *zoom == Zoom::Chips && !args.chips {
                continue;
            }
            let (extents, short) = node_sizes(titles, *zoom, *w);
            let drawing = if fold {
                GraphDrawing::folded(placed, &extents, *zoom, i32::from(columns))
            } else {
                Some(GraphDrawing::new(placed, &extents, *zoom, across)).filter(fits)
            };
            if let Some(drawing) = drawing {
                return (drawing, short);
            }
        }
    }
    let (extents, short) = node_sizes(titles, Zoom::Chips, LINE_COLUMNS[3]);
    (GraphDrawing::new(placed, &extents, Zoom::Chips, FlowDirection::Down), short)
}

/// The size of every box or line of so many columns, and the titles that fit a line.
fn node_sizes(titles: &[String], zoom: Zoom, columns: u16) -> (Vec<BoxSize>, Vec<String>) {
    if zoom != Zoom::Chips {
        return (vec![BoxSize { w: columns, h: 4 }; titles.len()], Vec::new());
    }
    let names: Vec<&str> = titles.iter().map(String::as_str).collect();
    let short = shorten_titles(&names, usize::from(columns.saturating_sub(2)).max(1));
    let short: Vec<String> = short.into_iter().map(std::borrow::Cow::into_owned).collect();
    let size = |title: &String| BoxSize { w: display_width(title) as u16 + 2, h: 1 };
    (short.iter().map(size).collect(), short)
}

fn task_title(task: &TaskNode) -> String {
    let title = clean_line(&task.description);
    let title = if title.trim().is_empty() { clean_line(task.id.as_str()) } else { title };
    title.into_owned()
}

fn worker_text(task: &TaskNode) -> &str {
    if let Some(owner) = task.other_owner() {
        return owner;
    }
    match &task.run {
        RunKind::Agent(run) => run.worker_title(),
        RunKind::Shell(_) => "command",
        RunKind::Human {} => "you",
    }
}

fn estimate_text(task: &TaskNode, room: usize) -> String {
    let Some(minutes) = task.duration_minutes.filter(|minutes| *minutes > 0) else {
        return String::new();
    };
    let short = units::format_planned(u64::from(minutes));
    let long = format!("about {short}");
    if long.len() <= room { long } else { short }
}

/// A title in at most so many lines; what is left of it is cut off in the last one.
fn title_lines(title: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> =
        wrap_words(title, columns, 0).into_iter().map(std::borrow::Cow::into_owned).collect();
    if lines.len() > most && most > 0 {
        let rest = lines.split_off(most - 1).join(" ");
        lines.push(truncate_end(&rest, columns).into_owned());
    }
    lines
}

/// The steps of the critical path, by the places of their tasks in the plan.
fn path_steps(plan: &Plan, facts: &GraphFacts) -> HashSet<(u32, u32)> {
    let places: HashMap<_, u32> = plan.tasks.iter().map(|task| &task.id).zip(0..).collect();
    let path: Vec<u32> =
        facts.critical_path.iter().filter_map(|id| places.get(id).copied()).collect();
    path.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::TaskLink;

    fn plan() -> (Plan, GraphFacts) {
        let mut tasks = [
            ("audit", "Sort the open issues"),
            ("api", "Freeze the public API for everybody who uses it"),
            ("words", "絵文字"),
            ("keys", "Renew the signing key"),
        ]
        .map(|(id, title)| TaskNode::new(id, title))
        .to_vec();
        tasks[0].duration_minutes = Some(90);
        tasks[1].dependencies = vec![TaskLink::finish_to_start("audit")];
        tasks[2].dependencies =
            vec![TaskLink::finish_to_start("api"), TaskLink::finish_to_start("keys")];
        tasks[3].run = RunKind::Human {};
        let facts = resolve_graph(&tasks, |_| true).unwrap().to_facts(&tasks);
        (Plan { tasks, ..Plan::default() }, facts)
    }

    fn arguments(chips: bool) -> GraphArgs {
        GraphArgs {
            plan: None,
            controller: false,
            format: ControllerFormat::Mermaid,
            stats: false,
            chips,
            down: false,
            width: None,
            ascii: false,
        }
    }

    fn text_of(chips: bool) -> String {
        text_in(chips, CELLS_AT_ONCE, 100)
    }

    fn text_in(chips: bool, cells_at_once: i64, columns: u16) -> String {
        let (plan, facts) = plan();
        let graph = build_graph(&plan, &facts);
        let args = arguments(chips);
        let drawing =
            NamedDrawing::new(&plan, &facts, &graph, &layout_graph(&graph), &args, columns);
        let mut text = String::new();
        let mut add = |part: &str| {
            text.push_str(part);
            Ok(())
        };
        drawing.write_bands(cells_at_once, &mut add).unwrap();
        text
    }

    #[test]
    fn a_drawing_in_bands_is_the_drawing_as_a_whole() {
        for chips in [false, true] {
            let whole = text_in(chips, i64::MAX, 100);
            for cells in [1, 40, 150, 700] {
                assert_eq!(text_in(chips, cells, 100), whole, "{cells} cells at once");
            }
        }
    }

    #[test]
    fn a_drawing_that_nobody_could_look_at_is_refused_with_its_size() {
        let (plan, facts) = plan();
        let graph = build_graph(&plan, &facts);
        let args = arguments(false);
        let placed = layout_graph(&graph);
        let mut drawing = NamedDrawing::new(&plan, &facts, &graph, &placed, &args, 100);
        drawing.require_drawable().unwrap();
        (drawing.drawing.width, drawing.drawing.height) = (60_000, 4_000);
        let error = drawing.require_drawable().unwrap_err().to_string();
        assert!(error.contains("60000 columns and 4000 rows"), "{error}");
    }

    #[test]
    fn a_plan_is_drawn_as_text() {
        insta::assert_snapshot!("boxes", text_of(false));
        insta::assert_snapshot!("chips", text_of(true));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        insta::assert_snapshot!("folded", text_in(false, CELLS_AT_ONCE, 60));
        for columns in [24, 30, 40, 60, 80, 100, 120] {
            for chips in [false, true] {
                let text = text_in(chips, CELLS_AT_ONCE, columns);
                let widest = text.lines().map(display_width).max().unwrap();
                assert!(widest <= usize::from(columns), "{columns}:\n{text}");
            }
        }
    }

    #[test]
    fn every_line_is_as_wide_as_it_looks() {
        let text = text_of(false);
        let widest = text.lines().map(display_width).max().unwrap();
        assert!(text.lines().all(|line| display_width(line) <= widest));
        assert!(text.contains("絵文字"));
    }
}
