//! Limits of a run. One that is reached pauses the run and asks.

use serde::{Deserialize, Serialize};

use super::MicroDollars;
use planwright_text::units::{format_span, format_whole_tokens};

/// A limit by the name it has in the settings.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RunCap {
    /// Minutes of a run, without the time it waited for the person.
    RunWallTimeMin,
    RunTokenLimit,
    BudgetPerSessionUsd,
    /// Over all sessions of the person's day. Raised, it says how much this session may spend whatever the day says.
    DailyBudgetUsd,
}

impl RunCap {
    pub const ALL: [Self; 4] = [
        Self::RunWallTimeMin,
        Self::RunTokenLimit,
        Self::BudgetPerSessionUsd,
        Self::DailyBudgetUsd,
    ];

    /// The limit that a message names.
    pub fn find_in_message(message: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cap| message.contains(cap.name()))
    }

    /// The limit as a noun in a sentence: "the spending limit".
    pub fn describe(self) -> &'static str {
        match self {
            Self::RunWallTimeMin => "the time limit",
            Self::RunTokenLimit => "the token limit",
            Self::BudgetPerSessionUsd => "the spending limit",
            Self::DailyBudgetUsd => "today's spending limit",
        }
    }

    /// The name of its setting.
    pub fn name(self) -> &'static str {
        match self {
            Self::RunWallTimeMin => "run_wall_time_min",
            Self::RunTokenLimit => "run_token_limit",
            Self::BudgetPerSessionUsd => "budget_per_session_usd",
            Self::DailyBudgetUsd => "daily_budget_usd",
        }
    }

    /// How far *raise once* goes: a tenth of what was used, at least one unit that people notice.
    pub fn raised_limit(self, used: u64) -> u64 {
        let least = match self {
            Self::RunWallTimeMin => 10,
            Self::RunTokenLimit => 10_000,
            Self::BudgetPerSessionUsd | Self::DailyBudgetUsd => 100_000,
        };
        used.saturating_add((used / 10).max(least))
    }

    /// Whether the person can choose how far it is raised, and keep that. What a day may cost is worked out anew for
    /// each session.
    pub fn has_chosen_amount(self) -> bool {
        self != Self::DailyBudgetUsd
    }

    /// The amount one step above or below another one, never below what *raise once* offers.
    pub fn step_amount(self, used: u64, amount: u64, up: bool) -> u64 {
        let least = self.raised_limit(used);
        let step = least - used;
        if up { amount.saturating_add(step) } else { amount.saturating_sub(step).max(least) }
    }

    /// An amount as the settings file has it.
    pub fn setting_text(self, amount: u64) -> String {
        match self {
            Self::RunWallTimeMin | Self::RunTokenLimit => amount.to_string(),
            Self::BudgetPerSessionUsd | Self::DailyBudgetUsd => {
                MicroDollars(amount).to_exact_string().trim_start_matches('$').to_owned()
            }
        }
    }

    /// An amount of what is limited, in words. The unit is minutes, tokens or micro-dollars.
    pub fn format_amount(self, amount: u64) -> String {
        match self {
            Self::RunWallTimeMin => format_span(amount),
            Self::RunTokenLimit => format!("{} tokens", format_whole_tokens(amount)),
            Self::BudgetPerSessionUsd | Self::DailyBudgetUsd => {
                MicroDollars(amount).to_exact_string()
            }
        }
    }
}

/// The limits a run begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunCapSettings {
    pub wall_time_min: Option<u64>,
    pub tokens: u64,
    pub session_cost: MicroDollars,
}

impl Default for RunCapSettings {
    fn default() -> Self {
        Self { wall_time_min: None, tokens: 2_000_000, session_cost: MicroDollars(2_000_000) }
    }
}

impl RunCapSettings {
    /// Each limit that is set, in the order in which they are checked.
    pub fn configured_limits(&self) -> impl Iterator<Item = (RunCap, u64)> {
        [
            self.wall_time_min.map(|minutes| (RunCap::RunWallTimeMin, minutes)),
            Some((RunCap::BudgetPerSessionUsd, self.session_cost.0)),
            Some((RunCap::RunTokenLimit, self.tokens)),
        ]
        .into_iter()
        .flatten()
    }
}
