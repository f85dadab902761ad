//! What a hook answers, in the words of each agent.

use serde_json::{Map, Value, json};

use super::{HookInput, HookedAgent};

/// What the person decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookDecision {
    Allow {
        /// The plan as the person edited it.
        edited_plan: Option<String>,
    },
    Deny {
        /// What the agent is told.
        reason: String,
    },
    /// The agent asks as if there were no hook.
    Undecided,
}

impl HookDecision {
    pub(super) fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// The one JSON object that the agent reads.
    pub fn to_json(&self, agent: HookedAgent, input: &HookInput) -> Value {
        match (agent, input.hook_event_name.as_str()) {
            (_, "PreToolUse") => self.before_tool_use(input),
            (_, "PermissionRequest") => self.permission_request(agent, input),
            _ => self.gemini(),
        }
    }

    fn before_tool_use(&self, input: &HookInput) -> Value {
        let mut specific = json!({ "hookEventName": "PreToolUse" });
        match self {
            Self::Allow { edited_plan } => {
                specific["permissionDecision"] = "allow".into();
                specific["permissionDecisionReason"] = "Approved in Planwright".into();
                // Claude Code takes the yes for its own question only together with the input.
                specific["updatedInput"] =
                    Value::Object(approved_input(input, edited_plan.as_deref()));
            }
            Self::Deny { reason } => {
                specific["permissionDecision"] = "deny".into();
                specific["permissionDecisionReason"] = reason.as_str().into();
            }
            Self::Undecided => return json!({}),
        }
        json!({ "hookSpecificOutput": specific })
    }

    fn permission_request(&self, agent: HookedAgent, input: &HookInput) -> Value {
        let decision = match self {
            Self::Allow { edited_plan: Some(plan) } if agent == HookedAgent::Claude => {
                json!({ "behavior": "allow", "updatedInput": approved_input(input, Some(plan)) })
            }
            Self::Allow { .. } => json!({ "behavior": "allow" }),
            Self::Deny { reason } => json!({ "behavior": "deny", "message": reason }),
            Self::Undecided => return json!({}),
        };
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } })
    }

    fn gemini(&self) -> Value {
        match self {
            Self::Allow { edited_plan: None } => json!({ "decision": "allow" }),
            // Its plan is a file that a hook can't change.
            Self::Allow { edited_plan: Some(plan) } => json!({
                "decision": "deny",
                "reason": format!(
                    "The person edited the plan. Write exactly this to the plan file and ask again:\n\n{plan}"
                ),
            }),
            Self::Deny { reason } => json!({ "decision": "deny", "reason": reason }),
            Self::Undecided => json!({}),
        }
    }
}

fn approved_input(input: &HookInput, edited_plan: Option<&str>) -> Map<String, Value> {
    let mut approved = input.tool_input.clone();
    if let Some(plan) = edited_plan {
        approved.insert("plan".to_owned(), plan.into());
    }
    approved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(event: &str) -> HookInput {
        let text = json!({"hook_event_name": event, "tool_name": "ExitPlanMode",
            "tool_input": {"plan": "1. Do it"}});
        HookInput::read(text.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn each_agent_gets_its_own_format() {
        let allow = HookDecision::Allow { edited_plan: None };
        let deny = HookDecision::deny("no");
        let before = allow.to_json(HookedAgent::Claude, &input("PreToolUse"));
        assert_eq!(before["hookSpecificOutput"]["permissionDecision"], "allow");
        assert_eq!(before["hookSpecificOutput"]["updatedInput"]["plan"], "1. Do it");
        let edited = HookDecision::Allow { edited_plan: Some("1. Other".to_owned()) };
        let before = edited.to_json(HookedAgent::Claude, &input("PreToolUse"));
        assert_eq!(before["hookSpecificOutput"]["updatedInput"]["plan"], "1. Other");
        let before = deny.to_json(HookedAgent::Claude, &input("PreToolUse"));
        assert_eq!(before["hookSpecificOutput"]["permissionDecisionReason"], "no");
        let asked = deny.to_json(HookedAgent::Codex, &input("PermissionRequest"));
        assert_eq!(
            asked,
            json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "message": "no"}}})
        );
        // Codex refuses fields that it does not know.
        let asked = allow.to_json(HookedAgent::Codex, &input("PermissionRequest"));
        assert_eq!(asked["hookSpecificOutput"]["decision"], json!({"behavior": "allow"}));
        let before = deny.to_json(HookedAgent::Gemini, &input("BeforeTool"));
        assert_eq!(before, json!({"decision": "deny", "reason": "no"}));
        let before = edited.to_json(HookedAgent::Gemini, &input("BeforeTool"));
        assert_eq!(before["decision"], "deny");
        for event in ["PreToolUse", "PermissionRequest", "BeforeTool"] {
            let nothing = HookDecision::Undecided.to_json(HookedAgent::Claude, &input(event));
            assert_eq!(nothing, json!({}));
        }
    }
}
