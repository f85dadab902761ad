//! `--gate` and `--gate-override`: whether something small skips ceremony, over what the config says.

use clap::ValueEnum;

use super::{Problem, Shared};
use crate::config::Sourced;
use crate::config::agents::{GateOverrides, GateSettings};
use planwright_drafting::gate::{Forced, Overrides};
use planwright_model::setting::SettingOrigin;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Gate {
    /// By its signals
    Auto,
    /// No gating: always the full run
    Off,
    /// A single pass
    #[value(name = "force_exit")]
    ForceExit,
    /// The full run
    #[value(name = "force_full", alias = "force_debate")]
    ForceFull,
}

/// Puts the flags over the settings.
pub(crate) fn overlay(shared: &Shared, gate: &mut GateSettings) -> Result<(), Problem> {
    let sourced =
        |value, flag: &str| Sourced { value, origin: SettingOrigin::CommandLine(flag.to_owned()) };
    if let Some(json) = &shared.gate_override {
        let Overrides { decision, signals } = serde_json::from_str(json).map_err(|error| {
            Problem::usage(format!("--gate-override is not what it takes: {error}"))
                .remedy(r#"try '{"decision": "force_full"}'"#)
        })?;
        let decision = decision.map(|forced| word(forced).to_owned());
        gate.user_overrides = sourced(GateOverrides { decision, signals }, "--gate-override");
    }
    let Some(when) = shared.gate else { return Ok(()) };
    let origin = SettingOrigin::CommandLine("--gate".to_owned());
    gate.policy_enabled = Sourced { value: when != Gate::Off, origin };
    let decision = match when {
        Gate::ForceExit => Some(Forced::ForceExit),
        Gate::ForceFull => Some(Forced::ForceFull),
        Gate::Auto | Gate::Off => None,
    };
    // A decision in the same command's override stays, unless the flag makes one itself.
    if decision.is_some() || shared.gate_override.is_none() {
        let overrides = GateOverrides {
            decision: decision.map(|forced| word(forced).to_owned()),
            signals: gate.user_overrides.value.signals.clone(),
        };
        gate.user_overrides = sourced(overrides, "--gate");
    }
    Ok(())
}

fn word(forced: Forced) -> &'static str {
    match forced {
        Forced::ForceExit => "force_exit",
        Forced::ForceFull => "force_full",
    }
}
