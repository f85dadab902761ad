//! The person's rules in their config file: shown in words, added, taken back.

use std::path::Path;

use anyhow::Context;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::app::App;
use crate::cli::guard::require_person;
use crate::cli::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use planwright_files::{self as files, FileLimit};
use planwright_tools::PermissionRule;
use planwright_tools::permission::{RuleEffect, RuleMatcher};

pub(super) fn list_rules(shared: &SharedArgs, app: &App) -> anyhow::Result<CliExit> {
    let mut out = StdoutWriter::new();
    let rules = crate::config::tool_settings::permission_rules(&app.settings);
    let configured = rules.iter().zip(&app.settings.permissions);
    for (position, (rule, configured)) in configured.enumerate() {
        let mut words = planwright_text::clean_line(&rule.describe()).into_owned();
        if configured.from_project {
            words.push_str(", by the project");
        }
        if shared.json {
            out.write_line(
                &serde_json::json!({ "number": position + 1, "words": words, "rule": rule })
                    .to_string(),
            )?;
        } else {
            out.write_line(&format!("{:>3}  {words}", position + 1))?;
        }
    }
    if rules.is_empty() && !shared.json {
        out.write_line("there are no rules: every call is decided by the policy, or asks")?;
    }
    Ok(CliExit::Success)
}

pub(super) fn revoke_rule(app: &App, number: usize) -> anyhow::Result<CliExit> {
    require_person("change your rules")?;
    let rules = crate::config::tool_settings::permission_rules(&app.settings);
    let Some(rule) = number.checked_sub(1).and_then(|position| rules.get(position)) else {
        return Err(CliProblem::usage(format!("there is no rule {number}"))
            .with_remedy("planwright tools rules list shows them")
            .into());
    };
    if app.settings.permissions[number - 1].from_project {
        return Err(CliProblem::usage(format!("rule {number} is the project's, not yours"))
            .with_remedy(format!("it stands in {}", crate::config::PROJECT_FILE))
            .into());
    }
    let words = rule.describe();
    edit_config(&app.config_path, |document| {
        let mut left = number - 1;
        let Some(permissions) = document.get_mut("permissions").and_then(Item::as_table_like_mut)
        else {
            return;
        };
        for (_, item) in permissions.iter_mut() {
            let length = item
                .as_array_of_tables()
                .map(ArrayOfTables::len)
                .or(item.as_array().map(toml_edit::Array::len));
            let length = length.unwrap_or(0);
            if left >= length {
                left -= length;
                continue;
            }
            if let Some(tables) = item.as_array_of_tables_mut() {
                tables.remove(left);
            } else if let Some(list) = item.as_array_mut() {
                list.remove(left);
            }
            return;
        }
    })?;
    StdoutWriter::new()
        .write_line(&format!("no longer: {}", planwright_text::clean_line(&words)))?;
    Ok(CliExit::Success)
}

/// Adds a rule to the config file, keeping everything else in it as it is.
pub(crate) fn add_rule(config: &Path, rule: &PermissionRule) -> anyhow::Result<()> {
    edit_config(config, |document| {
        let permissions = document.entry("permissions").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let name = match rule.effect {
            RuleEffect::Allow => "allow",
            RuleEffect::Deny => "deny",
        };
        let mut table = Table::new();
        table["tool"] = value(rule.tool.as_str());
        match &rule.matching {
            RuleMatcher::Any => {}
            RuleMatcher::Command { command } => table["command"] = value(command.as_str()),
            RuleMatcher::CommandPrefix { prefix } => {
                table["command_prefix"] = value(prefix.as_str())
            }
            RuleMatcher::Path { glob } => table["path"] = value(glob.as_str()),
            RuleMatcher::Host { host } => table["host"] = value(host.as_str()),
        }
        if rule.network {
            table["network"] = value(true);
        }
        if let Some(directory) = &rule.directory {
            table["directory"] = value(directory.as_str());
        }
        let list = &mut permissions[name];
        if let Some(inline) = list.as_array_mut() {
            inline.push(table.into_inline_table());
            return;
        }
        if list.as_array_of_tables().is_none() {
            *list = Item::ArrayOfTables(ArrayOfTables::new());
        }
        if let Some(tables) = list.as_array_of_tables_mut() {
            tables.push(table);
        }
    })
}

/// Changes the config file in one step.
pub(crate) fn edit_config(
    config: &Path,
    change: impl FnOnce(&mut DocumentMut),
) -> anyhow::Result<()> {
    let text = match files::read_text(config, FileLimit::CONFIG) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("reading {}", config.display())),
    };
    let mut document: DocumentMut =
        text.parse().with_context(|| format!("reading {}", config.display()))?;
    change(&mut document);
    let directory = config.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)
        .with_context(|| format!("making {}", directory.display()))?;
    let temporary = config.with_extension("toml.new");
    std::fs::write(&temporary, document.to_string())
        .and_then(|()| std::fs::rename(&temporary, config))
        .with_context(|| format!("writing {}", config.display()))
}
