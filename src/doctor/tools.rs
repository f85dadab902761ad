//! What the agent's tools can use here: the sandbox, the workspace, web search, servers of tools.

use super::DoctorCheck;
use crate::config::ProjectStanding;
use planwright_tools::Workspace;
use planwright_tools::mcp::McpServerReport;
use planwright_tools::sandbox::Sandbox;
use planwright_tools::settings::ToolSettings;

/// Whether commands of a model are confined.
pub(crate) fn check_sandbox(sandbox: &Sandbox) -> DoctorCheck {
    let probe = sandbox.probe();
    if probe.enforced {
        return DoctorCheck::ok("sandbox", probe.detail.clone());
    }
    DoctorCheck::warn(
        "sandbox",
        format!("commands of a model are not confined here: {}", probe.detail),
        "every such command asks; a kernel with Landlock (Linux 6.12 or newer) confines them",
    )
}

/// Whether the workspace can be used.
pub(crate) fn check_workspace(path: &std::path::Path) -> DoctorCheck {
    match Workspace::open(path, &[], &[]) {
        Ok(_) => DoctorCheck::ok("workspace", format!("{} can be used", path.display())),
        Err(error) => DoctorCheck::warn(
            "workspace",
            error.message,
            "go elsewhere, or name one with --workspace",
        ),
    }
}

/// Which tools are not set up.
pub(crate) fn check_web_search(settings: &ToolSettings) -> DoctorCheck {
    if let Some(why) = planwright_tools::builtin::missing_feature_text("web.search") {
        return DoctorCheck::ok("web search", why);
    }
    match &settings.web.search_endpoint {
        Some(endpoint) => DoctorCheck::ok("web search", format!("{endpoint} is asked")),
        None => DoctorCheck {
            next: Some(
                "to search the web, name a SearXNG service with search_endpoint under [tools] in the config"
                    .to_owned(),
            ),
            ..DoctorCheck::ok("web search", "not set up; agents work without it")
        },
    }
}

/// Whether the settings of the project here count.
pub(crate) fn check_project(standing: &ProjectStanding) -> DoctorCheck {
    let path = standing.config.path.display();
    if standing.trusted {
        return DoctorCheck::ok("project", format!("{path} is trusted"));
    }
    if standing.left_out.is_empty() {
        return DoctorCheck::ok("project", format!("{path} only makes things stricter"));
    }
    let names: Vec<&str> = standing.left_out.iter().map(|row| row.name.as_str()).collect();
    DoctorCheck::warn(
        "project",
        format!("{path} is not trusted, left out: {}", names.join(", ")),
        "read it; `planwright config trust` lets it count in full",
    )
}

/// A coding agent that is set up or installed.
#[derive(Clone, Debug)]
pub(crate) struct FoundAgent {
    pub title: String,
    pub name: String,
    pub is_on: bool,
    /// What is not installed of it.
    pub missing: Option<String>,
}

/// Coding agents that are set up or installed. None is started.
pub(crate) fn check_agents(agents: &[FoundAgent]) -> DoctorCheck {
    let broken = agents.iter().find(|agent| agent.is_on && agent.missing.is_some());
    if let Some(FoundAgent { title, name, missing: Some(missing), .. }) = broken {
        let next = format!("install it, or turn it off with: planwright agents off {name}");
        return DoctorCheck::warn("agents", format!("{title}: {missing}"), next);
    }
    let titles = |is_on: bool| -> Vec<&str> {
        let some = agents.iter().filter(|agent| agent.is_on == is_on);
        some.map(|agent| agent.title.as_str()).collect()
    };
    let (on, off) = (titles(true), titles(false).join(", "));
    match (on.is_empty(), off.is_empty()) {
        (true, true) => {
            DoctorCheck::ok("agents", "none is set up; the built-in agent does agent tasks")
        }
        (true, false) => DoctorCheck {
            next: Some("planwright agents on NAME lets plans use one".to_owned()),
            ..DoctorCheck::ok("agents", format!("found {off}; none is used"))
        },
        (false, true) => DoctorCheck::ok("agents", on.join(", ")),
        (false, false) => {
            DoctorCheck::ok("agents", format!("{}; found and not used: {off}", on.join(", ")))
        }
    }
}

/// How the servers answered, one check each.
pub(crate) fn check_servers(reports: &[McpServerReport]) -> Vec<DoctorCheck> {
    reports
        .iter()
        .map(|report| {
            let name = format!("mcp {}", report.server);
            match &report.outcome {
                Ok(tools) if report.left_out.is_empty() => {
                    DoctorCheck::ok(&name, format!("{} tools", tools.len()))
                }
                Ok(tools) => DoctorCheck::warn(
                    &name,
                    format!("{} tools; left out: {}", tools.len(), report.left_out.join("; ")),
                    "the server names or describes them in a way that cannot be used",
                ),
                Err(why) => DoctorCheck::fail(
                    &name,
                    why.clone(),
                    "start it by hand to see what it says, and check its table under [mcp] in the config",
                ),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::CheckStatus;

    #[test]
    fn checks_say_what_is_missing_and_what_to_do() {
        let none = check_sandbox(&Sandbox::unavailable("no Landlock"));
        assert_eq!(none.status, CheckStatus::Warn);
        assert!(none.what.contains("no Landlock") && none.next.unwrap().contains("asks"));
        assert!(check_web_search(&ToolSettings::default()).next.is_some());
        assert_eq!(
            check_workspace(std::path::Path::new("/no/such/place")).status,
            CheckStatus::Warn
        );
        let report = McpServerReport {
            server: "x".into(),
            outcome: Err("it is gone".into()),
            left_out: Vec::new(),
        };
        assert_eq!(check_servers(&[report])[0].status, CheckStatus::Fail);
    }
}
