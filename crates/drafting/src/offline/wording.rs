//! Inserts the words of a goal into the texts of a template.

use planwright_model::PlanNode;

use super::facts;
use super::goal::Goal;
use super::template::{Template, TopicPack};

/// The values of a template's placeholders.
#[derive(Clone, Debug)]
pub(super) struct TemplateWording {
    values: Vec<(&'static str, String)>,
}

impl TemplateWording {
    pub(super) fn new(goal: &Goal, template: &Template, pack: Option<&TopicPack>) -> Self {
        let subject = goal.subject.name.clone();
        let definite = goal.subject.definite.clone();
        let project = pack.map_or_else(
            || format!("something of your own in {subject}"),
            |pack| pack.project.clone(),
        );
        let period = facts::goal_cadence(goal, template);
        let period = match period.interval {
            1 => period.every.name().to_owned(),
            count => format!("{count} {}s", period.every.name()),
        };
        let values = vec![
            ("{The subject}", capitalize_first(&definite)),
            ("{the subject}", definite),
            ("{subject}", subject),
            ("{A}", goal.from.clone().unwrap_or_else(|| "the old system".to_owned())),
            ("{B}", goal.to.clone().unwrap_or_else(|| "the new one".to_owned())),
            ("{project}", project),
            ("{thing}", produced_noun(goal)),
            ("{period}", period),
        ];
        Self { values }
    }

    /// Returns the same values with a topic and its number.
    pub(super) fn with_topic(&self, topic: &str, number: usize) -> Self {
        let mut values = self.values.clone();
        values.push(("{topic}", topic.to_owned()));
        values.push(("{n}", number.to_string()));
        Self { values }
    }

    pub(super) fn fill_text(&self, template: &str) -> String {
        // Replaced in one pass, so that braces in a goal are never treated as placeholders.
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            rest = &rest[open..];
            let found = self.values.iter().find(|(name, _)| rest.starts_with(name));
            let (name, value) = found.map_or(("{", "{"), |(name, value)| (*name, value.as_str()));
            out.push_str(value);
            rest = &rest[name.len()..];
        }
        out.push_str(rest);
        out
    }

    /// Fills a title, within the maximum length of titles.
    pub(super) fn fill_title(&self, template: &str) -> String {
        let text = capitalize_first(&self.fill_text(template));
        match text.char_indices().nth(PlanNode::MAX_TITLE_CHARS) {
            Some(_) => text.chars().take(PlanNode::MAX_TITLE_CHARS - 1).chain(['…']).collect(),
            None => text,
        }
    }
}

fn capitalize_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// Returns the noun for one product: "issue" of a newsletter, or the thing that the goal counts.
fn produced_noun(goal: &Goal) -> String {
    if let Some(found) = goal.per_period.as_ref().filter(|found| found.made) {
        return if found.count == 1 {
            found.noun.clone()
        } else {
            format!("{} {}", found.count, found.noun)
        };
    }
    let pairs = [
        ("newsletter", "issue"),
        ("podcast", "episode"),
        ("blog", "post"),
        ("series", "part"),
        ("video", "video"),
    ];
    let named = pairs.iter().find(|(word, _)| goal.contains_any(&[*word])).map(|(_, thing)| *thing);
    named.unwrap_or("version").to_owned()
}
