//! Small tasks: one act that takes minutes or hours, and is done today or tomorrow.

use jiff::civil::Date;

use super::super::goal::Goal;
use super::score::ScoredKind;

/// What a goal that ends today or tomorrow adds to a small kind.
const SOON_POINTS: f64 = 4.0;
/// What a goal of weeks, hours a week or a rhythm takes from it.
const LONG_POINTS: f64 = 8.0;
/// How many days from now are soon, and how many are near.
const SOON_DAYS: i32 = 2;
const NEAR_DAYS: i32 = 5;
/// What a goal that ends within days adds to a small kind.
const NEAR_POINTS: f64 = 1.5;
/// The weeks of a kind that does not fit into a few days.
const LONG_WEEKS: u16 = 4;

/// Weighs small kinds by the time that the goal has: a report for tomorrow is a small task, one for March is not.
pub(super) fn weigh_small_kinds(goal: &Goal, scored: &mut Vec<ScoredKind<'_>>) {
    let soon = ends_within(goal, SOON_DAYS);
    let near = ends_within(goal, NEAR_DAYS);
    let long = !soon
        && (goal.horizon_weeks.is_some_and(|weeks| weeks > 1)
            || goal.weekly_minutes.is_some()
            || goal.cadence.is_some()
            || goal.per_period.is_some());
    for found in scored.iter_mut() {
        let weeks = *found.file.weeks.get_ref();
        if found.file.small && soon {
            found.points += SOON_POINTS;
            found.reasons.push("it is one act, done today or tomorrow".to_owned());
        } else if found.file.small && long {
            found.points = (found.points - LONG_POINTS).max(0.0);
            found.support *= 0.25;
        } else if found.file.small && near && !long {
            found.points += NEAR_POINTS;
            found.reasons.push("it is one act, done within days".to_owned());
        } else if soon && weeks > 2 {
            // Nothing that takes weeks ends tomorrow.
            found.points *= 0.5;
            found.support *= 0.5;
        } else if near && weeks >= LONG_WEEKS {
            // What takes months does not end this week.
            found.points *= 0.75;
            found.support *= 0.75;
        }
    }
    scored.retain(|found| found.total() > 0.0);
}

/// Returns whether the goal ends in fewer days than that.
fn ends_within(goal: &Goal, most: i32) -> bool {
    let days = |last: Date| goal.read_on.until(last).map_or(i32::MAX, |span| span.get_days());
    goal.last_day().is_some_and(|last| days(last) < most)
}
