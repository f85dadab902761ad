//! Where the panes of the session screen go, by phase and size. Pure, so that a resize can be tested.
//!
//! `planning` lays out what is drafted, approved or revised, `running` what runs, `replay` what a saved run needs beside it.

mod planning;
mod replay;
mod running;

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

/// What the session is about at the moment that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScreenPhase {
    /// A plan is drafted, approved or revised: the plan is the largest pane, what is asked stands under it.
    Planning,
    /// A plan runs, or ran and can go on.
    Running,
    /// The past.
    Replay,
}

/// What the panes would like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaneNeeds {
    pub(crate) focus: PaneFocus,
    /// An open request has the focus.
    pub(crate) card: bool,
    pub(crate) phase: ScreenPhase,
    /// Whether the moment that is shown is one of planning, in a replay too.
    pub(crate) planning: bool,
    /// The plan is only a sketch of what is assumed, and the question under it decides about more than it.
    pub(crate) sketch: bool,
    /// Rows of the open card, its rule included, if all of it is to be seen.
    pub(crate) card_rows: u16,
    /// Whether a graph stands beside the plan where there is room. Only while planning.
    pub(crate) side_graph: bool,
    /// Rows of the drawing, without its rule and the line about the selection.
    pub(crate) graph: u16,
    /// One for each running task.
    pub(crate) running: u16,
    /// Files that were changed stand beside the activity of a replay.
    pub(crate) files: bool,
    /// One for each thing that waits for the person.
    pub(crate) needs_you: u16,
    /// The log of a task is where the activity was.
    pub(crate) output: bool,
    /// The pane with the focus has everything between header and footer.
    pub(crate) full_screen: bool,
    /// The selected task has no output to show, so that it is described instead where there is room.
    pub(crate) describes_task: bool,
}

/// Rows of a question under a plan that has the screen: its rule, the facts that fit and the keys.
const QUESTION_ROWS: u16 = 5;

/// The rows and columns of each pane, its rule included. Empty if it is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScreenAreas {
    pub(crate) header: Rect,
    pub(crate) tabs: Rect,
    /// The plan in whichever view is on.
    pub(crate) graph: Rect,
    /// The graph beside the plan, on wide screens while planning.
    pub(crate) side_graph: Rect,
    /// The task under the cursor, below that graph.
    pub(crate) task: Rect,
    pub(crate) trace: Rect,
    pub(crate) running: Rect,
    pub(crate) approval: Rect,
    /// What changed in the workspace, in a replay.
    pub(crate) files: Rect,
    pub(crate) needs_you: Rect,
    pub(crate) output: Rect,
    pub(crate) scrub: Rect,
    pub(crate) footer: Rect,
}

/// The most rows a drawing may take, so that a zoom can be chosen before the rest is laid out.
pub(crate) fn graph_room(screen: Rect, needs: PaneNeeds) -> (u16, u16) {
    // What runs, waits or is asked comes and goes; the drawing of a run stays.
    let run = needs.phase != ScreenPhase::Planning && !needs.planning;
    let steady = if run {
        let focus = PaneFocus::Graph;
        PaneNeeds { graph: u16::MAX, card: false, focus, output: false, ..needs }
    } else {
        PaneNeeds { graph: u16::MAX, ..needs }
    };
    let areas = layout_screen(screen, steady);
    let class = SizeClass::from_area(screen);
    let pane = if areas.side_graph.is_empty() { areas.graph } else { areas.side_graph };
    if !run || needs.full_screen {
        // Without tabs a rule says what the pane is.
        let chrome = if areas.tabs.is_empty() { 2 } else { 1 };
        return (drawing_width(pane), pane.height.saturating_sub(chrome));
    }
    let rows = screen.height.saturating_sub(areas.header.height + areas.footer.height);
    let rows = rows.saturating_sub(areas.scrub.height);
    (drawing_width(pane), running::drawing_room(class, needs.phase, rows))
}

/// The columns of a drawing: those of its pane without the air at both edges.
fn drawing_width(pane: Rect) -> u16 {
    pane.width.saturating_sub(2)
}

/// Rows of the graph pane beside the drawing: its rule and the line about the selection.
pub(crate) fn graph_chrome_rows(class: SizeClass) -> u16 {
    if class.has_tabs() { 1 } else { 2 }
}

/// Lays the screen out.
pub(crate) fn layout_screen(screen: Rect, needs: PaneNeeds) -> ScreenAreas {
    let mut rows = RemainingRows { left: screen };
    let class = SizeClass::from_area(screen);
    let mut areas = ScreenAreas {
        footer: rows.take_bottom(1),
        header: rows.take_top(1),
        ..ScreenAreas::default()
    };
    if needs.full_screen && class != SizeClass::TooSmall {
        layout_full_screen(class, rows, needs, &mut areas);
        return areas;
    }
    match needs.phase {
        ScreenPhase::Planning => planning::layout_planning(class, rows, needs, &mut areas),
        ScreenPhase::Running => running::layout_running(class, rows, needs, &mut areas),
        ScreenPhase::Replay => replay::layout_replay(class, rows, needs, &mut areas),
    }
    areas
}

/// Gives everything to the pane with the focus. The past keeps its scrub bar, a plan that is asked about its question.
fn layout_full_screen(
    class: SizeClass,
    mut rows: RemainingRows,
    needs: PaneNeeds,
    areas: &mut ScreenAreas,
) {
    if needs.phase == ScreenPhase::Replay {
        areas.scrub = rows.take_bottom(replay::scrub_rows(class));
    }
    if class.has_tabs() && !needs.planning {
        areas.tabs = rows.take_top(1);
    }
    if needs.planning && needs.card && needs.focus != PaneFocus::Approval {
        areas.approval = rows.take_bottom(QUESTION_ROWS);
    }
    let pane = match needs.focus {
        PaneFocus::Approval if needs.card => &mut areas.approval,
        PaneFocus::Trace => &mut areas.trace,
        PaneFocus::Running => &mut areas.running,
        PaneFocus::Files => &mut areas.files,
        PaneFocus::Output => &mut areas.output,
        PaneFocus::Graph | PaneFocus::Scrub | PaneFocus::Approval => &mut areas.graph,
    };
    *pane = rows.left;
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

    fn needs(
        focus: PaneFocus,
        card: bool,
        phase: ScreenPhase,
        graph: u16,
        running: u16,
    ) -> PaneNeeds {
        PaneNeeds {
            focus,
            card,
            phase,
            planning: phase == ScreenPhase::Planning,
            sketch: false,
            card_rows: 12,
            side_graph: true,
            graph,
            running,
            files: graph.is_multiple_of(2),
            needs_you: 2,
            output: false,
            full_screen: false,
            describes_task: false,
        }
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
        let areas = layout_screen(
            Rect::new(0, 0, 120, 40),
            needs(PaneFocus::Graph, false, ScreenPhase::Running, 13, 2),
        );
        assert_eq!(areas.graph, Rect::new(0, 1, 120, 15));
        assert_eq!(areas.running.height, 3);
        assert_eq!(areas.needs_you, Rect::new(0, 36, 120, 3));
        assert_eq!(areas.footer, Rect::new(0, 39, 120, 1));
        assert!(areas.trace.height >= 6);
    }

    #[test]
    fn full_screen_gives_everything_to_the_pane_with_the_focus() {
        let screen = Rect::new(0, 0, 120, 40);
        let full = |focus, phase| {
            let needs = PaneNeeds { full_screen: true, ..needs(focus, true, phase, 13, 2) };
            layout_screen(screen, needs)
        };
        let whole = Rect::new(0, 1, 120, 38);
        assert_eq!(full(PaneFocus::Trace, ScreenPhase::Running).trace, whole);
        assert_eq!(full(PaneFocus::Approval, ScreenPhase::Running).approval, whole);
        let replay = full(PaneFocus::Graph, ScreenPhase::Replay);
        assert_eq!((replay.graph.height, replay.scrub.height), (32, 6));
        let planning = full(PaneFocus::Graph, ScreenPhase::Planning);
        assert_eq!((planning.graph.height, planning.approval.height), (33, 5));
    }

    proptest! {
        #[test]
        fn panes_stay_inside_and_apart(
            width in 1..220_u16, height in 1..70_u16, card: bool, phase in 0..3_usize,
            graph in 0..80_u16, running in 0..9_u16, focus in 0..6_usize, full_screen: bool,
        ) {
            let phase = [ScreenPhase::Planning, ScreenPhase::Running, ScreenPhase::Replay][phase];
            let focus = [
                PaneFocus::Graph, PaneFocus::Trace, PaneFocus::Running,
                PaneFocus::Output, PaneFocus::Files, PaneFocus::Scrub,
            ][focus];
            let screen = Rect::new(0, 0, width, height);
            let needs = PaneNeeds { full_screen, ..needs(focus, card, phase, graph, running) };
            let areas = layout_screen(screen, needs);
            let all = [
                areas.header, areas.tabs, areas.graph, areas.side_graph, areas.task, areas.trace, areas.running,
                areas.approval, areas.needs_you, areas.output, areas.files, areas.scrub, areas.footer,
            ];
            for (index, one) in all.iter().enumerate() {
                if !one.is_empty() {
                    prop_assert_eq!(one.intersection(screen), *one);
                }
                for other in &all[index + 1..] {
                    prop_assert!(one.intersection(*other).is_empty(), "{:?} {:?}", one, other);
                }
            }
            if SizeClass::from_area(screen) >= SizeClass::Small && card && !full_screen {
                prop_assert!(!areas.approval.is_empty());
            }
            if SizeClass::from_area(screen) == SizeClass::Full && !card && phase == ScreenPhase::Running && !full_screen {
                prop_assert!(areas.trace.height >= 4, "{:?}", areas.trace);
            }
        }
    }
}
