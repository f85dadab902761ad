//! Where the panes go while a plan is drafted, approved or revised: the plan is the largest pane at every size, and
//! what is asked about it stands under it, whichever of the two has the focus.

use ratatui::layout::Rect;

use super::{PaneNeeds, RemainingRows, ScreenAreas, SizeClass};
use crate::ui_state::PaneFocus;

/// The fewest rows that the plan keeps beside an open card, its rule included.
const FEWEST_PLAN_ROWS: u16 = 8;
/// The same for a sketch: the whole question comes first.
const FEWEST_SKETCH_ROWS: u16 = 5;

/// Gives the rows between header and footer away.
pub(super) fn layout_planning(
    class: SizeClass,
    mut rows: RemainingRows,
    needs: PaneNeeds,
    areas: &mut ScreenAreas,
) {
    match class {
        // Before there is a draft, what is asked has the screen.
        _ if needs.graph == 0 && needs.card => areas.approval = rows.left,
        // Before there is a draft, what the planner does has the place of the plan.
        SizeClass::TooSmall => {}
        _ if needs.graph == 0 => {
            areas.approval = rows.take_bottom(2.min(rows.left.height / 2));
            areas.trace = rows.left;
        }
        SizeClass::Wide if needs.side_graph => layout_wide(rows, needs, areas),
        SizeClass::Wide | SizeClass::Full => layout_full(rows, needs, areas),
        SizeClass::Tabs => {
            let fewest = if needs.sketch { FEWEST_SKETCH_ROWS } else { FEWEST_PLAN_ROWS };
            layout_card_and_plan(rows, needs, fewest, areas);
        }
        // Rule, question, two facts and the keys; the rest scrolls.
        SizeClass::Small => {
            let needs = PaneNeeds { card_rows: needs.card_rows.min(5), ..needs };
            layout_card_and_plan(rows, needs, 5, areas);
        }
    }
}

/// Plan and card on the left, graph and selected task on the right.
fn layout_wide(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    let left = (u32::from(rows.left.width) * 56 / 100) as u16;
    let mut right = RemainingRows {
        left: Rect {
            x: rows.left.x + left + 1,
            width: rows.left.width.saturating_sub(left + 1),
            ..rows.left
        },
    };
    rows.left.width = left;
    layout_full(rows, needs, areas);
    areas.task = right.take_bottom((right.left.height * 4 / 10).clamp(8, 24));
    areas.side_graph = right.left;
}

/// The activity takes the place of the plan while it has the focus; else it is folded to its rule.
fn layout_full(mut rows: RemainingRows, needs: PaneNeeds, areas: &mut ScreenAreas) {
    if needs.focus == PaneFocus::Trace {
        areas.approval = rows.take_bottom(card_rows(rows, needs, FEWEST_PLAN_ROWS));
        areas.graph = rows.take_top(rows.left.height / 2);
        areas.trace = rows.left;
        return;
    }
    areas.trace = rows.take_bottom(1);
    layout_card_and_plan(rows, needs, FEWEST_PLAN_ROWS, areas);
}

fn layout_card_and_plan(
    mut rows: RemainingRows,
    needs: PaneNeeds,
    fewest: u16,
    areas: &mut ScreenAreas,
) {
    areas.approval = rows.take_bottom(card_rows(rows, needs, fewest));
    if needs.focus == PaneFocus::Trace {
        areas.trace = rows.left;
    } else {
        areas.graph = rows.left;
    }
}

/// The card has the rows it needs, so long as the plan keeps enough of its own.
fn card_rows(rows: RemainingRows, needs: PaneNeeds, fewest: u16) -> u16 {
    let most = rows.left.height.saturating_sub(fewest).max(rows.left.height.min(3));
    if needs.card { needs.card_rows.clamp(3, most.max(3)) } else { 2.min(most) }
}
