//! Change requests about who does a task, and about its dates.

use jiff::civil::Date;
use planwright_model::{DateField, PlanDate, PlanEdit, PlanNode, TaskAssignee};

use super::ClauseContext;
use super::amounts::parse_date;
use super::dates::{parse_day_span, parse_plan_date};
use super::open_reason::{ClauseReading, OpenReason, first_reading};
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix, strip_quotes};

/// Parses a change request about owners or dates of tasks.
pub(super) fn parse_assignments(
    context: &ClauseContext<'_>,
    text: &str,
) -> ClauseReading<Vec<PlanEdit>> {
    first_reading([parse_owner(context, text), parse_task_date(context, text)])
}

/// Somebody who can be named: a person, the person themselves, or the agent.
enum NamedDoer {
    Person(String),
    Agent,
}

/// Reads a name: one to three words with capitals, "me", or "the agent".
fn parse_doer(text: &str) -> Option<NamedDoer> {
    let name = strip_quotes(text.trim());
    if ["me", "myself", "you", "i"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Some(NamedDoer::Person(String::new()));
    }
    if ["agent", "the agent"].iter().any(|agent| name.eq_ignore_ascii_case(agent)) {
        return Some(NamedDoer::Agent);
    }
    parse_name(name).map(NamedDoer::Person)
}

/// Reads the name of somebody else: one to three words with capitals.
pub(super) fn parse_name(text: &str) -> Option<String> {
    const NOT_NAMES: [&str; 12] = [
        "i",
        "it",
        "we",
        "she",
        "he",
        "they",
        "the",
        "this",
        "that",
        "everything",
        "nobody",
        "work",
    ];
    let name = strip_quotes(text.trim()).trim_end_matches("'s").trim_end_matches("’s");
    let words: Vec<&str> = name.split(' ').collect();
    let is_name = |word: &&str| {
        word.chars().next().is_some_and(char::is_uppercase)
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '\'' | '’'))
            && !NOT_NAMES.contains(&word.to_lowercase().as_str())
    };
    let named = (1..=3).contains(&words.len()) && words.iter().all(is_name);
    named.then(|| name.to_owned())
}

/// "assign X to Anna", "give X to me", "Anna does X", "let Anna do X", "X is Anna's".
fn parse_owner(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const GIVING: [&str; 6] = ["assign", "give", "hand over", "hand", "delegate", "pass"];
    const DOING: [&str; 16] = [
        "should do",
        "should take",
        "should handle",
        "will do",
        "will take",
        "will handle",
        "takes over",
        "takes care of",
        "is responsible for",
        "is in charge of",
        "can do",
        "handles",
        "takes on",
        "takes",
        "does",
        "owns",
    ];
    const DONE_BY: [&str; 7] =
        ["is done by", "should be done by", "belongs to", "goes to", "is for", "is", "by"];
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
                agent: None,
            },
        };
        let found = context.finder.find_all(nodes);
        Some(found.map(|nodes| nodes.into_iter().map(edit).collect()))
    };
    if let Some(rest) = strip_phrase_prefix(text, &GIVING) {
        let cuts = split_at_words(rest, &["over to", "to"]).into_iter().rev();
        let given = first_reading(cuts.map(|(nodes, name)| set(nodes, name)));
        // "assign Anna the design", "give Anna the design"
        let turned = rest.split_once(' ').and_then(|(name, nodes)| set(nodes, name));
        return first_reading([given, turned]);
    }
    if let Some(rest) = strip_phrase_prefix(text, &["let", "have", "make", "ask"]) {
        let cuts = split_at_words(
            rest,
            &[
                "to do",
                "to handle",
                "do",
                "handle",
                "take over",
                "take",
                "the owner of",
                "responsible for",
            ],
        );
        return first_reading(cuts.into_iter().map(|(name, nodes)| set(nodes, name)));
    }
    let doing = split_at_words(text, &DOING).into_iter().map(|(name, nodes)| set(nodes, name));
    // "X is due by Friday" is about a date: what follows must be a name of the plan or a possessive.
    let done_by = split_at_words(text, &DONE_BY).into_iter().map(|(nodes, name)| {
        let dated = parse_day_span(name, context.today).is_some();
        set(nodes, name).filter(|_| !dated)
    });
    first_reading(doing.chain(done_by).chain([owner_by_verb(context, text)]))
}

/// Words at the start of a sentence that are not names.
const NOT_NAMES: [&str; 20] = [
    "Already",
    "Who",
    "What",
    "When",
    "Where",
    "Why",
    "How",
    "First",
    "Then",
    "Never",
    "Always",
    "Next",
    "Only",
    "Maybe",
    "Please",
    "Today",
    "Tomorrow",
    "Nobody",
    "Everybody",
    "Somebody",
];

/// "Anna books the travel", "Ben will book the travel": somebody does what the title of a task says.
fn owner_by_verb(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    let words: Vec<&str> = text.split(' ').collect();
    for names in 1..=2.min(words.len().saturating_sub(2)) {
        let name = words[..names].join(" ");
        let is_day = parse_day_span(&name, context.today).is_some();
        let own = ["I", "We"].contains(&name.as_str());
        let owner = if own { Some(String::new()) } else { parse_name(&name) };
        let Some(owner) = owner.filter(|_| !is_day && !NOT_NAMES.contains(&words[0])) else {
            continue;
        };
        let Some((verb, object)) = verb_and_object(&words[names..], own) else { continue };
        let Ok(node) = context.finder.find_one(&format!("{verb} {object}")) else { continue };
        let starts =
            node.title.split(' ').next().is_some_and(|first| first.eq_ignore_ascii_case(&verb));
        if starts {
            return Some(Ok(vec![PlanEdit::Assign { node: node.id.clone(), owner }]));
        }
    }
    None
}

/// Splits what somebody does: "books the travel" of another person, "will book the travel" of anybody.
fn verb_and_object(words: &[&str], own: bool) -> Option<(String, String)> {
    let (first, rest) = words.split_first()?;
    if ["will", "should", "can", "must"].contains(first) {
        let (verb, object) = rest.split_first()?;
        return Some(((*verb).to_owned(), object.join(" ")));
    }
    let base = base_verb(first);
    let fits = if own { base == *first } else { base != *first };
    fits.then(|| (base, rest.join(" ")))
}

/// Returns a verb without the ending of the third person: "books", "carries", "watches".
fn base_verb(verb: &str) -> String {
    if let Some(base) = verb.strip_suffix("ies") {
        return format!("{base}y");
    }
    let sibilant = ["ches", "shes", "sses", "xes", "oes"].iter().any(|end| verb.ends_with(end));
    let cut = if sibilant { 2 } else { usize::from(verb.ends_with('s') && !verb.ends_with("ss")) };
    verb[..verb.len() - cut].to_owned()
}

/// "X is due on Friday", "X not before 3 December", "the visit is on January 12 at 14:00".
fn parse_task_date(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const DUE: [&str; 12] = [
        "is due on",
        "is due by",
        "is due",
        "must be done by",
        "should be done by",
        "has to be done by",
        "must be ready by",
        "should be ready by",
        "has to be ready by",
        "due on",
        "due",
        "by",
    ];
    const LATER: [&str; 11] = [
        "should not start before",
        "can't start before",
        "cannot start before",
        "must not start before",
        "can't start until",
        "starts no earlier than",
        "no earlier than",
        "not before",
        "not until",
        "only from",
        "only after",
    ];
    const FIXED: [&str; 18] = [
        "starts on",
        "must start on",
        "must be on",
        "should be on",
        "has to be on",
        "happens on",
        "takes place on",
        "takes place",
        "is fixed for",
        "is fixed on",
        "is planned for",
        "is scheduled for",
        "is booked for",
        "is set for",
        "is on",
        "will be on",
        "is",
        "on",
    ];
    let finishing = strip_phrase_prefix(text, &["finish", "complete", "have", "get", "deliver"]);
    let finishing = finishing.map(|rest| {
        set_dates(context, rest, &["done by", "ready by", "by", "before"], DateField::Due)
    });
    let refused = ["no", "nothing of", "don't start", "do not start", "don't do", "do not do"];
    let refused = strip_phrase_prefix(text, &refused);
    let refused =
        refused.map(|rest| set_dates(context, rest, &["before", "until"], DateField::NotBefore));
    let fixing = [
        "fix", "schedule", "put", "pin", "set", "plan", "book", "start", "begin", "do", "have",
        "move",
    ];
    let fixing = strip_phrase_prefix(text, &fixing);
    let fixing = fixing.map(|rest| {
        set_dates(context, rest, &["exactly on", "on", "for", "to", "at"], DateField::FixedStart)
    });
    first_reading([finishing, refused, fixing].into_iter().flatten().chain([
        set_dates(context, text, &DUE, DateField::Due),
        set_dates(context, text, &LATER, DateField::NotBefore),
        set_dates(context, text, &FIXED, DateField::FixedStart),
        colon_date(context, text),
    ]))
}

/// "the venue visit: January 12 at 14:00"
fn colon_date(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    let (nodes, day) = text.split_once(": ")?;
    let date = parse_plan_date(day, context.today)?;
    Some(date_nodes(context, nodes, date, DateField::FixedStart))
}

fn set_dates(
    context: &ClauseContext<'_>,
    text: &str,
    words: &[&str],
    field: DateField,
) -> ClauseReading<Vec<PlanEdit>> {
    let cuts = split_at_words(text, words).into_iter();
    first_reading(cuts.map(|(nodes, day)| {
        let day = strip_phrase_suffix(day, &["at the latest", "at the earliest"]).unwrap_or(day);
        let span = || parse_day_span(day, context.today);
        let date = match field {
            DateField::NotBefore => PlanDate::on_day(span()?.0),
            DateField::Due => {
                let by = || parse_date(day, context.today).map(PlanDate::on_day);
                let within = || Some(PlanDate::on_day(span()?.1));
                parse_plan_date(day, context.today).or_else(by).or_else(within)?
            }
            _ => match parse_plan_date(day, context.today) {
                Some(date) => date,
                None => return Some(window_nodes(context, nodes, span()?)),
            },
        };
        Some(date_nodes(context, nodes, date, field))
    }))
}

/// Keeps tasks within a span of days: "move the dinner to January".
fn window_nodes(
    context: &ClauseContext<'_>,
    nodes: &str,
    (from, to): (Date, Date),
) -> Result<Vec<PlanEdit>, OpenReason> {
    let mut edits = date_nodes(context, nodes, PlanDate::on_day(from), DateField::NotBefore)?;
    edits.extend(date_nodes(context, nodes, PlanDate::on_day(to), DateField::Due)?);
    Ok(edits)
}

fn date_nodes(
    context: &ClauseContext<'_>,
    nodes: &str,
    date: PlanDate,
    field: DateField,
) -> Result<Vec<PlanEdit>, OpenReason> {
    if date.day < context.today {
        return Err(OpenReason::because(format!("{} is in the past", date.day)));
    }
    let found = context.finder.find_all(nodes)?;
    if let Some(group) = found
        .iter()
        .find(|node| field == DateField::FixedStart && context.finder.is_container(node))
    {
        let text =
            format!("\"{}\" holds other tasks; name the task that has the date", group.title);
        return Err(OpenReason::because(text));
    }
    Ok(found.into_iter().flat_map(|node| date_edits(node, date, field)).collect())
}

/// Sets a date. One that is fixed counts for more than the earliest and latest days from before.
fn date_edits(node: &PlanNode, date: PlanDate, field: DateField) -> Vec<PlanEdit> {
    let edit = |field, date| PlanEdit::SetDate { node: node.id.clone(), field, date };
    let is_fixed = matches!(field, DateField::FixedStart | DateField::FixedEnd);
    let mut edits = Vec::new();
    if is_fixed && node.due.is_some_and(|due| due.day < date.day) {
        edits.push(edit(DateField::Due, None));
    }
    if is_fixed && node.not_before.is_some_and(|first| first.day > date.day) {
        edits.push(edit(DateField::NotBefore, None));
    }
    edits.push(edit(field, Some(date)));
    edits
}
