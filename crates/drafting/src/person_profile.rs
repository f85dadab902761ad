//! What is known about the person's time before they say anything about a goal: hours, days off, zone. New plans start
//! from it; what the goal says counts for more.

use jiff::civil::Date;

use planwright_model::{
    Assumption, AssumptionOrigin, PlanContext, StrategyMode, StrategyProfile, WeeklyHours,
};

use crate::offline::HOLIDAYS;
use crate::own_days_off::OwnDaysOff;
use crate::own_hours::describe_weekly_hours;

/// For how many years days off are written into a plan.
const YEARS: i16 = 2;

/// The person's own time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonProfile {
    /// When they have time for their own plans; `None` if they never said.
    pub hours: Option<WeeklyHours>,
    /// Minutes a week for all of their plans together.
    pub weekly_minutes: Option<u32>,
    pub days_off: OwnDaysOff,
    /// Whether the time zone is a setting of theirs.
    pub has_time_zone: bool,
    /// How hard their plans push; `None` if they never said.
    pub strategy: Option<StrategyMode>,
}

impl PersonProfile {
    /// Returns the context of a new plan.
    pub fn new_context(&self, goal: &str, start: Date, tz: &str) -> PlanContext {
        let mut context = PlanContext::new(goal, start, tz);
        if let Some(hours) = &self.hours {
            context.calendar.working.clone_from(hours);
            remember(&mut context, "working", describe_weekly_hours(hours));
        }
        if self.has_time_zone {
            remember(&mut context, "tz", tz.to_owned());
        }
        if let Some(country) = self.days_off.country {
            remember(&mut context, HOLIDAYS, format!("public holidays in {}", country.name()));
        }
        // A plan may start a day earlier than drafted: today, unless that is a holiday.
        context.calendar.days_off = self.days_off.dates(start.yesterday().unwrap_or(start), YEARS);
        context.calendar.country = self.days_off.country.map(|country| country.code().to_owned());
        context.constraints.all_plans_weekly_minutes = self.weekly_minutes;
        if let Some(mode) = read_strategy(goal).or(self.strategy) {
            context.strategy_profile = StrategyProfile::from_mode(mode);
        }
        context
    }
}

/// Words of a goal that say how hard its plan pushes.
const STRATEGY_WORDS: [(&str, StrategyMode); 10] = [
    ("no rush", StrategyMode::Relax),
    ("no hurry", StrategyMode::Relax),
    ("at a relaxed pace", StrategyMode::Relax),
    ("at an easy pace", StrategyMode::Relax),
    ("take it easy", StrategyMode::Relax),
    ("as fast as possible", StrategyMode::Push),
    ("as quickly as possible", StrategyMode::Push),
    ("at full speed", StrategyMode::Push),
    ("push hard", StrategyMode::Push),
    ("ask me before you move anything", StrategyMode::Manual),
];

/// How hard a plan pushes, where its goal says so.
fn read_strategy(goal: &str) -> Option<StrategyMode> {
    let goal = goal.to_lowercase();
    STRATEGY_WORDS.iter().find(|(words, _)| goal.contains(words)).map(|(_, mode)| *mode)
}

/// A value that the person stated once for all plans.
fn remember(context: &mut PlanContext, key: &str, value: String) {
    let origin = AssumptionOrigin::Memory;
    context.assumptions.push(Assumption { key: key.to_owned(), value, origin, question: None });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_hours::parse_own_hours;
    use jiff::civil::date;

    #[test]
    fn a_new_plan_starts_from_the_profile() {
        let profile = PersonProfile {
            hours: Some(parse_own_hours("evenings and Saturdays").unwrap()),
            weekly_minutes: Some(360),
            days_off: OwnDaysOff::parse("24 Dec, public holidays in Germany").unwrap(),
            has_time_zone: true,
            strategy: None,
        };
        let context = profile.new_context("learn Rust", date(2026, 11, 17), "Europe/Berlin");
        assert_eq!(context.calendar.weekly_minutes(), 13 * 60);
        assert_eq!(context.constraints.all_plans_weekly_minutes, Some(360));
        let off = &context.calendar.days_off;
        assert!(off.contains(&date(2026, 12, 24)) && off.contains(&date(2027, 3, 26)));
        let origin = |key: &str| context.find_assumption(key).map(|found| found.origin);
        assert_eq!(origin("working"), Some(AssumptionOrigin::Memory));
        assert_eq!(origin("tz"), Some(AssumptionOrigin::Memory));

        assert_eq!(context.calendar.country.as_deref(), Some("DE"));

        let plain = PersonProfile::default().new_context("x", date(2026, 11, 17), "UTC");
        assert_eq!(plain, PlanContext::new("x", date(2026, 11, 17), "UTC"));
    }

    #[test]
    fn how_hard_a_plan_pushes_is_set_once_and_the_goal_counts_for_more() {
        let profile =
            PersonProfile { strategy: Some(StrategyMode::Push), ..PersonProfile::default() };
        let mode = |profile: &PersonProfile, goal: &str| {
            let context = profile.new_context(goal, date(2026, 11, 17), "UTC");
            (context.strategy_profile.mode, context.strategy_profile.target_utilization)
        };
        assert_eq!(mode(&profile, "learn Rust"), (StrategyMode::Push, 0.90));
        assert_eq!(mode(&profile, "learn Rust, no rush"), (StrategyMode::Relax, 0.65));
        assert_eq!(mode(&PersonProfile::default(), "learn Rust").0, StrategyMode::Hybrid);
    }
}
