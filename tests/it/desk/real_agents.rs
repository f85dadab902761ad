//! Real coding agents that use the desk, with a provider that follows the desk's instructions: through its tools and, for
//! Gemini CLI, through its hook.
//!
//! `PLANWRIGHT_AGENTS_DIR` and `PLANWRIGHT_MOCK_PROVIDER` are those of `own_agents::real`; where either is missing these tests
//! are skipped with a message. Nothing but the provider's address keeps the agents at home here: start the tests in a network
//! namespace of their own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{answer, open_ticket};
use crate::own_agents::real::MockProvider;
use crate::program::Place;

const PROVIDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/desk/desk_provider.py");

/// An agent as a person starts it. `PROVIDER` stands for the address of the provider, `MODULES` for the packages.
struct DeskAgent {
    name: &'static str,
    command: &'static [&'static str],
    /// What names the desk as a server of tools, and what starts a prompt.
    add_server: &'static [&'static str],
    prompt: &'static [&'static str],
    settings: &'static [(&'static str, &'static str)],
    variables: &'static [(&'static str, &'static str)],
}

const CLAUDE: DeskAgent = DeskAgent {
    name: "claude",
    command: &["MODULES/@anthropic-ai/claude-code-linux-x64/claude"],
    add_server: &["mcp", "add", "--scope", "user", "planwright", "--", "planwright", "mcp"],
    prompt: &["--allowedTools", "mcp__planwright", "-p", "DESKPLAN"],
    settings: &[],
    variables: &[
        ("ANTHROPIC_BASE_URL", "PROVIDER"),
        ("ANTHROPIC_API_KEY", "none"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ],
};

const CODEX: DeskAgent = DeskAgent {
    name: "codex",
    command: &["MODULES/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"],
    add_server: &["mcp", "add", "planwright", "--", "planwright", "mcp"],
    prompt: &["exec", "--skip-git-repo-check", "DESKPLAN"],
    settings: &[(
        ".codex/config.toml",
        "model = \"mock\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n\
         [model_providers.mock]\nname = \"Mock\"\nbase_url = \"PROVIDER/v1\"\nwire_api = \"responses\"\n\
         env_key = \"MOCK_KEY\"\n[analytics]\nenabled = false\n",
    )],
    variables: &[("MOCK_KEY", "none"), ("NO_BROWSER", "1")],
};

const GEMINI: DeskAgent = DeskAgent {
    name: "gemini",
    command: &["node", "MODULES/@google/gemini-cli/bundle/gemini.js"],
    add_server: &["mcp", "add", "--scope", "user", "--trust", "planwright", "planwright", "mcp"],
    prompt: &["-p", "DESKPLAN"],
    settings: &[(
        ".gemini/settings.json",
        r#"{ "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
            "general": { "enableAutoUpdate": false }, "privacy": { "usageStatisticsEnabled": false },
            "model": { "name": "gemini-2.5-flash" } }"#,
    )],
    variables: &[
        ("GEMINI_API_KEY", "none"),
        ("GOOGLE_GEMINI_BASE_URL", "PROVIDER"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
};

/// An agent that is set up, with its provider.
struct DeskEnv {
    agent: &'static DeskAgent,
    place: Place,
    modules: PathBuf,
    provider: MockProvider,
}

impl DeskEnv {
    /// None, with a note, where the agent is not here.
    fn new(agent: &'static DeskAgent) -> Option<Self> {
        let given = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let (Some(directory), Some(_)) =
            (given("PLANWRIGHT_AGENTS_DIR"), given("PLANWRIGHT_MOCK_PROVIDER"))
        else {
            crate::tools::not_tested(&format!(
                "{} at the desk: PLANWRIGHT_AGENTS_DIR or PLANWRIGHT_MOCK_PROVIDER is not set",
                agent.name
            ));
            return None;
        };
        let modules = directory.join("node_modules");
        let program = agent.command.iter().find(|word| word.starts_with("MODULES")).unwrap();
        if !modules.join(program.trim_start_matches("MODULES/")).exists() {
            crate::tools::not_tested(&format!("{} at the desk: it is not installed", agent.name));
            return None;
        }
        let env = Self {
            agent,
            place: Place::new(),
            modules,
            provider: MockProvider::start(Path::new(PROVIDER)),
        };
        for (path, text) in agent.settings {
            let path = env.home().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, env.fill(text)).unwrap();
        }
        std::fs::create_dir_all(env.home()).unwrap();
        // The program is on the path, as for a person.
        let bin = env.place.dir.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        let program = assert_cmd::cargo::cargo_bin("planwright");
        std::os::unix::fs::symlink(program, bin.join("planwright")).unwrap();
        Some(env)
    }

    fn home(&self) -> PathBuf {
        self.place.dir.path().join("home")
    }

    fn fill(&self, text: &str) -> String {
        let modules = self.modules.display().to_string();
        text.replace("PROVIDER", &self.provider.url).replace("MODULES", &modules)
    }

    /// A command in the environment of the agent and in a session of its own, as under a terminal of its own.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("setsid");
        let path = std::env::var("PATH").unwrap_or_default();
        let variables = self.agent.variables.iter();
        command
            .arg("--wait")
            .args(words.iter().map(|word| self.fill(word)))
            .env("HOME", self.home())
            .env("PATH", format!("{}:{path}", self.place.dir.path().join("bin").display()))
            .env("PLANWRIGHT_DATA_DIR", self.place.data())
            .env("PLANWRIGHT_CONFIG", self.place.dir.path().join("config.toml"))
            .envs(variables.map(|(name, value)| (*name, self.fill(value))))
            .current_dir(self.place.work())
            .stdin(Stdio::null());
        command
    }

    fn start(&self, prompt: &[&str]) -> Child {
        let words = [self.agent.command, prompt].concat();
        self.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn wait_for_second_draft(&self, ticket: &str) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !self.shown(ticket).contains("plan draft 2") {
            assert!(Instant::now() < deadline, "no second draft: {}", self.shown(ticket));
        }
    }

    fn shown(&self, ticket: &str) -> String {
        let shown = self.place.run(&["sessions", "show", ticket]);
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    /// Requests changes with a comment, then approves; returns the ticket and what the agent said.
    fn decide(&self, agent: Child) -> (String, String) {
        let place = &self.place;
        let ticket = open_ticket(place);
        assert!(place.run(&["comment", &ticket, "3", "with real data"]).status.success());
        answer(place, &ticket, "request changes: measure twice");
        self.wait_for_second_draft(&ticket);
        answer(place, &ticket, "approve");
        let output = agent.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(place.sessions().len(), 1);
        (ticket, said)
    }
}

/// Submits, waits, gets changes, revises, gets the approval and reports, through the tools of the desk.
fn uses_tools(agent: &'static DeskAgent) {
    let Some(env) = DeskEnv::new(agent) else { return };
    let added = env.command(&[agent.command, agent.add_server].concat()).output().unwrap();
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let (ticket, said) = env.decide(env.start(agent.prompt));
    assert!(said.contains("recorded"), "{said}");
    let shown = env.shown(&ticket);
    assert!(shown.contains("draft 2") && shown.contains("Measure the search twice"), "{shown}");
    assert!(shown.lines().any(|line| line.contains("done") && line.contains("twice")), "{shown}");
}

#[test]
fn claude_code_uses_the_desk() {
    uses_tools(&CLAUDE);
}

#[test]
fn codex_uses_the_desk() {
    uses_tools(&CODEX);
}

#[test]
fn gemini_cli_uses_the_desk() {
    uses_tools(&GEMINI);
}

#[test]
fn gemini_cli_leaves_its_plan_mode_through_the_desk() {
    let Some(env) = DeskEnv::new(&GEMINI) else { return };
    let installed = env.command(&["planwright", "hook", "install", "gemini", "--yes"]).output();
    assert!(installed.unwrap().status.success());
    let (ticket, said) = env.decide(env.start(&["--approval-mode", "plan", "-p", "PLANMODE"]));
    assert!(said.contains("Plan approved"), "{said}");
    let shown = env.shown(&ticket);
    assert!(shown.contains("draft 2") && shown.contains("Measure the search twice"), "{shown}");
}
