//! What is asked about a goal: each question with what is assumed without an answer and with what the answer changes.
//!
//! What an answer of a blueprint's question changes is not declared but tried: the plan is built once with each answer
//! and compared, so that a card never promises an effect that the plan does not have.

use std::collections::BTreeMap;

use planwright_model::{
    Assumption, AssumptionOrigin, NodeTree, PlanContext, PlanNode, QuestionChoice, TaskId,
};
use planwright_text::units::format_planned;

use super::blueprint::BlueprintQuestion;
use super::facts::{AT, CADENCE, DAY, HORIZON, OCCURRENCE, WEEKLY};
use super::instance::{self, BlueprintInstance, InstanceInputs};
use super::{choices, span};

/// A missing fact, with the value assumed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextQuestion {
    pub key: String,
    pub text: String,
    pub assumed: String,
    /// What the answer changes, in a sentence.
    pub changes: String,
    /// Answers to choose from.
    pub choices: Vec<QuestionChoice>,
}

/// Returns the open questions of a context: what changes most comes first, since only the first few are asked. Hours can
/// be assumed and are shown, so they come after what changes the tasks. `planned` is the plan with everything assumed, `effort` its total work.
pub(super) fn open_questions(
    inputs: InstanceInputs<'_>,
    planned: &BlueprintInstance,
    effort: u32,
) -> Vec<ContextQuestion> {
    let open = |found: &&Assumption| found.origin == AssumptionOrigin::Template;
    let assumed = inputs.context.assumptions.iter().filter(open);
    let mut questions: Vec<ContextQuestion> = assumed
        .filter_map(|found| {
            let text = found.question.clone()?;
            let questions = &inputs.blueprint.questions;
            let own = questions.iter().find(|question| *question.key.get_ref() == found.key);
            let (key, value) = (found.key.clone(), found.value.clone());
            let (changes, choices) = if let Some(question) = own {
                describe_own(inputs, planned, question, &value, effort)
            } else {
                let choices = choices::question_choices(inputs.context, &key, &value, effort);
                (describe_planner_question(&key, effort), choices)
            };
            Some(ContextQuestion { key, text, assumed: value, changes, choices })
        })
        .collect();
    // What changes nothing is not worth a question; it stays listed as assumed.
    questions.retain(|question| question.changes != CHANGES_NOTHING);
    questions.sort_by_key(|question| match question.key.as_str() {
        DAY => 0,
        HORIZON => 2,
        WEEKLY => 4,
        _ if question.changes == CHANGES_TASKS => 1,
        _ if question.changes == CHANGES_WORDS => 5,
        _ => 3,
    });
    questions
}

const CHANGES_WORK: &str = "It decides how much work there is.";
const CHANGES_TASKS: &str = "It decides which tasks the plan has.";
const CHANGES_WORDS: &str = "It changes the words of the tasks, not the work.";
const CHANGES_NOTHING: &str = "It changes no task and is kept with the plan as a note.";

/// What the answer to a question of the planner itself changes.
fn describe_planner_question(key: &str, effort: u32) -> String {
    match key {
        WEEKLY => format!(
            "It decides how long the plan takes. The work is about {} however many hours you have.",
            format_planned(effort.into())
        ),
        HORIZON => "It decides when the plan ends and how full the weeks are.".to_owned(),
        DAY => "Every other date counts from it.".to_owned(),
        CADENCE => "It decides how often it comes back.".to_owned(),
        AT => "It decides at what time it starts.".to_owned(),
        OCCURRENCE => "It decides how long it takes each time.".to_owned(),
        _ => String::new(),
    }
}

/// What one answer makes of the plan, compared with what is assumed.
struct AnswerEffect {
    effort: u32,
    added: Vec<String>,
    removed: Vec<String>,
    /// Whether only the words of tasks differ.
    is_reworded: bool,
}

/// Describes what the answers to a question of the blueprint change, all together and one by one.
fn describe_own(
    inputs: InstanceInputs<'_>,
    planned: &BlueprintInstance,
    question: &BlueprintQuestion,
    assumed: &str,
    effort: u32,
) -> (String, Vec<QuestionChoice>) {
    let key = question.key.get_ref();
    let mut choices = if question.choices.is_empty() {
        choices::question_choices(inputs.context, key, assumed, effort)
    } else {
        choices::listed_choices(&question.choices, assumed)
    };
    let tried: Vec<AnswerEffect> = if choices.is_empty() {
        // Any words show whether the texts of the plan use the answer.
        vec![try_answer(inputs, planned, key, "your answer")]
    } else {
        choices.iter().map(|choice| try_answer(inputs, planned, key, &choice.answer)).collect()
    };
    let is_counted = inputs.blueprint.counts.contains_key(key);
    let scales = tried.iter().any(|found| found.effort != effort);
    for (choice, found) in choices.iter_mut().zip(&tried) {
        let words = found.describe(is_counted, scales);
        choices::prepend_effect(choice, &words);
    }
    let differs = |found: &AnswerEffect| !found.added.is_empty() || !found.removed.is_empty();
    let changes = if is_counted && scales {
        CHANGES_WORK
    } else if tried.iter().any(differs) {
        CHANGES_TASKS
    } else if scales {
        CHANGES_WORK
    } else if tried.iter().any(|found| found.is_reworded) {
        CHANGES_WORDS
    } else {
        CHANGES_NOTHING
    };
    (changes.to_owned(), choices)
}

impl AnswerEffect {
    /// `44 h of work, adds "Plan for rain"`.
    fn describe(&self, is_counted: bool, scales: bool) -> String {
        let mut parts = Vec::new();
        if scales {
            parts.push(format!("{} of work", format_planned(self.effort.into())));
        }
        if !is_counted {
            parts.extend(name_tasks("adds", &self.added));
            parts.extend(name_tasks("leaves out", &self.removed));
        }
        parts.join(", ")
    }
}

/// `adds "Plan for rain" and 2 more`.
fn name_tasks(verb: &str, titles: &[String]) -> Option<String> {
    let (first, rest) = titles.split_first()?;
    Some(match rest.len() {
        0 => format!("{verb} \"{first}\""),
        more => format!("{verb} \"{first}\" and {more} more"),
    })
}

/// Builds the plan with another answer and compares it.
fn try_answer(
    inputs: InstanceInputs<'_>,
    planned: &BlueprintInstance,
    key: &str,
    answer: &str,
) -> AnswerEffect {
    let context = with_answer(inputs.context, key, answer);
    let other = instance::build_instance(InstanceInputs { context: &context, ..inputs });
    let before = leaf_titles(&planned.nodes);
    let after = leaf_titles(&other.nodes);
    let missing = |from: &BTreeMap<&TaskId, &str>, in_other: &BTreeMap<&TaskId, &str>| {
        let gone = from.iter().filter(|(id, _)| !in_other.contains_key(*id));
        gone.map(|(_, title)| (*title).to_owned()).collect::<Vec<_>>()
    };
    let root = &planned.nodes[0].id;
    AnswerEffect {
        effort: span::total_effort(&other.nodes, root, inputs.span.weeks()),
        added: missing(&after, &before),
        removed: missing(&before, &after),
        is_reworded: !same_words(&planned.nodes, &other.nodes),
    }
}

/// Returns the context as it would be with an answer of the person's.
fn with_answer(context: &PlanContext, key: &str, answer: &str) -> PlanContext {
    let mut context = context.clone();
    for found in context.assumptions.iter_mut().filter(|found| found.key == key) {
        answer.clone_into(&mut found.value);
        found.origin = AssumptionOrigin::User;
    }
    context
}

fn leaf_titles(nodes: &[PlanNode]) -> BTreeMap<&TaskId, &str> {
    let tree = NodeTree::new(nodes);
    let leaves = nodes.iter().filter(|node| tree.is_leaf(&node.id));
    leaves.map(|leaf| (&leaf.id, leaf.title.as_str())).collect()
}

fn same_words(one: &[PlanNode], other: &[PlanNode]) -> bool {
    let words = |nodes: &[PlanNode]| -> Vec<[String; 3]> {
        let texts = |node: &PlanNode| [&node.title, &node.why, &node.done_when].map(Clone::clone);
        nodes.iter().map(texts).collect()
    };
    words(one) == words(other)
}
