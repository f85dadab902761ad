//! What help lists for each pane: keys that belong together in one row, most used first.

use crate::keymap::KeyAction as A;

/// Keys that belong together and what they do.
pub(super) type HelpRow = (&'static [A], &'static str);

/// A column of help.
pub(super) struct HelpSection {
    pub(super) title: &'static str,
    pub(super) rows: &'static [HelpRow],
}

pub(super) const PLAN: HelpSection = HelpSection {
    title: "the plan",
    rows: &[
        (&[A::Edit], "edit the row"),
        (&[A::AddNode, A::RemoveNode], "add, remove"),
        (&[A::SplitRow, A::MergeRows], "split, merge marked"),
        (&[A::MoveDown, A::MoveUp], "move it down, up"),
        (&[A::LinkNodes], "link marked to this"),
        (&[A::Comment], "comment"),
        (&[A::Lock, A::Mark], "lock, mark"),
        (&[A::Undo, A::Redo], "undo, redo"),
        (&[A::Editor], "edit as a file"),
    ],
};

pub(super) const DECISION: HelpSection = HelpSection {
    title: "the decision",
    rows: &[
        (&[A::Yes], "approve, allow once"),
        (&[A::YesWider], "more ways to say yes"),
        (&[A::No], "discard, deny"),
        (&[A::RequestChanges], "request changes"),
        (&[A::Options], "other versions"),
        (&[A::Reply], "answer in your words"),
        (&[A::PassOver], "skip the question"),
        (&[A::Again, A::StopIt], "run again, stop"),
        (&[A::NextRequest, A::PreviousRequest], "next, previous"),
        (&[A::Ideas], "ideas"),
        (&[A::Policy], "policy"),
    ],
};

pub(super) const LOOKING: HelpSection = HelpSection {
    title: "looking",
    rows: &[
        (&[A::ViewOutline, A::ViewGraph, A::ViewGantt], "plan, graph, calendar"),
        (&[A::ViewTimeline, A::ViewTable], "timeline, table"),
        (&[A::Output], "output of the task"),
        (&[A::Open], "open"),
        (&[A::Terms], "details"),
        (&[A::CompareWith], "compare"),
        (&[A::FullScreen, A::Zoom], "full screen, scale"),
        (&[A::Search, A::GoTo], "search, go to"),
        (&[A::NextHit, A::PreviousHit], "next match or request"),
        (&[A::Follow], "follow what runs"),
        (&[A::SortNext], "sort the table"),
        (&[A::PreviousEvent], "back in time"),
    ],
};

pub(super) const TASK: HelpSection = HelpSection {
    title: "the task",
    rows: &[
        (&[A::Open], "open"),
        (&[A::Done], "done"),
        (&[A::When], "when: move it"),
        (&[A::Retry], "retry"),
        (&[A::Skip], "skip"),
        (&[A::StopTask], "stop, asks first"),
        (&[A::Comment], "comment"),
        (&[A::Edit], "edit the row"),
        (&[A::Lock, A::Mark], "lock, mark"),
    ],
};

pub(super) const RUN: HelpSection = HelpSection {
    title: "the run",
    rows: &[
        (&[A::Pause], "run, pause, resume"),
        (&[A::Detach], "detach, it runs on"),
        (&[A::RetryFailed, A::SkipFailed], "retry, skip a failure"),
        (&[A::EditFailed, A::CopyFailed], "edit, copy a failure"),
        (&[A::AllOutput, A::CopyOutput], "all output, copy it"),
        (&[A::OnlyMatches, A::WrapOutput], "only matches, wrap"),
        (&[A::PageOutput], "output in the pager"),
        (&[A::RequestChanges], "request changes"),
        (&[A::Undo, A::Redo], "undo, redo"),
        (&[A::Editor], "edit as a file"),
        (&[A::Policy], "policy"),
        (&[A::Fork], "fork here"),
        (&[A::Bookmark], "bookmark"),
    ],
};

pub(super) const ACTIVITY: HelpSection = HelpSection {
    title: "the activity",
    rows: &[
        (&[A::Open], "unfold the step"),
        (&[A::OnlyTask], "only this task"),
        (&[A::Why], "details of the step"),
        (&[A::Output], "output of its task"),
        (&[A::Copy], "copy it"),
        (&[A::Follow], "follow"),
        (&[A::Search], "search"),
        (&[A::NextHit, A::PreviousHit], "next, previous match"),
    ],
};

pub(super) const TIME: HelpSection = HelpSection {
    title: "time",
    rows: &[
        (&[A::PreviousEvent, A::NextEvent], "event"),
        (&[A::PreviousLandmark, A::NextLandmark], "landmark"),
        (&[A::Play], "play, pause playback"),
        (&[A::Slower, A::Faster], "slower, faster"),
        (&[A::Start, A::Latest], "start, end"),
        (&[A::GoTo], "go to a time or event"),
        (&[A::Bookmark], "bookmark"),
        (&[A::Fork], "fork here"),
        (&[A::Live], "back to live"),
    ],
};

/// All sections, for a search over all of them.
pub(super) const ALL: [&HelpSection; 7] =
    [&PLAN, &DECISION, &LOOKING, &TASK, &RUN, &ACTIVITY, &TIME];

/// Keys that are named with their reason when they do not work.
pub(super) const NOT_NOW: [(A, &str); 8] = [
    (A::Pause, "pause"),
    (A::Detach, "detach"),
    (A::Retry, "retry"),
    (A::Done, "done"),
    (A::StopTask, "stop"),
    (A::Yes, "approve"),
    (A::Play, "play"),
    (A::Fork, "fork"),
];

/// What the marks on the screens mean.
pub(super) const LEGEND: [&[&str]; 3] = [
    &[
        "✓ done",
        "► running",
        "· waiting",
        "@ yours",
        "? asks you",
        "✗ failed",
        "» skipped",
        "■ paused",
    ],
    &[
        "+ added",
        "- removed",
        "~ changed",
        "> moved",
        "= put back",
        "# locked",
        "* marked",
        "◊ milestone",
    ],
    &["heavy line: longest path", "double box: selected", "dashed rule: the past"],
];
