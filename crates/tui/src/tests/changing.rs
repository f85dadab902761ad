//! Which node a request is about, which stage it goes to, what a confidence is made of, and taking changes back.

use super::fixture::{Fixture, Shown, pass, release_plan};
use super::journals::every_request;
use super::planned::{outlined, scheduled};
use crate::keymap::KeyAction;
use crate::ui_state::PaneFocus;
use planwright_model::event::{AgentEvent, Command, PlanningEvent};
use planwright_model::{Answer, ReActStep, Stage, StepAction};

fn request(name: &str) -> Shown {
    let (_, fixture) = every_request().into_iter().find(|(known, _)| *known == name).unwrap();
    let mut shown = fixture.live();
    shown.draw(120, 40);
    pass(300);
    shown
}

fn answer(shown: &mut Shown) -> Answer {
    match shown.sent() {
        Some(Command::Answer { answer, .. }) => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn on_a_card_a_lock_asks_which_node_it_is_for() {
    let mut shown = request("outline");
    shown.screen.ui.focus = PaneFocus::Approval;
    shown.press(&["#"]);
    assert_eq!(shown.sent(), None, "nothing happens to a node that was not named");
    insta::assert_snapshot!("pick_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("pick_80x24", shown.frame(80, 24));
    shown.press(&["Down", "Down"]);
    let text = shown.text(80, 24);
    let row = text.lines().find(|line| line.contains('►')).unwrap().to_owned();
    shown.press(&["Enter"]);
    let Some(Command::Lock { node, on: true }) = shown.sent() else { panic!("no lock") };
    let rows = crate::plan_text::plan_rows(shown.screen.state(), &jiff::tz::TimeZone::UTC);
    let named = rows.iter().find(|text| text.id == node).unwrap();
    assert!(row.contains(&named.title), "{row}");
    // It is the selected one from here on, and what was sent says which.
    assert_eq!(shown.screen.ui.graph.selected.as_ref(), Some(&node));
    assert!(shown.text(120, 40).contains("sent: lock "));
}

#[test]
fn nodes_are_found_by_typing_and_a_comment_names_its_node() {
    let mut shown = request("outline");
    shown.screen.ui.focus = PaneFocus::Approval;
    shown.press(&["c"]);
    shown.type_text("p2.t1");
    assert!(shown.text(80, 24).contains("1 of "), "{}", shown.text(80, 24));
    shown.press(&["Enter"]);
    let text = shown.text(80, 24);
    assert!(text.contains("comment on ") && !text.contains("p2.t1"), "{text}");
    shown.type_text("shorter");
    shown.press(&["Enter"]);
    let comment = Command::Comment { node: "p2.t1".into(), text: "shorter".into() };
    assert_eq!(shown.sent(), Some(comment));
    // Esc leaves everything as it was.
    shown.press(&["e", "Esc"]);
    assert!(shown.screen.ui.overlay.is_none() && shown.screen.ui.composer.is_none());
    assert_eq!(shown.sent(), None);
}

#[test]
fn the_stage_that_changes_start_from_can_be_chosen() {
    let mut shown = request("roadmap");
    shown.press(&["r"]);
    shown.type_text("make it better");
    let said = |shown: &mut Shown, words: &str| {
        let text = shown.text(120, 40);
        assert!(text.contains(words), "{words}: {text}");
    };
    said(&mut shown, "Unclear     make it better");
    shown.press(&["Ctrl-T", "Ctrl-T", "Ctrl-T"]);
    said(&mut shown, "Redrafts    the dates: only hours and days change");
    insta::assert_snapshot!("stage_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("stage_80x24", shown.frame(80, 24));
    shown.press(&["Enter"]);
    assert_eq!(answer(&mut shown).stage, Some(Stage::Schedule));
    let mut shown = request("outline");
    shown.press(&["r", "Ctrl-T", "x", "Enter"]);
    assert_eq!(answer(&mut shown).stage, None, "there is only an outline yet");
}

#[test]
fn a_confidence_lists_its_terms() {
    let mut shown = request("roadmap");
    shown.press(&["v"]);
    insta::assert_snapshot!("terms_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("terms_80x24", shown.frame(80, 24));
    shown.press(&["v"]);
    assert!(!shown.screen.ui.card.terms);
    let mut shown = request("consent");
    shown.press(&["v"]);
    assert!(shown.text(120, 40).contains("nothing was judged for this request"));
}

#[test]
fn a_change_is_taken_back_by_name() {
    let mut shown = scheduled().live();
    shown.draw(120, 40);
    shown.press(&["u"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.text(120, 40).contains("nothing to undo"));
    let request =
        PlanningEvent::ChangesRequested { text: "it takes 90 minutes".into(), nodes: vec![] };
    let mut shown = scheduled().with(request).live();
    shown.draw(120, 40);
    shown.press(&["u"]);
    assert_eq!(shown.sent(), Some(Command::Undo));
    assert!(shown.text(120, 40).contains("sent: undo: \"it takes 90 minutes\""));
    shown.press(&["U"]);
    assert!(shown.text(120, 40).contains("nothing to redo"));
    let locked = PlanningEvent::NodeLocked { node: "p1.t1".into() };
    let mut shown = outlined().with(locked).live();
    shown.draw(200, 60);
    shown.press(&["u"]);
    assert!(shown.text(200, 60).contains("\" unlocks it"), "{}", shown.text(200, 60));
}

#[test]
fn the_former_revision_of_a_plan_file_comes_back() {
    let mut shown = Fixture::release().live();
    shown.draw(120, 40);
    shown.press(&["u"]);
    assert!(shown.text(120, 40).contains("this is the first draft"));
    let mut shown = Fixture::revised().live();
    shown.draw(120, 40);
    shown.press(&["u"]);
    match shown.sent() {
        Some(Command::Revise { plan, .. }) => assert_eq!(*plan, release_plan()),
        other => panic!("{other:?}"),
    }
    assert!(shown.text(120, 40).contains("sent: back to draft 1"));
}

#[test]
fn an_answer_is_picked_from_a_list() {
    let mut shown = request("question");
    // The cursor starts on what skipping would assume; any other answer is typed under the list.
    shown.press(&["Tab"]);
    assert_eq!(shown.sent(), None);
    assert!(shown.screen.ui.composer.is_some());
    shown.press(&["Esc", "k"]);
    insta::assert_snapshot!("picked_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("picked_80x24", shown.frame(80, 24));
    shown.press(&["Enter"]);
    let given = answer(&mut shown);
    assert_eq!(given.action, planwright_model::ChoiceAction::Reply);
    assert_eq!(given.answers["day"], "Fri 10 Jul");
    // Down and back to none.
    let mut shown = request("question");
    shown.press(&["j", "j", "j"]);
    assert_eq!(shown.screen.ui.card.choice, Some(2));
    shown.press(&["k", "k", "k"]);
    assert_eq!(shown.screen.ui.card.choice, None);
    shown.press(&["j", "Enter"]);
    assert_eq!(answer(&mut shown).answers["day"], "Fri 10 Jul");
    // A second press while it is on its way sends nothing.
    shown.press(&["Enter"]);
    assert_eq!(shown.sent(), None);
}

#[test]
fn with_reduced_motion_little_moves_by_itself() {
    use crate::event_loop::InteractiveScreen as _;
    let wakes = |calm: bool| {
        let mut live = Fixture::running().live();
        let mut past = Fixture::failed().replay(3);
        if calm {
            live.screen.reduce_motion();
            past.screen.reduce_motion();
        }
        past.draw(120, 40);
        past.press(&["Space"]);
        (live.screen.tick_delay().unwrap().as_secs(), past.screen.tick_delay().unwrap().as_millis())
    };
    let (tick, frame) = wakes(false);
    assert!(tick == 1 && frame <= 1_000, "{tick} {frame}");
    assert_eq!(wakes(true), (30, 2_000));
}

#[test]
fn a_chain_folds_into_rows() {
    let mut plan = release_plan();
    plan.tasks.truncate(1);
    for number in 1..12 {
        let mut task = plan.tasks[0].clone();
        task.id = format!("step-{number:02}").as_str().into();
        let before = plan.tasks[number - 1].id.clone();
        task.dependencies = vec![planwright_model::TaskLink::finish_to_start(before)];
        plan.tasks.push(task);
    }
    let mut shown = Fixture::new("A chain").propose(plan, vec![]).approved().live();
    insta::assert_snapshot!("chain_200x60", shown.frame(200, 60));
    let text = shown.text(200, 60);
    let boxes = text.matches("─ agent ─").count() + text.matches("═ agent ═").count();
    assert_eq!(boxes, 12, "all tasks are on the screen:\n{text}");
}

fn step(prdv: &str, content: &str) -> AgentEvent {
    let fields: serde_json::Map<_, _> = [("prdv".to_owned(), prdv.into())].into_iter().collect();
    let metadata = fields.into();
    let step = ReActStep {
        timestamp: super::fixture::now(),
        task_id: "port".into(),
        action: StepAction::Thought,
        content: content.into(),
        tool_used: None,
        tool_input: None,
        tool_output: None,
        confidence_score: None,
        metadata,
    };
    AgentEvent::from_step("port".into(), 1, step)
}

#[test]
fn the_trace_is_filtered_by_the_part_of_the_loop() {
    let fixture = Fixture::running()
        .with(step("plan", "first the lexer"))
        .with(step("debate", "the parser is the harder part"))
        .with(step("validate", "both compile"));
    let mut shown = fixture.live();
    shown.draw(120, 40);
    shown.screen.ui.focus = PaneFocus::Trace;
    for (part, words) in [
        ("plan", "first the lexer"),
        ("research", "No step of an agent belongs to this phase"),
        ("debate", "the parser is the harder part"),
        ("validate", "both compile"),
    ] {
        shown.screen.perform_action(KeyAction::OnlyRole).unwrap();
        let text = shown.text(120, 40);
        assert!(text.contains(&format!("all tasks · {part}")), "{text}");
        assert!(text.contains(words), "{text}");
        let others = ["first the lexer", "the harder part", "both compile"];
        let shows = others.iter().filter(|other| text.contains(**other)).count();
        assert_eq!(shows, usize::from(part != "research"), "{text}");
    }
    insta::assert_snapshot!("prdv_120x40", shown.frame(120, 40));
    insta::assert_snapshot!("prdv_80x24", shown.frame(80, 24));
    // Esc shows everything again, and so does the key after the last part.
    shown.press(&["Esc"]);
    assert!(shown.text(120, 40).contains("first the lexer"));
    for _ in 0..5 {
        shown.screen.perform_action(KeyAction::OnlyRole).unwrap();
    }
    assert_eq!(shown.screen.ui.trace.role, None);
}

/// Far more tasks than a pane has room for.
fn crowded() -> Fixture {
    let mut plan = release_plan();
    plan.tasks.truncate(1);
    for number in 1..60usize {
        let mut task = plan.tasks[0].clone();
        task.id = format!("n{number:02}").as_str().into();
        task.description = task.id.to_string();
        let before = plan.tasks[number.saturating_sub(7)].id.clone();
        task.dependencies = vec![planwright_model::TaskLink::finish_to_start(before)];
        plan.tasks.push(task);
    }
    Fixture::new("A crowd").propose(plan, vec![]).approved()
}

#[test]
fn the_overview_never_hides_what_is_selected() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut shown = crowded().live();
        shown.screen.ui.graph.zoom = Some(planwright_layout::drawing::Zoom::Boxes);
        shown.draw(width, height);
        let mut seen = 0;
        for key in ["l", "j", "j", "j", "l", "l", "j", "l", "l", "l", "k", "h", "l", "l", "j", "j"]
        {
            shown.press(&[key]);
            let text = shown.text(width, height);
            let id = shown.screen.ui.graph.selected.clone().unwrap();
            let row = format!("║ {id} ");
            assert!(text.contains(&row), "{key}: {id} is not on the screen:\n{text}");
            seen += usize::from(text.contains('█') || text.contains('▓'));
        }
        assert!(seen > 0, "there is an overview");
    }
}
