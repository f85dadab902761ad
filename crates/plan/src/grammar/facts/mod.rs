//! Whether a plan respects what was said (G501): every active fact with a reading is compared with the tasks and their
//! times. A reading about something that the plan does not name cannot be checked and breaks nothing.

mod dates;
mod limits;
mod subjects;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::artifacts::{RuleScope, display_title_of};
use super::rule_table::rule_violation;
use crate::plan_file::escape_for_message;
use planwright_model::{
    Fact, FactReading, FactSubject, PlanNode, Schedule, StartSource, TaskId, Violation,
};
use planwright_schedule::calendar::find_zone;
use planwright_text::dates::format_date;

/// The rule that a plan breaks if it does not respect a fact.
pub const BROKEN_FACT_RULE: &str = "G501";

/// What of a plan breaks a reading.
struct BrokenReading {
    nodes: Vec<TaskId>,
    /// What the plan does instead, without the sentence's end.
    what: String,
}

impl BrokenReading {
    fn new(nodes: impl IntoIterator<Item = TaskId>, what: String) -> Self {
        Self { nodes: nodes.into_iter().collect(), what }
    }
}

/// A block in local time, with its leaf.
struct LocalBlock<'a> {
    leaf: &'a PlanNode,
    start: DateTime,
    end: DateTime,
    minutes: u32,
}

impl LocalBlock<'_> {
    /// What ends at midnight ends on the day before.
    fn last_day(&self) -> Date {
        self.end.checked_sub(jiff::Span::new().minutes(1)).unwrap_or(self.end).date()
    }

    /// Whether somebody else does it.
    fn is_others(&self) -> bool {
        self.leaf.other_owner().is_some()
    }

    /// Whether its time was stated with the task: a date of the person's, or a time of day at which it repeats. A date
    /// that the kind of plan chose is none.
    fn has_stated_time(&self) -> bool {
        self.leaf.has_stated_day()
            || self.leaf.recurrence.as_ref().is_some_and(|repeats| repeats.at_local.is_some())
    }

    /// Whether the hours of the person do not apply to it: its time was stated, or it is the thing itself, such as the
    /// event or the exam, on a day that was assumed.
    fn is_beside_hours(&self) -> bool {
        let is_event =
            self.leaf.fixed_start.is_some() && self.leaf.start_source == StartSource::AssumedDay;
        is_event || self.has_stated_time()
    }
}

/// A plan as facts are compared with it.
struct FactCheck<'a> {
    scope: &'a RuleScope<'a>,
    schedule: &'a Schedule,
    blocks: Vec<LocalBlock<'a>>,
}

/// G501, once for each fact.
pub(super) fn check_facts(scope: &RuleScope<'_>, schedule: &Schedule, found: &mut Vec<Violation>) {
    let facts = &scope.plan.surroundings.facts;
    if facts.iter().all(|fact| fact.reading.is_none()) {
        return;
    }
    let check = FactCheck::new(scope, schedule);
    for fact in facts.iter().filter(|fact| fact.is_active()) {
        let broken = fact.reading.as_ref().and_then(|reading| check.find_break(reading));
        found.extend(broken.map(|broken| broken_fact(fact, broken)));
    }
}

fn broken_fact(fact: &Fact, broken: BrokenReading) -> Violation {
    let text = escape_for_message(&fact.text);
    rule_violation(
        BROKEN_FACT_RULE,
        broken.nodes,
        &[("fact", text.as_str()), ("what", broken.what.as_str())],
    )
}

impl<'a> FactCheck<'a> {
    fn new(scope: &'a RuleScope<'a>, schedule: &'a Schedule) -> Self {
        let zone = find_zone(&schedule.tz).unwrap_or(TimeZone::UTC);
        let local = |block: &'a planwright_model::ScheduledBlock| {
            let leaf = scope.tree.get(&block.plan_node_id)?;
            let (start, end) = (zone.to_datetime(block.start.at), zone.to_datetime(block.end.at));
            let minutes = super::schedule::block_minutes(block);
            Some(LocalBlock { leaf, start, end, minutes })
        };
        let blocks = schedule.blocks.iter().filter_map(local).collect();
        Self { scope, schedule, blocks }
    }

    fn find_break(&self, reading: &FactReading) -> Option<BrokenReading> {
        match reading {
            FactReading::Deadline { on } => self.check_last_day(*on),
            FactReading::Start { on } => self.check_first_day(*on),
            FactReading::FixedDate { subject, on } => self.check_window(subject, (*on, *on)),
            FactReading::Window { subject, from, to } => self.check_window(subject, (*from, *to)),
            FactReading::Absence { person, from, to } => {
                self.check_absence(person.as_deref(), (*from, *to))
            }
            FactReading::Order { first, then } => self.check_order(first, then),
            FactReading::Duration { subject, length } => self.check_duration(subject, *length),
            FactReading::Capacity { person, weekly_minutes } => {
                self.check_capacity(person.as_deref(), *weekly_minutes)
            }
            FactReading::WeekdaysOff { person, days } => {
                self.check_weekdays_off(person.as_deref(), days)
            }
            FactReading::DailyCapacity { minutes } => self.check_daily_capacity(*minutes),
            FactReading::WorkingTimes { person, times } => {
                self.check_working_times(person.as_deref(), times)
            }
            FactReading::Person { name, role } => self.check_person(name, role.as_deref()?),
            FactReading::Budget { subject, amount, currency } => {
                self.check_budget(subject.as_ref(), *amount, currency.as_deref())
            }
            FactReading::Count { noun, amount } => self.check_count(noun, *amount),
            FactReading::Place { name } => self.check_place(name),
            FactReading::EventDays { days } => self.check_event_days(*days),
        }
    }

    /// A day as messages show it.
    fn format_day(&self, date: Date) -> String {
        format_date(date, self.scope.context().constraints.start)
    }

    fn title(&self, id: &TaskId) -> String {
        display_title_of(self.scope, id)
    }

    /// The blocks of a node and of everything below it.
    fn blocks_below<'b>(&'b self, id: &'b TaskId) -> impl Iterator<Item = &'b LocalBlock<'a>> {
        self.blocks.iter().filter(move |block| {
            block.leaf.id == *id || self.scope.tree.is_ancestor(id, &block.leaf.id)
        })
    }

    /// The nodes that a subject may mean; none for the plan itself and for words that no title has.
    fn named_nodes(&self, subject: &FactSubject) -> Vec<&'a PlanNode> {
        match subject {
            FactSubject::Plan => Vec::new(),
            FactSubject::Node(id) => self.scope.tree.get(id).into_iter().collect(),
            FactSubject::Words(words) => subjects::nodes_named(self.scope, words),
        }
    }
}

/// What breaks a reading about nodes: it is broken only if every node that may be meant breaks it.
fn break_of_all(
    nodes: &[&PlanNode],
    check: impl Fn(&PlanNode) -> Option<BrokenReading>,
) -> Option<BrokenReading> {
    let mut breaks: Vec<Option<BrokenReading>> = nodes.iter().map(|node| check(node)).collect();
    if breaks.iter().any(Option::is_none) {
        return None;
    }
    breaks.drain(..).next().flatten()
}
