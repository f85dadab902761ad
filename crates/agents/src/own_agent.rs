//! An agent of the person's own, as the settings describe it, and what is known about the ones that people have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use planwright_model::{AgentProduct, AgentSession, AskingHabit};
use planwright_tools::agent_process::AllowedHost;

/// The agents that tasks may be given to, by their names in the settings.
pub type OwnAgents = BTreeMap<String, OwnAgent>;

/// How long an agent may say nothing before the person is asked.
pub const SILENCE: Duration = Duration::from_secs(10 * 60);

/// An agent of the person's own.
#[derive(Clone, Debug)]
pub struct OwnAgent {
    /// Its name in the settings and in plans.
    pub name: String,
    pub product: AgentProduct,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The mode that is set after its session is opened.
    pub mode: Option<String>,
    /// The model that is set, where the agent lets itself be told.
    pub model: Option<String>,
    /// Names of the person's variables that it may see.
    pub environment: Vec<String>,
    pub hosts: Vec<AllowedHost>,
    pub readable: Vec<PathBuf>,
    pub writable: Vec<PathBuf>,
    /// What its last test showed.
    pub asks: AskingHabit,
    /// How long it may say nothing before the person is asked.
    pub silence: Duration,
}

impl OwnAgent {
    /// What it is called on screens.
    pub fn title(&self) -> &str {
        self.product.title().unwrap_or(&self.name)
    }

    /// Who reads files for it.
    #[cfg(feature = "acp")]
    pub(crate) fn file_reading(&self) -> FileReading {
        KnownAgent::of(self.product).map_or(FileReading::ThroughUs, |known| known.reading)
    }

    /// How the person signs in with it.
    pub fn sign_in_hint(&self) -> String {
        let program = KnownAgent::of(self.product).map(|known| known.program);
        match program.or(self.command.first().map(String::as_str)) {
            Some(program) => format!("run {program} once and sign in"),
            None => "sign in with it".to_owned(),
        }
    }
}

/// What a test of an agent showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentProbe {
    /// The session that it opened.
    pub session: AgentSession,
    pub asks: AskingHabit,
}

/// How well an agent loads a session that another process of it opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionLoading {
    /// As it says in its capabilities.
    AsOffered,
    /// It offers that and fails.
    Broken,
}

/// Who reads files for an agent. Both see the same files: what it may see is the sandbox's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileReading {
    ThroughUs,
    /// It takes our answer that a file is not there for a failure, and could create none.
    Itself,
}

/// What is known about an agent that people have.
#[derive(Clone, Copy, Debug)]
pub struct KnownAgent {
    pub product: AgentProduct,
    /// The program by which it is recognized.
    pub program: &'static str,
    /// How it is started to speak the protocol.
    pub command: &'static [&'static str],
    /// What to install where the program above does not speak the protocol itself.
    pub adapter: Option<&'static str>,
    /// The mode in which it asks before commands; none where only its own settings decide.
    pub asking_mode: Option<&'static str>,
    /// Its own settings, seen from the home directory.
    pub settings: &'static [&'static str],
    /// Hosts that it needs to reach its maker's models.
    pub hosts: &'static [&'static str],
    pub loading: SessionLoading,
    pub reading: FileReading,
}

/// The agents that are known, in the order in which they are listed.
const KNOWN: [KnownAgent; 6] = [
    KnownAgent {
        product: AgentProduct::Claude,
        program: "claude",
        command: &["claude-agent-acp"],
        adapter: Some("npm install -g @agentclientprotocol/claude-agent-acp"),
        asking_mode: Some("default"),
        settings: &[".claude", ".claude.json", ".config/claude", ".cache/claude-cli-nodejs"],
        hosts: &["api.anthropic.com", "console.anthropic.com", "claude.ai"],
        loading: SessionLoading::AsOffered,
        reading: FileReading::ThroughUs,
    },
    KnownAgent {
        product: AgentProduct::Codex,
        program: "codex",
        command: &["codex-acp"],
        adapter: Some("npm install -g @agentclientprotocol/codex-acp"),
        asking_mode: Some("read-only"),
        settings: &[".codex"],
        hosts: &["api.openai.com", "auth.openai.com", "chatgpt.com"],
        loading: SessionLoading::AsOffered,
        reading: FileReading::ThroughUs,
    },
    KnownAgent {
        product: AgentProduct::Gemini,
        program: "gemini",
        command: &["gemini", "--acp"],
        adapter: None,
        asking_mode: Some("default"),
        settings: &[".gemini"],
        hosts: &[
            "generativelanguage.googleapis.com",
            "cloudcode-pa.googleapis.com",
            "oauth2.googleapis.com",
            "accounts.google.com",
        ],
        loading: SessionLoading::Broken,
        reading: FileReading::Itself,
    },
    KnownAgent {
        product: AgentProduct::Goose,
        program: "goose",
        command: &["goose", "acp"],
        adapter: None,
        asking_mode: Some("approve"),
        settings: &[".config/goose", ".local/share/goose", ".local/state/goose"],
        hosts: &["api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"],
        loading: SessionLoading::AsOffered,
        reading: FileReading::ThroughUs,
    },
    KnownAgent {
        product: AgentProduct::Opencode,
        program: "opencode",
        command: &["opencode", "acp"],
        adapter: None,
        asking_mode: None,
        settings: &[
            ".config/opencode",
            ".local/share/opencode",
            ".local/state/opencode",
            ".cache/opencode",
        ],
        hosts: &["opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"],
        loading: SessionLoading::AsOffered,
        reading: FileReading::ThroughUs,
    },
    KnownAgent {
        product: AgentProduct::Qwen,
        program: "qwen",
        command: &["qwen", "--acp"],
        adapter: None,
        asking_mode: Some("default"),
        settings: &[".qwen"],
        hosts: &["chat.qwen.ai", "portal.qwen.ai", "dashscope.aliyuncs.com"],
        loading: SessionLoading::AsOffered,
        reading: FileReading::ThroughUs,
    },
];

impl KnownAgent {
    /// What is known about a product; nothing about one that nobody knows.
    pub fn of(product: AgentProduct) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.product == product)
    }

    /// All that are known.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        KNOWN.iter()
    }

    /// Its own settings, as whole paths.
    pub fn settings_paths(&self, home: &Path) -> Vec<PathBuf> {
        self.settings.iter().map(|path| home.join(path)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_is_known_and_its_hosts_can_be_allowed() {
        for product in AgentProduct::KNOWN {
            let known = KnownAgent::of(product).unwrap();
            assert!(!known.command.is_empty() && !known.settings.is_empty());
            for host in known.hosts {
                host.parse::<AllowedHost>().unwrap();
            }
        }
        assert!(KnownAgent::of(AgentProduct::Custom).is_none());
    }
}
