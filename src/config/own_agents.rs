//! What the config file says about the person's own agents: `[agents] default` and `[agents.NAME]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;
use toml_edit::{Item, Table, TableLike};

use super::edit::edit_config;
use super::file::{ConfigError, ConfigReader};
use super::{SettingRow, Settings};
use planwright_model::AgentProduct;
use planwright_tools::agent_process::AllowedHost;

/// `[agents]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OwnAgentsConfig {
    /// Does tasks that change code where the plan names nobody.
    pub default: Option<String>,
    pub agents: BTreeMap<String, OwnAgentConfig>,
}

/// `[agents.NAME]`. What is not set is as usual for its profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OwnAgentConfig {
    pub profile: Option<AgentProduct>,
    pub command: Vec<String>,
    pub mode: Option<String>,
    pub model: Option<String>,
    /// Names of variables that it may see.
    pub env: Vec<String>,
    /// Hosts that it may reach, in the place of the usual ones.
    pub hosts: Option<Vec<String>>,
    pub readable: Vec<PathBuf>,
    pub writable: Vec<PathBuf>,
}

impl OwnAgentConfig {
    /// Which agent it is: as it says, or by its name.
    pub fn product(&self, name: &str) -> AgentProduct {
        self.profile.or_else(|| name.parse().ok()).unwrap_or_default()
    }
}

pub(super) const AGENT: [&str; 8] =
    ["command", "mode", "model", "env", "profile", "hosts", "readable", "writable"];

impl ConfigReader<'_> {
    pub(super) fn read_own_agents(
        &self,
        item: &Item,
        settings: &mut Settings,
    ) -> Result<(), ConfigError> {
        let agents = &mut settings.own_agents;
        let mut named = None;
        for (name, item) in self.require_table("agents", item)?.iter() {
            if name == "default" {
                agents.default = Some(self.read_text(name, item)?.value);
                named = Some(item);
                continue;
            }
            let fits =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
            if name.is_empty() || name.len() > 32 || !name.chars().all(fits) {
                let wanted = "a name of small letters, digits, `_` and `-`";
                return Err(self.wrong_value(name, item, wanted));
            }
            let agent = self.read_own_agent(self.require_table(name, item)?)?;
            if agent.command.is_empty() && agent.product(name) == AgentProduct::Custom {
                let wanted = "a table with `command`, or with a known `profile`";
                return Err(self.wrong_value(name, item, wanted));
            }
            agents.agents.insert(name.to_owned(), agent);
        }
        if let (Some(default), Some(item)) = (&agents.default, named)
            && !agents.agents.contains_key(default)
        {
            return Err(self.wrong_value("default", item, "the name of an agent under [agents]"));
        }
        Ok(())
    }

    fn read_own_agent(&self, table: &dyn TableLike) -> Result<OwnAgentConfig, ConfigError> {
        let mut agent = OwnAgentConfig::default();
        for (name, item) in table.iter() {
            match name {
                "command" => agent.command = self.read_texts(name, item)?,
                "mode" => agent.mode = Some(self.read_text(name, item)?.value),
                "model" => agent.model = Some(self.read_text(name, item)?.value),
                "env" => agent.env = self.read_texts(name, item)?,
                "profile" => {
                    let profile = self.read_text(name, item)?.value.parse().map_err(|()| {
                        let wanted = "claude, codex, gemini, goose, opencode, qwen or custom";
                        self.wrong_value(name, item, wanted)
                    })?;
                    agent.profile = Some(profile);
                }
                "hosts" => agent.hosts = Some(self.read_hosts(name, item)?),
                "readable" => agent.readable = self.read_paths(name, item)?,
                "writable" => agent.writable = self.read_paths(name, item)?,
                _ => return Err(self.unknown_setting(name, item, &AGENT)),
            }
        }
        Ok(agent)
    }

    fn read_hosts(&self, name: &str, item: &Item) -> Result<Vec<String>, ConfigError> {
        let hosts = self.read_texts(name, item)?;
        if hosts.iter().any(|host| host.parse::<AllowedHost>().is_err()) {
            let wanted = "a list of hosts such as api.example.org or 127.0.0.1:11434";
            return Err(self.wrong_value(name, item, wanted));
        }
        Ok(hosts)
    }
}

/// Writes that an agent may be given tasks. What its table has already stays.
pub(crate) fn turn_agent_on(config: &Path, name: &str, default: bool) -> anyhow::Result<()> {
    edit_config(config, |document| {
        let agents = document.entry("agents").or_insert_with(implicit_table);
        let agents = agents.as_table_like_mut().context("`agents` is not a table")?;
        if agents.get(name).is_none() {
            agents.insert(name, Item::Table(Table::new()));
        }
        if default {
            agents.insert("default", Item::Value(name.into()));
        }
        Ok(())
    })
}

/// Takes an agent out of the config.
pub(crate) fn turn_agent_off(config: &Path, name: &str) -> anyhow::Result<()> {
    edit_config(config, |document| {
        let Some(agents) = document.get_mut("agents").and_then(Item::as_table_like_mut) else {
            return Ok(());
        };
        agents.remove(name);
        if agents.get("default").and_then(Item::as_str) == Some(name) {
            agents.remove("default");
        }
        Ok(())
    })
}

fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// Rows of `config show`, for what is set.
pub(super) fn own_agent_rows(settings: &Settings) -> Vec<SettingRow> {
    let row = |name: String, value: serde_json::Value| {
        let project = settings.from_project.contains(&name);
        let origin = if project { super::PROJECT_FILE } else { "config file" }.to_owned();
        SettingRow { name, value, origin }
    };
    let own = &settings.own_agents;
    let default = own.default.iter().map(|name| row("agents.default".into(), name.clone().into()));
    let agents = own.agents.iter().map(|(name, agent)| {
        let value = serde_json::to_value(agent).unwrap_or_default();
        row(format!("agents.{name}"), value)
    });
    default.chain(agents).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        super::super::file::apply_config(text, Path::new("config.toml"), &mut settings)
            .map_err(|error| error.to_string())?;
        Ok(settings)
    }

    #[test]
    fn agents_are_read_with_their_default() {
        let settings = read(
            "[agents]\ndefault = \"claude\"\n[agents.claude]\nmode = \"default\"\nenv = [\"ANTHROPIC_API_KEY\"]\n\
             [agents.mine]\nprofile = \"custom\"\ncommand = [\"my-agent\", \"--acp\"]\nhosts = [\"127.0.0.1:8080\"]\n",
        )
        .unwrap();
        let own = &settings.own_agents;
        assert_eq!(own.default.as_deref(), Some("claude"));
        assert_eq!(own.agents["claude"].product("claude"), AgentProduct::Claude);
        assert_eq!(own.agents["mine"].product("mine"), AgentProduct::Custom);
        let names: Vec<String> = settings.rows().into_iter().map(|row| row.name).collect();
        assert!(names.contains(&"agents.default".to_owned()), "{names:?}");
        assert!(names.contains(&"agents.mine".to_owned()), "{names:?}");
    }

    #[test]
    fn an_agent_is_turned_on_and_off_and_everything_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, "jobs = 2 # few\n").unwrap();
        turn_agent_on(&path, "claude", true).unwrap();
        turn_agent_on(&path, "codex", false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let settings = read(&text).unwrap();
        assert_eq!(settings.own_agents.default.as_deref(), Some("claude"), "{text}");
        assert_eq!(settings.own_agents.agents.len(), 2, "{text}");
        assert!(text.starts_with("jobs = 2 # few\n"), "{text}");
        turn_agent_off(&path, "claude").unwrap();
        let settings = read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(settings.own_agents.default, None);
        assert!(settings.own_agents.agents.contains_key("codex"));
    }

    #[test]
    fn mistakes_about_agents_name_their_remedy() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert!(wrong("[agents]\ndefault = \"claude\"").contains("the name of an agent"));
        assert!(wrong("[agents.mine]\nmode = \"x\"").contains("`command`"));
        assert!(wrong("[agents.claude]\nprofile = \"cloude\"").contains("claude, codex"));
        assert!(wrong("[agents.claude]\nhosts = [\"https://x\"]").contains("a list of hosts"));
        assert!(wrong("[agents.claude]\nmodle = \"x\"").contains("did you mean `mode"));
        assert!(wrong("[agents.\"My Agent\"]\ncommand = [\"x\"]").contains("small letters"));
    }
}
