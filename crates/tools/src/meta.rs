//! What is known about a tool before it runs, and about a call once its arguments are resolved.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use planwright_model::Digest;
use planwright_model::event::{FileChange, RiskClass};

/// What a call does, as distinguished by the permission table. It comes from the code of a tool or from the user's
/// config, never from a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEffect {
    /// Reads the workspace or memory.
    Look,
    /// Starts other calls, each of which is decided separately.
    Orchestrate,
    /// Changes session state and nothing else.
    SessionState,
    /// Changes files of the workspace.
    Write,
    /// Runs a command.
    Execute,
    /// Runs a command that may reach the network.
    ExecuteNetwork,
    /// Reads from the network.
    Network,
    /// A tool of another program: it can do anything.
    Foreign,
}

impl ToolEffect {
    /// The class named in the journal and on cards.
    pub fn risk_class(self) -> RiskClass {
        match self {
            Self::Look | Self::Orchestrate | Self::SessionState => RiskClass::Read,
            Self::Write => RiskClass::Write,
            Self::Execute | Self::Foreign => RiskClass::Execute,
            Self::ExecuteNetwork | Self::Network => RiskClass::Network,
        }
    }

    /// Whether a call may change or reach anything beyond the session.
    pub fn has_external_effect(self) -> bool {
        !matches!(self, Self::Look | Self::Orchestrate | Self::SessionState)
    }
}

/// What may be done with a call whose outcome is unknown (trust 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatKind {
    /// Changes nothing: run it again.
    Pure,
    /// Its effect is committed together with its outcome and cannot be in doubt.
    SameTransaction,
    /// The content on disk shows whether it happened.
    Verifiable,
    /// The user decides.
    Unsafe,
}

/// Where a tool came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ToolSource {
    BuiltIn,
    /// A server of the user's config.
    Mcp {
        server: String,
    },
}

/// The description of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolMeta {
    pub name: String,
    pub version: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    /// Names of what must have been produced before, such as `web_search_endpoint`.
    pub prerequisites: Vec<String>,
    pub produces: Vec<String>,
    /// The same arguments give the same answer, so that it may come from the cache.
    pub idempotent: bool,
    pub read_only: bool,
    /// The least that any call of it does; a single call may have a more severe effect.
    pub effect: ToolEffect,
    pub repeat: RepeatKind,
    /// How long a call may take, unless its arguments ask for less.
    #[serde(skip)]
    pub time_limit: Duration,
    pub source: ToolSource,
    /// Other names that models use for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

impl ToolMeta {
    /// Creates the description of a built-in tool whose arguments are `Args`. Other fields are derived from its effect.
    pub fn built_in<Args: JsonSchema>(name: &str, effect: ToolEffect, description: &str) -> Self {
        let looks = matches!(effect, ToolEffect::Look | ToolEffect::Network);
        Self {
            name: name.to_owned(),
            version: "1".to_owned(),
            description: description.to_owned(),
            schema: super::schema::schema_for::<Args>(),
            prerequisites: Vec::new(),
            produces: Vec::new(),
            idempotent: looks,
            read_only: looks,
            effect,
            repeat: match effect {
                ToolEffect::Look | ToolEffect::Network | ToolEffect::Orchestrate => {
                    RepeatKind::Pure
                }
                ToolEffect::SessionState => RepeatKind::SameTransaction,
                ToolEffect::Write => RepeatKind::Verifiable,
                ToolEffect::Execute | ToolEffect::ExecuteNetwork | ToolEffect::Foreign => {
                    RepeatKind::Unsafe
                }
            },
            time_limit: Duration::from_secs(60),
            source: ToolSource::BuiltIn,
            aliases: Vec::new(),
        }
    }

    pub fn with_products(mut self, names: &[&str]) -> Self {
        self.produces.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }

    pub fn with_alias(mut self, name: &str) -> Self {
        self.aliases.push(name.to_owned());
        self
    }

    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }
}

/// What a call will touch, determined before it runs. Contains everything the permission function needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedCall {
    pub effect: ToolEffect,
    /// Files and directories, as real paths relative to the workspace with `/` between names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<TouchedPath>,
    /// `host` or `host:port`, lower case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The full address, for the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A command line, byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A hash of the current content of a file, so that an answer is bound to what it was given for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_hash: Option<Digest>,
    /// A hash of the future content of the file, so that a call in doubt can be checked against the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_hash: Option<Digest>,
    /// The change, for the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The approval state of a foreign tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<ToolPin>,
    /// The arguments that will be used, with defaults filled in.
    pub args: Value,
}

impl ResolvedCall {
    pub fn new(effect: ToolEffect, args: Value) -> Self {
        Self {
            effect,
            paths: Vec::new(),
            hosts: Vec::new(),
            url: None,
            command: None,
            before_hash: None,
            after_hash: None,
            preview: None,
            pin: None,
            args,
        }
    }

    /// What the call does to the one file it touches, if both sides are known.
    pub fn file_change(&self) -> Option<FileChange> {
        let ([touched], Some(after)) = (self.paths.as_slice(), &self.after_hash) else {
            return None;
        };
        let (path, before) = (touched.path.clone(), self.before_hash.clone());
        Some(FileChange { path, before, after: after.clone() })
    }

    pub fn with_path(mut self, path: TouchedPath) -> Self {
        self.paths.push(path);
        self
    }
}

/// A path that a call touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedPath {
    /// Relative to the workspace, with links resolved.
    pub path: String,
    /// Whether changing it changes what other programs run on their own, such as `.git/hooks`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
}

/// The approval state of a foreign tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolPin {
    pub hash: Digest,
    pub standing: PinStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinStatus {
    /// It has not been approved yet.
    New,
    /// Its description or arguments differ from what was approved.
    Changed,
    Approved,
}
