//! What the person looks at and how: focus, selection, scroll, zoom, playhead, overlays. Never journaled.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;

use super::composer::{Composer, UnsentDrafts};
use super::overlays::{Overlay, PaletteCommand, UnsentCardText};
use super::panes::graph::GroupFolding;
use super::panes::plan::{PlanView, TableColumn};
use super::panes::trace::{TraceKindFilter, TraceSearch};
use super::row_editor::RowEditor;
use super::widgets::TextField;
use planwright_layout::drawing::Zoom;
use planwright_model::PrdvPhase;
use planwright_model::{RequestId, Seq, TaskId};

/// The pane that keys go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PaneFocus {
    #[default]
    Graph,
    Trace,
    Running,
    Approval,
    /// What changed in the workspace, in a replay.
    Files,
    /// The scrub bar.
    Scrub,
    /// The log of a task.
    Output,
}

/// The graph as it is looked at.
#[derive(Clone, Debug)]
pub(crate) struct GraphUi {
    pub(crate) selected: Option<TaskId>,
    /// `None` takes the largest zoom that fits.
    pub(crate) zoom: Option<Zoom>,
    /// Which groups are one box each.
    pub(crate) folding: GroupFolding,
    /// The selection goes to what runs until the person moves it.
    pub(crate) following: bool,
    /// Left and top cell of what is shown.
    pub(crate) offset: (i32, i32),
    /// Set when the selection has to be brought into view.
    pub(crate) reveal: bool,
    /// Set when it has to stand in the middle.
    pub(crate) center: bool,
}

impl Default for GraphUi {
    fn default() -> Self {
        Self {
            selected: None,
            zoom: None,
            folding: GroupFolding::default(),
            following: true,
            offset: (0, 0),
            reveal: true,
            center: false,
        }
    }
}

/// The other views of the plan as they are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewUi {
    pub(crate) kind: PlanView,
    /// The view is the one that the phase begins with; the person has not chosen one.
    pub(crate) is_fallback: bool,
    /// The person chose a view.
    pub(crate) chosen: bool,
    /// Only rows that differ from the draft before are shown.
    pub(crate) hides_unchanged: bool,
    pub(crate) folded: HashSet<TaskId>,
    /// Groups that the person opened where all of them were folded.
    pub(crate) opened: HashSet<TaskId>,
    /// Counts folding and unfolding, so that rows are worked out anew.
    pub(crate) folds: usize,
    /// The first row of the list on the screen.
    pub(crate) top: usize,
    /// Which of the chart's scales is on; 0 is the one that fits.
    pub(crate) zoom: usize,
    /// The column of the chart at its left edge.
    pub(crate) column: i64,
    pub(crate) sort: TableColumn,
}

impl ViewUi {
    /// Folds a group, or opens it where it would be folded with all the others.
    pub(crate) fn set_folded(&mut self, id: &TaskId, folded: bool) {
        if folded {
            self.opened.remove(id);
            self.folded.insert(id.clone());
        } else {
            self.folded.remove(id);
            self.opened.insert(id.clone());
        }
        self.folds += 1;
    }

    /// Folds what is open and opens what is folded.
    pub(crate) fn toggle_fold(&mut self, id: &TaskId) {
        if !self.folded.remove(id) {
            self.folded.insert(id.clone());
        }
        self.folds += 1;
    }
}

/// The trace as it is looked at.
#[derive(Clone, Debug)]
pub(crate) struct TraceUi {
    pub(crate) following: bool,
    /// The step under the cursor.
    pub(crate) cursor: Option<Seq>,
    /// The step at the top and which of its rows; a step, so that a resize keeps the place.
    pub(crate) top: Option<(Seq, usize)>,
    pub(crate) unfolded: HashSet<Seq>,
    /// Steps that say why they took the tool they took.
    pub(crate) explained: HashSet<Seq>,
    pub(crate) kinds: TraceKindFilter,
    pub(crate) search: Option<TraceSearch>,
    /// Shows the steps of one task only.
    pub(crate) only: Option<TaskId>,
    /// Shows the steps of one part of the agents' loops only.
    pub(crate) role: Option<PrdvPhase>,
}

impl Default for TraceUi {
    fn default() -> Self {
        Self {
            following: true,
            cursor: None,
            top: None,
            unfolded: HashSet::new(),
            explained: HashSet::new(),
            kinds: TraceKindFilter::All,
            search: None,
            only: None,
            role: None,
        }
    }
}

/// The log of a task as it is looked at.
#[derive(Clone, Debug)]
pub(crate) struct OutputUi {
    pub(crate) open: bool,
    /// Of all tasks instead of one.
    pub(crate) all_tasks: bool,
    /// The task; the selected one if none was asked for.
    pub(crate) task: Option<TaskId>,
    /// The end stays in view.
    pub(crate) following: bool,
    /// The line at the top while nothing is followed.
    pub(crate) top: usize,
    /// What is searched for, and the line of the last match.
    pub(crate) search: Option<(String, Option<usize>)>,
    /// Only lines with what is searched for.
    pub(crate) only_matches: bool,
    /// The line of the error that was gone to.
    pub(crate) error: Option<usize>,
    /// Long lines are not wrapped but shown from this column on.
    pub(crate) unwrapped_from: Option<usize>,
    /// The pane that gets the focus back.
    pub(crate) opened_from: PaneFocus,
}

impl Default for OutputUi {
    fn default() -> Self {
        Self {
            open: false,
            all_tasks: false,
            task: None,
            following: true,
            top: 0,
            search: None,
            only_matches: false,
            error: None,
            unwrapped_from: None,
            opened_from: PaneFocus::Graph,
        }
    }
}

/// The open request as it is looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct CardUi {
    pub(crate) request: Option<RequestId>,
    /// The failed task that the person turned to instead of a request.
    pub(crate) failed: Option<TaskId>,
    pub(crate) scroll: usize,
    /// The commands of the plan that were on the screen, whole.
    pub(crate) seen_commands: BTreeSet<TaskId>,
    /// Lines of longer commands that were on the screen, for the width they were wrapped to.
    pub(crate) seen_lines: (usize, BTreeSet<(TaskId, usize)>),
    /// Whether its last line has been on the screen.
    pub(crate) seen: bool,
    /// When it was first drawn. Keys before that, and shortly after, do not answer it.
    pub(crate) shown_at: Option<Timestamp>,
    /// Whether the terms of the confidence are shown, and whether they have to be brought into view.
    pub(crate) terms: bool,
    pub(crate) reveal: bool,
    /// The answer under the cursor, where there are some to pick from; none at first.
    pub(crate) choice: Option<usize>,
    /// How far a limit is raised, where the person changed that.
    pub(crate) amount: Option<u64>,
    /// An answer is on its way; a second press of the key does not send another.
    pub(crate) sent: bool,
}

/// The files at the cursor as they are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilesUi {
    /// The path of the file that is shown; the first one if there is none.
    pub(crate) selected: Option<String>,
    /// The first line of its difference on the screen.
    pub(crate) scroll: usize,
}

/// Where in time the person looks.
#[derive(Clone, Debug)]
pub(crate) struct Playhead {
    /// The event that is shown; `None` for the latest.
    pub(crate) cursor: Option<Seq>,
    pub(crate) playing: bool,
    pub(crate) speed: u32,
    pub(crate) skip_waits: bool,
    /// The wall time of the last step of playback, and the moment of the run it stood at.
    pub(crate) clock: Option<(Timestamp, Timestamp)>,
    /// The mouse holds the cursor.
    pub(crate) dragging: bool,
    /// The person has moved in time or played.
    pub(crate) touched: bool,
}

impl Default for Playhead {
    fn default() -> Self {
        Self {
            cursor: None,
            playing: false,
            speed: 1,
            skip_waits: true,
            clock: None,
            dragging: false,
            touched: false,
        }
    }
}

/// The open search line, and where the person was before.
#[derive(Clone, Debug)]
pub(crate) struct SearchLine {
    pub(crate) field: TextField,
    pub(crate) task_before: Option<TaskId>,
    pub(crate) step_before: Option<Seq>,
    pub(crate) focus_before: PaneFocus,
    /// What was found.
    pub(crate) status: String,
}

/// Everything about looking.
#[derive(Clone, Debug, Default)]
pub(crate) struct UiState {
    pub(crate) focus: PaneFocus,
    /// Leaving the screen leads to the list of plans.
    pub(crate) opened_from_home: bool,
    /// Text was typed into a box or a row that has not been read yet.
    pub(crate) has_unread_text: bool,
    /// The pane with the focus has everything between header and footer.
    pub(crate) full_screen: bool,
    pub(crate) graph: GraphUi,
    pub(crate) view: ViewUi,
    /// Nodes that the next request is about.
    pub(crate) marks: BTreeSet<TaskId>,
    pub(crate) trace: TraceUi,
    pub(crate) output: OutputUi,
    /// The row under the cursor of the running pane.
    pub(crate) running: usize,
    pub(crate) card: CardUi,
    /// The run ended here and its card was not closed yet.
    pub(crate) finished_open: bool,
    pub(crate) time: Playhead,
    pub(crate) files: FilesUi,
    /// Events that the person marked, and what they noted.
    pub(crate) bookmarks: BTreeMap<Seq, String>,
    pub(crate) overlay: Option<Overlay>,
    /// What is being typed into the panel.
    pub(crate) composer: Option<Composer>,
    /// The line of a search while it is typed.
    pub(crate) search_line: Option<SearchLine>,
    /// The row that is edited in place.
    pub(crate) row_editor: Option<Box<RowEditor>>,
    /// Whether the first step of a plan of own steps was opened for writing.
    pub(crate) opened_first_step: bool,
    /// The pane that gets the focus back once it is typed.
    pub(crate) return_focus: Option<PaneFocus>,
    pub(crate) drafts: UnsentDrafts,
    /// What was typed in the cards of tasks and not sent.
    pub(crate) card_texts: BTreeMap<TaskId, UnsentCardText>,
    /// What was chosen in the palette, the last first.
    pub(crate) recent: Vec<PaletteCommand>,
    /// One line for the person, until the next key.
    pub(crate) message: Option<String>,
    /// When that line goes by itself, where it does.
    pub(crate) message_until: Option<Timestamp>,
    /// The task whose changes in the workspace are undone if the same key is pressed once more.
    pub(crate) asked_undo: Option<TaskId>,
    /// The task that was marked done or skipped last, and which time of it; undo opens it again.
    pub(crate) marked_task: Option<(TaskId, Option<u32>)>,
    /// What was sent, until the journal answers.
    pub(crate) sent: Option<String>,
}

impl UiState {
    /// Selects a task by hand, which ends following.
    pub(crate) fn select_task(&mut self, task: TaskId) {
        self.graph.selected = Some(task);
        self.graph.following = false;
        self.graph.reveal = true;
    }
}
