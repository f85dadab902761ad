//! What a model assumes about the limits of a plan where nobody stated them. What was said goes before it.

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;

use planwright_model::{Assumption, AssumptionOrigin, FactReading, PlanContext};
use planwright_state::FactSlice;

/// The limits that a call assumes, or that a context has as assumed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AssumedLimits {
    start: Option<Date>,
    horizon_weeks: Option<u16>,
    weekly_hours: Option<f64>,
    daily_hours: Option<f64>,
}

impl AssumedLimits {
    /// Reads the limits of a call; none given changes nothing.
    pub(super) fn from_arguments(arguments: &Value) -> Result<Self, String> {
        let given = arguments.get("limits").cloned().unwrap_or_else(|| serde_json::json!({}));
        serde_json::from_value(given).map_err(|error| format!("`limits` cannot be read: {error}"))
    }

    /// What is assumed in a context.
    pub(super) fn from_context(context: &PlanContext) -> Self {
        let assumed = |key: &str| {
            let known = context.find_assumption(key)?;
            (known.origin == AssumptionOrigin::Template).then_some(())
        };
        let limits = &context.constraints;
        let hours = |minutes: u32| f64::from(minutes) / 60.0;
        Self {
            start: assumed("start").map(|()| limits.start),
            horizon_weeks: assumed("horizon_weeks").and(limits.horizon_weeks),
            weekly_hours: assumed("weekly_minutes").and(limits.weekly_minutes).map(hours),
            daily_hours: assumed("max_daily_minutes").map(|()| hours(limits.max_daily_minutes)),
        }
    }

    /// Takes them into the context, and says which contradict what was stated.
    pub(super) fn apply(&self, context: &mut PlanContext, facts: &FactSlice) -> Vec<String> {
        let stated = |matches: &dyn Fn(&FactReading) -> bool| {
            facts.active().any(|fact| fact.reading.as_ref().is_some_and(matches))
        };
        let mut refused = Vec::new();
        let assumed = AssumptionOrigin::Template;
        if let Some(start) = self.start {
            if stated(&|reading| matches!(reading, FactReading::Start { .. })) {
                refused.push("the person stated the start".to_owned());
            } else {
                context.constraints.start = start;
                state_value(context, "start", start.to_string(), assumed);
            }
        }
        if let Some(weeks) = self.horizon_weeks.filter(|weeks| (1..=520).contains(weeks)) {
            if context.constraints.deadline.is_some() {
                refused.push("there is a deadline, which decides the horizon".to_owned());
            } else {
                context.constraints.horizon_weeks = Some(weeks);
                state_value(context, "horizon_weeks", weeks.to_string(), assumed);
            }
        }
        if let Some(minutes) = self.weekly_hours.and_then(hours_to_minutes) {
            if stated(&|reading| matches!(reading, FactReading::Capacity { person: None, .. })) {
                refused.push("the person stated their hours a week".to_owned());
            } else {
                context.constraints.weekly_minutes = Some(minutes);
                state_value(context, "weekly_minutes", minutes.to_string(), assumed);
            }
        }
        if let Some(minutes) = self.daily_hours.and_then(hours_to_minutes) {
            if context.constraints.hard.contains("max_daily_minutes") {
                refused.push("the person stated their hours a day".to_owned());
            } else {
                context.constraints.max_daily_minutes = minutes;
                state_value(context, "max_daily_minutes", minutes.to_string(), assumed);
            }
        }
        refused
    }
}

fn hours_to_minutes(hours: f64) -> Option<u32> {
    (hours > 0.0 && hours <= 168.0).then(|| (hours * 60.0).round() as u32)
}

pub(super) fn state_value(
    context: &mut PlanContext,
    key: &str,
    value: String,
    origin: AssumptionOrigin,
) {
    context.assumptions.retain(|known| known.key != key);
    let key = key.to_owned();
    context.assumptions.push(Assumption { key, value, origin, question: None });
}
