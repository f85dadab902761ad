//! The person's rules in their config file: shown in words, added, taken back.

use crate::app::App;
use crate::cli::guard::require_person;
use crate::cli::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::config;

pub(super) fn list_rules(shared: &SharedArgs, app: &App) -> anyhow::Result<CliExit> {
    let mut out = StdoutWriter::new();
    let rules = config::tool_settings::permission_rules(&app.settings);
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
    let rules = config::tool_settings::permission_rules(&app.settings);
    let Some(rule) = number.checked_sub(1).and_then(|position| rules.get(position)) else {
        return Err(CliProblem::usage(format!("there is no rule {number}"))
            .with_remedy("planwright tools rules list shows them")
            .into());
    };
    if app.settings.permissions[number - 1].from_project {
        return Err(CliProblem::usage(format!("rule {number} is the project's, not yours"))
            .with_remedy(format!("it stands in {}", config::PROJECT_FILE))
            .into());
    }
    let words = rule.describe();
    config::remove_rule(&app.config_path, number - 1)?;
    StdoutWriter::new()
        .write_line(&format!("no longer: {}", planwright_text::clean_line(&words)))?;
    Ok(CliExit::Success)
}
