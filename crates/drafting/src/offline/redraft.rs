//! A plan whose goal is said otherwise: the operations that lead from a draft of the old words to one of the new ones.
//!
//! Both drafts are made, and only what differs between them is changed in the plan. What the person edited since keeps
//! their words: a field is changed where the plan still has the value of the old draft.

use jiff::civil::Date;
use std::collections::BTreeMap;

use planwright_model::{
    DateField, NodeFields, NodePlace, NodeStatus, PlanContext, PlanDate, PlanEdit, PlanNode,
    StartSource, TaskId,
};

use super::{
    DraftError, PlanApproach, RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap,
    draft_outline,
};

/// What a goal in other words changes in a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalRedraft {
    pub edits: Vec<PlanEdit>,
    /// The context of the new draft.
    pub context: PlanContext,
    /// The dates of the new draft that the planner chose, by the ids of the plan.
    chosen: BTreeMap<TaskId, (Option<PlanDate>, StartSource)>,
}

impl GoalRedraft {
    /// Marks the dates that the edits set as chosen by the planner, not stated by the person.
    pub fn mark_chosen_dates(&self, nodes: &mut [PlanNode]) {
        for node in nodes {
            if let Some((date, source)) = self.chosen.get(&node.id)
                && node.fixed_start == *date
            {
                node.start_source = *source;
            }
        }
    }
}

/// Drafts a goal in its old and its new words.
///
/// `current` has the nodes of the plan as it stands.
pub fn redraft_goal(
    [before, after]: [PlanContext; 2],
    library: &TemplateLibrary,
    today: Date,
    approach: Option<PlanApproach>,
    current: &[PlanNode],
) -> Result<GoalRedraft, DraftError> {
    let draft = |context: PlanContext| {
        let outline = draft_outline(context, library, today, SubtypeProposals::Off)?.outline;
        let request = RoadmapPreferences { approach, conflict_minutes: 0 };
        let nodes = match build_roadmap(&outline, library, request) {
            Ok(draft) => draft.roadmap.nodes,
            Err(_) => outline.nodes.clone(),
        };
        Ok((nodes, outline.plan_context))
    };
    let (old, _) = draft(before)?;
    let (new, context) = draft(after)?;
    let pairs = align_drafts(&old, &new);
    let chosen =
        pairs.iter().map(|(one, other)| (one.id.clone(), (other.fixed_start, other.start_source)));
    let chosen = chosen.filter(|(_, (_, source))| *source != StartSource::Stated).collect();
    Ok(GoalRedraft { edits: compare_drafts(&old, &new, current), context, chosen })
}

/// The operations between two drafts. What is done stays as it is.
fn compare_drafts(old: &[PlanNode], new: &[PlanNode], current: &[PlanNode]) -> Vec<PlanEdit> {
    let pairs = align_drafts(old, new);
    let is_open = |node: &&PlanNode| node.status != NodeStatus::Done;
    let find = |id: &TaskId| current.iter().find(|node| node.id == *id).filter(is_open);
    let mut edits = Vec::new();
    for (one, other) in &pairs {
        if let Some(node) = find(&one.id) {
            edits.extend(changed_fields(one, other, node));
            edits.extend(changed_dates(one, other, node));
        }
    }
    let paired: BTreeMap<&TaskId, &TaskId> =
        pairs.iter().map(|(one, other)| (&other.id, &one.id)).collect();
    let is_new = |node: &&PlanNode| !paired.contains_key(&node.id);
    // The last first: all new tasks between two old ones are put right after the former.
    let mut added: Vec<&PlanNode> =
        new.iter().filter(is_new).filter(|node| !node.node_type.is_container()).collect();
    added.sort_by_key(|node| std::cmp::Reverse(node.position));
    edits.extend(added.into_iter().filter_map(|node| insertion(node, new, &paired)));
    let kept = |node: &PlanNode| pairs.iter().any(|(one, _)| one.id == node.id);
    let gone = old.iter().filter(|node| !kept(node) && !node.node_type.is_container());
    let gone = gone.filter(|node| find(&node.id).is_some_and(|now| now.title == node.title));
    edits.extend(gone.map(|node| PlanEdit::Remove { node: node.id.clone() }));
    edits
}

/// Pairs the nodes of two drafts of one blueprint: by their order where a parent has as many children in both, else by
/// their titles.
fn align_drafts<'a>(old: &'a [PlanNode], new: &'a [PlanNode]) -> Vec<(&'a PlanNode, &'a PlanNode)> {
    let children = |nodes: &'a [PlanNode], parent: Option<&TaskId>| {
        let mut found: Vec<&'a PlanNode> =
            nodes.iter().filter(|node| node.parent_id.as_ref() == parent).collect();
        found.sort_by(|a, b| (&a.stream, a.position).cmp(&(&b.stream, b.position)));
        found
    };
    let mut pairs = Vec::new();
    let mut open: Vec<(Option<&TaskId>, Option<&TaskId>)> = vec![(None, None)];
    while let Some((one, other)) = open.pop() {
        let (ones, others) = (children(old, one), children(new, other));
        let found: Vec<(&PlanNode, &PlanNode)> = if ones.len() == others.len() {
            ones.into_iter().zip(others).collect()
        } else {
            align_titles(&ones, &others)
        };
        for (one, other) in found {
            pairs.push((one, other));
            open.push((Some(&one.id), Some(&other.id)));
        }
    }
    pairs
}

/// Pairs nodes with alike titles, in order.
fn align_titles<'a>(
    ones: &[&'a PlanNode],
    others: &[&'a PlanNode],
) -> Vec<(&'a PlanNode, &'a PlanNode)> {
    let mut from = 0;
    let mut pairs = Vec::new();
    for &one in ones {
        let rest = others.iter().enumerate().skip(from);
        let best = rest.filter(|(_, other)| are_alike(&one.title, &other.title));
        // Equal titles count for more than alike ones: copies of a task differ in a number.
        let best = best.min_by_key(|(at, other)| (other.title != one.title, *at));
        if let Some((at, other)) = best {
            pairs.push((one, *other));
            from = at + 1;
        }
    }
    pairs
}

/// Whether titles share at least half of their words.
fn are_alike(one: &str, other: &str) -> bool {
    let words =
        |text: &str| -> Vec<String> { text.to_lowercase().split(' ').map(str::to_owned).collect() };
    let (one, other) = (words(one), words(other));
    let shared = one.iter().filter(|word| other.contains(word)).count();
    2 * shared >= one.len().max(other.len())
}

/// The texts and the estimate that differ, where the plan still has those of the old draft.
fn changed_fields(old: &PlanNode, new: &PlanNode, now: &PlanNode) -> Option<PlanEdit> {
    let text = |read: fn(&PlanNode) -> &String| {
        let differs = read(old) != read(new) && read(now) == read(old);
        differs.then(|| read(new).clone())
    };
    let minutes = new.estimate_minutes.filter(|_| {
        old.estimate_minutes != new.estimate_minutes && now.estimate_minutes == old.estimate_minutes
    });
    let fields = NodeFields {
        title: text(|node| &node.title),
        description: text(|node| &node.description),
        done_when: text(|node| &node.done_when),
        why: text(|node| &node.why),
        minutes,
        ..NodeFields::default()
    };
    let is_changed = fields != NodeFields::default();
    is_changed.then(|| PlanEdit::Change { node: now.id.clone(), fields })
}

fn changed_dates(old: &PlanNode, new: &PlanNode, now: &PlanNode) -> Vec<PlanEdit> {
    let all = [
        (DateField::FixedStart, old.fixed_start, new.fixed_start, now.fixed_start),
        (DateField::FixedEnd, old.fixed_end, new.fixed_end, now.fixed_end),
        (DateField::NotBefore, old.not_before, new.not_before, now.not_before),
        (DateField::Due, old.due, new.due, now.due),
    ];
    let differs = all.into_iter().filter(|(_, old, new, now)| old != new && now == old);
    differs
        .map(|(field, _, date, _)| PlanEdit::SetDate { node: now.id.clone(), field, date })
        .collect()
}

/// Adds a node of the new draft after the node before it, or below its parent.
fn insertion(
    node: &PlanNode,
    new: &[PlanNode],
    paired: &BTreeMap<&TaskId, &TaskId>,
) -> Option<PlanEdit> {
    let before = new.iter().filter(|other| {
        other.parent_id == node.parent_id
            && other.stream == node.stream
            && other.position < node.position
            && paired.contains_key(&other.id)
    });
    let before = before.max_by_key(|other| other.position);
    let place = match before {
        Some(before) => NodePlace::After(TaskId::clone(paired.get(&before.id)?)),
        None => NodePlace::Under(TaskId::clone(paired.get(node.parent_id.as_ref()?)?)),
    };
    let fields = NodeFields {
        description: Some(node.description.clone()),
        done_when: Some(node.done_when.clone()),
        why: Some(node.why.clone()),
        minutes: node.estimate_minutes,
        owner: Some(node.owner.clone()),
        risks: Some(node.risks.clone()),
        tags: Some(node.tags.clone()),
        recurrence: node.recurrence.clone(),
        optional: Some(node.optional),
        milestone: Some(node.milestone),
        intensity: Some(node.intensity),
        fixed_start: node.fixed_start,
        fixed_end: node.fixed_end,
        not_before: node.not_before,
        due: node.due,
        ..NodeFields::titled(node.title.clone())
    };
    Some(PlanEdit::Insert { place, fields, group: false, needs: Vec::new(), needed_by: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn redraft(before: &str, after: &str, edit: impl Fn(&mut Vec<PlanNode>)) -> Vec<PlanEdit> {
        let today = date(2026, 6, 5);
        let context = |goal: &str| PlanContext::new(goal, today, "Europe/Berlin");
        let library = TemplateLibrary::built_in();
        let outline =
            draft_outline(context(before), &library, today, SubtypeProposals::Off).unwrap().outline;
        let request = RoadmapPreferences { approach: None, conflict_minutes: 0 };
        let mut current = build_roadmap(&outline, &library, request).unwrap().roadmap.nodes;
        edit(&mut current);
        let contexts = [context(before), context(after)];
        redraft_goal(contexts, &library, today, None, &current).unwrap().edits
    }

    const WEDDING: &str = "wedding on 2027-06-12 for 80 guests";

    #[test]
    fn the_same_goal_changes_nothing_and_another_count_changes_what_names_it() {
        assert_eq!(redraft(WEDDING, WEDDING, |_| {}), Vec::new());
        let edits = redraft(WEDDING, "wedding on 2027-06-12 for 40 guests", |_| {});
        assert!(!edits.is_empty());
        assert!(edits.iter().all(|edit| matches!(edit, PlanEdit::Change { .. })), "{edits:?}");
    }

    #[test]
    fn words_of_the_person_and_finished_tasks_stay() {
        let other = "wedding on 2027-06-12 for 40 guests";
        let all = redraft(WEDDING, other, |_| {});
        let PlanEdit::Change { node: first, .. } = &all[0] else { panic!("{all:?}") };
        let done = redraft(WEDDING, other, |nodes| {
            let node = nodes.iter_mut().find(|node| node.id == *first).unwrap();
            node.status = NodeStatus::Done;
        });
        assert_eq!(done.len(), all.len() - 1);
        let renamed = redraft(WEDDING, other, |nodes| {
            for node in nodes.iter_mut() {
                node.title = format!("My own {}", node.id);
            }
        });
        let is_title = |edit: &PlanEdit| matches!(edit, PlanEdit::Change { fields, .. } if fields.title.is_some());
        assert!(!renamed.iter().any(is_title), "{renamed:?}");
    }
}
