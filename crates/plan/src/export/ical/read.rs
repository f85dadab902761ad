//! Reads fixed events from a calendar file. Tolerant: what cannot be parsed is reported, the rest is used.

use std::collections::BTreeSet;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::content_lines::{IcalProperty, parse_properties, unescape_text};
use super::recurrence_rules;
use planwright_model::{FixedEvent, OffsetDateTime};
use planwright_schedule::calendar::{
    CalendarError, RecurrenceInterval, RecurrenceRule, find_zone, plus_days, resolve_local,
};

/// The maximum number of events read from one file.
const MAX_EVENTS: usize = 10_000;
const MAX_WARNINGS: usize = 50;

/// The result of reading a calendar file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IcalImport {
    /// By start; recurring events as single ones.
    pub events: Vec<FixedEvent>,
    /// What was skipped, and why.
    pub warnings: Vec<String>,
}

/// Reads the events between two instants. Times without a zone are interpreted in `tz`; events marked as free or
/// canceled are ignored.
pub fn read_ical(
    text: &str,
    tz: &str,
    from: Timestamp,
    until: Timestamp,
) -> Result<IcalImport, CalendarError> {
    let mut reader =
        IcalReader { default: find_zone(tz)?, from, until, import: IcalImport::default() };
    let events = event_components(text);
    if events.is_empty() && !text.to_ascii_uppercase().contains("BEGIN:VCALENDAR") {
        reader.warn("this is not a calendar file: it has no BEGIN:VCALENDAR".to_owned());
    }
    let moved: Vec<(String, Timestamp)> =
        events.iter().filter_map(|event| reader.moved_occurrence(event)).collect();
    for event in &events {
        reader.add_event(event, &moved);
    }
    let IcalReader { mut import, .. } = reader;
    import.events.sort_by(|a, b| (a.start, a.end, &a.title).cmp(&(b.start, b.end, &b.title)));
    Ok(import)
}

type IcalEvent = Vec<IcalProperty>;

/// Returns the properties of each event, without those of alarms inside.
fn event_components(text: &str) -> Vec<IcalEvent> {
    let (mut events, mut stack): (Vec<IcalEvent>, Vec<String>) = (Vec::new(), Vec::new());
    for property in parse_properties(text) {
        let value = property.value.trim().to_ascii_uppercase();
        match property.name.as_str() {
            "BEGIN" => {
                if value == "VEVENT" {
                    events.push(Vec::new());
                }
                stack.push(value);
            }
            "END" => {
                // An end without a matching start closes nothing.
                if let Some(at) = stack.iter().rposition(|open| *open == value) {
                    stack.truncate(at);
                }
            }
            _ if stack.last().is_some_and(|open| open == "VEVENT") => {
                if let Some(event) = events.last_mut() {
                    event.push(property);
                }
            }
            _ => {}
        }
    }
    events
}

fn find_property<'a>(event: &'a IcalEvent, name: &str) -> Option<&'a IcalProperty> {
    event.iter().find(|property| property.name == name)
}

fn property_equals(event: &IcalEvent, name: &str, value: &str) -> bool {
    find_property(event, name)
        .is_some_and(|property| property.value.trim().eq_ignore_ascii_case(value))
}

/// A time as written in the file.
#[derive(Clone, Debug)]
struct IcalTime {
    local: DateTime,
    zone: TimeZone,
    all_day: bool,
}

impl IcalTime {
    fn to_timestamp(&self) -> Timestamp {
        resolve_local(self.local, &self.zone)
    }
}

struct IcalReader {
    default: TimeZone,
    from: Timestamp,
    until: Timestamp,
    import: IcalImport,
}

impl IcalReader {
    fn warn(&mut self, warning: String) {
        if self.import.warnings.len() < MAX_WARNINGS {
            self.import.warnings.push(warning);
        }
    }

    fn add_event(&mut self, event: &IcalEvent, moved: &[(String, Timestamp)]) {
        if property_equals(event, "STATUS", "CANCELLED")
            || property_equals(event, "TRANSP", "TRANSPARENT")
        {
            return;
        }
        let title = find_property(event, "SUMMARY").map(|property| unescape_text(&property.value));
        let title = title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| "busy".into());
        let Some(start) =
            find_property(event, "DTSTART").and_then(|property| self.parse_time(property))
        else {
            self.warn(format!("\"{title}\" has no start that can be read"));
            return;
        };
        let Some(length) = self.event_duration(event, &start) else {
            self.warn(format!("the end of \"{title}\" cannot be read"));
            return;
        };
        let (starts, understood) = self.event_starts(event, &start, moved);
        if !understood {
            self.warn(format!(
                "\"{title}\" repeats in a way that is not understood; only its first date counts"
            ));
        }
        for start in starts {
            self.push_event(&title, &start, length);
        }
    }

    fn push_event(&mut self, title: &str, start: &IcalTime, length: EventDuration) {
        let (begin, end) = (start.to_timestamp(), length.end_after(start));
        if begin >= end || end <= self.from || begin >= self.until {
            return;
        }
        if self.import.events.len() >= MAX_EVENTS {
            if self.import.events.len() == MAX_EVENTS {
                self.warn(format!("only the first {MAX_EVENTS} events were taken"));
            }
            return;
        }
        self.import.events.push(FixedEvent {
            title: title.to_owned(),
            start: OffsetDateTime::in_zone(begin, &start.zone),
            end: OffsetDateTime::in_zone(end, &start.zone),
        });
    }

    /// Returns every start of an event, and whether its rule was understood.
    fn event_starts(
        &self,
        event: &IcalEvent,
        start: &IcalTime,
        moved: &[(String, Timestamp)],
    ) -> (Vec<IcalTime>, bool) {
        let rule = find_property(event, "RRULE")
            .map(|property| recurrence_rules::parse_rrule(&property.value, start.local.date()));
        let (dates, understood) = match rule {
            None => (vec![start.local.date()], true),
            Some(None) => (vec![start.local.date()], false),
            Some(Some(read)) => {
                let last = read.until.as_deref().and_then(|text| Self::rule_end(text, start));
                (self.rule_dates(&read.rule, start, last), read.until.is_none() || last.is_some())
            }
        };
        let mut starts: Vec<IcalTime> = dates
            .into_iter()
            .map(|date| IcalTime { local: date.to_datetime(start.local.time()), ..start.clone() })
            .collect();
        starts.extend(self.listed_times(event, "RDATE"));
        let mut gone: BTreeSet<Timestamp> =
            self.listed_times(event, "EXDATE").iter().map(IcalTime::to_timestamp).collect();
        // A single occurrence that was moved appears in the file as an event of its own.
        let uid = find_property(event, "UID").map(|property| property.value.as_str());
        if find_property(event, "RECURRENCE-ID").is_none() {
            gone.extend(moved.iter().filter(|(id, _)| Some(id.as_str()) == uid).map(|(_, at)| *at));
        }
        starts.retain(|start| !gone.contains(&start.to_timestamp()));
        (starts, understood)
    }

    /// Returns the dates of a rule that can touch the window.
    fn rule_dates(
        &self,
        rule: &RecurrenceRule,
        start: &IcalTime,
        last: Option<Timestamp>,
    ) -> Vec<Date> {
        let first = start.local.date();
        let end = start.zone.to_datetime(self.until).date();
        let end = last.map_or(end, |last| end.min(start.zone.to_datetime(last).date()));
        let window = plus_days(start.zone.to_datetime(self.from).date(), -32);
        let anchor =
            if rule.count.is_none() { skip_to_window(rule.every, first, window) } else { first };
        let fits = |date: &Date| {
            last.is_none_or(|last| {
                resolve_local(date.to_datetime(start.local.time()), &start.zone) <= last
            })
        };
        rule.dates_between(anchor, end).into_iter().filter(fits).collect()
    }

    fn listed_times(&self, event: &IcalEvent, name: &str) -> Vec<IcalTime> {
        let properties = event.iter().filter(|property| property.name == name);
        let values = properties.flat_map(|property| {
            property.value.split(',').filter_map(|value| {
                self.parse_time(&IcalProperty { value: value.to_owned(), ..property.clone() })
            })
        });
        values.collect()
    }

    fn moved_occurrence(&self, event: &IcalEvent) -> Option<(String, Timestamp)> {
        let at = self.parse_time(find_property(event, "RECURRENCE-ID")?)?.to_timestamp();
        Some((find_property(event, "UID")?.value.clone(), at))
    }

    fn rule_end(text: &str, start: &IcalTime) -> Option<Timestamp> {
        let zone = if text.ends_with(['Z', 'z']) { TimeZone::UTC } else { start.zone.clone() };
        match parse_date_time(text)? {
            (local, false) => Some(resolve_local(local, &zone)),
            // A date includes the entire day.
            (local, true) => Some(resolve_local(local.date().to_datetime(Time::MAX), &zone)),
        }
    }

    fn parse_time(&self, property: &IcalProperty) -> Option<IcalTime> {
        let text = property.value.trim();
        let (local, all_day) = parse_date_time(text)?;
        let zone = if text.ends_with(['Z', 'z']) {
            TimeZone::UTC
        } else {
            property
                .parameter("TZID")
                .and_then(zone_from_tzid)
                .unwrap_or_else(|| self.default.clone())
        };
        Some(IcalTime { local, zone, all_day })
    }

    fn event_duration(&self, event: &IcalEvent, start: &IcalTime) -> Option<EventDuration> {
        if let Some(end) = find_property(event, "DTEND") {
            let end = self.parse_time(end)?;
            if start.all_day && end.all_day {
                let days = start.local.date().until(end.local.date()).ok()?.get_days();
                return Some(EventDuration::Days(i64::from(days)));
            }
            return Some(EventDuration::Exact(
                end.to_timestamp().duration_since(start.to_timestamp()),
            ));
        }
        match find_property(event, "DURATION") {
            Some(property) => parse_duration(property.value.trim()),
            None if start.all_day => Some(EventDuration::Days(1)),
            None => Some(EventDuration::Exact(SignedDuration::ZERO)),
        }
    }
}

/// The duration of an event: calendar days, or clock time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventDuration {
    Days(i64),
    Exact(SignedDuration),
}

impl EventDuration {
    fn end_after(self, start: &IcalTime) -> Timestamp {
        match self {
            Self::Days(days) => {
                let date = plus_days(start.local.date(), days);
                resolve_local(date.to_datetime(start.local.time()), &start.zone)
            }
            Self::Exact(length) => {
                start.to_timestamp().checked_add(length).unwrap_or(Timestamp::MAX)
            }
        }
    }
}

/// Returns a zone by its id, ignoring a path that some programs write before it.
fn zone_from_tzid(id: &str) -> Option<TimeZone> {
    let id = id.trim().trim_matches('/');
    let parts: Vec<&str> = id.split('/').collect();
    (0..parts.len()).find_map(|skip| find_zone(&parts.get(skip..)?.join("/")).ok())
}

/// Parses `20260601`, `20260601T090000` or `20260601T090000Z`, and returns whether it is a date.
fn parse_date_time(text: &str) -> Option<(DateTime, bool)> {
    let digits = |from: usize, to: usize| {
        text.get(from..to)?.parse::<i16>().ok().filter(|number| *number >= 0)
    };
    let small =
        |from: usize, to: usize| digits(from, to).and_then(|number| i8::try_from(number).ok());
    let date = Date::new(digits(0, 4)?, small(4, 6)?, small(6, 8)?).ok()?;
    match text.get(8..9) {
        None => Some((date.to_datetime(Time::midnight()), true)),
        Some("T" | "t") => {
            // Our clock has no leap seconds.
            let second = small(13, 15).unwrap_or(0).min(59);
            let time = Time::new(small(9, 11)?, small(11, 13)?, second, 0).ok()?;
            Some((date.to_datetime(time), false))
        }
        Some(_) => None,
    }
}

/// Parses `PT1H30M`, `P2D` or `P1W`; never negative.
fn parse_duration(text: &str) -> Option<EventDuration> {
    let rest = text.strip_prefix('+').unwrap_or(text).strip_prefix(['P', 'p'])?;
    let (mut days, mut seconds, mut number) = (0i64, 0i64, String::new());
    for c in rest.chars() {
        match c.to_ascii_uppercase() {
            c @ '0'..='9' => number.push(c),
            'T' => {}
            unit => {
                let amount: i64 = std::mem::take(&mut number).parse().ok()?;
                match unit {
                    'W' => days = days.checked_add(amount.checked_mul(7)?)?,
                    'D' => days = days.checked_add(amount)?,
                    'H' => seconds = seconds.checked_add(amount.checked_mul(3600)?)?,
                    'M' => seconds = seconds.checked_add(amount.checked_mul(60)?)?,
                    'S' => seconds = seconds.checked_add(amount)?,
                    _ => return None,
                }
            }
        }
    }
    if seconds == 0 {
        return Some(EventDuration::Days(days));
    }
    let seconds = days.checked_mul(86_400)?.checked_add(seconds)?;
    Some(EventDuration::Exact(SignedDuration::from_secs(seconds)))
}

/// Returns the last start of a period that is not after a date, so that an old rule is not expanded from its beginning.
fn skip_to_window(every: RecurrenceInterval, first: Date, window: Date) -> Date {
    let days = match every {
        RecurrenceInterval::Days(step) => i64::from(step.max(1)),
        RecurrenceInterval::Weeks(step) => i64::from(step.max(1)) * 7,
        // Months differ in length and are few enough to expand.
        RecurrenceInterval::Months(_) => return first,
    };
    let between = first.until(window).map_or(0, |span| i64::from(span.get_days()));
    plus_days(first, (between / days).max(0) * days)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> IcalImport {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (from, until) = (at("2026-06-01T00:00:00Z"), at("2026-12-01T00:00:00Z"));
        read_ical(text, "Europe/Berlin", from, until).unwrap()
    }

    fn spans(import: &IcalImport) -> Vec<(String, String)> {
        let span = |event: &FixedEvent| (event.start.at.to_string(), event.end.at.to_string());
        import.events.iter().map(span).collect()
    }

    fn event(lines: &str) -> String {
        format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\n{lines}\nEND:VEVENT\nEND:VCALENDAR\n")
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn zones_durations_and_all_day_events_are_parsed() {
        let import =
            read(&event("DTSTART;TZID=America/New_York:20260608T090000\nDURATION:PT1H30M"));
        assert_eq!(spans(&import), pairs(&[("2026-06-08T13:00:00Z", "2026-06-08T14:30:00Z")]));
        let import = read(&event("DTSTART;VALUE=DATE:20261024\nDTEND;VALUE=DATE:20261026"));
        assert_eq!(spans(&import), pairs(&[("2026-10-23T22:00:00Z", "2026-10-25T23:00:00Z")]));
        let import = read(&event(
            "DTSTART;TZID=/vendor/Europe/Berlin:20260608T090000\nDTEND:20260608T080000Z",
        ));
        assert_eq!(spans(&import), pairs(&[("2026-06-08T07:00:00Z", "2026-06-08T08:00:00Z")]));
    }

    #[test]
    fn an_old_rule_reaches_the_window_and_keeps_its_hour() {
        let lines = "DTSTART;TZID=Europe/Berlin:19990104T090000\nDTEND;TZID=Europe/Berlin:19990104T100000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO\nEXDATE;TZID=Europe/Berlin:20260615T090000";
        let import = read(&event(lines));
        assert!(
            import.events.iter().all(|event| event.start.at.to_string() != "2026-06-15T07:00:00Z")
        );
        assert_eq!(import.events.len(), 13);
        assert!(
            spans(&import)
                .contains(&("2026-11-16T08:00:00Z".into(), "2026-11-16T09:00:00Z".into()))
        );
    }

    #[test]
    fn a_moved_occurrence_replaces_its_original_and_free_time_is_ignored() {
        let series = "DTSTART:20260608T070000Z\nDTEND:20260608T080000Z\nRRULE:FREQ=DAILY;COUNT=2\nEND:VEVENT\nBEGIN:VEVENT\nUID:a\nRECURRENCE-ID:20260609T070000Z\nDTSTART:20260609T120000Z\nDTEND:20260609T130000Z\nEND:VEVENT\nBEGIN:VEVENT\nTRANSP:TRANSPARENT\nDTSTART:20260610T120000Z\nDTEND:20260610T130000Z";
        let expected = pairs(&[
            ("2026-06-08T07:00:00Z", "2026-06-08T08:00:00Z"),
            ("2026-06-09T12:00:00Z", "2026-06-09T13:00:00Z"),
        ]);
        assert_eq!(spans(&read(&event(series))), expected);
    }

    #[test]
    fn reports_what_cannot_be_parsed_and_uses_the_rest() {
        let import = read(&event(
            "SUMMARY:Odd\nDTSTART:20260608T070000Z\nDTEND:20260608T080000Z\nRRULE:FREQ=HOURLY",
        ));
        assert_eq!((import.events.len(), import.warnings.len()), (1, 1));
        assert!(read(&event("SUMMARY:Bad\nDTSTART:tomorrow")).warnings[0].contains("\"Bad\""));
        assert!(read("hello").warnings[0].contains("not a calendar"));
    }
}
