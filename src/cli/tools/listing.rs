//! `planwright tools list`, `show` and `stats`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{load_registry, report_server_failures, servers_for, unknown_tool_error};
use crate::app::App;
use crate::cli::{CliExit, SharedArgs, StdoutWriter};
use planwright_engine::tool_services::KnownTools;
use planwright_model::permission::PermissionRule;
use planwright_model::tool_choice::ToolAffinity;
use planwright_store::ToolCallRow;
use planwright_text::{clean_line, pad_right, truncate_end};
use planwright_tools::affinity::{
    RankedTool, ToolProfile, extract_features, rank_correlation, rank_tools,
};
use planwright_tools::{ToolEffect, ToolMeta, ToolRegistry, builtin};

/// What a class is called in lists.
fn class_name(effect: ToolEffect) -> &'static str {
    match effect {
        ToolEffect::Look => "read",
        ToolEffect::Orchestrate => "starts others",
        ToolEffect::SessionState => "session",
        ToolEffect::Write => "write",
        ToolEffect::Execute | ToolEffect::ExecuteNetwork => "execute",
        ToolEffect::Network => "network",
        ToolEffect::Foreign => "ask",
    }
}

fn load_known_tools(app: &App, registry: &ToolRegistry) -> anyhow::Result<KnownTools> {
    let store = app.read_store()?;
    let reader = store.as_ref().map(planwright_store::Store::reader).transpose()?;
    KnownTools::load(registry, app.config_dir(), reader.as_ref())
}

/// Scores of the tools of a registry for a task, by name.
fn score_tools(
    known: &KnownTools,
    registry: &ToolRegistry,
    task: Option<&str>,
) -> BTreeMap<String, RankedTool> {
    let Some(task) = task else { return BTreeMap::new() };
    let year = jiff::Zoned::now().year();
    let profiles: Vec<&ToolProfile> =
        registry.names().filter_map(|name| known.profiles.get(name)).collect();
    rank_tools(&extract_features(task, year), &profiles, &BTreeMap::new(), &[])
        .into_iter()
        .map(|ranked| (ranked.tool.clone(), ranked))
        .collect()
}

pub(super) async fn list_tools(
    shared: &SharedArgs,
    app: &App,
    task: Option<&str>,
) -> anyhow::Result<CliExit> {
    let servers = crate::config::tool_settings::mcp_servers(&app.settings);
    let (registry, reports) = load_registry(&servers).await;
    servers.stop_all().await;
    report_server_failures(&reports);
    let known = load_known_tools(app, &registry)?;
    let scores = score_tools(&known, &registry, task);
    let mut metas: Vec<&ToolMeta> = registry.all_tools().collect();
    let score =
        |meta: &ToolMeta| scores.get(&meta.name).map_or(0.0, |ranked| ranked.affinity.score);
    metas.sort_by(|one, other| {
        score(other).total_cmp(&score(one)).then_with(|| one.name.cmp(&other.name))
    });
    let wide = metas.iter().map(|meta| meta.name.len()).max().unwrap_or(0);
    let mut out = StdoutWriter::new();
    for meta in metas {
        if shared.json {
            let row = json!({
                "name": meta.name, "class": class_name(meta.effect), "version": meta.version,
                "source": meta.source, "description": meta.description,
                "affinity": scores.get(&meta.name).map(|ranked| ranked.affinity),
            });
            out.write_line(&row.to_string())?;
            continue;
        }
        let scored = scores
            .get(&meta.name)
            .map_or_else(String::new, |ranked| format!("{:.3}  ", ranked.affinity.score));
        let room = out.columns().saturating_sub(wide + 17 + scored.len()).clamp(24, 90);
        let about = truncate_end(&clean_line(&meta.description), room).into_owned();
        out.write_line(&format!(
            "{}  {}  {scored}{about}",
            pad_right(&meta.name, wide),
            pad_right(class_name(meta.effect), 13)
        ))?;
    }
    Ok(CliExit::Success)
}

pub(super) async fn show_tool(
    shared: &SharedArgs,
    app: &App,
    name: &str,
    task: Option<&str>,
) -> anyhow::Result<CliExit> {
    let servers = servers_for(app, name);
    let (registry, reports) = load_registry(&servers).await;
    servers.stop_all().await;
    report_server_failures(&reports);
    let Some(tool) = registry.get(name) else { return Err(unknown_tool_error(&registry, name)) };
    let meta = tool.meta();
    let known = load_known_tools(app, &registry)?;
    let ranked = score_tools(&known, &registry, task).remove(&meta.name);
    let rules: Vec<String> = crate::config::tool_settings::permission_rules(&app.settings)
        .iter()
        .filter(|rule| rule.tool == meta.name)
        .map(PermissionRule::describe)
        .collect();
    let profile = known.profiles.get(&meta.name);
    let derived = known.derived.contains(&meta.name);
    let mut out = StdoutWriter::new();
    if shared.json {
        let row = json!({
            "tool": meta, "class": class_name(meta.effect), "profile": profile, "derived": derived,
            "affinity": ranked.map(|ranked| ranked.affinity), "rules": rules,
        });
        out.write_line(&row.to_string())?;
        return Ok(CliExit::Success);
    }
    out.write_line(&format!(
        "{}  version {}  {}",
        meta.name,
        meta.version,
        class_name(meta.effect)
    ))?;
    out.write_line(&planwright_text::clean_text(&meta.description))?;
    for (title, names) in [
        ("needs", &meta.prerequisites),
        ("produces", &meta.produces),
        ("also called", &meta.aliases),
    ] {
        if !names.is_empty() {
            out.write_line(&format!("{title}: {}", names.join(", ")))?;
        }
    }
    out.write_line("\narguments")?;
    for line in argument_lines(&meta.schema) {
        out.write_line(&format!("  {line}"))?;
    }
    if let Some(profile) = profile {
        let mark = if derived { " (derived)" } else { "" };
        out.write_line(&format!("\nprofile{mark}"))?;
        print_profile(profile, &mut out)?;
    }
    if let (Some(ranked), Some(task)) = (ranked, task) {
        out.write_line(&format!("\nscore for \"{}\"", clean_line(task)))?;
        print_score(&ranked.affinity, &mut out)?;
    }
    for words in rules {
        out.write_line(&format!("rule: {}", clean_line(&words)))?;
    }
    Ok(CliExit::Success)
}

fn print_profile(profile: &ToolProfile, out: &mut StdoutWriter) -> anyhow::Result<()> {
    let joined = |set: &std::collections::BTreeSet<String>| {
        set.iter().cloned().collect::<Vec<_>>().join(", ")
    };
    out.write_line(&format!("  data types   {}", joined(&profile.supported_data_types)))?;
    out.write_line(&format!("  domains      {}", joined(&profile.domains)))?;
    let (low, high) = profile.complexity_support;
    out.write_line(&format!("  complexity   {low} to {high}"))?;
    out.write_line(&format!("  accuracy     {:.2}", profile.historical_accuracy))?;
    out.write_line(&format!("  reliability  {:.2}", profile.reliability_score))?;
    out.write_line(&format!("  latency      {:.0} ms", profile.average_latency_ms))?;
    Ok(())
}

fn print_score(affinity: &ToolAffinity, out: &mut StdoutWriter) -> anyhow::Result<()> {
    let ToolAffinity { fit, past, context, cost, score } = affinity;
    out.write_line(&format!(
        "  {score:.3} = 0.4 x fit {fit:.2} + 0.3 x past {past:.2} + 0.2 x context {context:.2} + 0.1 x cost {cost:.2}"
    ))?;
    Ok(())
}

/// One line for each argument: name, type, whether it is needed, what it is.
fn argument_lines(schema: &Value) -> Vec<String> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    let mut lines: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let kind = match &property["type"] {
                Value::String(kind) => kind.clone(),
                Value::Array(kinds) => kinds
                    .iter()
                    .filter_map(Value::as_str)
                    .find(|kind| *kind != "null")
                    .unwrap_or("any")
                    .to_owned(),
                _ => "any".to_owned(),
            };
            let needed = if required.contains(&name.as_str()) { "" } else { ", optional" };
            let about = property["description"].as_str().unwrap_or_default();
            clean_line(&format!("{name} ({kind}{needed})  {about}")).trim_end().to_owned()
        })
        .collect();
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    lines
}

pub(super) fn print_tool_stats(shared: &SharedArgs, app: &App) -> anyhow::Result<CliExit> {
    let known = load_known_tools(app, &builtin::builtin_registry())?;
    let mut by_tool: BTreeMap<&str, Vec<&ToolCallRow>> = BTreeMap::new();
    for (_, call) in &known.calls {
        by_tool.entry(call.tool.as_str()).or_default().push(call);
    }
    let mut out = StdoutWriter::new();
    if by_tool.is_empty() && !shared.json {
        out.write_line("no tool has been called yet")?;
        return Ok(CliExit::Success);
    }
    let wide = by_tool.keys().map(|name| name.len()).max().unwrap_or(0).max(4);
    if !shared.json {
        out.write_line(&format!(
            "{}  calls  failed  accuracy  reliability  past   latency  last error",
            pad_right("tool", wide)
        ))?;
    }
    for (tool, calls) in &by_tool {
        // Tools of servers have no profile here; theirs is a fresh one with what their calls taught.
        let profile = known.profiles.get(tool).cloned().unwrap_or_else(|| {
            let mut profile = ToolProfile::new(tool);
            for call in calls {
                profile.learn_from_call(call.ok, call.confidence, call.latency_ms);
            }
            profile
        });
        let failed = calls.iter().filter(|call| !call.ok).count();
        let past = 0.6 * profile.historical_accuracy + 0.4 * profile.reliability_score;
        let last_error = calls.iter().rev().find_map(|call| call.code.clone());
        if shared.json {
            let row = json!({
                "tool": tool, "calls": calls.len(), "failed": failed, "accuracy": profile.historical_accuracy,
                "reliability": profile.reliability_score, "past": past, "latency_ms": profile.average_latency_ms,
                "last_error": last_error,
            });
            out.write_line(&row.to_string())?;
            continue;
        }
        out.write_line(&format!(
            "{}  {:>5}  {failed:>6}  {:>8.2}  {:>11.2}  {past:.2}  {:>6.0} ms  {}",
            pad_right(tool, wide),
            calls.len(),
            profile.historical_accuracy,
            profile.reliability_score,
            profile.average_latency_ms,
            last_error.as_deref().unwrap_or("-"),
        ))?;
    }
    print_correlation(shared, &known, &mut out)?;
    Ok(CliExit::Success)
}

fn print_correlation(
    shared: &SharedArgs,
    known: &KnownTools,
    out: &mut StdoutWriter,
) -> anyhow::Result<()> {
    let pairs: Vec<(f64, f64)> = known
        .calls
        .iter()
        .filter_map(|(_, call)| Some((call.affinity?, if call.ok { call.confidence } else { 0.0 })))
        .collect();
    let found = rank_correlation(&pairs);
    if shared.json {
        out.write_line(&json!({ "rank_correlation": found, "choices": pairs.len() }).to_string())?;
    } else {
        let text = match found {
            Some(value) => format!("{value:.2} over {} choices", pairs.len()),
            None => "not known yet: no calls with a choice between tools".to_owned(),
        };
        out.write_line(&format!("\nrank correlation of score and outcome: {text}"))?;
    }
    Ok(())
}
