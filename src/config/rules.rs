//! The person's permission rules in their config file: added and removed, with everything else in it kept as it is.

use std::path::Path;

use anyhow::Context;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use super::edit::edit_config;
use planwright_model::permission::{PermissionRule, RuleEffect, RuleMatcher};

/// Adds a rule to the config file.
pub(crate) fn add_rule(config: &Path, rule: &PermissionRule) -> anyhow::Result<()> {
    edit_config(config, |document| insert_rule(document, rule))
}

/// Removes the rule at a position, counted over both lists in the order of the file.
pub(crate) fn remove_rule(config: &Path, position: usize) -> anyhow::Result<()> {
    edit_config(config, |document| {
        delete_rule(document, position);
        Ok(())
    })
}

fn insert_rule(document: &mut DocumentMut, rule: &PermissionRule) -> anyhow::Result<()> {
    let permissions = document.entry("permissions").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let name = match rule.effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Deny => "deny",
    };
    let table = rule_table(rule);
    let permissions = permissions.as_table_like_mut().context("`permissions` is not a table")?;
    let list = permissions.entry(name).or_insert(Item::None);
    if let Some(inline) = list.as_array_mut() {
        inline.push(table.into_inline_table());
        return Ok(());
    }
    if list.as_array_of_tables().is_none() {
        *list = Item::ArrayOfTables(ArrayOfTables::new());
    }
    if let Some(tables) = list.as_array_of_tables_mut() {
        tables.push(table);
    }
    Ok(())
}

fn rule_table(rule: &PermissionRule) -> Table {
    let mut table = Table::new();
    table["tool"] = value(rule.tool.as_str());
    match &rule.matching {
        RuleMatcher::Any => {}
        RuleMatcher::Command { command } => table["command"] = value(command.as_str()),
        RuleMatcher::CommandPrefix { prefix } => table["command_prefix"] = value(prefix.as_str()),
        RuleMatcher::Path { glob } => table["path"] = value(glob.as_str()),
        RuleMatcher::Host { host } => table["host"] = value(host.as_str()),
    }
    if rule.network {
        table["network"] = value(true);
    }
    if let Some(directory) = &rule.directory {
        table["directory"] = value(directory.as_str());
    }
    table
}

fn delete_rule(document: &mut DocumentMut, position: usize) {
    let mut left = position;
    let permissions = document.get_mut("permissions").and_then(Item::as_table_like_mut);
    let Some(permissions) = permissions else { return };
    for (_, item) in permissions.iter_mut() {
        let length =
            item.as_array_of_tables().map(ArrayOfTables::len).or(item.as_array().map(Array::len));
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, change: impl FnOnce(&Path)) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        change(&path);
        std::fs::read_to_string(&path).unwrap()
    }

    fn allow_git() -> PermissionRule {
        let prefix = "git".to_owned();
        PermissionRule::allow("run_command", RuleMatcher::CommandPrefix { prefix })
    }

    #[test]
    fn a_rule_joins_the_list_that_is_there_and_the_rest_stays() {
        let added = |text| edited(text, |path| add_rule(path, &allow_git()).unwrap());
        let rule = "tool = \"run_command\"\ncommand_prefix = \"git\"\n";
        assert_eq!(added(""), format!("[[permissions.allow]]\n{rule}"));
        assert_eq!(
            added("jobs = 7 # many\n\n[[permissions.allow]]\ntool = \"a\"\n"),
            format!(
                "jobs = 7 # many\n\n[[permissions.allow]]\ntool = \"a\"\n\n[[permissions.allow]]\n{rule}"
            )
        );
        assert_eq!(
            added("permissions.allow = [{ tool = \"a\" }]\n"),
            "permissions.allow = [{ tool = \"a\" }, { tool = \"run_command\", command_prefix = \"git\" }]\n"
        );
    }

    #[test]
    fn a_file_whose_permissions_are_no_table_is_refused_and_left_alone() {
        let text = "permissions = 3\n";
        let after = edited(text, |path| assert!(add_rule(path, &allow_git()).is_err()));
        assert_eq!(after, text);
    }

    #[test]
    fn a_position_counts_over_both_lists_in_the_order_of_the_file() {
        let text = "[permissions]\nallow = [{ tool = \"a\" }, { tool = \"b\" }]\ndeny = [{ tool = \"c\" }]\n";
        let without = |position| edited(text, |path| remove_rule(path, position).unwrap());
        assert_eq!(without(1), text.replace(", { tool = \"b\" }", ""));
        assert_eq!(without(2), text.replace("{ tool = \"c\" }", ""));
        assert_eq!(without(3), text);
    }
}
