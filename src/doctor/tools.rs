//! What the agent's tools can use here: the sandbox, the workspace, web search, servers of tools.

use super::Check;
use crate::config::ProjectStanding;
use planwright_tools::Workspace;
use planwright_tools::mcp::ServerReport;
use planwright_tools::sandbox::Sandbox;
use planwright_tools::settings::ToolSettings;

/// Whether commands of a model are confined.
pub fn sandbox(sandbox: &Sandbox) -> Check {
    let probe = sandbox.probe();
    if probe.enforced {
        return Check::ok("sandbox", probe.detail.clone());
    }
    Check::warn(
        "sandbox",
        format!("commands of a model are not confined here: {}", probe.detail),
        "every such command asks; a kernel with Landlock (Linux 6.12 or newer) confines them",
    )
}

/// Whether the workspace can be used.
pub fn workspace(path: &std::path::Path) -> Check {
    match Workspace::open(path, &[], &[]) {
        Ok(_) => Check::ok("workspace", format!("{} can be used", path.display())),
        Err(error) => {
            Check::warn("workspace", error.message, "go elsewhere, or name one with --workspace")
        }
    }
}

/// Which tools are not set up.
pub fn tools(settings: &ToolSettings) -> Check {
    match &settings.web.search_endpoint {
        Some(endpoint) => Check::ok("web search", format!("{endpoint} is asked")),
        None => Check {
            next: Some(
                "to search the web, name a SearXNG service with search_endpoint under [tools] in the config"
                    .to_owned(),
            ),
            ..Check::ok("web search", "not set up; agents work without it")
        },
    }
}

/// Whether the settings of the project here count.
pub fn project(standing: &ProjectStanding) -> Check {
    let path = standing.config.path.display();
    if standing.trusted {
        return Check::ok("project", format!("{path} is trusted"));
    }
    if standing.left_out.is_empty() {
        return Check::ok("project", format!("{path} only makes things stricter"));
    }
    let names: Vec<&str> = standing.left_out.iter().map(|row| row.name.as_str()).collect();
    Check::warn(
        "project",
        format!("{path} is not trusted, left out: {}", names.join(", ")),
        "read it; `planwright config trust` lets it count in full",
    )
}

/// How the servers answered, one check each.
pub fn servers(reports: &[ServerReport]) -> Vec<Check> {
    reports
        .iter()
        .map(|report| {
            let name = format!("mcp {}", report.server);
            match &report.outcome {
                Ok(tools) if report.left_out.is_empty() => {
                    Check::ok(&name, format!("{} tools", tools.len()))
                }
                Ok(tools) => Check::warn(
                    &name,
                    format!("{} tools; left out: {}", tools.len(), report.left_out.join("; ")),
                    "the server names or describes them in a way that cannot be used",
                ),
                Err(why) => Check::fail(
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
    use crate::doctor::Status;

    #[test]
    fn checks_say_what_is_missing_and_what_to_do() {
        let none = sandbox(&Sandbox::none("no Landlock"));
        assert_eq!(none.status, Status::Warn);
        assert!(none.what.contains("no Landlock") && none.next.unwrap().contains("asks"));
        assert!(tools(&ToolSettings::default()).next.is_some());
        assert_eq!(workspace(std::path::Path::new("/no/such/place")).status, Status::Warn);
        let report = ServerReport {
            server: "x".into(),
            outcome: Err("it is gone".into()),
            left_out: Vec::new(),
        };
        assert_eq!(servers(&[report])[0].status, Status::Fail);
    }
}
