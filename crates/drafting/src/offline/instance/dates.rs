//! Days that count from the plan's day, its start or its end, and how they give way in a short plan.

use jiff::ToSpan as _;
use jiff::civil::Date;

use planwright_model::{
    Assumption, AssumptionOrigin, PlanDate, PlanNode, Role, StartSource, Weekday,
};

use super::super::blueprint::{
    AnchorDate, Blueprint, BlueprintPreference, BlueprintTask, LAST_DAY as LAST, parse_time_of_day,
};
use super::super::facts::DAY;
use super::super::usual_hours;
use super::event_days;
use super::opening_hours::errand_hours;
use super::{InstanceBuilder, InstanceInputs};

/// Lead times up to this many days are kept as they are while there is room for them.
const SHORT_LEAD: u32 = 3;
/// So are those of what has a day of its own, up to this many.
const LONGEST_EXACT_LEAD: i64 = 10;

/// With a smaller share of the time that a kind wants, its dates give way to their order.
const CROWDED_RATIO: f64 = 0.5;
/// With fewer days before the plan's day everything is done as soon as possible.
const LEAST_ROOM: u32 = 5;
/// A day nearer than this may crowd the plan before it.
const CROWDED_DAYS: u32 = 28;

/// The days of a plan from which others count.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct AnchorCalendar {
    start: Date,
    end: Date,
    day: Option<Date>,
    /// The days from the day of the kind to the last day of the thing itself.
    lasts: u32,
    /// How much later than written something after the day happens, because the thing itself takes more than a day.
    shift: u32,
    /// Whether "start", "end" and "last" mean those of the plan, and not the day of the kind.
    reserved: [bool; 3],
    /// The share of the kind's own span that there is before the day, at most 1.
    ratio: f64,
    /// Whether the day is stated as such; what is only due by a day may begin at once.
    is_stated: bool,
    /// Whether the goal names the last day or the weeks.
    is_end_stated: bool,
    /// Days before the day at which the work usefully begins.
    usual_lead: u32,
}

impl AnchorCalendar {
    pub(in super::super) fn new(inputs: InstanceInputs<'_>) -> Self {
        let InstanceInputs { blueprint, span, .. } = inputs;
        let usual_lead = usual_lead(blueprint);
        let last = span.day.unwrap_or(span.last_day);
        let room = days_between(span.start, last);
        let ratio = (f64::from(room) / f64::from(usual_lead.max(1))).min(1.0);
        let own = blueprint.day.as_ref().map(|day| day.get_ref().as_str());
        let reserved = ["start", "end", LAST].map(|name| own != Some(name));
        let is_stated = inputs.goal.day.is_some() || inputs.goal.deadline.is_none();
        let lasts = event_days::event_length(inputs.goal, inputs.context, blueprint) - 1;
        // Files that count from the last day say themselves what comes after it.
        let shift = if event_days::names_last_day(blueprint) { 0 } else { lasts };
        Self {
            start: span.start,
            end: span.last_day,
            day: span.day,
            lasts,
            shift,
            reserved,
            ratio,
            is_stated,
            is_end_stated: inputs.goal.deadline.is_some() || inputs.goal.horizon_weeks.is_some(),
            usual_lead,
        }
    }

    /// Returns how much lead times and waiting times shrink: 1 if there is time enough.
    pub(in super::super) fn lead_ratio(&self) -> f64 {
        self.ratio
    }

    /// Returns the date that an anchor stands for. Before the start means at once.
    pub(in super::super) fn resolve(&self, date: &AnchorDate) -> Date {
        let base = self.base_day(date);
        let Ok(lead) = u32::try_from(-date.days) else {
            let own = !matches!(date.anchor.as_str(), "start" | "end" | LAST);
            let shift = if own { self.shift } else { 0 };
            let day = add_days(base, i64::from(date.days) + i64::from(shift));
            // A look back comes a day early rather than after the last day that the goal names.
            return if self.is_end_stated && base < self.end { day.min(self.end) } else { day };
        };
        if date.anchor == "start" && self.reserved[0] {
            return base;
        }
        let shrunk = (f64::from(lead) * self.ratio).round() as u32;
        let lead = shrunk.max(lead.min(SHORT_LEAD));
        add_days(base, -i64::from(lead)).max(self.start)
    }

    /// Returns the first or last day of something that repeats, which counts from the first day of the thing itself.
    pub(in super::super) fn resolve_repeated(&self, date: &AnchorDate) -> Date {
        Self { shift: 0, ..*self }.resolve(date)
    }

    /// Returns the exact day of something that happens on one, or nothing if a plan is too short for its lead. Leads of
    /// a few days do not shrink.
    pub(in super::super) fn resolve_own_day(&self, date: &AnchorDate) -> Option<Date> {
        let base = self.base_day(date);
        let lead = i64::from(date.days.min(0).unsigned_abs());
        if lead == 0 {
            return Some(self.resolve(date));
        }
        // Where weeks are missing, only the last days have days of their own.
        if self.is_crowded() && lead > i64::from(SHORT_LEAD) {
            return None;
        }
        let day =
            if lead <= LONGEST_EXACT_LEAD { add_days(base, -lead) } else { self.resolve(date) };
        (day > self.start).then_some(day)
    }

    /// Returns whether there are few weeks before the day, and less than half of the time that the kind wants.
    fn is_crowded(&self) -> bool {
        let near = |day: Date| days_between(self.start, day) < CROWDED_DAYS;
        self.day.is_some_and(near) && self.ratio < CROWDED_RATIO
    }

    /// Returns the day by which something is due. In a crowded plan only the order counts, and the day itself.
    pub(in super::super) fn resolve_due(&self, date: &AnchorDate) -> Date {
        let lead = date.days.min(0).unsigned_abs();
        if self.is_crowded() && lead > SHORT_LEAD && date.anchor != "start" {
            return self.last_day_before(date);
        }
        self.resolve(date)
    }

    /// Returns the last day for something that should happen before an anchor.
    pub(in super::super) fn last_day_before(&self, date: &AnchorDate) -> Date {
        let base = self.base_day(date);
        // Tomorrow's party is prepared until it begins.
        if days_between(self.start, base) <= 1 { base } else { add_days(base, -1).max(self.start) }
    }

    fn base_day(&self, date: &AnchorDate) -> Date {
        match date.anchor.as_str() {
            "start" if self.reserved[0] => self.first_useful_day().unwrap_or(self.start),
            "end" if self.reserved[1] => self.end,
            LAST if self.reserved[2] => {
                add_days(self.day.unwrap_or(self.end), i64::from(self.lasts))
            }
            _ => self.day.unwrap_or(self.end),
        }
    }

    /// Returns the first day on which work makes sense, if the plan's day is much farther away than the kind needs.
    pub(in super::super) fn first_useful_day(&self) -> Option<Date> {
        let day = self.day.filter(|_| self.is_stated)?;
        let room = days_between(self.start, day);
        // Whoever has twice the time that a kind needs books early and rests later.
        let early = self.usual_lead * 2;
        let far = room > early && room > self.usual_lead + 21;
        far.then(|| add_days(day, -i64::from(early)))
    }
}

/// Returns the days that the kind wants before its day: its span, or its longest lead if that is more.
pub(in super::super) fn usual_lead(file: &Blueprint) -> u32 {
    let span = u32::from(*file.weeks.get_ref()) * 7;
    let tasks = file.all_tasks();
    let leads = tasks.iter().flat_map(|task| [&task.at, &task.by, &task.from]).flatten();
    let longest = leads.filter_map(|date| u32::try_from(-date.get_ref().days).ok()).max();
    span.max(longest.unwrap_or(0))
}

/// Returns whether everything is closed on a day in most countries.
fn is_public_feast(day: Date) -> bool {
    matches!((day.month(), day.day()), (12, 25 | 26) | (1, 1))
}

pub(in super::super) fn days_between(from: Date, to: Date) -> u32 {
    from.until(to).ok().and_then(|span| u32::try_from(span.get_days()).ok()).unwrap_or(0)
}

pub(in super::super) fn add_days(date: Date, days: i64) -> Date {
    date.checked_add(days.days()).unwrap_or(if days < 0 { Date::MIN } else { Date::MAX })
}

impl InstanceBuilder<'_> {
    /// Sets the dates of a task: on a day, or due by one.
    pub(super) fn set_dates(&mut self, node: &mut PlanNode, task: &BlueprintTask) {
        if let Some(at) = &task.at {
            self.set_own_day(node, task, at.get_ref());
        }
        if let Some(by) = &task.by
            && task.every.is_none()
        {
            let day = self.anchors.resolve_due(by.get_ref());
            if self.inputs.span.day == Some(day) && !self.inputs.context.calendar.has_hours_on(day)
            {
                // On a day without hours it can only be part of that day.
                node.fixed_start = Some(PlanDate::on_day(day));
                node.start_source = self.plan_day_source();
                node.in_one_piece = true;
                return;
            }
            node.due = Some(PlanDate::on_day(self.last_working_day(day)));
        }
    }

    /// Puts a task on its day. What should happen before it, and would have to before the plan begins, is only due.
    fn set_own_day(&self, node: &mut PlanNode, task: &BlueprintTask, at: &AnchorDate) {
        let Some(day) = self.anchors.resolve_own_day(at) else {
            let last = self.last_working_day(self.anchors.last_day_before(at));
            node.due = Some(PlanDate::on_day(last));
            // Nobody counts answers on the day on which guests are invited.
            let near = self.last_working_day(add_days(self.anchors.resolve(at), -1));
            let room = days_between(self.inputs.span.start, last) >= LEAST_ROOM;
            if at.days < 0 && room && near > self.inputs.span.start && near < last {
                node.not_before = Some(PlanDate::on_day(near));
            }
            return;
        };
        let main = at.days == 0 && task.role == Role::Deliverable;
        let stated = self.inputs.goal.at_local.filter(|_| main);
        let usual = task.at_time.as_ref().and_then(|time| parse_time_of_day(time.get_ref()));
        let day = add_days(day, i64::from(self.days_behind_main(task)));
        let day = self.day_with_hours(task, at.days, day);
        node.fixed_start = Some(PlanDate { day, time: stated.or(usual) });
        node.start_source = match self.plan_day_source() {
            StartSource::StatedDay if at.days == 0 && stated.is_some() => StartSource::Stated,
            source if at.days == 0 => source,
            _ => StartSource::Proposed,
        };
        node.in_one_piece = true;
    }

    /// Returns who chose the day of the plan.
    fn plan_day_source(&self) -> StartSource {
        let known = self.inputs.context.find_assumption(DAY);
        match known.filter(|found| found.origin != AssumptionOrigin::Template) {
            Some(_) => StartSource::StatedDay,
            None => StartSource::AssumedDay,
        }
    }

    /// Returns the last day up to a date on which anything can be done.
    fn last_working_day(&self, date: Date) -> Date {
        let InstanceInputs { context, span, .. } = self.inputs;
        let near = (0..14).map(|count| add_days(date, -count));
        let mut near = near.take_while(|day| *day >= span.start);
        near.find(|day| context.calendar.has_hours_on(*day)).unwrap_or(date)
    }

    /// Whether the person stated at which times of the week they work.
    fn has_stated_times(&self) -> bool {
        let InstanceInputs { goal, context, .. } = self.inputs;
        let stated = |found: &Assumption| found.origin == AssumptionOrigin::User;
        !goal.working_times.is_empty()
            || !goal.weekdays_off.is_empty()
            || context.find_assumption("working").is_some_and(stated)
    }

    /// Returns a day with working hours for what only has about that day: before it for what leads to the plan's day,
    /// after it for what follows. The days around the plan's day are meant as they are, except for offices.
    fn day_with_hours(&self, task: &BlueprintTask, offset: i32, day: Date) -> Date {
        let InstanceInputs { context, blueprint, span, .. } = self.inputs;
        let prefer = task.prefer.unwrap_or(blueprint.prefer);
        let private = usual_hours::is_private(blueprint);
        let needed = errand_hours(task).filter(|_| private && offset != 0);
        // Shops are closed on Sundays, offices on weekends, on the days around a party as well.
        let open = |date: &Date| {
            needed.is_none_or(|time| time.weekly_hours().contains_key(&Weekday::from_date(*date)))
                && (needed.is_none() || !is_public_feast(*date))
        };
        let exact = match offset {
            0 => true,
            // A hall is set up the day before and cleared the day after, whatever day that is; a check of a text is not.
            -2..=1 => {
                let office = prefer == BlueprintPreference::OfficeHours;
                !office && blueprint.subtype.get_ref() == "event" && !self.has_stated_times()
            }
            _ => false,
        };
        let works = |date: &Date| (exact || context.calendar.has_hours_on(*date)) && open(date);
        if exact && open(&day) || works(&day) {
            return day;
        }
        let step = if offset < 0 { -1 } else { 1 };
        let near = (1..=14).map(|count| add_days(day, step * count));
        near.take_while(|date| *date >= span.start).find(works).unwrap_or(day)
    }
}
