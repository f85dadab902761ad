//! What calls cost: tokens, prices, estimates before a call and actual figures after it, and the caps in the way.

pub mod ledger;
pub mod prices;
pub mod tokens;

use serde::{Deserialize, Serialize};

pub use ledger::{BudgetCeiling, BudgetReservation, CapHit, Ledger, SpendingPurpose};
pub use prices::{ModelPricing, Price, PriceTable, TokenRates};
pub use tokens::TokenCalibration;

use super::{GenerateRequest, GeneratedAnswer, TokenUsage};
use planwright_model::MicroDollars;

/// The limit of an answer where a request sets none.
pub const USUAL_OUTPUT_TOKENS: u32 = 4096;

/// What a call could cost at most, before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostEstimate {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Absent where the price is not known.
    pub cost: Option<MicroDollars>,
}

impl CostEstimate {
    /// The prompt as it is counted here, and all the output that is allowed.
    pub fn from_request(
        request: &GenerateRequest,
        pricing: &ModelPricing,
        calibration: &TokenCalibration,
    ) -> Self {
        let input_tokens = calibration.correct_estimate(tokens::estimate_request_tokens(request));
        let output_tokens = u64::from(request.max_output_tokens.unwrap_or(USUAL_OUTPUT_TOKENS));
        let cost = pricing.usage_cost(&TokenUsage::from_counts(input_tokens, output_tokens));
        Self { input_tokens, output_tokens, cost }
    }

    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// What a call did cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCost {
    /// Input and output are always there.
    pub usage: TokenUsage,
    /// Whether a part of the figures is our own estimate.
    pub estimated: bool,
    /// Absent where the price is not known.
    pub money: Option<MicroDollars>,
    /// Whether the provider reported more than the call can have used, so that the figure was lowered.
    #[serde(default)]
    pub clamped: bool,
}

impl CallCost {
    pub const NONE: Self = Self {
        usage: TokenUsage { input: Some(0), output: Some(0), cached: None, cache_written: None },
        estimated: false,
        clamped: false,
        money: Some(MicroDollars::ZERO),
    };

    /// Reported figures, with our own estimate where they are missing or too small to be true, and the most that the
    /// call can have used where they are too large to be true.
    pub fn from_answer(
        request: &GenerateRequest,
        generated: &GeneratedAnswer,
        pricing: &ModelPricing,
        calibration: &TokenCalibration,
    ) -> Self {
        let own = |tokens: u64| calibration.correct_estimate(tokens);
        let input = believable_tokens(
            generated.usage.input,
            own(tokens::estimate_request_tokens(request)),
            tokens::max_request_tokens(request),
        );
        let output = believable_tokens(
            generated.usage.output,
            own(tokens::estimate_answer_tokens(&generated.text, &generated.tool_calls)),
            tokens::max_answer_tokens(request, generated),
        );
        let part = |tokens: Option<u64>| tokens.map(|tokens| tokens.min(input.tokens));
        let answered = TokenUsage {
            input: Some(input.tokens),
            output: Some(output.tokens),
            cached: part(generated.usage.cached),
            cache_written: part(generated.usage.cache_written),
        };
        let retried = generated.spent_on_retries;
        Self {
            usage: answered.plus(retried),
            estimated: input.estimated || output.estimated || retried.total() > 0,
            clamped: input.clamped || output.clamped,
            money: pricing.usage_cost(&answered).map(|money| {
                money.saturating_add(pricing.usage_cost(&retried).unwrap_or(MicroDollars::ZERO))
            }),
        }
    }

    /// What failed attempts used up.
    pub fn from_failure(usage: TokenUsage, pricing: &ModelPricing) -> Self {
        let usage = TokenUsage::from_counts(usage.input.unwrap_or(0), usage.output.unwrap_or(0));
        Self { usage, estimated: true, money: pricing.usage_cost(&usage), clamped: false }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            usage: self.usage.plus(other.usage),
            estimated: self.estimated || other.estimated,
            clamped: self.clamped || other.clamped,
            money: self.money.zip(other.money).map(|(one, two)| one.saturating_add(two)),
        }
    }
}

/// A figure of the provider after it was checked.
#[derive(Clone, Copy, Debug)]
struct BelievableTokens {
    tokens: u64,
    /// The figure is ours, not the provider's.
    estimated: bool,
    clamped: bool,
}

/// Tokenizers differ by less than a factor of two; a report below half of our estimate is not believed, nor one above
/// what the bytes of the call allow: one absurd figure would use up the budget of a day.
fn believable_tokens(reported: Option<u64>, own: u64, most: u64) -> BelievableTokens {
    match reported {
        Some(reported) if reported > most => {
            BelievableTokens { tokens: most.max(own), estimated: true, clamped: true }
        }
        Some(reported) if reported >= own / 2 => {
            BelievableTokens { tokens: reported, estimated: false, clamped: false }
        }
        _ => BelievableTokens { tokens: own, estimated: true, clamped: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FinishReason, Message};

    fn generated(usage: TokenUsage) -> GeneratedAnswer {
        GeneratedAnswer {
            text: "word ".repeat(100),
            tool_calls: Vec::new(),
            usage,
            finish: FinishReason::Stop,
            model: "m".into(),
            spent_on_retries: TokenUsage::default(),
        }
    }

    fn cost(usage: TokenUsage) -> CallCost {
        let request = GenerateRequest::new(vec![Message::user("word ".repeat(1000))]);
        let pricing =
            ModelPricing::Known(Price::flat(TokenRates::from_dollars(1.0, 1.0, None, None)));
        CallCost::from_answer(&request, &generated(usage), &pricing, &TokenCalibration::default())
    }

    #[test]
    fn missing_and_tiny_reports_are_replaced_by_our_own_estimate() {
        assert_eq!(cost(TokenUsage::from_counts(1100, 90)).money, Some(MicroDollars(1190)));
        assert!(!cost(TokenUsage::from_counts(1100, 90)).estimated);
        for usage in
            [TokenUsage::default(), TokenUsage::from_counts(0, 0), TokenUsage::from_counts(3, 90)]
        {
            let cost = cost(usage);
            assert!(cost.estimated);
            assert!(cost.usage.input.unwrap() >= 1000, "{usage:?} -> {cost:?}");
        }
    }

    #[test]
    fn a_figure_larger_than_the_call_allows_is_lowered_and_marked() {
        let absurd = 9_000_000_000_000_000_000;
        let request = GenerateRequest::new(vec![Message::user("word ".repeat(1000))]);
        let most = tokens::max_request_tokens(&request);
        for usage in [
            TokenUsage::from_counts(absurd, 90),
            TokenUsage::from_counts(1100, absurd),
            TokenUsage::from_counts(u64::MAX, u64::MAX),
        ] {
            let cost =
                cost(TokenUsage { cached: Some(absurd), cache_written: Some(absurd), ..usage });
            assert!(cost.clamped && cost.estimated, "{usage:?}");
            assert!(cost.usage.total() < most + 140_000, "{usage:?} -> {cost:?}");
            assert!(cost.money.unwrap() < MicroDollars(1_000_000), "{usage:?} -> {cost:?}");
            assert!(cost.usage.cached <= cost.usage.input);
        }
        // A tokenizer that needs a token for every byte is still believed.
        let honest = cost(TokenUsage::from_counts(5_000, 500));
        assert!(!honest.clamped && !honest.estimated, "{honest:?}");
    }

    #[test]
    fn retries_are_paid_for() {
        let mut answer = generated(TokenUsage::from_counts(1100, 100));
        answer.spent_on_retries = TokenUsage::from_counts(1000, 0);
        let request = GenerateRequest::new(vec![Message::user("word ".repeat(1000))]);
        let pricing =
            ModelPricing::Known(Price::flat(TokenRates::from_dollars(1.0, 1.0, None, None)));
        let cost = CallCost::from_answer(&request, &answer, &pricing, &TokenCalibration::default());
        assert_eq!(cost.money, Some(MicroDollars(2200)));
        assert_eq!(cost.usage.total(), 2200);
    }

    #[test]
    fn the_estimate_reckons_with_all_the_output_that_is_allowed() {
        let mut request = GenerateRequest::new(vec![Message::user("hello")]);
        request.max_output_tokens = Some(500);
        let pricing =
            ModelPricing::Known(Price::flat(TokenRates::from_dollars(1.0, 2.0, None, None)));
        let estimate = CostEstimate::from_request(&request, &pricing, &TokenCalibration::default());
        assert_eq!(estimate.output_tokens, 500);
        assert_eq!(estimate.cost, Some(MicroDollars(estimate.input_tokens + 1000)));
    }
}
