//! What the tasks of a plan cost by the plan itself: material, fees, tickets. What models cost is told elsewhere.

use std::collections::BTreeMap;

use super::rows::PlanTextRow;
use planwright_model::{FactReading, TaskCost};
use planwright_state::SessionState;

/// The sum of each currency, with the budget that was stated for the plan: `890 EUR, of at most 900 EUR`.
pub(super) fn costs_text(state: &SessionState, rows: &[PlanTextRow]) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for cost in rows.iter().filter_map(|row| row.cost.as_ref()) {
        let sum = sums.entry(cost.currency.as_str()).or_default();
        *sum = sum.saturating_add(cost.hundredths);
    }
    let text = |(currency, hundredths): (&&str, &u64)| {
        let (currency, hundredths) = ((*currency).to_owned(), *hundredths);
        TaskCost { hundredths, currency }.to_string()
    };
    let all = sums.iter().map(text).collect::<Vec<_>>().join(" and ");
    let budget = plan_budget(state).filter(|(_, currency)| {
        sums.len() == 1 && currency.is_none_or(|currency| sums.contains_key(currency))
    });
    match (budget, sums.keys().next()) {
        (Some((amount, _)), Some(currency)) => format!("{all}, of at most {amount} {currency}"),
        _ => all,
    }
}

/// The amount that was stated for the whole plan, and its currency if that was said.
fn plan_budget(state: &SessionState) -> Option<(u64, Option<&str>)> {
    let read = state.planning.facts.active().filter_map(|fact| fact.reading.as_ref());
    read.filter_map(|reading| match reading {
        FactReading::Budget { subject: None, amount, currency } => {
            Some((*amount, currency.as_deref()))
        }
        _ => None,
    })
    .last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::changes::{PlanRowChange, compare_rows};
    use crate::plan_text::plan_rows;
    use crate::tests::planned;
    use planwright_model::event::{Event, FactEvent, Record};
    use planwright_model::{Fact, FactSource};

    fn cost(text: &str) -> TaskCost {
        text.parse().unwrap()
    }

    #[test]
    fn costs_are_added_and_stand_beside_the_stated_budget() {
        let mut state = planned::scheduled().state();
        let mut rows = plan_rows(&state, &jiff::tz::TimeZone::UTC);
        assert_eq!(costs_text(&state, &rows), "");
        (rows[1].cost, rows[2].cost) = (Some(cost("110 EUR")), Some(cost("40.50 EUR")));
        assert_eq!(costs_text(&state, &rows), "150.50 EUR");
        let currency = Some("EUR".to_owned());
        let reading = FactReading::Budget { subject: None, amount: 900, currency };
        let mut fact = Fact::new(state.planning.facts.next_id(), FactSource::Goal, "at most 900");
        fact.reading = Some(reading);
        let event = Event::Fact(FactEvent::Recorded { fact });
        let at = state.at.unwrap_or_default();
        state.apply(&Record::new(state.seq.next(), at, event));
        assert_eq!(costs_text(&state, &rows), "150.50 EUR, of at most 900 EUR");
        rows[2].cost = Some(cost("40 USD"));
        assert_eq!(costs_text(&state, &rows), "110 EUR and 40 USD");
    }

    #[test]
    fn another_cost_is_a_change_that_is_named() {
        let state = planned::scheduled().state();
        let before = plan_rows(&state, &jiff::tz::TimeZone::UTC);
        let mut after = before.clone();
        let task = after.iter().position(|row| row.minutes.is_some() && row.depth > 0).unwrap();
        after[task].cost = Some(cost("150 EUR"));
        let found = compare_rows(&before, &after);
        assert_eq!(found.kinds.get(&after[task].id), Some(&PlanRowChange::Changed));
        let today = jiff::civil::date(2026, 6, 8);
        assert_eq!(found.field_changes(&after[task], today), ["cost nothing → 150 EUR"]);
    }
}
