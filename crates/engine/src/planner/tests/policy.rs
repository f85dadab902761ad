//! Every row of the policy has its effect in a conversation.

use super::*;
use crate::SavedDecision;
use crate::controller::DriverEffect;
use planwright_drafting::agent_messages::{count_words, word_limit};
use planwright_model::{BrainstormingPreference as B, ConversationStyle, LinkKind, Tone};

const LAUNCH: &str = "launch a newsletter in 6 weeks";

fn brainstorming(preference: B, style: ConversationStyle) -> PolicyOverride {
    PolicyOverride {
        brainstorming_preference: Some(preference),
        conversation_style: Some(style),
        ..with(ApprovalPolicy::MilestoneApprovals, Autonomy::Medium)
    }
}

fn ideas_on_the_card(talk: &Talk) -> usize {
    talk.open().details.iter().filter(|detail| detail.label == "Idea").count()
}

#[test]
fn ideas_come_always_when_unsure_or_on_demand() {
    let always = Talk::about(LAUNCH, brainstorming(B::AlwaysOffer, ConversationStyle::Standard));
    assert_eq!((always.state.planning.ideas.len(), ideas_on_the_card(&always)), (3, 3));
    let concise = Talk::about(LAUNCH, brainstorming(B::AlwaysOffer, ConversationStyle::Concise));
    assert_eq!(concise.state.planning.ideas.len(), 2);
    let sure = brainstorming(B::SuggestWhenUncertain, ConversationStyle::Standard);
    let mut certain = Talk::idle();
    certain.planner = Planner::offline("Europe/Berlin");
    certain.begin(LAUNCH, sure.clone(), Vec::new());
    assert!(certain.state.planning.ideas.is_empty(), "it is sure");
    // Two built-in kinds fit equally, and the person does not say which it is.
    let mut torn = Talk::idle();
    torn.planner = Planner::offline("Europe/Berlin");
    torn.begin("a workshop or a conference", sure, Vec::new());
    torn.answer(A::SkipQuestions);
    assert!(torn.state.planning.pattern.as_ref().unwrap().margin < 0.10);
    assert_eq!(torn.state.planning.ideas.len(), 3);
    let silent = brainstorming(B::OnDemand, ConversationStyle::Standard);
    assert!(Talk::about(LAUNCH, silent).state.planning.ideas.is_empty());
}

#[test]
fn asking_for_ideas_leaves_the_question_open() {
    let policy = PolicyOverride {
        probing_depth: Some(1),
        brainstorming_preference: Some(B::OnDemand),
        ..PolicyOverride::default()
    };
    let talk = Talk::about(LAUNCH, policy);
    let id = talk.open().id;
    let request = Command::Answer { id, answer: A::Ideas.into(), by: Actor::Person };
    let decision = decide_command(&talk.state, &request, 3, talk.now);
    assert_eq!(decision.effects, [DriverEffect::Brainstorm]);
    assert!(decision.events.is_empty(), "{:?}", decision.events);
    let ideas = talk.planner.offline_ideas(&talk.state.planning, talk.now);
    assert_eq!(ideas.len(), 3);
    let said = planning::requests::ideas_message(&talk.state.planning, &ideas);
    assert!(ideas.iter().all(|idea| said.contains(idea.as_str())), "{said}");
    assert_eq!(said.matches("Reply ").count(), 1, "one call to action: {said}");
}

#[test]
fn how_to_talk_is_asked_in_the_first_message_and_is_no_question() {
    let policy = PolicyOverride { probing_depth: Some(1), ..PolicyOverride::default() };
    let mut talk = Talk::about_after(LAUNCH, policy, vec![PlanningEvent::StyleUnknown {}]);
    let line = planwright_drafting::agent_messages::preference_line();
    let first = talk.state.planning.response_text.clone();
    assert_eq!(first.matches(line).count(), 1, "{first}");
    assert_eq!(first.matches("Reply ").count(), 1, "{first}");
    assert!(!talk.state.planning.asks_style);
    let RequestKind::Questions { questions } = &talk.open().kind else { panic!() };
    assert_eq!(questions.len(), 1, "it does not count as a question");
    // "short" says how to talk and answers nothing else; it is kept for later plans.
    let id = talk.open().id;
    let answer = Answer::with_text(A::Reply, "short");
    let command = Command::Answer { id, answer, by: Actor::Person };
    let kept = decide_command(&talk.state, &command, 3, talk.now).effects;
    let concise = PolicyOverride {
        conversation_style: Some(ConversationStyle::Concise),
        ..PolicyOverride::default()
    };
    assert_eq!(kept, [DriverEffect::SaveDecision(SavedDecision::Policy(concise))]);
    talk.answer(Answer::with_text(A::Reply, "short"));
    assert_eq!(talk.open().id, id);
    assert_eq!(
        talk.state.planning.interaction_policy().conversation_style,
        ConversationStyle::Concise
    );
    talk.answer(A::SkipQuestions);
    assert!(!talk.state.planning.response_text.contains(line));
}

/// A reply that nobody understands leaves the request open; from the limit on the request is repeated word for word.
#[test]
fn replies_that_are_not_understood_end_in_the_request_itself() {
    let policy = PolicyOverride { probing_depth: Some(1), ..PolicyOverride::default() };
    let asked_after = |limit: u32| {
        let mut talk = Talk::about(LAUNCH, policy.clone());
        talk.state.planning.limits.unparsed_limit = limit;
        let repeated = (0..3).map(|_| {
            talk.answer(Answer::with_text(A::Reply, "perhaps, perhaps not"));
            let why = talk.open().unread.as_ref().map(|unread| unread.why.clone());
            why.is_some_and(|why| why.contains("Reply with your answer"))
        });
        repeated.collect::<Vec<_>>()
    };
    assert_eq!(asked_after(2), [false, false, true]);
    assert_eq!(asked_after(0), [true, true, true]);
}

#[test]
fn words_about_the_conversation_change_only_what_they_name_and_only_for_the_session() {
    let policy = PolicyOverride { probing_depth: Some(1), ..PolicyOverride::default() };
    let mut talk = Talk::about(LAUNCH, policy.clone());
    let id = talk.open().id;
    let kinds = talk.answer(Answer::with_text(A::Reply, "Be brief today, please."));
    assert_eq!(kinds, ["planning.policy_set", "approval.amended"]);
    assert_eq!(talk.open().id, id, "the question is still open");
    let expected =
        PolicyOverride { conversation_style: Some(ConversationStyle::Concise), ..policy };
    assert_eq!(talk.state.planning.policy_set, expected);
    // Together with an answer, both count.
    talk.answer(Answer::with_text(A::Reply, "5 hours, and be formal"));
    assert_eq!(talk.state.planning.interaction_policy().tone, Tone::Clinical);
    let context = talk.state.planning.context.clone().unwrap();
    assert_eq!(context.constraints.weekly_minutes, Some(300));
    // A change request that only sounds like a remark is a change request.
    assert!(
        planwright_drafting::policy_text::parse_pure_remark("keep it short and add a review")
            .is_none()
    );
}

#[test]
fn style_and_autonomy_change_requests_options_ideas_and_words_but_not_the_contract() {
    let brief = PolicyOverride {
        conversation_style: Some(ConversationStyle::Concise),
        autonomy: Some(Autonomy::High),
        brainstorming_preference: Some(B::OnDemand),
        ..quiet()
    };
    let chatty = PolicyOverride {
        conversation_style: Some(ConversationStyle::Conversational),
        brainstorming_preference: Some(B::AlwaysOffer),
        ..quiet()
    };
    let mut shapes = Vec::new();
    for (policy, requests, options, ideas) in [(brief, 1, 2, 0), (chatty, 2, 3, 3)] {
        let mut talk = Talk::about(LAUNCH, policy);
        while !matches!(talk.open().kind, RequestKind::FinalPlan { .. }) {
            talk.answer(A::Approve);
        }
        let said = talk.state.planning.response_text.clone();
        let roadmap = talk.state.planning.roadmap.clone().unwrap();
        let shown = roadmap.options_tried.iter().filter(|option| said.contains(&option.label));
        assert_eq!(shown.count(), options, "{said}");
        assert_eq!(talk.state.planning.ideas.len(), ideas);
        let counted: usize =
            said.lines().filter(|line| !line.starts_with("Reply ")).map(count_words).sum();
        assert!(
            counted <= word_limit(&talk.state.planning.interaction_policy()),
            "{counted} words: {said}"
        );
        talk.answer(A::ApproveAndStop);
        assert_eq!(talk.place().state, PlanState::Complete);
        assert_eq!(talk.asked.len(), requests);
        shapes.push(roadmap.nodes.iter().map(|node| node.id.clone()).collect::<Vec<_>>());
    }
    assert_eq!(shapes[0], shapes[1], "the plan is the same");
}

#[test]
fn the_newsletter_overlaps_its_phases_and_compares_options() {
    let talk = Talk::about(LAUNCH, with(ApprovalPolicy::SingleFinal, Autonomy::Medium));
    let roadmap = talk.state.planning.roadmap.clone().unwrap();
    // The audience is built while the newsletter is, once half of it is there.
    let overlap = roadmap.dependencies.iter().find(|link| link.kind == LinkKind::SS).unwrap();
    assert_eq!((overlap.from.as_str(), overlap.to.as_str()), ("p2", "p3"));
    assert_eq!(overlap.lag_minutes, 495);
    assert!((2..=3).contains(&roadmap.options_tried.len()));
    assert_eq!(roadmap.options_tried.iter().filter(|option| option.chosen).count(), 1);
}

#[test]
fn medication_keeps_its_local_time_over_a_clock_change() {
    let mut talk = Talk::idle();
    talk.now = "2026-10-10T08:00:00Z".parse().unwrap();
    let policy = with(ApprovalPolicy::SingleFinal, Autonomy::Medium);
    talk.begin("take medication every day at 8", policy, Vec::new());
    assert_eq!(
        talk.place(),
        PlanningPosition::seeking_approval(ApprovalTarget::Final),
        "{:?}",
        talk.place()
    );
    let schedule = talk.state.planning.schedule.clone().unwrap();
    let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
    let mut offsets = std::collections::BTreeSet::new();
    let mut days = std::collections::BTreeMap::new();
    for block in &schedule.blocks {
        let local = block.start.at.to_zoned(zone.clone());
        days.entry(local.date()).or_insert(local.time());
        offsets.insert(local.offset().seconds());
    }
    assert_eq!(offsets.len(), 2, "the schedule crosses the change");
    let daily = days.values().filter(|time| time.hour() == 8).count();
    assert!(daily * 10 >= days.len() * 9, "{days:?}");
}

#[test]
fn a_proposed_subtype_may_be_used_at_once_where_no_rfc_is_required() {
    let goal = "take my vitamins every day at 8 proposed:moon_ritual";
    let policy = with(ApprovalPolicy::SingleFinal, Autonomy::Medium);
    let mut talk = Talk::idle();
    talk.planner.settings.require_rfc_for_new_subtype = false;
    talk.begin(goal, policy.clone(), Vec::new());
    assert_eq!(talk.place(), PlanningPosition::seeking_approval(ApprovalTarget::Final));
    let subtype = talk.state.planning.pattern.as_ref().unwrap().pattern.subtype.clone();
    assert_eq!(subtype.as_deref(), Some("proposed:moon_ritual"));
    let flagged = talk
        .open()
        .details
        .iter()
        .any(|detail| detail.label == "Kind" && detail.text == "moon ritual, a new kind");
    assert!(flagged, "{:?}", talk.open().details);
    // With proposals switched off there is none.
    let mut talk = Talk::idle();
    talk.planner.settings.allow_new_subtype_proposals = false;
    talk.begin(goal, policy, Vec::new());
    let pattern = talk.state.planning.pattern.as_ref().unwrap().pattern.clone();
    assert!(pattern.proposed_name().is_none(), "{pattern:?}");
}

#[tokio::test]
async fn a_proposed_pattern_is_recorded_and_the_plan_uses_the_nearest() {
    let client = scripted(|request| {
        let tool = request.tools[0].name.clone();
        let arguments = match tool.as_str() {
            "PatternSelector" => serde_json::json!({
                "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9,
                "proposed_pattern": "spiral_growth",
                "rfc": "Every round begins where the last one ended, only wider."
            }),
            "NodeGenerator" => good_outline(),
            _ => serde_json::json!({ "estimates": [], "self_score": 0.9 }),
        };
        call(&tool, arguments)
    });
    let mut talk = Talk::with_model("prepare the gribble in 3 weeks", client).await;
    assert_eq!(talk.place(), PlanningPosition::paused_for(PauseKind::Rfc));
    assert!(
        matches!(&talk.open().kind, RequestKind::Rfc { pattern: true, subtype, .. } if subtype == "spiral_growth")
    );
    assert_eq!(
        talk.state.planning.reason,
        Some(EscalationReason::PatternRfc("spiral_growth".into()))
    );
    assert!(talk.state.planning.response_text.contains("a new kind of plan, spiral growth"));
    assert!(
        talk.state
            .planning
            .response_text
            .ends_with("Reply 'approve', 'decline' or 'propose changes: …'.")
    );
    let yes = Command::Answer { id: talk.open().id, answer: A::Approve.into(), by: Actor::Person };
    let kept = decide_command(&talk.state, &yes, 3, talk.now).effects;
    let expected = |effect: &DriverEffect| matches!(effect, DriverEffect::SaveDecision(SavedDecision::PatternProposal { name, .. }) if name == "spiral_growth");
    assert!(kept.iter().any(expected), "{kept:?}");
    let id = talk.open().id;
    let decision = decide_command(
        &talk.state,
        &Command::Answer { id, answer: A::Approve.into(), by: Actor::Person },
        3,
        talk.now,
    );
    for event in decision.events {
        talk.say(event);
    }
    talk.run_with_model().await;
    assert_eq!(
        talk.place(),
        PlanningPosition::seeking_approval(ApprovalTarget::Final),
        "{:?}",
        talk.state.planning.trouble
    );
    let pattern = &talk.state.planning.pattern.as_ref().unwrap().pattern;
    assert_eq!(
        (pattern.pattern_type, pattern.subtype.as_deref()),
        (PatternType::MilestoneProject, Some("generic"))
    );
}

fn good_outline() -> serde_json::Value {
    serde_json::json!({
        "phases": [
            {"title": "Prepare", "tasks": [{"title": "Buy wood", "done_when": "it is here", "minutes": 60}]},
            {"title": "Build", "tasks": [
                {"title": "Saw", "done_when": "parts fit", "minutes": 120},
                {"title": "Review the result", "done_when": "two people said yes", "minutes": 30}
            ]}
        ],
        "self_score": 0.9
    })
}

#[tokio::test]
async fn a_model_that_only_breaks_the_outline_keeps_the_best_one_and_asks() {
    let client = scripted(|request| {
        let tool = request.tools[0].name.clone();
        let asked = serde_json::to_string(&request.messages).unwrap();
        let arguments = match tool.as_str() {
            "PatternSelector" => serde_json::json!({
                "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9
            }),
            "NodeGenerator" if asked.contains("The person asks") => {
                serde_json::json!({ "phases": [] })
            }
            "NodeGenerator" => good_outline(),
            _ => serde_json::json!({ "estimates": [], "self_score": 0.9 }),
        };
        call(&tool, arguments)
    });
    let mut talk = Talk::with_model("build a shelf in 3 weeks", client).await;
    let best = talk.state.planning.outline.clone().unwrap();
    let request = Answer::with_text(A::RequestChanges, "another structure, please");
    let id = talk.open().id;
    let decision = decide_command(
        &talk.state,
        &Command::Answer { id, answer: request, by: Actor::Person },
        3,
        talk.now,
    );
    for event in decision.events {
        talk.say(event);
    }
    talk.run_with_model().await;
    assert_eq!(talk.place(), PlanningPosition::paused_for(PauseKind::Model));
    assert_eq!(talk.state.planning.counters.stage_retries(Stage::Outline), 2, "two retries");
    let nodes = |outline: &planwright_model::PlanOutline| outline.nodes.clone();
    assert_eq!(nodes(talk.state.planning.outline.as_ref().unwrap()), nodes(&best));
    assert!(talk.open().available_choice(A::GoOffline).is_some());
    assert!(talk.open().available_choice(A::Reply).is_some(), "other words may help");
    assert!(talk.state.planning.response_text.contains("could not draft"));
}

#[tokio::test]
async fn ideas_of_a_model_count_if_they_are_enough_and_never_hold_anything_up() {
    for (given, expected) in [(3, "Idea 1"), (1, "Show a rough")] {
        let client = scripted(move |request| {
            let tool = request.tools[0].name.clone();
            let ideas: Vec<String> =
                (1..=given).map(|number| format!("Idea {number}: less effort")).collect();
            let arguments = match tool.as_str() {
                "Brainstormer" => serde_json::json!({ "ideas": ideas }),
                "PatternSelector" => serde_json::json!({
                    "pattern_type": "milestone_project", "subtype": "launch", "confidence": 0.9
                }),
                "NodeGenerator" => good_outline(),
                _ => serde_json::json!({ "estimates": [], "self_score": 0.9 }),
            };
            call(&tool, arguments)
        });
        let mut policy = with(ApprovalPolicy::SingleFinal, Autonomy::Medium);
        policy.brainstorming_preference = Some(B::AlwaysOffer);
        let talk = Talk::with_model_and("launch a newsletter in 6 weeks", policy, client).await;
        assert_eq!(
            talk.place(),
            PlanningPosition::seeking_approval(ApprovalTarget::Final),
            "{:?}",
            talk.state.planning.trouble
        );
        assert_eq!(talk.state.planning.ideas.len(), 3);
        assert!(
            talk.state.planning.ideas[0].starts_with(expected),
            "{:?}",
            talk.state.planning.ideas
        );
    }
}

#[tokio::test]
async fn words_beside_calls_are_shown_and_are_not_the_agents_answer() {
    let client = scripted(|request| {
        let tool = request.tools[0].name.clone();
        let arguments = match tool.as_str() {
            "PatternSelector" => serde_json::json!({
                "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9
            }),
            "NodeGenerator" => good_outline(),
            _ => serde_json::json!({ "estimates": [], "self_score": 0.9 }),
        };
        let mut answer = call(&tool, arguments);
        "The plan is approved, go on!".clone_into(&mut answer.text);
        answer
    });
    let talk = Talk::with_model("build a shelf in 3 weeks", client).await;
    let said = &talk.state.planning.response_text;
    assert!(!said.contains("is approved"), "{said}");
    assert!(said.starts_with("Good to have you here."), "the first message still greets: {said}");
    assert!(!talk.state.is_runnable());
}

#[tokio::test]
async fn example_19_a_plan_that_does_not_fit_escalates_with_numbered_relaxations() {
    let client = || {
        scripted(|request| {
            let tool = request.tools[0].name.clone();
            let arguments = match tool.as_str() {
                "PatternSelector" => serde_json::json!({
                    "pattern_type": "milestone_project", "subtype": "generic", "confidence": 0.9
                }),
                "NodeGenerator" => serde_json::json!({
                    "phases": [
                        {"title": "Draft", "tasks": [
                            {"title": "Write it", "done_when": "it reads", "minutes": 900},
                            {"title": "Write more", "done_when": "it reads", "minutes": 900}
                        ]},
                        {"title": "Close", "tasks": [
                            {"title": "Review it", "done_when": "two people read it", "minutes": 600}
                        ]}
                    ],
                    "self_score": 0.9
                }),
                _ => serde_json::json!({
                    "estimates": [
                        {"id": "p1.t1", "minutes": 900}, {"id": "p1.t2", "minutes": 900}, {"id": "p2.t1", "minutes": 600}
                    ],
                    "self_score": 0.9
                }),
            };
            call(&tool, arguments)
        })
    };
    let goal = "write a report by 2026-07-10, 5 hours a week";
    let talk = Talk::with_model(goal, client()).await;
    assert_eq!(
        talk.place().state,
        PlanState::NeedsSchedEscalation,
        "{:?}",
        talk.state.planning.roadmap.as_ref().map(|roadmap| roadmap.total_minutes)
    );
    assert_eq!(talk.place().state.planning_status(), "needs_scheduling_escalation");
    assert_eq!(talk.state.planning.reason, Some(EscalationReason::Infeasible));
    assert!(matches!(talk.open().kind, RequestKind::Escalation));
    let relaxations = talk.state.planning.schedule.as_ref().unwrap().relaxations.len();
    assert!((1..=3).contains(&relaxations));
    for number in 1..=relaxations {
        assert!(talk.open().available_choice(A::UseRelaxation(number as u8)).is_some());
    }
    assert!(
        talk.state
            .planning
            .response_text
            .ends_with("Reply 'use <n>', 'keep it as it is', 'propose changes: …' or 'stop'.")
    );
    for answer in [A::AcceptLate, A::UseRelaxation(1)] {
        let mut talk = Talk::with_model(goal, client()).await;
        let id = talk.open().id;
        let command = Command::Answer { id, answer: answer.into(), by: Actor::Person };
        for event in decide_command(&talk.state, &command, 3, talk.now).events {
            talk.say(event);
        }
        talk.run_with_model().await;
        assert_eq!(
            talk.place(),
            PlanningPosition::seeking_approval(ApprovalTarget::Final),
            "{answer:?}"
        );
    }
}
