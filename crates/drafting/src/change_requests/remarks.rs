//! Change requests about what is done, about taking changes back, and about more detail, which words alone cannot make.

use planwright_model::{NodeStatus, PlanEdit, PlanNode};

use super::ClauseContext;
use super::open_reason::{ClauseReading, OpenReason, first_reading};
use super::phrase::{split_at_words, strip_phrase_prefix, strip_phrase_suffix};

/// Returns whether a clause takes the last change back.
pub(super) fn is_undo(text: &str) -> bool {
    const VERBS: [&str; 14] = [
        "undo",
        "revert",
        "take back",
        "roll back",
        "reverse",
        "go back to",
        "back to",
        "restore",
        "cancel",
        "discard",
        "put back",
        "never mind",
        "scratch",
        "forget",
    ];
    const WHAT: [&str; 27] = [
        "",
        "that",
        "it",
        "this",
        "the change",
        "that change",
        "the last change",
        "my last change",
        "the last one",
        "the last request",
        "the last step",
        "the last edit",
        "the last revision",
        "the change before",
        "the previous change",
        "the previous version",
        "the previous draft",
        "the previous plan",
        "the last version",
        "the last draft",
        "the version before",
        "the draft before",
        "the plan before",
        "the old version",
        "the old plan",
        "how it was",
        "what it was",
    ];
    const WHOLE: [&str; 12] = [
        "go back",
        "take that back",
        "take it back",
        "roll that back",
        "roll it back",
        "put it back",
        "put it back as it was",
        "put it back how it was",
        "change it back",
        "as it was before",
        "leave it as it was",
        "it was better before",
    ];
    let lower = text.trim().to_lowercase();
    let lower = strip_phrase_suffix(&lower, &["again", "please", "before"]).unwrap_or(&lower);
    if WHOLE.contains(&lower) {
        return true;
    }
    let rest = strip_phrase_prefix(lower, &VERBS);
    // A bare "cancel", "restore" or "forget" may mean anything.
    let bare = ["undo", "revert", "never mind", "take back"].contains(&lower);
    rest.is_some_and(|rest| WHAT.contains(&rest) && (bare || !rest.is_empty()))
}

/// "I already did X", "X is done", "mark X as done", "we have booked the venue already".
pub(super) fn parse_done(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    first_reading([reopened_nodes(context, text), finished_nodes(context, text)])
}

fn finished_nodes(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const ENDS: [&str; 14] = [
        "is already done",
        "are already done",
        "is already finished",
        "is already complete",
        "has already been done",
        "has been done",
        "is done already",
        "is done",
        "are done",
        "is finished",
        "is complete",
        "is completed",
        "done already",
        "is behind me",
    ];
    const MARKS: [&str; 6] = ["mark", "tick off", "check off", "cross off", "tick", "set"];
    const DOING: [&str; 10] = [
        "did",
        "done with",
        "done",
        "finished with",
        "finished",
        "completed",
        "made",
        "have done",
        "have finished",
        "am done with",
    ];
    const SUBJECTS: [&str; 14] = [
        "i have already",
        "i've already",
        "i already have",
        "i already",
        "we have already",
        "we've already",
        "we already",
        "already",
        "i have",
        "i've",
        "i am",
        "i'm",
        "we have",
        "we've",
    ];
    if let Some(nodes) = strip_phrase_suffix(text, &ENDS) {
        return Some(mark_done(context, nodes));
    }
    if let Some(rest) = strip_phrase_prefix(text, &MARKS) {
        let nodes =
            strip_phrase_suffix(rest, &["as done", "as finished", "as complete", "done", "off"]);
        let plain = ["tick off", "check off", "cross off"];
        let nodes = nodes.or_else(|| strip_phrase_prefix(text, &plain))?;
        return Some(mark_done(context, nodes));
    }
    if let Some((nodes, word)) = text.split_once(": ")
        && ["done", "finished", "done already"].contains(&word.trim().to_lowercase().as_str())
    {
        return Some(mark_done(context, nodes));
    }
    let said_already = text.to_lowercase().split(' ').any(|word| word == "already");
    let rest = strip_phrase_suffix(text, &["already"]).unwrap_or(text);
    let subject = strip_phrase_prefix(rest, &SUBJECTS)
        .or_else(|| strip_phrase_prefix(rest, &["i", "we"]))
        .unwrap_or(rest);
    if let Some(nodes) = strip_phrase_prefix(subject, &DOING) {
        let nodes = strip_phrase_suffix(nodes, &["already"]).unwrap_or(nodes);
        return Some(mark_done(context, nodes));
    }
    // "I already booked the venue": the verb is part of the name.
    (said_already && subject.len() < text.len()).then(|| mark_done(context, subject))
}

fn mark_done(context: &ClauseContext<'_>, nodes: &str) -> Result<Vec<PlanEdit>, OpenReason> {
    let nodes = strip_phrase_suffix(nodes, &["already", "now"]).unwrap_or(nodes);
    let found = context.finder.find_all(nodes)?;
    let root = |node: &&PlanNode| node.id == *context.finder.root;
    if found.iter().any(root) {
        return Err(OpenReason::because("name the tasks that are done"));
    }
    Ok(found
        .into_iter()
        .map(|node| PlanEdit::SetDone { node: node.id.clone(), done: true })
        .collect())
}

/// "X is not done", "reopen X": only of what was marked as done.
fn reopened_nodes(context: &ClauseContext<'_>, text: &str) -> ClauseReading<Vec<PlanEdit>> {
    const ENDS: [&str; 9] = [
        "are not done yet",
        "are not done",
        "aren't done",
        "is not done yet",
        "isn't done yet",
        "is not done",
        "isn't done",
        "is not finished",
        "is still open",
    ];
    let nodes = strip_phrase_suffix(text, &ENDS)
        .or_else(|| strip_phrase_prefix(text, &["reopen", "open again"]))?;
    let found = match context.finder.find_all(nodes) {
        Ok(found) => found,
        Err(why) => return Some(Err(why)),
    };
    let tree = &context.finder.tree;
    let is_done =
        |node: &&PlanNode| tree.leaves(&node.id).iter().any(|leaf| leaf.status == NodeStatus::Done);
    if !found.iter().any(is_done) {
        let text = "it is not marked as done".to_owned();
        return Some(Err(OpenReason::AlreadySo(text)));
    }
    let open = |node: &PlanNode| PlanEdit::SetDone { node: node.id.clone(), done: false };
    Some(Ok(found.into_iter().map(open).collect()))
}

/// "more detail in the build phase", "break down X": what only a model or the person can write.
pub(super) fn parse_detail(context: &ClauseContext<'_>, text: &str) -> Option<OpenReason> {
    const OPENINGS: [&str; 16] = [
        "add more detail to",
        "add more details to",
        "add detail to",
        "more details in",
        "more details for",
        "more detail in",
        "more detail for",
        "more detail on",
        "more details on",
        "more detail about",
        "more detail",
        "more details",
        "elaborate on",
        "go deeper into",
        "expand on",
        "flesh out",
    ];
    const ENDS: [&str; 9] = [
        "more detailed",
        "in more detail",
        "in detail",
        "is too vague",
        "is too coarse",
        "is not detailed enough",
        "needs more detail",
        "needs more details",
        "needs more steps",
    ];
    let verb =
        strip_phrase_prefix(text, &["break down", "detail", "refine", "expand", "elaborate"])
            .filter(|rest| split_at_words(rest, &["into", "in"]).is_empty());
    let smaller = strip_phrase_prefix(
        text,
        &["smaller steps in", "smaller tasks in", "more steps in", "more tasks in"],
    );
    let want = strip_phrase_prefix(
        text,
        &["i need", "i want", "give me", "show", "add", "make", "describe", "plan"],
    )
    .unwrap_or(text);
    let name = strip_phrase_prefix(want, &OPENINGS)
        .or(verb)
        .or(smaller)
        .or_else(|| {
            strip_phrase_prefix(
                want,
                &["smaller steps in", "smaller steps for", "more steps in", "more steps for"],
            )
        })
        .or_else(|| strip_phrase_suffix(want, &ENDS))?;
    let name = strip_phrase_prefix(name, &["make", "describe", "plan"]).unwrap_or(name);
    let whole =
        ["", "it", "the plan", "everything", "please"].contains(&name.to_lowercase().as_str());
    let target = match context.finder.find_one(name) {
        Ok(node) if !whole => {
            let first = context.finder.work_leaves(&node.id).into_iter().next().unwrap_or(node);
            format!("\"split {} into … and …\"", first.title)
        }
        Err(why @ OpenReason::Several { .. }) => return Some(why),
        Err(why) if !whole => return Some(why),
        _ => "\"split … into … and …\"".to_owned(),
    };
    Some(OpenReason::because(format!(
        "more detail needs a model; by hand, s splits the selected task, or say {target}"
    )))
}
