//! Draws the visible part of the graph.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::cache::GraphCache;
use super::content;
use super::groups::GraphNode;
use crate::clock::add_duration;
use crate::glyphs::task_glyph;
use crate::keymap::KeyAction;
use crate::pane_context::{Pane, PaneContext};
use crate::screen_areas::ScreenAreas;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, format_counted, styled_piece};
use planwright_layout::drawing::{
    CellRole as Part, DrawingMarks, GraphDrawing, PlacedBox, Viewport, Zoom,
};
use planwright_state::{RunPhase, SessionState, TaskCounts};
use planwright_text::{truncate_end, units, wrap_words};

/// Cells kept free around a selection that is brought into view.
const MARGIN: i32 = 2;
/// Cells at the left of a drawing that fits.
const AIR: i32 = 1;
/// The overview in the corner of a graph that is larger than its pane.
const MINIMAP: (u16, u16) = (16, 4);

/// The graph pane.
pub(crate) struct GraphPane;

impl Pane for GraphPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        draw_rule(area, buf, cx);
        let body = graph_body(area, &cx.areas);
        let Some(drawing) = cx.graph.drawing() else {
            return draw_empty(body, buf, cx);
        };
        GraphPainter { drawing, cx, body, view: cx.graph.view }.paint(buf);
        draw_selection(area, buf, cx);
    }
}

/// The part of the pane that the drawing has.
pub(crate) fn graph_body(area: Rect, areas: &ScreenAreas) -> Rect {
    let top = u16::from(areas.tabs.is_empty()).min(area.height);
    let bottom = u16::from(area.height > top + 2);
    Rect { y: area.y + top, height: area.height - top - bottom, ..area }
}

impl GraphCache {
    /// Settles which part of the drawing is shown; the offset moves only as far as the selection needs.
    pub(crate) fn update_viewport(
        &mut self,
        body: Rect,
        offset: &mut (i32, i32),
        reveal: Option<u32>,
    ) {
        let Some(drawing) = self.drawing() else { return };
        let (width, height) = (i32::from(body.width), i32::from(body.height));
        if let Some(found) = reveal.and_then(|node| drawing.box_of(node)) {
            offset.0 = scroll_into_view(offset.0, width, found.x, found.w);
            offset.1 = scroll_into_view(offset.1, height, found.y, found.h);
        }
        offset.0 = clamp_offset(offset.0, width, drawing.width, AIR);
        offset.1 = clamp_offset(offset.1, height, drawing.height, 0);
        self.view = Viewport { x: offset.0, y: offset.1, w: width, h: height };
    }
}

/// Moves a view as little as possible so that it shows a span with some air. What is far away is shown in the middle,
/// with what is around it.
fn scroll_into_view(offset: i32, room: i32, at: i32, size: i32) -> i32 {
    let air = MARGIN.min((room - size).max(0) / 2);
    let moved = offset.max(at + size + air - room).min(at - air);
    if (moved - offset).abs() > room / 2 && size < room { at - (room - size) / 2 } else { moved }
}

/// Keeps a view on the drawing. One that fits whole stands still, a margin from the edge.
fn clamp_offset(offset: i32, room: i32, size: i32, margin: i32) -> i32 {
    if size + margin <= room {
        -margin
    } else if size <= room {
        0
    } else {
        offset.clamp(0, size - room)
    }
}

fn draw_rule(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    // The tab says what the rule would.
    if !cx.areas.tabs.is_empty() {
        return;
    }
    let (kind, style) = cx.rule_style(PaneFocus::Graph);
    let name = match graph_summary(cx) {
        how if how.is_empty() => "graph".to_owned(),
        how => format!("graph · {how}"),
    };
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, style)],
        &[styled_piece(graph_facts(cx), style)],
    );
}

/// How the graph is looked at where that is not the usual way, as the rule and the tab row say it.
pub(crate) fn graph_summary(cx: &PaneContext<'_>) -> String {
    if cx.graph.is_layout_deferred() {
        return "laying it out".to_owned();
    }
    let folded = match cx.graph.folded_groups() {
        0 => String::new(),
        count => format!("{} folded", format_counted(count, "group")),
    };
    let past = if cx.mode.is_past() { "as it was" } else { "" };
    let parts = [folded.as_str(), past];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// What is left and when it ends, or how much there is, as the rule says it.
pub(crate) fn graph_facts(cx: &PaneContext<'_>) -> String {
    let Some(revision) = &cx.state.plan.current else { return String::new() };
    if cx.mode.is_past() {
        return progress_text(cx);
    }
    let work = cx.state.tasks.work_counts().total() as usize;
    let tasks = if work > 0 { work } else { revision.plan.tasks.len() };
    let tasks = format_counted(tasks, "task");
    // People work by the calendar, not by the clock.
    if cx.state.tasks.is_persons_plan() {
        let until = cx.next_task.until().map(|until| format!(" · until {until}"));
        return format!("{tasks}{}", until.unwrap_or_default());
    }
    let left = content::longest_path_left(cx.state, cx.now).filter(|left| *left > 0);
    let Some(left) = left else { return tasks };
    let words = units::format_planned(left);
    match expected_end(cx) {
        Some(end) => format!("longest path: {words} left, {end}"),
        None => format!("heavy line: longest path, {words}"),
    }
}

/// `done about 14:36`, while it runs.
pub(crate) fn expected_end(cx: &PaneContext<'_>) -> Option<String> {
    // A plan with dates ends on its own day, which is on the plan.
    let has_dates = cx.state.planning.schedule.is_some();
    if cx.state.run.phase != RunPhase::Running || cx.mode.is_past() || has_dates {
        return None;
    }
    let left = content::longest_path_left(cx.state, cx.now).filter(|left| *left > 0)?;
    let end = add_duration(cx.now, std::time::Duration::from_secs(left * 60));
    let today = crate::clock::local_date(cx.wall_clock, cx.time_zone);
    // A guess in minutes has no seconds.
    let moment = end.to_zoned(cx.time_zone.clone()).datetime();
    Some(format!("done about {}", planwright_text::dates::format_near_date_time(moment, today)))
}

/// How far a run was at the moment that is shown, and what it had cost.
fn progress_text(cx: &PaneContext<'_>) -> String {
    let counts = cx.state.tasks.work_counts();
    let done = units::format_part(counts.done as usize, counts.total() as usize);
    let totals = &cx.state.totals;
    let mut parts = vec![format!("{done} done")];
    if totals.tokens > 0 {
        parts.push(format!("{} tokens", units::format_whole_tokens(totals.tokens)));
    }
    if totals.cost.0 > 0 {
        parts.push(totals.cost.to_string());
    }
    parts.join(" · ")
}

fn draw_empty(body: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let row = Rect { y: body.y + body.height / 3, height: 1, ..body };
    if row.y >= body.bottom() {
        return;
    }
    let text = match cx.mode.is_past() {
        _ if cx.graph.is_layout_deferred() => "laying it out".to_owned(),
        true => "No plan at this moment.".to_owned(),
        false if cx.state.desk.is_ticket() => {
            let agent = planwright_text::clean_line(cx.state.desk.agent_name());
            format!("{agent} asks without a plan.")
        }
        false => "No plan yet. It appears here once it is drafted.".to_owned(),
    };
    ScreenLine::new(buf, row).skip(2).put(&text, cx.style(ThemeRole::Dim));
}

/// The line about the selected task, at the bottom of the pane.
pub(crate) fn draw_selection(area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if area.height < 4 {
        return;
    }
    let row = Rect { y: area.bottom() - 1, height: 1, ..area };
    let Some(task) = selected_task(cx) else { return draw_selected_group(row, buf, cx) };
    let (_, role) = task_glyph(cx.state, task);
    let mut line = ScreenLine::new(buf, row);
    line.skip(1).put(content::title_of(cx.state, task), cx.theme.bold_style(role));
    let room = line.cells_left();
    for fact in content::task_facts(cx.state, task, room) {
        if line.cells_left() > 8 {
            line.skip(3).put(&fact, cx.style(ThemeRole::Dim));
        }
    }
}

/// The line about a folded group: how much is in it, how far it is, and how it is opened.
fn draw_selected_group(row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let node = selected_node(cx).and_then(|node| cx.graph.node(node));
    let Some(GraphNode::Group { title, tasks, .. }) = node else { return };
    let counts = group_counts(tasks, cx.state);
    let role = group_glyph(&counts).1;
    let dim = cx.style(ThemeRole::Dim);
    let mut line = ScreenLine::new(buf, row);
    line.skip(1).put(&planwright_text::clean_line(title), cx.theme.bold_style(role));
    line.skip(3).put(&format_counted(tasks.len(), "task"), dim);
    let named = [
        (counts.failed, "failed"),
        (counts.running, "running"),
        (counts.yours, "yours"),
        (counts.done, "done"),
        (counts.skipped, "skipped"),
        (counts.pending, "waiting"),
    ];
    for (count, word) in named.into_iter().filter(|(count, _)| *count > 0) {
        line.skip(3).put(&format!("{count} {word}"), dim);
    }
    line.skip(3).put(&format!("{} unfolds", cx.keymap.key_hint(KeyAction::Open)), dim);
}

/// The box of what is selected: of its task, or of the folded group.
pub(crate) fn selected_node(cx: &PaneContext<'_>) -> Option<u32> {
    let id = cx.ui.graph.selected.as_ref()?;
    cx.graph.node_of(id, cx.state.tasks.position(id))
}

/// How many tasks of a group are in which state.
fn group_counts(tasks: &[usize], state: &SessionState) -> TaskCounts {
    let mut counts = TaskCounts::default();
    for task in tasks.iter().filter(|task| **task < state.tasks.len()) {
        counts.add_task(state.tasks.row(*task).status);
    }
    counts
}

/// What stands for a group: the state of the task that needs a look most.
fn group_glyph(counts: &TaskCounts) -> (char, ThemeRole) {
    match counts {
        counts if counts.failed > 0 => ('✗', ThemeRole::Failed),
        counts if counts.running > 0 => ('►', ThemeRole::Running),
        counts if counts.yours > 0 => ('@', ThemeRole::Yours),
        counts if counts.total() > 0 && counts.done == counts.total() => ('✓', ThemeRole::Done),
        counts if counts.skipped > 0 && counts.pending == 0 => ('»', ThemeRole::Skipped),
        _ => ('·', ThemeRole::Waiting),
    }
}

/// Where the selected task stands in the plan.
pub(crate) fn selected_task(cx: &PaneContext<'_>) -> Option<usize> {
    cx.ui.graph.selected.as_ref().and_then(|id| cx.state.tasks.position(id))
}

struct GraphPainter<'a, 'b> {
    drawing: &'a GraphDrawing,
    cx: &'a PaneContext<'b>,
    body: Rect,
    view: Viewport,
}

impl GraphPainter<'_, '_> {
    fn paint(&self, buf: &mut Buffer) {
        let placed = self.cx.graph.revision_layout();
        let selected = selected_node(self.cx);
        let marks = DrawingMarks {
            selected,
            critical_nodes: placed.map_or(&[], |placed| &placed.critical_nodes),
            critical_edges: placed.map_or(&[], |placed| &placed.critical_edges),
            lit_edges: placed.map_or(&[], |placed| &placed.lit_edges),
        };
        for cell in self.drawing.cells_in(self.view, &marks) {
            if let Some(at) = self.screen_cell(cell.x, cell.y) {
                buf[at].set_char(cell.glyph).set_style(self.part_style(cell.role));
            }
        }
        self.draw_names(buf);
        for found in self.drawing.boxes_in(self.view) {
            match self.cx.graph.zoom {
                Zoom::Boxes => self.draw_box(found, buf),
                Zoom::Chips => self.draw_chip(found, selected == Some(found.node), buf),
                Zoom::Dots => self.draw_dot(found, selected == Some(found.node), buf),
            }
        }
        self.draw_minimap(buf);
    }

    /// What links are called that are not simply "after", on their lines.
    fn draw_names(&self, buf: &mut Buffer) {
        let Some(placed) = self.cx.graph.revision_layout() else { return };
        for name in &self.drawing.names {
            let Some(text) = placed.link_names.get(name.edge as usize) else { continue };
            let lit = placed.lit_edges.get(name.edge as usize) == Some(&true);
            let style = self.cx.style(if lit { ThemeRole::Focus } else { ThemeRole::Dim });
            if let Some((area, cut)) = self.text_row(name.x, name.y, name.w) {
                ClippedRow { area, cut, width: name.w }.draw(buf, |line| {
                    line.put(text, style);
                });
            }
        }
    }

    /// The cell of the screen for a cell of the drawing, if it is in view.
    fn screen_cell(&self, x: i32, y: i32) -> Option<(u16, u16)> {
        let (column, row) = (x - self.view.x, y - self.view.y);
        let inside = (0..self.view.w).contains(&column) && (0..self.view.h).contains(&row);
        inside.then(|| (self.body.x + column as u16, self.body.y + row as u16))
    }

    fn part_style(&self, part: Part) -> Style {
        match part {
            Part::Edge => self.cx.style(ThemeRole::Edge),
            Part::Critical => self.cx.style(ThemeRole::EdgeCritical),
            Part::Lit => self.cx.style(ThemeRole::Focus),
            Part::Frame(node) => self.frame_style(node),
        }
    }

    fn frame_style(&self, node: u32) -> Style {
        match self.cx.graph.node(node) {
            Some(GraphNode::Task(task)) if *task < self.cx.state.tasks.len() => {
                self.cx.style(task_glyph(self.cx.state, *task).1)
            }
            Some(GraphNode::Group { tasks, .. }) => {
                self.cx.style(group_glyph(&group_counts(tasks, self.cx.state)).1)
            }
            _ => self.cx.style(ThemeRole::Edge),
        }
    }

    /// The task of a box; a folded group has none of its own.
    fn task_of(&self, found: &PlacedBox) -> Option<usize> {
        match self.cx.graph.node(found.node) {
            Some(GraphNode::Task(task)) if *task < self.cx.state.tasks.len() => Some(*task),
            _ => None,
        }
    }

    /// The glyph of a task: its status, or what changed about it while a plan is asked about.
    fn node_glyph(&self, task: usize) -> (char, ThemeRole) {
        let asked = self.cx.ui.focus == PaneFocus::Approval && !self.cx.mode.is_past();
        let sign = self.cx.card.change_sign(self.cx.state.tasks.id(task).as_str());
        match sign.filter(|_| asked && self.cx.state.run.phase == RunPhase::Idle) {
            Some('+') => ('+', ThemeRole::DiffAdded),
            Some('>') => ('>', ThemeRole::DiffMoved),
            Some(_) => ('~', ThemeRole::DiffChanged),
            None => task_glyph(self.cx.state, task),
        }
    }

    /// Whether a task is marked or locked by the person.
    fn node_flag(&self, task: usize) -> Option<(&'static str, Style)> {
        let id = self.cx.state.tasks.id(task);
        if self.cx.ui.marks.contains(id) {
            return Some(("*", self.cx.theme.bold_style(ThemeRole::Focus)));
        }
        let locked = self.cx.state.planning.locked.contains(id);
        locked.then(|| ("#", self.cx.style(ThemeRole::Warn)))
    }

    /// A row of text inside a box. The part that is out of view is not drawn.
    fn text_row(&self, x: i32, y: i32, width: i32) -> Option<(Rect, i32)> {
        let (first, last) = (x.max(self.view.x), (x + width).min(self.view.x + self.view.w));
        let (column, row) = self.screen_cell(first, y).filter(|_| first < last)?;
        Some((Rect::new(column, row, (last - first) as u16, 1), first - x))
    }

    fn draw_box(&self, found: &PlacedBox, buf: &mut Buffer) {
        if let Some(GraphNode::Group { title, tasks, .. }) = self.cx.graph.node(found.node) {
            return self.draw_group_box(found, title, tasks, buf);
        }
        let Some(task) = self.task_of(found) else { return };
        let Some(node) =
            self.cx.state.plan.current.as_ref().and_then(|plan| plan.plan.tasks.get(task))
        else {
            return;
        };
        let row = self.cx.state.tasks.row(task);
        let (glyph, role) = self.node_glyph(task);
        let style = self.cx.style(role);
        if let (Some((flag, style)), Some(at)) =
            (self.node_flag(task), self.screen_cell(found.x + 1, found.y + 1))
        {
            buf[at].set_symbol(flag).set_style(style);
        }
        // On the frame, air at both sides: status and time above, who does it below.
        let room = (found.w - 8).max(0) as usize;
        let time = content::task_time(node, row, self.cx.now, room);
        let above = format!(" {glyph} {time}{}", if time.is_empty() { "" } else { " " });
        self.draw_on_frame(found, found.y, &above, style, buf);
        let worker = format!(" {} ", truncate_end(content::task_worker(node), room + 2));
        self.draw_on_frame(found, found.y + found.h - 1, &worker, style, buf);
        self.draw_box_title(found, content::title_of(self.cx.state, task), buf);
    }

    /// A folded group: how much of it is done above, how many tasks there are below.
    fn draw_group_box(&self, found: &PlacedBox, title: &str, tasks: &[usize], buf: &mut Buffer) {
        let counts = group_counts(tasks, self.cx.state);
        let (glyph, role) = group_glyph(&counts);
        let style = self.cx.style(role);
        let above = format!(" {glyph} {} of {} done ", counts.done, tasks.len());
        self.draw_on_frame(found, found.y, &above, style, buf);
        let below = format!(" {} ", format_counted(tasks.len(), "task"));
        self.draw_on_frame(found, found.y + found.h - 1, &below, style, buf);
        self.draw_box_title(found, &format!("▸ {title}"), buf);
    }

    fn draw_box_title(&self, found: &PlacedBox, title: &str, buf: &mut Buffer) {
        let width = found.w - 4;
        for (text, y) in title_lines(title, width as usize, (found.h - 2).max(1) as usize)
            .iter()
            .zip(found.y + 1..)
        {
            if let Some((area, cut)) = self.text_row(found.x + 2, y, width) {
                ClippedRow { area, cut, width }.draw(buf, |line| {
                    line.put(text, self.cx.style(ThemeRole::Text));
                });
            }
        }
    }

    /// Writes over the upper or lower side of a box.
    fn draw_on_frame(&self, found: &PlacedBox, y: i32, text: &str, style: Style, buf: &mut Buffer) {
        let width = (planwright_text::display_width(text) as i32).min(found.w - 3);
        if let Some((area, cut)) = self.text_row(found.x + 2, y, width) {
            ClippedRow { area, cut, width }.draw(buf, |line| {
                line.put(text, style);
            });
        }
    }

    fn draw_chip(&self, found: &PlacedBox, selected: bool, buf: &mut Buffer) {
        let task = self.task_of(found);
        let Some((glyph, role)) = self.box_glyph(found) else { return };
        let title = self.cx.graph.chip_title(found.node as usize);
        let Some((area, cut)) = self.text_row(found.x, found.y, found.w) else { return };
        ClippedRow { area, cut, width: found.w }.draw(buf, |line| {
            let style = self.cx.style(role);
            let text = self.cx.style(ThemeRole::Text);
            let flag = task.and_then(|task| self.node_flag(task));
            let focus = self.cx.theme.bold_style(ThemeRole::Focus);
            let (start, first) = if selected { ("[", focus) } else { flag.unwrap_or((" ", style)) };
            line.put(start, first).put(&format!("{glyph} "), style).put(title, text);
            if selected {
                let (end, last) = flag.unwrap_or(("]", focus));
                line.put(end, last);
            }
        });
    }

    /// The glyph of a box: of its task, or of the tasks in its group.
    fn box_glyph(&self, found: &PlacedBox) -> Option<(char, ThemeRole)> {
        match self.cx.graph.node(found.node)? {
            GraphNode::Task(_) => self.task_of(found).map(|task| self.node_glyph(task)),
            GraphNode::Group { tasks, .. } => {
                Some(group_glyph(&group_counts(tasks, self.cx.state)))
            }
        }
    }

    fn draw_dot(&self, found: &PlacedBox, selected: bool, buf: &mut Buffer) {
        let Some(at) = self.screen_cell(found.x, found.y) else { return };
        let Some((glyph, role)) = self.box_glyph(found) else { return };
        buf[at].set_char(glyph).set_style(self.cx.style(role));
        if selected {
            buf[at].set_style(self.cx.style(ThemeRole::Selection));
        }
    }

    /// The corner for the overview: the lower right one, unless the selected task stands there.
    fn free_corner(&self, width: u16, height: u16) -> Rect {
        let body = self.body;
        let (right, below) = (body.right() - width - 1, body.bottom() - height);
        let at = |x, y| Rect { x, y, width, height };
        let corners = [at(right, below), at(right, body.y), at(body.x + 1, below)];
        let selected = selected_node(self.cx).and_then(|node| self.drawing.box_of(node));
        let hides = |corner: &Rect| {
            selected.is_some_and(|found| {
                let left = found.x - self.view.x + i32::from(body.x);
                let top = found.y - self.view.y + i32::from(body.y);
                left <= i32::from(corner.right())
                    && left + found.w >= i32::from(corner.x) - 1
                    && top < i32::from(corner.bottom())
                    && top + found.h > i32::from(corner.y)
            })
        };
        corners.into_iter().find(|corner| !hides(corner)).unwrap_or(corners[0])
    }

    /// Shows where the view is in a drawing that is larger than the pane.
    fn draw_minimap(&self, buf: &mut Buffer) {
        let (width, height) = MINIMAP;
        let larger = self.drawing.width > self.view.w || self.drawing.height > self.view.h;
        if !larger || self.body.width < 4 * width || self.body.height < 3 * height {
            return;
        }
        let corner = self.free_corner(width, height);
        for y in corner.y..corner.bottom() {
            for x in corner.x.saturating_sub(1)..corner.right() {
                buf[(x, y)].reset();
            }
        }
        for cell in self.drawing.minimap_cells(width, height, self.view) {
            let role = if cell.in_view { ThemeRole::Focus } else { ThemeRole::Dim };
            let at = (corner.x + cell.x, corner.y + cell.y);
            buf[at].set_char(cell.glyph).set_style(self.cx.style(role));
        }
    }
}

/// Text that may be cut off at the left edge of the view: it is laid out whole and the visible part is copied.
struct ClippedRow {
    area: Rect,
    cut: i32,
    width: i32,
}

impl ClippedRow {
    fn draw(&self, buf: &mut Buffer, write: impl FnOnce(&mut ScreenLine<'_>)) {
        if self.cut == 0 && i32::from(self.area.width) == self.width {
            write(&mut ScreenLine::new(buf, self.area));
            return;
        }
        let mut whole = Buffer::empty(Rect::new(0, 0, self.width.max(0) as u16, 1));
        let area = whole.area;
        write(&mut ScreenLine::new(&mut whole, area));
        for column in 0..self.area.width {
            let from = &whole[(self.cut as u16 + column, 0)];
            // Half of a wide character cannot be shown.
            let wide = planwright_text::display_width(from.symbol()) > 1;
            let last = column + 1 == self.area.width;
            let to = &mut buf[(self.area.x + column, self.area.y)];
            if wide && last { to.set_symbol(" ") } else { to.set_symbol(from.symbol()) }
                .set_style(from.style());
        }
    }
}

/// A title in at most so many lines; what is left of it is cut off in the last one.
fn title_lines(title: &str, cols: usize, most: usize) -> Vec<String> {
    let clean = planwright_text::clean_line(title);
    let mut lines: Vec<String> =
        wrap_words(&clean, cols, 0).into_iter().map(std::borrow::Cow::into_owned).collect();
    if lines.len() > most {
        let rest = lines.split_off(most - 1).join(" ");
        lines.push(truncate_end(&rest, cols).into_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_is_cut_in_its_last_line() {
        let lines = title_lines("Write the migration guide for everybody", 15, 2);
        assert_eq!(lines, ["Write the", "migration guid…"]);
        assert_eq!(title_lines("Sort", 15, 2), ["Sort"]);
    }

    #[test]
    fn a_drawing_that_fits_stands_still() {
        assert_eq!(clamp_offset(5, 80, 40, 2), -2);
        assert_eq!(clamp_offset(5, 41, 40, 2), 0);
        assert_eq!(clamp_offset(-9, 30, 40, 2), 0);
        assert_eq!(clamp_offset(99, 30, 40, 2), 10);
    }

    #[test]
    fn a_view_moves_only_as_far_as_needed() {
        assert_eq!(scroll_into_view(0, 40, 10, 18), 0);
        assert_eq!(scroll_into_view(0, 40, 36, 18), 16);
        // What is far away comes into the middle.
        assert_eq!(scroll_into_view(0, 40, 50, 18), 39);
        assert_eq!(scroll_into_view(60, 40, 50, 18), 48);
        // A box wider than the view shows its left end.
        assert_eq!(scroll_into_view(0, 10, 50, 18), 50);
    }
}
