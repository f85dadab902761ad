//! `planwright tools trust`: shows what a server says its tools are, and approves exactly that.

use std::io::{BufRead, Write};

use super::{ask, load_registry, report_server_failures, servers_for, unknown_tool_error};
use crate::app::App;
use crate::cli::guard::require_person;
use crate::cli::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use planwright_engine::tool_services::StoreServices;
use planwright_model::Digest;
use planwright_store::SideWrite;
use planwright_text::reveal_hidden;
use planwright_tools::ToolRegistry;
use planwright_tools::context::PinStore;
use planwright_tools::mcp::{EarlierApproval, ToolDefinition};

/// A tool as it is offered now, and what was approved of it before.
struct OfferedTool<'a> {
    name: &'a str,
    definition: &'a ToolDefinition,
    hash: &'a Digest,
    approved: Option<Digest>,
    earlier: EarlierApproval,
}

impl<'a> OfferedTool<'a> {
    fn find(registry: &'a ToolRegistry, name: &'a str, pins: &dyn PinStore) -> Option<Self> {
        let tool = registry.get(name)?;
        let approved = pins.approved_hash(name);
        let stored = pins.approved_definition(name);
        let earlier = EarlierApproval::from_stored(approved.as_ref(), stored.as_deref());
        let (definition, hash) = (tool.definition()?, tool.pin_hash()?);
        Some(Self { name, definition, hash, approved, earlier })
    }

    fn is_approved(&self) -> bool {
        self.approved.as_ref() == Some(self.hash)
    }

    /// The whole text, with everything that could deceive a reader made visible.
    fn show(&self, shared: &SharedArgs, out: &mut StdoutWriter) -> anyhow::Result<()> {
        if shared.json {
            let difference = match &self.earlier {
                EarlierApproval::Approved(earlier) if !self.is_approved() => {
                    Some(self.definition.difference_from(earlier))
                }
                _ => None,
            };
            let row = serde_json::json!({
                "tool": self.name,
                "hash": self.hash,
                "approved_before": self.approved.is_some(),
                "changed": self.approved.is_some() && !self.is_approved(),
                "definition": self.definition.to_text(),
                "difference": difference,
            });
            out.write_line(&planwright_text::clean_line(&row.to_string()))?;
            return Ok(());
        }
        if self.is_approved() {
            out.write_line(&format!("{}  already approved, unchanged", reveal_hidden(self.name)))?;
            return Ok(());
        }
        out.write_line(&reveal_hidden(self.name))?;
        for line in self.definition.to_consent_text(&self.earlier).lines() {
            out.write_line(&format!("  {}", reveal_hidden(line)))?;
        }
        Ok(())
    }

    fn to_pin_write(&self, redactor: &planwright_text::Redactor) -> SideWrite {
        // A text with a secret in it is not stored; then a change cannot show the difference.
        let text = self.definition.to_stored();
        let definition = (redactor.redact(&text) == text).then_some(text);
        SideWrite::Pin {
            tool: self.name.to_owned(),
            hash: self.hash.as_str().to_owned(),
            definition,
        }
    }
}

/// Approves tools of a server as they are now. Only a person may: a command that a tool started is refused.
pub(super) async fn trust_tools(
    shared: &SharedArgs,
    app: &App,
    name: &str,
) -> anyhow::Result<CliExit> {
    require_person("approve tools")?;
    let servers = servers_for(app, &format!("{name}."));
    if servers.is_empty() {
        return Err(CliProblem::usage(format!(
            "there is no server or tool of a server named `{name}`"
        ))
        .with_remedy("planwright tools list shows them as mcp.SERVER.TOOL")
        .into());
    }
    let (registry, reports) = load_registry(&servers).await;
    // What it offers is known; it is not needed while the person reads.
    servers.stop_all().await;
    report_server_failures(&reports);
    let of_name = |tool: &&str| *tool == name || tool.starts_with(&format!("{name}."));
    let store = app.open_store()?;
    let pins = StoreServices::new(&store);
    let offered: Vec<OfferedTool<'_>> = registry
        .names()
        .filter(of_name)
        .filter_map(|tool| OfferedTool::find(&registry, tool, pins.as_ref()))
        .collect();
    if offered.is_empty() {
        return Err(unknown_tool_error(&registry, name));
    }
    let mut out = StdoutWriter::new();
    for tool in &offered {
        tool.show(shared, &mut out)?;
    }
    let open = offered.iter().filter(|tool| !tool.is_approved()).count();
    if open > 0 && !confirm_trust(shared, open)? {
        out.write_line("nothing was approved")?;
        return Ok(CliExit::NeedsPerson);
    }
    let redactor = app.redactor();
    store.write_side_data(offered.iter().map(|tool| tool.to_pin_write(&redactor)).collect())?;
    if !shared.json {
        out.write_line(&format!(
            "approved as they are now: {}; a change asks again",
            offered.len()
        ))?;
    }
    Ok(CliExit::Success)
}

/// On a terminal the person says yes after they have read it; without one the command itself is their word.
fn confirm_trust(shared: &SharedArgs, count: usize) -> anyhow::Result<bool> {
    if shared.json || shared.headless || !ask::is_interactive() {
        return Ok(true);
    }
    // Standard input may be no terminal, which keeps nothing typed ahead.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    let tools = planwright_text::units::format_counted(count, "tool");
    write!(std::io::stderr().lock(), "approve {tools} as shown above? [y/N] ")?;
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
