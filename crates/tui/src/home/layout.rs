//! Where the parts of home stand, by the size of the terminal.

use ratatui::layout::Rect;

/// The smallest screen that has room for home.
pub(super) const MIN_SIZE: (u16, u16) = (60, 16);
/// From here on plans stand beside today.
const TWO_COLUMNS: u16 = 100;
/// From here on the selected task stands in a third column.
const THREE_COLUMNS: u16 = 160;
/// Columns of plans where there are two columns.
const PLANS: u16 = 37;
/// The most rows of what needs the person on a small screen.
const NEEDS: u16 = 6;
/// From this height on the box for a goal is always there, and the week is shown.
const TALL: u16 = 30;
/// A rule and seven days.
const WEEK: u16 = 8;

/// How much there is to show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HomeContent {
    /// Rows of the box for a goal, with its frame and what was read; one where it is closed.
    pub(super) goal_rows: u16,
    pub(super) needs: usize,
    /// Lines of plans in short.
    pub(super) group_lines: usize,
    /// The plans are being looked at, and have the room of today where there is only one column.
    pub(super) plans_open: bool,
    pub(super) has_week: bool,
}

/// Where everything stands. An empty area is not drawn; rules are outside of the areas, one row above.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HomeAreas {
    pub(super) header: Rect,
    pub(super) goal: Rect,
    /// Everything below the box.
    pub(super) body: Rect,
    /// The rows of the question of the first start.
    pub(super) own_hours: Rect,
    pub(super) needs: Rect,
    /// Rows of each thing that needs the person.
    pub(super) need_rows: u16,
    pub(super) today: Rect,
    /// Today has no headings for its first groups.
    pub(super) compact: bool,
    pub(super) plans: Rect,
    /// Plans are one line for each group.
    pub(super) plans_short: bool,
    pub(super) plan_details: bool,
    pub(super) plan_gaps: bool,
    pub(super) week: Rect,
    pub(super) task: Rect,
    /// The lines between columns.
    pub(super) dividers: [Option<u16>; 2],
    pub(super) footer: Rect,
}

/// Whether the box for a goal is drawn as a box also while it is closed.
pub(super) fn has_goal_box(area: Rect) -> bool {
    area.height >= TALL && area.width >= TWO_COLUMNS
}

impl HomeAreas {
    pub(super) fn new(area: Rect, content: HomeContent) -> Self {
        let header = Rect { height: 1, ..area };
        let footer = Rect { y: area.bottom() - 1, height: 1, ..area };
        let goal = Rect {
            y: area.y + 1,
            height: content.goal_rows.min(area.height.saturating_sub(4)),
            ..area
        };
        let top = goal.bottom();
        let body = Rect { y: top, height: footer.y.saturating_sub(top), ..area };
        let areas = Self { header, goal, body, footer, need_rows: 1, ..Self::default() };
        if area.width >= THREE_COLUMNS && area.height >= TALL {
            areas.with_three_columns(content)
        } else if area.width >= TWO_COLUMNS && area.height >= 20 {
            areas.with_two_columns(content)
        } else {
            areas.with_one_column(content)
        }
    }

    /// Takes the rule above an area off it.
    fn below_rule(area: Rect) -> Rect {
        Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
    }

    /// What needs the person above today, in one column.
    fn stack(mut self, column: Rect, content: HomeContent, per_need: u16) -> Self {
        let needed = u16::try_from(content.needs).unwrap_or(u16::MAX).saturating_mul(per_need);
        let most = (column.height / 3).max(1);
        let height = if content.needs == 0 { 0 } else { needed.min(most) + 1 };
        let needs = Rect { height: height.min(column.height), ..column };
        let today = Rect { y: needs.bottom(), height: column.height - needs.height, ..column };
        self.need_rows = per_need;
        if height > 0 {
            self.needs = Self::below_rule(needs);
        }
        self.today = Self::below_rule(today);
        self
    }

    /// Plans above the week, in one column.
    fn stack_plans(mut self, column: Rect, content: HomeContent) -> Self {
        let week = if content.has_week && column.height >= 24 { WEEK } else { 0 };
        let plans = Rect { height: column.height - week, ..column };
        self.plans = Self::below_rule(plans);
        self.plan_gaps = column.height >= 24;
        if week > 0 {
            self.week = Self::below_rule(Rect { y: plans.bottom(), height: week, ..column });
        }
        self
    }

    fn with_three_columns(mut self, content: HomeContent) -> Self {
        let body = self.body;
        let left = (body.width * 21 / 100).clamp(36, 42);
        let right = (body.width / 3).clamp(46, 80);
        let first = Rect { width: left, ..body };
        let middle = Rect { x: first.right() + 1, width: body.width - left - right - 2, ..body };
        let third = Rect { x: middle.right() + 1, width: right, ..body };
        self.dividers = [Some(first.right()), Some(middle.right())];
        self.task = Self::below_rule(third);
        self.plan_details = true;
        self.stack(middle, content, 2).stack_plans(first, content)
    }

    fn with_two_columns(mut self, content: HomeContent) -> Self {
        let body = self.body;
        let left = Rect { width: body.width - PLANS - 1, ..body };
        let right = Rect { x: left.right() + 1, width: PLANS, ..body };
        self.dividers = [Some(left.right()), None];
        self.stack(left, content, 1).stack_plans(right, content)
    }

    /// One above the other: what needs the person, today, and plans in short or, with the focus, in place of today.
    fn with_one_column(mut self, content: HomeContent) -> Self {
        let body = self.body;
        self.compact = true;
        let most = if body.height >= 18 { NEEDS } else { 1.max(body.height / 5) };
        let needed = u16::try_from(content.needs).unwrap_or(u16::MAX).min(most);
        let height = if needed == 0 { 0 } else { needed + 1 };
        let needs = Rect { height, ..body };
        if height > 0 {
            self.needs = Self::below_rule(needs);
        }
        let rest = Rect { y: needs.bottom(), height: body.height - height, ..body };
        if content.plans_open {
            self.plans = Self::below_rule(rest);
            return self;
        }
        let lines = u16::try_from(content.group_lines).unwrap_or(u16::MAX);
        let short = if lines == 0 || rest.height < 8 { 0 } else { lines.min(4) + 1 };
        let today = Rect { height: rest.height - short, ..rest };
        self.today = Self::below_rule(today);
        if short > 0 {
            self.plans_short = true;
            self.plans = Self::below_rule(Rect { y: today.bottom(), height: short, ..rest });
        }
        self
    }
}
