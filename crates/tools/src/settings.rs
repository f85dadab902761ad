//! Limits and paths of the tools.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::meta::ToolEffect;

/// How many seconds a command of a model may run by default.
pub const COMMAND_TIME_SEC: u64 = 120;

/// Limits and paths of the tools.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSettings {
    /// `result_char_limit`: how long the answer to one subtask may be, including the truncation mark.
    pub result_char_limit: usize,
    /// How many bytes of output are passed to a model.
    pub model_output_bytes: usize,
    /// How many bytes of output are kept.
    pub kept_output_bytes: usize,
    /// How long a model's command may run.
    pub command_time: Duration,
    /// The command that runs the tests, if detection is not wanted.
    pub test_command: Option<String>,
    /// Names of variables that commands may see; a name may end in `*`.
    pub environment: Vec<String>,
    /// Directories outside the workspace that commands may read, such as another toolchain.
    pub readable: Vec<PathBuf>,
    /// Directories outside the workspace that commands may write, such as a build cache.
    pub writable: Vec<PathBuf>,
    pub web: WebSettings,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            result_char_limit: 1500,
            model_output_bytes: 1024 * 1024,
            kept_output_bytes: 64 * 1024 * 1024,
            command_time: Duration::from_secs(COMMAND_TIME_SEC),
            test_command: None,
            environment: Vec::new(),
            readable: Vec::new(),
            writable: Vec::new(),
            web: WebSettings::default(),
        }
    }
}

/// What the web tools may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSettings {
    /// A search service with the API of `SearXNG`.
    pub search_endpoint: Option<String>,
    /// Hosts, with or without a port, that may have private addresses.
    pub allow_private: Vec<String>,
    /// Whether the proxy variables of the environment are used.
    pub use_proxy: bool,
    pub most_bytes: usize,
    pub most_redirects: usize,
    pub time_limit: Duration,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            search_endpoint: None,
            allow_private: Vec::new(),
            use_proxy: false,
            most_bytes: 2 * 1024 * 1024,
            most_redirects: 5,
            time_limit: Duration::from_secs(30),
        }
    }
}

/// A server that provides tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerSettings {
    pub transport: McpTransport,
    /// The effects of its tools declared by the user, by name; `*` matches the rest. Without it they ask.
    pub effects: BTreeMap<String, ToolEffect>,
    pub time_limit: Duration,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpTransport {
    /// Started by us, connected over its standard input and output.
    Process {
        command: Vec<String>,
        /// Names of variables it may see.
        environment: Vec<String>,
        /// Variables with a value that is not secret.
        set: BTreeMap<String, String>,
    },
    /// Streamable HTTP.
    Http {
        url: String,
        /// The variable that contains the token sent as `Authorization: Bearer`.
        token_variable: Option<String>,
    },
}
