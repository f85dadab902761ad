//! Where the panes go while a plan runs: the graph first, activity and what runs now below or beside it.

use ratatui::layout::Rect;

use super::{PaneNeeds, RemainingRows, ScreenAreas, ScreenPhase, SizeClass, graph_chrome_rows};
use crate::ui_state::PaneFocus;

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

fn layout_wide(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    let left = (u32::from(rows.left.width) * 60 / 100) as u16;
    areas.graph = Rect { width: left, ..rows.left };
    rows.left.x += left + 1;
    rows.left.width = rows.left.width.saturating_sub(left + 1);
    if needs.card {
        areas.trace = rows.take_top(1);
        areas.running = rows.take_top(running_rows(needs, 5));
        areas.approval = rows.left;
        return;
    }
    areas.approval = rows.take_bottom(closed_approval_rows(needs));
    areas.running = rows.take_bottom(running_rows(needs, 5));
    areas.trace = rows.left;
}

fn layout_full(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    let extra = graph_chrome_rows(SizeClass::Full);
    if needs.card {
        areas.trace = rows.take_bottom(1);
        areas.running = rows.take_bottom(running_rows(needs, 3));
        let most = rows.left.height * 3 / 10;
        areas.graph = rows.take_top(needs.graph.saturating_add(extra).min(most.max(4)));
        areas.approval = rows.left;
        return;
    }
    areas.approval = rows.take_bottom(closed_approval_rows(needs));
    areas.running = rows.take_bottom(running_rows(needs, 5));
    let half = rows.left.height.saturating_sub(7).min(rows.left.height * 6 / 10);
    areas.graph = rows.take_top(needs.graph.saturating_add(extra).clamp(8, half.max(8)));
    areas.trace = rows.left;
}

fn layout_tabs(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    areas.tabs = rows.take_top(1);
    if !needs.card {
        areas.approval = rows.take_bottom(closed_approval_rows(needs));
        areas.running = rows.take_bottom(running_rows(needs, 4));
    }
    assign_middle(rows, needs, areas);
}

fn layout_small(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    areas.tabs = rows.take_top(1);
    if !needs.card {
        areas.approval = rows.take_bottom(1);
        areas.running = rows.take_bottom(u16::from(needs.running > 0));
    }
    assign_middle(rows, needs, areas);
}

/// Gives the middle of the screen to the pane whose tab is on top.
fn assign_middle(rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    match needs.focus {
        _ if needs.card => areas.approval = rows.left,
        PaneFocus::Trace => areas.trace = rows.left,
        _ => areas.graph = rows.left,
    }
}

pub(super) fn running_rows(needs: PaneNeeds, most: u16) -> u16 {
    if needs.running == 0 { 0 } else { needs.running.min(most) + 1 }
}

/// The approval pane while nothing is open: its rule and one line, in a replay the rule alone.
fn closed_approval_rows(needs: PaneNeeds) -> u16 {
    if needs.phase == ScreenPhase::Replay { 1 } else { 2 }
}
