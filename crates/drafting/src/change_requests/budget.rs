//! Change requests about money: "budget 300 EUR", "we can spend at most 2,000 dollars".

use jiff::civil::Date;

use super::context_change::ContextChange;
use super::phrase::strip_phrase_prefix;
use crate::offline::goal::{Goal, GoalParseContext};

/// Words before an amount that make it the most that may be spent.
const SPENDING: [&str; 18] = [
    "my budget is now",
    "the budget is now",
    "my budget is",
    "our budget is",
    "the budget is",
    "set the budget to",
    "raise the budget to",
    "lower the budget to",
    "cut the budget to",
    "with a budget of",
    "a budget of",
    "budget of",
    "budget:",
    "budget",
    "it may cost",
    "it must not cost more than",
    "we can spend",
    "i can spend",
];
const AT_MOST: [&str; 6] = ["at most", "no more than", "up to", "max", "maximum", "only"];

/// Parses the most that may be spent. Hours are not money: "I can spend 2 hours a day".
pub(super) fn parse_budget(text: &str, today: Date) -> Option<ContextChange> {
    let rest = strip_phrase_prefix(text, &SPENDING)?;
    let rest = strip_phrase_prefix(rest, &AT_MOST).unwrap_or(rest);
    let goal = Goal::parse(&format!("it with a budget of {rest}"), GoalParseContext::new(today, 5));
    let spends = strip_phrase_prefix(text, &SPENDING[16..]).is_some();
    let money = goal.quantities.money.as_ref()?;
    let currency = money.currency_code().map(str::to_owned);
    let timed = goal.weekly_minutes.is_some() || goal.occurrence_minutes.is_some();
    let fits = !timed && (currency.is_some() || !spends) && money.every.is_none();
    fits.then_some(ContextChange::Budget { amount: money.amount, currency })
}
