//! What the config file says about other places where commands run: `[executors.NAME]`.

use std::collections::BTreeMap;

use toml_edit::{Item, TableLike};

use super::file::{ConfigError, ConfigReader};
use super::{SettingRow, Settings};
use planwright_tools::executor::CommandLauncher;

/// `[executors]`: the words of `launch` by name.
pub(crate) type ExecutorsConfig = BTreeMap<String, Vec<String>>;

pub(super) const EXECUTOR: [&str; 1] = ["launch"];

/// What `on` says for this machine, so that no executor has this name.
const THIS_MACHINE: &str = "here";

impl ConfigReader<'_> {
    pub(super) fn read_executors(
        &self,
        item: &Item,
        settings: &mut Settings,
    ) -> Result<(), ConfigError> {
        for (name, item) in self.require_table("executors", item)?.iter() {
            let fits =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
            if name.is_empty() || name.len() > 32 || !name.chars().all(fits) || name == THIS_MACHINE
            {
                let wanted = "a name of small letters, digits, `_` and `-`, other than `here`";
                return Err(self.wrong_value(name, item, wanted));
            }
            let launch = self.read_executor(name, item, self.require_table(name, item)?)?;
            settings.executors.insert(name.to_owned(), launch);
        }
        Ok(())
    }

    fn read_executor(
        &self,
        name: &str,
        item: &Item,
        table: &dyn TableLike,
    ) -> Result<Vec<String>, ConfigError> {
        let mut launch = None;
        for (field, item) in table.iter() {
            if field != "launch" {
                return Err(self.unknown_setting(field, item, &EXECUTOR));
            }
            let words = self.read_texts(field, item)?;
            if let Err(why) = CommandLauncher::parse(&words) {
                return Err(self.unusable_value(field, item, format!("it {why}")));
            }
            launch = Some(words);
        }
        launch.ok_or_else(|| self.wrong_value(name, item, "a table with `launch`"))
    }
}

/// The executors of the settings, ready to be used.
pub(crate) fn command_launchers(settings: &Settings) -> BTreeMap<String, CommandLauncher> {
    let executors = settings.executors.iter();
    // They were checked when they were read.
    executors
        .filter_map(|(name, words)| Some((name.clone(), CommandLauncher::parse(words).ok()?)))
        .collect()
}

/// Rows of `config show`, for what is set.
pub(super) fn executor_rows(settings: &Settings) -> Vec<SettingRow> {
    let row = |(name, words): (&String, &Vec<String>)| {
        let name = format!("executors.{name}");
        let project = settings.from_project.contains(&name);
        let origin = if project { super::PROJECT_FILE } else { "config file" }.to_owned();
        SettingRow { name, value: words.clone().into(), origin }
    };
    settings.executors.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        super::super::file::apply_config(text, Path::new("config.toml"), &mut settings)
            .map_err(|error| error.to_string())?;
        Ok(settings)
    }

    #[test]
    fn executors_are_read_and_listed() {
        let settings =
            read("[executors.build]\nlaunch = [\"ssh\", \"build\", \"{command}\"]\n").unwrap();
        assert_eq!(settings.executors["build"], ["ssh", "build", "{command}"]);
        assert!(command_launchers(&settings).contains_key("build"));
        assert!(settings.rows().iter().any(|row| row.name == "executors.build"));
    }

    #[test]
    fn mistakes_about_executors_name_their_remedy() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert!(wrong("[executors.build]\n").contains("`launch`"));
        assert!(
            wrong("[executors.here]\nlaunch = [\"sh\", \"{argv}\"]").contains("other than `here`")
        );
        assert!(
            wrong("[executors.build]\nlaunch = [\"ssh\", \"b\"]").contains("{argv} or {command}")
        );
        assert!(wrong("[executors.build]\nlanch = [\"ssh\"]").contains("did you mean `launch`"));
    }
}
