//! The cards of a run: a command, an edit, a host or a tool to allow, a limit, a call in doubt, an agent out of steps, a
//! key that was found, a new kind of plan.
//!
//! What is decided stands first and alone, byte for byte behind a bar; the facts follow with their labels at the left.

use std::borrow::Cow;

use super::content::{CardLine, push_paragraph, push_verbatim};
use crate::keymap::{KeyAction, Keymap};
use crate::theme::ThemeRole;
use planwright_model::request::RequestDetail;
use planwright_model::requests::with_cap_amount;
use planwright_model::{Request, RequestKind, RunCap};
use planwright_text::{clean_line, clean_text, display_width, fit_width, wrap_words};

/// Below so many columns a card has no air under its rule.
const NARROW: usize = 70;
/// Where the texts of the facts begin.
const FACTS: usize = 15;

/// Whether a request is asked while something runs, or before planning begins, and has no plan to show.
pub(super) fn is_run_card(kind: &RequestKind) -> bool {
    matches!(
        kind,
        RequestKind::Permission { .. }
            | RequestKind::Cap { .. }
            | RequestKind::InDoubt { .. }
            | RequestKind::TaskCap { .. }
            | RequestKind::AgentQuestion { .. }
            | RequestKind::PartlyDone { .. }
            | RequestKind::ChangeReview { .. }
            | RequestKind::CandidateChoice { .. }
            | RequestKind::AppliedCheck { .. }
            | RequestKind::Consent { .. }
            | RequestKind::Rfc { .. }
    )
}

/// The lines of the card: what is asked about, then the facts.
pub(super) fn run_card_lines(request: &Request, width: usize) -> Vec<CardLine> {
    // A small screen has no row for air.
    let mut lines = if width < NARROW { Vec::new() } else { vec![Vec::new()] };
    let files = request.verbatim.len();
    for (at, quoted) in request.verbatim.iter().enumerate() {
        let first = lines.len();
        push_quoted(&mut lines, quoted, files > 1, width);
        // Which of them is in sight where the difference is longer than the card.
        if files > 1 && matches!(request.kind, RequestKind::ChangeReview { .. }) {
            let place = format!("   file {} of {files}", at + 1);
            lines[first].push((place, ThemeRole::Rule));
        }
        lines.push(Vec::new());
    }
    // The reason of a permission is one of its facts; elsewhere it is a sentence of its own.
    let permission = matches!(request.kind, RequestKind::Permission { .. });
    if !permission {
        push_indented(&mut lines, &request.why, width);
        if let RequestKind::Cap { used, limit: limit @ 1.., .. } = request.kind {
            lines.push(usage_bar(used, limit, width));
        }
        if !request.details.is_empty() {
            lines.push(Vec::new());
        }
    }
    let why = RequestDetail::new("Why asked", request.why.clone());
    let mut said = !permission;
    // A tool of ours is what the question says; one of another program is named.
    let named = |fact: &&RequestDetail| fact.label != "Tool" || request.question.contains("tool");
    for fact in request.details.iter().filter(named) {
        // It follows who asks and where, and comes before what was used.
        if !said && !matches!(fact.label.as_str(), "Asked by" | "Tool" | "Where" | "Sandbox") {
            said = true;
            push_fact(&mut lines, &why, width);
        }
        push_fact(&mut lines, fact, width);
    }
    if !said {
        push_fact(&mut lines, &why, width);
    }
    lines
}

/// How far the limit would be raised, and the keys that change it.
pub(super) fn amount_line(
    request: &Request,
    chosen: Option<u64>,
    keymap: &Keymap,
) -> Option<CardLine> {
    let (cap, used) = chosen_cap(request)?;
    let amount = chosen.unwrap_or_else(|| cap.raised_limit(used));
    let keys = keymap.keys_hint(&[KeyAction::Left, KeyAction::Right]);
    Some(vec![
        (fit_width("  New limit", FACTS).into_owned(), ThemeRole::Dim),
        ("‹ ".to_owned(), ThemeRole::Key),
        (cap.format_amount(amount), ThemeRole::Text),
        (" ›".to_owned(), ThemeRole::Key),
        (format!("   {keys}"), ThemeRole::Key),
        (" change it".to_owned(), ThemeRole::Dim),
    ])
}

/// The limit whose new amount the person can choose, and what is used of it.
pub(super) fn chosen_cap(request: &Request) -> Option<(RunCap, u64)> {
    let RequestKind::Cap { cap, used, .. } = request.kind else { return None };
    cap.has_chosen_amount().then_some((cap, used))
}

/// The amount one step away from the chosen one.
pub(crate) fn step_cap_amount(request: &Request, chosen: Option<u64>, up: bool) -> Option<u64> {
    let (cap, used) = chosen_cap(request)?;
    let amount = chosen.unwrap_or_else(|| cap.raised_limit(used));
    Some(cap.step_amount(used, amount, up))
}

/// The request as its answers read with the chosen amount.
pub(crate) fn with_chosen_amount(request: &Request, chosen: Option<u64>) -> Cow<'_, Request> {
    match chosen {
        Some(amount) => Cow::Owned(with_cap_amount(request, amount)),
        None => Cow::Borrowed(request),
    }
}

/// A command or another text that is decided about, whole; a change has its signs in color.
fn push_quoted(lines: &mut Vec<CardLine>, quoted: &RequestDetail, named: bool, width: usize) {
    let label = clean_line(&quoted.label);
    if named || !label.eq_ignore_ascii_case("command") {
        lines.push(vec![(format!("  {label}"), ThemeRole::Dim)]);
    }
    let mut quoted_lines = Vec::new();
    let is_change = label.eq_ignore_ascii_case("change") || quoted.text.starts_with("--- ");
    let text = if is_change { without_diff_header(&quoted.text) } else { quoted.text.clone() };
    push_verbatim(&mut quoted_lines, &text, width.saturating_sub(2));
    for mut line in quoted_lines {
        if is_change && let Some(role) = line.get(1).and_then(|(text, _)| diff_role(text)) {
            line.iter_mut().skip(1).for_each(|piece| piece.1 = role);
        }
        line.insert(0, (" ".to_owned(), ThemeRole::Text));
        lines.push(line);
    }
}

/// The changed lines alone: the file is named above them, and the numbers of its lines are for programs.
fn without_diff_header(text: &str) -> String {
    let mut in_header = true;
    let kept = text.trim_end_matches('\n').lines().filter(|line| {
        let is_header = in_header && (line.starts_with("--- ") || line.starts_with("+++ "));
        in_header = is_header;
        !is_header && !line.starts_with("@@ ")
    });
    let lines: Vec<&str> = kept.collect();
    if lines.is_empty() { text.to_owned() } else { lines.join("\n") }
}

fn diff_role(text: &str) -> Option<ThemeRole> {
    match text.chars().next()? {
        '+' => Some(ThemeRole::DiffAdded),
        '-' => Some(ThemeRole::DiffRemoved),
        _ => None,
    }
}

fn push_indented(lines: &mut Vec<CardLine>, text: &str, width: usize) {
    let mut sentence = Vec::new();
    push_paragraph(&mut sentence, text, ThemeRole::Text, width.saturating_sub(2).max(8));
    for mut line in sentence {
        line.insert(0, ("  ".to_owned(), ThemeRole::Text));
        lines.push(line);
    }
}

/// A label and its text, further lines hanging under the text.
fn push_fact(lines: &mut Vec<CardLine>, fact: &RequestDetail, width: usize) {
    let label = clean_line(&fact.label);
    let column = FACTS.max(display_width(&label) + 4).min(width / 2);
    let role = match fact.label.as_str() {
        "Sandbox" if fact.text.starts_with("missing") => ThemeRole::Failed,
        "Danger" => ThemeRole::Failed,
        "It says" | "Reason" => ThemeRole::Untrusted,
        _ => ThemeRole::Text,
    };
    let text = clean_text(&fact.text);
    let wrapped = wrap_words(&text, width.saturating_sub(column).max(8), 0);
    for (index, part) in wrapped.into_iter().enumerate() {
        let lead = if index == 0 { format!("  {label}") } else { String::new() };
        let lead = fit_width(&lead, column).into_owned();
        lines.push(vec![(lead, ThemeRole::Dim), (part.into_owned(), role)]);
    }
}

/// How much of a limit is used: a bar that ends at the limit, and the share in figures.
fn usage_bar(used: u64, limit: u64, width: usize) -> CardLine {
    let cells = 60.min(width.saturating_sub(12)).max(10);
    let share = used as f64 / limit as f64;
    let filled = ((share * cells as f64).round() as usize).min(cells);
    let role = if share >= 1.0 { ThemeRole::Failed } else { ThemeRole::Warn };
    vec![
        ("  ".to_owned(), ThemeRole::Dim),
        ("━".repeat(filled), role),
        ("─".repeat(cells - filled), ThemeRole::Rule),
        (format!("  {:.0} %", (share * 100.0).floor()), role),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::requests::samples::requests_where;

    fn shown(request: &Request, width: usize) -> String {
        let line = |line: &CardLine| line.iter().map(|(text, _)| text.as_str()).collect::<String>();
        run_card_lines(request, width).iter().map(|pieces| line(pieces) + "\n").collect()
    }

    #[test]
    fn every_card_of_a_run_reads_as_one_document() {
        let document: Vec<String> = requests_where(is_run_card)
            .iter()
            .map(|request| format!("# {}\n{}", request.question, shown(request, 92)))
            .collect();
        insta::assert_snapshot!("run_cards", document.join("\n"));
    }

    #[test]
    fn each_file_of_several_says_which_one_it_is() {
        let asked = requests_where(|kind| matches!(kind, RequestKind::ChangeReview { .. }));
        let mut request = asked.into_iter().find(|asked| !asked.verbatim.is_empty()).unwrap();
        request.verbatim.truncate(1);
        assert!(!shown(&request, 92).contains("file 1 of"), "{}", shown(&request, 92));
        request.verbatim.push(RequestDetail::new("src/lib.rs +1 -0", "--- a\n+++ b\n@@\n+use x;"));
        let text = shown(&request, 92);
        assert!(text.contains("   file 1 of 2\n"), "{text}");
        assert!(text.contains("src/lib.rs +1 -0   file 2 of 2\n"), "{text}");
    }

    #[test]
    fn the_command_comes_first_and_whole_at_any_width() {
        let asked = requests_where(|kind| matches!(kind, RequestKind::Permission { .. }));
        for request in asked {
            for width in [20, 40, 92] {
                let text = shown(&request, width);
                let bar = text.lines().find(|line| line.contains('┃')).unwrap();
                let first = request.verbatim[0].text.lines().next().unwrap();
                assert!(first.starts_with(bar.split_once("┃ ").unwrap().1.trim_end()), "{text}");
            }
        }
    }
}
