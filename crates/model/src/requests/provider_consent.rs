//! Whether a provider's key that was found may be used.

use super::new_request;
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind};

/// Whether a key that was found may be used: the first question of a session. `variable` is where the key is set.
pub fn consent_request(id: RequestId, provider: &str, variable: &str) -> Request {
    let name = display_name(provider);
    let mut asked = new_request(
        id,
        RequestKind::Consent { provider: provider.to_owned() },
        format!("Use your {name} key?"),
        format!("{variable} is set. Nothing was sent to {name} yet."),
    );
    asked.choices = vec![
        Choice::new(
            ChoiceAction::UseProviderOnce,
            "use it for this plan",
            format!("{name} drafts this plan; the next one asks again"),
        ),
        Choice::new(ChoiceAction::UseProvider, "always use it", "saved to your settings"),
        Choice::new(
            ChoiceAction::OfflineThisTime,
            "not now",
            "the built-in planner drafts; the next plan asks again",
        ),
        Choice::new(ChoiceAction::NeverUse, "never", "saved to your settings"),
    ];
    asked
}

/// A provider as its makers write it; an unknown one as it is configured.
fn display_name(provider: &str) -> &str {
    match provider {
        "anthropic" => "Anthropic",
        "openai" => "OpenAI",
        "gemini" => "Gemini",
        "ollama" => "Ollama",
        other => other,
    }
}
