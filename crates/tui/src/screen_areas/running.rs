//! Where the panes go while a plan runs: the graph first, then what runs now, activity or output, and what needs the
//! person. A card stands over the activity, and the graph stays.

use ratatui::layout::Rect;

use super::{PaneNeeds, RemainingRows, ScreenAreas, ScreenPhase, SizeClass, graph_chrome_rows};
use crate::panes::{needs_you, running};
use crate::ui_state::PaneFocus;

/// The fewest rows of the graph, its rule included.
const FEWEST_GRAPH_ROWS: u16 = 8;
/// The most rows that a card takes from the graph: those of a failure with its output.
const CARD_ROWS: u16 = 24;
/// The share of the left column on wide screens, the same in a run and in its replay so that no box moves.
pub(super) const LEFT_PERCENT: u32 = 59;
/// The fewest rows of activity.
const FEWEST_TRACE_ROWS: u16 = 6;

/// Gives the rows between header and footer away.
pub(super) fn layout_running(
    class: SizeClass,
    rows: RemainingRows,
    needs: PaneNeeds,
    areas: &mut ScreenAreas,
) {
    match class {
        SizeClass::Wide => layout_wide(rows, needs, areas),
        SizeClass::Full => layout_full(rows, needs, areas),
        SizeClass::Tabs => layout_tabs(rows, needs, areas),
        SizeClass::Small => layout_small(rows, needs, areas),
        SizeClass::TooSmall => {}
    }
}

/// The rows that a drawing may take: a share of the screen that nothing which happens changes.
pub(super) fn drawing_room(class: SizeClass, phase: ScreenPhase, rows: u16) -> u16 {
    match class {
        SizeClass::Wide | SizeClass::Full => {
            (rows * 6 / 10).max(FEWEST_GRAPH_ROWS).saturating_sub(graph_chrome_rows(class))
        }
        // Tabs, the line about the selection and what runs now; in the past nothing needs the person.
        SizeClass::Tabs if phase == ScreenPhase::Replay => rows.saturating_sub(6),
        SizeClass::Tabs => rows.saturating_sub(9),
        SizeClass::Small | SizeClass::TooSmall => rows.saturating_sub(3),
    }
}

/// Graph, now and activity on the left; a card or the output on the right, above what needs the person.
fn layout_wide(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    let left = (u32::from(rows.left.width) * LEFT_PERCENT / 100) as u16;
    let mut right = RemainingRows {
        left: Rect {
            x: rows.left.x + left + 1,
            width: rows.left.width.saturating_sub(left + 1),
            ..rows.left
        },
    };
    rows.left.width = left;
    areas.needs_you = right.take_bottom(needs_you_rows(needs));
    if needs.card {
        areas.approval = right.left;
    } else if needs.describes_task {
        areas.task = right.left;
    } else {
        areas.output = right.left;
    }
    let most = rows.left.height * 6 / 10;
    let extra = graph_chrome_rows(SizeClass::Wide);
    let wanted = needs.graph.saturating_add(extra).clamp(FEWEST_GRAPH_ROWS, most.max(8));
    areas.graph = rows.take_top(wanted);
    areas.running = rows.take_top(running_rows(needs, running::MOST_LISTED as u16 + 1));
    areas.trace = rows.left;
}

fn layout_full(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    let wanted = needs.graph.saturating_add(graph_chrome_rows(SizeClass::Full));
    let most = rows.left.height * 6 / 10;
    areas.needs_you = rows.take_bottom(needs_you_rows(needs));
    if needs.card {
        let running = running_rows(needs, 3);
        let card = needs.card_rows.min(CARD_ROWS);
        let graph = rows.left.height.saturating_sub(card + running);
        areas.graph = rows.take_top(wanted.min(graph.clamp(FEWEST_GRAPH_ROWS, most.max(8))));
        areas.running = rows.take_top(running);
        areas.approval = rows.left;
        return;
    }
    let running = running_rows(needs, running::MOST_LISTED as u16 + 1);
    let left = rows.left.height.saturating_sub(running + FEWEST_TRACE_ROWS);
    let most = most.min(left).max(FEWEST_GRAPH_ROWS);
    areas.graph = rows.take_top(wanted.clamp(FEWEST_GRAPH_ROWS, most));
    areas.running = rows.take_top(running);
    let rest = if needs.output { &mut areas.output } else { &mut areas.trace };
    *rest = rows.left;
}

fn layout_tabs(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    areas.tabs = rows.take_top(1);
    if !needs.card {
        areas.needs_you = rows.take_bottom(needs_you_rows(needs).min(3));
        areas.running = rows.take_bottom(running_rows(needs, 3));
    }
    assign_middle(rows, needs, areas);
}

fn layout_small(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    areas.tabs = rows.take_top(1);
    if !needs.card {
        areas.needs_you = rows.take_bottom(u16::from(needs_you_rows(needs) > 0));
        areas.running = rows.take_bottom(u16::from(needs.running > 0));
    }
    assign_middle(rows, needs, areas);
}

/// Gives the middle of the screen to the pane whose tab is on top.
fn assign_middle(rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    match needs.focus {
        _ if needs.card => areas.approval = rows.left,
        PaneFocus::Trace => areas.trace = rows.left,
        PaneFocus::Output => areas.output = rows.left,
        _ => areas.graph = rows.left,
    }
}

pub(super) fn running_rows(needs: PaneNeeds, most: u16) -> u16 {
    if needs.running == 0 { 0 } else { needs.running.min(most) + 1 }
}

/// The rule and the list; nothing where nothing waits, and in a replay, where nothing can be done about it.
fn needs_you_rows(needs: PaneNeeds) -> u16 {
    if needs.needs_you == 0 || needs.phase == ScreenPhase::Replay {
        return 0;
    }
    needs.needs_you.min(needs_you::MOST_ROWS as u16) + 1
}
