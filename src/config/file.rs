//! Reading the config file, with errors that name the place and the nearest right name.

mod agents;
mod me;
mod models;
mod planning;
mod ranges;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use toml_edit::{Document, Item, TableLike};

use super::{JobLimit, SettingOrigin, Settings, SourcedSetting};

/// Why a config file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("could not read the config file {}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{}:{line}: not TOML: {message}", path.display())]
    Syntax { path: PathBuf, line: usize, message: String },
    #[error("{}:{line}: unknown setting `{name}`{}", path.display(), did_you_mean(nearest.as_deref()))]
    Unknown { path: PathBuf, line: usize, name: String, nearest: Option<String> },
    #[error("{}:{line}: `{name}` must be {expected}", path.display())]
    Value { path: PathBuf, line: usize, name: String, expected: &'static str },
    #[error("{}:{line}: `{name}` can't be used: {why}", path.display())]
    Unusable { path: PathBuf, line: usize, name: String, why: String },
    #[error("{}:{line}: `{name}` is {value}, but must be a whole number from {low} to {high}", path.display())]
    Range { path: PathBuf, line: usize, name: String, value: String, low: u64, high: u64 },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

const NAMES: [&str; 35] = [
    "theme",
    "ascii",
    "reduced_motion",
    "jobs",
    "run_wall_time_min",
    "run_token_limit",
    "output_cap_mb",
    "budget_per_session_usd",
    "enable_task_graphs",
    "enable_react_tracing",
    "enable_tool_affinity",
    "user_id",
    "breaker_threshold",
    "breaker_cooldown_sec",
    "react_max_iterations",
    "task_token_limit",
    "task_budget_usd",
    "task_wall_time_min",
    "result_char_limit",
    "planner_rounds",
    "token_budget_buffer",
    "token_budget_factor",
    "agent_max_requests_per_task",
    "worktrees",
    "desk_notify",
    "confidence_continue",
    "confidence_escalate",
    "confidence_weights",
    "me",
    "keys",
    "tools",
    "permissions",
    "mcp",
    "agents",
    "executors",
];

/// The names of all settings, those inside tables included.
#[cfg(test)]
pub(crate) fn known_names() -> Vec<&'static str> {
    let mut names = NAMES.to_vec();
    names.extend(models::NAMES);
    names.extend(planning::NAMES);
    names.extend(planning::POLICY);
    names.extend(agents::NAMES);
    names.extend(me::NAMES);
    names.extend(models::nested_names());
    names.extend(super::tools::tool_setting_names());
    names.extend(super::own_agents::AGENT);
    names.extend(super::executors::EXECUTOR);
    names.push("default");
    names
}

/// Puts the values of a config file over the settings.
pub(super) fn apply_config(
    text: &str,
    path: &Path,
    settings: &mut Settings,
) -> Result<(), ConfigError> {
    let document = Document::parse(text).map_err(|error| ConfigError::Syntax {
        path: path.to_owned(),
        line: line_number(text, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let reader = ConfigReader { text, path };
    for (name, item) in document.iter() {
        reader.read_setting(name, item, settings)?;
    }
    Ok(())
}

pub(super) struct ConfigReader<'a> {
    text: &'a str,
    path: &'a Path,
}

impl ConfigReader<'_> {
    fn read_setting(
        &self,
        name: &str,
        item: &Item,
        settings: &mut Settings,
    ) -> Result<(), ConfigError> {
        match name {
            // A heading with nothing below it, as the file of `config init` has them, sets nothing.
            "confidence_weights" | "limits" | "policy"
                if item.as_table_like().is_some_and(TableLike::is_empty) => {}
            // The old name of a limit that is now the same for planning and agents.
            "wall_time_sec" => self.read_old_call_limit(name, item, &mut settings.models)?,
            "theme" => settings.theme = self.read_text(name, item)?,
            "ascii" => settings.ascii = self.read_flag(name, item)?,
            "reduced_motion" => settings.reduced_motion = self.read_flag(name, item)?,
            "jobs" => settings.jobs = self.read_jobs(name, item)?,
            "run_wall_time_min" => {
                let minutes = self.read_positive(name, item)?;
                settings.run_wall_time_min =
                    SourcedSetting { value: Some(minutes.value), origin: minutes.origin };
            }
            "run_token_limit" => settings.run_token_limit = self.read_positive(name, item)?,
            "budget_per_session_usd" => {
                settings.budget_per_session_usd = self.read_dollars(name, item)?;
            }
            "enable_task_graphs" => settings.enable_task_graphs = self.read_flag(name, item)?,
            "enable_react_tracing" => settings.enable_react_tracing = self.read_flag(name, item)?,
            "desk_notify" => settings.desk_notify = self.read_list(name, item)?,
            "worktrees" => settings.worktrees = self.read_flag(name, item)?,
            "enable_tool_affinity" => settings.enable_tool_affinity = self.read_flag(name, item)?,
            "user_id" => {
                let name = self.read_text(name, item)?;
                settings.user_id = SourcedSetting { value: Some(name.value), origin: name.origin };
            }
            "breaker_threshold" => settings.breaker_threshold = self.read_positive(name, item)?,
            "breaker_cooldown_sec" => {
                settings.breaker_cooldown_sec = self.read_positive(name, item)?;
            }
            "react_max_iterations" => {
                settings.react_max_iterations = self.read_positive(name, item)?;
            }
            "task_token_limit" => settings.task_token_limit = self.read_positive(name, item)?,
            "task_budget_usd" => settings.task_budget_usd = self.read_dollars(name, item)?,
            "output_cap_mb" => settings.output_cap_mb = self.read_positive(name, item)?,
            "task_wall_time_min" => {
                settings.task_wall_time_min = self.read_positive(name, item)?;
            }
            "result_char_limit" => settings.result_char_limit = self.read_positive(name, item)?,
            "planner_rounds" => settings.planner_rounds = self.read_positive(name, item)?,
            "token_budget_buffer" => {
                settings.token_budget_buffer = self.read_positive(name, item)?;
            }
            "token_budget_factor" => {
                settings.token_budget_factor = self.read_positive(name, item)?;
            }
            "agent_max_requests_per_task" => {
                settings.agent_max_requests_per_task = self.read_positive(name, item)?;
            }
            "confidence_continue" => settings.confidence_continue = self.read_share(name, item)?,
            "confidence_escalate" => settings.confidence_escalate = self.read_share(name, item)?,
            "confidence_weights" => self.read_weights(name, item, settings)?,
            "me" => self.read_me(item, &mut settings.me)?,
            "keys" => {
                let table = item
                    .as_table_like()
                    .ok_or_else(|| self.wrong_value(name, item, "a table of actions and keys"))?;
                self.read_keys(table, settings)?;
            }
            "tools" => self.read_tools(item, settings)?,
            "permissions" => self.read_permissions(item, settings)?,
            "mcp" => self.read_mcp(item, settings)?,
            "agents" => self.read_own_agents(item, settings)?,
            "executors" => self.read_executors(item, settings)?,
            _ if agents::NAMES.contains(&name) => {
                self.read_agent_setting(name, item, &mut settings.agents)?;
            }
            _ if planning::NAMES.contains(&name) => {
                self.read_planning_setting(name, item, &mut settings.planning)?;
            }
            _ if models::NAMES.contains(&name) => {
                self.read_model_setting(name, item, &mut settings.models)?;
            }
            _ => {
                let known: Vec<&'static str> = NAMES
                    .into_iter()
                    .chain(planning::NAMES)
                    .chain(models::NAMES)
                    .chain(agents::NAMES)
                    .collect();
                return Err(self.unknown_setting(name, item, &known));
            }
        }
        Ok(())
    }

    /// Weights by name; those that are not named keep their value.
    fn read_weights(
        &self,
        name: &str,
        item: &Item,
        settings: &mut Settings,
    ) -> Result<(), ConfigError> {
        let table = item
            .as_table_like()
            .ok_or_else(|| self.wrong_value(name, item, "a table of parts and their weights"))?;
        let mut weights = settings.confidence_weights.value.clone();
        for (part, item) in table.iter() {
            let Some(weight) = weights.get_mut(part) else {
                return Err(ConfigError::Unknown {
                    path: self.path.to_owned(),
                    line: self.item_line(item),
                    name: format!("{name}.{part}"),
                    nearest: planwright_text::nearest_name(
                        part,
                        weights.keys().map(String::as_str),
                    )
                    .map(|near| format!("{name}.{near}")),
                });
            };
            *weight = self.read_share(part, item)?.value;
        }
        settings.confidence_weights = self.sourced(weights);
        Ok(())
    }

    pub(super) fn unknown_setting(
        &self,
        name: &str,
        item: &Item,
        known: &[&'static str],
    ) -> ConfigError {
        ConfigError::Unknown {
            path: self.path.to_owned(),
            line: self.item_line(item),
            name: name.to_owned(),
            nearest: planwright_text::nearest_name(name, known.iter().copied()).map(str::to_owned),
        }
    }

    fn read_keys(&self, table: &dyn TableLike, settings: &mut Settings) -> Result<(), ConfigError> {
        for (action, item) in table.iter() {
            let key = self.read_text(action, item)?;
            settings.keys.insert(action.to_owned(), key);
        }
        Ok(())
    }

    pub(super) fn sourced<T>(&self, value: T) -> SourcedSetting<T> {
        SourcedSetting { value, origin: SettingOrigin::File(self.path.to_owned()) }
    }

    pub(super) fn read_text(
        &self,
        name: &str,
        item: &Item,
    ) -> Result<SourcedSetting<String>, ConfigError> {
        let text = item.as_str().ok_or_else(|| self.wrong_value(name, item, "a text in quotes"))?;
        Ok(self.sourced(text.to_owned()))
    }

    pub(super) fn read_flag(
        &self,
        name: &str,
        item: &Item,
    ) -> Result<SourcedSetting<bool>, ConfigError> {
        let flag = item.as_bool().ok_or_else(|| self.wrong_value(name, item, "true or false"))?;
        Ok(self.sourced(flag))
    }

    fn read_jobs(&self, name: &str, item: &Item) -> Result<SourcedSetting<JobLimit>, ConfigError> {
        let number = item.as_integer().map(|jobs| jobs.to_string());
        number
            .as_deref()
            .or(item.as_str())
            .and_then(|jobs| jobs.parse().ok())
            .map(|jobs| self.sourced(jobs))
            .ok_or_else(|| self.wrong_value(name, item, "a number from 1 to 64, or \"auto\""))
    }

    pub(super) fn read_positive(
        &self,
        name: &str,
        item: &Item,
    ) -> Result<SourcedSetting<u64>, ConfigError> {
        let range = ranges::setting_range(name);
        item.as_integer()
            .and_then(|number| u64::try_from(number).ok())
            .filter(|number| range.contains(number))
            .map(|number| self.sourced(number))
            .ok_or_else(|| self.out_of_range(name, item, &range))
    }

    fn out_of_range(&self, name: &str, item: &Item, range: &RangeInclusive<u64>) -> ConfigError {
        let written = item.to_string();
        ConfigError::Range {
            path: self.path.to_owned(),
            line: self.item_line(item),
            name: name.to_owned(),
            value: planwright_text::truncate_end(&planwright_text::clean_line(written.trim()), 40)
                .into_owned(),
            low: *range.start(),
            high: *range.end(),
        }
    }

    fn read_share(&self, name: &str, item: &Item) -> Result<SourcedSetting<f64>, ConfigError> {
        item.as_float()
            .or_else(|| item.as_integer().map(|whole| whole as f64))
            .filter(|share| (0.0..=1.0).contains(share))
            .map(|share| self.sourced(share))
            .ok_or_else(|| self.wrong_value(name, item, "a number from 0 to 1"))
    }

    fn read_dollars(&self, name: &str, item: &Item) -> Result<SourcedSetting<f64>, ConfigError> {
        item.as_float()
            .or_else(|| item.as_integer().map(|whole| whole as f64))
            .filter(|dollars| (0.0..=1e9).contains(dollars))
            .map(|dollars| self.sourced(dollars))
            .ok_or_else(|| {
                self.wrong_value(name, item, "an amount in dollars, from 0 to 1000000000")
            })
    }

    /// The entries of something that has to be a table.
    pub(super) fn require_table<'i>(
        &self,
        name: &str,
        item: &'i Item,
    ) -> Result<&'i dyn TableLike, ConfigError> {
        item.as_table_like().ok_or_else(|| self.wrong_value(name, item, "a table"))
    }

    pub(super) fn wrong_value(
        &self,
        name: &str,
        item: &Item,
        expected: &'static str,
    ) -> ConfigError {
        ConfigError::Value {
            path: self.path.to_owned(),
            line: self.item_line(item),
            name: name.to_owned(),
            expected,
        }
    }

    fn item_line(&self, item: &Item) -> usize {
        line_number(self.text, item.span().map_or(0, |span| span.start))
    }
}

fn line_number(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn read(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        apply_config(text, Path::new("config.toml"), &mut settings)
            .map_err(|error| error.to_string())?;
        Ok(settings)
    }

    #[test]
    fn values_carry_their_origin() {
        let settings = read("jobs = 7\n[keys]\nquit = \"Q\"\n").unwrap();
        assert_eq!(settings.jobs.value, JobLimit::Fixed(7));
        assert_eq!(read("jobs = \"auto\"").unwrap().jobs.value, JobLimit::Auto);
        assert_eq!(settings.jobs.origin, SettingOrigin::File("config.toml".into()));
        assert_eq!(settings.theme.origin, SettingOrigin::BuiltIn);
        assert_eq!(settings.keys["quit"].value, "Q");
    }

    #[test]
    fn every_number_of_execution_and_confidence_can_be_set() {
        let settings = read(
            "breaker_threshold = 5\nresult_char_limit = 900\nconfidence_continue = 0.8\n[confidence_weights]\nrules = 0.4\n",
        )
        .unwrap();
        let limits = settings.limits();
        assert_eq!((limits.breaker_threshold, limits.result_char_limit), (5, 900));
        assert_eq!(limits.breaker_cooldown_sec, 30);
        let weight = |part: &str| format!("{:.2}", settings.confidence_weights.value[part]);
        assert_eq!((weight("rules"), weight("self_score")), ("0.40".to_owned(), "0.50".to_owned()));
        assert_eq!(
            read("[confidence_weights]\nrule = 0.4").unwrap_err(),
            "config.toml:2: unknown setting `confidence_weights.rule`, did you mean `confidence_weights.rules`?"
        );
        assert!(read("confidence_continue = 2").unwrap_err().ends_with("a number from 0 to 1"));
    }

    #[test]
    fn every_number_of_planning_and_the_policy_can_be_set() {
        let settings = read(
            "segment_max_sec = 300\nrevision_limit = 9\nrequire_rfc_for_new_subtype = false\n\
             [policy]\ntone = \"clinical\"\nprobing_depth = 3\n",
        )
        .unwrap();
        let limits = settings.plan_limits();
        assert_eq!(
            (limits.segment_max_sec, limits.revision_limit, limits.turn_limit),
            (300, 9, 10)
        );
        assert!(!settings.planning.require_rfc_for_new_subtype.value);
        assert!(settings.planning.allow_new_subtype_proposals.value);
        let policy = &settings.planning.policy.value;
        assert_eq!(policy.tone, Some(planwright_model::Tone::Clinical));
        assert_eq!((policy.probing_depth, policy.autonomy), (Some(3), None));
        assert_eq!(
            read("[policy]\ntones = \"clinical\"").unwrap_err(),
            "config.toml:2: unknown setting `tones`, did you mean `tone`?"
        );
        assert_eq!(
            read("[policy]\ntone = \"loud\"").unwrap_err(),
            "config.toml:2: `tone` must be one of the control's values"
        );
        let names: Vec<String> = settings.rows().into_iter().map(|row| row.name).collect();
        for name in planning::NAMES {
            assert!(names.iter().any(|row| row == name), "{name} is not shown");
        }
    }

    #[test]
    fn mistakes_name_the_line_and_the_remedy() {
        assert_eq!(
            read("\njob = 3").unwrap_err(),
            "config.toml:2: unknown setting `job`, did you mean `jobs`?"
        );
        assert_eq!(
            read("jobs = 0").unwrap_err(),
            "config.toml:1: `jobs` must be a number from 1 to 64, or \"auto\""
        );
        assert_eq!(read("ascii = 1").unwrap_err(), "config.toml:1: `ascii` must be true or false");
        assert!(read("theme = ").unwrap_err().starts_with("config.toml:1: not TOML"));
    }
}
