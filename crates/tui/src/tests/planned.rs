//! Sessions in which a goal is planned.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use super::fixture::Fixture;
use planwright_drafting::goal_plan::{GoalPlan, GoalRequest, plan_goal};
use planwright_drafting::offline::TemplateLibrary;
use planwright_model::event::PlanningEvent;
use planwright_model::{
    Comment, CommentOutcome, PatternChoice, PlanContext, PlanLimits, PolicyOverride, Stage,
    StageAssessment,
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
        library: &TemplateLibrary::fixture(),
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
        others: Vec::new(),
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
