//! Change requests about who does a task, when it is due, and how it is cut: owners, dates, splitting, merging.

use planwright_model::{DateField, PlanDate, PlanEdit, PlanNode, SplitPart, TaskAssignee};

use super::ClauseContext;
use super::amounts::parse_date;
use super::phrase::{split_at_words, strip_phrase_prefix, strip_quotes};

/// Parses a change request about owners, dates or parts.
pub(super) fn parse_assignments(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    parse_split(context, text)
        .or_else(|| parse_merge(context, text))
        .or_else(|| parse_owner(context, text))
        .or_else(|| parse_task_date(context, text))
}

/// Somebody who can be named: a person, the person themselves, or the agent.
enum NamedDoer {
    Person(String),
    Agent,
}

/// Reads a name: one to three words with capitals, "me", or "the agent".
fn parse_doer(text: &str) -> Option<NamedDoer> {
    let name = strip_quotes(text.trim());
    if ["me", "myself", "you"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Some(NamedDoer::Person(String::new()));
    }
    if ["agent", "the agent"].iter().any(|agent| name.eq_ignore_ascii_case(agent)) {
        return Some(NamedDoer::Agent);
    }
    let words: Vec<&str> = name.split(' ').collect();
    let named = (1..=3).contains(&words.len())
        && words.iter().all(|word| word.chars().next().is_some_and(char::is_uppercase));
    named.then(|| NamedDoer::Person(name.to_owned()))
}

/// "assign X to Anna", "give X to me", "Anna does X", "let Anna do X".
fn parse_owner(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    let set = |nodes: &str, name: &str| {
        let doer = parse_doer(name)?;
        let edit = |node: &PlanNode| match &doer {
            NamedDoer::Person(owner) => {
                PlanEdit::Assign { node: node.id.clone(), owner: owner.clone() }
            }
            NamedDoer::Agent => PlanEdit::SetDoer {
                node: node.id.clone(),
                doer: TaskAssignee::Agent,
                command: None,
            },
        };
        Some(context.finder.find_all(nodes)?.into_iter().map(edit).collect())
    };
    if let Some(rest) =
        strip_phrase_prefix(text, &["assign", "give", "hand over", "hand", "delegate"])
    {
        let cuts = split_at_words(rest, &["to"]).into_iter().rev();
        return cuts.into_iter().find_map(|(nodes, name)| set(nodes, name));
    }
    if let Some(rest) = strip_phrase_prefix(text, &["let", "have"]) {
        return split_at_words(rest, &["do"])
            .into_iter()
            .find_map(|(name, nodes)| set(nodes, name));
    }
    let verbs = ["does", "will do", "takes over", "handles"];
    split_at_words(text, &verbs).into_iter().find_map(|(name, nodes)| set(nodes, name))
}

/// "X is due on Friday", "X not before 3 December", "X starts on Monday".
fn parse_task_date(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    const DUE: [&str; 6] =
        ["is due on", "is due by", "is due", "must be done by", "has to be done by", "due on"];
    const LATER: [&str; 4] =
        ["should not start before", "starts no earlier than", "no earlier than", "not before"];
    const FIXED: [&str; 3] = ["starts on", "must start on", "happens on"];
    let set = |words: &[&str], field: DateField| {
        split_at_words(text, words).into_iter().find_map(|(nodes, day)| {
            let day = parse_date(day, context.today)?;
            let date = Some(PlanDate::on_day(day));
            let edit = |node: &PlanNode| PlanEdit::SetDate { node: node.id.clone(), field, date };
            Some(context.finder.find_all(nodes)?.into_iter().map(edit).collect())
        })
    };
    set(&DUE, DateField::Due)
        .or_else(|| set(&LATER, DateField::NotBefore))
        .or_else(|| set(&FIXED, DateField::FixedStart))
}

/// "split X into A and B", with commas between more parts.
fn parse_split(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    let rest = strip_phrase_prefix(text, &["split", "break up"])?;
    split_at_words(rest, &["into"]).into_iter().find_map(|(node, parts)| {
        let node = context.finder.find_one(node)?.id.clone();
        let into: Vec<SplitPart> = parts
            .split(',')
            .flat_map(|part| part.split(" and "))
            .map(|title| strip_quotes(title.trim()).to_owned())
            .filter(|title| !title.is_empty())
            .map(|title| SplitPart { title, minutes: None })
            .collect();
        (into.len() > 1).then(|| vec![PlanEdit::Split { node, into }])
    })
}

/// "merge X and Y", "merge X and Y into Z".
fn parse_merge(context: &ClauseContext<'_>, text: &str) -> Option<Vec<PlanEdit>> {
    let rest = strip_phrase_prefix(text, &["merge", "combine"])?;
    let merge = |nodes: &str, title: Option<&str>| {
        let found = context.finder.find_all(nodes)?;
        let titles: Vec<&str> = found.iter().map(|node| node.title.as_str()).collect();
        let into =
            title.map_or_else(|| titles.join(", then "), |title| strip_quotes(title).to_owned());
        let into: String = into.chars().take(PlanNode::MAX_TITLE_CHARS).collect();
        let nodes = found.iter().map(|node| node.id.clone()).collect();
        (found.len() > 1).then(|| vec![PlanEdit::Merge { nodes, into }])
    };
    let named = split_at_words(rest, &["into"]).into_iter();
    named
        .into_iter()
        .find_map(|(nodes, title)| merge(nodes, Some(title)))
        .or_else(|| merge(rest, None))
}
