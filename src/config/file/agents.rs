//! The parts of the config file that are about agents and the gate.

use toml_edit::Item;

use super::{ConfigError, ConfigReader};
use crate::config::agents::{AgentSettings, GateOverrides};
use planwright_model::ReasoningMode;

pub(super) const NAMES: [&str; 9] = [
    "reasoning_mode",
    "loops",
    "lookups_per_step",
    "gate_policy_enabled",
    "gate_retrieval_overlap_threshold",
    "gate_nli_conflict_threshold",
    "gate_complexity_threshold",
    "gate_user_overrides",
    "core",
];

const SIGNALS: [&str; 3] = ["overlap", "conflict", "complexity"];

impl ConfigReader<'_> {
    /// Reads a setting of this part. The caller has made sure that the name is one of ours.
    pub(super) fn read_agent_setting(
        &self,
        name: &str,
        item: &Item,
        agents: &mut AgentSettings,
    ) -> Result<(), ConfigError> {
        let gate = &mut agents.gate;
        match name {
            "reasoning_mode" => {
                let said = self.read_text(name, item)?.value;
                let mode: ReasoningMode = said
                    .parse()
                    .map_err(|()| self.wrong_value(name, item, "auto, direct or dialectical"))?;
                agents.reasoning_mode = self.sourced(mode);
            }
            "loops" => agents.loops = self.read_positive(name, item)?,
            "lookups_per_step" => agents.lookups_per_step = self.read_positive(name, item)?,
            "gate_policy_enabled" => gate.policy_enabled = self.read_flag(name, item)?,
            "gate_retrieval_overlap_threshold" => {
                gate.retrieval_overlap_threshold = self.read_share(name, item)?;
            }
            "gate_nli_conflict_threshold" => {
                gate.nli_conflict_threshold = self.read_share(name, item)?;
            }
            "gate_complexity_threshold" => {
                gate.complexity_threshold = self.read_share(name, item)?;
            }
            "gate_user_overrides" => {
                gate.user_overrides = self.sourced(self.read_overrides(name, item)?);
            }
            // The same names with the prefix that other programs give them.
            _ => {
                let table = item
                    .as_table_like()
                    .ok_or_else(|| self.wrong_value(name, item, "a table of settings"))?;
                for (inner, item) in table.iter() {
                    if inner == "core" || !NAMES.contains(&inner) {
                        return Err(self.unknown_setting(&format!("core.{inner}"), item, &NAMES));
                    }
                    self.read_agent_setting(inner, item, agents)?;
                }
            }
        }
        Ok(())
    }

    fn read_overrides(&self, name: &str, item: &Item) -> Result<GateOverrides, ConfigError> {
        let expected = "a table with `decision` and `signals`";
        let table = item.as_table_like().ok_or_else(|| self.wrong_value(name, item, expected))?;
        let mut overrides = GateOverrides::default();
        for (field, item) in table.iter() {
            match field {
                "decision" => {
                    let decision = match self.read_text(field, item)?.value.as_str() {
                        "force_exit" => "force_exit",
                        "force_full" | "force_debate" => "force_full",
                        _ => return Err(self.wrong_value(field, item, "force_exit or force_full")),
                    };
                    overrides.decision = Some(decision.to_owned());
                }
                "signals" => {
                    let signals = item
                        .as_table_like()
                        .ok_or_else(|| self.wrong_value(field, item, "a table"))?;
                    for (signal, item) in signals.iter() {
                        if !SIGNALS.contains(&signal) {
                            return Err(self.unknown_setting(signal, item, &SIGNALS));
                        }
                        let value = self.read_share(signal, item)?.value;
                        overrides.signals.insert(signal.to_owned(), value);
                    }
                }
                _ => return Err(self.unknown_setting(field, item, &["decision", "signals"])),
            }
        }
        Ok(overrides)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use planwright_model::ReasoningMode;

    #[test]
    fn the_gate_and_the_way_of_thinking_are_set_by_name_with_or_without_prefix() {
        let agents = read(
            "reasoning_mode = \"dialectical\"\nloops = 2\ncore.gate_complexity_threshold = 0.7\n\
             [gate_user_overrides]\ndecision = \"force_debate\"\nsignals = { overlap = 0.2 }\n",
        )
        .unwrap()
        .agents;
        assert_eq!(agents.reasoning_mode.value, ReasoningMode::Dialectical);
        assert_eq!(agents.loops.value, 2);
        assert!((agents.gate.complexity_threshold.value - 0.7).abs() < 1e-9);
        let overrides = agents.gate.user_overrides.value;
        assert_eq!(overrides.decision.as_deref(), Some("force_full"));
        assert!((overrides.signals["overlap"] - 0.2).abs() < 1e-9);
    }

    #[test]
    fn mistakes_about_the_gate_name_their_remedy() {
        assert_eq!(
            read("reasoning_mode = \"deep\"").unwrap_err(),
            "config.toml:1: `reasoning_mode` must be auto, direct or dialectical"
        );
        assert!(
            read("core.gate_policy_enable = true").unwrap_err().contains("gate_policy_enabled")
        );
        assert!(
            read("gate_user_overrides = { signals = { overlaps = 1 } }")
                .unwrap_err()
                .contains("did you mean `overlap`?")
        );
    }
}
