//! The other views of the plan, the palette and help.

use super::fixture::{Fixture, Shown};
use crate::panes::plan::PlanView;

fn shown(keys: &[&str]) -> Shown {
    let mut shown = Fixture::recorded_work().live();
    shown.draw(120, 40);
    shown.press(keys);
    shown
}

#[test]
fn the_same_plan_in_other_views() {
    for (key, name) in [("1", "outline"), ("3", "gantt"), ("5", "table")] {
        insta::assert_snapshot!(format!("{name}_120x40"), shown(&[key]).frame(120, 40));
        // The last task of the chart is below what is shown, and so is the end of the line that leads to it.
        let small = if name == "gantt" {
            shown(&[key]).panned_frame(80, 24)
        } else {
            shown(&[key]).frame(80, 24)
        };
        insta::assert_snapshot!(format!("{name}_80x24"), small);
    }
    insta::assert_snapshot!("gantt_200x60", shown(&["3"]).frame(200, 60));
}

#[test]
fn the_selection_is_the_same_in_every_view() {
    let mut shown = shown(&["1", "j", "j"]);
    let selected = shown.screen.ui.graph.selected.clone();
    for (key, view) in [("3", PlanView::Gantt), ("5", PlanView::Table), ("2", PlanView::Graph)] {
        shown.press(&[key]);
        shown.draw(120, 40);
        assert_eq!(shown.screen.ui.view.kind, view);
        assert_eq!(shown.screen.ui.graph.selected, selected);
    }
}

#[test]
fn a_marked_node_is_marked_in_every_view() {
    let mut shown = shown(&["*"]);
    for key in ["1", "3", "5"] {
        shown.press(&[key]);
        let text = shown.text(120, 40);
        let marked = |line: &str| line.trim_start_matches([' ', '►']).starts_with('*');
        assert!(text.lines().any(marked), "{text}");
    }
    shown.press(&["*"]);
    assert!(shown.screen.ui.marks.is_empty());
}

#[test]
fn the_palette_finds_and_does() {
    let mut shown = shown(&[":", "t", "a", "b", "l", "e"]);
    insta::assert_snapshot!("palette_80x24", shown.frame(80, 24));
    shown.press(&["Enter"]);
    assert_eq!(shown.screen.ui.view.kind, PlanView::Table);
}

#[test]
fn the_palette_answers_nothing() {
    let mut shown = Fixture::release().live();
    shown.draw(120, 40);
    super::fixture::pass(1000);
    shown.press(&[":", "a", "p", "p", "r", "o", "v", "e", "Enter", "Enter"]);
    assert_eq!(shown.sent(), None);
    insta::assert_snapshot!("palette_120x40", shown.frame(120, 40));
}

/// Everything else that opens over the screen, at both sizes.
#[test]
fn what_opens_over_the_screen() {
    let open: [(&str, bool, &[&str]); 9] = [
        ("search", true, &["/", "p", "o", "r", "t"]),
        ("go_to", false, &["g", "+", "6", "m"]),
        ("bookmark", false, &["m", "h", "e", "r", "e"]),
        ("jobs", true, &[":", "a", "t", "Space", "o", "n", "c", "e", "Enter", "5"]),
        ("skip", true, &["S"]),
        ("stop", true, &["X"]),
        ("quit", true, &["q"]),
        ("trace", true, &["Tab"]),
        ("past_help", false, &["?"]),
    ];
    for (name, live, keys) in open {
        for (width, height) in [(80, 24), (120, 40)] {
            let fixture = Fixture::recorded_work();
            // While the fuzzer runs: what comes after the cursor is dim.
            let past = Fixture::recorded_run("14:16:02").records.len() as u64;
            let mut shown = if live { fixture.live() } else { fixture.replay(past) };
            shown.draw(width, height);
            shown.press(keys);
            insta::assert_snapshot!(
                format!("over_{name}_{width}x{height}"),
                shown.frame(width, height)
            );
        }
    }
}
