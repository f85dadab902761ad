//! Writes a schedule as a calendar.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::content_lines::IcalLineWriter;
use super::{recurrence_rules, time_zones, todo};
use crate::check::ScheduleReport;
use crate::export::{ExportedRun, PlanExport};
use planwright_model::{
    OffsetDateTime, Plan, PlanNode, Schedule, ScheduledBlock, TaskId, TaskNode,
};
use planwright_schedule::calendar::{CalendarError, RecurrenceRule, find_zone, resolve_local};

/// Which edition of the calendar of a plan a file is. Whoever reads a later one changes what an earlier one brought.
#[derive(Clone, Copy, Debug)]
pub struct CalendarEdition<'a> {
    /// The base of all ids, the same for every edition of a plan.
    pub plan_id: &'a str,
    /// When the file is written.
    pub stamp: Timestamp,
    /// Grows with every change of the plan.
    pub revision: u64,
}

/// Renders the schedule of a plan as an iCalendar file, with CRLF line endings: its blocks as events and its tasks as
/// to-dos. Contains no events if there is no schedule.
///
/// Ids follow from the nodes and stay the same from edition to edition. Events of `earlier` schedules that are no longer
/// planned are in the file as canceled ones, so that they disappear where an earlier edition was read.
pub fn render_ical(
    plan: &PlanExport<'_>,
    edition: &CalendarEdition<'_>,
    earlier: &[&Schedule],
) -> Result<String, CalendarError> {
    let mut lines = calendar_head(plan.title());
    let tz = plan.schedule.map_or(&plan.context.calendar.tz, |schedule| &schedule.tz);
    let writer = IcalWriter { plan, events: IcalEvents::new(edition, tz)? };
    let blocks = plan.schedule.map_or(&[][..], |schedule| &schedule.blocks);
    let old = earlier.iter().flat_map(|schedule| &schedule.blocks);
    let spans = blocks.iter().chain(old).map(|block| (block.start.at, block.end.at));
    writer.events.write_zone(spans, &mut lines);
    let present = writer.planned_events(blocks);
    for event in &present {
        writer.write_block(event, &mut lines);
    }
    let mut known: HashSet<String> = present.into_iter().map(|event| event.id).collect();
    for event in earlier.iter().rev().flat_map(|schedule| writer.planned_events(&schedule.blocks)) {
        if known.insert(event.id.clone()) {
            writer.write_canceled(&event, &mut lines);
        }
    }
    todo::write_node_todos(plan, &writer.events, &mut lines);
    lines.push("END:VCALENDAR");
    Ok(lines.into_text())
}

/// Renders a plan file: one event and one to-do a task. Without a schedule there are to-dos only, for tasks with dates of
/// their own. Ids as in [`render_ical`].
pub fn render_graph_ical(
    plan: &Plan,
    schedule: Option<&ScheduleReport>,
    run: &ExportedRun,
    edition: &CalendarEdition<'_>,
) -> Result<String, CalendarError> {
    let mut lines = calendar_head(&plan.title);
    let tasks: HashMap<&TaskId, &TaskNode> =
        plan.tasks.iter().map(|task| (&task.id, task)).collect();
    let placed: Vec<_> = schedule
        .map_or(&[][..], |schedule| &schedule.blocks)
        .iter()
        .filter_map(|block| Some((*tasks.get(&block.task)?, block.start_at?, block.finish_at?)))
        .collect();
    let tz = schedule.and_then(|schedule| schedule.tz.as_deref()).unwrap_or("UTC");
    let events = IcalEvents::new(edition, tz)?;
    events.write_zone(placed.iter().map(|(_, start, end)| (start.at, end.at)), &mut lines);
    for (task, start, end) in &placed {
        let event = ExportedEvent {
            id: task.id.as_str(),
            start: *start,
            end: *end,
            more: &[],
            title: &task.description,
            description: todo::describe_task(task),
            tags: &[],
        };
        events.write_event(&event, &mut lines);
    }
    let times: BTreeMap<&TaskId, (OffsetDateTime, OffsetDateTime)> =
        placed.iter().map(|(task, start, end)| (&task.id, (*start, *end))).collect();
    todo::write_task_todos(plan, &times, run, &events, &mut lines);
    lines.push("END:VCALENDAR");
    Ok(lines.into_text())
}

fn calendar_head(title: &str) -> IcalLineWriter {
    let mut lines = IcalLineWriter::default();
    lines.push("BEGIN:VCALENDAR");
    lines.push("VERSION:2.0");
    lines.push("PRODID:-//Planwright//Planwright//EN");
    lines.push("CALSCALE:GREGORIAN");
    lines.push_text("X-WR-CALNAME", title);
    lines
}

/// What all events of a calendar have in common.
pub(super) struct IcalEvents<'a> {
    plan_id: &'a str,
    stamp: String,
    revision: u64,
    tz: &'a str,
    zone: TimeZone,
}

/// An event of a schedule: a block, or the first of a series.
struct PlannedEvent<'b> {
    id: String,
    block: &'b ScheduledBlock,
    more: Vec<String>,
}

/// One event.
struct ExportedEvent<'a> {
    id: &'a str,
    start: OffsetDateTime,
    end: OffsetDateTime,
    more: &'a [String],
    title: &'a str,
    description: String,
    tags: &'a [String],
}

struct IcalWriter<'a> {
    plan: &'a PlanExport<'a>,
    events: IcalEvents<'a>,
}

impl IcalWriter<'_> {
    fn planned_events<'b>(&self, blocks: &'b [ScheduledBlock]) -> Vec<PlannedEvent<'b>> {
        let mut series: BTreeMap<&TaskId, Vec<&'b ScheduledBlock>> = BTreeMap::new();
        for block in blocks.iter().filter(|block| block.occurrence.is_some()) {
            series.entry(&block.plan_node_id).or_default().push(block);
        }
        let mut in_series: HashSet<&str> = HashSet::new();
        let mut events = Vec::new();
        for (id, blocks) in series {
            if let Some((event, blocks)) = self.plan_series(id, &blocks) {
                events.push(event);
                in_series.extend(blocks);
            }
        }
        let single = blocks.iter().filter(|block| !in_series.contains(block.id.as_str()));
        events.extend(single.map(|block| PlannedEvent {
            id: block.id.clone(),
            block,
            more: Vec::new(),
        }));
        events
    }

    /// The blocks of a recurring node that follow its rule, as one event; also returns the ids of these blocks.
    fn plan_series<'b>(
        &self,
        id: &TaskId,
        blocks: &[&'b ScheduledBlock],
    ) -> Option<(PlannedEvent<'b>, Vec<&'b str>)> {
        let (rule, first) = self.recurrence_rule(id).zip(blocks.first())?;
        let (begin, length) =
            (self.events.zone.to_datetime(first.start.at), first.estimated_minutes);
        let dates = self.rule_dates(&rule, blocks);
        let text = recurrence_rules::format_rrule(&rule, begin.date(), dates.len())?;
        let at = |date: Date| resolve_local(date.to_datetime(begin.time()), &self.events.zone);
        let on_rule = |date: Date| {
            blocks.iter().find(|block| {
                block.start.at == at(date)
                    && block.estimated_minutes == length
                    && block.sequence == 1
            })
        };
        // A rule needs at least two dates, and the first must be one of its dates.
        if dates.len() < 2 || dates.first() != Some(&begin.date()) {
            return None;
        }
        let (kept, missing): (Vec<Date>, Vec<Date>) =
            dates.into_iter().partition(|date| on_rule(*date).is_some());
        let mut more = vec![format!("RRULE:{text}")];
        more.extend(missing.iter().map(|date| self.exception_line(*date, begin.time())));
        let ids = kept.iter().filter_map(|date| on_rule(*date)).map(|block| block.id.as_str());
        Some((PlannedEvent { id: format!("{id}@series"), block: first, more }, ids.collect()))
    }

    fn recurrence_rule(&self, id: &TaskId) -> Option<RecurrenceRule> {
        let tree = self.plan.tree();
        let node: &PlanNode = tree.get(id)?;
        let ancestors = tree.ancestors(id);
        let root = std::iter::once(node).chain(ancestors).find(|node| node.recurrence.is_some())?;
        root.recurrence.as_ref().map(RecurrenceRule::from)
    }

    /// Returns the dates of a rule from the first to the last of some blocks.
    fn rule_dates(&self, rule: &RecurrenceRule, blocks: &[&ScheduledBlock]) -> Vec<Date> {
        let date = |block: &&ScheduledBlock| self.events.zone.to_datetime(block.start.at).date();
        let (first, last) = (blocks.iter().map(date).min(), blocks.iter().map(date).max());
        first.zip(last).map_or_else(Vec::new, |(first, last)| rule.dates_between(first, last))
    }

    fn exception_line(&self, date: Date, time: Time) -> String {
        let zone = &self.events.zone;
        let at = resolve_local(date.to_datetime(time), zone);
        format!("EXDATE{}", self.events.format_time(OffsetDateTime::in_zone(at, zone)))
    }

    fn write_block(&self, event: &PlannedEvent<'_>, lines: &mut IcalLineWriter) {
        let event = ExportedEvent {
            id: &event.id,
            start: event.block.start,
            end: event.block.end,
            more: &event.more,
            title: &event.block.title,
            description: self.event_description(event.block),
            tags: &event.block.tags,
        };
        self.events.write_event(&event, lines);
    }

    /// An event that is no longer planned.
    fn write_canceled(&self, event: &PlannedEvent<'_>, lines: &mut IcalLineWriter) {
        let event = ExportedEvent {
            id: &event.id,
            start: event.block.start,
            end: event.block.end,
            more: &["STATUS:CANCELLED".to_owned()],
            title: &event.block.title,
            description: String::new(),
            tags: &[],
        };
        self.events.write_event(&event, lines);
    }

    fn event_description(&self, block: &ScheduledBlock) -> String {
        let node = self.plan.roadmap.find_node(&block.plan_node_id);
        let mut parts = Vec::new();
        if let Some(node) = node {
            parts.push(node.description.clone());
            parts.push(node.why.clone());
            parts.extend(node.other_owner().map(|owner| format!("Done by: {owner}")));
            if !node.done_when.is_empty() {
                parts.push(format!("Done when: {}", node.done_when));
            }
        }
        parts.push(block.notes.clone());
        parts.retain(|part| !part.trim().is_empty());
        parts.join("\n")
    }
}

impl<'a> IcalEvents<'a> {
    fn new(edition: &CalendarEdition<'a>, tz: &'a str) -> Result<Self, CalendarError> {
        Ok(Self {
            plan_id: edition.plan_id,
            stamp: time_zones::format_utc(edition.stamp),
            revision: edition.revision,
            tz,
            zone: find_zone(tz)?,
        })
    }

    /// Describes the zone for the time from the first event to the last.
    fn write_zone(
        &self,
        spans: impl Iterator<Item = (Timestamp, Timestamp)> + Clone,
        lines: &mut IcalLineWriter,
    ) {
        let first = spans.clone().map(|(start, _)| start).min();
        let last = spans.map(|(_, end)| end).max();
        if let (Some(first), Some(last)) = (first, last)
            && !self.is_utc()
        {
            time_zones::write_time_zone(lines, self.tz, &self.zone, first, last);
        }
    }

    fn write_event(&self, event: &ExportedEvent<'_>, lines: &mut IcalLineWriter) {
        lines.push("BEGIN:VEVENT");
        self.write_identity(event.id, lines);
        lines.push(&format!("DTSTART{}", self.format_time(event.start)));
        lines.push(&format!("DTEND{}", self.format_time(event.end)));
        for line in event.more {
            lines.push(line);
        }
        lines.push_text("SUMMARY", event.title);
        lines.push_text("DESCRIPTION", &event.description);
        if !event.tags.is_empty() {
            let tags: Vec<String> =
                event.tags.iter().map(|tag| super::content_lines::escape_text(tag)).collect();
            lines.push(&format!("CATEGORIES:{}", tags.join(",")));
        }
        lines.push("END:VEVENT");
    }

    /// Which event or to-do it is, and which edition of it.
    pub(super) fn write_identity(&self, id: &str, lines: &mut IcalLineWriter) {
        let uid: String = format!("{}/{id}", self.plan_id)
            .chars()
            .map(|c| if c.is_control() || c.is_whitespace() { '-' } else { c })
            .collect();
        lines.push_text("UID", &format!("{uid}@planwright"));
        lines.push(&format!("DTSTAMP:{}", self.stamp));
        lines.push(&format!("LAST-MODIFIED:{}", self.stamp));
        lines.push(&format!("SEQUENCE:{}", self.revision));
    }

    /// Formats the parameters and value of a time.
    pub(super) fn format_time(&self, moment: OffsetDateTime) -> String {
        if self.is_utc() {
            return format!(":{}", time_zones::format_utc(moment.at));
        }
        let local = self.zone.to_datetime(moment.at);
        // A local time that occurs twice would mean the first; only an instant can refer to the second.
        if resolve_local(local, &self.zone) == moment.at {
            format!(";TZID={}:{}", self.tz, time_zones::format_local(local))
        } else {
            format!(":{}", time_zones::format_utc(moment.at))
        }
    }

    fn is_utc(&self) -> bool {
        self.zone == TimeZone::UTC || matches!(self.tz, "UTC" | "Etc/UTC" | "Etc/GMT" | "GMT")
    }
}
