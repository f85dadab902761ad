//! Where the panes of the session screen go, by size. Pure, so that a resize can be tested.

use ratatui::layout::Rect;

use super::ui_state::PaneFocus;

/// Which row of the layout table a terminal falls into. Both width and height must reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SizeClass {
    TooSmall,
    /// From 60x16: tabs, one row each for the rest.
    Small,
    /// From 80x24: tabs.
    Tabs,
    /// From 120x30: all panes, one above the other.
    Full,
    /// From 160x45: graph on the left, the rest on the right.
    Wide,
}

impl SizeClass {
    pub(crate) fn from_area(area: Rect) -> Self {
        let reaches = |width, height| area.width >= width && area.height >= height;
        if reaches(160, 45) {
            Self::Wide
        } else if reaches(120, 30) {
            Self::Full
        } else if reaches(80, 24) {
            Self::Tabs
        } else if reaches(60, 16) {
            Self::Small
        } else {
            Self::TooSmall
        }
    }

    /// Whether one pane at a time has the middle of the screen.
    pub(crate) fn has_tabs(self) -> bool {
        matches!(self, Self::Tabs | Self::Small)
    }
}

/// What the panes would like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaneNeeds {
    pub(crate) focus: PaneFocus,
    /// An open request has the focus.
    pub(crate) card: bool,
    pub(crate) replay: bool,
    /// Rows of the drawing, without its rule and the line about the selection.
    pub(crate) graph: u16,
    /// One for each running task.
    pub(crate) running: u16,
}

/// The rows and columns of each pane, its rule included. Empty if it is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScreenAreas {
    pub(crate) header: Rect,
    pub(crate) tabs: Rect,
    pub(crate) graph: Rect,
    pub(crate) trace: Rect,
    pub(crate) running: Rect,
    pub(crate) approval: Rect,
    pub(crate) scrub: Rect,
    pub(crate) footer: Rect,
}

/// The most rows a drawing may take, so that a zoom can be chosen before the rest is laid out.
pub(crate) fn graph_room(screen: Rect, needs: PaneNeeds) -> (u16, u16) {
    let areas = layout_screen(screen, PaneNeeds { graph: u16::MAX, ..needs });
    (
        areas.graph.width,
        areas.graph.height.saturating_sub(graph_chrome_rows(SizeClass::from_area(screen))),
    )
}

/// Rows of the graph pane beside the drawing: its rule and the line about the selection.
pub(crate) fn graph_chrome_rows(class: SizeClass) -> u16 {
    if class == SizeClass::Small { 1 } else { 2 }
}

/// Lays the screen out.
pub(crate) fn layout_screen(screen: Rect, needs: PaneNeeds) -> ScreenAreas {
    let mut rows = RemainingRows { left: screen };
    let class = SizeClass::from_area(screen);
    let mut areas = ScreenAreas {
        footer: rows.take_bottom(1),
        header: rows.take_top(if class == SizeClass::Small { 1 } else { 2 }),
        ..ScreenAreas::default()
    };
    if needs.replay {
        areas.scrub = rows.take_bottom(match class {
            SizeClass::Wide | SizeClass::Full => 6,
            SizeClass::Tabs => 2,
            SizeClass::Small | SizeClass::TooSmall => 1,
        });
    }
    match class {
        SizeClass::Wide => layout_wide(rows, needs, &mut areas),
        SizeClass::Full => layout_full(rows, needs, &mut areas),
        SizeClass::Tabs => layout_tabs(rows, needs, &mut areas),
        SizeClass::Small => layout_small(rows, needs, &mut areas),
        SizeClass::TooSmall => {}
    }
    areas
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
        PaneFocus::Graph | PaneFocus::Running | PaneFocus::Approval => areas.graph = rows.left,
    }
}

fn running_rows(needs: PaneNeeds, most: u16) -> u16 {
    if needs.running == 0 { 0 } else { needs.running.min(most) + 1 }
}

/// The approval pane while nothing is open: its rule and one line, in a replay the rule alone.
fn closed_approval_rows(needs: PaneNeeds) -> u16 {
    if needs.replay { 1 } else { 2 }
}

/// Rows still to be given away.
#[derive(Clone, Copy)]
struct RemainingRows {
    left: Rect,
}

impl RemainingRows {
    fn take_top(&mut self, height: u16) -> Rect {
        let height = height.min(self.left.height);
        let given = Rect { height, ..self.left };
        self.left.y += height;
        self.left.height -= height;
        given
    }

    fn take_bottom(&mut self, height: u16) -> Rect {
        let height = height.min(self.left.height);
        self.left.height -= height;
        Rect { y: self.left.y + self.left.height, height, ..self.left }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn needs(focus: PaneFocus, card: bool, replay: bool, graph: u16, running: u16) -> PaneNeeds {
        PaneNeeds { focus, card, replay, graph, running }
    }

    #[test]
    fn a_row_of_the_table_counts_only_if_both_sides_reach_it() {
        let class = |width, height| SizeClass::from_area(Rect::new(0, 0, width, height));
        assert_eq!(class(160, 45), SizeClass::Wide);
        assert_eq!(class(300, 44), SizeClass::Full);
        assert_eq!(class(120, 30), SizeClass::Full);
        assert_eq!(class(119, 80), SizeClass::Tabs);
        assert_eq!(class(200, 23), SizeClass::Small);
        assert_eq!(class(60, 16), SizeClass::Small);
        assert_eq!(class(59, 50), SizeClass::TooSmall);
    }

    #[test]
    fn the_full_screen_has_every_pane() {
        let areas =
            layout_screen(Rect::new(0, 0, 120, 40), needs(PaneFocus::Graph, false, false, 13, 2));
        assert_eq!(areas.graph, Rect::new(0, 2, 120, 15));
        assert_eq!(areas.running.height, 3);
        assert_eq!(areas.approval, Rect::new(0, 37, 120, 2));
        assert_eq!(areas.footer, Rect::new(0, 39, 120, 1));
        assert!(areas.trace.height >= 6);
    }

    proptest! {
        #[test]
        fn panes_stay_inside_and_apart(
            width in 1..220_u16, height in 1..70_u16, card: bool, replay: bool,
            graph in 0..80_u16, running in 0..9_u16, focus in 0..4_usize,
        ) {
            let focus = [PaneFocus::Graph, PaneFocus::Trace, PaneFocus::Running, PaneFocus::Approval][focus];
            let screen = Rect::new(0, 0, width, height);
            let areas = layout_screen(screen, needs(focus, card, replay, graph, running));
            let all = [
                areas.header, areas.tabs, areas.graph, areas.trace,
                areas.running, areas.approval, areas.scrub, areas.footer,
            ];
            for (index, one) in all.iter().enumerate() {
                if !one.is_empty() {
                    prop_assert_eq!(one.intersection(screen), *one);
                }
                for other in &all[index + 1..] {
                    prop_assert!(one.intersection(*other).is_empty(), "{:?} {:?}", one, other);
                }
            }
            if SizeClass::from_area(screen) >= SizeClass::Small {
                prop_assert!(!areas.approval.is_empty());
            }
            if SizeClass::from_area(screen) == SizeClass::Full && !card {
                prop_assert!(areas.trace.height >= 4, "{:?}", areas.trace);
            }
        }
    }
}
