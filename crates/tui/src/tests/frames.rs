//! Frames of the session screen at the sizes that people use, to be read as text.

use super::fixture::{Fixture, release_plan};
use super::journals::recorded_request;
use planwright_model::{RunKind, TaskLink, TaskNode};

fn last(fixture: &Fixture) -> u64 {
    fixture.records.len() as u64
}

#[test]
fn live_while_tasks_run() {
    let fixture = Fixture::recorded_run("14:22:24");
    insta::assert_snapshot!("live_120x40", fixture.live().frame(120, 40));
    insta::assert_snapshot!("live_80x24", fixture.live().frame(80, 24));
    insta::assert_snapshot!("live_60x16", fixture.live().frame(60, 16));
    insta::assert_snapshot!("live_200x60", fixture.live().frame(200, 60));
}

#[test]
fn a_plan_that_waits_for_approval() {
    let fixture = Fixture::release();
    insta::assert_snapshot!("approval_120x40", fixture.live().frame(120, 40));
    insta::assert_snapshot!("approval_80x24", fixture.live().frame(80, 24));
    insta::assert_snapshot!("approval_60x16", fixture.live().frame(60, 16));
    insta::assert_snapshot!("approval_200x60", fixture.live().frame(200, 60));
}

#[test]
fn a_revised_plan_carries_its_changes_in_card_and_graph() {
    let fixture = Fixture::revised();
    insta::assert_snapshot!("revised_120x40", fixture.live().frame(120, 40));
    insta::assert_snapshot!("revised_80x24", fixture.live().frame(80, 24));
    insta::assert_snapshot!("revised_200x60", fixture.live().frame(200, 60));
}

#[test]
fn a_saved_run_at_an_earlier_moment() {
    let fixture = Fixture::recorded_run("23:59:59");
    // While the fuzzer runs, as in the drawing.
    let at = Fixture::recorded_run("14:16:02").records.len() as u64;
    for (width, height) in [(120, 40), (80, 24), (60, 16), (200, 60)] {
        let mut shown = fixture.replay(at);
        shown.settle_files();
        insta::assert_snapshot!(format!("replay_{width}x{height}"), shown.frame(width, height));
    }
    insta::assert_snapshot!("replay_request_120x40", fixture.replay(4).frame(120, 40));
}

#[test]
fn a_question_of_the_past_is_read_at_every_size() {
    let fixture = recorded_request("question", 1);
    for (width, height) in [(80, 24), (120, 40)] {
        let text = fixture.replay(last(&fixture)).text(width, height);
        let asked = "On which day should the first issue go out?";
        assert!(text.contains(asked), "{width}x{height}\n{text}");
        assert!(!text.contains("then your own words"), "{width}x{height}\n{text}");
    }
}

#[test]
fn a_run_that_failed() {
    let fixture = Fixture::recorded_run("15:20:00");
    insta::assert_snapshot!("failed_120x40", fixture.live().frame(120, 40));
    insta::assert_snapshot!("failed_80x24", fixture.live().frame(80, 24));
}

#[test]
fn a_limit_that_is_reached_on_a_small_terminal() {
    insta::assert_snapshot!("cap_60x16", Fixture::capped().live().frame(60, 16));
}

#[test]
fn a_plan_that_was_kept_and_a_run_that_was_interrupted() {
    insta::assert_snapshot!("kept_80x24", Fixture::release().kept().live().frame(80, 24));
    let interrupted = Fixture::recorded_work().interrupted();
    insta::assert_snapshot!("interrupted_80x24", interrupted.live().frame(80, 24));
}

#[test]
fn one_of_a_thing_is_no_plural() {
    let mut plan = release_plan();
    plan.tasks.truncate(1);
    let fixture = Fixture::new("One").propose(plan, vec![]).ask_plan();
    let text = fixture.live().text(120, 40);
    assert!(
        text.contains(" 1 task ·") && text.contains("Starts       Sort the open issues"),
        "{text}"
    );
}

#[test]
fn a_session_without_a_plan() {
    let fixture = Fixture::new("Nothing yet");
    insta::assert_snapshot!("empty_120x40", fixture.live().frame(120, 40));
    insta::assert_snapshot!("empty_80x24", fixture.live().frame(80, 24));
    insta::assert_snapshot!("empty_replay_80x24", fixture.replay(0).frame(80, 24));
}

#[test]
fn long_and_wide_titles() {
    let mut plan = release_plan();
    plan.tasks[0].description = "問題を並べ替えて優先順位を付ける、そして記録する".into();
    plan.tasks[2].description =
        "Port the error enum and every single place that matches on it, tests included".into();
    plan.tasks.push(TaskNode {
        run: RunKind::Shell("echo 'ünïcödé'".into()),
        dependencies: vec![TaskLink::finish_to_start("audit")],
        ..TaskNode::new("a-very-long-identifier-v2", "Naïve façade – émigré")
    });
    plan.tasks.push(TaskNode::new("絵文字タスク", "👩‍💻 pair review"));
    let title = "東京オフィスの引っ越し: a session whose title does not fit into any terminal that people use today";
    let fixture = Fixture::new(title).propose(plan, vec![]).ask_plan().approved().start("audit");
    insta::assert_snapshot!("wide_120x40", fixture.live().frame(120, 40));
    insta::assert_snapshot!("wide_80x24", fixture.live().frame(80, 24));
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    insta::assert_snapshot!("too_small_52x14", Fixture::release().live().frame(52, 14));
    let running = Fixture::running();
    assert!(running.live().text(58, 14).contains("The run continues."));
    assert!(!running.replay(last(&running)).text(58, 14).contains("The run continues."));
}

#[test]
fn the_three_kinds_of_time_cannot_be_confused() {
    let fixture = Fixture::recorded_work();
    let head =
        |text: String| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!("badge_live", head(fixture.live().text(120, 40)));
    insta::assert_snapshot!("badge_paused", head(fixture.clone().pause().live().text(120, 40)));
    insta::assert_snapshot!("badge_replay", head(fixture.replay(last(&fixture)).text(120, 40)));
}

#[test]
fn a_screen_without_box_drawing() {
    let mut shown = Fixture::recorded_work().live();
    shown.screen.use_ascii();
    let text = shown.text(120, 40);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!("ascii_120x40", text);
}
