//! Writes a schedule as a calendar.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::lines::Lines;
use super::{rules, zones};
use crate::export::PlanExport;
use planwright_model::{Moment, PlanNode, ScheduledBlock, TaskId};
use planwright_schedule::calendar::{CalendarError, Rule, resolve, zone};

/// The schedule of a plan as an iCalendar file, with CRLF line ends. Empty of events if there is no schedule.
///
/// `plan_id` makes the ids of the events, which stay the same as long as the blocks do; `stamp` is when the file is made.
pub fn ical(
    plan: &PlanExport<'_>,
    plan_id: &str,
    stamp: Timestamp,
) -> Result<String, CalendarError> {
    let mut lines = Lines::default();
    lines.push("BEGIN:VCALENDAR");
    lines.push("VERSION:2.0");
    lines.push("PRODID:-//Planwright//Planwright//EN");
    lines.push("CALSCALE:GREGORIAN");
    lines.text("X-WR-CALNAME", plan.title());
    if let Some(schedule) = plan.schedule {
        let zone = zone(&schedule.tz)?;
        let writer = Writer { plan, plan_id, stamp: zones::utc(stamp), tz: &schedule.tz, zone };
        writer.calendar(&schedule.blocks, &mut lines);
    }
    lines.push("END:VCALENDAR");
    Ok(lines.finish())
}

struct Writer<'a> {
    plan: &'a PlanExport<'a>,
    plan_id: &'a str,
    stamp: String,
    tz: &'a str,
    zone: TimeZone,
}

impl Writer<'_> {
    fn calendar(&self, blocks: &[ScheduledBlock], lines: &mut Lines) {
        let first = blocks.iter().map(|block| block.start.at).min();
        let last = blocks.iter().map(|block| block.end.at).max();
        if let (Some(first), Some(last)) = (first, last)
            && !self.is_utc()
        {
            zones::write(lines, self.tz, &self.zone, first, last);
        }
        let mut series: BTreeMap<&TaskId, Vec<&ScheduledBlock>> = BTreeMap::new();
        for block in blocks.iter().filter(|block| block.occurrence.is_some()) {
            series.entry(&block.plan_node_id).or_default().push(block);
        }
        let mut written: HashSet<&str> = HashSet::new();
        for (id, blocks) in series {
            written.extend(self.series(id, &blocks, lines));
        }
        for block in blocks.iter().filter(|block| !written.contains(block.id.as_str())) {
            self.event(block, &block.id, &[], lines);
        }
    }

    /// Writes the blocks of a recurring node that follow its rule as one event; the ids of these blocks.
    fn series<'b>(
        &self,
        id: &TaskId,
        blocks: &[&'b ScheduledBlock],
        lines: &mut Lines,
    ) -> Vec<&'b str> {
        let Some((rule, first)) = self.rule(id).zip(blocks.first()) else { return Vec::new() };
        let (begin, length) = (self.zone.to_datetime(first.start.at), first.estimated_minutes);
        let dates = self.dates(&rule, blocks);
        let Some(text) = rules::written(&rule, begin.date(), dates.len()) else {
            return Vec::new();
        };
        let at = |date: Date| resolve(date.to_datetime(begin.time()), &self.zone);
        let on_rule = |date: Date| {
            blocks.iter().find(|block| {
                block.start.at == at(date)
                    && block.estimated_minutes == length
                    && block.sequence == 1
            })
        };
        // A rule of one date is no rule, and the first must be one of its dates.
        if dates.len() < 2 || dates.first() != Some(&begin.date()) {
            return Vec::new();
        }
        let (kept, missing): (Vec<Date>, Vec<Date>) =
            dates.into_iter().partition(|date| on_rule(*date).is_some());
        let mut more = vec![format!("RRULE:{text}")];
        more.extend(missing.iter().map(|date| self.exception(*date, begin.time())));
        self.event(first, &format!("{id}@series"), &more, lines);
        kept.iter().filter_map(|date| on_rule(*date)).map(|block| block.id.as_str()).collect()
    }

    fn rule(&self, id: &TaskId) -> Option<Rule> {
        let tree = self.plan.tree();
        let node: &PlanNode = tree.get(id)?;
        let ancestors = tree.ancestors(id);
        let root = std::iter::once(node).chain(ancestors).find(|node| node.recurrence.is_some())?;
        root.recurrence.as_ref().map(Rule::from)
    }

    /// The dates of a rule from the first to the last of some blocks.
    fn dates(&self, rule: &Rule, blocks: &[&ScheduledBlock]) -> Vec<Date> {
        let date = |block: &&ScheduledBlock| self.zone.to_datetime(block.start.at).date();
        let (first, last) = (blocks.iter().map(date).min(), blocks.iter().map(date).max());
        first.zip(last).map_or_else(Vec::new, |(first, last)| rule.dates(first, last))
    }

    fn exception(&self, date: Date, time: Time) -> String {
        let at = resolve(date.to_datetime(time), &self.zone);
        format!("EXDATE{}", self.time(Moment::in_zone(at, &self.zone)))
    }

    fn event(&self, block: &ScheduledBlock, id: &str, more: &[String], lines: &mut Lines) {
        let uid: String = format!("{}/{id}", self.plan_id)
            .chars()
            .map(|c| if c.is_control() || c.is_whitespace() { '-' } else { c })
            .collect();
        lines.push("BEGIN:VEVENT");
        lines.text("UID", &format!("{uid}@planwright"));
        lines.push(&format!("DTSTAMP:{}", self.stamp));
        lines.push(&format!("DTSTART{}", self.time(block.start)));
        lines.push(&format!("DTEND{}", self.time(block.end)));
        for line in more {
            lines.push(line);
        }
        lines.text("SUMMARY", &block.title);
        lines.text("DESCRIPTION", &self.description(block));
        if !block.tags.is_empty() {
            let tags: Vec<String> =
                block.tags.iter().map(|tag| super::lines::escape(tag)).collect();
            lines.push(&format!("CATEGORIES:{}", tags.join(",")));
        }
        lines.push("END:VEVENT");
    }

    fn description(&self, block: &ScheduledBlock) -> String {
        let node = self.plan.roadmap.node(&block.plan_node_id);
        let mut parts = Vec::new();
        if let Some(node) = node {
            parts.push(node.description.clone());
            if !node.done_when.is_empty() {
                parts.push(format!("Done when: {}", node.done_when));
            }
        }
        parts.push(block.notes.clone());
        parts.retain(|part| !part.trim().is_empty());
        parts.join("\n")
    }

    /// The parameters and value of a time.
    fn time(&self, moment: Moment) -> String {
        if self.is_utc() {
            return format!(":{}", zones::utc(moment.at));
        }
        let local = self.zone.to_datetime(moment.at);
        // A local time that comes twice would mean the first; only an instant can name the second.
        if resolve(local, &self.zone) == moment.at {
            format!(";TZID={}:{}", self.tz, zones::local(local))
        } else {
            format!(":{}", zones::utc(moment.at))
        }
    }

    fn is_utc(&self) -> bool {
        self.zone == TimeZone::UTC || matches!(self.tz, "UTC" | "Etc/UTC" | "Etc/GMT" | "GMT")
    }
}
