//! Change requests that add a task: what it is called, where it goes, how long it takes.

use planwright_model::{LinkKind, NodeFields, NodePlace, PlanEdit, PlanNode, TaskId};

use super::ClauseContext;
use super::amounts::parse_minutes;
use super::node_finder::is_point;
use super::open_reason::{ClauseReading, OpenReason};
use super::phrase::{
    capitalize, split_at_words, strip_phrase_prefix, strip_phrase_suffix, strip_quotes,
};

const ADD_VERBS: [&str; 9] = [
    "add in",
    "add",
    "include",
    "insert",
    "put in",
    "create",
    "we also need",
    "i also need",
    "there should be",
];
/// Words that call what is added a task.
const TASK_NOUNS: [&str; 22] = [
    "a task called",
    "a task named",
    "a task to",
    "a task for",
    "a task:",
    "a task",
    "a step called",
    "a step to",
    "a step for",
    "a step",
    "another task to",
    "another task",
    "another step to",
    "another step",
    "a new task to",
    "a new task",
    "one more task to",
    "one more task",
    "the task to",
    "the task",
    "task",
    "step",
];
const BEFORE: [&str; 6] =
    ["right before", "just before", "directly before", "before", "ahead of", "prior to"];
const AFTER: [&str; 6] =
    ["right after", "just after", "directly after", "after", "following", "behind"];
const UNDER: [&str; 8] =
    ["at the end of", "to the end of", "under", "below", "into", "within", "to", "in"];

/// Verbs of things that somebody does, and that no request about a plan begins with.
const ERRAND_VERBS: [&str; 22] = [
    "call", "phone", "email", "e-mail", "text", "ask", "tell", "invite", "remind", "thank", "meet",
    "visit", "book", "buy", "order", "pay", "print", "pack", "send", "write", "check", "clean",
];

/// "call Anna before the announcement": something to do that no task is called, and the task it belongs beside.
pub(super) fn parse_errand(
    context: &ClauseContext<'_>,
    text: &str,
) -> ClauseReading<Vec<PlanEdit>> {
    let verb = text.split_whitespace().next()?.to_lowercase();
    if !ERRAND_VERBS.contains(&verb.as_str()) {
        return None;
    }
    let places = split_at_words(text, &BEFORE).into_iter().chain(split_at_words(text, &AFTER));
    let is_new = |(title, place): &(&str, &str)| {
        context.finder.find_one(place).is_ok() && context.finder.find_one(title).is_err()
    };
    places.into_iter().any(|found| is_new(&found)).then_some(())?;
    parse_add(context, &format!("add {text}")).filter(Result::is_ok)
}

/// "add T before X", "after X, add T", "add T to P", with a time before, in or after the title.
pub(super) fn parse_add(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    let (verb, lead) = match strip_phrase_prefix(text, &ADD_VERBS) {
        Some(rest) => (rest, None),
        None => parse_leading_place(text)?,
    };
    let (rest, lead_minutes) = strip_leading_time(verb);
    let named = strip_phrase_prefix(rest, &TASK_NOUNS).filter(|rest| !rest.is_empty());
    let is_task = named.is_some() || rest.starts_with(['"', '“']) || lead_minutes.is_some();
    let (rest, minutes) = split_minutes(named.unwrap_or(rest));
    let request = AddRequest { context, minutes: lead_minutes.or(minutes), is_task };
    if let Some((word, anchor)) = lead {
        return Some(request.insert(rest, word, anchor));
    }
    request.with_place(rest)
}

/// Splits "before signing, add T" into what is added and its place.
fn parse_leading_place(text: &str) -> Option<(&str, Option<(PlaceWord, &str)>)> {
    let (word, rest) = [(PlaceWord::Before, &BEFORE), (PlaceWord::After, &AFTER)]
        .into_iter()
        .find_map(|(word, phrases)| Some((word, strip_phrase_prefix(text, phrases)?)))?;
    let cuts = rest.split_once(", ").into_iter().map(|(anchor, then)| (anchor, then.trim()));
    let cuts =
        cuts.filter_map(|(anchor, then)| Some((anchor, strip_phrase_prefix(then, &ADD_VERBS)?)));
    let direct = split_at_words(rest, &["add", "insert"]).into_iter();
    let (anchor, added) = cuts.chain(direct).next()?;
    Some((added, Some((word, anchor))))
}

/// How the place of a new task is named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceWord {
    Before,
    After,
    Under,
}

struct AddRequest<'a, 'b> {
    context: &'a ClauseContext<'b>,
    minutes: Option<u32>,
    /// Whether the words say that it is a task; else a place must be named.
    is_task: bool,
}

impl AddRequest<'_, '_> {
    /// Finds the place in the words: the last one that a task is found for, since earlier ones may belong to the title.
    fn with_place(&self, rest: &str) -> ClauseReading<Vec<PlanEdit>> {
        if is_vague_title(rest) {
            return None;
        }
        if let Some(title) = strip_phrase_suffix(rest, &["at the end", "at the very end", "last"]) {
            return Some(self.at_end(title));
        }
        if let Some(title) =
            strip_phrase_suffix(rest, &["at the start", "at the beginning", "first", "at the top"])
        {
            return Some(self.at_start(title));
        }
        let cuts = |word: PlaceWord, phrases: &[&str]| {
            let found = split_at_words(rest, phrases).into_iter().rev();
            let near =
                |title| strip_phrase_suffix(title, &["right", "just", "directly"]).unwrap_or(title);
            found.map(|(title, anchor)| (word, near(title), anchor)).collect::<Vec<_>>()
        };
        let mut places = cuts(PlaceWord::Before, &BEFORE);
        places.extend(cuts(PlaceWord::After, &AFTER));
        let ordered = places.len();
        places.extend(cuts(PlaceWord::Under, &UNDER));
        let mut reason = None;
        for (at, (word, title, anchor)) in places.into_iter().enumerate() {
            match self.insert(title, word, anchor) {
                Ok(edits) => return Some(Ok(edits)),
                // "to" and "in" may belong to the title; "before" and "after" name a place.
                Err(why) if at < ordered || !self.is_task => {
                    reason.get_or_insert(why);
                }
                Err(_) => {}
            }
        }
        match reason {
            Some(why) => Some(Err(why)),
            None => Some(self.beside_marked(rest)),
        }
    }

    fn insert(
        &self,
        title: &str,
        word: PlaceWord,
        anchor: &str,
    ) -> Result<Vec<PlanEdit>, OpenReason> {
        let (title, inner) = split_minutes(title);
        let (anchor, after_anchor) = split_minutes(anchor);
        let finder = &self.context.finder;
        let node = match word {
            PlaceWord::Under => {
                finder.find_container(anchor).or_else(|_| finder.find_one(anchor))?
            }
            _ => finder.find_one(anchor)?,
        };
        let fields = self.fields(title, inner.or(after_anchor))?;
        let place = place_beside(self.context, node, word);
        Ok(vec![insert_at(self.context, place, fields)])
    }

    fn fields(&self, title: &str, minutes: Option<u32>) -> Result<NodeFields, OpenReason> {
        let title = new_title(title);
        if title.is_empty() || is_vague_title(&title) {
            return Err(OpenReason::because("say what the new task is called"));
        }
        Ok(NodeFields { minutes: self.minutes.or(minutes), ..NodeFields::titled(title) })
    }

    /// Without a place, it goes where the marked row is, or to the end of the plan if the words call it a task.
    fn beside_marked(&self, title: &str) -> Result<Vec<PlanEdit>, OpenReason> {
        let finder = &self.context.finder;
        if let Ok(marked) = finder.find_one("this") {
            let word =
                if finder.is_container(marked) { PlaceWord::Under } else { PlaceWord::After };
            let fields = self.fields(title, None)?;
            let place = place_beside(self.context, marked, word);
            return Ok(vec![insert_at(self.context, place, fields)]);
        }
        if self.is_task {
            return self.at_end(title);
        }
        Err(OpenReason::because("say where: before or after which task, or in which phase"))
    }

    fn at_end(&self, title: &str) -> Result<Vec<PlanEdit>, OpenReason> {
        let fields = self.fields(title, None)?;
        let place = last_place(self.context).ok_or(OpenReason::NothingMarked)?;
        Ok(vec![insert_at(self.context, place, fields)])
    }

    fn at_start(&self, title: &str) -> Result<Vec<PlanEdit>, OpenReason> {
        let fields = self.fields(title, None)?;
        let finder = &self.context.finder;
        let first = finder.work_leaves(finder.root).into_iter().next();
        let first = first.ok_or(OpenReason::NothingMarked)?;
        Ok(vec![insert_at(self.context, NodePlace::Before(first.id.clone()), fields)])
    }
}

/// Returns the title of a new task: without quotation marks and "to", with a capital.
pub(super) fn new_title(text: &str) -> String {
    let text = text.trim().trim_end_matches([',', ':', '-']).trim();
    let title = strip_quotes(text);
    let title = strip_phrase_prefix(title, &["to", "called", "named"]).unwrap_or(title);
    capitalize(strip_quotes(title))
}

/// Returns whether words name no work: "more detail", "some time", "a phase".
fn is_vague_title(text: &str) -> bool {
    const VAGUE: [&str; 12] = [
        "more",
        "some",
        "detail",
        "details",
        "time",
        "it",
        "this",
        "that",
        "something",
        "a phase",
        "another phase",
        "a new phase",
    ];
    let quoted = text.trim().starts_with(['"', '“']);
    !quoted && strip_phrase_prefix(text, &VAGUE).is_some()
}

/// Splits an amount of time off the start: "a 30 minute task to …".
fn strip_leading_time(text: &str) -> (&str, Option<u32>) {
    const NOUNS: [&str; 6] = ["task to", "task called", "task for", "task", "step to", "step"];
    let rest = strip_phrase_prefix(text, &["a", "an", "another"]).unwrap_or(text);
    let cuts = split_at_words(rest, &NOUNS);
    let found = cuts
        .into_iter()
        .find_map(|(amount, title)| Some((title, parse_minutes(&amount.replace('-', " "))?)));
    found.map_or((text, None), |(title, minutes)| (title, Some(minutes)))
}

/// Splits an amount of time off the end of a phrase: ", 30 minutes", "(30 min)", "for 30 minutes", "which takes 2 h".
pub(super) fn split_minutes(text: &str) -> (&str, Option<u32>) {
    const WORDS: [&str; 14] = [
        "taking",
        "which takes",
        "that takes",
        "it takes",
        "takes",
        "which should take",
        "which will take",
        "lasting",
        "with",
        "of",
        "for",
        "at",
        "in",
        "-",
    ];
    let text = text.trim();
    if let Some((title, amount)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('('))
        && let Some(found) = parse_minutes(amount)
    {
        return (title.trim(), Some(found));
    }
    let cuts = split_at_words(text, &WORDS).into_iter();
    let commas = text.match_indices(',').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let colons = text.rsplit_once(": ");
    let found = commas.chain(cuts).chain(colons).find_map(|(title, amount)| {
        let amount = strip_phrase_prefix(amount, &WORDS).unwrap_or(amount);
        Some((title.trim().trim_end_matches(','), parse_minutes(amount.trim())?))
    });
    if let Some((title, minutes)) = found {
        return (title, Some(minutes));
    }
    // `"book the train" 30 minutes`
    let quote = text.rfind(['"', '”']).filter(|_| text.starts_with(['"', '“']));
    let after =
        quote.map(|at| text.split_at(at + text[at..].chars().next().map_or(1, char::len_utf8)));
    match after.map(|(title, amount)| (title, parse_minutes(amount.trim()))) {
        Some((title, Some(minutes))) => (title, Some(minutes)),
        _ => (text, None),
    }
}

/// Returns the place beside a node. A phase is no neighbor of a task: before it means before its first task, after it
/// means after its last one.
pub(super) fn place_beside(
    context: &ClauseContext<'_>,
    node: &PlanNode,
    word: PlaceWord,
) -> NodePlace {
    let finder = &context.finder;
    match word {
        PlaceWord::Under => NodePlace::Under(node.id.clone()),
        _ if node.id == *finder.root || finder.is_container(node) => {
            let first = finder.tree.leaves(&node.id).into_iter().next();
            match (word, first) {
                (PlaceWord::Before, Some(first)) if first.id != node.id => {
                    NodePlace::Before(first.id.clone())
                }
                _ => NodePlace::Under(node.id.clone()),
            }
        }
        PlaceWord::Before => NodePlace::Before(node.id.clone()),
        PlaceWord::After => NodePlace::After(node.id.clone()),
    }
}

/// Returns the place after all work of the plan: in its last phase, or in the plan itself.
pub(super) fn last_place(context: &ClauseContext<'_>) -> Option<NodePlace> {
    let finder = &context.finder;
    let last = finder.work_leaves(finder.root).into_iter().last()?;
    let parent = finder.tree.parent(last)?;
    Some(NodePlace::Under(parent.id.clone()))
}

/// Returns the operation that adds a task. Where the tasks beside it do not follow each other, the link is drawn.
pub(super) fn insert_at(
    context: &ClauseContext<'_>,
    place: NodePlace,
    fields: NodeFields,
) -> PlanEdit {
    let linked = context.roadmap.is_none() || is_in_chain(context, place.node());
    let anchor = place.node().clone();
    let (needs, needed_by) = match &place {
        NodePlace::After(_) if !linked => (vec![anchor], Vec::new()),
        NodePlace::Before(_) if !linked => (Vec::new(), vec![anchor]),
        _ => (Vec::new(), Vec::new()),
    };
    PlanEdit::Insert { place, fields, group: false, needs, needed_by }
}

/// Returns whether the tasks of a node's lane follow each other, so that a new one joins them.
fn is_in_chain(context: &ClauseContext<'_>, id: &TaskId) -> bool {
    let (tree, Some(roadmap)) = (&context.finder.tree, context.roadmap) else { return false };
    let Some(node) = tree.get(id) else { return false };
    let Some(parent) = &node.parent_id else { return false };
    let lane: Vec<&TaskId> = tree
        .children(parent)
        .filter(|other| other.stream == node.stream && !is_point(other))
        .map(|other| &other.id)
        .collect();
    let follows = |pair: &[&TaskId]| {
        roadmap
            .dependencies
            .iter()
            .any(|link| link.kind == LinkKind::FS && link.from == *pair[0] && link.to == *pair[1])
    };
    lane.len() < 2 || lane.windows(2).any(follows)
}
