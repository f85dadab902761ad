//! The roles that colours are given to. A screen names a role, never a colour.

macro_rules! roles {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// What a piece of the screen is, for its colour and attributes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ThemeRole {
            $($variant),*
        }

        impl ThemeRole {
            /// All roles, in the order of the table.
            pub const ALL: &'static [ThemeRole] = &[$(ThemeRole::$variant),*];

            /// The name in a theme file.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }
        }
    };
}

roles! {
    Text = "text",
    Dim = "dim",
    Rule = "rule",
    Focus = "focus",
    Selection = "selection",
    Key = "key",
    Running = "status.running",
    Done = "status.done",
    Waiting = "status.waiting",
    Yours = "status.yours",
    Asks = "status.asks",
    Failed = "status.failed",
    Skipped = "status.skipped",
    Edge = "edge",
    EdgeCritical = "edge.critical",
    BadgePlan = "badge.plan",
    BadgeLive = "badge.live",
    BadgePaused = "badge.paused",
    BadgeReplay = "badge.replay",
    Thought = "step.thought",
    Action = "step.action",
    Observed = "step.observation",
    DiffAdded = "diff.added",
    DiffRemoved = "diff.removed",
    DiffChanged = "diff.changed",
    DiffMoved = "diff.moved",
    PartModel = "part.model",
    PartRules = "part.rules",
    PartChecks = "part.checks",
    RiskWrite = "risk.write",
    RiskExecute = "risk.execute",
    RiskNetwork = "risk.network",
    Untrusted = "untrusted",
    Warn = "warn",
    Weekend = "weekend",
    Today = "today",
}

impl ThemeRole {
    /// The role with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        // Theme files from before 0.4 have the older name.
        let name = if name == "step.observed" { "step.observation" } else { name };
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }

    /// Whether people read text in it; lines may have less contrast.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Rule | Self::Edge | Self::Weekend)
    }
}
