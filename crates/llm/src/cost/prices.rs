//! Token prices. They come from the table of models or from the config; for unknown models only tokens are counted.

use serde::{Deserialize, Serialize};

use crate::TokenUsage;
use planwright_model::MicroDollars;

const MILLION: u128 = 1_000_000;

/// Micro-dollars per million tokens of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRates {
    pub input: u64,
    pub output: u64,
    /// Input read from the provider's cache; priced like other input if `None`.
    pub cached: Option<u64>,
    /// Input written to the provider's cache; priced like other input if `None`.
    pub cache_write: Option<u64>,
}

impl TokenRates {
    /// Converts from dollars per million tokens, the unit providers publish.
    pub fn from_dollars(
        input: f64,
        output: f64,
        cached: Option<f64>,
        cache_write: Option<f64>,
    ) -> Self {
        let micros = |dollars: f64| MicroDollars::from_dollars(dollars).0;
        Self {
            input: micros(input),
            output: micros(output),
            cached: cached.map(micros),
            cache_write: cache_write.map(micros),
        }
    }
}

/// The price of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    pub rates: TokenRates,
    /// Different rates for prompts above this many tokens.
    pub long: Option<(u64, TokenRates)>,
}

impl Price {
    pub(crate) fn flat(rates: TokenRates) -> Self {
        Self { rates, long: None }
    }

    /// The cost of a usage, rounded up. Saturates instead of overflowing.
    pub fn usage_cost(&self, usage: &TokenUsage) -> MicroDollars {
        let input = usage.input.unwrap_or(0);
        let long = self.long.filter(|(after, _)| input > *after);
        let rates = long.map_or(self.rates, |(_, rates)| rates);
        let cached = usage.cached.unwrap_or(0).min(input);
        let written = usage.cache_written.unwrap_or(0).min(input - cached);
        let parts = [
            (input - cached - written, rates.input),
            (cached, rates.cached.unwrap_or(rates.input)),
            (written, rates.cache_write.unwrap_or(rates.input)),
            (usage.output.unwrap_or(0), rates.output),
        ];
        let total = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(*price))
            .fold(0, u128::saturating_add);
        MicroDollars(u64::try_from(total.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }
}

/// What is known about the price of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelPricing {
    /// The model runs locally.
    Free,
    Known(Price),
    /// Tokens are counted; the price is unknown.
    Unknown,
}

impl ModelPricing {
    pub(crate) fn usage_cost(&self, usage: &TokenUsage) -> Option<MicroDollars> {
        match self {
            Self::Free => Some(MicroDollars::ZERO),
            Self::Known(price) => Some(price.usage_cost(usage)),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_exact_rounded_up_and_saturate() {
        let rates = TokenRates::from_dollars(3.0, 15.0, Some(0.3), Some(3.75));
        let price = Price::flat(rates);
        assert_eq!(price.usage_cost(&TokenUsage::from_counts(1000, 100)), MicroDollars(4_500));
        let cached = TokenUsage {
            cached: Some(800),
            cache_written: Some(100),
            ..TokenUsage::from_counts(1000, 0)
        };
        assert_eq!(price.usage_cost(&cached), MicroDollars(300 + 240 + 375));
        assert_eq!(
            price.usage_cost(&TokenUsage { cached: Some(1), ..TokenUsage::from_counts(1, 0) }),
            MicroDollars(1),
            "rounded up"
        );
        assert_eq!(
            price.usage_cost(&TokenUsage::from_counts(u64::MAX, u64::MAX)),
            MicroDollars(u64::MAX)
        );
        let implausible = TokenUsage { cached: Some(u64::MAX), ..TokenUsage::from_counts(10, 0) };
        assert_eq!(
            price.usage_cost(&implausible),
            MicroDollars(3),
            "no more is cached than was read"
        );
        let long = Price { long: Some((1000, TokenRates { input: 9_000_000, ..rates })), ..price };
        assert_eq!(long.usage_cost(&TokenUsage::from_counts(1000, 0)), MicroDollars(3_000));
        assert_eq!(
            long.usage_cost(&TokenUsage::from_counts(1001, 0)),
            MicroDollars(9_009),
            "long prompts cost more"
        );
        assert_eq!(
            ModelPricing::Free.usage_cost(&TokenUsage::from_counts(9, 9)),
            Some(MicroDollars::ZERO)
        );
        assert_eq!(ModelPricing::Unknown.usage_cost(&TokenUsage::from_counts(9, 9)), None);
    }
}
