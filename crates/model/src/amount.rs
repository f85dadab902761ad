//! Money as whole micro-dollars, so that sums are exact and never overflow.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount of money in millionths of a dollar. Arithmetic saturates: a hostile usage figure cannot wrap the budget.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct MicroDollars(pub u64);

impl MicroDollars {
    pub const ZERO: Self = Self(0);

    /// Rounds a dollar figure to the nearest micro-dollar; negative and non-finite figures count as zero.
    pub fn from_dollars(dollars: f64) -> Self {
        if dollars.is_finite() && dollars > 0.0 {
            Self((dollars * 1e6).round() as u64)
        } else {
            Self::ZERO
        }
    }

    /// The amount to as many places as it takes; a whole cent hides what a call costs.
    pub fn to_exact_string(self) -> String {
        let text = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        let (whole, fraction) = text.split_at(text.len() - 4);
        format!("${whole}{}", fraction.trim_end_matches('0'))
    }

    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for MicroDollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.0.saturating_add(5_000) / 10_000;
        write!(f, "${}.{:02}", cents / 100, cents % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_show_whole_cents() {
        assert_eq!(MicroDollars::from_dollars(0.62).to_string(), "$0.62");
        assert_eq!(MicroDollars(4_999).to_string(), "$0.00");
        assert_eq!(MicroDollars(5_000).to_string(), "$0.01");
        assert_eq!(MicroDollars(12_345_678).to_string(), "$12.35");
    }

    #[test]
    fn an_exact_amount_has_at_least_two_places_and_hides_nothing() {
        assert_eq!(MicroDollars(10_000).to_exact_string(), "$0.01");
        assert_eq!(MicroDollars(6_001).to_exact_string(), "$0.006001");
        assert_eq!(MicroDollars(2_000_000).to_exact_string(), "$2.00");
        assert_eq!(MicroDollars(1_230_400).to_exact_string(), "$1.2304");
    }

    #[test]
    fn absurd_amounts_saturate() {
        assert_eq!(MicroDollars::from_dollars(f64::NAN), MicroDollars::ZERO);
        assert_eq!(MicroDollars::from_dollars(-1.0), MicroDollars::ZERO);
        assert_eq!(MicroDollars(u64::MAX).saturating_add(MicroDollars(1)), MicroDollars(u64::MAX));
    }
}
