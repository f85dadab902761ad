//! The table `[me]` of the config file.

use jiff::tz::TimeZone;
use toml_edit::Item;

use super::{ConfigError, ConfigReader};
use crate::config::SourcedSetting;
use crate::config::me::MeSettings;
use planwright_drafting::own_days_off::{DAYS_OFF_EXAMPLE, OwnDaysOff, parse_country};
use planwright_drafting::own_hours::{HOURS_EXAMPLE, parse_own_hours};

/// The names inside the table.
pub(super) const NAMES: [&str; 7] =
    ["hours", "hours_a_week", "days_off", "country", "time_zone", "strategy", "calendars"];

impl ConfigReader<'_> {
    pub(super) fn read_me(&self, item: &Item, me: &mut MeSettings) -> Result<(), ConfigError> {
        for (name, item) in self.require_table("me", item)?.iter() {
            let full = format!("me.{name}");
            match name {
                "hours" => me.hours = self.read_checked(&full, item, check_hours)?,
                "hours_a_week" => me.hours_a_week = self.read_hours_a_week(&full, item)?,
                "days_off" => me.days_off = self.read_days_off(&full, item)?,
                "country" => me.country = self.read_checked(&full, item, check_country)?,
                "time_zone" => me.time_zone = self.read_checked(&full, item, check_zone)?,
                "strategy" => me.strategy = self.read_checked(&full, item, check_strategy)?,
                "calendars" => me.calendars = self.read_list(&full, item)?,
                _ => return Err(self.unknown_setting(name, item, &NAMES)),
            }
        }
        Ok(())
    }

    /// A text that must be understood.
    fn read_checked(
        &self,
        name: &str,
        item: &Item,
        check: fn(&str) -> Result<(), String>,
    ) -> Result<SourcedSetting<Option<String>>, ConfigError> {
        let SourcedSetting { value, origin } = self.read_text(name, item)?;
        check(&value).map_err(|why| self.unusable_value(name, item, why))?;
        Ok(SourcedSetting { value: Some(value), origin })
    }

    fn read_hours_a_week(
        &self,
        name: &str,
        item: &Item,
    ) -> Result<SourcedSetting<Option<f64>>, ConfigError> {
        let hours = item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64));
        let usable = hours.filter(|hours| (0.25..=168.0).contains(hours));
        let wrong = || self.wrong_value(name, item, "a number of hours from 0.25 to 168");
        Ok(self.sourced(Some(usable.ok_or_else(wrong)?)))
    }

    fn read_days_off(
        &self,
        name: &str,
        item: &Item,
    ) -> Result<SourcedSetting<Vec<String>>, ConfigError> {
        let days = self.read_list(name, item)?;
        OwnDaysOff::parse(&days.value.join(", ")).map_err(|why| {
            self.unusable_value(name, item, format!("{why}; write days {DAYS_OFF_EXAMPLE}"))
        })?;
        Ok(days)
    }

    /// Texts in a list; one text alone is a list of one.
    pub(super) fn read_list(
        &self,
        name: &str,
        item: &Item,
    ) -> Result<SourcedSetting<Vec<String>>, ConfigError> {
        let wrong = || self.wrong_value(name, item, "a list of texts in quotes");
        if let Some(text) = item.as_str() {
            return Ok(self.sourced(vec![text.to_owned()]));
        }
        let texts = item.as_array().ok_or_else(wrong)?.iter();
        let texts: Option<Vec<String>> =
            texts.map(|text| text.as_str().map(str::to_owned)).collect();
        Ok(self.sourced(texts.ok_or_else(wrong)?))
    }

    /// A value that has the right shape and can't be used.
    pub(in crate::config) fn unusable_value(
        &self,
        name: &str,
        item: &Item,
        why: String,
    ) -> ConfigError {
        ConfigError::Unusable {
            path: self.path.to_owned(),
            line: self.item_line(item),
            name: name.to_owned(),
            why,
        }
    }
}

fn check_hours(text: &str) -> Result<(), String> {
    parse_own_hours(text).map(|_| ()).map_err(|why| format!("{why}; write hours {HOURS_EXAMPLE}"))
}

fn check_strategy(text: &str) -> Result<(), String> {
    let known = crate::config::me::parse_strategy(text);
    known.map(|_| ()).ok_or_else(|| "is none of push, relax, hybrid and manual".to_owned())
}

fn check_country(text: &str) -> Result<(), String> {
    parse_country(text).map(|_| ())
}

fn check_zone(text: &str) -> Result<(), String> {
    let known = TimeZone::get(text).is_ok();
    known.then_some(()).ok_or_else(|| {
        format!("there is no time zone \"{text}\"; write a name such as Europe/Berlin")
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use jiff::civil::date;

    const FILE: &str = "[me]\nhours = \"Tue and Thu evening, Sundays\"\nhours_a_week = 4.5\n\
        days_off = [\"24 Dec\", \"2027-08-02 to 2027-08-06\"]\ncountry = \"DE\"\n\
        time_zone = \"Europe/Berlin\"\ncalendars = [\"work.ics\"]\n";

    #[test]
    fn the_persons_time_is_read_and_shown() {
        let settings = read(FILE).unwrap();
        let profile = settings.me.profile();
        assert_eq!(profile.weekly_minutes, Some(270));
        assert_eq!(profile.hours.unwrap().len(), 3);
        let off = profile.days_off.dates(date(2026, 12, 1), 1);
        assert!(off.contains(&date(2026, 12, 24)) && off.contains(&date(2026, 12, 25)));
        assert!(off.contains(&date(2027, 8, 4)) && profile.has_time_zone);
        let shown: Vec<String> = settings.rows().into_iter().map(|row| row.name).collect();
        for name in super::NAMES {
            assert!(shown.contains(&format!("me.{name}")), "{name} is not shown");
        }
        let paths = settings.me.calendar_paths(std::path::Path::new("/etc/planwright"));
        assert_eq!(paths, [std::path::PathBuf::from("/etc/planwright/work.ics")]);
    }

    #[test]
    fn what_cannot_be_used_is_named_with_its_line_and_a_remedy() {
        let why = |line: &str| read(&format!("[me]\n{line}\n")).unwrap_err();
        assert_eq!(
            why("hours = \"whenever\""),
            "config.toml:2: `me.hours` can't be used: \"whenever\" was not understood; write hours \
             such as \"Tue and Thu evening, Sundays\" or \"Mon-Fri 19:00-21:00\""
        );
        assert!(why("days_off = [\"30 Feb\"]").contains("\"30 Feb\" is not a day"));
        assert!(why("country = \"Atlantis\"").contains("known are DE, AT"));
        assert!(why("time_zone = \"Berlin\"").contains("such as Europe/Berlin"));
        assert!(why("hours_a_week = 900").ends_with("a number of hours from 0.25 to 168"));
        assert!(why("calendars = 3").ends_with("a list of texts in quotes"));
        assert_eq!(
            why("hour = \"evenings\""),
            "config.toml:2: unknown setting `hour`, did you mean `hours`?"
        );
    }
}
