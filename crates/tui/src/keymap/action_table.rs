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
    /// An open request has the focus.
    Card,
    /// An open request of now has the focus; in the past these keys move in time.
    OpenCard,
    /// A failed task has the focus.
    Failed,
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
    Left "left" Screen Move ["h", "Left"] "left, to needs";
    Down "down" Screen Move ["j", "Down"] "down";
    Up "up" Screen Move ["k", "Up"] "up";
    Right "right" Screen Move ["l", "Right"] "right, to dependents";
    PageUp "page_up" Screen Move ["PageUp"] "a page up";
    PageDown "page_down" Screen Move ["PageDown"] "a page down";
    FocusNext "focus_next" Screen Move ["Tab"] "next pane";
    FocusPrevious "focus_previous" Screen Move ["Shift-Tab"] "previous pane";
    Open "open" Screen Move ["Enter"] "open or unfold";
    Back "back" Screen Move ["Esc"] "close, back";
    Follow "follow" Screen Look ["f"] "follow";
    ViewGraph "view_graph" Screen Look ["1"] "graph view";
    ViewOutline "view_outline" Screen Look ["2"] "outline view";
    ViewGantt "view_gantt" Screen Look ["3"] "Gantt view";
    ViewTable "view_table" Screen Look ["4"] "table view";
    Zoom "zoom" Graph Look ["z"] "zoom";
    Mark "mark" Graph Decide ["*"] "mark a node";
    SortPrevious "sort_previous" Table Look ["<"] "sort, column before";
    SortNext "sort_next" Table Look [">"] "sort, next column";
    Search "search" Screen Look ["/"] "search";
    NextHit "next_hit" Screen Look ["n"] "next hit";
    PreviousHit "previous_hit" Screen Look ["N"] "previous hit";
    OnlyKind "only_kind" Trace Look ["T"] "by kind";
    OnlyRole "only_role" Trace Look ["v"] "by part (prdv)";
    Copy "copy" Trace Look ["y"] "copy the step";
    Pager "pager" Trace Look ["o"] "open in $PAGER";
    Why "why" Trace Look ["w"] "why this tool";
    OnlyTask "only_task" Trace Look ["t"] "only this task";
    CardStart "card_start" OpenCard Move ["Home", "g"] "request, its start";
    CardEnd "card_end" OpenCard Move ["End", "G"] "request, its end";
    GoalBox "goal_box" Home Look ["g"] "type a goal";
    Today "today" Home Look ["t"] "what is due today";
    RemoveSession "remove_session" Home Decide ["d"] "remove the session";
    MarkSession "mark_session" Home Decide ["*"] "mark a session";
    Compare "compare" Home Look ["v"] "compare the marked";
    NextDivergence "next_divergence" Compare Look ["n"] "next divergence";
    PreviousDivergence "previous_divergence" Compare Look ["N"] "previous divergence";
    FoldSame "fold_same" Compare Look ["="] "fold what is the same";
    SwapRuns "swap_runs" Compare Look ["s"] "swap A and B";
    ExportComparison "export_comparison" Compare Look ["E"] "export";
    CompareWith "compare_with" Screen Look [] "compare with a run";
    TodayDone "today_done" Today Decide ["a"] "done";
    TodaySkip "today_skip" Today Decide ["S"] "skip";
    TodayLater "today_later" Today Decide ["x"] "later, asks when";
    Palette "palette" Screen Look [":"] "commands";
    Help "help" Screen Look ["?"] "help";
    Quit "quit" Screen Move ["q"] "back or quit";

    Yes "yes" Card Decide ["a"] "approve, or yes";
    YesWider "yes_wider" Card Decide ["s"] "keep, or wider yes";
    Always "always" Card Decide ["w"] "always allow";
    RequestChanges "request_changes" Screen Decide ["r"] "request changes";
    Edit "edit" Screen Decide ["e"] "edit a node";
    Options "options" Card Decide ["o"] "options, or offline";
    Reply "reply" Card Decide ["i"] "type an answer";
    Ideas "ideas" Card Decide ["b"] "ideas";
    No "no" Card Decide ["x"] "abandon or deny";
    Reject "reject" Card Decide ["d"] "none of these";
    StopIt "stop_it" Card Decide ["X"] "stop the task";
    TakeOver "take_over" Card Decide ["m"] "take the task over";
    Again "again" Card Decide ["R"] "run again";
    PassOver "pass_over" Card Decide ["S"] "skip the task";
    Terms "terms" Card Look ["v"] "confidence, its terms";
    NextRequest "next_request" Card Decide ["n"] "next request";
    PreviousRequest "previous_request" Card Decide ["N"] "previous request";
    RetryFailed "retry_failed" Failed Decide ["R"] "retry what failed";
    RetryFailedWithDependents "retry_failed_with_dependents" Failed Decide ["D"] "with dependents";
    SkipFailed "skip_failed" Failed Decide ["S"] "skip what failed";
    NextFailed "next_failed" Failed Decide ["n"] "next card";
    PreviousFailed "previous_failed" Failed Decide ["N"] "previous card";
    Done "done" Graph Decide ["a"] "your task is done";
    Retry "retry" Graph Decide ["R"] "retry";
    RetryWithDependents "retry_with_dependents" Graph Decide ["D"] "with dependents";
    Skip "skip" Graph Decide ["S"] "skip";
    StopTask "stop_task" Graph Decide ["X"] "stop the task";
    AddNode "add_node" Graph Decide ["i"] "add a node below";
    RemoveNode "remove_node" Graph Decide ["Delete"] "remove the node";
    MoveUp "move_up" Graph Decide ["Ctrl-Up"] "move the node up";
    MoveDown "move_down" Graph Decide ["Ctrl-Down"] "move the node down";
    LinkNodes "link_nodes" Graph Decide ["&"] "link marked to this";
    Comment "comment" Screen Decide ["c"] "comment on a node";
    Lock "lock" Screen Decide ["K"] "lock or unlock a node";
    Undo "undo" Screen Decide ["u"] "undo a change";
    Redo "redo" Screen Decide ["U"] "redo it";
    Editor "editor" Screen Decide ["Ctrl-G"] "edit in $EDITOR";
    Policy "policy" Screen Decide ["p"] "policy";
    Jobs "jobs" Screen Decide ["J"] "how many at once";
    Pause "pause" Screen Decide ["P"] "run, pause, go on";

    PreviousEvent "previous_event" Screen Time ["["] "previous event";
    NextEvent "next_event" Screen Time ["]"] "next event";
    PreviousLandmark "previous_landmark" Screen Time ["{"] "previous landmark";
    NextLandmark "next_landmark" Screen Time ["}"] "next landmark";
    Start "start" Screen Time ["Home"] "start";
    Latest "latest" Screen Time ["End"] "latest";
    Play "play" Screen Time ["Space"] "play or pause";
    Slower "slower" Screen Time ["-"] "slower";
    Faster "faster" Screen Time ["+", "="] "faster";
    SkipWaits "skip_waits" Replay Time ["s"] "skip waits";
    GoTo "go_to" Screen Time ["g"] "go to";
    Bookmark "bookmark" Screen Time ["m"] "bookmark";
    Fork "fork" Screen Time ["F"] "fork here";
    Live "live" Screen Time ["L"] "live";
}
