//! Decodes the calendar of a plan file: the zone, working hours, days off, and from when until when.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime, Time};

use super::decoder::{Decoder, FieldNames};
use super::tree::{Path, Tree, Value, shown};
use planwright_model::{FileCalendar, Interval, Weekday, WeeklyHours};
use planwright_schedule::calendar::{CalendarError, plus_days, zone};

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

/// The days of the week by the names they go by.
pub(super) const DAYS: &[FieldNames] = &[
    ("mon", &["monday"]),
    ("tue", &["tuesday"]),
    ("wed", &["wednesday"]),
    ("thu", &["thursday"]),
    ("fri", &["friday"]),
    ("sat", &["saturday"]),
    ("sun", &["sunday"]),
];

/// Ten years; what lies further ahead cannot be laid out.
const MAX_WEEKS: i64 = 520;

pub(super) fn decode(
    decoder: &mut Decoder<'_>,
    tree: &Tree,
    path: Path<'_>,
) -> Option<FileCalendar> {
    let fields = decoder.fields(tree, path, CALENDAR_FIELDS)?;
    let at = |name: &str| fields.get(name).map(|entry| (&entry.tree, entry.key.as_str()));
    let mut calendar = FileCalendar::default();
    let found = decoder.violations.len();
    if let Some((tree, key)) = at("tz") {
        let path = Path::Field(&path, key);
        let name = decoder.text(tree, path)?;
        match zone(name) {
            // As a plan without one is written out.
            _ if name.is_empty() => {}
            Ok(_) => name.clone_into(&mut calendar.hours.tz),
            Err(CalendarError::UnknownZone { nearest, .. }) => {
                let message = format!("is \"{}\", which is no time zone", shown(name));
                let fix = nearest.map_or_else(
                    || "Write a name such as Europe/Berlin.".to_owned(),
                    |near| format!("Did you mean {near}?"),
                );
                decoder.bad(tree, path, message, fix);
            }
        }
    }
    if let Some((tree, key)) = at("working") {
        calendar.hours.working = working(decoder, tree, Path::Field(&path, key));
    }
    if let Some((tree, key)) = at("days_off") {
        let path = Path::Field(&path, key);
        for (index, item) in decoder.list(tree, path).unwrap_or_default().iter().enumerate() {
            let day = date(decoder, item, Path::Item(&path, index));
            calendar.hours.days_off.extend(day);
        }
    }
    if let Some((tree, key)) = at("extra_working") {
        calendar.hours.extra_working = extra(decoder, tree, Path::Field(&path, key));
    }
    if let Some((tree, key)) = at("start") {
        calendar.start = date(decoder, tree, Path::Field(&path, key));
    }
    if let Some((tree, key)) = at("deadline") {
        let path = Path::Field(&path, key);
        calendar.deadline = deadline(decoder, tree, path);
        if let (Some(start), Some(end)) = (calendar.start, calendar.deadline)
            && end <= start.to_datetime(Time::midnight())
        {
            decoder.bad(tree, path, "is before the start", "Write a later deadline.");
        }
    }
    if let Some((tree, key)) = at("horizon_weeks") {
        let weeks = decoder.integer(tree, Path::Field(&path, key), 1..=MAX_WEEKS);
        calendar.horizon_weeks = weeks.and_then(|weeks| u16::try_from(weeks).ok());
    }
    let none = calendar.hours.weekly_minutes() == 0
        && calendar.hours.extra_working.values().flatten().all(|span| span.minutes() == 0);
    // Hours that could not be read are no decision to have none.
    if none && decoder.violations.len() == found {
        let fix = "Give at least one day hours, as in mon = [\"09:00-17:00\"].";
        decoder.bad(tree, path, "has no working hours", fix);
        return None;
    }
    Some(calendar)
}

fn working(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> WeeklyHours {
    let mut week = WeeklyHours::new();
    let Some(fields) = decoder.fields(tree, path, DAYS) else { return week };
    for ((name, _), day) in DAYS.iter().zip(Weekday::ALL) {
        if let Some(entry) = fields.get(name) {
            week.insert(day, intervals(decoder, &entry.tree, Path::Field(&path, &entry.key)));
        }
    }
    week
}

fn extra(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> BTreeMap<Date, Vec<Interval>> {
    let mut days = BTreeMap::new();
    for entry in decoder.table(tree, path).unwrap_or_default() {
        let path = Path::Field(&path, &entry.key);
        match entry.key.parse::<Date>() {
            Ok(day) => {
                days.insert(day, intervals(decoder, &entry.tree, path));
            }
            Err(_) => decoder.bad(&entry.tree, path, "is not for a date", A_DATE),
        }
    }
    days
}

/// One span of hours, or a list of them.
fn intervals(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> Vec<Interval> {
    match &tree.value {
        Value::List(items) => items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| interval(decoder, item, Path::Item(&path, index)))
            .collect(),
        _ => interval(decoder, tree, path).into_iter().collect(),
    }
}

fn interval(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> Option<Interval> {
    const FIX: &str = "Write hours as \"09:00-17:00\".";
    let span = match &tree.value {
        Value::Text(text) => {
            let split = text.split_once(['-', '–']);
            split.and_then(|(start, end)| Some((time(start)?, time(end)?)))
        }
        Value::Table(_) => {
            let fields = decoder.fields(tree, path, INTERVAL_FIELDS)?;
            let end = |name: &str| match &fields.get(name)?.tree.value {
                Value::Text(text) => time(text),
                _ => None,
            };
            end("start").zip(end("end"))
        }
        _ => None,
    };
    let Some((start, end)) = span else {
        decoder.bad(tree, path, "is no span of hours", FIX);
        return None;
    };
    let interval = Interval::new(start, end);
    if interval.minutes() == 0 {
        decoder.bad(tree, path, "ends before it begins", FIX);
        return None;
    }
    Some(interval)
}

/// A time of day such as `9:00` or `17:30:00`; `24:00` is midnight at the end of the day.
fn time(text: &str) -> Option<Time> {
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

fn date(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> Option<Date> {
    let text = decoder.text(tree, path)?;
    let day = text.trim().parse::<Date>().ok();
    if day.is_none() {
        decoder.bad(tree, path, format!("is \"{}\", which is no date", shown(text)), A_DATE);
    }
    day
}

/// A date means the end of that day.
fn deadline(decoder: &mut Decoder<'_>, tree: &Tree, path: Path<'_>) -> Option<DateTime> {
    let text = decoder.text(tree, path)?.trim();
    let whole_day = !text.contains([':', 'T', ' ']);
    let at = if whole_day {
        text.parse::<Date>().ok().map(|day| plus_days(day, 1).to_datetime(Time::midnight()))
    } else {
        text.parse::<DateTime>().ok()
    };
    if at.is_none() {
        let fix = "Write a date or a local time, such as 2026-06-05 or 2026-06-05T17:00.";
        decoder.bad(tree, path, format!("is \"{}\", which is no time", shown(text)), fix);
    }
    at
}
