//! Produces a checked plan from one sentence in a single call: what the scout gate looks at before a conversation begins,
//! and what tests need a plan for.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

use super::fact_reading::{ReadFact, read_goal_facts};
use super::offline::goal::{CalendarRegion, Goal, GoalParseContext};
use super::offline::{self, DraftError, RoadmapPreferences, SubtypeProposals, TemplateLibrary};
use planwright_model::{
    Fact, FactSource, FixedEvent, PatternSpec, PlanContext, Severity, Violation,
};
use planwright_plan::confidence::{Confidence, ConfidenceFacts, ConfidenceSettings, judge_stage};
use planwright_plan::grammar::{PlanArtifacts, Stage, repair_stage, validate_stage};
use planwright_schedule::{ScheduleError, ScheduleRequest, schedule_roadmap};

/// What to plan, and the planner's other inputs.
#[derive(Clone, Copy, Debug)]
pub struct GoalRequest<'a> {
    pub goal: &'a str,
    pub today: Date,
    /// IANA name of the person's zone.
    pub time_zone: &'a str,
    pub now: Timestamp,
    pub library: &'a TemplateLibrary,
    /// Events in the person's calendar.
    pub events: &'a [FixedEvent],
}

/// The result of one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageReport {
    pub confidence: Confidence,
    pub violations: Vec<Violation>,
}

/// A plan with everything a person would want to know before approving it.
#[derive(Clone, Debug)]
pub struct GoalPlan {
    pub artifacts: PlanArtifacts,
    /// Outline, roadmap, schedule.
    pub stages: Vec<StageReport>,
}

/// Why a goal could not be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    #[error("the goal has more than {} characters", PlanContext::MAX_GOAL_CHARS)]
    TooLong,
    #[error(transparent)]
    Draft(#[from] DraftError),
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

impl GoalError {
    /// Returns how to fix it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLong => "say it in a sentence or two; details can follow as changes",
            Self::Draft(error) => error.hint(),
            Self::Schedule(_) => "check the time zone and the hours",
        }
    }
}

/// Plans a goal. The same request always gives the same plan.
pub fn plan_goal(request: &GoalRequest<'_>) -> Result<GoalPlan, GoalError> {
    plan_goal_as(request, None)
}

/// Plans a goal as a plan of a kind; without one the goal's words decide.
pub fn plan_goal_as(
    request: &GoalRequest<'_>,
    pattern: Option<PatternSpec>,
) -> Result<GoalPlan, GoalError> {
    if request.goal.trim().chars().count() > PlanContext::MAX_GOAL_CHARS {
        return Err(GoalError::TooLong);
    }
    let start = request.today.tomorrow().unwrap_or(request.today);
    let mut context = PlanContext::new(request.goal, start, request.time_zone);
    context.pattern = pattern;
    let draft =
        offline::draft_outline(context, request.library, request.today, SubtypeProposals::Off)?;
    let mut plan = PlanArtifacts::new(draft.outline);
    plan.surroundings.facts = goal_facts(request);
    let mut stages = vec![repair_and_assess(&mut plan, Stage::Outline, request.now)];

    let roadmap =
        offline::build_roadmap(&plan.outline, request.library, RoadmapPreferences::default())?
            .roadmap;
    plan.roadmap = Some(roadmap);
    stages.push(repair_and_assess(&mut plan, Stage::Roadmap, request.now));

    if let Some(roadmap) = &plan.roadmap {
        let mut wanted = ScheduleRequest::new(roadmap, plan.context());
        wanted.events = request.events;
        let made = schedule_roadmap(&wanted.with_plan_seed(request.goal, plan.outline.version))?;
        plan.schedule = Some(made);
    }
    stages.push(repair_and_assess(&mut plan, Stage::Schedule, request.now));
    Ok(GoalPlan { artifacts: plan, stages })
}

/// Rules about what the person stated: dates, hours, and everything else that was said.
const STATED_RULES: [&str; 5] = ["G401", "G402", "G411", "G412", "G501"];

impl GoalPlan {
    /// The share of what the goal states that the plan breaks; 0 where it states nothing.
    pub fn conflict(&self) -> f64 {
        let stated = self.artifacts.surroundings.facts.iter().filter(|fact| fact.reading.is_some());
        let stated = stated.count();
        let broken = self.stages.iter().flat_map(|stage| &stage.violations).filter(|found| {
            found.severity != Severity::Warning && STATED_RULES.contains(&found.rule.as_str())
        });
        let rules: std::collections::BTreeSet<(&str, &[planwright_model::TaskId])> =
            broken.map(|found| (found.rule.as_str(), found.node_ids.as_slice())).collect();
        match stated {
            0 => 0.0,
            stated => rules.len().min(stated) as f64 / stated as f64,
        }
    }
}

/// The facts of a goal, as a session would keep them.
fn goal_facts(request: &GoalRequest<'_>) -> Vec<Fact> {
    let region = CalendarRegion::from_time_zone(request.time_zone);
    let today = GoalParseContext::new(request.today, 5).in_region(region);
    let read = read_goal_facts(&Goal::parse(request.goal, today));
    let fact = |(read, id): (ReadFact, u32)| Fact {
        reading: read.reading,
        ..Fact::new(id, FactSource::Goal, read.text)
    };
    read.into_iter().zip(1..).map(fact).collect()
}

/// Applies mechanical fixes, then assesses the remaining violations.
fn repair_and_assess(plan: &mut PlanArtifacts, stage: Stage, now: Timestamp) -> StageReport {
    let log = repair_stage(plan, stage, now);
    plan.adaptation_log.extend(log);
    let violations = validate_stage(stage, plan);
    let confidence = judge_stage(
        stage,
        plan,
        &ConfidenceFacts::default(),
        &violations,
        None,
        &ConfidenceSettings::default(),
    );
    StageReport { confidence, violations }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;
    use planwright_model::{PatternType, Role, Severity};

    fn plan(goal: &str) -> GoalPlan {
        let library = TemplateLibrary::built_in();
        plan_goal(&GoalRequest {
            goal,
            today: date(2026, 6, 7),
            time_zone: "Europe/Berlin",
            now: Timestamp::UNIX_EPOCH,
            library: &library,
            events: &[],
        })
        .unwrap()
    }

    #[test]
    fn the_five_goals_give_the_expected_patterns_and_valid_plans() {
        for (goal, pattern, subtype) in [
            ("launch a newsletter in 6 weeks", PatternType::MilestoneProject, "launch"),
            ("learn Rust, 5 hours a week", PatternType::ProgressiveAccumulationArc, "learning_arc"),
            ("migrate service X from Python to Rust", PatternType::MilestoneProject, "migration"),
            ("marathon training 16 weeks", PatternType::ProgressiveAccumulationArc, "training_arc"),
            ("weekly review routine", PatternType::RecurringCycle, "review_routine"),
        ] {
            let plan = plan(goal);
            let spec = plan.artifacts.context().pattern.clone().unwrap();
            assert_eq!(
                (spec.pattern_type, spec.subtype.as_deref()),
                (pattern, Some(subtype)),
                "{goal}"
            );
            for stage in &plan.stages {
                let broken: Vec<_> = stage
                    .violations
                    .iter()
                    .filter(|found| found.severity != Severity::Warning)
                    .collect();
                assert!(broken.is_empty(), "{goal}: {broken:?}");
                assert!(stage.confidence.value >= 0.70, "{goal}: {:?}", stage.confidence);
            }
        }
    }

    #[test]
    fn a_daily_protocol_keeps_its_local_time() {
        let plan = plan("take medication every day at 8");
        let schedule = plan.artifacts.schedule.unwrap();
        assert!(!schedule.blocks.is_empty() && schedule.unplaced.is_empty());
    }

    /// Returns the local days of the week and times at which a goal's habit starts.
    fn times(goal: &str) -> (Vec<String>, BTreeSet<String>) {
        let plan = plan(goal);
        for stage in &plan.stages {
            let broken = stage.violations.iter().find(|found| found.severity != Severity::Warning);
            assert!(broken.is_none(), "{goal}: {broken:?}");
            assert!(stage.confidence.value >= 0.70, "{goal}: {:?}", stage.confidence);
        }
        let schedule = plan.artifacts.schedule.unwrap();
        assert!(schedule.unplaced.is_empty(), "{goal}: {:?}", schedule.unplaced);
        let habits = plan.artifacts.outline.nodes.iter();
        let habit = habits.clone().find(|node| node.role == Role::Habit).unwrap();
        let own = schedule.blocks.iter().filter(|block| block.plan_node_id == habit.id);
        let local = own.map(|block| block.start.offset.to_datetime(block.start.at));
        let days: Vec<String> =
            local.clone().take(7).map(|at| at.strftime("%a").to_string()).collect();
        (days, local.map(|at| at.time().to_string()).collect())
    }

    #[test]
    fn a_daily_routine_without_a_time_is_placed_every_day_at_one_assumed_time() {
        let every = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Mon"];
        for (goal, at) in [
            ("daily routine", "08:00:00"),
            ("stretch every morning", "08:00:00"),
            ("sing for 20 minutes every evening", "19:00:00"),
        ] {
            let (days, times) = times(goal);
            // A session of the morning comes after the set-up, if there is any, on the first day.
            let first = usize::from(days[0] == "Tue" && at < "09:00:00");
            assert_eq!(days, every[first..first + 7], "{goal}");
            assert_eq!(times, BTreeSet::from([at.to_owned()]), "{goal}");
            let context = plan(goal).artifacts.outline.plan_context;
            assert!(at.starts_with(&context.find_assumption("at_local").unwrap().value), "{goal}");
        }
        let (days, _) = times("water the plants every Saturday");
        assert!(days.iter().all(|day| day == "Sat"), "{days:?}");
        let (days, _) = times("stretching habit every weekday");
        assert_eq!(days[..6], ["Mon", "Tue", "Wed", "Thu", "Fri", "Mon"]);
        assert!(
            plan("stretching habit every weekday")
                .artifacts
                .context()
                .find_assumption("at_local")
                .is_none()
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn any_goal_gives_a_plan_or_an_error_message(goal in ".{0,80}") {
            let library = TemplateLibrary::built_in();
            let request = GoalRequest {
                goal: &goal,
                today: date(2026, 3, 27),
                time_zone: "America/New_York",
                now: Timestamp::UNIX_EPOCH,
                library: &library,
                events: &[],
            };
            match plan_goal(&request) {
                Ok(plan) => prop_assert!(!plan.artifacts.outline.nodes.is_empty()),
                Err(error) => prop_assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
            }
        }
    }
}
