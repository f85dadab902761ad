//! The settings about the person's own time, as rows of the settings screen.

use jiff::Timestamp;

use super::App;
use super::settings_store::with_origin;
use crate::config::{self, MeSettings};
use planwright_drafting::own_hours::{
    default_weekly_hours, describe_weekly_hours, parse_own_hours,
};
use planwright_model::LocalTimeInterval;
use planwright_text::{dates, units};
use planwright_tui::SettingItem;

const NONE: &str = "none";

/// Hours, days off, calendar and time zone.
pub(super) fn own_time_items(app: &App) -> Vec<SettingItem> {
    let me = &app.settings.me;
    vec![hours_item(me), days_off_item(me), calendar_item(app, me), zone_item(me)]
}

fn item(name: &'static str, label: &'static str, value: String) -> SettingItem {
    SettingItem { group: "your time", name, label, value, ..SettingItem::default() }
}

fn hours_item(me: &MeSettings) -> SettingItem {
    let own = me.hours.value.as_deref().and_then(|text| parse_own_hours(text).ok());
    let hours = own.clone().unwrap_or_else(default_weekly_hours);
    let minutes: u32 =
        hours.values().flatten().copied().map(LocalTimeInterval::duration_minutes).sum();
    let own_limit = me.hours_a_week.value.map(|hours| (hours * 60.0).round() as u32);
    let minutes = own_limit.map_or(minutes, |limit| limit.min(minutes));
    let text = describe_weekly_hours(&hours);
    let shown = match own {
        Some(_) => with_origin(text.clone(), &me.hours.origin),
        None => format!("{text}, assumed"),
    };
    SettingItem {
        shown,
        effect: format!("{} a week", units::format_planned(minutes.into())),
        ..item("me.hours", "Working hours", text)
    }
}

fn days_off_item(me: &MeSettings) -> SettingItem {
    let off = me.own_days_off();
    let text = off.describe();
    let today = Timestamp::now().to_zoned(config::time_zone()).date();
    let ahead = off.dates(today, 1);
    let left = ahead.iter().filter(|day| day.year() == today.year()).count();
    SettingItem {
        shown: if text.is_empty() { NONE.to_owned() } else { text.clone() },
        effect: format!("{left} left this year"),
        ..item("me.days_off", "Days off", text)
    }
}

fn calendar_item(app: &App, me: &MeSettings) -> SettingItem {
    let value = me.calendars.value.join(", ");
    let (shown, effect) = match app.calendar_files(None).refresh() {
        Ok(files) if files.is_empty() => {
            (NONE.to_owned(), "an .ics file to plan around".to_owned())
        }
        Ok(files) => {
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            let last = files.iter().map(|file| file.read_at).max().unwrap_or_default();
            let last = dates::format_time(last.to_zoned(config::time_zone()).time());
            let events = files.iter().map(|file| file.events).sum();
            let shown = format!("{}, read every hour, last at {last}", names.join(", "));
            (shown, units::format_counted(events, "event"))
        }
        Err(problem) => (problem.to_string(), "not used".to_owned()),
    };
    SettingItem { shown, effect, ..item("me.calendars", "Calendar", value) }
}

fn zone_item(me: &MeSettings) -> SettingItem {
    let zone = config::time_zone();
    let name = zone.iana_name().unwrap_or("UTC").to_owned();
    let own = me.time_zone.value.clone();
    let shown = match &own {
        Some(own) if *own == name => name,
        Some(own) => format!("{own}; TZ says {name} for now"),
        None => format!("{name}, from the system"),
    };
    let effect = "from the next plan on".to_owned();
    SettingItem { shown, effect, ..item("me.time_zone", "Time zone", own.unwrap_or_default()) }
}
