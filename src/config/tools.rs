//! What the config file says about tools: `[tools]`, `[permissions]` and `[mcp.NAME]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use toml_edit::{Item, TableLike};

use super::file::{ConfigError, ConfigReader};
use super::{SettingRow, Settings};

/// `[tools]`. What is not set has the tool's own default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolsConfig {
    pub result_char_limit: Option<u64>,
    pub command_time_sec: Option<u64>,
    pub test_command: Option<String>,
    /// Names of variables that commands may see.
    pub environment: Vec<String>,
    /// Directories that commands may read besides the workspace.
    pub readable: Vec<PathBuf>,
    /// Directories that commands may write besides the workspace.
    pub writable: Vec<PathBuf>,
    /// Further directories that file tools may work in.
    pub roots: Vec<PathBuf>,
    pub search_endpoint: Option<String>,
    pub allow_private: Vec<String>,
    pub use_proxy: bool,
}

/// An entry of `[[permissions.allow]]` or `[[permissions.deny]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PermissionConfig {
    pub deny: bool,
    pub tool: String,
    pub command: Option<String>,
    pub command_prefix: Option<String>,
    pub path: Option<String>,
    pub host: Option<String>,
    pub unsandboxed: bool,
    /// The command may use the network.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// The directory of the workspace that the command runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// It stands in the settings of the project, not in the person's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_project: bool,
}

/// `[mcp.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct McpConfig {
    pub command: Vec<String>,
    pub url: Option<String>,
    pub environment: Vec<String>,
    pub set: BTreeMap<String, String>,
    pub token_variable: Option<String>,
    /// Names of tools that only read; `*` stands for all.
    pub read_only: Vec<String>,
    pub timeout_sec: Option<u64>,
    /// It stands in the settings of the project, not in the person's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_project: bool,
}

const TOOLS: [&str; 10] = [
    "result_char_limit",
    "command_time_sec",
    "test_command",
    "environment",
    "readable",
    "writable",
    "roots",
    "search_endpoint",
    "allow_private",
    "use_proxy",
];
const PERMISSIONS: [&str; 2] = ["allow", "deny"];
const RULE: [&str; 8] =
    ["tool", "command", "command_prefix", "path", "host", "unsandboxed", "network", "directory"];
const MCP: [&str; 7] =
    ["command", "url", "environment", "set", "token_variable", "read_only", "timeout_sec"];

/// The names of settings inside tables of this part.
#[cfg(test)]
pub(super) fn tool_setting_names() -> impl Iterator<Item = &'static str> {
    let all: [&'static [&'static str]; 4] = [&TOOLS, &PERMISSIONS, &RULE, &MCP];
    all.into_iter().flatten().copied()
}

impl ConfigReader<'_> {
    pub(super) fn read_tools(
        &self,
        item: &Item,
        settings: &mut Settings,
    ) -> Result<(), ConfigError> {
        let tools = &mut settings.tools;
        for (name, item) in self.require_table("tools", item)?.iter() {
            match name {
                "result_char_limit" => {
                    tools.result_char_limit = Some(self.read_positive(name, item)?.value);
                }
                "command_time_sec" => {
                    tools.command_time_sec = Some(self.read_positive(name, item)?.value);
                }
                "test_command" => tools.test_command = Some(self.read_text(name, item)?.value),
                "environment" => tools.environment = self.read_texts(name, item)?,
                "readable" => tools.readable = self.read_paths(name, item)?,
                "writable" => tools.writable = self.read_paths(name, item)?,
                "roots" => tools.roots = self.read_paths(name, item)?,
                "search_endpoint" => {
                    tools.search_endpoint = Some(self.read_text(name, item)?.value);
                }
                "allow_private" => tools.allow_private = self.read_texts(name, item)?,
                "use_proxy" => tools.use_proxy = self.read_flag(name, item)?.value,
                _ => return Err(self.unknown_setting(name, item, &TOOLS)),
            }
        }
        Ok(())
    }

    pub(super) fn read_permissions(
        &self,
        item: &Item,
        settings: &mut Settings,
    ) -> Result<(), ConfigError> {
        for (name, item) in self.require_table("permissions", item)?.iter() {
            if !PERMISSIONS.contains(&name) {
                return Err(self.unknown_setting(name, item, &PERMISSIONS));
            }
            for table in self.require_tables(name, item)? {
                let mut rule = self.read_rule(table)?;
                rule.deny = name == "deny";
                if let Some(wanted) = rule_mistake(&rule) {
                    return Err(self.wrong_value(name, item, wanted));
                }
                settings.permissions.push(rule);
            }
        }
        Ok(())
    }

    fn read_rule(&self, table: &dyn TableLike) -> Result<PermissionConfig, ConfigError> {
        let mut rule = PermissionConfig::default();
        for (name, item) in table.iter() {
            match name {
                "tool" => rule.tool = self.read_text(name, item)?.value,
                "command" => rule.command = Some(self.read_text(name, item)?.value),
                "command_prefix" => rule.command_prefix = Some(self.read_text(name, item)?.value),
                "path" => rule.path = Some(self.read_text(name, item)?.value),
                "host" => rule.host = Some(self.read_text(name, item)?.value),
                "unsandboxed" => rule.unsandboxed = self.read_flag(name, item)?.value,
                "network" => rule.network = self.read_flag(name, item)?.value,
                "directory" => rule.directory = Some(self.read_text(name, item)?.value),
                _ => return Err(self.unknown_setting(name, item, &RULE)),
            }
        }
        Ok(rule)
    }

    pub(super) fn read_mcp(&self, item: &Item, settings: &mut Settings) -> Result<(), ConfigError> {
        for (name, item) in self.require_table("mcp", item)?.iter() {
            let fits =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
            if name.is_empty() || name.len() > 32 || !name.chars().all(fits) {
                return Err(self.wrong_value(
                    name,
                    item,
                    "a name of small letters, digits, `_` and `-`",
                ));
            }
            let server = self.read_server(self.require_table(name, item)?)?;
            if server.command.is_empty() == server.url.is_none() {
                return Err(self.wrong_value(name, item, "a table with either `command` or `url`"));
            }
            settings.mcp.insert(name.to_owned(), server);
        }
        Ok(())
    }

    fn read_server(&self, table: &dyn TableLike) -> Result<McpConfig, ConfigError> {
        let mut server = McpConfig::default();
        for (name, item) in table.iter() {
            match name {
                "command" => server.command = self.read_texts(name, item)?,
                "url" => server.url = Some(self.read_text(name, item)?.value),
                "environment" => server.environment = self.read_texts(name, item)?,
                "set" => {
                    for (name, item) in self.require_table(name, item)?.iter() {
                        server.set.insert(name.to_owned(), self.read_text(name, item)?.value);
                    }
                }
                "token_variable" => {
                    server.token_variable = Some(self.read_text(name, item)?.value);
                }
                "read_only" => server.read_only = self.read_texts(name, item)?,
                "timeout_sec" => server.timeout_sec = Some(self.read_positive(name, item)?.value),
                _ => return Err(self.unknown_setting(name, item, &MCP)),
            }
        }
        Ok(server)
    }

    fn require_tables<'i>(
        &self,
        name: &str,
        item: &'i Item,
    ) -> Result<Vec<&'i dyn TableLike>, ConfigError> {
        let wrong = || self.wrong_value(name, item, "a list of tables");
        if let Some(tables) = item.as_array_of_tables() {
            return Ok(tables.iter().map(|table| table as &dyn TableLike).collect());
        }
        let list = item.as_array().ok_or_else(wrong)?;
        list.iter()
            .map(|value| {
                value.as_inline_table().map(|table| table as &dyn TableLike).ok_or_else(wrong)
            })
            .collect()
    }

    pub(super) fn read_texts(&self, name: &str, item: &Item) -> Result<Vec<String>, ConfigError> {
        let wrong = || self.wrong_value(name, item, "a list of texts");
        let list = item.as_array().ok_or_else(wrong)?;
        list.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    }

    pub(super) fn read_paths(&self, name: &str, item: &Item) -> Result<Vec<PathBuf>, ConfigError> {
        let paths: Vec<PathBuf> =
            self.read_texts(name, item)?.into_iter().map(|path| expand_home(&path)).collect();
        if paths.iter().any(|path| !path.is_absolute()) {
            return Err(self.wrong_value(
                name,
                item,
                "a list of whole paths, or paths that begin with ~/",
            ));
        }
        Ok(paths)
    }
}

/// What a rule should have been, if it cannot be used as it is written.
fn rule_mistake(rule: &PermissionConfig) -> Option<&'static str> {
    let matches = [&rule.command, &rule.command_prefix, &rule.path, &rule.host];
    let directory = rule.directory.as_deref().unwrap_or_default();
    let circumstances = rule.network || rule.directory.is_some();
    if rule.tool.is_empty() {
        Some("rules that each name a `tool`")
    } else if matches.iter().filter(|set| set.is_some()).count() > 1 {
        Some("rules with one of command, command_prefix, path and host")
    } else if directory.starts_with(['/', '~']) || directory.split('/').any(|name| name == "..") {
        Some("rules whose `directory` is inside the workspace: relative to it, without `..`")
    } else if circumstances && (rule.path.is_some() || rule.host.is_some()) {
        Some("network and directory only in rules for commands")
    } else if rule.unsandboxed && (rule.deny || rule.command.is_none()) {
        Some("unsandboxed only for an exact `command` that is allowed")
    } else {
        None
    }
}

fn expand_home(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => directories::BaseDirs::new()
            .map_or_else(|| PathBuf::from(path), |dirs| dirs.home_dir().join(rest)),
        None => PathBuf::from(path),
    }
}

/// Rows of `config show`, for what is set.
pub(super) fn tool_rows(settings: &Settings) -> Vec<SettingRow> {
    let row = |name: String, value: serde_json::Value| {
        let project = settings.from_project.contains(&name);
        let origin = if project { super::PROJECT_FILE } else { "config file" }.to_owned();
        SettingRow { name, value, origin }
    };
    let mut rows = Vec::new();
    if settings.tools != ToolsConfig::default()
        && let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(&settings.tools)
    {
        let set = |value: &serde_json::Value| {
            !value.is_null() && value != &serde_json::json!([]) && value != false
        };
        rows.extend(
            fields
                .into_iter()
                .filter(|(_, value)| set(value))
                .map(|(name, value)| row(format!("tools.{name}"), value)),
        );
    }
    if !settings.permissions.is_empty() {
        let (projects, own): (Vec<_>, Vec<_>) =
            settings.permissions.iter().partition(|rule| rule.from_project);
        let mut rules = row("permissions".to_owned(), settings.permissions.len().into());
        rules.origin = match (own.len(), projects.len()) {
            (_, 0) => "config file".to_owned(),
            (0, _) => super::PROJECT_FILE.to_owned(),
            (_, count) => format!("config file, {count} of them {}", super::PROJECT_FILE),
        };
        rows.push(rules);
    }
    for (name, server) in &settings.mcp {
        let value = server.url.clone().unwrap_or_else(|| server.command.join(" "));
        rows.push(row(format!("mcp.{name}"), value.into()));
    }
    rows
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
    fn tools_permissions_and_servers_are_read() {
        let settings = read(
            "[tools]\nsearch_endpoint = \"http://localhost:8888\"\nenvironment = [\"EDITOR\"]\n\
             [[permissions.allow]]\ntool = \"shell.run\"\ncommand = \"cargo test\"\nunsandboxed = true\n\
             [[permissions.deny]]\ntool = \"web.fetch\"\nhost = \"example.org\"\n\
             [mcp.shop]\ncommand = [\"shop\", \"--stdio\"]\nread_only = [\"*\"]\n",
        )
        .unwrap();
        assert_eq!(settings.tools.environment, ["EDITOR"]);
        assert_eq!(settings.permissions.len(), 2);
        assert!(settings.permissions[1].deny && settings.permissions[0].unsandboxed);
        assert_eq!(settings.mcp["shop"].command, ["shop", "--stdio"]);
        let names: Vec<String> = settings.rows().into_iter().map(|row| row.name).collect();
        assert!(
            names.contains(&"tools.search_endpoint".to_owned())
                && names.contains(&"mcp.shop".to_owned())
        );
    }

    #[test]
    fn mistakes_name_their_line_and_the_remedy() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert!(
            wrong("[tools]\nenvironmnt = []").contains(
                "config.toml:2: unknown setting `environmnt`, did you mean `environment`?"
            )
        );
        assert!(wrong("[[permissions.allow]]\ncommand = \"x\"").contains("name a `tool`"));
        assert!(
            wrong("[[permissions.allow]]\ntool = \"a\"\ncommand = \"x\"\nhost = \"y\"")
                .contains("one of")
        );
        assert!(
            wrong("[[permissions.allow]]\ntool = \"a\"\nunsandboxed = true")
                .contains("exact `command`")
        );
        let rule = "[[permissions.allow]]\ntool = \"shell.run\"\n";
        for outside in ["../x", "a/../..", "/srv/x", "~/x"] {
            let message = wrong(&format!("{rule}directory = \"{outside}\""));
            assert!(message.contains("inside the workspace: relative"), "{outside}: {message}");
        }
        assert!(
            wrong(&format!("{rule}path = \"a\"\nnetwork = true")).contains("rules for commands")
        );
        assert!(wrong("[mcp.a]\n").contains("either `command` or `url`"));
        assert!(wrong("[tools]\nroots = [\"here\"]").contains("whole paths"));
    }
}
