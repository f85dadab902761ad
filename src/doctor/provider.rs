//! Which provider would be used and why, whether it answers, what it can do and what it costs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::Check;
use planwright_llm::cost::{Ledger, Pricing};
use planwright_llm::notebook;
use planwright_llm::protocol::Dialogue;
use planwright_llm::provider::{Choice, Models, OFFLINE, OllamaProbe, Situation, choose};
use planwright_llm::{Delta, GenerateRequest, JsonSupport, LanguageModel, Message, ModelError};
use planwright_text::units;

/// Variables that lead requests through a proxy.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];

/// Whether the provider is really asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    No,
    /// A call of one token, and two small ones if it is not known what the model can do.
    Live,
}

/// All checks about models.
pub async fn checks(models: &Models, env: &[(String, String)], asking: Asking) -> Vec<Check> {
    let names: BTreeSet<String> =
        env.iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name.clone()).collect();
    let named = models.settings().provider.value != "auto";
    let ollama = if named { OllamaProbe::NotAsked } else { models.probe_ollama().await };
    let situation = Situation {
        settings: models.settings(),
        registry: models.registry(),
        env: &names,
        ollama: &ollama,
        interactive: true,
    };
    let choice = choose(&situation);
    let mut checks = vec![provider(&choice)];
    checks.extend(
        choice
            .passed_over
            .iter()
            .map(|(name, why)| Check::ok("passed over", format!("{name}: {why}"))),
    );
    if choice.provider != OFFLINE {
        checks.extend(model(models, &choice.provider, asking).await);
    }
    checks.push(network(env));
    checks.push(limits(models));
    checks.push(Check::ok("prices", format!("as of {}", models.prices().as_of)));
    checks
}

fn provider(choice: &Choice) -> Check {
    if let Some(ask) = &choice.ask {
        let what = format!("the offline planner, because {}", choice.why);
        let next = format!(
            "to use it: --provider {0}, or consent = true under [providers.{0}] in the config",
            ask.provider
        );
        return Check::warn("provider", what, next);
    }
    if choice.provider == OFFLINE {
        let what = format!("the offline planner, because {}", choice.why);
        let next = "it plans without a model; to use one, set a key or start a local server, then name it with --provider";
        return Check { next: Some(next.to_owned()), ..Check::ok("provider", what) };
    }
    Check::ok("provider", format!("{}, {}", choice.provider, choice.why))
}

async fn model(models: &Models, provider: &str, asking: Asking) -> Vec<Check> {
    let name = models.settings().model.value.as_deref();
    let opened = match models.open(provider, name).await {
        Ok(opened) => opened,
        Err(error) => return vec![failed("model", &error)],
    };
    let dialogue = models.talk_to(Arc::clone(&opened), Ledger::new());
    let mut checks = vec![description(opened.as_ref()), price(opened.as_ref(), dialogue.pricing())];
    if asking == Asking::Live {
        checks.extend(live(&dialogue).await);
    }
    checks.push(abilities(&dialogue, asking));
    checks.push(counting(&dialogue));
    checks
}

fn failed(name: &str, error: &ModelError) -> Check {
    Check::fail(name, error.message.clone(), error.next_step.clone())
}

fn description(model: &dyn LanguageModel) -> Check {
    let info = model.info();
    let place = if info.local { "here" } else { "remote" };
    let window = info
        .context_window
        .map(|tokens| format!(", context of {} tokens", units::count(u64::from(tokens))))
        .unwrap_or_default();
    Check::ok("model", format!("{} at {} ({place}){window}", info.model, info.host))
}

fn price(model: &dyn LanguageModel, pricing: Pricing) -> Check {
    match pricing {
        Pricing::Free => Check::ok("cost", "nothing, it runs here"),
        Pricing::Known(price) => {
            let dollars = |micros: u64| format!("${}", micros as f64 / 1e6);
            let rates = price.rates;
            let cached = rates
                .cached
                .map(|cached| format!(", cached {}", dollars(cached)))
                .unwrap_or_default();
            let what = format!(
                "input {}, output {}{cached} for a million tokens",
                dollars(rates.input),
                dollars(rates.output)
            );
            Check::ok("cost", what)
        }
        Pricing::Unknown => {
            let what = "the price is unknown; tokens are counted, money is not";
            let next = format!(
                "set [prices.\"{}\"] with input and output in the config",
                model.info().model
            );
            Check::warn("cost", what, next)
        }
    }
}

/// One token, streamed, to see whether anybody answers and how.
async fn live(dialogue: &Dialogue) -> Vec<Check> {
    let mut request = GenerateRequest::new(vec![Message::user("Say yes.")]);
    request.max_output_tokens = Some(1);
    let pieces = Mutex::new(0u32);
    let count = |delta: Delta| {
        if matches!(delta, Delta::Text { .. } | Delta::Thinking { .. }) {
            *pieces.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
        }
    };
    let cancel = CancellationToken::new();
    match dialogue.reply(&request, &count, &cancel).await {
        Err(error) => vec![failed("answers", &error)],
        Ok(reply) => {
            let pieces = *pieces.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let how = if pieces > 0 { "streamed" } else { "in one piece" };
            let usage = reply.cost.usage;
            let counted = if reply.cost.estimated { "estimated" } else { "reported" };
            let what = format!(
                "yes, {how}; {} tokens in, {} out ({counted}), as {}",
                usage.input.unwrap_or(0),
                usage.output.unwrap_or(0),
                reply.model
            );
            let mut checks = vec![Check::ok("answers", what)];
            if let Err(error) = dialogue.find_out(&cancel).await {
                checks.push(failed("abilities", &error));
            }
            checks
        }
    }
}

fn abilities(dialogue: &Dialogue, asking: Asking) -> Check {
    match dialogue.known() {
        Some(known) => {
            let protocol = match (known.tools, known.json) {
                (true, _) => "tools",
                (false, JsonSupport::None) => "text",
                (false, _) => "json",
            };
            Check::ok("abilities", format!("{known}; protocol {protocol}"))
        }
        None if asking == Asking::Live => {
            Check::warn("abilities", "could not be found out", "see above")
        }
        None => Check::ok("abilities", "not known yet; --live finds them out"),
    }
}

fn counting(dialogue: &Dialogue) -> Check {
    let calibration = dialogue.notes().calibration;
    if calibration.samples == 0 {
        let what = "tokens are estimated; nothing was reported yet to compare with";
        return Check::ok("token count", what);
    }
    let answers = if calibration.samples == 1 { "answer" } else { "answers" };
    let what = format!(
        "estimates are off by {:.0} % on average over {} {answers} (corrected by {:.2}, {})",
        calibration.error * 100.0,
        calibration.samples,
        calibration.ratio,
        notebook::key(dialogue.model().info())
    );
    Check::ok("token count", what)
}

fn network(env: &[(String, String)]) -> Check {
    let mut found = Vec::new();
    for (name, value) in env {
        if PROXIES.contains(&name.to_ascii_uppercase().as_str()) && !value.is_empty() {
            found.push(format!("{name}={}", without_password(value)));
        }
    }
    if found.is_empty() {
        return Check::ok("proxy", "none; models are reached directly");
    }
    let what = format!(
        "{}; models are reached through it, servers on this machine are not",
        found.join(", ")
    );
    Check::ok("proxy", what)
}

fn without_password(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://"));
            format!("{}[redacted]@{host}", scheme.unwrap_or_default())
        }
        None => address.to_owned(),
    }
}

fn limits(models: &Models) -> Check {
    let limits = models.limits();
    Check::ok(
        "limits",
        format!(
            "connect {} s, first answer {} s, silence {} s, whole call {} s, {} MB",
            limits.connect.as_secs(),
            limits.first_byte.as_secs(),
            limits.idle.as_secs(),
            limits.total.as_secs(),
            limits.answer_bytes >> 20
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_proxy_is_not_shown() {
        let env = |value: &str| vec![("https_proxy".to_owned(), value.to_owned())];
        let check = network(&env("http://me:hush@proxy.test:3128"));
        assert!(
            check.what.starts_with("https_proxy=http://[redacted]@proxy.test:3128"),
            "{}",
            check.what
        );
        assert!(network(&env("http://proxy.test")).what.contains("http://proxy.test"));
        assert!(network(&[]).what.starts_with("none"));
    }
}
