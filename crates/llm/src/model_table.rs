//! What is known about models by name: one dated table of windows, limits, thinking, tool calling and prices.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::cost::{Price, TokenRates};
use planwright_model::AgentProfile;

const BUILT_IN: &str = include_str!("../../../assets/models.toml");

/// Whether a model thinks before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingSupport {
    #[default]
    None,
    /// It thinks when it is asked to.
    Optional,
    /// It cannot be kept from thinking.
    Always,
}

/// How a provider is asked to let a model think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingControl {
    /// The model decides; an effort steers it.
    #[default]
    Adaptive,
    /// A number of tokens.
    Budget,
    /// One of the provider's words.
    Level,
}

/// How well a model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallQuality {
    Strong,
    Fair,
    Weak,
}

/// Which of its interfaces a provider serves a model by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelApi {
    #[default]
    Chat,
    Responses,
}

/// What is known about one model. Everything is absent for a model that nobody has described.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelFacts {
    /// The name on screens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// The most tokens of one answer, thinking included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u32>,
    pub thinking: ThinkingSupport,
    pub control: ThinkingControl,
    /// The provider's own words for how much a model thinks, from least to most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolCallQuality>,
    pub api: ModelApi,
}

impl ModelFacts {
    /// The profile that follows from how well the model calls tools; `None` if nobody knows.
    pub fn profile(&self) -> Option<AgentProfile> {
        self.tools.map(|quality| match quality {
            ToolCallQuality::Strong => AgentProfile::Large,
            ToolCallQuality::Fair | ToolCallQuality::Weak => AgentProfile::Small,
        })
    }
}

/// The built-in table.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTable {
    /// The date on which the facts were looked up.
    pub as_of: String,
    rows: Vec<ModelRow>,
}

#[derive(Clone, Debug, PartialEq)]
struct ModelRow {
    /// None for open models, which anybody serves.
    provider: Option<String>,
    name: String,
    facts: ModelFacts,
    price: Option<Price>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelTableFile {
    as_of: String,
    model: Vec<ModelRowFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelRowFile {
    provider: Option<String>,
    name: String,
    label: String,
    window: u32,
    output: u32,
    thinking: ThinkingSupport,
    #[serde(default)]
    control: ThinkingControl,
    #[serde(default)]
    efforts: Vec<String>,
    tools: ToolCallQuality,
    #[serde(default)]
    api: ModelApi,
    price: Option<PriceFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
    long: Option<LongPriceFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongPriceFile {
    after: u64,
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
}

impl ModelTable {
    /// The table that is built in, parsed on first use: most sessions without a model never need it.
    pub fn built_in() -> &'static Self {
        static TABLE: LazyLock<ModelTable> = LazyLock::new(|| {
            ModelTable::parse(BUILT_IN).expect("the table is well formed, which a test checks")
        });
        &TABLE
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let file: ModelTableFile = toml::from_str(text)?;
        Ok(Self { as_of: file.as_of, rows: file.model.into_iter().map(row_from_file).collect() })
    }

    /// Finds the price of a model by name at its own provider.
    pub fn find_price(&self, provider: &str, model: &str) -> Option<Price> {
        let here = |row: &&ModelRow| row.provider.as_deref() == Some(provider);
        let fits =
            |row: &&ModelRow| model.strip_prefix(row.name.as_str()).is_some_and(is_version_suffix);
        let rows = self.rows.iter().filter(here).filter(fits);
        rows.max_by_key(|row| row.name.len()).and_then(|row| row.price)
    }

    /// Finds the facts of a model, whoever serves it. Resellers put the maker before the name and write versions with
    /// dots.
    pub fn find_facts(&self, model: &str) -> Option<&ModelFacts> {
        let plain = |name: &str| name.to_ascii_lowercase().replace('.', "-");
        let asked = plain(model.rsplit('/').next().unwrap_or(model));
        let fits = |row: &&ModelRow| {
            asked.strip_prefix(plain(&row.name).as_str()).is_some_and(is_version_suffix)
        };
        let rows = self.rows.iter().filter(fits);
        rows.max_by_key(|row| row.name.len()).map(|row| &row.facts)
    }
}

fn row_from_file(row: ModelRowFile) -> ModelRow {
    let rates = |price: &PriceFile| {
        TokenRates::from_dollars(price.input, price.output, price.cached, price.cache_write)
    };
    ModelRow {
        provider: row.provider,
        name: row.name,
        price: row.price.map(|price| Price {
            rates: rates(&price),
            long: price.long.map(|long| {
                let PriceFile { input, output, cached, cache_write, .. } = long.as_price();
                (long.after, TokenRates::from_dollars(input, output, cached, cache_write))
            }),
        }),
        facts: ModelFacts {
            label: Some(row.label),
            window: Some(row.window),
            output: Some(row.output),
            thinking: row.thinking,
            control: row.control,
            efforts: row.efforts,
            tools: Some(row.tools),
            api: row.api,
        },
    }
}

impl LongPriceFile {
    fn as_price(&self) -> PriceFile {
        let Self { input, output, cached, cache_write, .. } = *self;
        PriceFile { input, output, cached, cache_write, long: None }
    }
}

/// `gpt-4o-2024-08-06` is `gpt-4o`; `gpt-4o-mini` is not.
fn is_version_suffix(rest: &str) -> bool {
    rest.is_empty()
        || rest == "-latest"
        || rest == "-preview"
        || (rest.starts_with(['-', '@'])
            && rest.len() >= 5
            && rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'@')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TokenUsage;
    use planwright_model::MicroDollars;

    #[test]
    fn the_table_is_dated_and_every_model_has_a_plausible_row() {
        let table = ModelTable::built_in();
        assert!(table.as_of.parse::<jiff::civil::Date>().is_ok());
        for row in &table.rows {
            let (window, output) = (row.facts.window.unwrap(), row.facts.output.unwrap());
            assert!(output >= 4_096 && window > output, "{}", row.name);
            let thinks = row.facts.thinking != ThinkingSupport::None;
            assert!(thinks || row.facts.efforts.is_empty(), "{}", row.name);
            if let Some(price) = row.price {
                assert!(price.rates.output > price.rates.input, "{}", row.name);
                assert!(price.rates.cached.is_none_or(|cached| cached < price.rates.input));
            }
        }
    }

    #[test]
    fn a_price_is_found_at_its_provider_under_the_name_or_a_dated_one() {
        let table = ModelTable::built_in();
        let input =
            |provider, model| table.find_price(provider, model).map(|price| price.rates.input);
        assert_eq!(input("openai", "gpt-4o"), Some(2_500_000));
        assert_eq!(input("openai", "gpt-4o-2024-08-06"), Some(2_500_000));
        assert_eq!(input("openai", "gpt-4o-mini"), Some(150_000));
        assert_eq!(input("openai", "gpt-4o-audio"), None);
        assert_eq!(input("anthropic", "claude-sonnet-4-5@20250929"), Some(3_000_000));
        assert_eq!(input("openrouter", "openai/gpt-4o"), None, "a reseller has its own prices");
        let long = table.find_price("openai", "gpt-6.1-sol").unwrap();
        let usage = TokenUsage::from_counts(300_000, 0);
        assert_eq!(long.usage_cost(&usage), MicroDollars(1_200_000));
    }

    #[test]
    fn facts_hold_wherever_a_model_is_served() {
        let table = ModelTable::built_in();
        let label = |model: &str| {
            table.find_facts(model).and_then(|facts| facts.label.as_deref()).unwrap_or("?")
        };
        assert_eq!(label("claude-sonnet-4-5"), "Sonnet 4.5");
        assert_eq!(label("anthropic/claude-sonnet-4.5"), "Sonnet 4.5");
        assert_eq!(label("claude-sonnet-4-5-20250929"), "Sonnet 4.5");
        assert_eq!(label("openai/gpt-5.4-mini"), "GPT-5.4 mini");
        assert_eq!(label("gpt-oss:20b"), "gpt-oss 20B");
        assert_eq!(label("qwen2.5-coder-1.5b"), "?");
        let profile = |model: &str| table.find_facts(model).and_then(ModelFacts::profile);
        assert_eq!(profile("gpt-6.1-sol"), Some(AgentProfile::Large));
        assert_eq!(profile("gpt-oss:20b"), Some(AgentProfile::Small));
        assert_eq!(profile("smollm2"), None);
    }
}
