//! What an agent asks leave for, and how it is answered: by the kind of an option, with *once* or not at all.

use serde_json::{Value, json};

/// What is said to a request for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PermissionReply {
    AllowOnce,
    RejectOnce,
    /// The turn was cancelled before anybody answered.
    Cancelled,
}

impl PermissionReply {
    /// The answer for the options that the agent offers, and whether it is the one that was meant. An option is chosen
    /// by its kind and never by its place; where none fits, nothing is chosen.
    pub(super) fn answer(self, options: &Value) -> (Value, bool) {
        let kind = match self {
            Self::AllowOnce => "allow_once",
            Self::RejectOnce => "reject_once",
            Self::Cancelled => return (cancelled(), true),
        };
        let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
        let fits = |option: &&Value| option.get("kind").and_then(Value::as_str) == Some(kind);
        let chosen = options.iter().find(fits).and_then(|option| option.get("optionId")?.as_str());
        match chosen {
            Some(id) => (json!({ "outcome": { "outcome": "selected", "optionId": id } }), true),
            None => (cancelled(), false),
        }
    }
}

fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

/// Things that the person allowed a moment ago, each good for doing it once.
#[derive(Debug, Default)]
pub(super) struct GrantedActions {
    commands: Vec<String>,
    paths: Vec<String>,
}

impl GrantedActions {
    pub(super) fn add_command(&mut self, command: &str) {
        self.commands.push(command.to_owned());
    }

    pub(super) fn add_path(&mut self, path: &str) {
        self.paths.push(path.to_owned());
    }

    /// Whether a command was allowed; it is used up by this.
    pub(super) fn take_command(&mut self, command: &str) -> bool {
        take_item(&mut self.commands, command)
    }

    /// Whether a change of a file was allowed; it is used up by this.
    pub(super) fn take_path(&mut self, path: &str) -> bool {
        take_item(&mut self.paths, path)
    }
}

fn take_item(items: &mut Vec<String>, wanted: &str) -> bool {
    let at = items.iter().position(|item| item == wanted);
    at.map(|at| items.swap_remove(at)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_chosen_by_its_kind_and_never_for_good() {
        let options = json!([
            {"optionId": "a", "kind": "allow_always", "name": "Yes"},
            {"optionId": "b", "kind": "reject_once", "name": "No"},
            {"optionId": "c", "kind": "allow_once", "name": "Yes"},
        ]);
        let (answer, fits) = PermissionReply::AllowOnce.answer(&options);
        assert_eq!((answer["outcome"]["optionId"].as_str(), fits), (Some("c"), true));
        let (answer, _) = PermissionReply::RejectOnce.answer(&options);
        assert_eq!(answer["outcome"]["optionId"], "b");
        let unknown =
            json!([{"optionId": "x", "kind": "allow_forever"}, 7, {"kind": "allow_always"}]);
        for reply in [PermissionReply::AllowOnce, PermissionReply::RejectOnce] {
            let (answer, fits) = reply.answer(&unknown);
            assert_eq!((answer["outcome"]["outcome"].as_str(), fits), (Some("cancelled"), false));
        }
        assert_eq!(
            PermissionReply::Cancelled.answer(&Value::Null).0["outcome"]["outcome"],
            "cancelled"
        );
    }

    #[test]
    fn what_was_allowed_once_is_used_up() {
        let mut granted = GrantedActions::default();
        granted.add_command("make");
        assert!(granted.take_command("make") && !granted.take_command("make"));
        granted.add_path("a");
        assert!(!granted.take_path("b") && granted.take_path("a"));
    }
}
