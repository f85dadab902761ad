//! Where the panes go in the past: the scrub bar below everything, the files at the cursor beside the activity.

use ratatui::layout::Rect;

use super::{
    PaneNeeds, RemainingRows, ScreenAreas, SizeClass, graph_chrome_rows, planning, running,
};
use crate::ui_state::PaneFocus;

/// From here on the files stand beside the activity, on screens with tabs as well.
const FILES_BESIDE: u16 = 100;

/// Gives the rows between header and footer away.
pub(super) fn layout_replay(
    class: SizeClass,
    mut rows: RemainingRows,
    needs: PaneNeeds,
    areas: &mut ScreenAreas,
) {
    areas.scrub = rows.take_bottom(scrub_rows(class));
    if needs.planning {
        planning::layout_planning(class, rows, needs, areas);
        return;
    }
    // A request that was open is looked at like one that is.
    if needs.card {
        running::layout_running(class, rows, needs, areas);
        return;
    }
    match class {
        SizeClass::Wide => layout_wide(rows, needs, areas),
        SizeClass::Full => {
            let extra = graph_chrome_rows(class);
            let most = rows.left.height * 6 / 10;
            areas.graph = rows.take_top(needs.graph.saturating_add(extra).clamp(8, most.max(8)));
            lay_beside(rows, needs, areas);
        }
        SizeClass::Tabs | SizeClass::Small => layout_tabs(class, rows, needs, areas),
        SizeClass::TooSmall => {}
    }
}

/// Rows of the scrub bar.
pub(super) fn scrub_rows(class: SizeClass) -> u16 {
    match class {
        SizeClass::Wide | SizeClass::Full => 6,
        SizeClass::Tabs => 5,
        SizeClass::Small | SizeClass::TooSmall => 1,
    }
}

/// The graph above the activity at the left, files above what ran at the right.
fn layout_wide(rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    let (mut left, mut right) = split_columns(rows, running::LEFT_PERCENT);
    let extra = graph_chrome_rows(SizeClass::Wide);
    let most = left.left.height * 6 / 10;
    areas.graph = left.take_top(needs.graph.saturating_add(extra).clamp(8, most.max(8)));
    areas.trace = left.left;
    areas.running = right.take_bottom(running::running_rows(needs, 6));
    if needs.files {
        areas.files = right.left;
        return;
    }
    // Without files the activity has the column, and the graph the height.
    areas.graph = Rect { height: areas.graph.height + areas.trace.height, ..areas.graph };
    areas.trace = right.left;
}

/// Activity above what ran at the left, files at the right.
fn lay_beside(rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    if !needs.files {
        let mut rows = rows;
        areas.running = rows.take_bottom(running::running_rows(needs, 4));
        areas.trace = rows.left;
        return;
    }
    let (mut left, right) = split_columns(rows, 53);
    areas.running = left.take_bottom(running::running_rows(needs, 4));
    areas.trace = left.left;
    areas.files = right.left;
}

fn layout_tabs(
    class: SizeClass,
    mut rows: RemainingRows,
    needs: PaneNeeds,
    areas: &mut ScreenAreas,
) {
    areas.tabs = rows.take_top(1);
    let beside = class == SizeClass::Tabs && rows.left.width >= FILES_BESIDE && needs.files;
    if beside && matches!(needs.focus, PaneFocus::Trace | PaneFocus::Files) {
        return lay_beside(rows, needs, areas);
    }
    areas.running = match class {
        SizeClass::Small => rows.take_bottom(u16::from(needs.running > 0)),
        _ => rows.take_bottom(running::running_rows(needs, 3)),
    };
    match needs.focus {
        PaneFocus::Trace => areas.trace = rows.left,
        PaneFocus::Files => areas.files = rows.left,
        _ => areas.graph = rows.left,
    }
}

/// Two columns with one cell between them.
fn split_columns(rows: RemainingRows, percent: u32) -> (RemainingRows, RemainingRows) {
    let whole = rows.left;
    let width = (u32::from(whole.width) * percent / 100) as u16;
    let left = Rect { width, ..whole };
    let right =
        Rect { x: whole.x + width + 1, width: whole.width.saturating_sub(width + 1), ..whole };
    (RemainingRows { left }, RemainingRows { left: right })
}
