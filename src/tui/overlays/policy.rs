//! The policy panel: choose a control, turn it, see what it means.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Outcome, frame};
use crate::event::Command;
use crate::model::{Actor, InteractionPolicy, PolicyOverride};
use crate::tui::context::PaneContext;
use crate::tui::keymap::{Action, Key, Keymap, Place};
use crate::tui::panes::approval::{POLICY_ROWS, draw_policy};
use crate::tui::policy::DIALS;
use crate::tui::theme::Role;
use crate::tui::widgets::Line;

/// The open panel.
#[derive(Clone, Debug)]
pub(crate) struct PolicyPanel {
    /// What is set, with what was turned and is not journaled yet.
    pub(crate) policy: InteractionPolicy,
    /// What was turned since the panel opened.
    set: PolicyOverride,
    dial: usize,
}

impl PolicyPanel {
    pub(crate) fn new(policy: InteractionPolicy) -> Self {
        Self { policy, set: PolicyOverride::default(), dial: 0 }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent, keymap: &Keymap) -> Outcome {
        let key = Key::of(event);
        match keymap.action(key, &[Place::Screen]) {
            Some(Action::Down) => self.dial = (self.dial + 1).min(DIALS.len() - 1),
            Some(Action::Up) => self.dial = self.dial.saturating_sub(1),
            Some(Action::Left) => return self.turn(false),
            Some(Action::Right) => return self.turn(true),
            Some(Action::Back | Action::Quit | Action::Policy | Action::Open) => {
                return Outcome::Close;
            }
            _ if key.code == KeyCode::Char('d') => return self.save(),
            _ => {}
        }
        Outcome::Stay
    }

    fn turn(&mut self, up: bool) -> Outcome {
        let Some(set) = DIALS[self.dial].turned(&self.policy, up) else { return Outcome::Stay };
        self.policy = self.policy.clone().with(&set);
        self.set = self.set.with(&set);
        let words =
            format!("{}: {}", DIALS[self.dial].name(), DIALS[self.dial].value(&self.policy));
        let command = Command::SetPolicy { set, save: false, by: Actor::Person };
        Outcome::SendAndStay { command, words }
    }

    /// Keeps all seven values for later sessions.
    fn save(&self) -> Outcome {
        let policy = &self.policy;
        let set = PolicyOverride {
            conversation_style: Some(policy.conversation_style),
            talkativeness: Some(policy.talkativeness),
            autonomy: Some(policy.autonomy),
            brainstorming_preference: Some(policy.brainstorming_preference),
            approval_policy: Some(policy.approval_policy),
            probing_depth: Some(policy.probing_depth),
            tone: Some(policy.tone),
        };
        let command = Command::SetPolicy { set, save: true, by: Actor::Person };
        Outcome::SendAndStay { command, words: "keep the policy as your default".to_owned() }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let hint = "j k choose  h l turn  d save as default  Esc close";
        let inner = frame::draw(screen, (72, POLICY_ROWS + 4), "policy", hint, buf, cx);
        draw_policy(&self.policy, Some(self.dial), inner, buf, cx);
        let y = inner.y + POLICY_ROWS + 1;
        if y < inner.bottom() {
            let text = "changes count at once, for this session";
            Line::new(buf, Rect { y, height: 1, ..inner }).skip(3).put(text, cx.style(Role::Dim));
        }
    }
}
