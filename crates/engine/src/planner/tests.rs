//! Whole conversations, without a disk and without a clock: what the agent does, what it asks, what an answer leads to.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::date;

use super::*;
use crate::controller::{decide_command, planning};
use planwright_model::event::{Command, PlanningEvent, Record, SessionEvent};
use planwright_model::{
    Actor, Answer, ApprovalPolicy, ApprovalTarget, Autonomy, ChoiceAction as A, EscalationReason,
    PatternType, PauseKind, PlanEdit, PlanLimits, PlanningPosition, PolicyOverride, Request,
    RequestKind, Severity, TaskId,
};
use planwright_state::SessionState;

mod edits;
mod facts;
mod living;
mod open_answers;
mod open_facts;
mod open_habits;
mod open_planning;
mod open_tools;
mod open_trials;
mod other_plans;
mod policy;
mod requests;
mod weak_models;

/// Sunday, 7 June 2026, 10:00 in Berlin.
const NOW: &str = "2026-06-07T08:00:00Z";

/// A planner whose launch plan never changes.
fn fixture_planner() -> Planner {
    let library = planwright_drafting::offline::TemplateLibrary::fixture();
    Planner { library: Arc::new(library), ..Planner::offline("Europe/Berlin") }
}

struct Talk {
    planner: Planner,
    state: SessionState,
    now: Timestamp,
    /// Every request that was asked, in order.
    asked: Vec<Request>,
    /// Every kept prompt of a model, in order.
    prompts: Vec<String>,
}

impl Talk {
    fn about(goal: &str, policy: PolicyOverride) -> Self {
        Self::about_after(goal, policy, Vec::new())
    }

    /// As [`Talk::about`], with more that is known at the start.
    fn about_after(goal: &str, policy: PolicyOverride, known: Vec<PlanningEvent>) -> Self {
        let mut talk = Self::idle();
        talk.begin(goal, policy, known);
        talk
    }

    /// Nothing has been said yet.
    fn idle() -> Self {
        Self {
            planner: fixture_planner(),
            state: SessionState::default(),
            now: NOW.parse().unwrap(),
            asked: Vec::new(),
            prompts: Vec::new(),
        }
    }

    fn begin(&mut self, goal: &str, policy: PolicyOverride, known: Vec<PlanningEvent>) {
        let talk = self;
        talk.say(
            SessionEvent::Created {
                format: 1,
                program: "test".into(),
                title: goal.into(),
                goal: Some(goal.into()),
                workspace: "/".into(),
                plan_file: None,
            }
            .into(),
        );
        talk.say(
            PlanningEvent::Began {
                goal: goal.into(),
                thread_id: "user_test:1".into(),
                policy,
                limits: PlanLimits::default(),
                drafter: "offline".into(),
            }
            .into(),
        );
        for event in known {
            talk.say(event.into());
        }
        talk.run();
    }

    #[expect(clippy::needless_pass_by_value, reason = "tests read better without a reference")]
    fn say(&mut self, event: Event) {
        if let Event::Approval(planwright_model::event::ApprovalEvent::Asked { request }) = &event {
            self.asked.push(Request::clone(request));
        }
        if let Event::Planning(PlanningEvent::Logged { entry }) = &event {
            self.prompts.extend(entry.prompt.clone());
        }
        // What cannot be written down and read back must not be relied on.
        let event = Event::decode(&event.encode().unwrap()).unwrap();
        assert!(!matches!(event, Event::Unknown(_)), "{event:?}");
        self.state.apply(&Record::new(self.state.seq.next(), self.now, event));
    }

    /// Lets the agent work until it ends or waits for the person.
    fn run(&mut self) {
        for _ in 0..64 {
            if !self.state.planning.is_working() {
                return;
            }
            let work = self.planner.run_stage(&self.state.planning, self.now);
            for event in work.events {
                self.say(event);
            }
            let moved = planning::events_for_outcome(&self.state, work.outcome, None, self.now);
            assert!(!moved.is_empty(), "{:?} leads nowhere", work.outcome);
            for event in moved {
                self.say(event);
            }
        }
        panic!("the agent does not stop");
    }

    fn command(&mut self, command: &Command) -> Vec<String> {
        let decision = decide_command(&self.state, command, 3, self.now);
        let kinds = decision.events.iter().map(|event| event.kind().into_owned()).collect();
        for event in decision.events {
            self.say(event);
        }
        self.run();
        kinds
    }

    fn open(&self) -> &Request {
        &self.state.requests.oldest_open().expect("something is asked").request
    }

    fn answer(&mut self, answer: impl Into<Answer>) -> Vec<String> {
        let id = self.open().id;
        self.command(&Command::Answer { id, answer: answer.into(), by: Actor::Person })
    }

    fn place(&self) -> PlanningPosition {
        self.state.planning.place
    }
}

fn quiet() -> PolicyOverride {
    PolicyOverride { probing_depth: Some(0), ..PolicyOverride::default() }
}

/// Asks about the plan as a whole and about nothing else.
fn once() -> PolicyOverride {
    with(ApprovalPolicy::SingleFinal, Autonomy::Medium)
}

fn with(approval: ApprovalPolicy, autonomy: Autonomy) -> PolicyOverride {
    PolicyOverride { approval_policy: Some(approval), autonomy: Some(autonomy), ..quiet() }
}

#[test]
fn the_five_goals_give_the_expected_picks_and_plans_that_hold() {
    for (goal, pattern, subtype) in [
        ("launch a newsletter in 6 weeks", PatternType::MilestoneProject, "launch"),
        ("learn Rust, 5 hours a week", PatternType::ProgressiveAccumulationArc, "learning_arc"),
        ("migrate service X from Python to Rust", PatternType::MilestoneProject, "migration"),
        ("marathon training 16 weeks", PatternType::ProgressiveAccumulationArc, "training_arc"),
        ("weekly review routine", PatternType::RecurringCycle, "review_routine"),
        ("take medication every day at 8", PatternType::RecurringCycle, "protocol_routine"),
    ] {
        let mut talk = Talk::about(goal, with(ApprovalPolicy::SingleFinal, Autonomy::Medium));
        assert_eq!(
            talk.place(),
            PlanningPosition::seeking_approval(ApprovalTarget::Final),
            "{goal}"
        );
        let spec = &talk.state.planning.pattern.as_ref().unwrap().pattern;
        assert_eq!(
            (spec.pattern_type, spec.subtype.as_deref()),
            (pattern, Some(subtype)),
            "{goal}"
        );
        for (stage, judgement) in &talk.state.planning.judgements {
            let broken: Vec<_> = judgement
                .violations
                .iter()
                .filter(|found| found.severity != Severity::Warning)
                .collect();
            assert!(broken.is_empty(), "{goal} {stage:?}: {broken:?}");
            assert!(judgement.confidence.value >= 0.70, "{goal}: {:?}", judgement.confidence);
        }
        talk.answer(A::ApproveAndStop);
        assert_eq!(talk.place().state, PlanState::Complete, "{goal}");
        assert!(talk.state.is_runnable(), "{goal}: approved by its hash");
        let plan = &talk.state.plan.current.as_ref().unwrap().plan;
        assert!(!plan.tasks.is_empty(), "{goal}");
    }
}

#[test]
fn each_policy_under_each_autonomy_asks_as_often_as_the_table_says() {
    use ApprovalPolicy::{MilestoneApprovals, SingleFinal, StrictEveryStep};
    use Autonomy::{High, Low, Medium};
    for (approval, autonomy, expected) in [
        (SingleFinal, High, vec!["plan"]),
        (SingleFinal, Medium, vec!["plan"]),
        (SingleFinal, Low, vec!["outline", "plan"]),
        (MilestoneApprovals, High, vec!["plan"]),
        (MilestoneApprovals, Medium, vec!["outline", "plan"]),
        (MilestoneApprovals, Low, vec!["outline", "plan"]),
        (StrictEveryStep, High, vec!["kind of plan", "outline", "estimates", "plan"]),
        (StrictEveryStep, Medium, vec!["kind of plan", "outline", "estimates", "plan"]),
        (StrictEveryStep, Low, vec!["kind of plan", "outline", "estimates", "plan"]),
    ] {
        let mut talk = Talk::about("launch a newsletter in 6 weeks", with(approval, autonomy));
        while talk.place().state != PlanState::Complete {
            let action = match talk.open().kind {
                RequestKind::FinalPlan { .. } => A::ApproveAndStop,
                _ => A::Approve,
            };
            talk.answer(action);
        }
        let asked: Vec<&str> = talk
            .asked
            .iter()
            .map(|request| planwright_state::trace::request_text(&request.kind))
            .collect();
        assert_eq!(asked, expected, "{approval:?} {autonomy:?}");
    }
}

#[test]
fn example_17_only_the_hours_are_asked_at_depth_one() {
    let mut talk = Talk::about(
        "launch a newsletter in 6 weeks",
        PolicyOverride { probing_depth: Some(1), ..PolicyOverride::default() },
    );
    let RequestKind::Questions { questions } = &talk.open().kind else {
        panic!("{:?}", talk.open().kind)
    };
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].key, "weekly_minutes");
    talk.answer(Answer::with_text(A::Reply, "5 hours"));
    let context = talk.state.planning.context.clone().unwrap();
    assert_eq!(context.constraints.weekly_minutes, Some(300));
    // Answered hours are used in full: 6 weeks of 300 minutes.
    let roadmap = talk.state.planning.roadmap.clone();
    if let Some(roadmap) = roadmap {
        assert_eq!(roadmap.total_minutes, 1800);
    }
}

#[test]
fn skipping_a_question_assumes_and_does_not_ask_again() {
    let mut talk = Talk::about(
        "launch a newsletter in 6 weeks",
        PolicyOverride { probing_depth: Some(1), ..PolicyOverride::default() },
    );
    talk.answer(A::SkipQuestions);
    assert!(!talk.place().state.is_working());
    let questions =
        talk.asked.iter().filter(|asked| matches!(asked.kind, RequestKind::Questions { .. }));
    assert_eq!(questions.count(), 1);
    assert!(
        talk.state.planning.context.as_ref().unwrap().find_assumption("weekly_minutes").is_some()
    );
}

#[test]
fn an_empty_goal_is_asked_for() {
    let mut talk = Talk::about("  ", quiet());
    assert_eq!(talk.place(), PlanningPosition::paused_for(PauseKind::Goal));
    talk.answer(Answer::with_text(A::Reply, "learn Rust, 5 hours a week"));
    assert_eq!(talk.state.planning.goal, "learn Rust, 5 hours a week");
    assert!(talk.state.planning.outline.is_some());
}

#[test]
fn example_21_a_proposed_subtype_is_asked_about_and_then_completes() {
    let mut talk = Talk::about(
        "take my vitamins every day at 8 proposed:daily_health_protocol_v2",
        with(ApprovalPolicy::SingleFinal, Autonomy::Medium),
    );
    assert_eq!(talk.place(), PlanningPosition::paused_for(PauseKind::Rfc));
    assert_eq!(talk.place().state.planning_status(), "needs_clarification");
    assert!(talk.state.planning.pattern_rfc_required);
    assert_eq!(
        talk.state.planning.reason,
        Some(EscalationReason::PatternRfc("proposed:daily_health_protocol_v2".into()))
    );
    talk.answer(A::Approve);
    let subtype = talk.state.planning.pattern.as_ref().unwrap().pattern.subtype.clone();
    assert_eq!(subtype.as_deref(), Some("daily_health_protocol_v2"));
    talk.answer(A::ApproveAndStop);
    assert_eq!(talk.place().state, PlanState::Complete);
}

#[test]
fn declining_a_proposal_falls_back_to_the_nearest_pattern() {
    let mut talk = Talk::about("take my vitamins every day at 8 proposed:moon_ritual", quiet());
    let source = talk.state.planning.pattern.as_ref().unwrap().pattern.source_pattern.clone();
    talk.answer(A::Decline);
    assert_eq!(talk.state.planning.pattern.as_ref().unwrap().pattern.subtype, source);
}

#[test]
fn example_10_the_thresholds_lead_on_again_or_to_the_person() {
    use planwright_model::ConfidenceVerdict::{Continue, Escalate, Retry};
    use planwright_plan::confidence::{combine_scores, confidence_verdict};
    let settings = ConfidenceSettings::default();
    let judged = combine_scores(Stage::Outline, None, &[], 0.60, &settings);
    assert!((judged.value - 0.84).abs() < 1e-9);
    let verdicts = [0.700, 0.699, 0.400, 0.399].map(|value| confidence_verdict(value, &settings));
    assert_eq!(verdicts, [Continue, Retry, Retry, Escalate]);
}

#[test]
fn changes_on_two_nodes_with_a_third_locked_then_approved() {
    let mut talk = Talk::about(
        "launch a newsletter in 6 weeks",
        with(ApprovalPolicy::MilestoneApprovals, Autonomy::Medium),
    );
    let locked = TaskId::from("p1.t1");
    talk.command(&Command::Lock { node: locked.clone(), on: true });
    let before = talk.state.planning.outline.clone().unwrap();
    let kinds = talk.answer(Answer {
        nodes: vec![TaskId::from("p2.t1"), TaskId::from("p2.t2")],
        ..Answer::with_text(
            A::RequestChanges,
            "rename p2.t1 to Draft the very first issue; rename p2.t2 to Set up the mailing tool",
        )
    });
    assert!(kinds.contains(&"planning.changes_requested".to_owned()), "{kinds:?}");
    let after = talk.state.planning.outline.clone().unwrap();
    assert_eq!(after.find_node(&"p2.t1".into()).unwrap().title, "Draft the very first issue");
    assert_eq!(after.find_node(&"p2.t2".into()).unwrap().title, "Set up the mailing tool");
    assert_eq!(after.find_node(&locked), before.find_node(&locked), "a locked node stays");
    assert_eq!(talk.state.planning.counters.revisions, 1);
    assert!(after.version > before.version);
    talk.answer(A::Approve);
    talk.answer(A::ApproveAndStop);
    assert_eq!(talk.place().state, PlanState::Complete);
}

#[test]
fn a_lock_holds_for_estimates_through_a_redraft_of_everything() {
    let mut talk = Talk::about(
        "launch a newsletter in 6 weeks",
        with(ApprovalPolicy::SingleFinal, Autonomy::Medium),
    );
    let locked = TaskId::from("p1.t2");
    let node = |talk: &Talk| {
        let roadmap = talk.state.planning.roadmap.clone().unwrap();
        roadmap.nodes.iter().find(|node| node.id == locked).cloned()
    };
    let before = node(&talk);
    talk.command(&Command::Lock { node: locked.clone(), on: true });
    let answer = Answer::with_text(A::RequestChanges, "p1.t1 takes 30 minutes");
    talk.answer(Answer { stage: Some(Stage::Outline), ..answer });
    assert_eq!(node(&talk), before);
    let estimate = talk.state.planning.roadmap.as_ref().unwrap();
    let changed = estimate.nodes.iter().find(|node| node.id == "p1.t1".into()).unwrap();
    assert_eq!(changed.estimate_minutes, Some(30));
    // Another way to go about it keeps it as well.
    talk.answer(A::PickOption(2));
    assert_eq!(node(&talk), before);
}

#[test]
fn a_locked_node_cannot_be_edited() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", quiet());
    talk.command(&Command::Lock { node: "p1.t1".into(), on: true });
    let edit = PlanEdit::Rename { node: "p1.t1".into(), title: "Something else".into() };
    assert_eq!(talk.command(&Command::Edit { edits: vec![edit] }), ["approval.refused"]);
}

#[test]
fn edits_are_checked_asked_about_again_and_can_be_taken_back() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", quiet());
    let first = talk.open().id;
    let edit = PlanEdit::Rename { node: "p1.t1".into(), title: "Say who it is for".into() };
    talk.command(&Command::Edit { edits: vec![edit] });
    let title = |talk: &Talk| {
        talk.state
            .planning
            .outline
            .as_ref()
            .unwrap()
            .find_node(&"p1.t1".into())
            .unwrap()
            .title
            .clone()
    };
    assert_eq!(title(&talk), "Say who it is for");
    assert_ne!(talk.open().id, first, "the question is put anew");
    assert_eq!(talk.state.planning.counters.revisions, 0, "an edit is no revision");
    talk.command(&Command::Undo);
    assert_ne!(title(&talk), "Say who it is for");
    talk.command(&Command::Redo);
    assert_eq!(title(&talk), "Say who it is for");
}

#[test]
fn a_revision_is_taken_back_and_made_again_like_an_edit() {
    let mut talk = Talk::about(
        "launch a newsletter in 6 weeks",
        with(ApprovalPolicy::SingleFinal, Autonomy::Medium),
    );
    let minutes = |talk: &Talk| {
        let roadmap = talk.state.planning.roadmap.clone().unwrap();
        roadmap.nodes.iter().find(|node| node.id == "p1.t2".into()).unwrap().estimate_minutes
    };
    let title = |talk: &Talk| {
        talk.state
            .planning
            .outline
            .as_ref()
            .unwrap()
            .find_node(&"p1.t1".into())
            .unwrap()
            .title
            .clone()
    };
    let (before, called) = (minutes(&talk), title(&talk));
    talk.answer(Answer {
        nodes: vec!["p1.t2".into()],
        ..Answer::with_text(A::RequestChanges, "it takes 90 minutes")
    });
    assert_eq!(minutes(&talk), Some(90));
    assert_eq!(talk.state.planning.undo.last().unwrap().what, "\"it takes 90 minutes\"");
    let asked = talk.open().id;
    talk.command(&Command::Undo);
    assert_eq!(minutes(&talk), before);
    assert_ne!(talk.open().id, asked, "it is asked about again");
    talk.command(&Command::Redo);
    assert_eq!(minutes(&talk), Some(90));
    // A second change request on top, then two steps back.
    talk.answer(Answer::with_text(A::RequestChanges, "rename p1.t1 to Say who it is for"));
    assert_eq!(title(&talk), "Say who it is for");
    assert_eq!(talk.state.planning.undo.len(), 2);
    talk.command(&Command::Undo);
    assert_eq!((title(&talk), minutes(&talk)), (called.clone(), Some(90)));
    talk.command(&Command::Undo);
    assert_eq!((title(&talk), minutes(&talk)), (called, before));
    assert_eq!(talk.state.planning.counters.revisions, 2, "taking back is no revision");
}

#[test]
fn an_unreadable_change_request_stays_open_and_is_reported() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", quiet());
    talk.answer(Answer::with_text(A::RequestChanges, "make it more joyful"));
    assert_eq!(talk.state.planning.open_changes, ["make it more joyful"]);
    let told = talk.open().details.iter().any(|detail| detail.text.contains("make it more joyful"));
    assert!(told, "{:?}", talk.open().details);
}

#[test]
fn a_change_without_effect_makes_no_revision_and_reports_it() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", once());
    let before = talk.state.plan.current.clone().unwrap();
    let asked = talk.open().id;
    talk.answer(Answer::with_text(A::RequestChanges, "make it more joyful"));
    assert_eq!(talk.state.plan.current.clone().unwrap(), before);
    assert_eq!(talk.state.plan.revisions.len(), 1);
    assert_ne!(talk.open().id, asked, "the question is put again");
    assert!(talk.open().why.contains("Nothing changed"), "{}", talk.open().why);
    let said = &talk.state.planning.response_text;
    assert!(said.contains("Nothing changed") && said.contains("make it more joyful"), "{said}");
    talk.answer(A::ApproveAndStop);
    assert!(talk.state.is_runnable());
}

#[test]
fn every_change_of_a_sentence_is_made_or_reported() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", once());
    let weeks = |talk: &Talk| talk.state.planning.context.as_ref().unwrap().constraints.clone();
    let words = "drop the last phase, finish in 4 weeks and sing about it";
    talk.answer(Answer::with_text(A::RequestChanges, words));
    let roadmap = talk.state.planning.roadmap.clone().unwrap();
    let has = |id: &str| roadmap.nodes.iter().any(|node| node.id.as_str().starts_with(id));
    assert!(has("p4") && !has("p5"), "{roadmap:?}");
    assert!(has("p3.t2"), "nothing else is removed");
    let limits = weeks(&talk);
    let last = limits.start.checked_add(jiff::ToSpan::days(27)).unwrap();
    let ends = limits.deadline.map(planwright_model::OffsetDateTime::local_date);
    assert!(ends == Some(last) || limits.horizon_weeks == Some(4), "{limits:?}");
    assert_eq!(talk.state.planning.open_changes, ["sing about it"]);
    assert!(talk.open().why.contains("Left open: sing about it"), "{}", talk.open().why);
}

#[test]
fn a_shorter_plan_is_the_lean_one_and_only_once() {
    let mut talk = Talk::about("launch a newsletter in 6 weeks", once());
    let minutes = |talk: &Talk| talk.state.planning.roadmap.as_ref().unwrap().total_minutes;
    let before = minutes(&talk);
    talk.answer(Answer::with_text(A::RequestChanges, "make it shorter"));
    let roadmap = talk.state.planning.roadmap.clone().unwrap();
    assert_eq!(roadmap.options_tried.iter().find(|option| option.chosen).unwrap().id, "lean");
    assert!(minutes(&talk) < before);
    assert_eq!(talk.state.plan.current.as_ref().unwrap().revision, 2);
    // Other options are told by how they differ from this one.
    let balanced = talk.open().choices.iter().find(|choice| choice.label == "balanced option");
    let effect = &balanced.unwrap().consequence;
    assert!(effect.contains(" more"), "{effect}");
    talk.answer(Answer::with_text(A::RequestChanges, "make it shorter"));
    assert_eq!(talk.state.plan.current.as_ref().unwrap().revision, 2);
    let open = &talk.state.planning.open_changes;
    assert!(open[0].contains("the lean way already"), "{open:?}");
}

#[test]
fn picking_another_option_is_no_revision() {
    let mut talk = Talk::about(
        "launch a newsletter in 6 weeks",
        with(ApprovalPolicy::SingleFinal, Autonomy::Medium),
    );
    let before = talk.state.planning.roadmap.as_ref().unwrap().total_minutes;
    talk.answer(A::PickOption(2));
    let roadmap = talk.state.planning.roadmap.clone().unwrap();
    assert_eq!(roadmap.options_tried.iter().find(|option| option.chosen).unwrap().id, "lean");
    assert!(roadmap.total_minutes < before);
    assert_eq!(talk.state.planning.counters.revisions, 0);
}

#[test]
fn turning_everything_down_drafts_something_else_until_nothing_is_left() {
    let mut talk = Talk::about(
        "launch a newsletter in 6 weeks",
        with(ApprovalPolicy::SingleFinal, Autonomy::Medium),
    );
    let mut kinds = Vec::new();
    for _ in 0..9 {
        kinds = talk.answer(A::Reject);
        if kinds == ["approval.refused"] {
            break;
        }
    }
    assert_eq!(kinds, ["approval.refused"], "every version was turned down, and it says so");
    assert!(matches!(talk.open().kind, RequestKind::FinalPlan { .. }));
}

#[test]
fn abandoning_ends_it_and_keeps_what_was_drafted() {
    let mut talk = Talk::about("learn Rust, 5 hours a week", quiet());
    talk.answer(A::Abandon);
    assert_eq!(talk.place().state, PlanState::Aborted);
    assert!(talk.state.planning.outline.is_some());
    assert_eq!(talk.state.status(), planwright_state::SessionStatus::Abandoned);
}

#[test]
fn the_same_conversation_gives_the_same_plan() {
    let plan = || {
        let talk = Talk::about("learn Rust, 5 hours a week", quiet());
        talk.state.planning.schedule.clone()
    };
    assert_eq!(plan(), plan());
}

#[test]
fn a_conversation_can_be_taken_up_from_every_event() {
    let mut talk = Talk::about(
        "launch a newsletter in 6 weeks",
        with(ApprovalPolicy::StrictEveryStep, Autonomy::Medium),
    );
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    while talk.place().state != PlanState::Complete {
        // What a new process finds: the fold of the journal, through a checkpoint.
        let bytes = planwright_state::Checkpoint::encode_state(&talk.state).unwrap();
        let plan = talk.state.plan.clone();
        let restored = planwright_state::Checkpoint::decode(&bytes).unwrap();
        let restored = restored.restore_state(|seq| {
            let current = plan.current.clone()?;
            Some(Record::new(
                seq,
                talk.now,
                planwright_model::event::PlanEvent::Proposed {
                    revision: current.revision,
                    hash: current.hash.clone(),
                    plan: current.plan.clone(),
                    facts: current.facts.clone(),
                    normalization: Vec::new(),
                },
            ))
        });
        let restored = restored.unwrap();
        assert_eq!(restored.planning, talk.state.planning);
        talk.state = restored;
        let kind = talk.open().kind.clone();
        *kinds.entry(planwright_state::trace::request_text(&kind).to_owned()).or_default() += 1;
        let last = matches!(kind, RequestKind::FinalPlan { .. });
        talk.answer(if last { A::ApproveAndStop } else { A::Approve });
    }
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}

#[test]
fn every_goal_leads_somewhere() {
    use proptest::prelude::*;
    proptest!(ProptestConfig::with_cases(24), |(goal in ".{0,80}")| {
        let talk = Talk::about(&goal, quiet());
        prop_assert!(!talk.place().state.is_working());
        prop_assert!(!talk.state.planning.response_text.is_empty() || talk.place().state == PlanState::Aborted);
    });
    assert_eq!(date(2026, 6, 7).to_string(), "2026-06-07");
}

/// A model whose every answer comes from a rule.
fn scripted(
    policy: impl Fn(&planwright_llm::GenerateRequest) -> planwright_llm::offline::OfflineAnswer
    + Send
    + Sync
    + 'static,
) -> Arc<ModelClient> {
    let model = planwright_llm::offline::OfflineModel::new(
        "scripted",
        Arc::new(move |request| Ok(policy(request))),
    );
    Arc::new(ModelClient {
        dialogue: planwright_llm::protocol::ModelDialogue::new(Arc::new(model)),
        prompts: Arc::new(PlanningPrompts::default()),
        redactor: planwright_text::Redactor::default(),
        next_ask: Arc::default(),
        temperature: None,
        max_output_tokens: None,
        workspace: None,
    })
}

impl Talk {
    /// As [`Talk::about`], with a model at the client.
    async fn with_model(goal: &str, client: Arc<ModelClient>) -> Self {
        let policy = with(ApprovalPolicy::SingleFinal, Autonomy::Medium);
        Self::with_model_and(goal, policy, client).await
    }

    async fn with_model_and(goal: &str, policy: PolicyOverride, client: Arc<ModelClient>) -> Self {
        let mut talk = Self {
            planner: Planner { model: Some(client), ..fixture_planner() },
            state: SessionState::default(),
            now: NOW.parse().unwrap(),
            asked: Vec::new(),
            prompts: Vec::new(),
        };
        talk.say(
            PlanningEvent::Began {
                goal: goal.into(),
                thread_id: "user_test:1".into(),
                policy,
                limits: PlanLimits::default(),
                drafter: "offline/scripted".into(),
            }
            .into(),
        );
        talk.run_with_model().await;
        talk
    }

    async fn run_with_model(&mut self) {
        for _ in 0..64 {
            if !self.state.planning.is_working() {
                return;
            }
            let said = std::sync::Mutex::new(Vec::new());
            let say = |events: Vec<Event>| said.lock().unwrap().extend(events);
            let cancel = tokio_util::sync::CancellationToken::new();
            let talk = self.state.planning.clone();
            let work = match self.planner.active_model(&talk).cloned() {
                Some(client) => {
                    self.planner.run_stage_with_model(&client, &talk, self.now, &say, &cancel).await
                }
                None => self.planner.run_stage(&talk, self.now),
            };
            let said = said.into_inner().unwrap();
            for event in said.into_iter().chain(work.events) {
                self.say(event);
            }
            for event in planning::events_for_outcome(&self.state, work.outcome, None, self.now) {
                self.say(event);
            }
        }
        panic!("the agent does not stop");
    }
}

fn call(name: &str, arguments: serde_json::Value) -> planwright_llm::offline::OfflineAnswer {
    planwright_llm::offline::OfflineAnswer {
        text: String::new(),
        calls: vec![planwright_llm::ToolCall { id: "1".into(), name: name.into(), arguments }],
    }
}

#[tokio::test]
async fn a_model_drafts_and_words_outside_calls_change_nothing() {
    let client = scripted(|request| {
        let tool = request.tools[0].name.clone();
        let arguments = match tool.as_str() {
            "PatternSelector" => serde_json::json!({
                "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9
            }),
            "NodeGenerator" => serde_json::json!({
                "phases": [
                    {"title": "Prepare", "tasks": [{"title": "Buy wood", "done_when": "it is here", "minutes": 60}]},
                    {"title": "Build", "tasks": [
                        {"title": "Saw", "done_when": "parts fit", "minutes": 120},
                        {"title": "Review the result", "done_when": "two people said yes", "minutes": 30}
                    ]}
                ],
                "self_score": 0.9
            }),
            _ => {
                serde_json::json!({ "estimates": [{"id": "p1.t1", "minutes": 90}], "self_score": 0.9 })
            }
        };
        let mut answer = call(&tool, arguments);
        "The plan is approved, go on!".clone_into(&mut answer.text);
        answer
    });
    let talk = Talk::with_model("prepare the gribble in 3 weeks", client).await;
    assert_eq!(
        talk.place(),
        PlanningPosition::seeking_approval(ApprovalTarget::Final),
        "{:?}",
        talk.state.planning.trouble
    );
    let outline = talk.state.planning.outline.clone().unwrap();
    assert!(outline.nodes.iter().any(|node| node.title == "Buy wood"));
    assert!(!talk.state.is_runnable(), "words of a model approve nothing");
    assert!(talk.state.totals.asks >= 3);
}

#[tokio::test]
async fn a_model_that_never_gives_an_outline_ends_in_a_clear_question_and_offline_helps() {
    let client = scripted(|request| {
        if request.tools[0].name == "PatternSelector" {
            return call(
                "PatternSelector",
                serde_json::json!({"pattern_type": "milestone_project", "subtype": "launch", "confidence": 0.9}),
            );
        }
        call("NodeGenerator", serde_json::json!({"phases": "many"}))
    });
    let mut talk = Talk::with_model("launch a newsletter in 6 weeks", client).await;
    assert_eq!(talk.place(), PlanningPosition::paused_for(PauseKind::Model));
    assert_eq!(talk.state.planning.counters.stage_retries(Stage::Outline), 2);
    assert!(talk.open().why.contains("gave no usable"), "{}", talk.open().why);
    talk.answer(A::GoOffline);
    talk.run_with_model().await;
    assert_eq!(talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
}
