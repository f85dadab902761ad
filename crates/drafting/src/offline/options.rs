//! The approaches to a plan that are compared: balanced, lean and thorough.

use planwright_model::{NodeTree, PlanContext, PlanNode, Risk, RoadmapOption, TaskId};

use planwright_text::units::{format_planned, format_planned_range};

use super::blueprint::{Blueprint, BlueprintSizing, EffortRange};
use super::instance::days_between;
use super::span::PlanSpan;

/// An approach to the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanApproach {
    /// As the blueprint describes it.
    Balanced,
    /// Without the tasks that can be spared.
    Lean,
    /// With steps that somebody careful adds.
    Thorough,
}

impl PlanApproach {
    pub const ALL: [Self; 3] = [Self::Balanced, Self::Lean, Self::Thorough];

    pub fn id(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Lean => "lean",
            Self::Thorough => "thorough",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Balanced => "Balanced",
            Self::Lean => "Lean",
            Self::Thorough => "Thorough",
        }
    }
}

/// Returns the ids of the leaves that the lean approach leaves out: the optional ones. A container keeps its
/// last task.
pub(super) fn spare_leaves(nodes: &[PlanNode], root: &TaskId) -> Vec<TaskId> {
    let tree = NodeTree::new(nodes);
    let droppable = |leaf: &&PlanNode| {
        let siblings =
            leaf.parent_id.as_ref().map(|parent| tree.children(parent).count()).unwrap_or_default();
        siblings > 1 && !leaf.milestone
    };
    let leaves: Vec<&PlanNode> = tree.leaves(root).into_iter().filter(droppable).collect();
    leaves.iter().filter(|leaf| leaf.optional).map(|leaf| leaf.id.clone()).collect()
}

/// Names tasks by their titles: "leaves out "A" and 3 others".
pub(super) fn describe_titles(verb: &str, nodes: &[PlanNode], ids: &[TaskId]) -> String {
    let titles: Vec<String> = nodes
        .iter()
        .filter(|node| ids.contains(&node.id))
        .map(|node| format!("\"{}\"", node.title))
        .collect();
    match titles.as_slice() {
        [] => String::new(),
        [one] => format!("{verb} {one}"),
        [one, two] => format!("{verb} {one} and {two}"),
        [one, two, rest @ ..] => format!("{verb} {one}, {two} and {} more", rest.len()),
    }
}

/// What options are compared by.
pub(super) struct OptionInputs<'a> {
    pub(super) context: &'a PlanContext,
    pub(super) file: Option<&'a Blueprint>,
    pub(super) span: PlanSpan,
    /// The effort of the balanced approach.
    pub(super) balanced: EffortRange,
    /// The part of it on days of their own, which take nothing of the hours.
    pub(super) own_days: u32,
    pub(super) conflict_minutes: u32,
}

/// Describes and scores one approach.
pub(super) fn build_option(
    approach: PlanApproach,
    range: EffortRange,
    inputs: &OptionInputs<'_>,
) -> RoadmapOption {
    let effort = range.likely();
    let capacity = inputs.span.capacity;
    let hours = |effort: u32| effort.saturating_sub(inputs.own_days);
    let load =
        |range: EffortRange| assess_load(hours(range.likely()), hours(range.high()), capacity);
    let balanced = load(inputs.balanced).max(assess_span(inputs));
    RoadmapOption {
        id: approach.id().to_owned(),
        label: approach.label().to_owned(),
        summary: String::new(),
        tasks: String::new(),
        effort_minutes: effort,
        span_weeks: estimate_span_weeks(effort, inputs),
        risk: match approach {
            // Leaving out checks and spare tasks never makes a plan safer.
            PlanApproach::Lean => balanced.max(Risk::Medium),
            PlanApproach::Balanced => balanced,
            // More checking is not a risk by itself; only its own work counts.
            PlanApproach::Thorough => {
                assess_load(hours(effort), hours(effort), capacity).max(assess_span(inputs))
            }
        },
        score: score_option(inputs.context, hours(effort), capacity, inputs.conflict_minutes),
        chosen: false,
        rationale: String::new(),
    }
}

/// Uses the pace of the balanced approach; what ends on a date, trains by weeks or repeats is as long in all approaches.
fn estimate_span_weeks(effort: u32, inputs: &OptionInputs<'_>) -> u16 {
    let stretches = inputs.file.is_some_and(|file| {
        file.sizing == BlueprintSizing::Tasks
            && file.day.is_none()
            && !file.small
            && file.phases.iter().all(|phase| phase.tasks.iter().all(|task| task.every.is_none()))
            && file.cycles.is_empty()
    });
    let weeks = inputs.span.weeks();
    if !stretches || inputs.context.constraints.deadline.is_some() || inputs.balanced.likely() == 0
    {
        return weeks;
    }
    let weeks = u64::from(weeks) * u64::from(effort);
    u16::try_from(weeks.div_ceil(u64::from(inputs.balanced.likely()))).unwrap_or(u16::MAX).max(1)
}

/// Far less time than a kind usually takes is a risk, however few hours it needs: people have to answer, offices to
/// decide.
fn assess_span(inputs: &OptionInputs<'_>) -> Risk {
    let Some(file) = inputs.file.filter(|file| !file.small && !file.is_routine()) else {
        return Risk::Low;
    };
    let last = inputs.span.day.unwrap_or(inputs.span.last_day);
    let there = days_between(inputs.span.start, last) + 1;
    let usual = u32::from(*file.weeks.get_ref()) * 7;
    let waits = file.all_tasks().iter().any(|task| {
        task.after.iter().flatten().any(|link| link.lag.is_some_and(|lag| lag.in_days() > 1))
    });
    match there * 100 / usual.max(1) {
        share if waits && share < 50 => Risk::High,
        share if waits && share < 75 => Risk::Medium,
        _ => Risk::Low,
    }
}

/// A full week is a risk, and so is work that fits only if it takes no longer than expected.
fn assess_load(likely: u32, high: u32, capacity: u32) -> Risk {
    let share = |minutes: u32| f64::from(minutes) / f64::from(capacity.max(1));
    match share(likely) {
        load if load > 1.0 => Risk::High,
        load if load > 0.8 + 1e-9 || share(high) > 1.0 => Risk::Medium,
        _ => Risk::Low,
    }
}

/// achievement·min(1, capacity/effort) + wellbeing·(1 − peak utilization, ≥ 0) + portfolio·(1 − conflicts/planned).
fn score_option(context: &PlanContext, effort: u32, capacity: u32, conflicts: u32) -> f64 {
    let weights = context.strategy_profile.weights.normalized();
    let planned = f64::from(effort.max(1));
    let capacity = f64::from(capacity);
    let peak = if capacity > 0.0 { planned / capacity } else { 1.0 };
    let sum = weights.achievement * (capacity / planned).min(1.0)
        + weights.wellbeing * (1.0 - peak).max(0.0)
        + weights.portfolio * (1.0 - f64::from(conflicts) / planned).max(0.0);
    (sum * 1000.0).round() / 1000.0
}

fn format_weeks(count: u32) -> String {
    if count == 1 { "1 week".to_owned() } else { format!("{count} weeks") }
}

/// Describes an option in one line: hours with their range, span, risk, and what is left out or added.
pub(super) fn describe_option(option: &RoadmapOption, effort: EffortRange) -> String {
    // To the minute it would claim more than anybody knows.
    let (low, high) = (effort.low() / 5 * 5, effort.high().div_ceil(5) * 5);
    let range = if low < high {
        format!(" ({})", format_planned_range(low.into(), high.into()))
    } else {
        String::new()
    };
    let tasks = if option.tasks.is_empty() { String::new() } else { format!("; {}", option.tasks) };
    format!(
        "{}{range} over {}, {} risk{tasks}",
        format_planned(option.effort_minutes.into()),
        format_weeks(option.span_weeks.into()),
        option.risk.as_str()
    )
}
