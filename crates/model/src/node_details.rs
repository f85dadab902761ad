//! What a task costs, and who answers for it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What a task costs, apart from time: an amount with its currency, written as `120 EUR` or `12.50 USD`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String", extend("pattern" = r"^\d+(\.\d{1,2})? [A-Z]{3}$"))]
pub struct TaskCost {
    /// In hundredths of the currency.
    pub hundredths: u64,
    /// Three capital letters, as in ISO 4217.
    pub currency: String,
}

impl fmt::Display for TaskCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hundredths % 100 {
            0 => write!(f, "{} {}", self.hundredths / 100, self.currency),
            part => write!(f, "{}.{part:02} {}", self.hundredths / 100, self.currency),
        }
    }
}

impl FromStr for TaskCost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || format!("\"{text}\" is not an amount such as \"120 EUR\" or \"12.50 USD\"");
        let (amount, currency) = text.trim().split_once(' ').ok_or_else(fault)?;
        let currency = currency.trim();
        let (whole, part) = amount.split_once('.').unwrap_or((amount, "0"));
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let known = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
        if !known || !digits(whole) || !digits(part) || part.len() > 2 {
            return Err(fault());
        }
        let hundredths = format!("{part:0<2}")
            .parse::<u64>()
            .ok()
            .and_then(|part| whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part));
        Ok(Self { hundredths: hundredths.ok_or_else(fault)?, currency: currency.to_owned() })
    }
}

impl Serialize for TaskCost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskCost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Returns the name of somebody other than the person. An empty owner, "me" and "you" all mean the person.
pub fn other_person(owner: &str) -> Option<&str> {
    let owner = owner.trim();
    let own = ["", "me", "you", "myself", "i"];
    (!own.iter().any(|word| owner.eq_ignore_ascii_case(word))).then_some(owner)
}

/// Returns whether a name stands for everybody who works on the plan.
pub fn is_everybody(name: &str) -> bool {
    ["everybody", "everyone", "all"].iter().any(|word| name.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_an_amount_with_its_currency() {
        for (text, hundredths) in [("120 EUR", 12_000), ("12.50 USD", 1_250), ("0.05 GBP", 5)] {
            let cost: TaskCost = text.parse().unwrap();
            assert_eq!((cost.hundredths, cost.to_string()), (hundredths, text.to_owned()));
        }
        assert_eq!("12.5 USD".parse::<TaskCost>().unwrap().to_string(), "12.50 USD");
        for text in
            ["", "12", "EUR 12", "12 eur", "1.234 EUR", "-3 EUR", "99999999999999999999 EUR"]
        {
            assert!(text.parse::<TaskCost>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_person_owns_what_names_nobody_else() {
        assert_eq!(other_person(" Anna "), Some("Anna"));
        assert!(["", "me", "You", " "].iter().all(|owner| other_person(owner).is_none()));
    }
}
