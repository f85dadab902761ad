//! Changes one setting of the config file, with everything else in it kept as it was.

use std::path::Path;

use anyhow::{Context, bail};
use toml_edit::{Item, Value};

use super::Settings;
use super::edit::edit_config;
use planwright_files::{self as files, FileLimit};

/// Writes a setting as the person typed it, or takes it out of the file, and returns what stood there before. A value that
/// cannot be used leaves the file as it was.
pub(crate) fn change_setting(
    config: &Path,
    name: &str,
    value: Option<&str>,
) -> anyhow::Result<Option<String>> {
    let value = value.map(|text| parse_value(name, text)).transpose()?;
    let old_text = files::read_text(config, FileLimit::CONFIG).ok();
    let mut before = None;
    edit_config(config, |document| {
        before = document.get(name).and_then(Item::as_value).map(value_text);
        match value {
            None => {
                document.remove(name);
            }
            Some(mut value) => match document.get_mut(name).and_then(Item::as_value_mut) {
                Some(old) => {
                    // The comment beside the value belongs to it.
                    *value.decor_mut() = old.decor().clone();
                    *old = value;
                }
                None => {
                    document.insert(name, Item::Value(value));
                }
            },
        }
        Ok(())
    })?;
    if let Err(error) = Settings::load(config, true) {
        put_back(config, old_text.as_deref())?;
        return Err(error.into());
    }
    Ok(before)
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
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string().trim().to_owned(),
    }
}

fn parse_value(name: &str, text: &str) -> anyhow::Result<Value> {
    Ok(match name {
        "theme" | "provider" | "model" => text.into(),
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
        _ => bail!("{name} can't be changed here"),
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
