//! The day of the thing itself, if nobody states it: a day that suits the kind of thing and the person's hours, and not
//! one between the years.

use jiff::civil::Date;

use planwright_model::{PlanCalendar, PlanContext, PreferredTime, Weekday};

use super::blueprint::{
    Blueprint, BlueprintPreference, BlueprintSizing, CalendarSpan, parse_month_day,
};
use super::goal::{CalendarHemisphere, CalendarRegion, Goal, GoalDay};
use super::instance::{add_days, days_between, event_length, usual_lead};

/// The days before which a suitable day is looked for first: "in the sixth week" stays in that week.
const WEEK: i64 = 7;
/// A window of fewer days is a weekend or the rest of one.
const SHORT_WINDOW: u32 = 3;
/// How far a day that nobody stated moves to find a suitable one.
const LONGEST_SEARCH: i64 = 28;

/// Returns the day of the thing itself if the goal does not name exactly one: inside the window, or so near to the end of
/// the time there is that what follows it still fits.
pub(super) fn assume_day(goal: &Goal, file: &Blueprint, context: &PlanContext) -> Date {
    let start = context.constraints.start;
    let length = event_length(goal, context, file);
    let lasts = i64::from(length) - 1;
    let days = DayFilter::new(file, &context.calendar, length);
    if let Some(GoalDay::Within { from, to }) = goal.day {
        let first = from.max(start);
        // All of its days lie in the window, if they fit.
        let to = add_days(to, -lasts).max(first);
        // A window that begins with the plan leaves its last day for the thing itself.
        if from <= start && days_between(first, to) < SHORT_WINDOW {
            return days.nearest(to, first, to);
        }
        let middle = add_days(first, i64::from(days_between(first, to) / 2));
        return days.nearest(middle, first, to);
    }
    // A day that nobody stated leaves the time that the kind's own dates need.
    let usual = usual_lead(file).div_ceil(7).clamp(1, 520) as u16;
    let weeks = context.constraints.horizon_weeks.unwrap_or(usual);
    let last = goal.deadline.unwrap_or_else(|| add_days(start, i64::from(weeks) * 7 - 1));
    let stated = goal.deadline.is_some() || goal.horizon_weeks.is_some();
    // A present is given on the day that it is for.
    if let Some(day) = goal.deadline.filter(|_| is_gift(file)) {
        return day;
    }
    // A training ends with its day; only rest comes after it. What is made ready by a day is ready on it.
    let ready = goal.contains_any(&["ready"]) && goal.deadline.is_some();
    let follows = stated && file.sizing != BlueprintSizing::Training && !ready;
    let after = if follows { follow_up_days(file) } else { 0 };
    // "In 6 weeks" is in the sixth week, whatever follows; what is due by a day is over by then.
    let first = if goal.deadline.is_some() { start } else { add_days(last, -6).max(start) };
    let after = i64::from(after) + if stated { lasts } else { 0 };
    let wanted = add_days(last, -after).max(first);
    let wanted = if goal.deadline.is_some() { wanted.min(early_day(file, start)) } else { wanted };
    if stated {
        return days.latest(wanted, first).unwrap_or_else(|| days.nearest(wanted, first, last));
    }
    if let Some(day) = usual_day(file, context) {
        return days.nearest(day, add_days(day, -3).max(start), add_days(day, 3));
    }
    days.latest_or_later(wanted, first)
}

/// Returns the next day on which the season brings it, for kinds whose day the year decides: the last frost.
fn usual_day(file: &Blueprint, context: &PlanContext) -> Option<Date> {
    let (month, day) = parse_month_day(file.usual_day.as_ref()?.get_ref())?;
    let start = context.constraints.start;
    let region = CalendarRegion::from_calendar(&context.calendar);
    let month = match region.hemisphere {
        CalendarHemisphere::Northern => month,
        CalendarHemisphere::Southern => (month + 5) % 12 + 1,
    };
    let in_year = |year: i16| Date::new(year, month, day).ok().filter(|found| *found > start);
    in_year(start.year()).or_else(|| in_year(start.year() + 1))
}

fn is_gift(file: &Blueprint) -> bool {
    file.day.as_ref().is_some_and(|day| day.get_ref() == "gift")
}

/// Returns the latest day that makes sense for something whose day the person chooses: nobody waits for a year with a
/// switch that takes two months.
fn early_day(file: &Blueprint, start: Date) -> Date {
    const CHOSEN: [&str; 7] = [
        "do you want",
        "should",
        "do you switch",
        "does the team switch",
        "is it required",
        "start the work",
        "begin to",
    ];
    let question = file.day_question.as_ref().map_or("", |text| text.get_ref().as_str());
    let chosen = CHOSEN.iter().any(|words| question.contains(words));
    if chosen && file.family != "text" && file.family != "move" {
        add_days(start, i64::from(*file.weeks.get_ref()) * 7 * 5 / 4)
    } else {
        Date::MAX
    }
}

/// Returns the days that a kind needs after its day, for what counts from it and for what follows it.
fn follow_up_days(file: &Blueprint) -> u32 {
    let tasks = file.all_tasks();
    let dates = tasks.iter().flat_map(|task| [&task.at, &task.by]).flatten();
    let last = dates.map(|date| date.get_ref().days).max().unwrap_or(0);
    let main =
        tasks.iter().rposition(|task| task.at.as_ref().is_some_and(|at| at.get_ref().days == 0));
    let after = main.map_or(&[][..], |main| &tasks[main + 1..]);
    let undated = after.iter().filter(|task| task.at.is_none() && task.every.is_none());
    let lags = undated.clone().flat_map(|task| task.after.iter().flatten());
    let wait = lags.filter_map(|link| link.lag).map(CalendarSpan::in_days).max().unwrap_or(0);
    let minutes = undated.filter_map(|task| task.effort.as_ref()).map(|own| own.get_ref().likely());
    // A weekend may lie in between.
    let work = minutes.sum::<u32>().div_ceil(FOLLOW_UP_MINUTES);
    let days = wait + work + u32::from(work > 0);
    days.max(u32::try_from(last).unwrap_or(0))
}

/// What is done of the follow-up on one day.
const FOLLOW_UP_MINUTES: u32 = 90;

/// The days on which something of a kind takes place.
struct DayFilter<'a> {
    on_weekend: bool,
    /// Races are on Sundays too; parties and moves leave the Sunday to rest.
    on_sunday: bool,
    /// The days in a row that must suit.
    length: i64,
    calendar: &'a PlanCalendar,
}

/// What takes longer than a working week has a weekend in it anyway.
const WORKING_WEEK: u32 = 5;

/// How well a day suits, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DaySuitability {
    /// The right part of the week, in the person's hours.
    Suitable,
    /// In the person's hours for work; the right part of the week for what people do together.
    Acceptable,
    /// The right part of the week, and between the years, when few people are there.
    Quiet,
}

impl DaySuitability {
    const ALL: [Self; 3] = [Self::Suitable, Self::Acceptable, Self::Quiet];
}

impl<'a> DayFilter<'a> {
    /// A weekend for parties, races, trips and moves, else a working day.
    fn new(file: &Blueprint, calendar: &'a PlanCalendar, length: u32) -> Self {
        let shared = ["event", "training_arc"].contains(&file.subtype.get_ref().as_str());
        let together =
            shared && file.family != "talk" || ["trip", "move"].contains(&file.family.as_str());
        let on_weekend = match file.prefer.to_preferred_time() {
            Some(PreferredTime::Weekends) => true,
            Some(PreferredTime::EveningsAndWeekends) => together || is_on_weekend(file),
            _ => file.subtype.get_ref() == "training_arc",
        };
        let on_weekend = on_weekend && !is_in_office(file);
        let on_sunday = file.sizing == BlueprintSizing::Training;
        let in_a_row = length <= WORKING_WEEK && !on_weekend;
        let length = if in_a_row { i64::from(length) } else { 1 };
        Self { on_weekend, on_sunday, length, calendar }
    }

    /// Returns whether all days suit of something that starts on a day.
    fn allows(&self, first: Date, suitability: DaySuitability) -> bool {
        (0..self.length).all(|later| self.allows_day(add_days(first, later), suitability))
    }

    fn allows_day(&self, day: Date, suitability: DaySuitability) -> bool {
        let fits = match Weekday::from_date(day) {
            Weekday::Sat => self.on_weekend,
            Weekday::Sun => self.on_weekend && self.on_sunday,
            _ => !self.on_weekend,
        };
        let open = self.calendar.has_hours_on(day);
        let right = match suitability {
            DaySuitability::Suitable => fits && open && !is_quiet(day),
            DaySuitability::Acceptable => {
                !is_quiet(day) && if self.on_weekend { fits } else { open }
            }
            DaySuitability::Quiet => fits && !is_feast(day),
        };
        right && !self.calendar.days_off.contains(&day)
    }

    /// Returns the last suitable day of the week before a day, so that what follows has the time it needs.
    fn latest(&self, wanted: Date, from: Date) -> Option<Date> {
        DaySuitability::ALL.into_iter().find_map(|suitability| {
            let earlier = (0..WEEK).map(|step| add_days(wanted, -step));
            let mut earlier = earlier.take_while(|day| *day >= from);
            earlier.find(|day| self.allows(*day, suitability))
        })
    }

    /// Returns the last suitable day of the week before a day that nobody stated, or else the first one after it.
    fn latest_or_later(&self, wanted: Date, from: Date) -> Date {
        let found = DaySuitability::ALL.into_iter().find_map(|suitability| {
            let earlier = (0..WEEK).map(|step| add_days(wanted, -step));
            let later = (1..LONGEST_SEARCH).map(|step| add_days(wanted, step));
            let mut near = earlier.take_while(|day| *day >= from).chain(later);
            near.find(|day| self.allows(*day, suitability))
        });
        found.unwrap_or(wanted)
    }

    /// Returns the nearest suitable day, rather an earlier one.
    fn nearest(&self, wanted: Date, from: Date, to: Date) -> Date {
        let found = DaySuitability::ALL.into_iter().find_map(|suitability| {
            let near = (0..LONGEST_SEARCH)
                .flat_map(|step| [add_days(wanted, -step), add_days(wanted, step)]);
            let mut inside = near.filter(|day| (from..=to).contains(day));
            inside.find(|day| self.allows(*day, suitability))
        });
        found.unwrap_or(wanted)
    }
}

/// Returns whether somebody with office hours is needed on the day itself: schools do not begin on Saturdays.
fn is_in_office(file: &Blueprint) -> bool {
    file.all_tasks().iter().any(|task| {
        task.prefer == Some(BlueprintPreference::OfficeHours)
            && task.at.as_ref().is_some_and(|at| at.get_ref().days == 0)
    })
}

/// Returns whether a file wants the day itself on a weekend.
fn is_on_weekend(file: &Blueprint) -> bool {
    file.all_tasks().iter().any(|task| {
        task.prefer == Some(BlueprintPreference::Weekends)
            && task.at.as_ref().is_some_and(|at| at.get_ref().days == 0)
    })
}

/// The days between the years, on which offices are empty and guests are away.
pub(super) fn is_quiet(day: Date) -> bool {
    matches!((day.month(), day.day()), (12, 22..=31) | (1, 1..=6))
}

fn is_feast(day: Date) -> bool {
    matches!((day.month(), day.day()), (12, 24..=26 | 31) | (1, 1))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use planwright_model::LocalTimeInterval;

    use super::super::blueprint::TemplateLibrary;
    use super::*;

    /// The day that is assumed for a goal of a kind, for somebody with hours on the given weekdays.
    fn assumed(goal: &str, kind: &str, today: Date, open: &[Weekday]) -> Date {
        let library = TemplateLibrary::built_in();
        let mut context = PlanContext::new(goal, today, "UTC");
        let at = |hour| jiff::civil::time(hour, 0, 0, 0);
        let hours = vec![LocalTimeInterval::new(at(18), at(21))];
        context.calendar.working = open.iter().map(|day| (*day, hours.clone())).collect();
        let goal = super::super::facts::read_goal(&context, today);
        assume_day(&goal, library.named_blueprint(kind).unwrap(), &context)
    }

    #[test]
    fn a_day_that_nobody_stated_is_a_day_with_hours_and_not_between_the_years() {
        let open = [Weekday::Tue, Weekday::Thu];
        for offset in 0..400 {
            let today = add_days(date(2026, 3, 1), offset);
            let day = assumed("launch a newsletter", "newsletter_launch", today, &open);
            assert!(open.contains(&Weekday::from_date(day)), "{today}: {day}");
            assert!(!is_quiet(day) && day > today, "{today}: {day}");
        }
    }

    #[test]
    fn a_stated_week_is_kept_even_between_the_years() {
        let today = date(2026, 11, 18);
        let goal = "launch a newsletter in 6 weeks";
        let day = assumed(goal, "newsletter_launch", today, &Weekday::ALL);
        assert!((date(2026, 12, 23)..=date(2026, 12, 29)).contains(&day), "{day}");
        assert!(!is_feast(day), "{day}");
    }

    #[test]
    fn what_people_do_together_is_on_a_weekend_whatever_hours_they_have() {
        let today = date(2026, 11, 18);
        let day = assumed("birthday party", "birthday_party", today, &[Weekday::Tue]);
        assert!(matches!(Weekday::from_date(day), Weekday::Sat | Weekday::Sun), "{day}");
    }
}
