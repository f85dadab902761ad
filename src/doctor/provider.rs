//! Which provider would be used and why, whether it answers, what it can do and what it costs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::DoctorCheck;
use planwright_llm::cost::{Ledger, ModelPricing};
use planwright_llm::model_capability_cache;
use planwright_llm::protocol::{ModelDialogue, ProtocolDemotion};
use planwright_llm::provider::{
    ModelFactory, OFFLINE, OllamaProbe, ProviderChoice, ProviderContext, choose_provider,
};
use planwright_llm::{
    AnswerDelta, GenerateRequest, JsonSupport, LanguageModel, Message, ModelEffort, ModelError,
    ThinkingSupport,
};
use planwright_text::units;

/// Variables that lead requests through a proxy.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];

/// The most that one live call may write, thinking included.
const LIVE_TOKENS: u32 = 2_000;

/// Whether the provider is really asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeMode {
    No,
    /// A call for one word, and two small ones if it is not known what the model can do.
    Live,
}

/// All checks about models.
pub(crate) async fn check_models(
    models: &ModelFactory,
    env: &[(String, String)],
    asking: ProbeMode,
) -> Vec<DoctorCheck> {
    let names: BTreeSet<String> =
        env.iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name.clone()).collect();
    let named = models.settings().provider.value != "auto";
    let ollama = if named { OllamaProbe::NotAsked } else { models.probe_ollama().await };
    let situation = ProviderContext {
        settings: models.settings(),
        registry: models.registry(),
        env: &names,
        ollama: &ollama,
        interactive: true,
    };
    let choice = choose_provider(&situation);
    let mut checks = vec![check_provider(&choice)];
    checks.extend(
        choice
            .passed_over
            .iter()
            .map(|(name, why)| DoctorCheck::ok("skipped", format!("{name}: {why}"))),
    );
    if choice.provider != OFFLINE {
        checks.extend(check_model(models, &choice.provider, asking).await);
    }
    checks.push(check_proxy(env));
    checks.push(check_limits(models));
    checks.extend(models.settings().replaced.iter().map(|old| {
        let next = format!("rename it to {} in the config", old.by);
        DoctorCheck::warn("old setting", old.describe(), next)
    }));
    let as_of = &models.model_table().as_of;
    checks
        .push(DoctorCheck::ok("models known", format!("windows, limits and prices as of {as_of}")));
    checks
}

fn check_provider(choice: &ProviderChoice) -> DoctorCheck {
    if let Some(ask) = &choice.ask {
        let what = format!("the offline planner, because {}", choice.why);
        let next = format!(
            "to use it: --provider {0}, or consent = true under [providers.{0}] in the config",
            ask.provider
        );
        return DoctorCheck::warn("provider", what, next);
    }
    if choice.provider == OFFLINE {
        let what = format!("the offline planner, because {}", choice.why);
        let next = "it plans without a model; to use one, set a key or start a local server, then name it with --provider";
        return DoctorCheck { next: Some(next.to_owned()), ..DoctorCheck::ok("provider", what) };
    }
    DoctorCheck::ok("provider", format!("{}, {}", choice.provider, choice.why))
}

async fn check_model(models: &ModelFactory, provider: &str, asking: ProbeMode) -> Vec<DoctorCheck> {
    let name = models.settings().model.value.as_deref();
    let opened = match models.open_model(provider, name).await {
        Ok(opened) => opened,
        Err(error) => return vec![failed_check("model", &error)],
    };
    let dialogue = models.wrap_model(Arc::clone(&opened), Ledger::new());
    let mut checks =
        vec![describe_model(opened.as_ref()), check_price(opened.as_ref(), dialogue.pricing())];
    if asking == ProbeMode::Live {
        checks.extend(check_live_call(&dialogue).await);
    }
    checks.push(check_abilities(&dialogue, asking));
    checks.push(check_profile(models, &dialogue));
    checks.push(check_token_count(&dialogue));
    checks
}

fn failed_check(name: &str, error: &ModelError) -> DoctorCheck {
    DoctorCheck::fail(name, error.message.clone(), error.next_step.clone())
}

fn describe_model(model: &dyn LanguageModel) -> DoctorCheck {
    let info = model.info();
    let place = if info.local { "here" } else { "remote" };
    let window = info
        .context_window
        .map(|tokens| format!(", context of {} tokens", units::format_count(u64::from(tokens))))
        .unwrap_or_default();
    DoctorCheck::ok("model", format!("{} at {} ({place}){window}", info.model, info.host))
}

fn check_price(model: &dyn LanguageModel, pricing: ModelPricing) -> DoctorCheck {
    match pricing {
        ModelPricing::Free => DoctorCheck::ok("cost", "nothing, it runs here"),
        ModelPricing::Known(price) => {
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
            DoctorCheck::ok("cost", what)
        }
        ModelPricing::Unknown => {
            let what = "the price is unknown; tokens are counted, money is not";
            let next = format!(
                "set [prices.\"{}\"] with input and output in the config",
                model.info().model
            );
            DoctorCheck::warn("cost", what, next)
        }
    }
}

/// One word, streamed, to see whether anybody answers and how.
async fn check_live_call(dialogue: &ModelDialogue) -> Vec<DoctorCheck> {
    let mut request = GenerateRequest::new(vec![Message::user("Say yes.")]);
    // A model that thinks needs room for it before it can say anything.
    request.max_output_tokens = Some(LIVE_TOKENS);
    let pieces = Mutex::new(0u32);
    let count = |delta: AnswerDelta| {
        if matches!(delta, AnswerDelta::Text { .. } | AnswerDelta::Thinking { .. }) {
            *pieces.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
        }
    };
    let cancel = CancellationToken::new();
    match dialogue.ask_reply(&request, &count, &cancel).await {
        Err(error) => vec![failed_check("answers", &error)],
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
            let mut checks = vec![DoctorCheck::ok("answers", what)];
            if let Err(error) = dialogue.detect_capability(&cancel).await {
                checks.push(failed_check("abilities", &error));
            }
            checks
        }
    }
}

fn check_abilities(dialogue: &ModelDialogue, asking: ProbeMode) -> DoctorCheck {
    match dialogue.known_capability() {
        Some(known) => {
            let protocol = match (known.tools, known.json) {
                (true, _) => "tools",
                (false, JsonSupport::None) => "text",
                (false, _) => "json",
            };
            let what = format!("{known}; protocol {protocol}");
            match ProtocolDemotion::from_capability(known) {
                None => DoctorCheck::ok("abilities", what),
                Some(demotion) => {
                    let why = demotion.describe(dialogue.model().info().label());
                    let next = "if the model does call tools, set protocol = \"tools\"";
                    DoctorCheck::warn("abilities", format!("{what}: {why}"), next)
                }
            }
        }
        None if asking == ProbeMode::Live => {
            DoctorCheck::warn("abilities", "could not be found out", "see above")
        }
        None => DoctorCheck::ok("abilities", "not known yet; --live finds them out"),
    }
}

fn check_profile(models: &ModelFactory, dialogue: &ModelDialogue) -> DoctorCheck {
    let settings = models.settings();
    let profile = dialogue.profile().as_str();
    let effort = settings.effort.value.map_or("the provider's own", ModelEffort::as_str);
    let thinks = match dialogue.model().info().facts.thinking {
        ThinkingSupport::None => "no thinking known",
        ThinkingSupport::Optional => "can think",
        ThinkingSupport::Always => "always thinks",
    };
    let known = if dialogue.is_profile_unproven() {
        "; not tried yet, which happens before its first work"
    } else {
        ""
    };
    DoctorCheck::ok("profile", format!("{profile} ({thinks}; effort: {effort}{known})"))
}

fn check_token_count(dialogue: &ModelDialogue) -> DoctorCheck {
    let calibration = dialogue.cache_entry().calibration;
    if calibration.samples == 0 {
        let what = "tokens are estimated; nothing was reported yet to compare with";
        return DoctorCheck::ok("token count", what);
    }
    let answers = if calibration.samples == 1 { "answer" } else { "answers" };
    let what = format!(
        "estimates are off by {:.0} % on average over {} {answers} (corrected by {:.2}, {})",
        calibration.error * 100.0,
        calibration.samples,
        calibration.ratio,
        model_capability_cache::model_cache_key(dialogue.model().info())
    );
    DoctorCheck::ok("token count", what)
}

fn check_proxy(env: &[(String, String)]) -> DoctorCheck {
    let mut found = Vec::new();
    for (name, value) in env {
        if PROXIES.contains(&name.to_ascii_uppercase().as_str()) && !value.is_empty() {
            found.push(format!("{name}={}", redact_password(value)));
        }
    }
    if found.is_empty() {
        return DoctorCheck::ok("proxy", "none; models are reached directly");
    }
    let what = format!(
        "{}; models are reached through it, servers on this machine are not",
        found.join(", ")
    );
    DoctorCheck::ok("proxy", what)
}

fn redact_password(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://"));
            format!("{}[redacted]@{host}", scheme.unwrap_or_default())
        }
        None => address.to_owned(),
    }
}

fn check_limits(models: &ModelFactory) -> DoctorCheck {
    let limits = models.limits();
    DoctorCheck::ok(
        "limits",
        format!(
            "connect {} s, one call {} s, {} MB; outages are waited for up to {} min",
            limits.connect.as_secs(),
            limits.call.as_secs(),
            limits.answer_bytes >> 20,
            models.settings().outage_wait_min.value
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_proxy_is_not_shown() {
        let env = |value: &str| vec![("https_proxy".to_owned(), value.to_owned())];
        let check = check_proxy(&env("http://me:hush@proxy.test:3128"));
        assert!(
            check.what.starts_with("https_proxy=http://[redacted]@proxy.test:3128"),
            "{}",
            check.what
        );
        assert!(check_proxy(&env("http://proxy.test")).what.contains("http://proxy.test"));
        assert!(check_proxy(&[]).what.starts_with("none"));
    }
}
