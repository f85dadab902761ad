//! What works here as far as tools go, in words, with what to do about the rest.

use serde::Serialize;

use super::mcp::ServerReport;
use super::sandbox::Sandbox;
use super::settings::ToolSettings;
use super::workspace::Workspace;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    Ok,
    Warn,
    Fail,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: String,
    pub status: CheckStatus,
    /// What was found.
    pub what: String,
    /// What to do about it; empty where nothing is to be done.
    pub next: String,
}

impl Check {
    fn new(name: &str, status: CheckStatus, what: impl Into<String>, next: &str) -> Self {
        Self { name: name.to_owned(), status, what: what.into(), next: next.to_owned() }
    }
}

/// Whether commands of a model are confined.
pub fn sandbox(sandbox: &Sandbox) -> Check {
    let probe = sandbox.probe();
    if probe.enforced {
        return Check::new("sandbox", CheckStatus::Ok, probe.detail.clone(), "");
    }
    Check::new(
        "sandbox",
        CheckStatus::Warn,
        format!("commands of a model are not confined here: {}", probe.detail),
        "every such command asks; a kernel with Landlock (Linux 6.12 or newer) confines them",
    )
}

/// Whether the workspace can be used.
pub fn workspace(path: &std::path::Path) -> Check {
    match Workspace::open(path, &[], &[]) {
        Ok(_) => {
            Check::new("workspace", CheckStatus::Ok, format!("{} can be used", path.display()), "")
        }
        Err(error) => Check::new(
            "workspace",
            CheckStatus::Fail,
            error.message,
            "name another one with --workspace",
        ),
    }
}

/// Which tools are not set up.
pub fn tools(settings: &ToolSettings) -> Check {
    match &settings.web.search_endpoint {
        Some(endpoint) => {
            Check::new("web search", CheckStatus::Ok, format!("{endpoint} is asked"), "")
        }
        None => Check::new(
            "web search",
            CheckStatus::Warn,
            "web.search and internet.research are not set up",
            "name a SearXNG service with search_endpoint under [tools] in the config",
        ),
    }
}

/// How the servers answered, one check each.
pub fn servers(reports: &[ServerReport]) -> Vec<Check> {
    reports
        .iter()
        .map(|report| {
            let name = format!("server {}", report.server);
            match &report.outcome {
                Ok(tools) if report.left_out.is_empty() => {
                    Check::new(&name, CheckStatus::Ok, format!("{} tools", tools.len()), "")
                }
                Ok(tools) => Check::new(
                    &name,
                    CheckStatus::Warn,
                    format!("{} tools; left out: {}", tools.len(), report.left_out.join("; ")),
                    "the server names or describes them in a way that cannot be used",
                ),
                Err(why) => Check::new(
                    &name,
                    CheckStatus::Fail,
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

    #[test]
    fn checks_say_what_is_missing_and_what_to_do() {
        let none = sandbox(&Sandbox::none("no Landlock"));
        assert_eq!(none.status, CheckStatus::Warn);
        assert!(none.what.contains("no Landlock") && none.next.contains("asks"));
        assert_eq!(tools(&ToolSettings::default()).status, CheckStatus::Warn);
        assert_eq!(workspace(std::path::Path::new("/no/such/place")).status, CheckStatus::Fail);
        let report = ServerReport {
            server: "x".into(),
            outcome: Err("it is gone".into()),
            left_out: Vec::new(),
        };
        assert_eq!(servers(&[report])[0].status, CheckStatus::Fail);
    }
}
