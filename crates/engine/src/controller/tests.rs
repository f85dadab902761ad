//! Commands in, decisions out.

use super::*;
use planwright_model::event::{Record, RiskClass, SessionEvent};
use planwright_model::requests::{AskReason, ToolCallQuestion, permission_request};
use planwright_model::{
    Actor, Answer, CallId, ChoiceAction, GraphFacts, Plan, RequestId, RunKind, Seq, TaskLink,
    TaskNode,
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn plan() -> Plan {
    let mut tasks: Vec<TaskNode> = ["a", "b", "c"].map(|id| TaskNode::new(id, id)).into();
    for task in &mut tasks {
        task.run = RunKind::Shell("true".into());
    }
    tasks[1].dependencies = vec![TaskLink::finish_to_start("a")];
    tasks[2].dependencies = vec![TaskLink::finish_to_start("b")];
    Plan { title: "Three in a row".into(), tasks, ..Plan::default() }
}

fn state_after(events: Vec<Event>) -> SessionState {
    let mut state = SessionState::default();
    for event in events {
        state.apply(&Record::new(state.seq.next(), Timestamp::UNIX_EPOCH, event));
    }
    state
}

fn proposed() -> Vec<Event> {
    let plan = plan();
    let mut events: Vec<Event> = vec![
        SessionEvent::Created {
            format: 1,
            program: "test".into(),
            title: "t".into(),
            goal: None,
            workspace: "/".into(),
            plan_file: None,
        }
        .into(),
        PlanEvent::Proposed {
            revision: 1,
            hash: plan.digest().unwrap(),
            facts: Arc::new(GraphFacts {
                depth: vec![0, 1, 2],
                root_tasks: vec!["a".into()],
                ..GraphFacts::default()
            }),
            plan: Arc::new(plan),
            normalization: Vec::new(),
        }
        .into(),
    ];
    let state = state_after(events.clone());
    let current = state.plan.current.as_ref().unwrap();
    let request = final_plan_request(RequestId(1), &current.as_proposed_plan());
    events.push(ApprovalEvent::Asked { request: Arc::new(request) }.into());
    events
}

fn answer(action: ChoiceAction) -> Command {
    Command::Answer { id: RequestId(1), answer: Answer::from(action), by: Actor::Person }
}

fn kinds(decision: &CommandDecision) -> Vec<String> {
    decision.events.iter().map(|event| event.kind().into_owned()).collect()
}

/// The state after a run in which `a` failed and the rest was skipped.
fn failed() -> SessionState {
    let mut events = proposed();
    let state = state_after(events.clone());
    events.extend(decide_command(&state, &answer(ChoiceAction::ApproveAndRun), 3, NOW).events);
    events.push(
        TaskEvent::Started { task: "a".into(), attempt: 1, depth: 0, affinity_delta: 0.0 }.into(),
    );
    events.push(
        TaskEvent::Failed {
            task: "a".into(),
            attempt: 1,
            elapsed_ms: 1,
            failure: planwright_model::ExecutionFailure::new(
                "exit_status",
                planwright_model::Category::Critical,
                "exit 1",
            ),
            retry_in_ms: None,
        }
        .into(),
    );
    let state = state_after(events.clone());
    events.extend(coordinator::skips_after_failure(&state, 0));
    let state = state_after(events.clone());
    events.push(coordinator::run_finished_event(&state, 1).into());
    state_after(events)
}

#[test]
fn approving_names_the_hash_and_starts_the_run() {
    let state = state_after(proposed());
    let decision = decide_command(&state, &answer(ChoiceAction::ApproveAndRun), 3, NOW);
    assert_eq!(kinds(&decision), ["approval.answered", "plan.approved", "run.started"]);
    let hash = plan().digest().unwrap();
    assert!(decision.events.contains(&PlanEvent::Approved { hash, by: Actor::Person }.into()));
}

#[test]
fn approving_and_stopping_starts_nothing() {
    let state = state_after(proposed());
    let decision = decide_command(&state, &answer(ChoiceAction::ApproveAndStop), 3, NOW);
    assert_eq!(kinds(&decision), ["approval.answered", "plan.approved"]);
}

#[test]
fn nothing_runs_without_an_approval_of_this_very_revision() {
    let mut events = proposed();
    let refused =
        decide_command(&state_after(events.clone()), &Command::Run { by: Actor::Person }, 3, NOW);
    assert_eq!(
        refused.events,
        [ApprovalEvent::Refused { command: "run".into(), why: CommandRefusal::NotApproved }.into()]
    );
    let other = planwright_model::Digest::from_value(&"another plan").unwrap();
    events.push(PlanEvent::Approved { hash: other, by: Actor::Person }.into());
    let refused = decide_command(&state_after(events), &Command::Run { by: Actor::Person }, 3, NOW);
    assert_eq!(kinds(&refused), ["approval.refused"]);
}

#[test]
fn a_request_is_answered_once() {
    let mut events = proposed();
    let first =
        decide_command(&state_after(events.clone()), &answer(ChoiceAction::ApproveAndStop), 3, NOW);
    events.extend(first.events);
    let second = decide_command(&state_after(events), &answer(ChoiceAction::ApproveAndRun), 3, NOW);
    assert_eq!(kinds(&second), ["approval.refused"]);
}

#[test]
fn an_answer_that_is_not_offered_is_refused() {
    let decision =
        decide_command(&state_after(proposed()), &answer(ChoiceAction::Happened), 3, NOW);
    assert_eq!(kinds(&decision), ["approval.refused"]);
}

#[test]
fn approving_a_changed_plan_after_a_failure_runs_what_failed_again() {
    let mut state = failed();
    let mut changed = plan();
    changed.tasks[0].run = RunKind::Shell("echo again".into());
    let facts = Arc::clone(&state.plan.current.as_ref().unwrap().facts);
    let revise = Command::Revise { plan: changed.into(), facts, normalization: Vec::new() };
    for event in decide_command(&state, &revise, 3, NOW).events {
        state.apply(&Record::new(state.seq.next(), NOW, event));
    }
    let id = state.requests.oldest_open().unwrap().request.id;
    let approve = Command::Answer {
        id,
        answer: Answer::from(ChoiceAction::ApproveAndRun),
        by: Actor::Person,
    };
    let decision = decide_command(&state, &approve, 3, NOW);
    assert_eq!(
        kinds(&decision),
        [
            "approval.answered",
            "plan.approved",
            "task.reset",
            "task.reset",
            "task.reset",
            "run.started"
        ]
    );
}

#[test]
fn a_typed_rule_that_does_not_fit_leaves_the_question_open() {
    let id = RequestId(2);
    let request = permission_request(
        id,
        &ToolCallQuestion {
            call: &CallId { task: "a".into(), attempt: 1, step: 1 },
            title: "A task",
            tool: "shell",
            class: RiskClass::Execute,
            why: &AskReason::Strict,
            command: Some("cargo test"),
            url: None,
            directory: None,
            files: Vec::new(),
            args: &serde_json::Value::Null,
            preview: None,
            is_foreign: false,
            asked_by: None,
            in_copy: false,
            input: None,
            has_network: false,
            unconfined: None,
            rule: Some("exactly this command".to_owned()),
        },
    );
    let mut events = proposed();
    events.push(ApprovalEvent::Asked { request: Arc::new(request) }.into());
    let typed = |text: &str| Command::Answer {
        id,
        answer: Answer::with_text(ChoiceAction::AllowAlways, text.to_owned()),
        by: Actor::Person,
    };
    let state = state_after(events);
    assert_eq!(kinds(&decide_command(&state, &typed("npm *"), 3, NOW)), ["approval.refused"]);
    assert_eq!(kinds(&decide_command(&state, &typed(""), 3, NOW)), ["approval.answered"]);
}

#[test]
fn retrying_a_failed_task_reopens_the_run() {
    let state = failed();
    let decision = decide_command(
        &state,
        &Command::RetryTask { task: "a".into(), with_dependents: false },
        3,
        NOW,
    );
    assert_eq!(kinds(&decision), ["task.reset", "run.started"]);
}

#[test]
fn retrying_with_dependents_resets_all_that_follow() {
    let state = failed();
    let decision = decide_command(
        &state,
        &Command::RetryTask { task: "a".into(), with_dependents: true },
        3,
        NOW,
    );
    assert_eq!(kinds(&decision), ["task.reset", "task.reset", "task.reset", "run.started"]);
}

#[test]
fn skipping_alone_lets_dependents_go_on() {
    let state = failed();
    let decision = decide_command(
        &state,
        &Command::SkipTask { task: "a".into(), with_dependents: false },
        3,
        NOW,
    );
    assert_eq!(kinds(&decision), ["task.skipped", "task.reset", "task.reset", "run.started"]);
}

#[test]
fn a_task_that_waits_cannot_be_retried() {
    let state = state_after(proposed());
    let decision = decide_command(
        &state,
        &Command::RetryTask { task: "a".into(), with_dependents: false },
        3,
        NOW,
    );
    assert_eq!(kinds(&decision), ["approval.refused"]);
    let unknown = decide_command(
        &state,
        &Command::RetryTask { task: "zz".into(), with_dependents: false },
        3,
        NOW,
    );
    assert!(matches!(
        &unknown.events[0],
        Event::Approval(ApprovalEvent::Refused { why: CommandRefusal::UnknownTask { .. }, .. })
    ));
}

#[test]
fn jobs_have_a_range() {
    let state = state_after(proposed());
    assert_eq!(
        kinds(&decide_command(&state, &Command::SetJobs { jobs: 0 }, 3, NOW)),
        ["approval.refused"]
    );
    assert_eq!(
        kinds(&decide_command(&state, &Command::SetJobs { jobs: 5 }, 3, NOW)),
        ["run.jobs_changed"]
    );
    assert_eq!(state.seq, Seq(3));
}

#[test]
fn an_agent_is_stopped_between_its_calls_too() {
    let mut events = proposed();
    let state = state_after(events.clone());
    events.extend(decide_command(&state, &answer(ChoiceAction::ApproveAndRun), 3, NOW).events);
    events.push(
        TaskEvent::Started { task: "a".into(), attempt: 2, depth: 0, affinity_delta: 0.0 }.into(),
    );
    let mut state = state_after(events);
    let stop = Command::CancelTask { task: "a".into() };
    assert_eq!(kinds(&decide_command(&state, &stop, 3, NOW)), ["approval.refused"]);
    let mut revision = PlanRevision::clone(state.plan.current.as_ref().unwrap());
    let mut plan = Plan::clone(&revision.plan);
    plan.tasks[0].run = RunKind::agent();
    revision.plan = Arc::new(plan);
    state.plan.current = Some(Arc::new(revision));
    let stopped = decide_command(&state, &stop, 3, NOW);
    let call = CallId { task: "a".into(), attempt: 2, step: 0 };
    assert_eq!(stopped.effects, [DriverEffect::Cancel(call)]);
}
