//! `--gate` and `--gate-override`: whether something small skips ceremony, over what the config says.

use clap::ValueEnum;

use super::options::SharedArgs;
use crate::config::SourcedSetting;
use crate::config::agents::{GateOverrides, GateSettings};
use crate::console::CliProblem;
use planwright_drafting::gate::{ForcedGateDecision, GatePolicyOverrides};
use planwright_model::setting::SettingOrigin;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateArg {
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
pub(super) fn overlay_gate(shared: &SharedArgs, gate: &mut GateSettings) -> Result<(), CliProblem> {
    let sourced = |value, flag: &str| SourcedSetting {
        value,
        origin: SettingOrigin::CommandLine(flag.to_owned()),
    };
    if let Some(json) = &shared.gate_override {
        let GatePolicyOverrides { decision, signals } =
            serde_json::from_str(json).map_err(|error| {
                CliProblem::usage(format!("--gate-override is not valid: {error}"))
                    .with_remedy(r#"try '{"decision": "force_full"}'"#)
            })?;
        let decision = decision.map(|forced| forced_name(forced).to_owned());
        gate.user_overrides = sourced(GateOverrides { decision, signals }, "--gate-override");
    }
    let Some(when) = shared.gate else { return Ok(()) };
    let origin = SettingOrigin::CommandLine("--gate".to_owned());
    gate.policy_enabled = SourcedSetting { value: when != GateArg::Off, origin };
    let decision = match when {
        GateArg::ForceExit => Some(ForcedGateDecision::ForceExit),
        GateArg::ForceFull => Some(ForcedGateDecision::ForceFull),
        GateArg::Auto | GateArg::Off => None,
    };
    // A decision in the same command's override stays, unless the flag makes one itself.
    if decision.is_some() || shared.gate_override.is_none() {
        let overrides = GateOverrides {
            decision: decision.map(|forced| forced_name(forced).to_owned()),
            signals: gate.user_overrides.value.signals.clone(),
        };
        gate.user_overrides = sourced(overrides, "--gate");
    }
    Ok(())
}

fn forced_name(forced: ForcedGateDecision) -> &'static str {
    match forced {
        ForcedGateDecision::ForceExit => "force_exit",
        ForcedGateDecision::ForceFull => "force_full",
    }
}
