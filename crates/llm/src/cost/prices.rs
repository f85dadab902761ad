//! What tokens cost. The built-in table is dated; the config goes before it; unknown models count tokens only.

use serde::{Deserialize, Serialize};

use crate::Usage;
use planwright_model::MicroDollars;

const BUILT_IN: &str = include_str!("../../../../assets/prices.toml");

const MILLION: u128 = 1_000_000;

/// Micro-dollars for a million tokens of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    pub input: u64,
    pub output: u64,
    /// Input read from the provider's cache; as other input where it is not given.
    pub cached: Option<u64>,
    /// Input written to the provider's cache; as other input where it is not given.
    pub cache_write: Option<u64>,
}

impl Rates {
    /// From dollars for a million tokens, the way providers print it.
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
    pub rates: Rates,
    /// Other rates for prompts of more than so many tokens.
    pub long: Option<(u64, Rates)>,
}

impl Price {
    pub fn flat(rates: Rates) -> Self {
        Self { rates, long: None }
    }

    /// What a usage costs, rounded up. Figures of any size saturate.
    pub fn cost(&self, usage: &Usage) -> MicroDollars {
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
pub enum Pricing {
    /// It runs here.
    Free,
    Known(Price),
    /// Tokens are counted; money is not known.
    Unknown,
}

impl Pricing {
    pub fn cost(&self, usage: &Usage) -> Option<MicroDollars> {
        match self {
            Self::Free => Some(MicroDollars::ZERO),
            Self::Known(price) => Some(price.cost(usage)),
            Self::Unknown => None,
        }
    }
}

/// The built-in prices.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceTable {
    /// When the prices were looked up.
    pub as_of: String,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    provider: String,
    model: String,
    price: Price,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    as_of: String,
    price: Vec<RowFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    provider: String,
    model: String,
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
    long: Option<LongFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongFile {
    after: u64,
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
}

impl PriceTable {
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).expect("the built-in price table is well formed, which a test checks")
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let file: TableFile = toml::from_str(text)?;
        let rows = file.price.into_iter().map(|row| Row {
            price: Price {
                rates: Rates::from_dollars(row.input, row.output, row.cached, row.cache_write),
                long: row.long.map(|long| {
                    (
                        long.after,
                        Rates::from_dollars(long.input, long.output, long.cached, long.cache_write),
                    )
                }),
            },
            provider: row.provider,
            model: row.model,
        });
        Ok(Self { as_of: file.as_of, rows: rows.collect() })
    }

    /// The price of a model by its name; a dated or suffixed name counts as the model it begins with.
    pub fn price(&self, provider: &str, model: &str) -> Option<Price> {
        let fits = |row: &&Row| {
            row.provider == provider
                && model.strip_prefix(row.model.as_str()).is_some_and(is_only_a_date)
        };
        self.rows.iter().filter(fits).max_by_key(|row| row.model.len()).map(|row| row.price)
    }
}

/// `gpt-4o-2024-08-06` is priced as `gpt-4o`, and `gpt-4o-mini` is not.
fn is_only_a_date(rest: &str) -> bool {
    rest.is_empty()
        || rest == "-latest"
        || (rest.starts_with(['-', '@'])
            && rest.len() >= 5
            && rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'@')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_reads_and_prices_make_sense() {
        let table = PriceTable::built_in();
        assert!(table.as_of.parse::<jiff::civil::Date>().is_ok(), "{}", table.as_of);
        for row in &table.rows {
            assert!(row.price.rates.output >= row.price.rates.input, "{}", row.model);
            assert!(
                row.price.rates.cached.is_none_or(|cached| cached <= row.price.rates.input),
                "{}",
                row.model
            );
        }
    }

    #[test]
    fn dated_names_are_priced_as_their_model_and_others_are_not() {
        let row = |model: &str, input| Row {
            provider: "p".into(),
            model: model.into(),
            price: Price::flat(Rates { input, output: 9, cached: None, cache_write: None }),
        };
        let table =
            PriceTable { as_of: String::new(), rows: vec![row("big", 5), row("big-mini", 1)] };
        let input = |model| table.price("p", model).map(|price| price.rates.input);
        assert_eq!(input("big"), Some(5));
        assert_eq!(input("big-2026-01-31"), Some(5));
        assert_eq!(input("big-20260131"), Some(5));
        assert_eq!(input("big-latest"), Some(5));
        assert_eq!(input("big-mini-2026-01-31"), Some(1));
        assert_eq!(input("big-huge"), None);
        assert_eq!(input("bigger"), None);
        assert_eq!(table.price("q", "big"), None);
    }

    #[test]
    fn costs_are_exact_rounded_up_and_saturate() {
        let rates = Rates::from_dollars(3.0, 15.0, Some(0.3), Some(3.75));
        let price = Price::flat(rates);
        assert_eq!(price.cost(&Usage::of(1000, 100)), MicroDollars(4_500));
        let cached = Usage { cached: Some(800), cache_written: Some(100), ..Usage::of(1000, 0) };
        assert_eq!(price.cost(&cached), MicroDollars(300 + 240 + 375));
        assert_eq!(
            price.cost(&Usage { cached: Some(1), ..Usage::of(1, 0) }),
            MicroDollars(1),
            "rounded up"
        );
        assert_eq!(price.cost(&Usage::of(u64::MAX, u64::MAX)), MicroDollars(u64::MAX));
        let absurd = Usage { cached: Some(u64::MAX), ..Usage::of(10, 0) };
        assert_eq!(price.cost(&absurd), MicroDollars(3), "no more is cached than was read");
        let long = Price { long: Some((1000, Rates { input: 9_000_000, ..rates })), ..price };
        assert_eq!(long.cost(&Usage::of(1000, 0)), MicroDollars(3_000));
        assert_eq!(long.cost(&Usage::of(1001, 0)), MicroDollars(9_009), "long prompts cost more");
        assert_eq!(Pricing::Free.cost(&Usage::of(9, 9)), Some(MicroDollars::ZERO));
        assert_eq!(Pricing::Unknown.cost(&Usage::of(9, 9)), None);
    }
}
