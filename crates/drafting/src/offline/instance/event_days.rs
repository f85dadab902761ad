//! Things that take more than a day: a conference of two days, a trip of three weeks.
//!
//! What happens on the day itself happens on each of its days, what closes it on the last one, and what follows it later
//! than after a single day. A file may count from the last day itself, as `at = "last"`.

use std::ops::RangeInclusive;

use planwright_model::PlanContext;

use super::super::blueprint::{Blueprint, BlueprintTask, EventDays, LAST_DAY};
use super::super::goal::Goal;
use super::InstanceBuilder;
use super::effort::count_value;

/// Work on the day that takes less does not fill it, and is not repeated on the other days.
const MAIN_MINUTES: u32 = 120;
/// The longest thing whose days are tasks of their own; nobody plans three weeks of a fair day by day.
const MOST_DAYS: u32 = 7;

/// Returns how many days the thing itself takes, at least one.
pub(in super::super) fn event_length(goal: &Goal, context: &PlanContext, file: &Blueprint) -> u32 {
    if file.day.is_none() {
        return 1;
    }
    if let Some(days) = goal.event_days {
        return u32::from(days).clamp(1, 366);
    }
    if file.counts.contains_key("days") {
        return count_value(context, file, "days").clamp(1, 366);
    }
    if file.counts.contains_key("nights") {
        return (count_value(context, file, "nights") + 1).clamp(1, 366);
    }
    1
}

/// Returns whether a file counts from the last day of the thing itself.
pub(in super::super) fn names_last_day(file: &Blueprint) -> bool {
    let own = file.day.as_ref().is_some_and(|day| day.get_ref() == LAST_DAY);
    let counts = |task: &&BlueprintTask| {
        [&task.at, &task.by].into_iter().flatten().any(|date| date.get_ref().anchor == LAST_DAY)
    };
    !own && file.all_tasks().iter().any(counts)
}

fn is_on_day(file: &Blueprint, task: &BlueprintTask) -> bool {
    let own = file.day.as_ref().map(|day| day.get_ref().as_str());
    let at = task.at.as_ref().map(toml::Spanned::get_ref);
    at.is_some_and(|at| at.days == 0 && Some(at.anchor.as_str()) == own)
}

/// Returns what is done on the day itself and fills it: "Run the event". Files that count from the last day say
/// themselves what is done on each day.
fn main_task(file: &Blueprint) -> Option<&BlueprintTask> {
    let minutes =
        |task: &BlueprintTask| task.effort.as_ref().map_or(0, |own| own.get_ref().likely());
    let tasks = file.all_tasks();
    let on_day = tasks.iter().copied().filter(|task| is_on_day(file, task));
    let longest = on_day.max_by_key(|task| minutes(task))?;
    let lasting =
        file.subtype.get_ref() == "event" && file.family != "trip" && !names_last_day(file);
    (lasting && minutes(longest) >= MAIN_MINUTES).then_some(longest)
}

impl InstanceBuilder<'_> {
    /// Returns the days of the thing itself on which a task is done, from 1 on, and how many there are; nothing for what
    /// is done once.
    pub(super) fn days_of_task(&self, task: &BlueprintTask) -> Option<(RangeInclusive<u32>, u32)> {
        let file = self.inputs.blueprint;
        let all = self.event_length();
        let days = match task.each_day {
            Some(EventDays::Middle) => 2..=all.saturating_sub(1),
            Some(EventDays::All) => 1..=all,
            None if all > 1 && is_main_task(file, task) => 1..=all.min(MOST_DAYS),
            None => return None,
        };
        Some((days, all))
    }

    /// Returns how many days after the first one something of the day itself is done: what follows the main work closes
    /// the last day.
    pub(super) fn days_behind_main(&self, task: &BlueprintTask) -> u32 {
        let file = self.inputs.blueprint;
        let Some(main) = main_task(file).filter(|_| is_on_day(file, task)) else { return 0 };
        let tasks = file.all_tasks();
        let place =
            |wanted: &BlueprintTask| tasks.iter().position(|own| std::ptr::eq(*own, wanted));
        if place(task) > place(main) { self.event_length() - 1 } else { 0 }
    }

    fn event_length(&self) -> u32 {
        event_length(self.inputs.goal, self.inputs.context, self.inputs.blueprint)
    }
}

fn is_main_task(file: &Blueprint, task: &BlueprintTask) -> bool {
    main_task(file).is_some_and(|main| std::ptr::eq(main, task))
}
