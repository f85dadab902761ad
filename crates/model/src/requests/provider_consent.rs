//! Whether a provider's key that was found may be used.

use super::new_request;
use crate::{Choice, ChoiceAction, Request, RequestId, RequestKind};

/// Whether a key that was found may be used: the first question of a session. `variable` is where the key is set.
pub fn consent_request(id: RequestId, provider: &str, variable: &str) -> Request {
    let mut asked = new_request(
        id,
        RequestKind::Consent { provider: provider.to_owned() },
        format!("Use {provider} for this and later sessions?"),
        format!("{variable} is set; nothing was sent to {provider} yet"),
    );
    asked.choices = vec![
        Choice::new(ChoiceAction::UseProvider, "use it", "remembered in your config"),
        Choice::new(
            ChoiceAction::OfflineThisTime,
            "offline this time",
            "the built-in planner drafts; you are asked again next time",
        ),
        Choice::new(ChoiceAction::NeverUse, "never", "remembered in your config"),
    ];
    asked
}
