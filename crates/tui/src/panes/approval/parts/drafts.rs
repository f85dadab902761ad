//! The draft that is asked about: pattern, outline, options of the roadmap side by side, what was assumed.

use crate::panes::approval::content::{CardLine, push_labeled};
use crate::theme::ThemeRole;
use planwright_model::{
    NodeTree, PatternChoice, PlanContext, PlanOutline, Risk, Roadmap, RoadmapOption,
};
use planwright_state::SessionState;
use planwright_text::dates::format_date_range;
use planwright_text::{clean_line, fit_width, units, wrap_words};

pub(in super::super) fn pattern_lines(choice: &PatternChoice, width: usize) -> Vec<CardLine> {
    let mut lines = vec![Vec::new()];
    let subtype = choice.pattern.subtype.as_deref().unwrap_or("no subtype");
    let named = format!("{} / {subtype}", choice.pattern.pattern_type);
    push_labeled(&mut lines, "pattern", &named, ThemeRole::Text, width);
    let sure = format!(
        "{}, ahead of the next by {}",
        units::format_confidence(choice.confidence, 2),
        units::format_confidence(choice.margin, 2)
    );
    push_labeled(&mut lines, "how sure", &sure, ThemeRole::Text, width);
    if let Some(second) = &choice.second {
        push_labeled(&mut lines, "next", &second.pattern_type.to_string(), ThemeRole::Text, width);
    }
    for line in &choice.explanations {
        push_labeled(&mut lines, "because", line, ThemeRole::Untrusted, width);
    }
    lines
}

/// The whole tree, so that nothing is approved unseen.
pub(in super::super) fn outline_lines(outline: &PlanOutline, width: usize) -> Vec<CardLine> {
    let mut lines = vec![Vec::new(), vec![("Outline".to_owned(), ThemeRole::Text)]];
    let tree = NodeTree::new(&outline.nodes);
    for node in tree.subtree(&outline.root_id).into_iter().skip(1) {
        let depth = tree.ancestors(&node.id).len();
        let lead = format!("{}{} ", "  ".repeat(depth), fit_width(node.id.as_str(), 8));
        let mut line: CardLine = vec![(clean_line(&lead).into_owned(), ThemeRole::Dim)];
        let title = clean_line(&node.title).into_owned();
        line.push((
            title,
            if node.node_type.is_container() { ThemeRole::Key } else { ThemeRole::Text },
        ));
        if !node.done_when.is_empty() {
            line.push((format!("   done when {}", clean_line(&node.done_when)), ThemeRole::Dim));
        }
        lines.extend(wrap_pieces(line, width, 2 * depth + 9));
    }
    lines
}

/// Wraps a line in pieces so that nothing of it is cut, further lines hanging.
fn wrap_pieces(line: CardLine, width: usize, hang: usize) -> Vec<CardLine> {
    let mut lines: Vec<CardLine> = vec![Vec::new()];
    let mut used = 0;
    for (text, role) in line {
        for word in text.split_inclusive(' ') {
            let size = planwright_text::display_width(word);
            if used + size > width && used > hang {
                lines.push(vec![(" ".repeat(hang), ThemeRole::Dim)]);
                used = hang;
            }
            used += size;
            if let Some(last) = lines.last_mut() {
                last.push((word.to_owned(), role));
            }
        }
    }
    lines
}

/// The options that were compared, one column each.
pub(in super::super) fn option_lines(roadmap: &Roadmap, width: usize) -> Vec<CardLine> {
    let options = &roadmap.options_tried;
    if options.is_empty() {
        return Vec::new();
    }
    let columns = options.len().min(3);
    let column = (width.saturating_sub(2) / columns).max(12);
    let mut lines = vec![Vec::new(), vec![("Options".to_owned(), ThemeRole::Text)]];
    let cells = |make: &dyn Fn(usize, &RoadmapOption) -> (String, ThemeRole)| -> CardLine {
        let mut line: CardLine = vec![("  ".to_owned(), ThemeRole::Dim)];
        for (index, option) in options.iter().take(columns).enumerate() {
            let (text, role) = make(index, option);
            line.push((fit_width(&clean_line(&text), column).into_owned(), role));
        }
        line
    };
    lines.push(cells(&|index, option| {
        let mark = if option.chosen { "► " } else { "  " };
        let role = if option.chosen { ThemeRole::Key } else { ThemeRole::Text };
        (format!("{mark}{} {}", index + 1, option.label), role)
    }));
    lines.push(cells(&|_, option| {
        (format!("  {}", units::format_planned(option.effort_minutes.into())), ThemeRole::Text)
    }));
    lines.push(cells(&|_, option| {
        (
            format!("  {}", units::format_counted(usize::from(option.span_weeks), "week")),
            ThemeRole::Text,
        )
    }));
    lines.push(cells(&|_, option| match option.risk {
        Risk::Low => ("  low risk".to_owned(), ThemeRole::Text),
        Risk::Medium => ("  medium risk".to_owned(), ThemeRole::Warn),
        Risk::High => ("  high risk".to_owned(), ThemeRole::Failed),
    }));
    lines.push(cells(&|_, option| {
        (format!("  score {}", units::format_confidence(option.score, 2)), ThemeRole::Text)
    }));
    let words: Vec<Vec<String>> = options
        .iter()
        .take(columns)
        .map(|option| {
            let room = column.saturating_sub(4).max(8);
            wrap_words(&clean_line(&option.summary), room, 0)
                .into_iter()
                .map(std::borrow::Cow::into_owned)
                .collect()
        })
        .collect();
    for row in 0..words.iter().map(Vec::len).max().unwrap_or(0) {
        lines.push(cells(&|index, _| {
            let text = words[index].get(row).map(|text| format!("  {text}")).unwrap_or_default();
            (text, ThemeRole::Untrusted)
        }));
    }
    lines
}

/// Every value that the person did not state.
pub(in super::super) fn assumption_lines(context: &PlanContext, width: usize) -> Vec<CardLine> {
    let mut lines = Vec::new();
    for assumption in &context.assumptions {
        let text = format!("{}: {}", assumption.key, assumption.value);
        push_labeled(&mut lines, "assumed", &text, ThemeRole::Text, width);
    }
    if !lines.is_empty() {
        lines.insert(0, Vec::new());
    }
    lines
}

/// When the plan would be worked on.
pub(in super::super) fn schedule_lines(
    state: &SessionState,
    zone: &jiff::tz::TimeZone,
    width: usize,
) -> Vec<CardLine> {
    let Some(schedule) = &state.planning.schedule else { return Vec::new() };
    let mut lines = Vec::new();
    let first = schedule.blocks.iter().map(|block| block.start.at).min();
    let last = schedule.blocks.iter().map(|block| block.end.at).max();
    if let (Some(first), Some(last)) = (first, last) {
        let blocks = units::format_counted(schedule.blocks.len(), "block");
        let [first, last] = [first, last].map(|at| at.to_zoned(zone.clone()).date());
        let text = format!("{}, {blocks}", format_date_range(first, last, first));
        push_labeled(&mut lines, "schedule", &text, ThemeRole::Text, width);
    }
    if schedule.lateness_minutes > 0 {
        let text = format!(
            "ends {} of work after the deadline",
            units::format_planned(schedule.lateness_minutes.into())
        );
        push_labeled(&mut lines, "late", &text, ThemeRole::Failed, width);
    }
    for left in &schedule.unplaced {
        let text = format!(
            "{}: {} fit nowhere",
            left.plan_node_id,
            units::format_planned(left.minutes.into())
        );
        push_labeled(&mut lines, "not placed", &text, ThemeRole::Warn, width);
    }
    lines
}
