//! The sessions in their groups, narrowed by what is typed, with one of them selected.

use super::SessionListItem;
use planwright_model::SessionId;
use planwright_state::SessionStatus;

/// The groups of the list, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SessionGroup {
    NeedsYou,
    Running,
    /// Approved and kept for later.
    Ready,
    Finished,
}

impl SessionGroup {
    pub(super) fn from_status(status: SessionStatus) -> Self {
        match status {
            SessionStatus::NeedsYou | SessionStatus::Interrupted => Self::NeedsYou,
            SessionStatus::Planning
            | SessionStatus::Running
            | SessionStatus::Paused
            | SessionStatus::Yours => Self::Running,
            SessionStatus::Held => Self::Ready,
            SessionStatus::Done | SessionStatus::Failed | SessionStatus::Abandoned => {
                Self::Finished
            }
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs you",
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Finished => "finished",
        }
    }
}

/// One row of the list on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionListRow {
    Heading(SessionGroup, usize),
    /// What the columns are.
    Columns,
    Item(usize),
    Detail(usize),
}

/// The list.
pub(super) struct SessionList {
    pub(super) items: Vec<SessionListItem>,
    /// The items that pass the filter, in order.
    shown: Vec<usize>,
    pub(super) selected: usize,
    /// The first row on the screen.
    pub(super) top: usize,
}

impl SessionList {
    pub(super) fn new(mut items: Vec<SessionListItem>) -> Self {
        items.sort_by_key(|item| {
            (SessionGroup::from_status(item.status), std::cmp::Reverse(item.updated_at))
        });
        let items = nest_forks(items);
        let shown = (0..items.len()).collect();
        Self { items, shown, selected: 0, top: 0 }
    }

    /// How many sessions of its group stand above a fork as what it goes on from; none for one without a parent.
    pub(super) fn fork_depth(&self, item: usize) -> usize {
        let mut depth = 0;
        let mut at = item;
        while let Some(parent) = self.items[at].fork_of.as_ref().and_then(|(parent, _)| {
            let group = SessionGroup::from_status(self.items[at].status);
            let same = |other: &SessionListItem| {
                other.id == *parent && SessionGroup::from_status(other.status) == group
            };
            self.items[..at].iter().rposition(same)
        }) {
            depth += 1;
            at = parent;
        }
        depth
    }

    /// Shows other sessions; the one under the cursor stays there if it is still among them.
    pub(super) fn replace_items(&mut self, items: Vec<SessionListItem>, filter: &str) {
        let selected = self.items.get(self.selected).map(|item| item.id.clone());
        let (top, at) = (self.top, self.selected);
        *self = Self::new(items);
        self.top = top;
        let found = self.items.iter().position(|item| Some(&item.id) == selected.as_ref());
        self.selected = found.unwrap_or(at.min(self.items.len().saturating_sub(1)));
        self.apply_filter(filter);
    }

    /// Selects a session, if it is there.
    pub(super) fn select_session(&mut self, id: &SessionId) -> bool {
        let place = self.items.iter().position(|item| item.id == *id);
        self.selected = place.unwrap_or(self.selected);
        place.is_some()
    }

    /// Whether the first session waits for the person.
    pub(super) fn is_first_waiting(&self) -> bool {
        self.items
            .first()
            .is_some_and(|item| SessionGroup::from_status(item.status) == SessionGroup::NeedsYou)
    }

    pub(super) fn selected_item(&self) -> Option<&SessionListItem> {
        self.items.get(self.selected).filter(|_| self.shown.contains(&self.selected))
    }

    /// Keeps the sessions whose title, id or pattern has all the words.
    pub(super) fn apply_filter(&mut self, filter: &str) {
        let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
        let passes = |item: &SessionListItem| {
            let text =
                format!("{} {} {} {}", item.title, item.id, item.pattern, item.status.label());
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.shown = (0..self.items.len()).filter(|at| passes(&self.items[*at])).collect();
        if !self.shown.contains(&self.selected) {
            self.selected = self.shown.first().copied().unwrap_or(0);
        }
    }

    pub(super) fn move_selection(&mut self, by: isize) {
        let Some(last) = self.shown.len().checked_sub(1) else { return };
        let at = self.shown.iter().position(|item| *item == self.selected).unwrap_or(0);
        self.selected = self.shown[at.saturating_add_signed(by).min(last)];
    }

    pub(super) fn shown_count(&self) -> usize {
        self.shown.len()
    }

    pub(super) fn visible_rows(&self) -> Vec<SessionListRow> {
        let mut rows = Vec::new();
        for group in [
            SessionGroup::NeedsYou,
            SessionGroup::Running,
            SessionGroup::Ready,
            SessionGroup::Finished,
        ] {
            let of_group =
                |item: &&usize| SessionGroup::from_status(self.items[**item].status) == group;
            let members: Vec<usize> = self.shown.iter().filter(of_group).copied().collect();
            if members.is_empty() {
                continue;
            }
            let first = rows.is_empty();
            rows.push(SessionListRow::Heading(group, members.len()));
            if first {
                rows.push(SessionListRow::Columns);
            }
            for item in members {
                rows.push(SessionListRow::Item(item));
                if self.items[item].detail.is_some() {
                    rows.push(SessionListRow::Detail(item));
                }
            }
        }
        rows
    }

    /// Brings the selection into view, with the heading above it and the detail below.
    pub(super) fn scroll_to_selection(&mut self, rows: &[SessionListRow], room: usize) {
        let at =
            rows.iter().position(|row| *row == SessionListRow::Item(self.selected)).unwrap_or(0);
        self.top = self.top.min(at.saturating_sub(2)).max((at + 2).saturating_sub(room));
        self.top = self.top.min(rows.len().saturating_sub(room));
    }
}

/// Puts forks right below what they go on from, where both are in the same group.
fn nest_forks(items: Vec<SessionListItem>) -> Vec<SessionListItem> {
    let group = |item: &SessionListItem| SessionGroup::from_status(item.status);
    let place = |child: &SessionListItem| {
        let (parent, _) = child.fork_of.as_ref()?;
        items.iter().position(|item| item.id == *parent && group(item) == group(child))
    };
    let parents: Vec<Option<usize>> = items.iter().map(place).collect();
    if parents.iter().all(Option::is_none) {
        return items;
    }
    let mut children = vec![Vec::new(); items.len()];
    for (child, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            children[*parent].push(child);
        }
    }
    let mut order = Vec::with_capacity(items.len());
    for (root, parent) in parents.iter().enumerate().rev() {
        if parent.is_none() {
            order.push(root);
        }
    }
    let (mut open, mut sorted) = (order, Vec::with_capacity(items.len()));
    while let Some(next) = open.pop() {
        sorted.push(next);
        open.extend(children[next].iter().rev());
    }
    let mut left: Vec<Option<SessionListItem>> = items.into_iter().map(Some).collect();
    sorted.into_iter().filter_map(|place| left[place].take()).collect()
}
