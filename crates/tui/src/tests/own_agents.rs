//! Agents of the person's own on the screen, as runs that were recorded show them. The cards of these runs are among all
//! cards in `requests`.

use super::fixture::Fixture;
use super::journals::{recorded_journal, recorded_request};
use planwright_model::RequestKind;
use planwright_model::event::{AgentEvent, ApprovalEvent, Event, Record};

/// A recorded run up to the first record that is meant, which is left out.
fn before(name: &str, is_meant: impl Fn(&Record) -> bool) -> Fixture {
    let mut records = recorded_journal(name);
    let end = records.iter().position(is_meant).unwrap();
    records.truncate(end);
    Fixture::from_records(records)
}

#[test]
fn two_agents_at_work_in_copies_of_their_own() {
    // Claude Code waits for an answer; Codex is about to hand in.
    let at_work = before(
        "own_agents",
        |record| matches!(&record.event, Event::Agent(AgentEvent::HandedIn { task, .. }) if task.as_str() == "guide"),
    );
    for (width, height) in [(120, 40), (80, 24), (200, 60)] {
        let text = at_work.live().frame(width, height);
        insta::assert_snapshot!(format!("own_agents_{width}x{height}"), text);
    }
    let activity = at_work.live().text(200, 60);
    for shown in ["Claude Code", "Codex", "allow this command?"] {
        assert!(activity.contains(shown), "{shown}\n{activity}");
    }
}

#[test]
fn the_card_of_a_task_has_the_agent_with_its_list() {
    let asks = |record: &Record| {
        matches!(&record.event, Event::Approval(ApprovalEvent::Asked { request })
            if matches!(request.kind, RequestKind::Permission { .. }))
    };
    let mut shown = before("own_agents", asks).live();
    shown.screen.ui.select_task("port".into());
    shown.press(&["Enter"]);
    insta::assert_snapshot!("own_agent_task_120x40", shown.frame(120, 40));
}

#[test]
fn a_finished_try_and_the_choice_can_be_scrubbed() {
    let fixture = recorded_request("candidate_choice", 2);
    let handed_in =
        |record: &Record| matches!(&record.event, Event::Agent(AgentEvent::HandedIn { .. }));
    let first = fixture.records.iter().position(handed_in).unwrap() as u64 + 1;
    insta::assert_snapshot!("own_agent_replay_120x40", fixture.replay(first).frame(120, 40));
}
