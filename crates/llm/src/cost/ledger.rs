//! Budget accounting: an amount is reserved before a call and recorded after it, so that concurrent calls cannot exceed
//! a cap.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::{CallCost, CostEstimate};
use crate::ModelError;
use planwright_model::{Category, MicroDollars, RunCap};

/// A spending limit. Limits are checked in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetCeiling {
    /// `daily_budget_usd`, across all sessions of the user's day.
    Day,
    /// `budget_per_session_usd`.
    Session,
    /// `soft_budget_per_turn_usd`, while planning.
    Turn,
    /// `run_token_limit`, the only limit that applies when the price is unknown.
    Tokens,
}

impl BudgetCeiling {
    pub const ALL: [Self; 4] = [Self::Day, Self::Session, Self::Turn, Self::Tokens];

    /// Formats an amount: money in micro-dollars, or tokens.
    fn format_amount(self, amount: u64) -> String {
        match self {
            Self::Tokens => format!("{} tokens", planwright_text::units::format_count(amount)),
            _ => MicroDollars(amount).to_exact_string(),
        }
    }
}

/// What a call is made for. Only planning is divided into turns; spending of a run belongs to no turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpendingPurpose {
    #[default]
    Planning,
    Execution,
}

/// A call that was not made because it could have exceeded a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CapHit {
    pub ceiling: BudgetCeiling,
    /// Spent so far, in micro-dollars or tokens.
    pub spent: u64,
    /// Reserved for calls in progress.
    pub reserved: u64,
    /// The most the call could cost.
    pub estimate: u64,
    pub limit: u64,
}

impl CapHit {
    /// The error a caller sees; `code` is `cap_reached`.
    pub(crate) fn to_model_error(self, provider: &str) -> ModelError {
        let amount = |amount| self.ceiling.format_amount(amount);
        let message = format!(
            "the next call could cost {}, and {} of {} is used",
            amount(self.estimate),
            amount(self.spent.saturating_add(self.reserved)),
            amount(self.limit),
        );
        let next = "raise the limit once or for this plan, continue without paid calls, or stop and keep the results";
        ModelError::new(provider, "cap_reached", Category::Critical, message, next)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct LedgerAccount {
    spent: u64,
    reserved: u64,
    limit: Option<u64>,
}

/// The ledger of one session.
#[derive(Debug, Default)]
pub struct Ledger {
    accounts: Mutex<[LedgerAccount; 4]>,
}

impl Ledger {
    /// Creates a ledger without limits, which still records spending.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Sets or removes a limit, in micro-dollars or tokens.
    pub fn set_limit(&self, ceiling: BudgetCeiling, limit: Option<u64>) {
        self.with_accounts(|accounts| accounts[ceiling as usize].limit = limit);
    }

    /// Sets what was spent before this ledger was opened: today by other sessions, or by this one before a resume.
    pub fn set_spent(&self, ceiling: BudgetCeiling, spent: u64) {
        self.with_accounts(|accounts| accounts[ceiling as usize].spent = spent);
    }

    /// Changes a limit to what the user decided; `None` removes it. Call [`set_spent`](Self::set_spent) first.
    pub fn raise_limit(&self, cap: RunCap, to: Option<u64>) {
        let ceiling = match cap {
            RunCap::RunTokenLimit => BudgetCeiling::Tokens,
            RunCap::BudgetPerSessionUsd => BudgetCeiling::Session,
            RunCap::DailyBudgetUsd => BudgetCeiling::Day,
            RunCap::RunWallTimeMin => return,
        };
        let to = match cap {
            // What this session may still spend is added to what was spent today.
            RunCap::DailyBudgetUsd => to.map(|to| {
                let more = to.saturating_sub(self.amount_spent(BudgetCeiling::Session));
                self.amount_spent(BudgetCeiling::Day).saturating_add(more)
            }),
            _ => to,
        };
        self.with_accounts(|accounts| {
            let limit = &mut accounts[ceiling as usize].limit;
            *limit = limit.zip(to).map(|(old, to)| old.max(to));
        });
    }

    /// The limit currently in effect.
    pub fn current_limit(&self, ceiling: BudgetCeiling) -> Option<u64> {
        self.with_accounts(|accounts| accounts[ceiling as usize].limit)
    }

    /// Starts a new turn.
    pub fn begin_turn(&self) {
        self.set_spent(BudgetCeiling::Turn, 0);
    }

    pub fn amount_spent(&self, ceiling: BudgetCeiling) -> u64 {
        self.with_accounts(|accounts| accounts[ceiling as usize].spent)
    }

    /// Reserves the most a call could cost, or returns the limit that prevents it.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        estimate: &CostEstimate,
        purpose: SpendingPurpose,
    ) -> Result<BudgetReservation, CapHit> {
        let amounts = ceiling_amounts(estimate.cost, estimate.total_tokens(), purpose);
        self.with_accounts(|accounts| {
            for ceiling in BudgetCeiling::ALL {
                let (account, amount) = (accounts[ceiling as usize], amounts[ceiling as usize]);
                let used = account.spent.saturating_add(account.reserved);
                // A call that costs nothing is never stopped by a limit on money.
                let Some(limit) = account.limit.filter(|_| amount > 0) else { continue };
                if used.saturating_add(amount) > limit {
                    let LedgerAccount { spent, reserved, .. } = account;
                    return Err(CapHit { ceiling, spent, reserved, estimate: amount, limit });
                }
            }
            for (account, amount) in accounts.iter_mut().zip(amounts) {
                account.reserved = account.reserved.saturating_add(amount);
            }
            Ok(())
        })?;
        Ok(BudgetReservation { ledger: Arc::clone(self), amounts, purpose })
    }

    fn with_accounts<T>(&self, work: impl FnOnce(&mut [LedgerAccount; 4]) -> T) -> T {
        work(&mut self.accounts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn ceiling_amounts(cost: Option<MicroDollars>, tokens: u64, purpose: SpendingPurpose) -> [u64; 4] {
    let money = cost.unwrap_or(MicroDollars::ZERO).0;
    let turn = if purpose == SpendingPurpose::Planning { money } else { 0 };
    [money, money, turn, tokens]
}

/// An amount reserved while a call is in progress. It is released when dropped without being recorded.
#[derive(Debug)]
pub(crate) struct BudgetReservation {
    ledger: Arc<Ledger>,
    amounts: [u64; 4],
    purpose: SpendingPurpose,
}

impl BudgetReservation {
    /// Records the actual cost of the call.
    pub(crate) fn record_cost(self, cost: &CallCost) {
        let actual = ceiling_amounts(cost.money, cost.usage.total(), self.purpose);
        self.ledger.with_accounts(|accounts| {
            for (account, amount) in accounts.iter_mut().zip(actual) {
                account.spent = account.spent.saturating_add(amount);
            }
        });
    }
}

impl Drop for BudgetReservation {
    fn drop(&mut self) {
        let amounts = self.amounts;
        self.ledger.with_accounts(|accounts| {
            for (account, amount) in accounts.iter_mut().zip(amounts) {
                account.reserved = account.reserved.saturating_sub(amount);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TokenUsage;

    fn estimate(micros: u64) -> CostEstimate {
        CostEstimate { input_tokens: 10, output_tokens: 10, cost: Some(MicroDollars(micros)) }
    }

    fn cost(micros: u64) -> CallCost {
        CallCost {
            usage: TokenUsage::from_counts(5, 5),
            estimated: false,
            clamped: false,
            money: Some(MicroDollars(micros)),
        }
    }

    #[test]
    fn a_cap_stops_the_call_before_it_is_exceeded_and_names_itself() {
        let ledger = Ledger::new();
        ledger.set_limit(BudgetCeiling::Session, Some(10_000));
        ledger
            .reserve(&estimate(6_000), SpendingPurpose::Planning)
            .unwrap()
            .record_cost(&cost(4_000));
        let hit = ledger.reserve(&estimate(6_001), SpendingPurpose::Planning).unwrap_err();
        assert_eq!(
            hit,
            CapHit {
                ceiling: BudgetCeiling::Session,
                spent: 4_000,
                reserved: 0,
                estimate: 6_001,
                limit: 10_000
            }
        );
        let error = hit.to_model_error("acme");
        assert_eq!(error.code, "cap_reached");
        assert_eq!(
            error.message,
            "the next call could cost $0.006001, and $0.004 of $0.01 is used"
        );
        ledger.set_limit(BudgetCeiling::Session, None);
        assert!(
            ledger.reserve(&estimate(u64::MAX), SpendingPurpose::Planning).is_ok(),
            "a lifted cap is no cap"
        );
    }

    #[test]
    fn the_daily_cap_is_checked_before_the_session_and_the_session_before_the_turn() {
        let ledger = Ledger::new();
        for ceiling in BudgetCeiling::ALL {
            ledger.set_limit(ceiling, Some(1));
        }
        let first = |ledger: &Arc<Ledger>| {
            ledger.reserve(&estimate(50), SpendingPurpose::Planning).unwrap_err().ceiling
        };
        assert_eq!(first(&ledger), BudgetCeiling::Day);
        ledger.set_limit(BudgetCeiling::Day, None);
        assert_eq!(first(&ledger), BudgetCeiling::Session);
        ledger.set_limit(BudgetCeiling::Session, None);
        assert_eq!(first(&ledger), BudgetCeiling::Turn);
        ledger.set_limit(BudgetCeiling::Turn, None);
        assert_eq!(first(&ledger), BudgetCeiling::Tokens);
    }

    #[test]
    fn a_raised_limit_is_never_lower_than_before_and_the_day_grows_by_what_the_session_may_spend() {
        let ledger = Ledger::new();
        ledger.set_limit(BudgetCeiling::Session, Some(10_000));
        ledger.set_limit(BudgetCeiling::Day, Some(50_000));
        ledger.set_spent(BudgetCeiling::Session, 4_000);
        ledger.set_spent(BudgetCeiling::Day, 49_000);
        ledger.raise_limit(RunCap::BudgetPerSessionUsd, Some(5_000));
        assert_eq!(ledger.current_limit(BudgetCeiling::Session), Some(10_000));
        ledger.raise_limit(RunCap::DailyBudgetUsd, Some(24_000));
        assert_eq!(ledger.current_limit(BudgetCeiling::Day), Some(69_000));
        ledger.raise_limit(RunCap::BudgetPerSessionUsd, None);
        assert_eq!(ledger.current_limit(BudgetCeiling::Session), None);
    }

    #[test]
    fn spending_of_a_run_is_not_charged_to_a_turn() {
        let ledger = Ledger::new();
        ledger.set_limit(BudgetCeiling::Turn, Some(100));
        let run = ledger.reserve(&estimate(5_000), SpendingPurpose::Execution).unwrap();
        run.record_cost(&cost(5_000));
        assert_eq!(
            (ledger.amount_spent(BudgetCeiling::Turn), ledger.amount_spent(BudgetCeiling::Session)),
            (0, 5_000)
        );
        assert!(ledger.reserve(&estimate(101), SpendingPurpose::Planning).is_err());
    }

    #[test]
    fn free_calls_pass_an_exhausted_money_cap_and_unknown_prices_are_limited_by_tokens() {
        let ledger = Ledger::new();
        ledger.set_limit(BudgetCeiling::Session, Some(0));
        ledger.set_limit(BudgetCeiling::Tokens, Some(30));
        let unknown = CostEstimate { cost: None, ..estimate(0) };
        let reservation = ledger.reserve(&unknown, SpendingPurpose::Planning).unwrap();
        assert_eq!(
            ledger.reserve(&unknown, SpendingPurpose::Planning).unwrap_err().ceiling,
            BudgetCeiling::Tokens
        );
        drop(reservation);
        assert!(
            ledger.reserve(&estimate(0), SpendingPurpose::Planning).is_ok(),
            "a reservation that was dropped is free again"
        );
        assert!(ledger.reserve(&estimate(1), SpendingPurpose::Planning).is_err());
    }

    proptest! {
        #[test]
        fn costs_within_their_estimates_never_exceed_the_cap(
            calls in prop::collection::vec((0u64..500, 0u64..100), 0..60),
            limit in 0u64..2_000,
        ) {
            let ledger = Ledger::new();
            ledger.set_limit(BudgetCeiling::Session, Some(limit));
            let mut open = Vec::new();
            for (most, share) in calls {
                if let Ok(reservation) = ledger.reserve(&estimate(most), SpendingPurpose::Planning) {
                    open.push((reservation, most * share / 100));
                }
                if open.len() > 3 {
                    let (reservation, actual) = open.remove(0);
                    reservation.record_cost(&cost(actual));
                }
            }
            for (held, actual) in open {
                held.record_cost(&cost(actual));
            }
            prop_assert!(ledger.amount_spent(BudgetCeiling::Session) <= limit);
        }
    }
}
