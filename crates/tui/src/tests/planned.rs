//! Sessions in which a goal is planned, and a request of every kind.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use super::fixture::Fixture;
use planwright_drafting::goal_plan::{GoalPlan, GoalRequest, plan_goal};
use planwright_drafting::offline::TemplateLibrary;
use planwright_model::event::PlanningEvent;
use planwright_model::request::{Choice, RequestDetail};
use planwright_model::{
    ApprovalTarget, CallId, ChoiceAction as Pick, Comment, CommentOutcome, EscalationReason,
    PatternChoice, PlanContext, PlanLimits, PlanQuestion, PlanState, PlanningPosition,
    PolicyOverride, QuestionChoice, RequestKind, RunCap, Stage, StageAssessment,
};

/// The plan of the goal that all these sessions are about.
pub(crate) fn newsletter() -> GoalPlan {
    static PLANNED: OnceLock<GoalPlan> = OnceLock::new();
    PLANNED.get_or_init(planned).clone()
}

fn planned() -> GoalPlan {
    let request = GoalRequest {
        goal: "launch a newsletter in 6 weeks",
        today: jiff::civil::date(2026, 6, 8),
        time_zone: "UTC",
        now: Timestamp::UNIX_EPOCH,
        library: &TemplateLibrary::built_in(),
        events: &[],
    };
    plan_goal(&request).unwrap()
}

/// A conversation that began and knows its goal.
pub(crate) fn begun() -> Fixture {
    let mut fixture = Fixture::new("launch a newsletter in 6 weeks");
    fixture.push(PlanningEvent::Began {
        goal: "launch a newsletter in 6 weeks".into(),
        thread_id: "user_1:1".into(),
        policy: PolicyOverride::default(),
        limits: PlanLimits::default(),
        drafter: "offline".into(),
    });
    let context =
        PlanContext::new("launch a newsletter in 6 weeks", jiff::civil::date(2026, 6, 9), "UTC");
    fixture.push(PlanningEvent::ContextSet { context: Arc::new(context) });
    fixture
}

/// One with a pattern and an outline.
pub(crate) fn outlined() -> Fixture {
    let plan = newsletter();
    let mut fixture = begun().wait(9);
    let pattern = plan.artifacts.context().pattern.clone().unwrap();
    let choice = PatternChoice {
        pattern,
        confidence: 0.82,
        margin: 0.31,
        second: None,
        explanations: vec!["\"launch\" and a number of weeks name a milestone project".into()],
        proposed_pattern: None,
    };
    fixture.push(PlanningEvent::PatternPicked { choice });
    fixture.push(PlanningEvent::OutlineDrafted {
        outline: Arc::new(plan.artifacts.outline.clone()),
        by: "offline".into(),
        self_score: None,
    });
    judge(&mut fixture, Stage::Outline, &plan);
    fixture
}

/// One with everything but an approval.
pub(crate) fn scheduled() -> Fixture {
    let plan = newsletter();
    let mut fixture = outlined();
    let roadmap = plan.artifacts.roadmap.clone().unwrap();
    fixture.push(PlanningEvent::RoadmapDrafted {
        roadmap: Arc::new(roadmap),
        by: "offline".into(),
        self_score: None,
    });
    judge(&mut fixture, Stage::Roadmap, &plan);
    let schedule = plan.artifacts.schedule.clone().unwrap();
    fixture.push(PlanningEvent::ScheduleDrafted {
        schedule: Arc::new(schedule),
        by: "offline".into(),
    });
    judge(&mut fixture, Stage::Schedule, &plan);
    fixture
}

fn judge(fixture: &mut Fixture, stage: Stage, plan: &GoalPlan) {
    let report = &plan.stages[stage as usize];
    let judgement = StageAssessment {
        confidence: report.confidence.clone(),
        violations: report.violations.clone(),
    };
    fixture.push(PlanningEvent::Judged { stage, judgement });
}

/// A person said something about nodes, locked one, and was answered.
pub(crate) fn discussed() -> Fixture {
    let mut fixture = outlined();
    let ids: Vec<_> =
        newsletter().artifacts.outline.nodes.iter().skip(1).map(|node| node.id.clone()).collect();
    let said = [
        (
            "say what done means",
            Some(CommentOutcome::Addressed { how: "each task says it".into() }),
        ),
        (
            "run it on two machines",
            Some(CommentOutcome::Declined { why: "one is in the workspace".into() }),
        ),
        ("shorter, please", None),
    ];
    for ((text, outcome), (id, node)) in said.into_iter().zip((1..).zip(ids.clone())) {
        fixture.push(PlanningEvent::Commented {
            comment: Comment { id, node, text: text.into(), version: 1, outcome: None },
        });
        if let Some(outcome) = outcome {
            fixture.push(PlanningEvent::CommentSettled { id, outcome });
        }
    }
    fixture.push(PlanningEvent::NodeLocked { node: ids[1].clone() });
    fixture
}

/// Puts a question with its answers.
fn asking(
    fixture: Fixture,
    kind: RequestKind,
    question: &str,
    why: &str,
    details: &[RequestDetail],
    choices: &[(Pick, &str, &str)],
) -> Fixture {
    let choices = choices
        .iter()
        .map(|(action, label, effect)| Choice::new(*action, label, *effect))
        .collect();
    fixture.ask(kind, question, why, &[], details, choices, None)
}

/// A question with answers to pick from.
fn weekly() -> PlanQuestion {
    let choice = |answer: &str, effect: &str| QuestionChoice {
        answer: answer.to_owned(),
        effect: effect.to_owned(),
    };
    PlanQuestion {
        key: "weekly_minutes".into(),
        text: "How many hours a week can you give it?".into(),
        assumed: "600".into(),
        choices: vec![
            choice("5 hours", "30 h of work in 6 weeks"),
            choice("10 hours", "60 h of work in 6 weeks, assumed if you skip"),
            choice("15 hours", "90 h of work in 6 weeks"),
        ],
    }
}

/// A session for every kind of request, by name.
pub(crate) fn every_request() -> Vec<(&'static str, Fixture)> {
    let draft = |target| RequestKind::Draft { target, version: 1 };
    let about = |label: &str, text: &str| RequestDetail::new(label, text);
    let approve = [
        (Pick::Approve, "approve", "goes on to the next stage"),
        (Pick::RequestChanges, "request changes", "1 of 5 rounds used"),
        (Pick::Reject, "none of these", "another draft"),
        (Pick::Abandon, "abandon", "what is drafted stays readable"),
    ];
    let mut seeking = discussed();
    seeking.push(PlanningEvent::Moved {
        row: "outline.ok".into(),
        from: PlanningPosition::from_state(PlanState::ValidateOutline),
        outcome: "ok".into(),
        to: PlanningPosition::seeking_approval(ApprovalTarget::Outline),
        effects: vec![],
        resume: None,
        reason: None,
        why: vec![],
    });
    let mut options = approve.to_vec();
    options.push((Pick::PickOption(2), "take option 2", "less a week, later end"));
    options.push((Pick::PickOption(3), "take option 3", "more a week, sooner end"));
    let call = CallId { task: "port".into(), attempt: 1, step: 4 };
    let permission = Fixture::running().ask(
        RequestKind::Permission {
            call,
            tool: "shell.run".into(),
            class: "execute".into(),
            input: None,
        },
        "Run this command?",
        "this command is not in the plan word for word; medium autonomy asks for other commands",
        &[about("command", "cargo test --workspace --no-fail-fast -- --skip slow_")],
        &[
            about(
                "tool",
                "shell.run 1.2, class execute, in the workspace directory, at most 120 s",
            ),
            about("sandbox", "Landlock, fully enforced: writes in the workspace, no network"),
            about("agent says", "\"The edit compiles only if lexer.rs uses Span as well.\""),
        ],
        vec![
            Choice::new(Pick::AllowOnce, "once", "this command, these arguments, this directory"),
            Choice::new(Pick::AllowForSession, "for this session", "exactly this command"),
            Choice {
                unavailable: Some("asks every time: git push --force".into()),
                ..Choice::new(Pick::AllowAlways, "always", "the same rule in your config file")
            },
            Choice::new(Pick::Deny, "deny", "type a reason, the agent gets it as the result"),
            Choice::new(
                Pick::StopTask,
                "stop the task",
                "port fails; tests and publish are skipped",
            ),
        ],
        Some("port".into()),
    );
    vec![
        (
            "questions",
            asking(
                begun(),
                RequestKind::Questions {
                    questions: vec![
                        PlanQuestion {
                            key: "weekly_minutes".into(),
                            text: "How many minutes a week can you give?".into(),
                            assumed: "600".into(),
                            choices: Vec::new(),
                        },
                        PlanQuestion {
                            key: "deadline".into(),
                            text: "When does it have to be done?".into(),
                            assumed: "21 July".into(),
                            choices: vec![QuestionChoice {
                                answer: "10 July".into(),
                                effect: String::new(),
                            }],
                        },
                    ],
                },
                "2 facts are missing.",
                "they decide how much work is planned",
                &[],
                &[
                    (Pick::Reply, "answer", "one line each"),
                    (Pick::SkipQuestions, "skip", "what is assumed stands"),
                    (Pick::Abandon, "abandon", "nothing is kept but the goal"),
                ],
            ),
        ),
        (
            "question",
            asking(
                begun(),
                RequestKind::Questions { questions: vec![weekly()] },
                "How many hours a week can you give it?",
                "it sets how much work fits into 6 weeks",
                &[],
                &[
                    (Pick::Reply, "answer", "the draft uses what you say"),
                    (Pick::SkipQuestions, "skip", "the assumed values are used and listed"),
                    (Pick::Ideas, "ideas", "3 ideas first"),
                    (Pick::Abandon, "abandon", "nothing is kept but the goal"),
                ],
            ),
        ),
        (
            "goal",
            asking(
                Fixture::new("New session"),
                RequestKind::Goal,
                "What do you want to get done?",
                "there is no goal yet",
                &[],
                &[
                    (Pick::Reply, "type it", "planning starts at once"),
                    (Pick::Abandon, "leave it", "nothing is kept"),
                ],
            ),
        ),
        (
            "pattern",
            asking(
                outlined(),
                draft(ApprovalTarget::Pattern),
                "Is this a milestone project?",
                "strict approvals ask for every step",
                &[],
                &approve,
            ),
        ),
        (
            "outline",
            asking(
                seeking,
                draft(ApprovalTarget::Outline),
                "Is this the right outline?",
                "milestone approvals ask here",
                &[],
                &approve,
            ),
        ),
        (
            "roadmap",
            asking(
                scheduled(),
                draft(ApprovalTarget::Roadmap),
                "Which way?",
                "strict approvals ask for every step",
                &[],
                &options,
            ),
        ),
        (
            "rfc",
            asking(
                outlined(),
                RequestKind::Rfc {
                    subtype: "pop_up_launch".into(),
                    nearest: "launch".into(),
                    pattern: false,
                },
                "Use the new subtype pop_up_launch?",
                "a new subtype is asked for under every policy",
                &[],
                &[
                    (Pick::Approve, "use it", "for this plan"),
                    (Pick::Decline, "use launch", "the nearest one there is"),
                ],
            ),
        ),
        (
            "low_confidence",
            asking(
                outlined(),
                RequestKind::LowConfidence { stage: Stage::Outline },
                "The outline is not sure enough. What now?",
                "it was drafted 3 times",
                &[],
                &[
                    (Pick::Reply, "say more", "it is drafted again with it"),
                    (Pick::GoOn, "go on", "the result says that it is not sure"),
                    (Pick::Edit, "edit", "by hand"),
                    (Pick::Stop, "stop", "the draft stays"),
                ],
            ),
        ),
        (
            "validation",
            asking(
                outlined(),
                RequestKind::Validation { stage: Stage::Outline },
                "The outline breaks rules that could not be mended.",
                "G101, G203",
                &[],
                &[
                    (Pick::TryAgain, "draft again", "with these rules named"),
                    (Pick::Edit, "edit", "by hand"),
                    (Pick::KeepAndStop, "keep and stop", "it stays readable"),
                ],
            ),
        ),
        (
            "planning_cap",
            asking(
                outlined(),
                RequestKind::PlanningCap { reason: EscalationReason::CapRevisions },
                "Five rounds of changes are used up. Go on?",
                "revision_limit is 5",
                &[],
                &[
                    (Pick::GoOn, "go on", "counts from 0 again"),
                    (Pick::Stop, "stop", "the draft stays"),
                ],
            ),
        ),
        (
            "escalation",
            asking(
                scheduled(),
                RequestKind::Escalation,
                "The plan ends 11 days after your deadline. What gives?",
                "2,400 min at 300 min a week end Tue 21 July, not Fri 10 July",
                &[about("not possible", "dropping optional tasks, there are none")],
                &[
                    (
                        Pick::UseRelaxation(1),
                        "later deadline",
                        "Fri 10 July → Tue 21 July, changes what you stated",
                    ),
                    (
                        Pick::UseRelaxation(2),
                        "more time a week",
                        "300 → 405 min, changes what you stated",
                    ),
                    (Pick::AcceptLate, "accept late", "the deadline becomes soft"),
                    (Pick::RequestChanges, "request changes", "of the plan"),
                    (Pick::Stop, "stop", "the plan stays readable"),
                ],
            ),
        ),
        ("permission", permission),
        (
            "task_cap",
            asking(
                Fixture::running(),
                RequestKind::TaskCap { task: "port".into() },
                "port used up its 12 steps. What now?",
                "the agent has not met its exit criteria",
                &[],
                &[
                    (Pick::GoOn, "12 more steps", "at most"),
                    (Pick::HandToMe, "I take it over", "it becomes yours"),
                    (Pick::SkipAlone, "go on without it", "tests run"),
                    (Pick::SkipWithDependents, "skip what needs it", "tests, publish"),
                    (Pick::StopTask, "stop the task", "port fails"),
                ],
            ),
        ),
        (
            "consent",
            asking(
                begun(),
                RequestKind::Consent { provider: "anthropic".into() },
                "A key for anthropic is in the environment. Use it?",
                "until you say yes, the offline planner is in use",
                &[about("what is sent", "the goal, answers and drafts; no file is read for it")],
                &[
                    (Pick::UseProvider, "use it", "from now on"),
                    (Pick::OfflineThisTime, "offline this time", "asks again next time"),
                    (Pick::NeverUse, "never", "written to your config file"),
                ],
            ),
        ),
        (
            "model_trouble",
            asking(
                outlined(),
                RequestKind::ModelTrouble { stage: Stage::Roadmap },
                "The model gave nothing usable. What now?",
                "2 answers could not be read",
                &[],
                &[
                    (Pick::TryAgain, "ask it again", "costs about $0.02"),
                    (Pick::GoOffline, "go on offline", "no model any more"),
                    (Pick::Edit, "edit", "by hand"),
                    (Pick::Abandon, "abandon", "the draft stays"),
                ],
            ),
        ),
        (
            "cap",
            asking(
                Fixture::running(),
                RequestKind::Cap {
                    cap: RunCap::BudgetPerSessionUsd,
                    used: 1_970_000,
                    limit: 2_000_000,
                },
                "The session cap of $2.00 is reached. Raise it?",
                "spent $1.97, the next call is estimated at $0.04 to $0.09",
                &[
                    about("left to do", "3 tasks waiting, 2 running, 8 done"),
                    about("most spent", "port $0.94, 61k tokens, try 4 · docs $0.31, 20k tokens"),
                    about("today", "$3.28 of $5.00; the daily cap is not affected"),
                ],
                &[
                    (Pick::RaiseOnce, "raise once", "lets the next call through"),
                    (Pick::RaiseForSession, "raise for the session", "new cap $3.00"),
                    (Pick::GoOffline, "go on offline", "no paid calls"),
                    (Pick::Stop, "stop, keep results", "8 done tasks stay"),
                ],
            ),
        ),
    ]
}
