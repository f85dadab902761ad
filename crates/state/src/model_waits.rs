//! Which models are being waited for, since when, and what has come so far.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use planwright_model::TaskId;
use planwright_model::event::AgentEvent;
use planwright_text::units::{format_clock, format_whole_tokens};

/// An answer that has not come yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelWait {
    /// None for planning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The model's name on screens.
    pub model: String,
    pub since: Timestamp,
    /// Tokens that have come so far, estimated.
    pub tokens: u64,
    /// The answer has begun; before that the model thinks.
    pub writing: bool,
    /// When a provider that failed is asked again, and why it has to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try: Option<(Timestamp, String)>,
}

impl ModelWait {
    /// What is waited for, in a few words: "Sonnet 4.5 is thinking, 38 s, 120 tokens".
    pub fn describe(&self, now: Timestamp) -> String {
        let seconds = |from: Timestamp, to: Timestamp| {
            format_clock(to.duration_since(from).try_into().unwrap_or_default())
        };
        if let Some((at, why)) = self.next_try.as_ref().filter(|(at, _)| *at > now) {
            return format!("{why}; next try in {}", seconds(now, *at));
        }
        let does = if self.writing { "writing" } else { "thinking" };
        let mut text = format!("{} is {does}, {}", self.model, seconds(self.since, now));
        if self.tokens > 0 {
            let _ = write!(text, ", {} tokens", format_whole_tokens(self.tokens));
        }
        text
    }
}

/// All answers that have not come yet, by the number of their question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelWaits(BTreeMap<u32, ModelWait>);

impl ModelWaits {
    /// What planning waits for.
    pub fn of_planning(&self) -> Option<&ModelWait> {
        self.0.values().rev().find(|wait| wait.task.is_none())
    }

    /// What a task waits for.
    pub fn of_task(&self, task: &TaskId) -> Option<&ModelWait> {
        self.0.values().rev().find(|wait| wait.task.as_ref() == Some(task))
    }

    /// Another process has taken over: what the last one waited for never comes.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn apply(&mut self, event: &AgentEvent, now: Timestamp) {
        match event {
            AgentEvent::ModelAsked { task, ask, model, .. } => {
                let (task, model) = (task.clone(), model.clone());
                let wait = ModelWait {
                    task,
                    model,
                    since: now,
                    tokens: 0,
                    writing: false,
                    next_try: None,
                };
                self.0.insert(*ask, wait);
            }
            AgentEvent::ModelWaiting { ask, model, tokens, writing, .. } => {
                if let Some(wait) = self.0.get_mut(ask) {
                    model.clone_into(&mut wait.model);
                    (wait.tokens, wait.writing, wait.next_try) = (*tokens, *writing, None);
                }
            }
            AgentEvent::ModelDelayed { ask, model, why, wait_sec, .. } => {
                if let Some(wait) = self.0.get_mut(ask) {
                    model.clone_into(&mut wait.model);
                    let later = i64::try_from(*wait_sec).unwrap_or(i64::MAX);
                    let later = jiff::SignedDuration::from_secs(later);
                    let at = now.saturating_add(later).unwrap_or(Timestamp::MAX);
                    (wait.tokens, wait.writing) = (0, false);
                    wait.next_try = Some((at, why.clone()));
                }
            }
            AgentEvent::ModelAnswered { ask, .. } | AgentEvent::ModelFailed { ask, .. } => {
                self.0.remove(ask);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::Digest;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn a_wait_says_who_thinks_or_writes_for_how_long_and_when_the_next_try_is() {
        let mut waits = ModelWaits::default();
        let asked = AgentEvent::ModelAsked {
            task: None,
            ask: 1,
            purpose: "turn".into(),
            provider: "anthropic".into(),
            model: "claude-sonnet-4-5".into(),
            prompt_ref: Digest::from_json(&serde_json::json!(1)),
            estimated_tokens: 1,
            estimated_cost: None,
        };
        waits.apply(&asked, at(0));
        let say = |waits: &ModelWaits, second| waits.of_planning().unwrap().describe(at(second));
        assert_eq!(say(&waits, 2), "claude-sonnet-4-5 is thinking, 2 s");
        let waiting = |writing, tokens| AgentEvent::ModelWaiting {
            task: None,
            ask: 1,
            model: "Sonnet 4.5".into(),
            elapsed_sec: 3,
            tokens,
            writing,
        };
        waits.apply(&waiting(false, 0), at(3));
        assert_eq!(say(&waits, 38), "Sonnet 4.5 is thinking, 38 s");
        waits.apply(&waiting(true, 1_240), at(40));
        assert_eq!(say(&waits, 41), "Sonnet 4.5 is writing, 41 s, 1k tokens");
        let why = "anthropic is overloaded".to_owned();
        let model = "Sonnet 4.5".to_owned();
        let delayed = AgentEvent::ModelDelayed { task: None, ask: 1, model, why, wait_sec: 30 };
        waits.apply(&delayed, at(50));
        assert_eq!(say(&waits, 58), "anthropic is overloaded; next try in 22 s");
        assert_eq!(
            say(&waits, 90),
            "Sonnet 4.5 is thinking, 1 min 30 s",
            "it is being asked again"
        );
        waits.apply(&waiting(false, 0), at(91));
        assert_eq!(waits.of_task(&"t".into()), None);
        waits.clear();
        assert_eq!(waits.of_planning(), None);
    }
}
