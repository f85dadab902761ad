//! The policy panel: choose a control, turn it, see what it means.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Outcome, frame};
use crate::context::PaneContext;
use crate::keymap::{Action, Key, Keymap, Place};
use crate::panes::approval::{POLICY_ROWS, draw_policy};
use crate::policy::DIALS;
use crate::theme::Role;
use crate::widgets::Line;
use planwright_drafting::gate::{self, GatePolicy};
use planwright_model::event::Command;
use planwright_model::gate::{GateDecision, GateSignals};
use planwright_model::{Actor, GateWhen, InteractionPolicy, PolicyOverride};

/// The open panel.
#[derive(Clone, Debug)]
pub(crate) struct PolicyPanel {
    /// What is set, with what was turned and is not journaled yet.
    pub(crate) policy: InteractionPolicy,
    /// What was turned since the panel opened.
    set: PolicyOverride,
    dial: usize,
    /// What the gate decided, with what was turned and is not journaled yet.
    gate: GateDecision,
}

impl PolicyPanel {
    pub(crate) fn new(policy: InteractionPolicy, gate: Option<&GateDecision>) -> Self {
        let gate = gate.cloned().unwrap_or_else(|| {
            gate::decide(&GatePolicy::default(), GateSignals::default(), gate::LOOPS, None)
        });
        Self { policy, set: PolicyOverride::default(), dial: 0, gate }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent, keymap: &Keymap) -> Outcome {
        let key = Key::of(event);
        match keymap.action(key, &[Place::Screen]) {
            Some(Action::Down) => self.dial = (self.dial + 1).min(DIALS.len()),
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
        if self.dial == DIALS.len() {
            return self.turn_gate(up);
        }
        let Some(set) = DIALS[self.dial].turned(&self.policy, up) else { return Outcome::Stay };
        self.policy = self.policy.clone().with(&set);
        self.set = self.set.with(&set);
        let words =
            format!("{}: {}", DIALS[self.dial].name(), DIALS[self.dial].value(&self.policy));
        let command = Command::SetPolicy { set, save: false, by: Actor::Person };
        Outcome::SendAndStay { command, words }
    }

    fn turn_gate(&mut self, up: bool) -> Outcome {
        let Some(when) = turned_gate(self.gate.when(), up) else { return Outcome::Stay };
        self.gate = gate::decide_again(&self.gate, when);
        let words = format!("ceremony: {}", gate_value(when));
        Outcome::SendAndStay { command: Command::SetGate { when }, words }
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
        let inner = frame::draw(screen, (72, POLICY_ROWS + 6), "policy", hint, buf, cx);
        let dials = Rect { height: inner.height.saturating_sub(2), ..inner };
        draw_policy(&self.policy, Some(self.dial).filter(|at| *at < DIALS.len()), dials, buf, cx);
        self.draw_gate(inner.y + dials.height.min(POLICY_ROWS), inner, buf, cx);
        let y = inner.y + POLICY_ROWS + 3;
        if y < inner.bottom() {
            let text = "changes count at once, for this session";
            Line::new(buf, Rect { y, height: 1, ..inner }).skip(3).put(text, cx.style(Role::Dim));
        }
    }

    fn draw_gate(&self, y: u16, inner: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if y + 1 >= inner.bottom() {
            return;
        }
        let row = |y: u16| Rect { y, height: 1, ..inner };
        let chosen = self.dial == DIALS.len();
        if chosen {
            buf.set_style(row(y), cx.style(Role::Selection));
        }
        let when = self.gate.when();
        let arrow = |up| {
            let off = turned_gate(when, up).is_none();
            cx.style(if off { Role::Dim } else { Role::Key })
        };
        let mut line = Line::new(buf, row(y));
        line.skip(1).put(if chosen { "► " } else { "  " }, cx.style(Role::Focus));
        line.column("ceremony", 15, cx.style(Role::Text));
        line.put("‹ ", arrow(false));
        line.put(gate_value(when), cx.theme.bold(Role::Text));
        line.put(" ›", arrow(true));
        Line::new(buf, row(y + 1)).skip(5).put(&gate_effect(&self.gate), cx.style(Role::Dim));
    }
}

fn turned_gate(now: GateWhen, up: bool) -> Option<GateWhen> {
    let at = GateWhen::ALL.iter().position(|when| *when == now)?;
    let to = if up { at + 1 } else { at.checked_sub(1)? };
    GateWhen::ALL.get(to).copied()
}

fn gate_value(when: GateWhen) -> &'static str {
    match when {
        GateWhen::Auto => "as the signals say",
        GateWhen::ForceExit => "skip it",
        GateWhen::ForceFull => "the full run",
        GateWhen::Off => "no gate",
    }
}

/// What follows from the gate for this session, with the signals that ask for more.
fn gate_effect(gate: &GateDecision) -> String {
    let triggered: Vec<String> = gate
        .rationales
        .iter()
        .filter(|(_, why)| why.triggered)
        .filter_map(|(name, why)| {
            Some(format!("{name} {:.2} {} {:.2}", why.value?, why.comparator, why.threshold))
        })
        .collect();
    match (gate.when(), gate.should_escalate) {
        (GateWhen::Auto, true) => format!("the full run: {}", triggered.join(", ")),
        (GateWhen::Auto, false) => "small goals and tasks are done in a single pass".to_owned(),
        (GateWhen::ForceExit, _) => "a single pass, whatever the signals say".to_owned(),
        (GateWhen::ForceFull, _) => {
            "drafts and tasks are debated, whatever the signals say".to_owned()
        }
        (GateWhen::Off, _) => "nothing is gated: always the full run".to_owned(),
    }
}
