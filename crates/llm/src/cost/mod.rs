//! Costs of calls: tokens, prices, estimates before a call, actual figures after it, and the caps that stop a call.

mod ledger;
mod prices;
pub mod tokens;

use serde::{Deserialize, Serialize};

pub use ledger::{BudgetCeiling, Ledger, SpendingPurpose};
pub use prices::{ModelPricing, Price, TokenRates};
pub use tokens::TokenCalibration;

use super::{GenerateRequest, GeneratedAnswer, TokenUsage};
use planwright_model::MicroDollars;

/// The output limit of an answer when the request sets none.
pub const USUAL_OUTPUT_TOKENS: u32 = 4096;

/// The part of the room for thinking that an estimate counts: one in this many tokens.
const USUAL_THINKING_SHARE: u32 = 4;

/// The most a call could cost, computed before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostEstimate {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// `None` if the price is unknown.
    pub cost: Option<MicroDollars>,
}

impl CostEstimate {
    /// Uses our own count of the prompt, the whole answer the request allows, and what thinking usually takes.
    pub fn from_request(
        request: &GenerateRequest,
        pricing: &ModelPricing,
        calibration: &TokenCalibration,
    ) -> Self {
        let input_tokens = calibration.correct_estimate(tokens::estimate_request_tokens(request));
        // A model seldom uses its whole room for thinking; counting all of it would stop most calls at a small cap.
        let thinking = u64::from(request.thinking_tokens.unwrap_or(0) / USUAL_THINKING_SHARE);
        let answer = u64::from(request.max_output_tokens.unwrap_or(USUAL_OUTPUT_TOKENS));
        let output_tokens = answer + thinking;
        let cost = pricing.usage_cost(&TokenUsage::from_counts(input_tokens, output_tokens));
        Self { input_tokens, output_tokens, cost }
    }

    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// The actual cost of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCost {
    /// Input and output are always present.
    pub usage: TokenUsage,
    /// Whether some of the figures are our own estimate.
    pub estimated: bool,
    /// `None` if the price is unknown.
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

    /// Uses the reported figures; a missing or implausibly small one is replaced by our own estimate, an implausibly
    /// large one by the most the call can have used.
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

    /// The cost of failed attempts.
    pub fn from_failure(usage: TokenUsage, pricing: &ModelPricing) -> Self {
        let usage = TokenUsage::from_counts(usage.input.unwrap_or(0), usage.output.unwrap_or(0));
        Self { usage, estimated: true, money: pricing.usage_cost(&usage), clamped: false }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            usage: self.usage.plus(other.usage),
            estimated: self.estimated || other.estimated,
            clamped: self.clamped || other.clamped,
            money: self.money.zip(other.money).map(|(one, two)| one.saturating_add(two)),
        }
    }
}

/// A provider's figure after a plausibility check.
#[derive(Clone, Copy, Debug)]
struct BelievableTokens {
    tokens: u64,
    /// The figure is our estimate, not the provider's.
    estimated: bool,
    clamped: bool,
}

/// Tokenizers differ by less than a factor of two, so a report below half of our estimate is rejected, as is one above
/// what the bytes of the call allow: a single absurd figure would use up the budget of a day.
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
            reasoning: Vec::new(),
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
        let implausible = 9_000_000_000_000_000_000;
        let request = GenerateRequest::new(vec![Message::user("word ".repeat(1000))]);
        let most = tokens::max_request_tokens(&request);
        for usage in [
            TokenUsage::from_counts(implausible, 90),
            TokenUsage::from_counts(1100, implausible),
            TokenUsage::from_counts(u64::MAX, u64::MAX),
        ] {
            let cost = cost(TokenUsage {
                cached: Some(implausible),
                cache_written: Some(implausible),
                ..usage
            });
            assert!(cost.clamped && cost.estimated, "{usage:?}");
            assert!(cost.usage.total() < most + 140_000, "{usage:?} -> {cost:?}");
            assert!(cost.money.unwrap() < MicroDollars(1_000_000), "{usage:?} -> {cost:?}");
            assert!(cost.usage.cached <= cost.usage.input);
        }
        // A tokenizer that needs one token per byte is still plausible.
        let plausible = cost(TokenUsage::from_counts(5_000, 500));
        assert!(!plausible.clamped && !plausible.estimated, "{plausible:?}");
    }

    #[test]
    fn retries_are_charged() {
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
    fn the_estimate_includes_the_whole_output_limit() {
        let mut request = GenerateRequest::new(vec![Message::user("hello")]);
        request.max_output_tokens = Some(500);
        let pricing =
            ModelPricing::Known(Price::flat(TokenRates::from_dollars(1.0, 2.0, None, None)));
        let estimate = CostEstimate::from_request(&request, &pricing, &TokenCalibration::default());
        assert_eq!(estimate.output_tokens, 500);
        assert_eq!(estimate.cost, Some(MicroDollars(estimate.input_tokens + 1000)));
        request.thinking_tokens = Some(8_000);
        let thinking = CostEstimate::from_request(&request, &pricing, &TokenCalibration::default());
        assert_eq!(thinking.output_tokens, 2_500, "a quarter of the room for thinking");
    }
}
