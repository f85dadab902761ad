//! The one table of actions: what each is called, its default keys, where it works and what help says about it.

/// Where a key means something. More special places go before more general ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum KeyContext {
    /// Anywhere on a screen.
    Screen,
    Graph,
    /// The graph pane shows the table.
    Table,
    Trace,
    /// The files at the cursor have the focus.
    Files,
    /// The log of a task has the focus.
    Output,
    /// An open request has the focus.
    Card,
    /// An open request of now has the focus; in the past these keys move in time.
    OpenCard,
    /// A failed task has the focus.
    Failed,
    /// The end of a run has the focus.
    Finished,
    /// The shown moment is the past.
    Replay,
    /// The home screen.
    Home,
    /// Two runs side by side.
    Compare,
    /// What is due today, on the home screen.
    Today,
}

impl KeyContext {
    /// Whether it is on the home screen and not on that of a session.
    pub(crate) fn is_home(self) -> bool {
        matches!(self, Self::Home | Self::Today)
    }
}

/// The column of the help screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionGroup {
    Move,
    Look,
    Decide,
    Time,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActionEntry {
    pub(crate) action: KeyAction,
    pub(crate) name: &'static str,
    pub(crate) place: KeyContext,
    pub(crate) group: ActionGroup,
    pub(crate) keys: &'static [&'static str],
    pub(crate) words: &'static str,
}

macro_rules! actions {
    ($($action:ident $name:literal $place:ident $group:ident [$($key:literal),*] $words:literal;)*) => {
        /// What a key means on a screen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum KeyAction {
            $($action),*
        }

        /// All actions, in the order in which help lists them.
        pub(crate) const TABLE: &[ActionEntry] = &[
            $(ActionEntry {
                action: KeyAction::$action,
                name: $name,
                place: KeyContext::$place,
                group: ActionGroup::$group,
                keys: &[$($key),*],
                words: $words,
            }),*
        ];
    };
}

actions! {
    Left "left" Screen Move ["h", "Left"] "left, fold";
    Down "down" Screen Move ["j", "Down"] "down";
    Up "up" Screen Move ["k", "Up"] "up";
    Right "right" Screen Move ["l", "Right"] "right, unfold";
    PageUp "page_up" Screen Move ["PageUp"] "a page up";
    PageDown "page_down" Screen Move ["PageDown"] "a page down";
    Start "start" Screen Move ["Home"] "first in the pane, or the start of a replay";
    Latest "latest" Screen Move ["End"] "last in the pane, or the end of a replay";
    FocusNext "focus_next" Screen Move ["Tab"] "next pane";
    FocusPrevious "focus_previous" Screen Move ["Shift-Tab"] "previous pane";
    Open "open" Screen Move ["Enter"] "open";
    Back "back" Screen Move ["Esc"] "close, back";
    Quit "quit" Screen Move ["q"] "back or quit";

    ViewOutline "view_outline" Screen Look ["1"] "show the plan";
    ViewGraph "view_graph" Screen Look ["2"] "show the graph";
    ViewGantt "view_gantt" Screen Look ["3"] "show the calendar";
    ViewTimeline "view_timeline" Screen Look ["4"] "show the timeline of what ran";
    ViewTable "view_table" Screen Look ["5"] "show the table";
    Output "output" Screen Look ["o"] "output of the task";
    FullScreen "full_screen" Screen Look ["z"] "full screen";
    AllOutput "all_output" Output Look ["T"] "output of all tasks, or of this one";
    CopyOutput "copy_output" Output Look ["y"] "copy the output";
    OnlyMatches "only_matches" Output Look ["="] "only lines that match, or all of them";
    WrapOutput "wrap_output" Output Look ["Z"] "wrap long lines, or show them from a column on";
    FirstError "first_error" Output Look [] "the first error in the output";
    PageOutput "page_output" Output Look ["Ctrl-G"] "the whole output in $PAGER";
    Follow "follow" Screen Look ["f"] "follow what runs";
    Zoom "zoom" Graph Look ["Z"] "change the scale";
    FoldGroup "fold_group" Graph Look [] "fold or unfold the group of the task";
    DueTask "due_task" Screen Look ["t"] "today: the task that is due";
    HideUnchanged "hide_unchanged" Graph Look ["="] "hide or show unchanged rows";
    SortNext "sort_next" Table Look [","] "sort by the next column";
    SortPrevious "sort_previous" Table Look [] "sort by the previous column";
    Search "search" Screen Look ["/"] "search";
    NextHit "next_hit" Screen Look ["n"] "next match";
    PreviousHit "previous_hit" Screen Look ["N"] "previous match";
    OnlyTask "only_task" Trace Look ["T"] "only this task";
    OnlyKind "only_kind" Trace Look [] "filter the activity by kind";
    OnlyRole "only_role" Trace Look [] "filter the activity by phase of the agent";
    Why "why" Trace Look ["v"] "details of the step";
    Copy "copy" Trace Look ["y"] "copy the step";
    Pager "pager" Trace Look [] "the step in $PAGER";
    CompareWith "compare_with" Screen Look ["V"] "compare with another run";
    Facts "facts" Screen Look ["W"] "what you said";
    Palette "palette" Screen Look [":"] "commands";
    Help "help" Screen Look ["?"] "help";

    GoalBox "goal_box" Home Look ["i"] "new goal";
    Today "today" Home Look ["t"] "today";
    NextNeed "next_need" Home Decide ["n"] "open what waits for you";
    Inbox "inbox" Home Look ["!"] "inbox: what waits for you";
    CatchUp "catch_up" Home Decide ["C"] "catch up";
    MarkSession "mark_session" Home Decide ["*"] "mark a plan";
    Compare "compare" Home Look ["V"] "compare the marked plans";
    RemoveSession "remove_session" Home Decide ["Delete"] "dismiss or remove, asks";
    TodayDone "today_done" Today Decide ["d"] "done";
    TodaySkip "today_skip" Today Decide ["S"] "skip";
    TodayLater "today_later" Today Decide ["w"] "when: move it";

    NextDivergence "next_divergence" Compare Look ["n"] "next difference";
    PreviousDivergence "previous_divergence" Compare Look ["N"] "previous difference";
    FoldSame "fold_same" Compare Look ["="] "hide or show what is the same";
    SwapRuns "swap_runs" Compare Look [] "swap A and B";
    CompareOutputs "compare_outputs" Compare Look ["o"] "outputs of both as a difference";
    ExportComparison "export_comparison" Compare Look [] "export the comparison";

    Yes "yes" Card Decide ["a"] "approve, allow once";
    YesWider "yes_wider" Card Decide ["A"] "approve or allow more, asks which";
    No "no" Card Decide ["x"] "discard or deny, asks if something is lost";
    Options "options" Card Decide ["V"] "other versions";
    Reply "reply" Card Decide ["Tab"] "answer in your own words";
    Ideas "ideas" Card Decide ["b"] "ideas";
    Again "again" Card Decide ["R"] "run it again";
    PassOver "pass_over" Card Decide ["S"] "skip";
    StopIt "stop_it" Card Decide ["X"] "stop the task";
    TakeOver "take_over" Card Decide ["e"] "give the task to yourself";
    Terms "terms" Card Look ["v"] "details";
    NextRequest "next_request" Card Decide ["n"] "next card";
    PreviousRequest "previous_request" Card Decide ["N"] "previous card";
    CardStart "card_start" OpenCard Move ["Home"] "start of the card";
    CardEnd "card_end" OpenCard Move ["End"] "end of the card";
    RetryFailed "retry_failed" Failed Decide ["R"] "retry what failed";
    RetryFailedWithDependents "retry_failed_with_dependents" Failed Decide [] "retry what failed and what depends on it";
    SkipFailed "skip_failed" Failed Decide ["S"] "skip what failed";
    RetryAllFailed "retry_all_failed" Finished Decide ["R"] "retry everything that failed";
    EditFailed "edit_failed" Failed Decide ["e"] "edit the plan in $EDITOR, then retry";
    CopyFailed "copy_failed" Failed Look ["y"] "copy what failed and its last lines";
    NextFailed "next_failed" Failed Decide ["n"] "next card";
    PreviousFailed "previous_failed" Failed Decide ["N"] "previous card";

    Done "done" Graph Decide ["d"] "your task is done";
    When "when" Graph Decide ["w"] "when: move your task to another time";
    Retry "retry" Graph Decide ["R"] "retry";
    RetryWithDependents "retry_with_dependents" Graph Decide [] "retry with what depends on it";
    Skip "skip" Graph Decide ["S"] "skip the task";
    StopTask "stop_task" Graph Decide ["X"] "stop the task, asks first";
    RequestChanges "request_changes" Screen Decide ["r"] "request changes";
    Edit "edit" Screen Decide ["e"] "edit the row";
    AddNode "add_node" Graph Decide ["i"] "add a row";
    SplitRow "split_row" Graph Decide ["s"] "split the task";
    MergeRows "merge_rows" Graph Decide ["M"] "merge the marked rows";
    KeepChange "keep_change" Graph Decide ["+"] "keep a change that was put back";
    PutBackChange "put_back_change" Graph Decide ["-"] "put a change back";
    RemoveNode "remove_node" Graph Decide ["Delete"] "remove the row";
    MoveDown "move_down" Graph Decide ["J"] "move the row down";
    MoveUp "move_up" Graph Decide ["K"] "move the row up";
    LinkNodes "link_nodes" Graph Decide ["&"] "link the marked rows to this one";
    Mark "mark" Graph Decide ["*"] "mark the row";
    Lock "lock" Screen Decide ["#"] "lock or unlock the row";
    Comment "comment" Screen Decide ["c"] "comment";
    Undo "undo" Screen Decide ["u"] "undo";
    Redo "redo" Screen Decide ["U"] "redo";
    Editor "editor" Screen Decide ["Ctrl-G"] "edit the plan in $EDITOR";
    Policy "policy" Screen Decide ["p"] "policy";
    Pause "pause" Screen Decide ["P"] "run, pause, resume";
    Detach "detach" Screen Decide ["D"] "detach: the run continues in the background";
    Jobs "jobs" Screen Decide [] "tasks at once";

    PreviousEvent "previous_event" Screen Time ["["] "previous event";
    NextEvent "next_event" Screen Time ["]"] "next event";
    PreviousLandmark "previous_landmark" Screen Time ["{"] "previous landmark";
    NextLandmark "next_landmark" Screen Time ["}"] "next landmark";
    Play "play" Screen Time ["Space"] "play, pause playback";
    Slower "slower" Screen Time ["<"] "slower";
    Faster "faster" Screen Time [">"] "faster";
    SkipWaits "skip_waits" Replay Time [] "skip or keep idle time in playback";
    Files "files" Screen Time ["O"] "files at this moment, then the whole difference";
    CopyPath "copy_path" Files Look ["y"] "copy the path";
    GoTo "go_to" Screen Time ["g"] "go to";
    Bookmark "bookmark" Screen Time ["m"] "bookmark";
    Fork "fork" Screen Time ["F"] "fork here";
    Live "live" Screen Time ["L"] "back to live";
}
