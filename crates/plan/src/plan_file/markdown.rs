//! Imports a Markdown checklist.
//!
//! An item is a task. Nested items are its parts: the item depends on them, just as the heading of a list is checked
//! last. Sibling items do not depend on each other, except in a numbered list, where each depends on the previous one.
//! Checked items are done and omitted. `@me` at the end of an item assigns it to the person. If any item has a
//! checkbox, only items with one are tasks; otherwise all items are. The first heading is the title.

use std::collections::{BTreeSet, HashMap};

use super::plan::DecodedPlan;
use super::value_tree::{LineIndex, is_invisible};
use super::{MAX_TASKS, title_from_name};
use planwright_model::{
    NormalizationChange, RunKind, Severity, TaskId, TaskLink, TaskNode, Violation,
};

/// The maximum length of an id derived from a title, in characters.
const MAX_SLUG: usize = 40;

/// One list item.
#[derive(Clone, Debug)]
struct ChecklistItem {
    indent: usize,
    numbered: bool,
    ticked: Option<bool>,
    title: String,
    at: usize,
}

pub(super) fn decode_checklist(text: &str, name: &str) -> DecodedPlan {
    let lines = LineIndex::new(text);
    let (title, mut items) = scan_items(text);
    if items.iter().any(|item| item.ticked.is_some()) {
        items.retain(|item| item.ticked.is_some());
    }
    let mut decoded = DecodedPlan::default();
    decoded.plan.title = title.unwrap_or_else(|| title_from_name(name));
    if items.is_empty() || items.len() > MAX_TASKS {
        decoded.violations.push(size_violation(items.len()));
        return decoded;
    }
    build_tasks(&items, &lines, &mut decoded);
    decoded
}

fn size_violation(items: usize) -> Violation {
    let (message, fix) = if items == 0 {
        ("the file has no list items".to_owned(), "Write items such as `- [ ] Build the docs`.")
    } else {
        let message = format!("the file has {items} items, more than the {MAX_TASKS} of a plan");
        (message, "Split the plan into several files.")
    };
    Violation::new("bad_value", Severity::Fatal, message, fix)
}

/// Returns the first heading and all list items outside code fences.
fn scan_items(text: &str) -> (Option<String>, Vec<ChecklistItem>) {
    let (mut title, mut items, mut fenced, mut at) = (None, Vec::new(), false, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced {
            if let (None, Some(heading)) = (&title, trimmed.strip_prefix("# ")) {
                title = Some(clean_text(heading)).filter(|title| !title.is_empty());
            }
            items.extend(parse_item(line, at));
        }
        at += line.len();
    }
    (title, items)
}

fn parse_item(line: &str, at: usize) -> Option<ChecklistItem> {
    let trimmed = line.trim_start();
    // A tab is four columns wide, as in most editors.
    let indent = line[..line.len() - trimmed.len()].chars().map(|c| if c == '\t' { 4 } else { 1 });
    let (rest, numbered) = after_marker(trimmed)?;
    let rest = rest.trim_start();
    let (ticked, title) = match rest.as_bytes() {
        [b'[', b' ', b']', ..] => (Some(false), &rest[3..]),
        [b'[', b'x' | b'X', b']', ..] => (Some(true), &rest[3..]),
        _ => (None, rest),
    };
    let title = clean_text(title);
    (!title.is_empty()).then(|| ChecklistItem { indent: indent.sum(), numbered, ticked, title, at })
}

/// Returns the text after `-`, `*`, `+`, `1.` or `1)`, and whether the marker was a number.
fn after_marker(line: &str) -> Option<(&str, bool)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (rest, numbered) = if digits > 0 {
        (line[digits..].strip_prefix(['.', ')'])?, true)
    } else {
        (line.strip_prefix(['-', '*', '+'])?, false)
    };
    rest.starts_with([' ', '\t']).then_some((rest, numbered))
}

fn clean_text(text: &str) -> String {
    let visible: String = text.chars().filter(|c| !c.is_control() && !is_invisible(*c)).collect();
    visible.trim().to_owned()
}

/// Builds tasks and links from items. `open` contains the items whose parts are being read.
fn build_tasks(items: &[ChecklistItem], lines: &LineIndex<'_>, decoded: &mut DecodedPlan) {
    let mut ids = TitleSlugs::default();
    let names: Vec<TaskId> = items.iter().map(|item| ids.claim_id(&item.title)).collect();
    let mut waits: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); items.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut last_numbered: HashMap<Option<usize>, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        while open.last().is_some_and(|&parent| items[parent].indent >= item.indent) {
            open.pop();
        }
        let parent = open.last().copied();
        if let Some(parent) = parent {
            waits[parent].insert(index);
        }
        if let (true, Some(&before)) = (item.numbered, last_numbered.get(&parent)) {
            waits[index].insert(before);
        }
        if item.numbered {
            last_numbered.insert(parent, index);
        } else {
            last_numbered.remove(&parent);
        }
        open.push(index);
    }
    let kept = |index: &usize| items[*index].ticked != Some(true);
    for (index, item) in items.iter().enumerate() {
        if !kept(&index) {
            decoded.normalization.push(NormalizationChange {
                code: "already_done".to_owned(),
                task_id: Some(names[index].clone()),
                detail: format!("{} is ticked and left out", names[index]),
            });
            continue;
        }
        let mut task = task_from_item(&names[index], &item.title);
        let links = open_predecessors(index, &waits, &kept);
        task.dependencies =
            links.iter().map(|&from| TaskLink::finish_to_start(names[from].clone())).collect();
        decoded.plan.tasks.push(task);
        decoded.task_places.push(lines.line_and_column(item.at));
        decoded.link_places.push(Vec::new());
    }
    if decoded.plan.tasks.is_empty() {
        decoded.violations.push(all_done_violation());
    }
}

fn all_done_violation() -> Violation {
    let message = "every item of the list is ticked";
    Violation::new("bad_value", Severity::Fatal, message, "Untick what is still to be done.")
}

fn task_from_item(id: &TaskId, title: &str) -> TaskNode {
    match title.strip_suffix("@me").map(str::trim_end) {
        Some(rest) if !rest.is_empty() => {
            let mut task = TaskNode::new(id.clone(), rest);
            task.run = RunKind::Human {};
            task
        }
        _ => TaskNode::new(id.clone(), title),
    }
}

/// Returns the predecessors of an item. After a completed part it may still depend on that part's own open parts.
fn open_predecessors(
    index: usize,
    waits: &[BTreeSet<usize>],
    kept: &impl Fn(&usize) -> bool,
) -> BTreeSet<usize> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut pending: Vec<usize> = waits[index].iter().copied().collect();
    while let Some(next) = pending.pop() {
        if kept(&next) {
            found.insert(next);
        } else if seen.insert(next) {
            pending.extend(&waits[next]);
        }
    }
    found
}

/// Ids derived from titles.
#[derive(Default)]
pub(crate) struct TitleSlugs {
    used: HashMap<String, usize>,
}

impl TitleSlugs {
    pub(crate) fn claim_id(&mut self, title: &str) -> TaskId {
        let slug = title_slug(title);
        let mut id = slug.clone();
        while self.used.contains_key(&id) {
            let count = self.used.entry(slug.clone()).or_insert(1);
            *count += 1;
            id = format!("{slug}-{count}");
        }
        self.used.insert(id.clone(), 1);
        TaskId::from(id)
    }
}

/// Returns lowercase words joined by hyphens, cut at a word if possible.
fn title_slug(title: &str) -> String {
    let title = title.strip_suffix("@me").unwrap_or(title);
    let mut slug = String::new();
    let lower: String = title.chars().flat_map(char::to_lowercase).collect();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let length = slug.chars().count();
        if length > 0 && length + 1 + word.chars().count() > MAX_SLUG {
            break;
        }
        if length > 0 {
            slug.push('-');
        }
        slug.extend(word.chars().take(MAX_SLUG));
    }
    if slug.is_empty() { "task".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<String> {
        let decoded = decode_checklist(text, "todo.md");
        assert_eq!(decoded.violations, []);
        let waits = |task: &TaskNode| {
            task.dependencies.iter().map(|link| link.task.to_string()).collect::<Vec<_>>().join(" ")
        };
        decoded.plan.tasks.iter().map(|task| format!("{}: {}", task.id, waits(task))).collect()
    }

    #[test]
    fn nested_items_come_before_their_parent_item() {
        let text = "# Move house\n\n- [ ] Pack\n  - [ ] Books\n  - [ ] Kitchen\n- [ ] Clean @me\n";
        assert_eq!(links(text), ["pack: books kitchen", "books: ", "kitchen: ", "clean: "]);
        let plan = decode_checklist(text, "todo.md").plan;
        assert_eq!(plan.title, "Move house");
        assert_eq!(plan.tasks[3].run, RunKind::Human {});
        assert_eq!(plan.tasks[3].description, "Clean");
    }

    #[test]
    fn numbered_items_follow_each_other() {
        let text = "1. [ ] Write\n2. [ ] Review\n   - [ ] Spelling\n3. [ ] Send\n";
        assert_eq!(
            links(text),
            ["write: ", "review: write spelling", "spelling: ", "send: review"]
        );
    }

    #[test]
    fn checked_items_are_omitted_and_their_open_parts_are_kept() {
        let text = "1. [ ] A\n2. [x] B\n   - [ ] C\n3. [ ] D\n";
        assert_eq!(links(text), ["a: ", "c: ", "d: a c"]);
        assert_eq!(decode_checklist(text, "x.md").normalization[0].code, "already_done");
    }

    #[test]
    fn plain_bullets_are_tasks_only_if_no_item_has_a_checkbox() {
        assert_eq!(links("- a\n- b\n"), ["a: ", "b: "]);
        assert_eq!(links("- note\n- [ ] b\n```\n- [ ] c\n```\n"), ["b: "]);
        assert_eq!(links("- [ ] Same\n- [ ] same!\n- [ ] ***\n"), ["same: ", "same-2: ", "task: "]);
    }

    #[test]
    fn a_file_without_items_is_reported() {
        assert_eq!(
            decode_checklist("hello", "x.md").violations[0].message,
            "the file has no list items"
        );
    }
}
