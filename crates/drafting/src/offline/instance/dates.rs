//! Days that count from the plan's day, its start or its end, and how they give way in a short plan.

use jiff::ToSpan as _;
use jiff::civil::Date;

use planwright_model::{PlanDate, PlanNode, Role};

use super::super::blueprint::{AnchorDate, Blueprint, BlueprintTask};
use super::{InstanceBuilder, InstanceInputs};

/// Lead times up to this many days are kept as they are while there is room for them.
const SHORT_LEAD: u32 = 3;

/// The days of a plan from which others count.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct AnchorCalendar {
    start: Date,
    end: Date,
    day: Option<Date>,
    /// Whether "start" and "end" mean those of the plan, and not the day of the kind.
    reserved: [bool; 2],
    /// The share of the kind's own span that there is before the day, at most 1.
    ratio: f64,
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
        let reserved = ["start", "end"].map(|name| own != Some(name));
        Self { start: span.start, end: span.last_day, day: span.day, reserved, ratio, usual_lead }
    }

    /// Returns how much lead times and waiting times shrink: 1 if there is time enough.
    pub(in super::super) fn lead_ratio(&self) -> f64 {
        self.ratio
    }

    /// Returns the date that an anchor stands for. Before the start means at once.
    pub(in super::super) fn resolve(&self, date: &AnchorDate) -> Date {
        let base = match date.anchor.as_str() {
            "start" if self.reserved[0] => self.first_useful_day().unwrap_or(self.start),
            "end" if self.reserved[1] => self.end,
            _ => self.day.unwrap_or(self.end),
        };
        let Ok(lead) = u32::try_from(-date.days) else {
            return add_days(base, i64::from(date.days));
        };
        if date.anchor == "start" && self.reserved[0] {
            return base;
        }
        let shrunk = (f64::from(lead) * self.ratio).round() as u32;
        let lead = shrunk.max(lead.min(SHORT_LEAD));
        add_days(base, -i64::from(lead)).max(self.start)
    }

    /// Returns the first day on which work makes sense, if the plan's day is much farther away than the kind needs.
    pub(in super::super) fn first_useful_day(&self) -> Option<Date> {
        let day = self.day?;
        let room = days_between(self.start, day);
        let far = room > self.usual_lead + self.usual_lead / 2 && room > self.usual_lead + 21;
        far.then(|| add_days(day, -i64::from(self.usual_lead + self.usual_lead / 7)))
    }
}

/// Returns the days that the kind wants before its day: its span, or its longest lead if that is more.
fn usual_lead(file: &Blueprint) -> u32 {
    let span = u32::from(*file.weeks.get_ref()) * 7;
    let tasks = file.all_tasks();
    let leads = tasks.iter().flat_map(|task| [&task.at, &task.by, &task.from]).flatten();
    let longest = leads.filter_map(|date| u32::try_from(-date.get_ref().days).ok()).max();
    span.max(longest.unwrap_or(0))
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
            let day = self.anchors.resolve(at.get_ref());
            let main = at.get_ref().days == 0 && task.role == Role::Deliverable;
            let time = self.inputs.goal.at_local.filter(|_| main);
            node.fixed_start = Some(PlanDate { day, time });
        }
        if let Some(by) = &task.by
            && task.every.is_none()
        {
            node.due = Some(PlanDate::on_day(self.anchors.resolve(by.get_ref())));
        }
    }
}
