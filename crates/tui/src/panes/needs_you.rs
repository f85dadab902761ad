//! What waits for the person in a session: failures with their cause, questions, tasks of their own.

use std::time::Duration;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::clock::duration_between;
use crate::keymap::KeyAction;
use crate::pane_context::{Pane, PaneContext};
use crate::panes::graph::title_of;
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::widgets::{
    RuleKind, ScreenLine, draw_pane_rule, fit_clauses, format_counted, styled_piece,
};
use planwright_model::{Request, RequestId, RequestKind, Seq};
use planwright_state::{RunPhase, SessionState, SkipRoots, TaskStatus};
use planwright_text::{display_width, shorten_titles, units};

/// From so many columns on a row says everything it knows.
const ROOMY: u16 = 100;
/// The most rows the list takes.
pub(crate) const MOST_ROWS: usize = 5;

/// One thing that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NeedItem {
    /// A task that failed.
    Failure(usize),
    Request(RequestId),
    /// A task of the person's.
    Yours(usize),
}

/// What waits, worked out once for each event.
#[derive(Debug, Default)]
pub(crate) struct NeedsCache {
    seq: Option<Seq>,
    /// When the list has to be made again, because a task of the person's comes up then.
    next_start: Option<Timestamp>,
    pub(crate) items: Vec<NeedItem>,
    pub(crate) skips: SkipRoots,
}

impl NeedsCache {
    /// Looks at the tasks again if something happened.
    pub(crate) fn update(&mut self, state: &SessionState, now: Timestamp) {
        let is_current = self.next_start.is_none_or(|start| now < start);
        if self.seq == Some(state.seq) && is_current {
            return;
        }
        let counts = state.tasks.status_counts();
        let with_status = |count: u32, wanted: TaskStatus| {
            let all = if count == 0 { 0..0 } else { 0..state.tasks.len() };
            all.filter(move |task| state.tasks.row(*task).status == wanted)
        };
        let mut failed: Vec<usize> = with_status(counts.failed, TaskStatus::Failed).collect();
        failed.retain(|task| !state.tasks.is_tolerated(*task));
        failed.sort_by_key(|task| state.tasks.row(*task).finished_at);
        let mut items: Vec<NeedItem> = failed.into_iter().map(NeedItem::Failure).collect();
        items.extend(state.requests.open.keys().map(|id| NeedItem::Request(*id)));
        let yours: Vec<(usize, Option<Timestamp>)> = with_status(counts.yours, TaskStatus::Yours)
            .map(|task| (task, planned_start(state, task)))
            .collect();
        let (later, due): (Vec<_>, Vec<_>) =
            yours.into_iter().partition(|(_, start)| start.is_some_and(|start| start > now));
        items.extend(due.into_iter().map(|(task, _)| NeedItem::Yours(task)));
        let next_start = later.into_iter().filter_map(|(_, start)| start).min();
        let skips = SkipRoots::from_tasks(&state.tasks);
        *self = Self { seq: Some(state.seq), next_start, items, skips };
    }
}

/// When a task is planned to start, if its plan has dates.
fn planned_start(state: &SessionState, task: usize) -> Option<Timestamp> {
    let schedule = state.planning.schedule.as_deref()?;
    schedule.blocks_for_node(state.tasks.id(task)).map(|block| block.start.at).min()
}

/// How many tasks were skipped because of one, in words.
pub(crate) fn skipped_text(count: usize) -> String {
    format!("{} skipped because of it", format_counted(count, "task"))
}

/// Which tasks wait for one, in words; nothing if none does.
pub(crate) fn waiting_text(state: &SessionState, task: usize) -> String {
    let waiting: Vec<usize> = state
        .tasks
        .dependents(task)
        .filter(|next| state.tasks.row(*next).status == TaskStatus::Pending)
        .collect();
    match waiting[..] {
        [] => String::new(),
        [only] => format!("{} waits for it", title_of(state, only)),
        _ => format!("{} wait for it", format_counted(waiting.len(), "task")),
    }
}

/// The same in so many cells: the title that waits is shortened, not the sentence.
pub(crate) fn waiting_text_within(state: &SessionState, task: usize, cells: usize) -> String {
    const WAITS: &str = " waits for it";
    let text = waiting_text(state, task);
    match text.strip_suffix(WAITS).filter(|_| display_width(&text) > cells) {
        Some(title) => {
            let room = cells.saturating_sub(WAITS.len());
            let short = shorten_titles(&[title], room).concat();
            // Whole words that say which one it is are enough.
            let whole = short.strip_suffix(" …").or(short.strip_suffix('…')).map(|kept| {
                let whole = title.get(kept.len()..).is_some_and(|rest| rest.starts_with(' '));
                if whole { kept } else { kept.rsplit_once(' ').map_or(kept, |(words, _)| words) }
            });
            format!("{}{WAITS}", whole.unwrap_or(&short))
        }
        None => text,
    }
}

/// The pane.
pub(crate) struct NeedsYouPane;

impl Pane for NeedsYouPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let items = &cx.needs.items;
        if area.is_empty() || items.is_empty() {
            return;
        }
        if cx.class == SizeClass::Small {
            let (glyph, text, role, _) = item_text(items[0], area.width, cx);
            let mut line = ScreenLine::new(buf, Rect { height: 1, ..area });
            // The count stays whole; the words give way.
            if items.len() > 1 {
                let more = format!("  {} in all ", items.len());
                line.put_right(&[styled_piece(more, cx.style(ThemeRole::Dim))]);
            }
            let fitting = fit_clauses(&text, line.cells_left().saturating_sub(4));
            line.skip(1).put(&format!("{glyph} {fitting}"), cx.style(role));
            return;
        }
        let style = cx.style(ThemeRole::Rule);
        // After a search the key goes from match to match until the search is ended.
        let (key, words) = if cx.ui.trace.search.is_some() {
            (cx.keymap.key_hint(KeyAction::Back), " ends the search")
        } else {
            (cx.keymap.key_hint(KeyAction::NextHit), " opens the next")
        };
        draw_pane_rule(
            buf,
            area,
            RuleKind { focus: false, past: cx.mode.is_past() },
            style,
            &[styled_piece(format!("needs you {}", items.len()), style)],
            &[styled_piece(key, cx.style(ThemeRole::Key)), styled_piece(words, style)],
        );
        let rows = usize::from(area.height - 1);
        let shown = if items.len() > rows { rows.saturating_sub(1) } else { items.len() };
        for (item, y) in items.iter().take(shown).zip(area.y + 1..) {
            draw_item(*item, Rect { y, height: 1, ..area }, buf, cx);
        }
        if shown < items.len() && rows > 0 {
            let row = Rect { y: area.bottom() - 1, height: 1, ..area };
            let text = format!("and {} more", items.len() - shown);
            ScreenLine::new(buf, row).skip(3).put(&text, cx.style(ThemeRole::Dim));
        }
    }
}

fn draw_item(item: NeedItem, row: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (glyph, text, role, since) = item_text(item, row.width, cx);
    let dim = cx.style(ThemeRole::Dim);
    let mut line = ScreenLine::new(buf, row);
    // The clock of an interrupted run stands, so that no age would be true.
    let stands = cx.state.run.phase == RunPhase::Interrupted;
    if let Some(since) = since.filter(|_| !stands) {
        let age: Duration = duration_between(since, cx.now);
        line.put_right(&[styled_piece(units::format_clock(age), dim), styled_piece(" ", dim)]);
    }
    line.skip(1).put(&format!("{glyph} "), cx.style(role));
    let own = if matches!(item, NeedItem::Request(_)) { role } else { ThemeRole::Text };
    line.put(&text, cx.style(own));
}

/// What a request wants, with the task it is about.
fn request_text(request: &Request, state: &SessionState) -> String {
    let task = request.task.as_ref().and_then(|task| state.tasks.owner_position(task));
    let Some(title) = task.map(|task| title_of(state, task)) else {
        return request.question.clone();
    };
    match &request.kind {
        RequestKind::Permission { class, .. } => {
            format!("{title} asks to {}", permission_act(class))
        }
        RequestKind::AgentQuestion { .. } => format!("{title} asks: {}", request.question),
        RequestKind::InDoubt { .. } => format!("{title} is in doubt"),
        _ => format!("{title}: {}", request.question),
    }
}

/// What a call that needs permission does.
pub(crate) fn permission_act(class: &str) -> &'static str {
    match class {
        "execute" => "run a command",
        "write" => "edit a file",
        "network" => "use the network",
        _ => "use a tool",
    }
}

/// What a row says: glyph, words, role and since when it waits.
fn item_text(
    item: NeedItem,
    width: u16,
    cx: &PaneContext<'_>,
) -> (char, String, ThemeRole, Option<Timestamp>) {
    match item {
        NeedItem::Failure(task) => {
            let state = cx.state;
            let title = title_of(state, task);
            let skipped = cx.needs.skips.skipped_because_of(task).len();
            let skips = if skipped == 0 { String::new() } else { skipped_text(skipped) };
            let text = if width >= ROOMY {
                let cause = cx.tails.short_cause(state.tasks.id(task), state, cx.timeline);
                let skips = if skips.is_empty() { skips } else { format!(" {skips}.") };
                format!("{title} failed: {cause}.{skips}")
            } else {
                let skips = if skips.is_empty() { skips } else { format!(", {skips}") };
                format!("{title} failed{skips}")
            };
            ('✗', text, ThemeRole::Failed, state.tasks.row(task).finished_at)
        }
        NeedItem::Request(id) => {
            let open = cx.state.requests.open.get(&id);
            let text = open.map(|open| request_text(&open.request, cx.state)).unwrap_or_default();
            ('?', text, ThemeRole::Asks, open.map(|open| open.asked_at))
        }
        NeedItem::Yours(task) => {
            let waits = waiting_text(cx.state, task);
            let text = match waits.as_str() {
                waits if waits.is_empty() || width < ROOMY => title_of(cx.state, task).to_owned(),
                waits => format!("{}. {waits}.", title_of(cx.state, task)),
            };
            ('@', text, ThemeRole::Yours, cx.state.tasks.row(task).started_at)
        }
    }
}
