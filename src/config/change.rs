//! Changes one setting of the config file, with everything else in it kept as it was.

use std::path::Path;

use anyhow::{Context, bail};
use toml_edit::{Array, Item, Table, TableLike, Value};

use super::Settings;
use super::edit::edit_config;
use planwright_drafting::own_days_off::{DAYS_OFF_EXAMPLE, OwnDaysOff};
use planwright_files::{self as files, FileLimit};

/// Writes a setting as the person typed it, or takes it out of the file, and returns what stood there before. A value that
/// cannot be used leaves the file as it was. Days off may name the country of the public holidays as well.
pub(crate) fn change_setting(
    config: &Path,
    name: &str,
    value: Option<&str>,
) -> anyhow::Result<Option<String>> {
    if name == DAYS_OFF {
        return change_days_off(config, value);
    }
    let value = value.map(|text| parse_value(name, text)).transpose()?;
    let mut before = write_values(config, vec![(name, value)])?;
    Ok(before.pop().flatten())
}

const DAYS_OFF: &str = "me.days_off";
const COUNTRY: &str = "me.country";

fn change_days_off(config: &Path, text: Option<&str>) -> anyhow::Result<Option<String>> {
    let old = Settings::load(config, false)?.me.own_days_off().describe();
    let off = OwnDaysOff::parse(text.unwrap_or_default())
        .map_err(|why| anyhow::anyhow!("{why}; write days {DAYS_OFF_EXAMPLE}"))?;
    let days = OwnDaysOff { country: None, ..off.clone() }.describe();
    let list = Some(days.as_str()).filter(|days| !days.is_empty()).map(list_value);
    let country = off.country.map(|country| country.code().into());
    write_values(config, vec![(DAYS_OFF, list), (COUNTRY, country)])?;
    Ok(Some(old).filter(|old| !old.is_empty()))
}

/// Writes values in one step, and returns what stood there before.
fn write_values(
    config: &Path,
    values: Vec<(&str, Option<Value>)>,
) -> anyhow::Result<Vec<Option<String>>> {
    let old_text = files::read_text(config, FileLimit::CONFIG).ok();
    let mut before = Vec::new();
    edit_config(config, |document| {
        for (name, value) in values {
            before.push(match name.split_once('.') {
                Some((table, name)) => {
                    let fresh = || {
                        let mut table = Table::new();
                        table.set_implicit(value.is_none());
                        Item::Table(table)
                    };
                    let entry = document.entry(table).or_insert_with(fresh);
                    let table = entry
                        .as_table_like_mut()
                        .with_context(|| format!("`{table}` is not a table"))?;
                    set_value(table, name, value)
                }
                None => set_value(document.as_table_mut(), name, value),
            });
        }
        Ok(())
    })?;
    if let Err(error) = Settings::load(config, true) {
        put_back(config, old_text.as_deref())?;
        return Err(error.into());
    }
    Ok(before)
}

fn set_value(table: &mut dyn TableLike, name: &str, value: Option<Value>) -> Option<String> {
    let before = table.get(name).and_then(Item::as_value).map(value_text);
    match value {
        None => {
            table.remove(name);
        }
        Some(mut value) => match table.get_mut(name).and_then(Item::as_value_mut) {
            Some(old) => {
                // The comment beside the value belongs to it.
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            None => {
                table.insert(name, Item::Value(value));
            }
        },
    }
    before
}

/// Texts separated by commas, as a list.
fn list_value(text: &str) -> Value {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    Value::Array(parts.collect::<Array>())
}

/// Replaces the whole file, unless the new text cannot be used.
pub(crate) fn replace_config(config: &Path, text: &str) -> anyhow::Result<()> {
    let old_text = files::read_text(config, FileLimit::CONFIG).ok();
    if let Some(directory) = config.parent() {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("making {}", directory.display()))?;
    }
    put_back(config, Some(text))?;
    if let Err(error) = Settings::load(config, true) {
        put_back(config, old_text.as_deref())?;
        return Err(error.into());
    }
    Ok(())
}

fn put_back(config: &Path, text: Option<&str>) -> anyhow::Result<()> {
    let done = match text {
        Some(text) => std::fs::write(config, text),
        None => std::fs::remove_file(config),
    };
    done.with_context(|| format!("writing {}", config.display()))
}

/// A value as it was typed: without the quotes of a text.
fn value_text(value: &Value) -> String {
    if let Some(list) = value.as_array() {
        let texts: Vec<String> = list.iter().map(value_text).collect();
        return texts.join(", ");
    }
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string().trim().to_owned(),
    }
}

fn parse_value(name: &str, text: &str) -> anyhow::Result<Value> {
    Ok(match name {
        "theme" | "provider" | "model" | "me.hours" | "me.country" | "me.time_zone"
        | "me.strategy" => text.into(),
        "me.calendars" => list_value(text),
        "me.hours_a_week" => match text.trim_end_matches('h').trim().parse::<f64>() {
            Ok(hours) => hours.into(),
            Err(_) => bail!("not a number of hours; write for instance 6"),
        },
        "ascii" | "reduced_motion" => match text {
            "true" => true.into(),
            "false" => false.into(),
            _ => bail!("write true or false"),
        },
        "jobs" if text == "auto" => text.into(),
        "jobs" => match text.parse::<i64>() {
            Ok(jobs @ 1..=64) => jobs.into(),
            _ => bail!("not a number of tasks; write 1 to 64, or auto"),
        },
        "budget_per_session_usd" | "daily_budget_usd" => {
            match text.trim_start_matches('$').trim().parse::<f64>() {
                Ok(dollars) if dollars.is_finite() && dollars >= 0.0 => dollars.into(),
                _ => bail!("not an amount; write for instance 2.50"),
            }
        }
        "run_token_limit" | "run_wall_time_min" => match text.parse::<i64>() {
            Ok(most @ 1..) => most.into(),
            _ => bail!("not a number; write for instance 60"),
        },
        _ => bail!(
            "`{name}` is not a setting that this command can change; edit the config file for others"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_changed_and_put_back_and_comments_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new").join("config.toml");
        assert_eq!(change_setting(&path, "theme", Some("light")).unwrap(), None);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theme = \"light\"\n");
        let text = "# mine\ntheme = \"dark\" # by night\njobs = 7\n\n[keys]\nquit = \"Q\" # big\n";
        std::fs::write(&path, text).unwrap();
        let before = change_setting(&path, "theme", Some("light")).unwrap();
        assert_eq!(before.as_deref(), Some("dark"));
        let changed = std::fs::read_to_string(&path).unwrap();
        assert_eq!(changed, text.replace("\"dark\"", "\"light\""));
        change_setting(&path, "theme", before.as_deref()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(change_setting(&path, "jobs", None).unwrap().as_deref(), Some("7"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text.replace("jobs = 7\n", ""));
        assert_eq!(change_setting(&path, "daily_budget_usd", Some("$3")).unwrap(), None);
        let settings = Settings::load(&path, true).unwrap();
        assert!((settings.models.daily_budget_usd.value - 3.0).abs() < f64::EPSILON);
        assert_eq!(settings.keys["quit"].value, "Q");
    }

    #[test]
    fn the_persons_time_is_changed_and_everything_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let text =
            "# mine\njobs = 7 # many\n\n[me] # my time\n#hours = 3\n\n[keys]\nquit = \"Q\"\n";
        std::fs::write(&path, text).unwrap();
        let before = change_setting(&path, "me.hours", Some("evenings and Saturdays")).unwrap();
        assert_eq!(before, None);
        let changed = std::fs::read_to_string(&path).unwrap();
        assert!(changed.contains("[me] # my time\n") && changed.contains("hours = \"evenings"));
        assert!(changed.contains("# mine\njobs = 7 # many\n") && changed.contains("#hours = 3"));
        let off = "24 Dec, public holidays in Germany";
        assert_eq!(change_setting(&path, "me.days_off", Some(off)).unwrap(), None);
        let settings = Settings::load(&path, true).unwrap();
        assert_eq!(settings.me.country.value.as_deref(), Some("DE"));
        assert_eq!(settings.me.own_days_off().describe(), off);
        let before = change_setting(&path, "me.days_off", Some("1 Jan")).unwrap();
        assert_eq!(before.as_deref(), Some(off));
        change_setting(&path, "me.days_off", before.as_deref()).unwrap();
        assert_eq!(Settings::load(&path, true).unwrap(), settings);
        change_setting(&path, "me.calendars", Some("work.ics, home.ics")).unwrap();
        let before = change_setting(&path, "me.calendars", None).unwrap();
        assert_eq!(before.as_deref(), Some("work.ics, home.ics"));
        let kept = std::fs::read_to_string(&path).unwrap();
        for (name, value) in
            [("me.hours", "whenever"), ("me.days_off", "30 Feb"), ("me.time_zone", "Berlin")]
        {
            assert!(change_setting(&path, name, Some(value)).is_err(), "{name} = {value}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), kept);
        }
        // A file that is not there yet gets the table.
        let fresh = dir.path().join("fresh").join("config.toml");
        change_setting(&fresh, "me.hours", Some("weekdays")).unwrap();
        assert_eq!(std::fs::read_to_string(&fresh).unwrap(), "[me]\nhours = \"weekdays\"\n");
    }

    #[test]
    fn a_value_that_cannot_be_used_leaves_the_file_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let text = "jobs = 7 # many\n";
        std::fs::write(&path, text).unwrap();
        for (name, value) in
            [("jobs", "65"), ("jobs", "x"), ("ascii", "maybe"), ("daily_budget_usd", "-1")]
        {
            assert!(change_setting(&path, name, Some(value)).is_err(), "{name} = {value}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert!(replace_config(&path, "jobs = \"a lot\"\n").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        replace_config(&path, "jobs = 2\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "jobs = 2\n");
    }
}
