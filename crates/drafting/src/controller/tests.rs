//! Every row is taken; no path is infinite.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;

use super::transition_table::{
    ROWS, TransitionGuard, TransitionRow, TransitionSource, TransitionTarget,
};
use super::*;
use planwright_model::{
    ApprovalPolicy, ApprovalTarget, Autonomy, InteractionPolicy, PlanCounters, PlanLimits,
};

/// A conversation that tests can modify as needed.
#[derive(Clone, Debug)]
struct TestConversation {
    place: PlanningPosition,
    resume: Option<PlanningPosition>,
    counters: PlanCounters,
    policy: InteractionPolicy,
    approved: BTreeSet<ApprovalTarget>,
    scope: Option<Stage>,
    may_ask: bool,
    may_relax: bool,
    offline: bool,
}

const LIMITS: PlanLimits = PlanLimits {
    turn_limit: 10,
    retry_limit_per_stage: 2,
    clarify_round_limit: 3,
    continue_limit: 3,
    unparsed_limit: 2,
    revision_limit: 5,
    escalation_round_limit: 3,
    wall_time_sec: None,
    segment_max_sec: 600,
};

impl TestConversation {
    fn at(place: PlanningPosition) -> Self {
        Self {
            place,
            resume: Some(PlanningPosition::from_state(PlanState::DraftRoadmap)),
            counters: PlanCounters::default(),
            policy: InteractionPolicy::default(),
            approved: BTreeSet::new(),
            scope: Some(Stage::Outline),
            may_ask: true,
            may_relax: true,
            offline: false,
        }
    }

    fn view(&self) -> TransitionContext<'_> {
        TransitionContext {
            place: self.place,
            resume: self.resume,
            counters: &self.counters,
            limits: &LIMITS,
            policy: &self.policy,
            approved: &self.approved,
            scope: self.scope,
            may_ask: self.may_ask,
            may_relax: self.may_relax,
            offline: self.offline,
            small_goal: false,
            own_steps: false,
            segment_sec: 0,
        }
    }

    /// Applies a transition the way the fold does.
    fn take(&mut self, moved: &ControllerTransition) {
        self.place = moved.to;
        self.resume = moved.resume;
        for effect in &moved.effects {
            match *effect {
                PlanEffect::Retry(stage) => *self.counters.retries.entry(stage).or_default() += 1,
                PlanEffect::ClearRetries(stage) => {
                    self.counters.retries.retain(|kept, _| *kept < stage);
                }
                PlanEffect::ClarifyRound => self.counters.clarify_rounds += 1,
                PlanEffect::CollectAgain => self.counters.collected_again = true,
                PlanEffect::Revision => self.counters.revisions += 1,
                PlanEffect::Escalation => self.counters.escalations += 1,
                PlanEffect::Continue => self.counters.continues += 1,
                PlanEffect::AutoRelax => self.counters.auto_relaxed += 1,
                PlanEffect::Offline => self.offline = true,
                PlanEffect::NewSegment => {
                    self.counters.turns = 0;
                    self.counters.collected_again = false;
                }
                PlanEffect::ResetLimits => {
                    self.counters.revisions = 0;
                    self.counters.escalations = 0;
                    self.counters.continues = 0;
                }
                _ => {}
            }
        }
        if moved.to.state.costs_turn() {
            self.counters.turns += 1;
        }
    }
}

fn places() -> Vec<PlanningPosition> {
    let mut places: Vec<PlanningPosition> = PlanState::ALL
        .into_iter()
        .filter(|state| !matches!(state, PlanState::SeekApproval | PlanState::NeedsClarification))
        .map(PlanningPosition::from_state)
        .collect();
    places.extend(ApprovalTarget::ALL.map(PlanningPosition::seeking_approval));
    places.extend(
        PauseKind::ALL
            .into_iter()
            .filter(|kind| *kind != PauseKind::Approval)
            .map(PlanningPosition::paused_for),
    );
    places.extend(ApprovalTarget::ALL.map(|target| PlanningPosition {
        target: Some(target),
        ..PlanningPosition::paused_for(PauseKind::Approval)
    }));
    places
}

/// Returns a conversation in which exactly this row must decide.
fn conversation_for(row: &TransitionRow) -> TestConversation {
    let place = match row.from {
        TransitionSource::Any | TransitionSource::AnyDraft => {
            PlanningPosition::from_state(PlanState::DraftRoadmap)
        }
        TransitionSource::At(PlanState::NeedsClarification) => {
            PlanningPosition::paused_for(PauseKind::Questions)
        }
        TransitionSource::At(state) => PlanningPosition::from_state(state),
        TransitionSource::Seeking(target) => PlanningPosition::seeking_approval(target),
        TransitionSource::AnySeeking => PlanningPosition::seeking_approval(ApprovalTarget::Outline),
        TransitionSource::Paused(pause) => PlanningPosition::paused_for(pause),
    };
    let mut conversation = TestConversation::at(place);
    // Guards of rows above for the same position and outcome must fail, and the row's own guard must pass.
    let above: Vec<&TransitionRow> = ROWS
        .iter()
        .take_while(|other| other.id != row.id)
        .filter(|other| other.outcome == row.outcome && other.from.covers(place))
        .collect();
    for other in &above {
        satisfy(&mut conversation, other.guard, false);
    }
    satisfy(&mut conversation, row.guard, true);
    conversation
}

fn satisfy(conversation: &mut TestConversation, guard: TransitionGuard, wanted: bool) {
    let spend = |counter: &mut u32, limit: u32| *counter = if wanted { 0 } else { limit };
    let own = conversation.place.state.stage().unwrap_or(Stage::Outline);
    match guard {
        TransitionGuard::Always => assert!(wanted, "a row above decides always"),
        TransitionGuard::Asks(_) | TransitionGuard::HighAndAsks(_) => {
            conversation.policy.approval_policy =
                if wanted { ApprovalPolicy::StrictEveryStep } else { ApprovalPolicy::SingleFinal };
            if matches!(guard, TransitionGuard::HighAndAsks(_)) && wanted {
                conversation.policy.autonomy = Autonomy::High;
            }
        }
        TransitionGuard::RetriesLeft(stage) => {
            conversation.counters.retries.insert(stage, if wanted { 0 } else { 2 });
        }
        TransitionGuard::OwnRetriesLeft => {
            conversation.counters.retries.insert(own, if wanted { 0 } else { 2 });
        }
        TransitionGuard::ClarifyRoundsLeft => spend(&mut conversation.counters.clarify_rounds, 3),
        TransitionGuard::RevisionsLeft => spend(&mut conversation.counters.revisions, 5),
        TransitionGuard::EscalationsLeft => spend(&mut conversation.counters.escalations, 3),
        TransitionGuard::ContinuesLeft => spend(&mut conversation.counters.continues, 3),
        TransitionGuard::AutonomyHigh | TransitionGuard::MayRelax => {
            conversation.policy.autonomy = if wanted { Autonomy::High } else { Autonomy::Medium };
        }
        TransitionGuard::MayCollectAgain => conversation.counters.collected_again = !wanted,
        TransitionGuard::OfflineUntried => conversation.offline = !wanted,
    }
}

#[test]
fn every_row_of_the_table_can_be_taken() {
    for row in ROWS {
        let conversation = conversation_for(row);
        let moved = resolve_transition(&conversation.view(), row.outcome)
            .unwrap_or_else(|| panic!("{}: nothing decides", row.id));
        assert_eq!(moved.row, row.id, "another row decides");
        let expected = row.resolve_target(&conversation.view());
        assert_eq!(moved.to, expected, "{}", row.id);
        if row.to == TransitionTarget::Resume {
            assert_eq!(
                moved.to,
                PlanningPosition::from_state(PlanState::DraftRoadmap),
                "{}",
                row.id
            );
        }
        let pauses = moved.to.state == PlanState::NeedsClarification;
        assert_eq!(moved.resume.is_some(), pauses, "{}: a pause knows its way back", row.id);
    }
}

#[test]
fn row_ids_are_unique() {
    let ids: HashSet<&str> = ROWS.iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), ROWS.len());
}

#[test]
fn the_end_of_a_conversation_is_final() {
    let conversation = TestConversation::at(PlanningPosition::from_state(PlanState::Aborted));
    assert!(
        ControllerOutcome::ALL.iter().all(|outcome| resolve_transition(
            &conversation.view(),
            *outcome
        )
        .is_none())
    );
}

/// Every state in which the agent works has a transition for every outcome of its work.
#[test]
fn no_outcome_of_work_falls_through() {
    let validations = [
        ControllerOutcome::Valid,
        ControllerOutcome::Unsure,
        ControllerOutcome::TooUnsure,
        ControllerOutcome::InvalidRetryable,
        ControllerOutcome::InvalidFatal,
    ];
    let drafts = [
        ControllerOutcome::Success,
        ControllerOutcome::LowConfidence,
        ControllerOutcome::ToolError,
        ControllerOutcome::InvalidOutput,
        ControllerOutcome::FatalError,
        ControllerOutcome::Budget,
    ];
    for stage in Stage::ALL {
        for outcome in validations {
            let conversation =
                TestConversation::at(PlanningPosition::from_state(stage.validation_state()));
            assert!(
                resolve_transition(&conversation.view(), outcome).is_some(),
                "{stage:?} {outcome:?}"
            );
        }
        for outcome in drafts {
            let conversation =
                TestConversation::at(PlanningPosition::from_state(stage.draft_state()));
            assert!(
                resolve_transition(&conversation.view(), outcome).is_some(),
                "{stage:?} {outcome:?}"
            );
        }
    }
}

#[test]
fn example_11_ten_turns_are_the_longest_legal_segment() {
    let mut conversation = TestConversation::at(PlanningPosition::default());
    conversation.policy.approval_policy = ApprovalPolicy::SingleFinal;
    conversation.counters.turns = 1;
    let mut go = |outcome| {
        let moved = resolve_transition(&conversation.view(), outcome).unwrap();
        conversation.take(&moved);
        moved
    };
    go(ControllerOutcome::SufficientContext);
    for _ in Stage::ALL {
        for _ in 0..2 {
            go(ControllerOutcome::Success);
            go(ControllerOutcome::InvalidRetryable);
        }
        go(ControllerOutcome::Success);
        go(ControllerOutcome::Valid);
    }
    assert_eq!(conversation.counters.turns, 10);
    assert_eq!(conversation.place, PlanningPosition::seeking_approval(ApprovalTarget::Final));
    // One more draft in the same segment is one too many.
    conversation.place = PlanningPosition::from_state(PlanState::ValidateSchedule);
    conversation.counters.retries = BTreeMap::new();
    let moved =
        resolve_transition(&conversation.view(), ControllerOutcome::InvalidRetryable).unwrap();
    assert_eq!(moved.to, PlanningPosition::paused_for(PauseKind::Cap));
    assert_eq!(moved.reason, Some(EscalationReason::CapTurns));
    assert_eq!(moved.resume, Some(PlanningPosition::from_state(PlanState::DraftSchedule)));
}

#[test]
fn each_policy_asks_as_often_as_documented() {
    use ApprovalPolicy::{MilestoneApprovals, SingleFinal, StrictEveryStep};
    use Autonomy::{High, Low, Medium};
    for (approval_policy, autonomy, expected) in [
        (SingleFinal, High, 1),
        (SingleFinal, Medium, 1),
        (SingleFinal, Low, 2),
        (MilestoneApprovals, High, 1),
        (MilestoneApprovals, Medium, 2),
        (MilestoneApprovals, Low, 2),
        (StrictEveryStep, High, 4),
        (StrictEveryStep, Medium, 4),
        (StrictEveryStep, Low, 4),
    ] {
        let policy = InteractionPolicy { autonomy, approval_policy, ..Default::default() };
        let count = ApprovalTarget::ALL
            .into_iter()
            .filter(|target| requires_approval(&policy, false, *target))
            .count();
        assert_eq!(count, expected, "{approval_policy:?} {autonomy:?}");
    }
}

#[test]
fn a_small_goal_keeps_only_the_final_approval() {
    let policy = InteractionPolicy::default();
    assert!(!requires_approval(&policy, true, ApprovalTarget::Outline));
    assert!(requires_approval(&policy, true, ApprovalTarget::Final));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// For any outcomes of the work, the agent stops within the caps: it ends, or it waits for the person.
    #[test]
    fn every_segment_ends_or_pauses_within_the_caps(
        outcomes in prop::collection::vec(prop::sample::select(ControllerOutcome::ALL), 1..200),
        high in any::<bool>(),
    ) {
        let mut conversation = TestConversation::at(PlanningPosition::default());
        conversation.counters.turns = 1;
        if high {
            conversation.policy.autonomy = Autonomy::High;
        }
        let mut working = 0;
        for outcome in outcomes {
            // Only outcomes of work; the person does not reply.
            if !conversation.place.state.is_working() {
                break;
            }
            let Some(moved) = resolve_transition(&conversation.view(), outcome) else { continue };
            prop_assert!(!moved.effects.contains(&PlanEffect::NewSegment), "{}", moved.row);
            conversation.take(&moved);
            working += 1;
            // At least every second transition enters a state that costs a turn.
            prop_assert!(working <= 2 * LIMITS.turn_limit + 2, "{working} transitions");
        }
    }

    /// At every position the table has at most one transition, and it never panics.
    #[test]
    fn any_outcome_anywhere_is_decided_the_same_way_twice(
        at in 0..30usize,
        outcome in prop::sample::select(ControllerOutcome::ALL),
    ) {
        let places = places();
        let conversation = TestConversation::at(places[at % places.len()]);
        prop_assert_eq!(resolve_transition(&conversation.view(), outcome), resolve_transition(&conversation.view(), outcome));
    }
}

#[test]
fn the_diagrams_contain_every_state_and_mark_the_path() {
    let walked = BTreeSet::from(["context.sufficient".to_owned()]);
    let mermaid = diagram::render_mermaid(&walked);
    for state in PlanState::ALL {
        assert!(mermaid.contains(state.as_str()), "{state}");
    }
    assert!(mermaid.contains("COLLECT_CONTEXT --> DRAFT_OUTLINE : sufficient_context *"));
    assert!(diagram::render_dot(&walked).contains("penwidth=3"));
}

/// Returns whether a transition counts toward a limit, so that no path can take it forever.
fn counts_toward_limit(moved: &ControllerTransition) -> bool {
    let counted = moved.effects.iter().any(|effect| {
        matches!(
            effect,
            PlanEffect::Retry(_)
                | PlanEffect::ClarifyRound
                | PlanEffect::CollectAgain
                | PlanEffect::Revision
                | PlanEffect::Escalation
                | PlanEffect::Continue
                | PlanEffect::Unparsed
                | PlanEffect::AutoRelax
        )
    });
    counted || moved.to.state.costs_turn()
}

/// The agent's own transitions that count toward nothing never lead back to where they started, under any policy and
/// with any counter values.
#[test]
fn no_cycle_is_without_a_counter() {
    let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
    let places = places();
    let number = |place: PlanningPosition| places.iter().position(|known| *known == place);
    for place in places.iter().filter(|place| place.state.is_working()) {
        for outcome in ControllerOutcome::ALL {
            for autonomy in [Autonomy::Low, Autonomy::Medium, Autonomy::High] {
                for approval_policy in [
                    ApprovalPolicy::SingleFinal,
                    ApprovalPolicy::MilestoneApprovals,
                    ApprovalPolicy::StrictEveryStep,
                ] {
                    for (spent, flag) in [(0, true), (0, false), (2, true), (2, false), (9, false)]
                    {
                        let mut conversation = TestConversation::at(*place);
                        conversation.policy.autonomy = autonomy;
                        conversation.policy.approval_policy = approval_policy;
                        conversation.counters.retries =
                            Stage::ALL.into_iter().map(|stage| (stage, spent)).collect();
                        conversation.counters.clarify_rounds = spent;
                        conversation.counters.collected_again = !flag;
                        conversation.may_ask = flag;
                        conversation.may_relax = flag;
                        conversation.offline = !flag;
                        let Some(moved) = resolve_transition(&conversation.view(), *outcome) else {
                            continue;
                        };
                        if !counts_toward_limit(&moved)
                            && let (Some(from), Some(to)) = (number(moved.from), number(moved.to))
                        {
                            edges.insert((from, to));
                        }
                    }
                }
            }
        }
    }
    // Repeatedly removing positions without incoming transitions leaves only cycles.
    let mut left: BTreeSet<usize> = (0..places.len()).collect();
    loop {
        let entered: BTreeSet<usize> = edges
            .iter()
            .filter(|(from, to)| left.contains(from) && left.contains(to))
            .map(|(_, to)| *to)
            .collect();
        if entered == left {
            break;
        }
        left = entered;
    }
    let cycle: Vec<String> = left.iter().map(|at| places[*at].to_string()).collect();
    assert!(cycle.is_empty(), "{cycle:?}");
}

#[test]
fn the_diagram_in_the_documentation_matches_the_table() {
    let page = include_str!("../../../../docs/controller.md");
    let picture = diagram::render_mermaid(&BTreeSet::new());
    let block = format!("```mermaid\n{}\n```", picture.trim_end());
    assert!(
        page.contains(&block),
        "put the output of `planwright graph --controller` there:\n{block}"
    );
}
