//! Reads a plan that an agent wrote as Markdown: headings, lists and text, without a fixed form.
//!
//! Steps are, in this order: items with a checkbox; headings with a number; numbered items, or else the items of a list,
//! in sections that are not notes; headings. A text without any of these is one step. Numbered steps follow each
//! other, sections follow each other, and what is indented below a step is its details.

use super::step_text::{is_note_heading, numbered_step, short_title};
use super::{DETAILS_FIELD, MAX_SUBMITTED_STEPS, ReadSubmission, SubmissionError, too_many_steps};
use crate::plan_file::TitleSlugs;
use document::{DocumentItem, MarkdownDocument};
use planwright_model::{
    GraphFacts, NodeLines, NormalizationChange, Plan, RunKind, Severity, TaskId, TaskLink,
    TaskNode, Violation,
};

mod document;

/// The most bytes of details that a step keeps; the text itself has all of them.
const MAX_DETAIL_BYTES: usize = 8 * 1024;
/// The most links that are made between two sections.
const MAX_SECTION_LINKS: usize = 400;

/// A part of the text that is a step.
#[derive(Clone, Debug)]
struct MarkdownStep {
    title: String,
    /// The bytes of the step, and where its details begin.
    range: std::ops::Range<usize>,
    details_from: usize,
    section: usize,
    /// The step that it is a part of.
    parent: Option<usize>,
    /// The list that it is a numbered item of; headings are one list.
    ordered_in: Option<usize>,
    ticked: bool,
}

pub(super) fn read_markdown(text: &str) -> Result<ReadSubmission, SubmissionError> {
    let document = MarkdownDocument::parse(text);
    let mut findings = Vec::new();
    let mut steps = find_steps(&document);
    if steps.is_empty() {
        let message = "no steps were found; the whole text counts as one step";
        let fix = "Write the steps as a numbered list.";
        findings.push(Violation::new("no_steps", Severity::Warning, message, fix));
        steps.push(whole_text_step(&document));
    }
    if steps.len() > MAX_SUBMITTED_STEPS {
        return Err(too_many_steps(steps.len()));
    }
    let mut read = ReadSubmission {
        plan: Plan { title: document.title(), ..Plan::default() },
        facts: GraphFacts::default(),
        normalization: Vec::new(),
        node_lines: Vec::new(),
        findings,
    };
    add_tasks(&document, &steps, &mut read);
    if read.plan.tasks.is_empty() {
        let message = "every step is ticked";
        let fix = "Untick what is still to be done.";
        let finding = Violation::new("bad_value", Severity::Fatal, message, fix);
        return Err(SubmissionError::Invalid { findings: vec![finding] });
    }
    Ok(read)
}

fn find_steps(document: &MarkdownDocument<'_>) -> Vec<MarkdownStep> {
    let items = &document.items;
    if items.iter().any(|item| item.ticked.is_some()) {
        let chosen: Vec<usize> =
            (0..items.len()).filter(|at| items[*at].ticked.is_some()).collect();
        return steps_from_items(document, &chosen);
    }
    let numbered: Vec<usize> = (0..document.headings.len())
        .filter(|at| {
            let text = &document.headings[*at].text;
            numbered_step(text).is_some() && !is_note_heading(text)
        })
        .collect();
    if numbered.len() > 1 {
        return steps_from_headings(document, &numbered);
    }
    let mut chosen = top_items(document, |section| !document.is_note_section(section));
    if chosen.is_empty() {
        chosen = top_items(document, |_| true);
    }
    if !chosen.is_empty() {
        return steps_from_items(document, &chosen);
    }
    let headings: Vec<usize> = (0..document.headings.len())
        .filter(|at| !document.is_title(*at) && !is_note_heading(&document.headings[*at].text))
        .collect();
    steps_from_headings(document, &headings)
}

/// The items that are steps: of a section with numbered items those, of another all.
fn top_items(document: &MarkdownDocument<'_>, has_steps: impl Fn(usize) -> bool) -> Vec<usize> {
    let items = &document.items;
    let is_top = |item: &DocumentItem| item.parent.is_none() && has_steps(item.section);
    let mut numbered = vec![false; document.headings.len() + 1];
    for item in items.iter().filter(|item| is_top(item) && item.ordered) {
        numbered[item.section] = true;
    }
    let is_step = |item: &DocumentItem| is_top(item) && (item.ordered || !numbered[item.section]);
    (0..items.len()).filter(|at| is_step(&items[*at])).collect()
}

fn steps_from_items(document: &MarkdownDocument<'_>, chosen: &[usize]) -> Vec<MarkdownStep> {
    let mut place = vec![None; document.items.len()];
    for (step, item) in chosen.iter().enumerate() {
        place[*item] = Some(step);
    }
    let step = |at: &usize| {
        let item = &document.items[*at];
        MarkdownStep {
            title: item.title.clone(),
            range: item.range.clone(),
            details_from: item.title_end,
            section: item.section,
            parent: item.parent.and_then(|parent| place[parent]),
            ordered_in: item.ordered.then_some(item.list),
            ticked: item.ticked == Some(true),
        }
    };
    chosen.iter().map(step).collect()
}

/// Headings as steps; each goes on until the next one.
fn steps_from_headings(document: &MarkdownDocument<'_>, chosen: &[usize]) -> Vec<MarkdownStep> {
    let step = |at: usize| {
        let heading = &document.headings[chosen[at]];
        let later = document.headings[chosen[at] + 1..].iter();
        let next = later
            .zip(chosen[at] + 1..)
            .find(|(other, place)| other.level <= heading.level || chosen.contains(place));
        let end = next.map_or(document.text.len(), |(other, _)| other.range.start);
        MarkdownStep {
            title: numbered_step(&heading.text).unwrap_or(&heading.text).to_owned(),
            range: heading.range.start..end,
            details_from: heading.range.end,
            section: document.parent_section(chosen[at]),
            parent: None,
            ordered_in: Some(usize::MAX),
            ticked: false,
        }
    };
    (0..chosen.len()).map(step).collect()
}

fn whole_text_step(document: &MarkdownDocument<'_>) -> MarkdownStep {
    let first = document.text.lines().map(str::trim).find(|line| !line.is_empty());
    let title = match document.title() {
        title if title.is_empty() => first.unwrap_or_default().to_owned(),
        title => title,
    };
    MarkdownStep {
        title,
        range: 0..document.text.len(),
        details_from: 0,
        section: 0,
        parent: None,
        ordered_in: None,
        ticked: false,
    }
}

fn add_tasks(document: &MarkdownDocument<'_>, steps: &[MarkdownStep], read: &mut ReadSubmission) {
    let mut slugs = TitleSlugs::default();
    let names: Vec<TaskId> = steps.iter().map(|step| slugs.claim_id(&step.title)).collect();
    let links = step_links(steps);
    let groups = step_groups(document, steps);
    for (at, step) in steps.iter().enumerate() {
        if step.ticked {
            read.normalization.push(NormalizationChange {
                code: "already_done".to_owned(),
                task_id: Some(names[at].clone()),
                detail: format!("{} is ticked and left out", names[at]),
            });
            continue;
        }
        let mut task = step_task(document, steps, at, &names[at]);
        task.group.clone_from(&groups[at]);
        let open = links[at].iter().filter(|from| !steps[**from].ticked);
        task.dependencies =
            open.map(|from| TaskLink::finish_to_start(names[*from].clone())).collect();
        read.plan.tasks.push(task);
        read.node_lines.push(NodeLines {
            node: names[at].clone(),
            first: document.line_at(step.range.start),
            last: document.last_line(&step.range),
        });
    }
}

fn step_task(
    document: &MarkdownDocument<'_>,
    steps: &[MarkdownStep],
    at: usize,
    id: &TaskId,
) -> TaskNode {
    let step = &steps[at];
    let (own, is_persons) = match step.title.trim_end().strip_suffix("@me") {
        Some(rest) if !rest.trim().is_empty() => (rest.trim_end(), true),
        _ => (step.title.as_str(), false),
    };
    let (title, cut) = short_title(own);
    let mut task =
        TaskNode::new(id.clone(), if title.is_empty() { id.as_str().to_owned() } else { title });
    if is_persons {
        task.run = RunKind::Human {};
    }
    let mut details = if cut { own.to_owned() } else { String::new() };
    // Parts that are steps of their own are not told twice.
    let parts = steps.iter().filter(|other| other.parent == Some(at));
    let end = parts.map(|part| part.range.start).min().unwrap_or(step.range.end);
    let below =
        document.text.get(step.details_from..end.max(step.details_from)).unwrap_or_default();
    details = join_details(&details, &dedent(below));
    if !details.is_empty() {
        task.metadata.insert(DETAILS_FIELD.to_owned(), details.into());
    }
    task
}

fn join_details(title: &str, below: &str) -> String {
    let joined = match (title.is_empty(), below.is_empty()) {
        (true, _) => below.to_owned(),
        (_, true) => title.to_owned(),
        _ => format!("{title}\n\n{below}"),
    };
    if joined.len() <= MAX_DETAIL_BYTES {
        return joined;
    }
    let mut end = MAX_DETAIL_BYTES;
    while !joined.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n…", &joined[..end])
}

/// Lines without the indentation that all of them share, and without empty lines around them.
fn dedent(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let filled = || lines.iter().filter(|line| !line.trim().is_empty());
    let indent = |line: &&&str| line.len() - line.trim_start_matches(' ').len();
    let shared = filled().map(|line| indent(&line)).min().unwrap_or(0);
    let cut: Vec<&str> =
        lines.iter().map(|line| line.get(shared..).unwrap_or("").trim_end()).collect();
    cut.join("\n").trim_matches('\n').to_owned()
}

/// The headings of the steps, where more than one section has some.
fn step_groups(document: &MarkdownDocument<'_>, steps: &[MarkdownStep]) -> Vec<String> {
    let one = steps.iter().all(|step| step.section == steps[0].section);
    let group = |step: &MarkdownStep| match step.section.checked_sub(1) {
        Some(at) if !one => short_title(&document.headings[at].text).0,
        _ => String::new(),
    };
    steps.iter().map(group).collect()
}

/// What each step waits for, by position.
fn step_links(steps: &[MarkdownStep]) -> Vec<Vec<usize>> {
    let mut links: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    let mut last_in: std::collections::HashMap<(Option<usize>, usize), usize> =
        std::collections::HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        if let Some(parent) = step.parent {
            links[parent].push(at);
        }
        if let Some(list) = step.ordered_in
            && let Some(before) = last_in.insert((step.parent, list), at)
        {
            links[at].push(before);
        }
    }
    link_sections(steps, &mut links);
    links
}

/// The steps that begin a section wait for those that end the one before.
fn link_sections(steps: &[MarkdownStep], links: &mut [Vec<usize>]) {
    let mut sections: Vec<Vec<usize>> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let goes_on = at > 0 && steps[at - 1].section == step.section;
        match sections.last_mut().filter(|_| goes_on) {
            Some(section) => section.push(at),
            None => sections.push(vec![at]),
        }
    }
    for pair in sections.windows(2) {
        let waited: std::collections::HashSet<usize> =
            pair[0].iter().flat_map(|at| links[*at].iter().copied()).collect();
        let ends: Vec<usize> = pair[0].iter().copied().filter(|at| !waited.contains(at)).collect();
        let begins: Vec<usize> =
            pair[1].iter().copied().filter(|at| links[*at].is_empty()).collect();
        if ends.len() * begins.len() > MAX_SECTION_LINKS {
            continue;
        }
        for begin in begins {
            links[begin].extend(&ends);
        }
    }
}
