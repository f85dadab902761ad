//! What an agent may see and do: its own copy of the workspace, its own settings, the system, and its hosts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::AgentCommand;
use super::allowed_hosts::AllowedHost;
use super::network_exit::NetworkExit;
use super::program_paths::program_directories;
use super::proxy::ExitReport;
use crate::process::CALL_VARIABLE;
use crate::sandbox::{
    AgentNetworkRights, AgentRights, PrivateDirectory, Sandbox, SandboxLauncher, SandboxLimits,
    SandboxProfile, ToolchainPaths, environment,
};
use planwright_model::AgentNetwork;

/// How an agent is started.
#[derive(Debug)]
pub(super) struct AgentConfinement {
    pub(super) environment: BTreeMap<String, String>,
    /// `None` if nothing on this system can confine it.
    pub(super) launcher: Option<SandboxLauncher>,
    pub(super) network: AgentNetwork,
    /// The way out of its network, where it has one of its own.
    pub(super) exit: Option<NetworkExit>,
    pub(super) private: PrivateDirectory,
}

impl AgentConfinement {
    pub(super) fn prepare(
        sandbox: &Sandbox,
        agent: &AgentCommand,
        program: &Path,
        report: ExitReport,
    ) -> io::Result<Self> {
        let private = PrivateDirectory::create()?;
        // Variables that are not UTF-8 do not reach agents.
        let person: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut homes = ToolchainPaths::find_existing(&person);
        let own_network = sandbox.has_own_network();
        if !own_network {
            homes.add_name_resolution(Path::new("/"));
        }
        let exit = own_network
            .then(|| NetworkExit::prepare(private.path(), &agent.hosts, report))
            .transpose()?;
        let mut read = homes.read;
        read.extend(program_directories(&agent.command, program));
        read.extend(agent.readable.iter().cloned());
        let mut write = homes.write;
        write.extend(agent.writable.iter().cloned());
        write.push(agent.directory.clone());
        write.push(private.path().to_owned());
        let network =
            exit.as_ref().map_or_else(|| limited_ports(&agent.hosts), NetworkExit::rights);
        let profile = SandboxProfile {
            read,
            write,
            network: true,
            own_mounts: false,
            agent: Some(AgentRights { network, hidden: hidden_directories(&person) }),
            limits: SandboxLimits { memory_bytes: None, ..SandboxLimits::default() },
        };
        let launcher = sandbox.launcher_for(&profile)?;
        let network = match (&launcher, &exit) {
            (None, _) => AgentNetwork::Open,
            (Some(_), Some(_)) => AgentNetwork::Hosts,
            (Some(_), None) => AgentNetwork::Ports,
        };
        let exit = exit.filter(|_| launcher.is_some());
        let environment =
            agent_environment(&person, agent, private.path(), &homes.variables, exit.as_ref());
        Ok(Self { environment, launcher, network, exit, private })
    }
}

fn limited_ports(hosts: &[AllowedHost]) -> AgentNetworkRights {
    let mut connect: Vec<u16> = hosts.iter().map(AllowedHost::port).collect();
    connect.sort_unstable();
    connect.dedup();
    AgentNetworkRights::Ports { connect }
}

/// Directories with sockets of other programs: an agent that could connect to those could do what they can.
fn hidden_directories(person: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let named = ["HOME", "XDG_RUNTIME_DIR", "TMPDIR"].iter().filter_map(|name| person.get(*name));
    let fixed = ["/run", "/var/run", "/tmp", "/var/tmp"].into_iter().map(PathBuf::from);
    let mut hidden: Vec<PathBuf> = named.map(PathBuf::from).chain(fixed).collect();
    hidden.retain(|path| path.is_absolute());
    hidden
}

/// The variables of an agent: harmless ones, those that the person lists for it, and where it finds its settings.
fn agent_environment(
    person: &BTreeMap<String, String>,
    agent: &AgentCommand,
    private: &Path,
    toolchains: &[(String, String)],
    exit: Option<&NetworkExit>,
) -> BTreeMap<String, String> {
    let mut built = environment::build_environment(person, &agent.environment, private, toolchains);
    // An agent that is signed in finds that in the person's home, of which it sees only its own settings.
    built.extend(person.get("HOME").map(|home| ("HOME".to_owned(), home.clone())));
    let listed = agent.environment.iter();
    built.extend(listed.filter_map(|name| Some((name.clone(), person.get(name)?.clone()))));
    built.extend(exit.into_iter().flat_map(NetworkExit::variables));
    built.insert(CALL_VARIABLE.to_owned(), agent.mark.clone());
    built
}
