//! Where the panes go while a plan is drafted, approved or revised.

use super::{PaneNeeds, RemainingRows, ScreenAreas, SizeClass, running};

/// Gives the rows between header and footer away.
pub(super) fn layout_planning(
    class: SizeClass,
    rows: RemainingRows,
    needs: PaneNeeds,
    areas: &mut ScreenAreas,
) {
    running::layout_running(class, rows, needs, areas);
}
