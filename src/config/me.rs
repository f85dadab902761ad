//! Settings about the person's own time: hours, days off, zone, calendar files.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::SourcedSetting;
use planwright_drafting::own_days_off::{OwnDaysOff, parse_country};
use planwright_drafting::own_hours::parse_own_hours;
use planwright_drafting::person_profile::PersonProfile;
use planwright_model::StrategyMode;

/// Everything in `[me]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeSettings {
    /// When there is time for one's own plans, in words or exactly.
    pub hours: SourcedSetting<Option<String>>,
    /// Hours for all plans together.
    pub hours_a_week: SourcedSetting<Option<f64>>,
    /// Days without work; those without a year are off every year.
    pub days_off: SourcedSetting<Vec<String>>,
    /// Its public holidays are days off.
    pub country: SourcedSetting<Option<String>>,
    pub time_zone: SourcedSetting<Option<String>>,
    /// How hard plans push: `push`, `relax`, `hybrid` or `manual`.
    pub strategy: SourcedSetting<Option<String>>,
    /// Calendar files to plan around.
    pub calendars: SourcedSetting<Vec<String>>,
}

impl Default for MeSettings {
    fn default() -> Self {
        Self {
            hours: SourcedSetting::built_in(None),
            hours_a_week: SourcedSetting::built_in(None),
            days_off: SourcedSetting::built_in(Vec::new()),
            country: SourcedSetting::built_in(None),
            time_zone: SourcedSetting::built_in(None),
            strategy: SourcedSetting::built_in(None),
            calendars: SourcedSetting::built_in(Vec::new()),
        }
    }
}

/// How hard plans push, by its name.
pub(crate) fn parse_strategy(name: &str) -> Option<StrategyMode> {
    serde_json::from_value(name.into()).ok()
}

impl MeSettings {
    /// What new plans start from. Everything was checked when it was read.
    pub(crate) fn profile(&self) -> PersonProfile {
        PersonProfile {
            hours: self.hours.value.as_deref().and_then(|text| parse_own_hours(text).ok()),
            weekly_minutes: self.hours_a_week.value.map(|hours| (hours * 60.0).round() as u32),
            days_off: self.own_days_off(),
            has_time_zone: self.time_zone.value.is_some(),
            strategy: self.strategy.value.as_deref().and_then(parse_strategy),
        }
    }

    /// Days off with the holidays of the country.
    pub(crate) fn own_days_off(&self) -> OwnDaysOff {
        let mut off = OwnDaysOff::parse(&self.days_off.value.join(", ")).unwrap_or_default();
        let country = self.country.value.as_deref().and_then(|name| parse_country(name).ok());
        off.country = country.or(off.country);
        off
    }

    /// The calendar files; a path that is not complete begins at the directory of the config file.
    pub(crate) fn calendar_paths(&self, config_dir: &Path) -> Vec<PathBuf> {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        let complete = |text: &String| match (text.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => config_dir.join(text),
        };
        self.calendars.value.iter().map(complete).collect()
    }
}
