//! Money: estimated before a call, booked after it, never beyond a cap.

use planwright_llm::cost::{BudgetCeiling, Ledger, ModelPricing};
use planwright_llm::ignore_deltas;
use planwright_llm::settings::PriceSettings;
use planwright_model::MicroDollars;
use planwright_model::setting::{SettingOrigin, SourcedSetting};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::question;
use super::server::{Act, Server};
use super::wire::{self, Format};

/// Ten dollars per million tokens: a thousandth of a cent each.
fn priced(server: &Server) -> planwright_llm::provider::ModelFactory {
    let mut settings = wire::settings(Format::OpenAi, server);
    let value = PriceSettings { input: 10.0, output: 10.0, cached: None, cache_write: None };
    settings.prices.insert("m".into(), SourcedSetting { value, origin: SettingOrigin::BuiltIn });
    let (limits, retry) = wire::quick();
    wire::models_with(settings, limits, retry)
}

#[tokio::test]
async fn a_cap_of_a_cent_is_never_exceeded_and_names_itself() {
    let answer = json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 200}});
    let server = Server::start(vec![Act::json(&answer)]).await;
    let models = priced(&server);
    let ledger = Ledger::new();
    ledger.set_limit(BudgetCeiling::Session, Some(10_000));
    let dialogue = models
        .wrap_model(models.open_model("mock", None).await.unwrap(), std::sync::Arc::clone(&ledger));
    let mut request = question();
    request.max_output_tokens = Some(300);
    let cancel = CancellationToken::new();
    let mut made = 0;
    let error = loop {
        match dialogue.ask_reply(&request, &ignore_deltas, &cancel).await {
            Ok(reply) => {
                assert_eq!(
                    reply.cost.money,
                    Some(MicroDollars(3_000)),
                    "what was reported is what is booked"
                );
                made += 1;
            }
            Err(error) => break error,
        }
    };
    assert_eq!((error.code.as_str(), made), ("cap_reached", 3));
    assert!(error.message.contains("$0.01 is used"), "{}", error.message);
    assert!(ledger.amount_spent(BudgetCeiling::Session) <= 10_000);
    assert_eq!(server.requests().len(), made, "the call that could exceed it was not made");
    ledger.set_limit(BudgetCeiling::Session, Some(20_000));
    assert!(
        dialogue.ask_reply(&request, &ignore_deltas, &cancel).await.is_ok(),
        "raised, it goes on"
    );
}

#[tokio::test]
async fn asking_again_is_paid_for_and_stopped_by_the_cap_as_well() {
    let answer = json!({"choices": [{"message": {"content": "no json"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 100}});
    let server = Server::start(vec![Act::json(&answer)]).await;
    let models = priced(&server);
    let ledger = Ledger::new();
    ledger.set_limit(BudgetCeiling::Day, Some(5_000));
    let dialogue = models
        .wrap_model(models.open_model("mock", None).await.unwrap(), std::sync::Arc::clone(&ledger));
    let mut request = question();
    request.max_output_tokens = Some(300);
    request.output_schema = Some(planwright_llm::OutputSchema::new("x", json!({"type": "object"})));
    let error =
        dialogue.ask_json(&request, &ignore_deltas, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, "cap_reached", "{error:?}");
    assert!(error.message.contains("is used"));
    assert_eq!((server.requests().len(), ledger.amount_spent(BudgetCeiling::Day)), (1, 2_000));
}

#[tokio::test]
async fn a_paid_answer_always_has_a_limit() {
    let server = Server::start(vec![Format::OpenAi.complete_text("ok")]).await;
    let cancel = CancellationToken::new();
    let free = wire::models(Format::OpenAi, &server);
    for models in [free, priced(&server)] {
        let model = models.open_model("mock", None).await.unwrap();
        let dialogue = models.wrap_model(model, Ledger::new());
        dialogue.ask_reply(&question(), &ignore_deltas, &cancel).await.unwrap();
    }
    let limits: Vec<_> = server.bodies().iter().map(|body| body["max_tokens"].clone()).collect();
    assert_eq!(limits, [json!(null), json!(4096)], "what is free may be long");
}

#[tokio::test]
async fn a_local_model_costs_nothing_unless_configured() {
    let server = Server::start(vec![Act::Reset]).await;
    let plain = wire::models(Format::OpenAi, &server);
    let model = plain.open_model("mock", None).await.unwrap();
    assert!(model.info().local);
    assert_eq!(plain.model_pricing(model.info()), ModelPricing::Free);
    assert!(matches!(priced(&server).model_pricing(model.info()), ModelPricing::Known(_)));
    let mut remote = model.info().clone();
    remote.local = false;
    assert_eq!(plain.model_pricing(&remote), ModelPricing::Unknown);
    (remote.provider, remote.model) = ("anthropic".into(), "claude-sonnet-4-5-20250929".into());
    assert!(matches!(plain.model_pricing(&remote), ModelPricing::Known(_)));
}
