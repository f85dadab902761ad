//! The parts of the config file that are about models.

use toml_edit::Item;

use super::{ConfigError, ConfigReader};
use planwright_llm::settings::{
    LimitSettings, ModelSettings, PriceSettings, ProviderSettings, ReplacedSetting, RoleSettings,
};
use planwright_llm::{ModelApi, ModelEffort};
use planwright_model::ProfileChoice;

pub(super) const NAMES: [&str; 14] = [
    "provider",
    "model",
    "protocol",
    "profile",
    "effort",
    "model_call_limit_sec",
    "outage_wait_min",
    "daily_budget_usd",
    "soft_budget_per_turn_usd",
    "offline_fallback",
    "models",
    "providers",
    "limits",
    "prices",
];

const ROLES: [&str; 5] = ["planner", "executor", "summarizer", "judge", "brainstormer"];
const PROTOCOLS: [&str; 4] = ["auto", "tools", "json", "text"];
const PROFILES: &str = "auto, large or small";
const EFFORTS: &str = "low, medium, high or max";
const KINDS: [&str; 4] = ["openai", "anthropic", "gemini", "ollama"];

const ROLE_FIELDS: [&str; 6] =
    ["provider", "model", "temperature", "max_output_tokens", "profile", "effort"];
const PRICE_FIELDS: [&str; 4] = ["input", "output", "cached", "cache_write"];
const PROVIDER_FIELDS: [&str; 11] = [
    "kind",
    "api",
    "base_url",
    "model",
    "api_key_env",
    "api_key_cmd",
    "headers",
    "concurrency",
    "stream",
    "context_window",
    "consent",
];
const LIMIT_FIELDS: [&str; 4] = ["connect_sec", "retries", "retry_after_max_sec", "answer_mb"];

/// Names that earlier versions had for limits on the time of a call. They are read as `model_call_limit_sec`.
const OLD_LIMIT_FIELDS: [&str; 3] = ["first_byte_sec", "idle_sec", "total_sec"];

/// The names of settings inside tables of this part.
#[cfg(test)]
pub(super) fn nested_names() -> impl Iterator<Item = &'static str> {
    let all: [&'static [&'static str]; 5] =
        [&ROLES, &ROLE_FIELDS, &PROVIDER_FIELDS, &LIMIT_FIELDS, &PRICE_FIELDS];
    all.into_iter().flatten().copied()
}

impl ConfigReader<'_> {
    /// Reads a setting of this part. The caller has made sure that the name is one of ours.
    pub(super) fn read_model_setting(
        &self,
        name: &str,
        item: &Item,
        models: &mut ModelSettings,
    ) -> Result<(), ConfigError> {
        match name {
            "provider" => models.provider = self.read_text(name, item)?,
            "model" => models.model = self.sourced(Some(self.read_text(name, item)?.value)),
            "protocol" => {
                let said = self.read_text(name, item)?;
                if !PROTOCOLS.contains(&said.value.as_str()) {
                    return Err(self.wrong_value(name, item, "auto, tools, json or text"));
                }
                models.protocol = said;
            }
            "profile" => models.profile = self.sourced(self.read_profile(name, item)?),
            "effort" => models.effort = self.sourced(Some(self.read_effort(name, item)?)),
            "model_call_limit_sec" => {
                models.model_call_limit_sec = self.read_positive(name, item)?;
            }
            "outage_wait_min" => models.outage_wait_min = self.read_positive(name, item)?,
            "daily_budget_usd" => models.daily_budget_usd = self.read_dollars(name, item)?,
            "soft_budget_per_turn_usd" => {
                models.soft_budget_per_turn_usd = self.read_dollars(name, item)?;
            }
            "offline_fallback" => models.offline_fallback = self.read_flag(name, item)?,
            "models" => self.for_each_entry(name, item, |role, item| {
                if !ROLES.contains(&role) {
                    return Err(self.unknown_part(&format!("models.{role}"), role, item, &ROLES));
                }
                let settings = self.read_role(role, item)?;
                models.roles.insert(role.to_owned(), self.sourced(settings));
                Ok(())
            })?,
            "providers" => self.for_each_entry(name, item, |provider, item| {
                let settings = self.read_provider(provider, item)?;
                models.providers.insert(provider.to_owned(), self.sourced(settings));
                Ok(())
            })?,
            "limits" => models.limits = self.sourced(self.read_limits(item, models)?),
            _ => self.for_each_entry(name, item, |model, item| {
                let settings = self.read_price(model, item)?;
                models.prices.insert(model.to_owned(), self.sourced(settings));
                Ok(())
            })?,
        }
        Ok(())
    }

    fn for_each_entry(
        &self,
        name: &str,
        item: &Item,
        mut take: impl FnMut(&str, &Item) -> Result<(), ConfigError>,
    ) -> Result<(), ConfigError> {
        self.require_table(name, item)?.iter().try_for_each(|(name, item)| take(name, item))
    }

    fn unknown_part(&self, name: &str, written: &str, item: &Item, known: &[&str]) -> ConfigError {
        ConfigError::Unknown {
            path: self.path.to_owned(),
            line: self.item_line(item),
            name: name.to_owned(),
            nearest: planwright_text::nearest_name(written, known.iter().copied())
                .map(str::to_owned),
        }
    }

    /// A role is the name of a model, or a table.
    fn read_role(&self, role: &str, item: &Item) -> Result<RoleSettings, ConfigError> {
        if let Some(model) = item.as_str() {
            return Ok(RoleSettings { model: Some(model.to_owned()), ..RoleSettings::default() });
        }
        let mut settings = RoleSettings::default();
        for (field, item) in self.require_table(role, item)?.iter() {
            match field {
                "provider" => settings.provider = Some(self.read_text(field, item)?.value),
                "model" => settings.model = Some(self.read_text(field, item)?.value),
                "temperature" => {
                    let number = self.read_dollars(field, item).map(|number| number.value);
                    settings.temperature =
                        Some(number.ok().filter(|number| *number <= 2.0).ok_or_else(|| {
                            self.wrong_value(field, item, "a number from 0 to 2")
                        })?);
                }
                "max_output_tokens" => {
                    settings.max_output_tokens = Some(self.read_count(field, item)?);
                }
                "profile" => settings.profile = Some(self.read_profile(field, item)?),
                "effort" => settings.effort = Some(self.read_effort(field, item)?),
                _ => {
                    return Err(self.unknown_part(
                        &format!("models.{role}.{field}"),
                        field,
                        item,
                        &ROLE_FIELDS,
                    ));
                }
            }
        }
        Ok(settings)
    }

    fn read_profile(&self, name: &str, item: &Item) -> Result<ProfileChoice, ConfigError> {
        let word = self.read_text(name, item)?.value;
        word.parse().map_err(|()| self.wrong_value(name, item, PROFILES))
    }

    fn read_effort(&self, name: &str, item: &Item) -> Result<ModelEffort, ConfigError> {
        let word = self.read_text(name, item)?.value;
        word.parse().map_err(|_| self.wrong_value(name, item, EFFORTS))
    }

    /// Reads the limit of a call under one of its old names: it is raised where that asks for more time.
    pub(super) fn read_old_call_limit(
        &self,
        name: &str,
        item: &Item,
        models: &mut ModelSettings,
    ) -> Result<(), ConfigError> {
        let old = self.read_positive(name, item)?;
        let limit = &mut models.model_call_limit_sec;
        // The old limit on a whole call is what the new one is; the others ended a call in the middle.
        let named = models.replaced.iter().any(|old| old.name == "total_sec");
        let written = |line: &str| line.trim_start().starts_with("model_call_limit_sec");
        let raises = !named && old.value > limit.value;
        if !self.text.lines().any(written) && (name == "total_sec" || raises) {
            *limit = old;
        }
        let (name, by) = (name.to_owned(), "model_call_limit_sec".to_owned());
        models.replaced.push(ReplacedSetting { name, by, line: self.item_line(item) });
        Ok(())
    }

    fn read_count(&self, name: &str, item: &Item) -> Result<u32, ConfigError> {
        let number = self.read_positive(name, item)?.value;
        u32::try_from(number).map_err(|_| self.wrong_value(name, item, "a smaller number"))
    }

    fn read_provider(&self, provider: &str, item: &Item) -> Result<ProviderSettings, ConfigError> {
        let mut settings = ProviderSettings::default();
        for (field, item) in self.require_table(provider, item)?.iter() {
            let text = || self.read_text(field, item).map(|text| Some(text.value));
            match field {
                "kind" => {
                    settings.kind = text()?;
                    if !settings.kind.as_deref().is_some_and(|kind| KINDS.contains(&kind)) {
                        let known = "openai, anthropic, gemini or ollama";
                        return Err(self.wrong_value(field, item, known));
                    }
                }
                "api" => {
                    settings.api = Some(match self.read_text(field, item)?.value.as_str() {
                        "chat" => ModelApi::Chat,
                        "responses" => ModelApi::Responses,
                        _ => return Err(self.wrong_value(field, item, "chat or responses")),
                    });
                }
                "base_url" => settings.base_url = text()?,
                "model" => settings.model = text()?,
                "api_key_env" => settings.api_key_env = text()?,
                "api_key_cmd" => settings.api_key_cmd = text()?,
                "headers" => self.for_each_entry(field, item, |name, item| {
                    settings.headers.insert(name.to_owned(), self.read_text(name, item)?.value);
                    Ok(())
                })?,
                "concurrency" => settings.concurrency = Some(self.read_count(field, item)?),
                "stream" => settings.stream = Some(self.read_flag(field, item)?.value),
                "context_window" => settings.context_window = Some(self.read_count(field, item)?),
                "consent" => settings.consent = Some(self.read_flag(field, item)?.value),
                "api_key" => {
                    return Err(self.wrong_value(
                        "api_key",
                        item,
                        "named by api_key_env or printed by api_key_cmd; keys do not belong into this file",
                    ));
                }
                _ => {
                    let name = format!("providers.{provider}.{field}");
                    return Err(self.unknown_part(&name, field, item, &PROVIDER_FIELDS));
                }
            }
        }
        Ok(settings)
    }

    fn read_limits(
        &self,
        item: &Item,
        models: &mut ModelSettings,
    ) -> Result<LimitSettings, ConfigError> {
        let mut limits = LimitSettings::default();
        for (field, item) in self.require_table("limits", item)?.iter() {
            if OLD_LIMIT_FIELDS.contains(&field) {
                self.read_old_call_limit(field, item, models)?;
                continue;
            }
            let slot = match field {
                "connect_sec" => &mut limits.connect_sec,
                "retries" => &mut limits.retries,
                "retry_after_max_sec" => &mut limits.retry_after_max_sec,
                "answer_mb" => &mut limits.answer_mb,
                _ => {
                    return Err(self.unknown_part(
                        &format!("limits.{field}"),
                        field,
                        item,
                        &LIMIT_FIELDS,
                    ));
                }
            };
            *slot = Some(self.read_positive(field, item)?.value);
        }
        Ok(limits)
    }

    fn read_price(&self, model: &str, item: &Item) -> Result<PriceSettings, ConfigError> {
        let mut price = PriceSettings::default();
        for (field, item) in self.require_table(model, item)?.iter() {
            let dollars = || self.read_dollars(field, item).map(|dollars| dollars.value);
            match field {
                "input" => price.input = dollars()?,
                "output" => price.output = dollars()?,
                "cached" => price.cached = Some(dollars()?),
                "cache_write" => price.cache_write = Some(dollars()?),
                _ => {
                    return Err(self.unknown_part(
                        &format!("prices.{model}.{field}"),
                        field,
                        item,
                        &PRICE_FIELDS,
                    ));
                }
            }
        }
        Ok(price)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Settings;
    use crate::config::file::apply_config;

    fn read(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        apply_config(text, Path::new("config.toml"), &mut settings)
            .map_err(|error| error.to_string())?;
        Ok(settings)
    }

    #[test]
    fn everything_about_models_can_be_set() {
        let text = r#"
            provider = "mine"
            model = "big"
            protocol = "json"
            profile = "large"
            effort = "max"
            model_call_limit_sec = 900
            outage_wait_min = 5
            daily_budget_usd = 1
            [models]
            planner = "bigger"
            executor = { model = "small", temperature = 0.1, max_output_tokens = 300, effort = "low" }
            [providers.mine]
            kind = "openai"
            base_url = "http://127.0.0.1:8080/v1"
            api_key_cmd = "pass show mine"
            headers = { "x-team" = "blue" }
            concurrency = 2
            consent = true
            [limits]
            connect_sec = 30
            retries = 0
            [prices."big"]
            input = 1.5
            output = 6
        "#;
        let models = read(text).unwrap().models;
        assert_eq!(models.provider.value, "mine");
        assert_eq!(models.profile.value, ProfileChoice::Large);
        assert_eq!(models.effort.value, Some(ModelEffort::Max));
        assert_eq!(models.roles["executor"].value.effort, Some(ModelEffort::Low));
        assert_eq!((models.model_call_limit_sec.value, models.outage_wait_min.value), (900, 5));
        assert_eq!(models.roles["planner"].value.model.as_deref(), Some("bigger"));
        assert_eq!(models.roles["executor"].value.max_output_tokens, Some(300));
        assert_eq!(models.providers["mine"].value.headers["x-team"], "blue");
        let shown = serde_json::to_string(&models.providers["mine"].value).unwrap();
        assert!(shown.contains("x-team") && !shown.contains("blue"), "{shown}");
        assert_eq!(
            (models.limits.value.connect_sec, models.limits.value.retries),
            (Some(30), Some(0))
        );
        assert!((models.prices["big"].value.output - 6.0).abs() < f64::EPSILON);
    }

    #[test]
    fn old_names_of_the_limit_of_a_call_are_read_and_told() {
        for (text, seconds, names) in [
            ("[limits]\ntotal_sec = 60\nidle_sec = 30", 60, vec!["total_sec", "idle_sec"]),
            ("[limits]\nidle_sec = 30\ntotal_sec = 60", 60, vec!["idle_sec", "total_sec"]),
            ("[limits]\nfirst_byte_sec = 900", 900, vec!["first_byte_sec"]),
            ("wall_time_sec = 45", 600, vec!["wall_time_sec"]),
            ("model_call_limit_sec = 100\nwall_time_sec = 1800", 100, vec!["wall_time_sec"]),
        ] {
            let models = read(text).unwrap().models;
            assert_eq!(models.model_call_limit_sec.value, seconds, "{text}");
            let told: Vec<&str> = models.replaced.iter().map(|old| old.name.as_str()).collect();
            assert_eq!(told, names, "{text}");
        }
        let note = read("wall_time_sec = 45").unwrap().models.replaced[0].describe();
        assert_eq!(note, "line 1: `wall_time_sec` is now `model_call_limit_sec`");
    }

    #[test]
    fn mistakes_name_the_line_and_the_remedy() {
        for (text, message) in [
            (
                "[models]\nplaner = \"x\"",
                "config.toml:2: unknown setting `models.planer`, did you mean `planner`?",
            ),
            ("profile = \"huge\"", "config.toml:1: `profile` must be auto, large or small"),
            ("protocol = \"xml\"", "config.toml:1: `protocol` must be auto, tools, json or text"),
            (
                "[providers.a]\nbase_ur = \"x\"",
                "config.toml:2: unknown setting `providers.a.base_ur`, did you mean `base_url`?",
            ),
            (
                "[limits]\nidle_sec = 0",
                "config.toml:2: `idle_sec` is 0, but must be a whole number from 1 to 86400",
            ),
            ("profile = \"huge\"", "config.toml:1: `profile` must be auto, large or small"),
            ("effort = \"huge\"", "config.toml:1: `effort` must be low, medium, high or max"),
            ("[providers.a]\napi = \"soap\"", "config.toml:2: `api` must be chat or responses"),
            (
                "[providers.a]\napi_key = \"sk\"",
                "config.toml:2: `api_key` must be named by api_key_env or printed by api_key_cmd; keys do not belong into this file",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), message);
        }
    }

    #[test]
    fn a_number_out_of_its_range_is_refused_with_its_name_value_and_range() {
        let huge = i64::MAX;
        for name in crate::config::file::known_names() {
            let range = crate::config::file::ranges::setting_range(name);
            assert!(*range.end() <= 1_000_000_000_000, "{name}");
        }
        for (table, name, high) in [
            ("", "model_call_limit_sec", 86_400),
            ("[limits]\n", "first_byte_sec", 86_400),
            ("[limits]\n", "retries", 10),
            ("[limits]\n", "answer_mb", 64),
            ("[tools]\n", "command_time_sec", 86_400),
            ("[mcp.a]\ncommand = [\"x\"]\n", "timeout_sec", 86_400),
            ("", "breaker_cooldown_sec", 86_400),
            ("", "run_wall_time_min", 525_600),
            ("", "turn_limit", 1_000_000),
            ("", "segment_max_sec", 604_800),
        ] {
            assert!(read(&format!("{table}{name} = {high}")).is_ok(), "{name}");
            for value in [huge, high + 1, -1] {
                let error = read(&format!("{table}{name} = {value}")).unwrap_err();
                let expected = format!("`{name}` is {value}, but must be a whole number from ");
                assert!(error.contains(&expected), "{error}");
                assert!(error.ends_with(&format!("to {high}")), "{error}");
            }
        }
    }
}
