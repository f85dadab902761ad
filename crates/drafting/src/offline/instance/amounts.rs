//! Money and numbers that the goal states and that no text of the blueprint uses: the first task takes them in.

use planwright_model::PlanNode;
use planwright_text::units;

use super::super::facts;
use super::InstanceBuilder;

/// Nouns of time, which are read as spans and rhythms.
const TIME_NOUNS: [&str; 10] =
    ["weekend", "week", "day", "night", "month", "year", "quarter", "hour", "minute", "time"];
/// Words of a task that decides about money.
const MONEY_WORDS: [&str; 7] = ["budget", "cost", "price", "quote", "money", "spend", "paid"];

/// Words of a task that sets what is to be reached.
const TARGET_WORDS: [&str; 7] =
    ["target", "goal", "measure", "baseline", "number", "agree", "record"];

impl InstanceBuilder<'_> {
    /// Lets at least one task use each amount that the goal states.
    pub(super) fn use_stated_amounts(&mut self) {
        if self.inputs.blueprint.small {
            return;
        }
        self.use_stated_money();
        if let Some(target) = self.inputs.goal.target.clone()
            && !self.is_used(&target)
        {
            self.add_to_first(&TARGET_WORDS, &format!("the target is fixed: {target}"));
        }
        for count in &self.inputs.goal.counts {
            let digits = units::format_count(count.amount.into());
            let timed = TIME_NOUNS.contains(&count.noun.as_str());
            // What the kind does not count stays in the goal; glued to a task it says nothing.
            let known = facts::counts_noun(self.inputs.blueprint, &count.noun);
            if timed || !known || self.is_used(&digits) || self.is_used(&count.amount.to_string()) {
                continue;
            }
            let people = self.inputs.goal.quantities.people.as_ref();
            let words = match people.filter(|people| people.count == count.amount) {
                Some(people) => people.to_string(),
                None => units::format_counted(count.amount as usize, &count.noun),
            };
            self.add_to_first(&[], &format!("it is planned for {words}"));
        }
    }

    fn use_stated_money(&mut self) {
        let Some(money) = &self.inputs.goal.quantities.money else { return };
        let amount = self.wording.fill_text("{budget}");
        if amount.is_empty() || self.is_used(&amount) {
            return;
        }
        // What is saved, earned or paid back is an amount to reach; anything else is what may be spent.
        let words = if self.inputs.blueprint.family == "finance" && !money.is_budget {
            format!("the amount to reach is {amount}")
        } else {
            format!("{amount} is split over everything that has to be paid")
        };
        self.add_to_first(&MONEY_WORDS, &words);
    }

    fn is_used(&self, words: &str) -> bool {
        let uses = |node: &PlanNode| {
            node.level > 1 && (has_words(&node.title, words) || has_words(&node.done_when, words))
        };
        self.plan.nodes.iter().any(uses)
    }

    /// Adds a condition to the first task that has one of the words, or else to the first task of all.
    fn add_to_first(&mut self, words: &[&str], condition: &str) {
        let open = |node: &PlanNode| {
            node.node_type == planwright_model::NodeType::Task
                && !node.milestone
                && node.recurrence.is_none()
        };
        let fits = |node: &PlanNode| {
            let text = format!("{} {}", node.title, node.done_when).to_lowercase();
            words.iter().any(|word| text.contains(word))
        };
        let nodes = &self.plan.nodes;
        let found = nodes.iter().position(|node| open(node) && fits(node));
        let found = found.or_else(|| nodes.iter().position(open));
        if let Some(node) = found.and_then(|place| self.plan.nodes.get_mut(place)) {
            let done_when = node.done_when.trim_end_matches('.');
            node.done_when = format!("{done_when}; {condition}");
        }
    }
}

/// Returns whether a text has words as they are, and not as a part of a longer number.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, found)| {
        let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !is_part(text[..at].chars().next_back())
            && !is_part(text[at + found.len()..].chars().next())
    })
}
