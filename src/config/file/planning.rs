//! Settings about planning in the config file.

use toml_edit::Item;

use super::{ConfigError, ConfigReader};
use crate::config::planning::PlanningSettings;
use planwright_model::PolicyOverride;

/// The names at the top level of the file.
pub(super) const NAMES: [&str; 11] = [
    "turn_limit",
    "retry_limit_per_stage",
    "clarify_round_limit",
    "continue_limit",
    "unparsed_limit",
    "revision_limit",
    "escalation_round_limit",
    "segment_max_sec",
    "allow_new_subtype_proposals",
    "require_rfc_for_new_subtype",
    "policy",
];

/// The seven controls of the policy.
pub(super) const POLICY: [&str; 7] = [
    "conversation_style",
    "talkativeness",
    "autonomy",
    "brainstorming_preference",
    "approval_policy",
    "probing_depth",
    "tone",
];

impl ConfigReader<'_> {
    pub(super) fn read_planning_setting(
        &self,
        name: &str,
        item: &Item,
        settings: &mut PlanningSettings,
    ) -> Result<(), ConfigError> {
        match name {
            "turn_limit" => settings.turn_limit = self.read_positive(name, item)?,
            "retry_limit_per_stage" => {
                settings.retry_limit_per_stage = self.read_positive(name, item)?;
            }
            "clarify_round_limit" => {
                settings.clarify_round_limit = self.read_positive(name, item)?;
            }
            "continue_limit" => settings.continue_limit = self.read_positive(name, item)?,
            "unparsed_limit" => settings.unparsed_limit = self.read_positive(name, item)?,
            "revision_limit" => settings.revision_limit = self.read_positive(name, item)?,
            "escalation_round_limit" => {
                settings.escalation_round_limit = self.read_positive(name, item)?;
            }
            "segment_max_sec" => settings.segment_max_sec = self.read_positive(name, item)?,
            "allow_new_subtype_proposals" => {
                settings.allow_new_subtype_proposals = self.read_flag(name, item)?;
            }
            "require_rfc_for_new_subtype" => {
                settings.require_rfc_for_new_subtype = self.read_flag(name, item)?;
            }
            _ => {
                let policy = self.read_policy(name, item)?;
                settings.policy = self.sourced(policy);
            }
        }
        Ok(())
    }

    fn read_policy(&self, name: &str, item: &Item) -> Result<PolicyOverride, ConfigError> {
        let table = item
            .as_table_like()
            .ok_or_else(|| self.wrong_value(name, item, "a table of the policy's controls"))?;
        let mut values = serde_json::Map::new();
        for (control, item) in table.iter() {
            if !POLICY.contains(&control) {
                return Err(self.unknown_setting(control, item, &POLICY));
            }
            let value = item
                .as_str()
                .map(serde_json::Value::from)
                .or_else(|| item.as_integer().map(serde_json::Value::from))
                .or_else(|| item.as_float().map(serde_json::Value::from));
            let value = value
                .ok_or_else(|| self.wrong_value(control, item, "a word in quotes or a number"))?;
            values.insert(control.to_owned(), value);
            // One at a time, so that a mistake names its line.
            let so_far = serde_json::Value::Object(values.clone());
            if serde_json::from_value::<PolicyOverride>(so_far).is_err() {
                return Err(self.wrong_value(control, item, "one of the control's values"));
            }
        }
        let set = serde_json::from_value(serde_json::Value::Object(values));
        set.map_err(|_| self.wrong_value(name, item, "a table of the policy's controls"))
    }
}
