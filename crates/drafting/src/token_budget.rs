//! The token budget of one loop.

use serde::{Deserialize, Serialize};

/// The limits of the budget relative to the size of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBudgetSettings {
    /// `token_budget_buffer`: the minimum available in addition to the query.
    pub buffer: u64,
    /// `token_budget_factor`: the budget is at most this many times the query.
    pub factor: u64,
}

impl Default for TokenBudgetSettings {
    fn default() -> Self {
        Self { buffer: 10, factor: 20 }
    }
}

/// Returns the budget of one loop: the total budget divided by the loops, clamped between the query plus a buffer and a
/// multiple of the query. If the limits cross, the lower limit applies. No budget means no limit.
pub fn loop_token_budget(
    budget: Option<u64>,
    loops: u64,
    query_tokens: u64,
    settings: TokenBudgetSettings,
) -> Option<u64> {
    let query = query_tokens.max(1);
    let lower = query.saturating_add(settings.buffer);
    let upper = query.saturating_mul(settings.factor);
    budget.map(|budget| (budget / loops.max(1)).min(upper).max(lower))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(budget: u64, loops: u64, query: u64) -> Option<u64> {
        loop_token_budget(Some(budget), loops, query, TokenBudgetSettings::default())
    }

    #[test]
    fn example_13_token_budget_is_divided_and_clamped() {
        assert_eq!(of(300, 3, 4), Some(80));
        assert_eq!(of(12, 1, 5), Some(15));
        assert_eq!(of(50, 1, 5), Some(50));
        assert_eq!(of(5, 1, 0), Some(11));
    }

    #[test]
    fn no_budget_means_no_limit() {
        assert_eq!(loop_token_budget(None, 3, 4, TokenBudgetSettings::default()), None);
    }

    proptest! {
        #[test]
        fn the_lower_bound_always_applies(budget: u64, loops: u64, query: u64) {
            let budget = of(budget, loops, query).unwrap();
            prop_assert!(budget >= query.max(1).saturating_add(10));
            prop_assert!(budget <= query.max(1).saturating_mul(20).max(query.max(1).saturating_add(10)));
        }
    }
}
