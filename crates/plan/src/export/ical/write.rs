//! Writes a schedule as a calendar.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::content_lines::IcalLineWriter;
use super::{recurrence_rules, time_zones};
use crate::check::ScheduleReport;
use crate::export::PlanExport;
use planwright_model::{OffsetDateTime, Plan, PlanNode, RunKind, ScheduledBlock, TaskId, TaskNode};
use planwright_schedule::calendar::{CalendarError, RecurrenceRule, find_zone, resolve_local};

/// Renders the schedule of a plan as an iCalendar file, with CRLF line endings. Contains no events if there is no
/// schedule.
///
/// `plan_id` is the base of the event ids, which stay the same as long as the blocks do; `stamp` is when the file is
/// created.
pub fn render_ical(
    plan: &PlanExport<'_>,
    plan_id: &str,
    stamp: Timestamp,
) -> Result<String, CalendarError> {
    let mut lines = calendar_head(plan.title());
    if let Some(schedule) = plan.schedule {
        let events = IcalEvents::new(plan_id, stamp, &schedule.tz)?;
        let writer = IcalWriter { plan, events };
        writer.write_calendar(&schedule.blocks, &mut lines);
    }
    lines.push("END:VCALENDAR");
    Ok(lines.into_text())
}

/// Renders the schedule of a plan file that has a calendar. Ids as in [`render_ical`], one event a task.
pub fn render_graph_ical(
    plan: &Plan,
    schedule: &ScheduleReport,
    plan_id: &str,
    stamp: Timestamp,
) -> Result<String, CalendarError> {
    let mut lines = calendar_head(&plan.title);
    let tasks: HashMap<&TaskId, &TaskNode> =
        plan.tasks.iter().map(|task| (&task.id, task)).collect();
    let placed: Vec<_> = schedule
        .blocks
        .iter()
        .filter_map(|block| Some((*tasks.get(&block.task)?, block.start_at?, block.finish_at?)))
        .collect();
    let events = IcalEvents::new(plan_id, stamp, schedule.tz.as_deref().unwrap_or("UTC"))?;
    events.write_zone(placed.iter().map(|(_, start, end)| (start.at, end.at)), &mut lines);
    for (task, start, end) in placed {
        let mut parts: Vec<String> =
            task.other_owner().map(|owner| format!("Done by: {owner}")).into_iter().collect();
        if let RunKind::Shell(command) = &task.run {
            parts.push(format!("Runs: {command}"));
        }
        let event = ExportedEvent {
            id: task.id.as_str(),
            start,
            end,
            more: &[],
            title: &task.description,
            description: parts.join("\n"),
            tags: &[],
        };
        events.write_event(&event, &mut lines);
    }
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
struct IcalEvents<'a> {
    plan_id: &'a str,
    stamp: String,
    tz: &'a str,
    zone: TimeZone,
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
    fn write_calendar(&self, blocks: &[ScheduledBlock], lines: &mut IcalLineWriter) {
        self.events.write_zone(blocks.iter().map(|block| (block.start.at, block.end.at)), lines);
        let mut series: BTreeMap<&TaskId, Vec<&ScheduledBlock>> = BTreeMap::new();
        for block in blocks.iter().filter(|block| block.occurrence.is_some()) {
            series.entry(&block.plan_node_id).or_default().push(block);
        }
        let mut written: HashSet<&str> = HashSet::new();
        for (id, blocks) in series {
            written.extend(self.write_series(id, &blocks, lines));
        }
        for block in blocks.iter().filter(|block| !written.contains(block.id.as_str())) {
            self.write_block(block, &block.id, &[], lines);
        }
    }

    /// Writes the blocks of a recurring node that follow its rule as one event; returns the ids of these blocks.
    fn write_series<'b>(
        &self,
        id: &TaskId,
        blocks: &[&'b ScheduledBlock],
        lines: &mut IcalLineWriter,
    ) -> Vec<&'b str> {
        let Some((rule, first)) = self.recurrence_rule(id).zip(blocks.first()) else {
            return Vec::new();
        };
        let (begin, length) =
            (self.events.zone.to_datetime(first.start.at), first.estimated_minutes);
        let dates = self.rule_dates(&rule, blocks);
        let Some(text) = recurrence_rules::format_rrule(&rule, begin.date(), dates.len()) else {
            return Vec::new();
        };
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
            return Vec::new();
        }
        let (kept, missing): (Vec<Date>, Vec<Date>) =
            dates.into_iter().partition(|date| on_rule(*date).is_some());
        let mut more = vec![format!("RRULE:{text}")];
        more.extend(missing.iter().map(|date| self.exception_line(*date, begin.time())));
        self.write_block(first, &format!("{id}@series"), &more, lines);
        kept.iter().filter_map(|date| on_rule(*date)).map(|block| block.id.as_str()).collect()
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

    fn write_block(
        &self,
        block: &ScheduledBlock,
        id: &str,
        more: &[String],
        lines: &mut IcalLineWriter,
    ) {
        let event = ExportedEvent {
            id,
            start: block.start,
            end: block.end,
            more,
            title: &block.title,
            description: self.event_description(block),
            tags: &block.tags,
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
    fn new(plan_id: &'a str, stamp: Timestamp, tz: &'a str) -> Result<Self, CalendarError> {
        Ok(Self { plan_id, stamp: time_zones::format_utc(stamp), tz, zone: find_zone(tz)? })
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
        let uid: String = format!("{}/{}", self.plan_id, event.id)
            .chars()
            .map(|c| if c.is_control() || c.is_whitespace() { '-' } else { c })
            .collect();
        lines.push("BEGIN:VEVENT");
        lines.push_text("UID", &format!("{uid}@planwright"));
        lines.push(&format!("DTSTAMP:{}", self.stamp));
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

    /// Formats the parameters and value of a time.
    fn format_time(&self, moment: OffsetDateTime) -> String {
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
