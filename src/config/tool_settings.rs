//! From the configuration file to the settings that tools take.

use std::collections::BTreeMap;
use std::time::Duration;

use planwright_model::permission::{PermissionRule, RuleMatcher};
use planwright_tools::mcp::McpServers;
use planwright_tools::meta::ToolEffect;
use planwright_tools::settings::{McpServerSettings, McpTransport, ToolSettings, WebSettings};

use super::{McpConfig, PermissionConfig, Settings, ToolsConfig};

impl From<&ToolsConfig> for ToolSettings {
    fn from(config: &ToolsConfig) -> Self {
        let default = Self::default();
        let limit = config.result_char_limit.and_then(|limit| usize::try_from(limit).ok());
        Self {
            result_char_limit: limit.unwrap_or(default.result_char_limit),
            command_time: config.command_time_sec.map_or(default.command_time, Duration::from_secs),
            test_command: config.test_command.clone(),
            environment: config.environment.clone(),
            readable: config.readable.clone(),
            writable: config.writable.clone(),
            web: WebSettings {
                search_endpoint: config.search_endpoint.clone(),
                allow_private: config.allow_private.clone(),
                use_proxy: config.use_proxy,
                ..default.web
            },
            ..default
        }
    }
}

impl From<&PermissionConfig> for PermissionRule {
    fn from(config: &PermissionConfig) -> Self {
        let matching = match config {
            PermissionConfig { command: Some(command), .. } => {
                RuleMatcher::Command { command: command.clone() }
            }
            PermissionConfig { command_prefix: Some(prefix), .. } => {
                RuleMatcher::CommandPrefix { prefix: prefix.clone() }
            }
            PermissionConfig { path: Some(glob), .. } => RuleMatcher::Path { glob: glob.clone() },
            PermissionConfig { host: Some(host), .. } => {
                RuleMatcher::Host { host: host.to_lowercase() }
            }
            _ => RuleMatcher::Any,
        };
        let rule = if config.deny {
            PermissionRule::deny(&config.tool, matching)
        } else {
            PermissionRule::allow(&config.tool, matching)
        };
        Self {
            unsandboxed: config.unsandboxed,
            network: config.network,
            directory: config.directory.clone(),
            ..rule
        }
    }
}

impl From<&McpConfig> for McpServerSettings {
    fn from(config: &McpConfig) -> Self {
        let reach = match &config.url {
            Some(url) => McpTransport::Http {
                url: url.clone(),
                token_variable: config.token_variable.clone(),
            },
            None => McpTransport::Process {
                command: config.command.clone(),
                environment: config.environment.clone(),
                set: config.set.clone(),
            },
        };
        let effects =
            config.read_only.iter().map(|name| (name.clone(), ToolEffect::Look)).collect();
        let time_limit = Duration::from_secs(config.timeout_sec.unwrap_or(60));
        Self { transport: reach, effects, time_limit }
    }
}

/// The person's rules.
pub(crate) fn permission_rules(settings: &Settings) -> Vec<PermissionRule> {
    settings.permissions.iter().map(PermissionRule::from).collect()
}

/// The servers of the person's config.
pub(crate) fn mcp_servers(settings: &Settings) -> McpServers {
    let configs: BTreeMap<String, McpServerSettings> =
        settings.mcp.iter().map(|(name, config)| (name.clone(), config.into())).collect();
    McpServers::new(&configs)
}

pub(crate) fn tool_settings(settings: &Settings) -> ToolSettings {
    let mut tools = ToolSettings::from(&settings.tools);
    // What `[tools]` does not say of nested results is said for all results.
    if settings.tools.result_char_limit.is_none() {
        tools.result_char_limit = settings.limits().result_char_limit as usize;
    }
    tools
}
