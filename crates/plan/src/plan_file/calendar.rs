//! Decodes the calendar of a plan file: the zone, working hours, days off, start and end.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime, Time};

use super::decoder::{FieldNames, PlanFileDecoder};
use super::value_tree::{TreeValue, ValuePath, ValueTree, escape_for_message};
use planwright_model::{FileCalendar, LocalTimeInterval, Weekday, WeeklyHours};
use planwright_schedule::calendar::{CalendarError, find_zone, plus_days};

/// The fields of a calendar.
pub(super) const CALENDAR_FIELDS: &[FieldNames] = &[
    ("tz", &["time_zone"]),
    ("working", &[]),
    ("days_off", &[]),
    ("extra_working", &[]),
    ("start", &[]),
    ("deadline", &[]),
    ("horizon_weeks", &[]),
];

/// The fields of one span of hours.
const INTERVAL_FIELDS: &[FieldNames] = &[("start", &[]), ("end", &[])];

/// The days of the week by their accepted names.
pub(super) const DAYS: &[FieldNames] = &[
    ("mon", &["monday"]),
    ("tue", &["tuesday"]),
    ("wed", &["wednesday"]),
    ("thu", &["thursday"]),
    ("fri", &["friday"]),
    ("sat", &["saturday"]),
    ("sun", &["sunday"]),
];

/// Ten years; later times are not supported.
const MAX_WEEKS: i64 = 520;

pub(super) fn decode_calendar(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<FileCalendar> {
    let fields = decoder.read_fields(tree, path, CALENDAR_FIELDS)?;
    let at = |name: &str| fields.get(name).map(|entry| (&entry.tree, entry.key.as_str()));
    let mut calendar = FileCalendar::default();
    let found = decoder.violations.len();
    if let Some((tree, key)) = at("tz") {
        let path = ValuePath::Field(&path, key);
        let name = decoder.read_text(tree, path)?;
        match find_zone(name) {
            // Plans without a zone are written with an empty one.
            _ if name.is_empty() => {}
            Ok(_) => name.clone_into(&mut calendar.hours.tz),
            Err(CalendarError::UnknownZone { nearest, .. }) => {
                let message =
                    format!("is \"{}\", which is not a time zone", escape_for_message(name));
                let fix = nearest.map_or_else(
                    || "Write a name such as Europe/Berlin.".to_owned(),
                    |near| format!("Did you mean {near}?"),
                );
                decoder.report_bad_value(tree, path, message, fix);
            }
        }
    }
    if let Some((tree, key)) = at("working") {
        calendar.hours.working = decode_week(decoder, tree, ValuePath::Field(&path, key));
    }
    if let Some((tree, key)) = at("days_off") {
        let path = ValuePath::Field(&path, key);
        for (index, item) in decoder.read_list(tree, path).unwrap_or_default().iter().enumerate() {
            let day = decode_date(decoder, item, ValuePath::Item(&path, index));
            calendar.hours.days_off.extend(day);
        }
    }
    if let Some((tree, key)) = at("extra_working") {
        calendar.hours.extra_working =
            decode_extra_days(decoder, tree, ValuePath::Field(&path, key));
    }
    if let Some((tree, key)) = at("start") {
        calendar.start = decode_date(decoder, tree, ValuePath::Field(&path, key));
    }
    if let Some((tree, key)) = at("deadline") {
        let path = ValuePath::Field(&path, key);
        calendar.deadline = decode_deadline(decoder, tree, path);
        if let (Some(start), Some(end)) = (calendar.start, calendar.deadline)
            && end <= start.to_datetime(Time::midnight())
        {
            decoder.report_bad_value(tree, path, "is before the start", "Write a later deadline.");
        }
    }
    if let Some((tree, key)) = at("horizon_weeks") {
        let weeks = decoder.read_integer(tree, ValuePath::Field(&path, key), 1..=MAX_WEEKS);
        calendar.horizon_weeks = weeks.and_then(|weeks| u16::try_from(weeks).ok());
    }
    let none = calendar.hours.weekly_minutes() == 0
        && calendar.hours.extra_working.values().flatten().all(|span| span.duration_minutes() == 0);
    // Unreadable hours are not a decision to have none.
    if none && decoder.violations.len() == found {
        let fix = "Give at least one day hours, as in mon = [\"09:00-17:00\"].";
        decoder.report_bad_value(tree, path, "has no working hours", fix);
        return None;
    }
    Some(calendar)
}

fn decode_week(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> WeeklyHours {
    let mut week = WeeklyHours::new();
    let Some(fields) = decoder.read_fields(tree, path, DAYS) else { return week };
    for ((name, _), day) in DAYS.iter().zip(Weekday::ALL) {
        if let Some(entry) = fields.get(name) {
            week.insert(
                day,
                decode_intervals(decoder, &entry.tree, ValuePath::Field(&path, &entry.key)),
            );
        }
    }
    week
}

fn decode_extra_days(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> BTreeMap<Date, Vec<LocalTimeInterval>> {
    let mut days = BTreeMap::new();
    for entry in decoder.read_table(tree, path).unwrap_or_default() {
        let path = ValuePath::Field(&path, &entry.key);
        match entry.key.parse::<Date>() {
            Ok(day) => {
                days.insert(day, decode_intervals(decoder, &entry.tree, path));
            }
            Err(_) => decoder.report_bad_value(&entry.tree, path, "is not for a date", A_DATE),
        }
    }
    days
}

/// Decodes one span of hours, or a list of them.
fn decode_intervals(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Vec<LocalTimeInterval> {
    match &tree.value {
        TreeValue::List(items) => items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| {
                decode_interval(decoder, item, ValuePath::Item(&path, index))
            })
            .collect(),
        _ => decode_interval(decoder, tree, path).into_iter().collect(),
    }
}

fn decode_interval(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<LocalTimeInterval> {
    const FIX: &str = "Write hours as \"09:00-17:00\".";
    let span = match &tree.value {
        TreeValue::Text(text) => {
            let split = text.split_once(['-', '–']);
            split
                .and_then(|(start, end)| Some((parse_time_of_day(start)?, parse_time_of_day(end)?)))
        }
        TreeValue::Table(_) => {
            let fields = decoder.read_fields(tree, path, INTERVAL_FIELDS)?;
            let end = |name: &str| match &fields.get(name)?.tree.value {
                TreeValue::Text(text) => parse_time_of_day(text),
                _ => None,
            };
            end("start").zip(end("end"))
        }
        _ => None,
    };
    let Some((start, end)) = span else {
        decoder.report_bad_value(tree, path, "is not a span of hours", FIX);
        return None;
    };
    let interval = LocalTimeInterval::new(start, end);
    if interval.duration_minutes() == 0 {
        decoder.report_bad_value(tree, path, "ends before it begins", FIX);
        return None;
    }
    Some(interval)
}

/// Parses a time of day such as `9:00` or `17:30:00`; `24:00` is midnight at the end of the day.
fn parse_time_of_day(text: &str) -> Option<Time> {
    let mut parts = text.trim().splitn(3, ':');
    let hour: i8 = parts.next()?.parse().ok()?;
    let minute: i8 = parts.next()?.parse().ok()?;
    if parts.next().is_some_and(|seconds| seconds.parse() != Ok(0u8)) {
        return None;
    }
    let hour = if (hour, minute) == (24, 0) { 0 } else { hour };
    Time::new(hour, minute, 0, 0).ok()
}

const A_DATE: &str = "Write a date that exists, such as 2026-06-05.";

fn decode_date(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<Date> {
    let text = decoder.read_text(tree, path)?;
    let day = text.trim().parse::<Date>().ok();
    if day.is_none() {
        decoder.report_bad_value(
            tree,
            path,
            format!("is \"{}\", which is not a valid date", escape_for_message(text)),
            A_DATE,
        );
    }
    day
}

/// A date means the end of that day.
fn decode_deadline(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<DateTime> {
    let text = decoder.read_text(tree, path)?.trim();
    let whole_day = !text.contains([':', 'T', ' ']);
    let at = if whole_day {
        text.parse::<Date>().ok().map(|day| plus_days(day, 1).to_datetime(Time::midnight()))
    } else {
        text.parse::<DateTime>().ok()
    };
    if at.is_none() {
        let fix = "Write a date or a local time, such as 2026-06-05 or 2026-06-05T17:00.";
        decoder.report_bad_value(
            tree,
            path,
            format!("is \"{}\", which is not a valid time", escape_for_message(text)),
            fix,
        );
    }
    at
}
