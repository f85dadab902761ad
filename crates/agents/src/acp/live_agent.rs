//! An agent that is running and has a session: how it gets there, and how it ends.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::bounded_lines::LineBounds;
use super::connection::{
    AUTH_REQUIRED, AcpConnection, AgentMessage, RequestError, initialize_params,
};
use crate::own_agent::{KnownAgent, OwnAgent, SessionLoading};
use planwright_model::{AgentSession, Category, ExecutionFailure};
use planwright_tools::agent_process::{
    AgentCommand, AgentProcess, AgentStartError, ExitReport, UnconfinedAgent,
};
use planwright_tools::sandbox::Sandbox;

/// How long an agent may take to start and to open a session. Some load a lot before they answer.
const START_TIME: Duration = Duration::from_secs(120);
/// How long it may take to load a session, whose history it sends along.
const LOAD_TIME: Duration = Duration::from_secs(180);
/// The version of the protocol that is spoken here.
const PROTOCOL_VERSION: u64 = 1;

/// What an agent is started with.
pub(crate) struct AgentLaunch<'a> {
    pub(crate) agent: &'a OwnAgent,
    pub(crate) sandbox: &'a Sandbox,
    /// The copy of the workspace that it works in.
    pub(crate) directory: PathBuf,
    /// What it may read besides its own settings.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) mark: String,
    pub(crate) unconfined: UnconfinedAgent,
    pub(crate) report: ExitReport,
    pub(crate) bounds: LineBounds,
}

/// An agent that waits for prompts.
pub(crate) struct LiveAgent {
    pub(crate) connection: AcpConnection,
    pub(crate) incoming: mpsc::UnboundedReceiver<AgentMessage>,
    pub(crate) session: AgentSession,
    /// Ways in which the agent lets the person sign in.
    pub(crate) sign_in_ways: Vec<String>,
    process: AgentProcess,
}

/// Why an agent has no session.
#[derive(Debug)]
pub(crate) enum SessionFault {
    /// It cannot be used.
    Failed(ExecutionFailure),
    /// The earlier session cannot be loaded; everything else works.
    NotLoaded { why: String },
}

impl From<ExecutionFailure> for SessionFault {
    fn from(failure: ExecutionFailure) -> Self {
        Self::Failed(failure)
    }
}

fn failure(code: &str, category: Category, message: impl Into<String>) -> ExecutionFailure {
    ExecutionFailure::new(code, category, message)
}

impl LiveAgent {
    /// Starts an agent and opens a session, or loads the one that is named.
    pub(crate) async fn start(
        launch: AgentLaunch<'_>,
        earlier: Option<&str>,
    ) -> Result<Self, SessionFault> {
        let agent = launch.agent;
        let mut writable = agent.writable.clone();
        if let (Some(known), Some(home)) = (KnownAgent::of(agent.product), home_directory()) {
            writable.extend(known.settings_paths(&home));
        }
        let command = AgentCommand {
            command: agent.command.clone(),
            directory: launch.directory.clone(),
            environment: agent.environment.clone(),
            hosts: agent.hosts.clone(),
            readable: agent.readable.iter().cloned().chain(launch.readable).collect(),
            writable,
            mark: launch.mark,
        };
        let started =
            AgentProcess::start(launch.sandbox, command, launch.unconfined, launch.report).await;
        let (process, pipes) = started.map_err(|error| start_failure(agent, &error))?;
        let opened = AcpConnection::open(pipes.output, pipes.input, launch.bounds).await;
        let (connection, incoming) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let failed = ending_failure(agent, &error, process).await;
                return Err(failed.into());
            }
        };
        let session = AgentSession {
            agent: agent.name.clone(),
            title: agent.title().to_owned(),
            version: None,
            mode: None,
            model: None,
            asks: agent.asks,
            network: process.network(),
            id: String::new(),
            can_load: false,
            loaded: false,
        };
        let mut live = Self { connection, incoming, session, sign_in_ways: Vec::new(), process };
        match live.open_session(agent, &launch.directory, earlier).await {
            Ok(()) => Ok(live),
            Err(SessionStep::Failed(failed)) => {
                live.end().await;
                Err(failed.into())
            }
            Err(SessionStep::NotLoaded { why }) => {
                live.end().await;
                Err(SessionFault::NotLoaded { why })
            }
            Err(SessionStep::Broken(error)) => {
                let Self { mut connection, process, .. } = live;
                connection.close();
                Err(ending_failure(agent, &error, process).await.into())
            }
        }
    }

    async fn open_session(
        &mut self,
        agent: &OwnAgent,
        directory: &std::path::Path,
        earlier: Option<&str>,
    ) -> Result<(), SessionStep> {
        let about =
            match self.ask("initialize", initialize_params(agent.file_reading()), START_TIME).await
            {
                Err(SessionStep::Broken(RequestError::Refused { message, .. }))
                    if message.contains("protocol version") =>
                {
                    return Err(SessionStep::Failed(version_failure(agent, &message)));
                }
                answered => answered?,
            };
        self.process.remember_namespace();
        self.read_capabilities(agent, &about)?;
        let place = json!({ "cwd": directory, "mcpServers": [] });
        let opened = match earlier {
            Some(id) => self.load_session(id, place).await?,
            None => self.new_session(agent, place).await?,
        };
        self.choose_mode(agent, &opened).await?;
        self.choose_model(agent, &opened).await
    }

    async fn ask(
        &self,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, SessionStep> {
        self.connection.request_within(method, params, limit).await.map_err(SessionStep::Broken)
    }

    /// Reads what the agent says about itself.
    fn read_capabilities(&mut self, agent: &OwnAgent, about: &Value) -> Result<(), SessionStep> {
        let version = about.get("protocolVersion").and_then(Value::as_u64);
        if version != Some(PROTOCOL_VERSION) {
            let said =
                version.map_or_else(|| "it names none".to_owned(), |own| format!("it names {own}"));
            return Err(SessionStep::Failed(version_failure(agent, &said)));
        }
        let version = about.pointer("/agentInfo/version").and_then(Value::as_str);
        self.session.version = version.map(|text| {
            planwright_tools::text_limit::truncate_chars(&planwright_text::clean_line(text), 60)
        });
        let offered = about.pointer("/agentCapabilities/loadSession") == Some(&Value::Bool(true));
        let broken = KnownAgent::of(agent.product)
            .is_some_and(|known| known.loading == SessionLoading::Broken);
        self.session.can_load = offered && !broken;
        let ways = about.get("authMethods").and_then(Value::as_array).into_iter().flatten();
        self.sign_in_ways = ways
            .filter_map(|way| way.get("name")?.as_str())
            .map(|name| planwright_text::clean_line(name).into_owned())
            .collect();
        Ok(())
    }

    async fn new_session(&mut self, agent: &OwnAgent, place: Value) -> Result<Value, SessionStep> {
        let opened = match self.ask("session/new", place, START_TIME).await {
            Err(SessionStep::Broken(RequestError::Refused { code, message }))
                if is_sign_in_error(code, &message) =>
            {
                let failed = sign_in_failure(agent, &message);
                return Err(SessionStep::Failed(failed));
            }
            opened => opened?,
        };
        let id = opened.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() {
            let message = format!("{} opened a session without a name", agent.title());
            let failed = failure("agent_protocol", Category::Critical, message);
            return Err(SessionStep::Failed(failed));
        }
        id.clone_into(&mut self.session.id);
        Ok(opened)
    }

    /// Loads an earlier session. The history that comes with it is in the journal already.
    async fn load_session(&mut self, id: &str, mut place: Value) -> Result<Value, SessionStep> {
        if !self.session.can_load {
            let why = "it cannot load a session".to_owned();
            return Err(SessionStep::NotLoaded { why });
        }
        place["sessionId"] = json!(id);
        let loaded = match self.ask("session/load", place, LOAD_TIME).await {
            Ok(loaded) => loaded,
            Err(SessionStep::Broken(
                error @ (RequestError::Refused { .. } | RequestError::NoAnswer { .. }),
            )) => return Err(SessionStep::NotLoaded { why: error.to_string() }),
            Err(other) => return Err(other),
        };
        while self.incoming.try_recv().is_ok() {}
        id.clone_into(&mut self.session.id);
        self.session.loaded = true;
        Ok(loaded)
    }

    /// Sets the mode in which the agent asks, whatever mode it starts in.
    async fn choose_mode(&mut self, agent: &OwnAgent, opened: &Value) -> Result<(), SessionStep> {
        let current = opened.pointer("/modes/currentModeId").and_then(Value::as_str);
        self.session.mode = current.map(str::to_owned);
        let known = KnownAgent::of(agent.product).and_then(|known| known.asking_mode);
        let stated = agent.mode.as_deref();
        let Some(wanted) = stated.or(known) else { return Ok(()) };
        let modes = opened.pointer("/modes/availableModes").and_then(Value::as_array);
        let names: Vec<&str> =
            modes.into_iter().flatten().filter_map(|mode| mode.get("id")?.as_str()).collect();
        if !names.contains(&wanted) && (stated.is_some() || !names.is_empty()) {
            let message = format!(
                "{} has no mode {wanted}; set `mode` of [agents.{}] to one of: {}",
                agent.title(),
                agent.name,
                names.join(", ")
            );
            let failed = failure("agent_mode", Category::Critical, message);
            return Err(SessionStep::Failed(failed));
        }
        if names.is_empty() {
            return Ok(());
        }
        let params = json!({ "sessionId": self.session.id, "modeId": wanted });
        self.ask("session/set_mode", params, START_TIME).await?;
        self.session.mode = Some(wanted.to_owned());
        Ok(())
    }

    /// Sets the model that the settings name, and finds out which one it is.
    async fn choose_model(&mut self, agent: &OwnAgent, opened: &Value) -> Result<(), SessionStep> {
        let choice = ModelChoice::find(opened);
        self.session.model = choice.as_ref().and_then(|choice| choice.current.clone());
        let Some(wanted) = &agent.model else { return Ok(()) };
        let Some(choice) = choice else {
            let message = format!(
                "{} does not let its model be chosen; remove `model` from [agents.{}]",
                agent.title(),
                agent.name
            );
            let failed = failure("agent_model", Category::Critical, message);
            return Err(SessionStep::Failed(failed));
        };
        if !choice.offered.is_empty() && !choice.offered.contains(wanted) {
            let message = format!(
                "{} has no model {wanted}; set `model` of [agents.{}] to one of: {}",
                agent.title(),
                agent.name,
                choice.offered.join(", ")
            );
            let failed = failure("agent_model", Category::Critical, message);
            return Err(SessionStep::Failed(failed));
        }
        let (method, params) = choice.request(&self.session.id, wanted);
        self.ask(method, params, START_TIME).await?;
        self.session.model = Some(wanted.clone());
        Ok(())
    }

    /// The process, and when it started.
    pub(crate) fn process(&self) -> (u32, u64) {
        self.process.process()
    }

    /// Ends the agent with everything it started.
    pub(crate) async fn end(self) {
        let Self { mut connection, process, .. } = self;
        connection.close();
        process.end().await;
    }

    /// Ends the agent after its connection broke, and says why as far as that is known.
    pub(crate) async fn end_broken(
        self,
        agent: &OwnAgent,
        error: &RequestError,
    ) -> ExecutionFailure {
        let Self { mut connection, process, .. } = self;
        connection.close();
        ending_failure(agent, error, process).await
    }
}

/// How a step towards a session went wrong.
enum SessionStep {
    Failed(ExecutionFailure),
    NotLoaded { why: String },
    Broken(RequestError),
}

/// The models that an agent offers, in the form it offers them.
struct ModelChoice {
    /// The option by which it is set; none where the agent has a method of its own.
    option: Option<String>,
    current: Option<String>,
    offered: Vec<String>,
}

impl ModelChoice {
    fn find(opened: &Value) -> Option<Self> {
        let options = opened.get("configOptions").and_then(Value::as_array);
        let is_model = |option: &&Value| {
            let named = |field: &str| option.get(field).and_then(Value::as_str);
            named("category") == Some("model") || named("id") == Some("model")
        };
        if let Some(option) = options.into_iter().flatten().find(is_model) {
            let text = |field: &str| Some(option.get(field)?.as_str()?.to_owned());
            return Some(Self {
                option: text("id"),
                current: text("currentValue"),
                offered: offered_values(option.get("options").unwrap_or(&Value::Null)),
            });
        }
        let models = opened.get("models")?;
        let offered = models.get("availableModels").and_then(Value::as_array);
        let offered = offered.into_iter().flatten();
        Some(Self {
            option: None,
            current: models.get("currentModelId").and_then(Value::as_str).map(str::to_owned),
            offered: offered
                .filter_map(|model| Some(model.get("modelId")?.as_str()?.to_owned()))
                .collect(),
        })
    }

    fn request(&self, session: &str, model: &str) -> (&'static str, Value) {
        match &self.option {
            Some(option) => (
                "session/set_config_option",
                json!({ "sessionId": session, "configId": option, "value": model }),
            ),
            None => ("session/set_model", json!({ "sessionId": session, "modelId": model })),
        }
    }
}

/// The values of an option, be they in groups or not.
fn offered_values(options: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for option in options.as_array().into_iter().flatten() {
        match option.get("value").and_then(Value::as_str) {
            Some(value) => found.push(value.to_owned()),
            None => found.extend(offered_values(option.get("options").unwrap_or(&Value::Null))),
        }
    }
    found
}

fn home_directory() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

/// Whether an error means that the person has to sign in. Not every agent has the code for it.
pub(crate) fn is_sign_in_error(code: i32, message: &str) -> bool {
    let message = message.to_lowercase();
    code == AUTH_REQUIRED
        || ["authentication required", "auth required", "not logged in", "please log in", "sign in"]
            .iter()
            .any(|words| message.contains(words))
}

pub(crate) fn sign_in_failure(agent: &OwnAgent, said: &str) -> ExecutionFailure {
    let said = if said.is_empty() { String::new() } else { format!(" It says: {said}.") };
    let message = format!(
        "{} is not signed in; {}, then retry. If you use a key, name its variable in `env` of [agents.{}].{said}",
        agent.title(),
        agent.sign_in_hint(),
        agent.name
    );
    failure("agent_not_signed_in", Category::Critical, message)
}

fn version_failure(agent: &OwnAgent, said: &str) -> ExecutionFailure {
    let message = format!(
        "{} speaks another version of the Agent Client Protocol than Planwright, which speaks version \
         {PROTOCOL_VERSION}; install a version of the agent that fits ({said})",
        agent.title()
    );
    failure("agent_protocol", Category::Critical, message)
}

fn start_failure(agent: &OwnAgent, error: &AgentStartError) -> ExecutionFailure {
    let title = agent.title();
    match error {
        AgentStartError::NotInstalled { program } => {
            let known = KnownAgent::of(agent.product);
            let adapter = known.and_then(|known| known.adapter);
            let adapter = adapter.map(|install| format!("; `{install}` installs it"));
            let message = format!(
                "{title} cannot start: {program} is not installed or not on the PATH{}",
                adapter.unwrap_or_default()
            );
            failure("agent_not_installed", Category::Critical, message)
        }
        AgentStartError::NotConfined { why } => {
            let message =
                format!("{title} was not started, because nothing would confine it: {why}");
            failure("sandbox_failed", Category::Critical, message)
        }
        AgentStartError::Failed { source, .. } => {
            let message = format!("{title} does not start: {source}");
            failure("agent_failed_to_start", Category::Critical, message)
        }
    }
}

/// Why an agent's connection broke, with how its process ended and the last that it printed as an error.
async fn ending_failure(
    agent: &OwnAgent,
    error: &RequestError,
    mut process: AgentProcess,
) -> ExecutionFailure {
    if let RequestError::Closed { .. } = error {
        // Its output ends a moment before the process does.
        for _ in 0..20 {
            if process.exit_status().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    }
    let status = process.exit_status().map(|status| format!(" ({status})")).unwrap_or_default();
    let printed = process.error_output();
    process.end().await;
    let title = agent.title();
    let last = printed.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map(|line| format!(": {}", planwright_text::truncate_end(line.trim(), 300)));
    let last = last.unwrap_or_default();
    match error {
        RequestError::Refused { message, .. } => {
            let message = format!("{title} reports an error: {message}");
            failure("agent_error", Category::Recoverable, message)
        }
        RequestError::NoAnswer { seconds } => {
            let message = format!("{title} did not answer within {seconds} s{last}");
            failure("agent_silent", Category::Recoverable, message)
        }
        RequestError::Closed { why } => {
            let message = format!("{title} stopped: {why}{status}{last}");
            // What it was at may have happened: whether it is tried again is for the person to say.
            failure("agent_died", Category::Critical, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_in_either_form() {
        let options = json!({"configOptions": [
            {"id": "mode", "category": "mode", "currentValue": "default", "options": []},
            {"id": "model", "category": "model", "currentValue": "sonnet",
             "options": [{"value": "sonnet"}, {"group": "g", "options": [{"value": "opus"}]}]},
        ]});
        let choice = ModelChoice::find(&options).unwrap();
        assert_eq!((choice.current.as_deref(), choice.offered.len()), (Some("sonnet"), 2));
        assert_eq!(choice.request("s", "opus").0, "session/set_config_option");
        let models =
            json!({"models": {"currentModelId": "a", "availableModels": [{"modelId": "a"}]}});
        let choice = ModelChoice::find(&models).unwrap();
        assert_eq!(choice.request("s", "a").0, "session/set_model");
        assert!(ModelChoice::find(&json!({})).is_none());
    }

    #[test]
    fn agents_say_in_different_words_that_nobody_is_signed_in() {
        assert!(is_sign_in_error(-32000, "Authentication required"));
        assert!(is_sign_in_error(-32603, "Please log in first"));
        assert!(!is_sign_in_error(-32603, "the model is overloaded"));
    }
}
