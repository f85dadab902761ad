//! Whether an action can be done here and now, and if not, why: in one place for the footer, help, the commands and the
//! line that a refused key leaves.

use std::borrow::Cow;

use crate::keymap::{ActionEntry, KeyAction, KeyContext, Keymap, TABLE};
use crate::overlays::RunHome;
use crate::pane_context::SessionViewMode;
use crate::panes::approval::{answer_rows, current_request};
use crate::panes::plan::{PlanView, is_sketch};
use crate::panes::running;
use crate::session::active_key_places;
use crate::ui_state::{PaneFocus, UiState};
use planwright_model::TaskId;
use planwright_state::{RunPhase, SessionState, TaskStatus};

/// What decides about an action: the moment that is shown, the pane with the focus, the selection.
pub(crate) struct ActionSituation<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) latest: &'a SessionState,
    pub(crate) ui: &'a UiState,
    pub(crate) mode: SessionViewMode,
    pub(crate) keymap: &'a Keymap,
    /// Why nothing at all can be changed here, if so.
    pub(crate) why_locked: Option<Cow<'a, str>>,
    /// Whether the session is saved, so that it can be forked, compared and exported.
    pub(crate) is_stored: bool,
    /// Where the run goes on without this screen.
    pub(crate) run_home: RunHome,
}

impl ActionSituation<'_> {
    /// The entry of an action in the table.
    pub(crate) fn entry_of(action: KeyAction) -> Option<&'static ActionEntry> {
        TABLE.iter().find(|entry| entry.action == action)
    }

    /// Whether the key of an action means this action here, and it can be done.
    pub(crate) fn is_available(&self, action: KeyAction) -> bool {
        self.why_unavailable(action).is_none()
    }

    /// Why an action can do nothing here, if so: in a few words, without a period.
    pub(crate) fn why_unavailable(&self, action: KeyAction) -> Option<String> {
        let entry = Self::entry_of(action)?;
        self.why_out_of_place(entry).or_else(|| self.why_unfit(action))
    }

    fn places(&self) -> Vec<KeyContext> {
        active_key_places(self.ui, self.state, self.mode)
    }

    /// Why the place of an action is not this one.
    fn why_out_of_place(&self, entry: &ActionEntry) -> Option<String> {
        let places = self.places();
        if places.contains(&entry.place) {
            return None;
        }
        let key = |action| self.keymap.key_hint(action);
        Some(match entry.place {
            KeyContext::Screen => return None,
            KeyContext::Home | KeyContext::Today => "works on the home screen".to_owned(),
            KeyContext::Compare => format!("{} compares two runs", key(KeyAction::CompareWith)),
            KeyContext::Card | KeyContext::OpenCard => self.why_no_card(),
            KeyContext::Failed if self.latest.tasks.status_counts().failed == 0 => {
                "nothing failed".to_owned()
            }
            KeyContext::Failed => "open the failed task first".to_owned(),
            KeyContext::Finished => "the run has not ended here".to_owned(),
            KeyContext::Output => format!("{} opens the output", key(KeyAction::Output)),
            KeyContext::Replay => self.live_notice(),
            KeyContext::Table => format!("{} shows the table", key(KeyAction::ViewTable)),
            KeyContext::Files => format!("{} goes to the files", key(KeyAction::Files)),
            KeyContext::Trace => format!("{} goes to the activity", key(KeyAction::FocusNext)),
            // What acts on a task says what is missing, if that is more than the focus.
            KeyContext::Graph => {
                return self
                    .why_unfit(entry.action)
                    .or_else(|| Some(format!("{} goes to the plan", key(KeyAction::Back))));
            }
        })
    }

    fn why_no_card(&self) -> String {
        if let Some(why) = &self.why_locked {
            return why.clone().into_owned();
        }
        match current_request(self.latest, self.ui) {
            Some(_) => {
                format!("{} goes to the open question", self.keymap.key_hint(KeyAction::FocusNext))
            }
            None => "no question is open".to_owned(),
        }
    }

    pub(crate) fn live_notice(&self) -> String {
        format!(
            "this is live; {} goes back in time",
            self.keymap.key_hint(KeyAction::PreviousEvent)
        )
    }

    /// Why an action of this place finds nothing to act on.
    fn why_unfit(&self, action: KeyAction) -> Option<String> {
        use KeyAction as A;
        let past = self.mode.is_past();
        if let Some(why) = self.why_only_sketched(action) {
            return Some(why);
        }
        match action {
            A::ViewTimeline if !self.has_run() => {
                let key = self.keymap.key_hint(A::ViewGantt);
                Some(format!("nothing has run yet; {key} shows what is planned when"))
            }
            A::Play | A::Slower | A::Faster | A::Files if !past => Some(self.live_notice()),
            A::FullScreen if self.ui.focus == PaneFocus::Scrub => {
                Some("the scrub bar has one size".to_owned())
            }
            A::Live if !past => Some("this is live already".to_owned()),
            A::Live if self.mode == SessionViewMode::Saved => {
                Some("a saved run has no live end".to_owned())
            }
            A::Detach => self.why_not_detached(),
            A::Fork | A::CompareWith if !self.is_stored => {
                Some("this is a file; import it first".to_owned())
            }
            A::Fork if self.state.plan.current.is_none() => {
                Some("there is no plan yet at this moment".to_owned())
            }
            A::DueTask if self.state.planning.schedule.is_none() => {
                Some("this plan has no dates".to_owned())
            }
            A::Follow if self.ui.focus == PaneFocus::Graph && self.ui.graph.following => {
                Some("already following".to_owned())
            }
            A::Zoom
                if matches!(
                    self.ui.view.kind,
                    PlanView::Outline | PlanView::Table | PlanView::Timeline
                ) =>
            {
                Some("this view has one scale".to_owned())
            }
            A::NextHit | A::PreviousHit
                if self.ui.trace.search.is_none()
                    && self.ui.focus != PaneFocus::Output
                    && !self.needs_person() =>
            {
                Some("nothing needs you".to_owned())
            }
            action if is_answer(action) => self.why_not_answered(action),
            action if changes_something(action) => {
                let locked = self.why_locked.clone().map(Cow::into_owned);
                locked.or_else(|| self.why_run_unfit(action))
            }
            _ => None,
        }
    }

    /// Why the run cannot go on without this screen.
    fn why_not_detached(&self) -> Option<String> {
        if self.mode == SessionViewMode::Saved || !self.latest.goes_on_by_itself() {
            return Some("nothing is running".to_owned());
        }
        if self.run_home != RunHome::Screen {
            return None;
        }
        Some(match self.latest.waiting_for_terminal() {
            Some(task) => format!("{} needs this terminal", self.task_title(&task.id)),
            None => "this run ends with its screen".to_owned(),
        })
    }

    /// Why a sketch of a plan cannot be changed or looked at otherwise.
    fn why_only_sketched(&self, action: KeyAction) -> Option<String> {
        use KeyAction as A;
        let needs_draft = matches!(
            action,
            A::Edit
                | A::AddNode
                | A::RemoveNode
                | A::MoveUp
                | A::MoveDown
                | A::SplitRow
                | A::MergeRows
                | A::LinkNodes
                | A::Lock
                | A::Mark
                | A::Comment
                | A::Editor
                | A::ViewGraph
                | A::ViewGantt
                | A::ViewTimeline
                | A::ViewTable
        );
        (needs_draft && is_sketch(self.state)).then(|| "answer the question first".to_owned())
    }

    /// Whether a task has started at the moment that is shown.
    fn has_run(&self) -> bool {
        self.state.tasks.iter().any(|(_, row)| row.started_at.is_some())
    }

    /// Whether a failure, a question or a task of the person's waits.
    fn needs_person(&self) -> bool {
        let counts = self.state.tasks.status_counts();
        counts.failed + counts.yours > 0 || !self.state.requests.open.is_empty()
    }

    fn why_not_answered(&self, action: KeyAction) -> Option<String> {
        if let Some(why) = &self.why_locked {
            return Some(why.clone().into_owned());
        }
        let Some(request) = current_request(self.latest, self.ui) else {
            return Some("no question is open".to_owned());
        };
        match answer_rows(request).into_iter().find(|row| row.action == action) {
            Some(row) => row.unavailable,
            None => Some("not an answer to this question".to_owned()),
        }
    }

    /// Why the plan or the selected task is in no state for an action.
    fn why_run_unfit(&self, action: KeyAction) -> Option<String> {
        use KeyAction as A;
        let approved = self.latest.is_runnable() || self.latest.run.is_active();
        match action {
            A::Pause => match self.latest.run.phase {
                // What the person does goes on with the next task that is done.
                RunPhase::Running | RunPhase::Interrupted
                    if self.latest.tasks.is_persons_plan() =>
                {
                    Some("nothing runs by itself in this plan".to_owned())
                }
                RunPhase::Running | RunPhase::Paused => None,
                RunPhase::Idle | RunPhase::Interrupted if self.latest.is_runnable() => None,
                RunPhase::Idle | RunPhase::Interrupted => Some("approve the plan first".to_owned()),
                RunPhase::Finished { .. } => Some("nothing is running to pause".to_owned()),
            },
            A::AddNode
            | A::RemoveNode
            | A::MoveUp
            | A::MoveDown
            | A::LinkNodes
            | A::SplitRow
            | A::MergeRows
                if self.latest.planning.outline.is_none() =>
            {
                Some(if self.latest.planning.begun {
                    "there is no draft to change yet".to_owned()
                } else {
                    let key = self.keymap.key_hint(A::Editor);
                    format!("this plan came from a file; {key} edits it")
                })
            }
            A::Jobs if !self.latest.run.is_active() => Some("nothing is running".to_owned()),
            A::Done if !approved && !is_finished(self.latest) => {
                Some("approve the plan first".to_owned())
            }
            A::Retry | A::RetryWithDependents
                if self.latest.tasks.status_counts().failed == 0
                    && self.latest.tasks.status_counts().skipped == 0 =>
            {
                Some("nothing failed".to_owned())
            }
            A::StopTask if !self.latest.run.is_active() => {
                Some("nothing is running to stop".to_owned())
            }
            A::Done | A::When | A::Retry | A::RetryWithDependents | A::Skip | A::StopTask => {
                self.why_task_unfit(action)
            }
            _ => None,
        }
    }

    /// Why the selected task is not one that the action is for.
    fn why_task_unfit(&self, action: KeyAction) -> Option<String> {
        let Some(id) = self.selected_task() else { return Some("no task is selected".to_owned()) };
        let Some(status) = self.latest.tasks.get(&id).map(|row| row.status) else {
            return Some("this row is not a task".to_owned());
        };
        if action == KeyAction::Done
            && status == TaskStatus::Pending
            && let Some(first) = self.first_unmet(&id)
        {
            return Some(format!("first comes {first}"));
        }
        let fits = match action {
            KeyAction::Done => status == TaskStatus::Yours,
            KeyAction::When => {
                let schedule = self.latest.planning.schedule.as_deref();
                let planned =
                    |made: &planwright_model::Schedule| made.blocks_for_node(&id).next().is_some();
                if !schedule.is_some_and(planned) {
                    return Some("this task has no planned time".to_owned());
                }
                !status.is_settled()
            }
            KeyAction::Retry => matches!(status, TaskStatus::Failed | TaskStatus::Skipped(_)),
            KeyAction::RetryWithDependents => status.is_settled(),
            KeyAction::Skip => !matches!(status, TaskStatus::Done | TaskStatus::Skipped(_)),
            _ => status == TaskStatus::Running,
        };
        let name = self.latest.tasks.get(&id).map(|_| self.task_title(&id)).unwrap_or_default();
        (!fits).then(|| format!("{name} is {}", status.label()))
    }

    /// The title of what has to be done before a task.
    fn first_unmet(&self, id: &TaskId) -> Option<String> {
        let task = self.latest.tasks.position(id)?;
        let unmet = self.latest.unmet_dependencies(task, None);
        unmet.first().map(|task| self.task_title(self.latest.tasks.id(*task)))
    }

    fn selected_task(&self) -> Option<TaskId> {
        match self.ui.focus {
            PaneFocus::Running => running::selected_active_task(self.latest, self.ui)
                .map(|task| self.latest.tasks.id(task).clone()),
            _ => self.ui.graph.selected.clone(),
        }
    }

    /// What people call a task.
    fn task_title(&self, id: &TaskId) -> String {
        let plan = self.latest.plan.current.as_ref();
        let node = plan.and_then(|plan| plan.plan.tasks.iter().find(|node| node.id == *id));
        let title = node.map_or(id.as_str(), |node| node.description.as_str());
        planwright_text::truncate_end(&planwright_text::clean_line(title), 40).into_owned()
    }

    /// Why a key does nothing here; `None` for a key that no screen uses.
    pub(crate) fn why_refused(&self, actions: &[KeyAction]) -> Option<String> {
        let reasons = actions.iter().map(|action| (*action, self.why_unavailable(*action)));
        let mut reasons: Vec<(KeyAction, String)> =
            reasons.filter_map(|(action, why)| Some((action, why?))).collect();
        // A reason of this screen says more than that the key works on another one.
        reasons.sort_by_key(|(action, _)| {
            Self::entry_of(*action)
                .is_some_and(|entry| entry.place.is_home() || entry.place == KeyContext::Compare)
        });
        reasons.into_iter().next().map(|(_, why)| why)
    }
}

fn is_finished(state: &SessionState) -> bool {
    matches!(state.run.phase, RunPhase::Finished { .. })
}

/// Whether an action answers a request.
pub(crate) fn is_answer(action: KeyAction) -> bool {
    matches!(
        action,
        KeyAction::Yes
            | KeyAction::YesWider
            | KeyAction::Options
            | KeyAction::Reply
            | KeyAction::No
            | KeyAction::StopIt
            | KeyAction::TakeOver
            | KeyAction::Again
            | KeyAction::PassOver
            | KeyAction::Ideas
    )
}

/// Whether an action lets something happen, so that only a key gives it and never the mouse.
pub(crate) fn is_yes(action: KeyAction) -> bool {
    matches!(action, KeyAction::Yes | KeyAction::YesWider)
}

/// Whether an action changes the plan or the run, which the past and a watched run do not permit.
fn changes_something(action: KeyAction) -> bool {
    use KeyAction as A;
    matches!(
        action,
        A::RequestChanges
            | A::Edit
            | A::AddNode
            | A::SplitRow
            | A::MergeRows
            | A::KeepChange
            | A::PutBackChange
            | A::RemoveNode
            | A::MoveUp
            | A::MoveDown
            | A::LinkNodes
            | A::Lock
            | A::Comment
            | A::Undo
            | A::Redo
            | A::Editor
            | A::Policy
            | A::Pause
            | A::Jobs
            | A::Done
            | A::When
            | A::Retry
            | A::RetryWithDependents
            | A::Skip
            | A::StopTask
            | A::RetryFailed
            | A::RetryFailedWithDependents
            | A::SkipFailed
            | A::EditFailed
            | A::RetryAllFailed
    )
}
