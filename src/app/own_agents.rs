//! The person's own agents: those of the settings with what is usual for them and what their tests showed, and those
//! that are only installed. Nothing is started here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::App;
use crate::config::OwnAgentConfig;
use crate::plan_source::PlanFileNames;
use planwright_agents::{KnownAgent, OwnAgent, OwnAgents, SILENCE};
use planwright_engine::CODING_TYPES;
use planwright_files::{self as files, FileLimit};
use planwright_model::event::{Event, SessionEvent};
use planwright_model::{
    AgentDescription, AgentNetwork, AgentProduct, AskingHabit, Digest, Plan, RunKind,
};
use planwright_state::SessionState;
use planwright_tools::agent_process::{AllowedHost, find_program};

/// What the last test of an agent showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentTest {
    /// Of the command that was tested; another command is another agent.
    pub command: Digest,
    pub tested_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub asks: AskingHabit,
    /// Why it could not be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// An agent that is set up or installed, or both.
#[derive(Clone, Debug)]
pub(crate) struct ListedAgent {
    pub name: String,
    pub product: AgentProduct,
    /// Its name stands in the settings.
    pub is_on: bool,
    /// Its program was found.
    pub is_installed: bool,
    pub command: Vec<String>,
    /// What to install so that it can be used.
    pub missing: Option<String>,
    pub test: Option<AgentTest>,
}

impl ListedAgent {
    pub(crate) fn title(&self) -> &str {
        self.product.title().unwrap_or(&self.name)
    }
}

impl App {
    /// The agents of the settings, ready to be given tasks.
    pub(crate) fn own_agents(&self) -> OwnAgents {
        let tests = self.agent_tests();
        let agents = self.settings.own_agents.agents.iter();
        agents.map(|(name, config)| (name.clone(), own_agent(name, config, &tests))).collect()
    }

    /// The names that plans may use.
    pub(crate) fn agent_names(&self) -> Vec<String> {
        self.settings.own_agents.agents.keys().cloned().collect()
    }

    /// The types of tasks that are known here, those of files in `task_types/` of the config directory included.
    pub(crate) fn task_type_names(&self) -> Vec<String> {
        let (assets, _) = planwright_agents::AgentAssets::load(self.config_dir());
        assets.types.iter().map(|kind| kind.name.clone()).collect()
    }

    /// The names of executors that plans may use.
    pub(crate) fn executor_names(&self) -> Vec<String> {
        self.settings.executors.keys().cloned().collect()
    }

    /// The names that plan files may use.
    pub(crate) fn plan_file_names(&self) -> PlanFileNames {
        PlanFileNames {
            agents: self.agent_names(),
            executors: self.executor_names(),
            task_types: self.task_type_names(),
        }
    }

    /// Agents of the settings, and known ones that are installed, in the order of their names and of the known list.
    pub(crate) fn listed_agents(&self) -> Vec<ListedAgent> {
        let tests = self.agent_tests();
        let mut listed: Vec<ListedAgent> = self
            .settings
            .own_agents
            .agents
            .iter()
            .map(|(name, config)| {
                let agent = own_agent(name, config, &tests);
                listed_agent(&agent, true, &tests)
            })
            .collect();
        for known in KnownAgent::all() {
            let name = known.product.as_str();
            let is_on = listed.iter().any(|agent| agent.name == name);
            let own_adapter = || known.command.first().is_some_and(|program| on_path(program));
            if !is_on && (on_path(known.program) || own_adapter()) {
                let agent = own_agent(name, &OwnAgentConfig::default(), &tests);
                listed.push(listed_agent(&agent, false, &tests));
            }
        }
        listed
    }

    /// The same for one agent that need not be turned on.
    pub(crate) fn agent_by_name(&self, name: &str) -> Option<OwnAgent> {
        let tests = self.agent_tests();
        let own = self.settings.own_agents.agents.get(name);
        let config = own.cloned().or_else(|| {
            let product: AgentProduct = name.parse().ok()?;
            KnownAgent::of(product).map(|_| OwnAgentConfig::default())
        })?;
        Some(own_agent(name, &config, &tests))
    }

    fn tests_path(&self) -> Option<PathBuf> {
        Some(self.data_dir.as_ref()?.join("agent-tests.json"))
    }

    /// What tests of agents showed. A file that cannot be read counts as none: agents are then tested again.
    pub(crate) fn agent_tests(&self) -> BTreeMap<String, AgentTest> {
        let limit = FileLimit { what: "the tests of agents", bytes: 1 << 20 };
        let text = self.tests_path().and_then(|path| files::read_text(&path, limit).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Keeps what a test of an agent showed.
    pub(crate) fn save_agent_test(&self, name: &str, test: AgentTest) -> anyhow::Result<()> {
        let path = self.require_data_dir()?.join("agent-tests.json");
        let mut tests = self.agent_tests();
        tests.insert(name.to_owned(), test);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let fresh = path.with_extension("json.new");
        std::fs::write(&fresh, serde_json::to_vec_pretty(&tests)?)?;
        Ok(std::fs::rename(&fresh, &path)?)
    }

    /// The agents as a session describes them, if they differ from what it knows.
    pub(super) fn agents_event(&self, state: &SessionState) -> Option<Event> {
        let described = self.describe_agents();
        let known: Vec<&AgentDescription> = state.session.agents.values().collect();
        let same =
            known.len() == described.len() && known.iter().zip(&described).all(|(a, b)| **a == *b);
        (!same).then(|| SessionEvent::AgentsDescribed { agents: described }.into())
    }

    fn describe_agents(&self) -> Vec<AgentDescription> {
        let own = self.own_agents();
        if own.is_empty() {
            return Vec::new();
        }
        let sandbox = planwright_tools::sandbox::Sandbox::with_current_program();
        let network = match (sandbox.probe().enforced, sandbox.has_own_network()) {
            (false, _) => AgentNetwork::Open,
            (true, false) => AgentNetwork::Ports,
            (true, true) => AgentNetwork::Hosts,
        };
        let tests = self.agent_tests();
        let describe = |agent: &OwnAgent| {
            let test = valid_test(agent, &tests);
            let known = KnownAgent::of(agent.product);
            let mode = agent.mode.clone();
            AgentDescription {
                name: agent.name.clone(),
                product: agent.product,
                version: test.and_then(|test| test.version.clone()),
                mode: mode.or_else(|| known?.asking_mode.map(str::to_owned)),
                model: agent.model.clone().or_else(|| test?.model.clone()),
                asks: agent.asks,
                tested_at: test.map(|test| test.tested_at),
                hosts: agent.hosts.iter().map(ToString::to_string).collect(),
                network,
                problem: missing_program(&agent.command, agent.product),
            }
        };
        own.values().map(describe).collect()
    }

    /// Gives tasks that change code to the default agent, where the plan names nobody.
    pub(super) fn assign_default_agent(&self, plan: &mut Plan) {
        let Some(default) = &self.settings.own_agents.default else { return };
        for task in &mut plan.tasks {
            if let RunKind::Agent(run) = &mut task.run
                && run.is_built_in()
                && CODING_TYPES.contains(&task.task_type.as_str())
            {
                run.with.clone_from(default);
            }
        }
    }
}

fn own_agent(name: &str, config: &OwnAgentConfig, tests: &BTreeMap<String, AgentTest>) -> OwnAgent {
    let product = config.product(name);
    let known = KnownAgent::of(product);
    let usual = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let command = match known {
        Some(known) if config.command.is_empty() => usual(known.command),
        _ => config.command.clone(),
    };
    let hosts = match (&config.hosts, known) {
        (Some(hosts), _) => hosts.clone(),
        (None, Some(known)) => usual(known.hosts),
        (None, None) => Vec::new(),
    };
    let mut agent = OwnAgent {
        name: name.to_owned(),
        product,
        command,
        mode: config.mode.clone(),
        model: config.model.clone(),
        environment: config.env.clone(),
        // Both are checked when they are read.
        hosts: hosts.iter().filter_map(|host| host.parse::<AllowedHost>().ok()).collect(),
        readable: config.readable.clone(),
        writable: config.writable.clone(),
        asks: AskingHabit::Untested,
        silence: SILENCE,
    };
    agent.asks = valid_test(&agent, tests).map_or(AskingHabit::Untested, |test| test.asks);
    agent
}

/// What identifies the agent that was tested: its command and the mode it is in.
pub(crate) fn tested_command(agent: &OwnAgent) -> Digest {
    Digest::from_json(&serde_json::json!([agent.command, agent.mode, agent.model]))
}

/// The last test of an agent, if it was of the same command.
fn valid_test<'t>(
    agent: &OwnAgent,
    tests: &'t BTreeMap<String, AgentTest>,
) -> Option<&'t AgentTest> {
    tests.get(&agent.name).filter(|test| test.command == tested_command(agent))
}

fn listed_agent(agent: &OwnAgent, is_on: bool, tests: &BTreeMap<String, AgentTest>) -> ListedAgent {
    let missing = missing_program(&agent.command, agent.product);
    ListedAgent {
        name: agent.name.clone(),
        product: agent.product,
        is_on,
        is_installed: missing.is_none(),
        command: agent.command.clone(),
        missing,
        test: valid_test(agent, tests).cloned(),
    }
}

/// What is not installed of an agent, and how to install it.
fn missing_program(command: &[String], product: AgentProduct) -> Option<String> {
    let program = command.first()?;
    if on_path(program) {
        return None;
    }
    let known = KnownAgent::of(product);
    let adapter = known.and_then(|known| known.adapter).map(|how| format!("; {how}"));
    Some(format!("{program} is not installed{}", adapter.unwrap_or_default()))
}

fn on_path(program: &str) -> bool {
    find_program(program, &std::env::var_os("PATH").unwrap_or_default()).is_some()
}
