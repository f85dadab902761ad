//! Remarks of the person: on rows, on lines of a plan that an agent submitted, and to an agent that works.

use super::{ScreenEffect, SessionScreen};
use crate::composer::{Composer, ComposerTopic};
use crate::overlays::{LinePicker, Overlay, PickerPurpose};
use planwright_model::{RunKind, TaskId};
use planwright_state::TaskStatus;

impl SessionScreen {
    pub(super) fn comment_nodes(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        match self.target_nodes() {
            nodes if nodes.is_empty() && self.latest.desk.submission.is_some() => {
                self.open_line_picker()
            }
            nodes if nodes.is_empty() => self.open_node_picker(PickerPurpose::Comment),
            nodes => match nodes.as_slice() {
                [node] if self.is_agent_at_work(node) => {
                    self.open_text_box(ComposerTopic::Message { task: node.clone() })
                }
                _ => self.open_text_box(ComposerTopic::Comment { nodes }),
            },
        }
    }

    /// Whether an agent works on a task now, so that words about it are for the agent.
    fn is_agent_at_work(&self, task: &TaskId) -> bool {
        let state = self.state();
        let is_agent = state.plan.current.as_ref().is_some_and(|current| {
            let tasks = &current.plan.tasks;
            tasks.iter().any(|node| node.id == *task && matches!(node.run, RunKind::Agent(_)))
        });
        let row = state.tasks.get(task);
        is_agent && row.is_some_and(|row| row.status == TaskStatus::Running)
    }

    /// From a remark on rows to one on a line, where the plan is an agent's text. What was typed is kept.
    pub(super) fn change_to_lines(&mut self) -> ScreenEffect {
        if self.latest.desk.submission.is_none() {
            return ScreenEffect::Draw;
        }
        if let Some(Composer::Text(text)) = &self.ui.composer
            && let ComposerTopic::Comment { nodes } = &text.topic
            && let Some(node) = nodes.first()
        {
            self.ui.select_task(node.clone());
        }
        self.close_composer();
        self.open_line_picker()
    }

    /// Shows the plan as its agent submitted it, to comment on a line.
    pub(super) fn open_line_picker(&mut self) -> ScreenEffect {
        let selected = self.ui.graph.selected.as_ref();
        let Some(picker) = LinePicker::new(&self.latest.desk, selected) else {
            return self.show_message("no agent submitted this plan");
        };
        self.ui.overlay = Some(Overlay::Lines(Box::new(picker)));
        ScreenEffect::Draw
    }

    /// Opens the box for a remark on a line, counted from 1.
    pub(super) fn comment_line(&mut self, line: u32) -> ScreenEffect {
        let submission = self.latest.desk.submission.as_deref();
        let Some(quote) = submission.and_then(|submission| submission.line(line)) else {
            return self.show_message("the agent has submitted another text meanwhile");
        };
        let quote = quote.to_owned();
        self.open_text_box(ComposerTopic::CommentLine { line, quote })
    }
}
