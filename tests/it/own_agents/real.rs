//! Real coding agents against a scripted provider, each through the whole program: hello, a command and an edit allowed
//! and refused, a cancellation, a killed agent, an answer of 10 MB, a kill of Planwright and a resume.
//!
//! `PLANWRIGHT_AGENTS_DIR` names a directory with the agents' packages in `node_modules`, `PLANWRIGHT_MOCK_PROVIDER` a
//! Python program that stands in for the provider: it prints its address first and acts on words in the prompt. Where
//! either is missing these tests are skipped with a message. `tests/README.md` has the versions and the results.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::cannot_confine;
use crate::agents::{code, words};

/// An agent as it is set up for these tests. `PROVIDER` stands for the address of the provider, `MODULES` for the packages.
struct RealAgent {
    name: &'static str,
    command: &'static [&'static str],
    /// Its settings, seen from its home; one that ends with `/` is an empty directory.
    files: &'static [(&'static str, &'static str)],
    variables: &'static [(&'static str, &'static str)],
    loads: bool,
}

const CODEX: RealAgent = RealAgent {
    name: "codex",
    command: &["node", "MODULES/@agentclientprotocol/codex-acp/dist/index.js"],
    files: &[(
        ".codex/config.toml",
        "model = \"mock\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n\
         [model_providers.mock]\nname = \"Mock\"\nbase_url = \"PROVIDER/v1\"\nwire_api = \"responses\"\n\
         env_key = \"MOCK_KEY\"\n[analytics]\nenabled = false\n",
    )],
    variables: &[("MOCK_KEY", "none"), ("NO_BROWSER", "1")],
    loads: true,
};

const CLAUDE: RealAgent = RealAgent {
    name: "claude",
    command: &["node", "MODULES/@agentclientprotocol/claude-agent-acp/dist/index.js"],
    files: &[(".claude/", ""), (".claude.json", "{}")],
    variables: &[
        ("ANTHROPIC_BASE_URL", "PROVIDER"),
        ("ANTHROPIC_API_KEY", "none"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_EXECUTABLE", "MODULES/@anthropic-ai/claude-code-linux-x64/claude"),
    ],
    loads: true,
};

const GEMINI: RealAgent = RealAgent {
    name: "gemini",
    command: &["node", "MODULES/@google/gemini-cli/bundle/gemini.js", "--acp"],
    files: &[(
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
    loads: false,
};

const OPENCODE: RealAgent = RealAgent {
    name: "opencode",
    command: &["MODULES/opencode-linux-x64/bin/opencode", "acp"],
    files: &[
        (
            ".config/opencode/opencode.json",
            r#"{ "autoupdate": false, "share": "disabled", "model": "mock/mock",
                "permission": { "bash": "ask", "edit": "ask" },
                "provider": { "mock": { "npm": "@ai-sdk/openai-compatible", "name": "Mock",
                    "models": { "mock": { "name": "mock" } },
                    "options": { "baseURL": "PROVIDER/v1", "apiKey": "none" } } } }"#,
        ),
        (".local/share/opencode/", ""),
        (".local/state/opencode/", ""),
        (".cache/opencode/", ""),
    ],
    variables: &[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ],
    loads: true,
};

const QWEN: RealAgent = RealAgent {
    name: "qwen",
    command: &["node", "MODULES/@qwen-code/qwen-code/cli.js", "--acp"],
    files: &[(
        ".qwen/settings.json",
        r#"{ "security": { "auth": { "selectedType": "openai" } },
            "general": { "enableAutoUpdate": false, "disableAutoUpdate": true },
            "privacy": { "usageStatisticsEnabled": false } }"#,
    )],
    variables: &[
        ("OPENAI_API_KEY", "none"),
        ("OPENAI_BASE_URL", "PROVIDER/v1"),
        ("OPENAI_MODEL", "mock"),
    ],
    loads: true,
};

const GOOSE: RealAgent = RealAgent {
    name: "goose",
    command: &["MODULES/@aaif/goose-binary-linux-x64/bin/goose", "acp"],
    files: &[(".config/goose/", ""), (".local/share/goose/", ""), (".local/state/goose/", "")],
    variables: &[
        ("GOOSE_PROVIDER", "openai"),
        ("GOOSE_MODEL", "mock"),
        ("OPENAI_HOST", "PROVIDER"),
        ("OPENAI_API_KEY", "none"),
        ("GOOSE_DISABLE_KEYRING", "1"),
        ("GOOSE_TELEMETRY_OFF", "1"),
    ],
    loads: true,
};

/// The provider's stand-in, ended with the test.
pub struct MockProvider {
    child: Child,
    pub url: String,
    log: tempfile::NamedTempFile,
}

impl MockProvider {
    pub fn start(program: &Path) -> Self {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut child = Command::new("python3")
            .arg(program)
            .args(["0", "--log"])
            .arg(log.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let at = line.find("http://").unwrap_or_else(|| panic!("an address: {line}"));
        let url = line[at..].split_whitespace().next().unwrap().trim_end_matches('/').to_owned();
        Self { child, url, log }
    }

    /// How many requests with tools it got: agents also ask for titles.
    fn requests(&self) -> usize {
        let text = std::fs::read_to_string(self.log.path()).unwrap_or_default();
        let asks = |line: &&str| line.contains("\"tools\": [\"");
        text.lines().filter(asks).count()
    }
}

impl Drop for MockProvider {
    fn drop(&mut self) {
        // It has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home, a workspace and settings for one agent.
struct RealEnv<'a> {
    agent: &'a RealAgent,
    directory: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl<'a> RealEnv<'a> {
    fn new(agent: &'a RealAgent, modules: &Path, url: &str, rules: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let modules = modules.display().to_string();
        let fill = |text: &str| text.replace("PROVIDER", url).replace("MODULES", &modules);
        for (path, text) in agent.files {
            let path = root.join("home").join(path);
            let holder = if text.is_empty() { Some(path.as_path()) } else { path.parent() };
            std::fs::create_dir_all(holder.unwrap()).unwrap();
            if !text.is_empty() {
                std::fs::write(path, fill(text)).unwrap();
            }
        }
        std::fs::create_dir_all(root.join("work")).unwrap();
        std::fs::write(root.join("work/a.txt"), "one\n").unwrap();
        // What the agent is to write is told by the failing check, because the path of its copy is not known before.
        let check = "if [ -e mark.txt ]; then exit 0; fi\necho \"EDITFILE $PWD/mark.txt some text\"\nexit 1\n";
        std::fs::write(root.join("work/check.sh"), check).unwrap();
        let variables: Vec<(String, String)> =
            agent.variables.iter().map(|(name, value)| ((*name).to_owned(), fill(value))).collect();
        let names: Vec<&String> = variables.iter().map(|(name, _)| name).collect();
        let command: Vec<String> = agent.command.iter().map(|word| fill(word)).collect();
        let host = url.trim_start_matches("http://");
        let config = format!(
            "[agents.{}]\ncommand = {}\nenv = {}\nhosts = [{host:?}]\nreadable = [{modules:?}]\n{rules}",
            agent.name,
            json!(command),
            json!(names),
        );
        std::fs::write(root.join("config.toml"), config).unwrap();
        Self { agent, directory, variables }
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("planwright"));
        command
            .args(args)
            .args(["--headless", "--provider", "offline"])
            .env("PLANWRIGHT_DATA_DIR", self.root().join("data"))
            .env("PLANWRIGHT_CONFIG", self.root().join("config.toml"))
            .env("HOME", self.root().join("home"))
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .current_dir(self.root().join("work"));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// A plan of one task. `why` holds the words that the provider acts on.
    fn plan(&self, why: &str, more: &str) -> String {
        let path = self.root().join("plan.toml");
        let text = format!(
            "title = \"Real agents\"\n[[tasks]]\nid = \"t\"\ndescription = \"Work on the file\"\nwhy = {why:?}\n\
             task_type = \"code_modify\"\nrun = {{ agent = {{ with = \"{}\" }} }}\n{more}\n",
            self.agent.name
        );
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn run_plan(&self, why: &str, more: &str) -> (i32, String) {
        let plan = self.plan(why, more);
        let output = self.run(&["run", &plan, "--yes", "--policy", "autonomy=high"]);
        (code(&output), words(&output))
    }

    /// Starts a plan whose provider is silent, and waits until the agent has its prompt.
    fn start_silent(&self, provider: &MockProvider) -> Child {
        let before = provider.requests();
        let plan = self.plan("SLOW=20", "");
        let child = self
            .command(&["run", &plan, "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("its model is asked", || provider.requests() > before);
        child
    }

    fn journal(&self) -> String {
        words(&self.run(&["export", "last", "--format", "jsonl"]))
    }

    /// Files of this name in the workspace and in all copies of it.
    fn find(&self, name: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.root().join("work"), self.root().join("data")];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                } else if entry.file_name() == name {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Processes that work in a copy.
    fn agent_processes(&self) -> Vec<u32> {
        let copies = self.root().join("data/worktrees");
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid: &u32| {
                let place = std::fs::read_link(format!("/proc/{pid}/cwd"));
                place.is_ok_and(|place| place.starts_with(&copies))
            })
            .collect()
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

const CHECKED: &str = "exit_criteria = [{ kind = \"command\", command = \"sh check.sh\" }]";
const NO_COMMAND: &str = "[[permissions.deny]]\ntool = \"shell.run\"\ncommand_prefix = \"touch\"\n";
const NO_EDIT: &str = "[[permissions.deny]]\ntool = \"file.edit\"\npath = \"mark.txt\"\n\
    [[permissions.deny]]\ntool = \"file.write\"\npath = \"mark.txt\"\n";

/// Runs all lines of the table with one agent, unless it is not here.
fn try_agent(agent: &RealAgent) {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(directory), Some(mock)) =
        (given("PLANWRIGHT_AGENTS_DIR"), given("PLANWRIGHT_MOCK_PROVIDER"))
    else {
        return crate::tools::not_tested(&format!(
            "{}: PLANWRIGHT_AGENTS_DIR or PLANWRIGHT_MOCK_PROVIDER is not set",
            agent.name
        ));
    };
    let modules = directory.join("node_modules");
    let program = agent.command.iter().find(|word| word.starts_with("MODULES")).unwrap();
    if !modules.join(program.trim_start_matches("MODULES/")).exists() {
        return crate::tools::not_tested(&format!("{}: it is not installed", agent.name));
    }
    if cannot_confine() {
        return;
    }
    let provider = MockProvider::start(&mock);
    let env = |rules: &str| RealEnv::new(agent, &modules, &provider.url, rules);
    says_hello_and_asks(&env(""));
    acts_when_allowed(&env(""), &env(""));
    leaves_it_when_refused(&env(NO_COMMAND), &env(NO_EDIT));
    is_cancelled(&env(""), &provider);
    is_killed(&env(""), &provider);
    bounds_a_long_answer(&env(""));
    resumes(&env(""), &provider);
}

fn says_hello_and_asks(env: &RealEnv<'_>) {
    let prompt = "RUNTOOL touch planwright-test.txt";
    let output = env.run(&["agents", "probe", env.agent.name, "--prompt", prompt]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert!(words(&output).contains("It asked before it ran a command"), "{}", words(&output));
}

fn acts_when_allowed(command: &RealEnv<'_>, edit: &RealEnv<'_>) {
    let (exit, told) = command.run_plan("RUNTOOL touch mark.txt", "");
    assert_eq!(exit, 3, "{told}");
    assert!(told.contains("Use these changes?") && told.contains("mark.txt"), "{told}");
    let (exit, told) = edit.run_plan("SAY It is done.", CHECKED);
    assert_eq!(exit, 0, "{told}");
    let written = std::fs::read_to_string(edit.root().join("work/mark.txt")).unwrap();
    assert_eq!(written.trim_end(), "some text");
}

fn leaves_it_when_refused(command: &RealEnv<'_>, edit: &RealEnv<'_>) {
    let (_, told) = command.run_plan("RUNTOOL touch mark.txt", "");
    assert!(told.contains("not allowed: your rule says"), "{told}");
    assert_eq!(command.find("mark.txt"), Vec::<PathBuf>::new(), "{told}");
    let (exit, told) = edit.run_plan("SAY It is done.", CHECKED);
    assert_eq!(exit, 1, "{told}");
    assert!(told.contains("your rule says"), "{told}");
    assert_eq!(edit.find("mark.txt"), Vec::<PathBuf>::new(), "{told}");
}

fn is_cancelled(env: &RealEnv<'_>, provider: &MockProvider) {
    let mut child = env.start_silent(provider);
    let stopped = env.run(&["stop", "last", "t"]);
    assert_eq!(code(&stopped), 0, "{}", words(&stopped));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(env.agent_processes(), Vec::<u32>::new());
}

fn is_killed(env: &RealEnv<'_>, provider: &MockProvider) {
    let mut child = env.start_silent(provider);
    for pid in env.agent_processes() {
        // One that ended with another is gone already.
        let _ = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let journal = env.journal();
    assert!(journal.contains("stopped: it ended (signal: 9 (SIGKILL))"), "{journal}");
}

#[expect(
    clippy::print_stderr,
    reason = "which of the two ends it was belongs into the table of results"
)]
fn bounds_a_long_answer(env: &RealEnv<'_>) {
    let (exit, told) = env.run_plan("LONG=10000000", "");
    // Agents that report what they used reach the limit of the task; both ends are told.
    assert!(exit == 0 || told.contains("task_token_limit"), "{exit} {told}");
    let end = if exit == 0 { "cut and done" } else { "at the token limit" };
    eprintln!("{}: an answer of 10 MB ends {end}", env.agent.name);
    let journal = env.journal();
    assert!(journal.len() < 4_000_000, "{} bytes of journal", journal.len());
}

/// Planwright is killed while the model is silent: nothing was done, so that the agent continues without a question.
fn resumes(env: &RealEnv<'_>, provider: &MockProvider) {
    let mut child = env.start_silent(provider);
    child.kill().unwrap();
    child.wait().unwrap();
    let output = env.run(&["resume", "last"]);
    let told = words(&output);
    assert_eq!(code(&output), 0, "{told}");
    assert_eq!(told.contains("continues its session"), env.agent.loads, "{told}");
    assert_eq!(env.agent_processes(), Vec::<u32>::new());
}

#[test]
fn claude_code_does_what_the_table_says() {
    try_agent(&CLAUDE);
}

#[test]
fn codex_does_what_the_table_says() {
    try_agent(&CODEX);
}

#[test]
fn gemini_cli_does_what_the_table_says() {
    try_agent(&GEMINI);
}

#[test]
fn goose_does_what_the_table_says() {
    try_agent(&GOOSE);
}

#[test]
fn opencode_does_what_the_table_says() {
    try_agent(&OPENCODE);
}

#[test]
fn qwen_code_does_what_the_table_says() {
    try_agent(&QWEN);
}
