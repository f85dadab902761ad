//! Where a session stands, in one word, and how to go on from there.

use serde::{Deserialize, Serialize};

/// Where a session stands, for lists and badges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// A draft that is not approved.
    Planning,
    /// A request is open.
    NeedsYou,
    /// Approved and kept for later.
    Held,
    Running,
    Paused,
    /// The process went away with work of agents or commands left.
    Interrupted,
    /// A plan that a person works through, or of which only their tasks are left.
    Yours,
    /// Another program's agent carries out what was approved here.
    Elsewhere,
    Done,
    Failed,
    /// It failed, and the person put it aside.
    Dismissed,
    Abandoned,
}

impl SessionStatus {
    const ALL: [Self; 12] = [
        Self::Planning,
        Self::NeedsYou,
        Self::Held,
        Self::Running,
        Self::Paused,
        Self::Interrupted,
        Self::Yours,
        Self::Elsewhere,
        Self::Done,
        Self::Failed,
        Self::Dismissed,
        Self::Abandoned,
    ];

    /// Reads what [`SessionStatus::label`] wrote, now or in an earlier version.
    pub fn from_label(word: &str) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|status| status.label() == word);
        known.or_else(|| {
            Some(match word {
                "planning" => Self::Planning,
                "held" | "ready" => Self::Held,
                "interrupted" => Self::Interrupted,
                "yours" => Self::Yours,
                "abandoned" => Self::Abandoned,
                _ => return None,
            })
        })
    }

    /// The status of a session that no process works on: what a killed process left is stopped, not running.
    pub fn without_process(self) -> Self {
        if self == Self::Running { Self::Interrupted } else { self }
    }

    /// The word for it on screens and in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Planning => "draft",
            Self::NeedsYou => "needs you",
            Self::Held => "not started",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Interrupted => "stopped",
            Self::Yours => "active",
            Self::Elsewhere => "with its agent",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Dismissed => "failed, dismissed",
            Self::Abandoned => "discarded",
        }
    }
    /// The commands that go on from here, a line each with what it does, for whoever left the session of this short id.
    pub fn next_commands(self, id: &str) -> String {
        match self {
            Self::Done => format!("Replay: planwright replay {id}"),
            Self::Abandoned => {
                format!("Restore: planwright resume {id}, then u\nReplay: planwright replay {id}")
            }
            Self::Held => format!("Run it: planwright run {id}"),
            Self::Failed | Self::Dismissed => {
                format!(
                    "Try again: planwright resume {id} --retry failed\nReplay: planwright replay {id}"
                )
            }
            _ => format!("Resume: planwright resume {id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_read_back_and_so_is_the_word_of_earlier_versions() {
        for status in SessionStatus::ALL {
            assert_eq!(SessionStatus::from_label(status.label()), Some(status));
        }
        for (word, status) in [
            ("held", SessionStatus::Held),
            ("ready", SessionStatus::Held),
            ("planning", SessionStatus::Planning),
            ("interrupted", SessionStatus::Interrupted),
            ("yours", SessionStatus::Yours),
            ("abandoned", SessionStatus::Abandoned),
        ] {
            assert_eq!(SessionStatus::from_label(word), Some(status));
        }
        assert_eq!(SessionStatus::from_label("elsewhere"), None);
    }

    #[test]
    fn what_is_left_says_how_to_go_on() {
        let next = |status: SessionStatus| status.next_commands("7f3a9c");
        assert_eq!(next(SessionStatus::Interrupted), "Resume: planwright resume 7f3a9c");
        assert_eq!(next(SessionStatus::NeedsYou), "Resume: planwright resume 7f3a9c");
        assert_eq!(next(SessionStatus::Held), "Run it: planwright run 7f3a9c");
        assert!(next(SessionStatus::Failed).contains("resume 7f3a9c --retry failed"));
        assert_eq!(next(SessionStatus::Done), "Replay: planwright replay 7f3a9c");
    }
}
