//! A model together with the protocol used to talk to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::answer_check::{self, AnswerProblems};
use super::protocol_deltas::ProtocolDeltas;
use super::reply_types::{
    AnswerNote, AnswerProtocol, JsonAnswer, ModelReply, ProtocolChoice, RequestDefaults,
};
use super::{capability_probe, json_protocol, text_protocol};
use crate::cost::{self, CallCost, CostEstimate, Ledger, ModelPricing, SpendingPurpose, tokens};
use crate::model_capability_cache::{
    self, CapabilityCacheEntry, MemoryCapabilityCache, ModelCapabilityCache,
};
use crate::thinking::thinking_room;
use crate::{
    AnswerDelta, DeltaSink, GenerateRequest, GeneratedAnswer, LanguageModel, Message, MessageRole,
    ModelCapability, ModelEffort, ModelError, ToolChoice,
};
use planwright_model::{AgentProfile, Category, Digest, ProfileChoice};

/// The code of the note about implausibly large figures from a provider.
pub const USAGE_CLAMPED: &str = "usage_clamped";

/// The code of the note that a server refused tools, so that another protocol is used.
pub const PROTOCOL_CHANGED: &str = "protocol_changed";

/// The output limit of a strong model when neither the request nor the person sets one.
const LARGE_OUTPUT_TOKENS: u32 = 8_192;

/// A model, its protocol, its price, and the ledger its calls are charged to.
#[derive(Debug)]
pub struct ModelDialogue {
    model: Arc<dyn LanguageModel>,
    choice: ProtocolChoice,
    profile: ProfileChoice,
    effort: Option<ModelEffort>,
    request_defaults: RequestDefaults,
    pricing: ModelPricing,
    ledger: Arc<Ledger>,
    purpose: SpendingPurpose,
    capability_cache: Arc<dyn ModelCapabilityCache>,
    cache_entry: Mutex<CapabilityCacheEntry>,
    /// What is assumed after probes that were cut off, for as long as the process lives.
    assumed_capability: Mutex<Option<ModelCapability>>,
    /// Held while capabilities are detected, so that concurrent calls pay for the detection once.
    detection_lock: tokio::sync::Mutex<()>,
    /// Whether a note about impossible figures was already made.
    noted_usage: AtomicBool,
}

/// The result of detecting a model's capabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectedCapability {
    pub capability: ModelCapability,
    /// Why a lesser protocol than native tool calls is used, if one is; for people.
    pub demotion: Option<ProtocolDemotion>,
    /// Zero if the capabilities were already known.
    pub cost: CallCost,
}

/// A model is talked to in a lesser protocol than its provider's own tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolDemotion {
    pub to: AnswerProtocol,
}

impl ProtocolDemotion {
    /// What follows from the capabilities of a model; `None` if it calls tools natively.
    pub fn from_capability(capability: ModelCapability) -> Option<Self> {
        let to = best_protocol(capability);
        (to != AnswerProtocol::Tools).then_some(Self { to })
    }

    /// Says it in a sentence.
    pub fn describe(self, model: &str) -> String {
        let how = match self.to {
            AnswerProtocol::Tools => "its own tool calls",
            AnswerProtocol::Json => "JSON answers (protocol json)",
            AnswerProtocol::Text => "plain text (protocol text)",
        };
        format!("{model} made no native tool call when it was asked to; {how} are used instead")
    }
}

/// An answer as it came, with the protocol it is written in.
pub(super) struct RawTurn {
    pub(super) generated: GeneratedAnswer,
    pub(super) protocol: AnswerProtocol,
    pub(super) notes: Vec<AnswerNote>,
    pub(super) cost: CallCost,
}

impl ModelDialogue {
    /// Creates a dialogue in the best protocol the model supports, whose calls are free.
    pub fn new(model: Arc<dyn LanguageModel>) -> Self {
        Self {
            model,
            choice: ProtocolChoice::Auto,
            profile: ProfileChoice::Auto,
            effort: None,
            request_defaults: RequestDefaults::default(),
            pricing: ModelPricing::Free,
            ledger: Ledger::new(),
            purpose: SpendingPurpose::default(),
            capability_cache: Arc::new(MemoryCapabilityCache::default()),
            cache_entry: Mutex::default(),
            assumed_capability: Mutex::default(),
            detection_lock: tokio::sync::Mutex::default(),
            noted_usage: AtomicBool::new(false),
        }
    }

    pub fn with_protocol(mut self, choice: ProtocolChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Sets how much freedom the person wants the model to have.
    pub fn with_profile(mut self, profile: ProfileChoice) -> Self {
        self.profile = profile;
        self
    }

    /// Sets how much the model is to think.
    pub fn with_effort(mut self, effort: Option<ModelEffort>) -> Self {
        self.effort = effort;
        self
    }

    /// Applies the options of a role.
    pub(crate) fn with_request_defaults(mut self, defaults: RequestDefaults) -> Self {
        self.request_defaults = defaults;
        self
    }

    /// Charges calls at these prices to this ledger, which may refuse them.
    pub fn with_pricing(mut self, pricing: ModelPricing, ledger: Arc<Ledger>) -> Self {
        (self.pricing, self.ledger) = (pricing, ledger);
        self
    }

    /// Sets what the calls are made for.
    pub fn with_purpose(mut self, purpose: SpendingPurpose) -> Self {
        self.purpose = purpose;
        self
    }

    /// Caches what is learned about the model.
    pub fn with_capability_cache(mut self, cache: Arc<dyn ModelCapabilityCache>) -> Self {
        let notes = cache
            .load_entry(&model_capability_cache::model_cache_key(self.model.info()))
            .unwrap_or_default();
        (self.capability_cache, self.cache_entry) = (cache, Mutex::new(notes));
        self
    }

    pub fn model(&self) -> &Arc<dyn LanguageModel> {
        &self.model
    }

    pub fn pricing(&self) -> ModelPricing {
        self.pricing
    }

    /// How the model is worked with: as the person set it, otherwise by what is known. A model that nobody knows is taken
    /// for a strong one where a provider hosts it; on this machine only once it was seen to call tools and to keep to
    /// a schema.
    pub fn profile(&self) -> AgentProfile {
        let info = self.model.info();
        let proven = || {
            let seen = self.cache_entry().capability?;
            let strong = seen.tools && seen.json == crate::JsonSupport::Schema;
            Some(if strong { AgentProfile::Large } else { AgentProfile::Small })
        };
        // The built-in rules know no conversation.
        if info.provider == crate::provider::OFFLINE {
            return AgentProfile::Small;
        }
        let assumed = if info.local { AgentProfile::Small } else { AgentProfile::Large };
        let by_model = info.facts.profile().or_else(proven).unwrap_or(assumed);
        self.profile.resolve_profile(by_model)
    }

    /// Whether only a probe can tell how the model is worked with: it runs on this machine, nobody described it, and what
    /// it can do was not found out yet.
    pub fn is_profile_unproven(&self) -> bool {
        let info = self.model.info();
        info.local
            && info.provider != crate::provider::OFFLINE
            && self.profile == ProfileChoice::Auto
            // Whoever fixes the protocol knows the model; it is not tried then.
            && self.choice.fixed_protocol().is_none()
            && info.facts.profile().is_none()
            && self.known_capability().is_none()
    }

    /// Why a model that was probed is worked with in strict steps, in a sentence; none if it is not.
    pub fn describe_small_profile(&self) -> Option<String> {
        let info = self.model.info();
        let decided = self.profile == ProfileChoice::Auto && info.facts.profile().is_none();
        (decided && self.profile() == AgentProfile::Small).then(|| {
            let seen = self.cache_entry().capability.map_or_else(
                || "its trial answers were cut off, which proves nothing".to_owned(),
                |seen| format!("a trial found {seen}"),
            );
            format!(
                "{} works in strict steps (profile small): {seen}; profile = \"large\" in the config changes that",
                info.label()
            )
        })
    }

    /// What the person chose, whatever the model is.
    pub fn profile_choice(&self) -> ProfileChoice {
        self.profile
    }

    /// What is known about the model so far.
    pub fn cache_entry(&self) -> CapabilityCacheEntry {
        *self.cache_entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most a request could cost.
    pub fn estimate_cost(&self, request: &GenerateRequest) -> CostEstimate {
        CostEstimate::from_request(
            &self.fill_defaults(request),
            &self.pricing,
            &self.cache_entry().calibration,
        )
    }

    /// The cost of failed attempts.
    pub fn failure_cost(&self, error: &ModelError) -> CallCost {
        CallCost::from_failure(error.usage, &self.pricing)
    }

    /// Asks the model and returns text and calls, each of which matches its tool's schema.
    pub async fn ask_reply(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<ModelReply, ModelError> {
        let mut notes = Vec::new();
        let mut total: Option<CallCost> = None;
        let mut protocol = self.choose_protocol(request, cancel, &mut total).await?;
        let mut sent = request_in_protocol(request, protocol);
        let mut again = false;
        loop {
            let shown = ProtocolDeltas::new(protocol, !request.tools.is_empty(), deltas);
            let sink = |delta: AnswerDelta| shown.push_delta(delta);
            let generated = match self.call_model(&sent, &sink, cancel, &mut total).await {
                Err(error)
                    if protocol == AnswerProtocol::Tools && refuses_tools(&error, request) =>
                {
                    // Learned from the refusal and remembered from now on.
                    protocol = AnswerProtocol::Json;
                    sent = request_in_protocol(request, protocol);
                    self.forget_tools();
                    notes.push(AnswerNote::new(PROTOCOL_CHANGED, error.message));
                    continue;
                }
                other => other?,
            };
            self.note_clamped_usage(total, &mut notes);
            match answer_check::check_reply(&generated, request, protocol, &mut notes) {
                Ok((text, calls)) => {
                    return Ok(ModelReply {
                        reasoning: generated.reasoning,
                        text,
                        calls,
                        notes,
                        cost: total.unwrap_or(CallCost::NONE),
                        finish: generated.finish,
                        model: generated.model,
                        protocol,
                    });
                }
                Err(problems) if again => return Err(self.invalid_output_error(&problems, total)),
                Err(problems) => {
                    again = true;
                    notes.push(AnswerNote::new("asked_again", problems.violations.join("; ")));
                    sent.messages.extend(problems.retry_messages());
                }
            }
        }
    }

    /// Asks once, in the best protocol; one that the server refuses is left for another.
    pub(super) async fn ask_in_protocol(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<RawTurn, ModelError> {
        let (mut notes, mut total) = (Vec::new(), None);
        let mut protocol = self.choose_protocol(request, cancel, &mut total).await?;
        loop {
            let sent = request_in_protocol(request, protocol);
            let shown = ProtocolDeltas::new(protocol, !request.tools.is_empty(), deltas);
            let sink = |delta: AnswerDelta| shown.push_delta(delta);
            match self.call_model(&sent, &sink, cancel, &mut total).await {
                Err(error)
                    if protocol == AnswerProtocol::Tools && refuses_tools(&error, request) =>
                {
                    protocol = AnswerProtocol::Json;
                    self.forget_tools();
                    notes.push(AnswerNote::new(PROTOCOL_CHANGED, error.message));
                }
                Err(error) => return Err(error),
                Ok(generated) => {
                    self.note_clamped_usage(total, &mut notes);
                    let cost = total.unwrap_or(CallCost::NONE);
                    return Ok(RawTurn { generated, protocol, notes, cost });
                }
            }
        }
    }

    /// Remembers that the server or the model refuses tools.
    fn forget_tools(&self) {
        self.update_cache_entry(|notes| {
            notes.capability = Some(ModelCapability {
                tools: false,
                ..notes.capability.unwrap_or(ModelCapability::FULL)
            });
        });
    }

    /// Asks for a value that matches `output_schema`.
    pub async fn ask_json(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<JsonAnswer, ModelError> {
        let Some(output) = request.output_schema.clone() else {
            let message = "JSON was asked for without saying of which shape";
            let info = self.model.info();
            return Err(ModelError::new(
                &info.provider,
                "no_schema",
                Category::Critical,
                message,
                "set output_schema",
            ));
        };
        let mut sent = request.clone();
        if self.choice == ProtocolChoice::Text {
            sent.output_schema = None;
            let instructions = format!(
                "Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{}",
                output.schema
            );
            sent.messages.push(Message::user(instructions));
        }
        let (mut notes, mut total, mut again) = (Vec::new(), None, false);
        loop {
            let generated = self.call_model(&sent, deltas, cancel, &mut total).await?;
            self.note_clamped_usage(total, &mut notes);
            match answer_check::check_json(&generated, &output.schema, &mut notes) {
                Ok(value) => {
                    return Ok(JsonAnswer {
                        value,
                        notes,
                        cost: total.unwrap_or(CallCost::NONE),
                        model: generated.model,
                        raw: generated.text,
                    });
                }
                Err(problems) if again => return Err(self.invalid_output_error(&problems, total)),
                Err(problems) => {
                    again = true;
                    notes.push(AnswerNote::new("asked_again", problems.violations.join("; ")));
                    sent.messages.extend(problems.retry_messages());
                }
            }
        }
    }

    /// The most it could cost to detect the model's capabilities, if this request depends on them.
    pub fn detection_estimate(&self, request: &GenerateRequest) -> Option<CostEstimate> {
        let needed = !request.tools.is_empty() && self.choice.fixed_protocol().is_none();
        (needed && self.known_capability().is_none()).then(|| self.probe_estimate())
    }

    /// The most that both probes could cost.
    pub fn probe_estimate(&self) -> CostEstimate {
        let (one, two) = capability_probe::probe_requests();
        let (one, two) = (self.estimate_cost(&one), self.estimate_cost(&two));
        CostEstimate {
            input_tokens: one.input_tokens + two.input_tokens,
            output_tokens: one.output_tokens + two.output_tokens,
            cost: one.cost.zip(two.cost).map(|(one, two)| one.saturating_add(two)),
        }
    }

    /// A hash of what the probes send.
    pub fn probe_digest() -> Digest {
        let (one, two) = capability_probe::probe_requests();
        Digest::from_json(&serde_json::json!([one.messages, two.messages]))
    }

    /// Detects what the model can do, once, and remembers it.
    pub async fn detect_capability(
        &self,
        cancel: &CancellationToken,
    ) -> Result<DetectedCapability, ModelError> {
        let _alone = self.detection_lock.lock().await;
        if let Some(capability) = self.known_capability() {
            let demotion = ProtocolDemotion::from_capability(capability);
            return Ok(DetectedCapability { capability, demotion, cost: CallCost::NONE });
        }
        let mut total = None;
        let found = capability_probe::probe_capability(self, cancel, &mut total).await?;
        let capability = found.capability;
        if found.proven {
            self.update_cache_entry(|notes| notes.capability = Some(capability));
        } else {
            // Good for this process; the next one asks again.
            *self.assumed_capability.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(capability);
        }
        let demotion = ProtocolDemotion::from_capability(capability);
        Ok(DetectedCapability { capability, demotion, cost: total.unwrap_or(CallCost::NONE) })
    }

    /// The known capabilities of the model. What was learned from a refusal overrides the provider table; what another
    /// dialogue detected in the meantime is included.
    pub fn known_capability(&self) -> Option<ModelCapability> {
        let assumed = || *self.assumed_capability.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.cache_entry().capability.or(self.model.info().capability);
        if let Some(known) = known.or_else(assumed) {
            return Some(known);
        }
        let noted = self
            .capability_cache
            .load_entry(&model_capability_cache::model_cache_key(self.model.info()))?
            .capability?;
        self.cache_entry.lock().unwrap_or_else(PoisonError::into_inner).capability = Some(noted);
        Some(noted)
    }

    async fn choose_protocol(
        &self,
        request: &GenerateRequest,
        cancel: &CancellationToken,
        total: &mut Option<CallCost>,
    ) -> Result<AnswerProtocol, ModelError> {
        if request.tools.is_empty() {
            return Ok(AnswerProtocol::Tools);
        }
        if let Some(fixed) = self.choice.fixed_protocol() {
            return Ok(fixed);
        }
        if let Some(known) = self.known_capability() {
            return Ok(best_protocol(known));
        }
        let found = self.detect_capability(cancel).await?;
        *total = Some(found.cost);
        Ok(best_protocol(found.capability))
    }

    /// One paid call: reserve, call, record the cost, update the calibration.
    pub(super) async fn call_model(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        cancel: &CancellationToken,
        total: &mut Option<CallCost>,
    ) -> Result<GeneratedAnswer, ModelError> {
        let request = &ask_for_call(self.fill_defaults(request));
        let estimate = self.estimate_cost(request);
        let reservation = self.ledger.reserve(&estimate, self.purpose).map_err(|hit| {
            let usage = total.map(|before| before.usage).unwrap_or_default();
            ModelError { usage, ..hit.to_model_error(&self.model.info().provider) }
        })?;
        let result = self.model.generate(request, deltas, cancel).await;
        let cost = match &result {
            Ok(generated) => CallCost::from_answer(
                request,
                generated,
                &self.pricing,
                &self.cache_entry().calibration,
            ),
            Err(error) => self.failure_cost(error),
        };
        reservation.record_cost(&cost);
        let sum = total.map_or(cost, |before: CallCost| before.plus(cost));
        *total = Some(sum);
        match result {
            Ok(generated) => {
                if let Some(reported) = generated.usage.input {
                    self.update_cache_entry(|notes| {
                        notes
                            .calibration
                            .learn_sample(tokens::estimate_request_tokens(request), reported);
                    });
                }
                Ok(generated)
            }
            // The caller that reports the error needs everything that was charged.
            Err(error) => Err(ModelError { usage: sum.usage, ..error }),
        }
    }

    /// Adds one note that figures of the provider were lowered, not one per call.
    fn note_clamped_usage(&self, total: Option<CallCost>, notes: &mut Vec<AnswerNote>) {
        if total.is_some_and(|cost| cost.clamped) && !self.noted_usage.swap(true, Ordering::Relaxed)
        {
            let provider = &self.model.info().provider;
            let detail = format!(
                "{provider} reported more tokens than the call can have used; the most it can have used is booked instead"
            );
            notes.push(AnswerNote::new(USAGE_CLAMPED, detail));
        }
    }

    /// The request with defaults filled in. A paid answer needs an output limit, otherwise its estimate would be
    /// meaningless; room for thinking comes on top of it.
    fn fill_defaults(&self, request: &GenerateRequest) -> GenerateRequest {
        let RequestDefaults { temperature, max_output_tokens, length_is_set, length_if_small } =
            self.request_defaults;
        let facts = &self.model.info().facts;
        let large = self.profile() == AgentProfile::Large;
        let by_role = max_output_tokens.filter(|_| !(large && length_if_small));
        let usual = if large {
            Some(facts.output.map_or(LARGE_OUTPUT_TOKENS, |most| most.min(LARGE_OUTPUT_TOKENS)))
        } else {
            (self.pricing != ModelPricing::Free).then_some(cost::USUAL_OUTPUT_TOKENS)
        };
        let sent = request.max_output_tokens;
        let length = if length_is_set { max_output_tokens } else { sent.or(by_role) };
        let effort = request.effort.or(self.effort);
        GenerateRequest {
            temperature: request.temperature.or(temperature),
            max_output_tokens: length.or(usual),
            thinking_tokens: request.thinking_tokens.or_else(|| thinking_room(facts, effort)),
            effort,
            ..request.clone()
        }
    }

    fn invalid_output_error(
        &self,
        problems: &AnswerProblems,
        total: Option<CallCost>,
    ) -> ModelError {
        let info = self.model.info();
        let message = format!(
            "{} ({}) gave no usable answer, asked twice: {}",
            info.model,
            info.provider,
            problems.violations.join("; ")
        );
        let next =
            "try again, use another model or protocol, or continue with the built-in planner";
        let mut error =
            ModelError::new(&info.provider, "invalid_output", Category::Recoverable, message, next);
        error.raw = Some(problems.raw.clone());
        error.usage = total.map(|cost| cost.usage).unwrap_or_default();
        error
    }

    fn update_cache_entry(&self, lesson: impl FnOnce(&mut CapabilityCacheEntry)) {
        let (before, after) = {
            let mut notes = self.cache_entry.lock().unwrap_or_else(PoisonError::into_inner);
            let before = *notes;
            lesson(&mut notes);
            (before, *notes)
        };
        // Every call changes the calibration a little; the file is only written while the change is significant.
        let early = after.calibration.samples <= 8 || after.calibration.samples.is_multiple_of(16);
        if before.capability != after.capability || (before != after && early) {
            self.capability_cache
                .store_entry(&model_capability_cache::model_cache_key(self.model.info()), after);
        }
    }
}

fn best_protocol(capability: ModelCapability) -> AnswerProtocol {
    if capability.tools {
        AnswerProtocol::Tools
    } else if capability.json == crate::JsonSupport::None {
        AnswerProtocol::Text
    } else {
        AnswerProtocol::Json
    }
}

/// Whether a refusal means that the server or model does not support tools.
fn refuses_tools(error: &ModelError, request: &GenerateRequest) -> bool {
    !request.tools.is_empty()
        && error.code == "bad_request"
        && error.message.to_ascii_lowercase().contains("tool")
}

/// A model that thinks is not forced to call a tool, which providers refuse or which keeps it from thinking: the prompt
/// asks it to. Whether it did is checked afterwards.
fn ask_for_call(request: GenerateRequest) -> GenerateRequest {
    let tool = match &request.tool_choice {
        _ if request.thinking_tokens.is_none() || request.tools.is_empty() => return request,
        ToolChoice::Auto | ToolChoice::None => return request,
        ToolChoice::Required => "one of the tools".to_owned(),
        ToolChoice::Named(name) => format!("the tool {}", name.replace('.', "_")),
    };
    let mut eased = GenerateRequest { tool_choice: ToolChoice::Auto, ..request };
    let systems = leading_systems(&eased.messages);
    let text = format!("Do not answer in words. You must call {tool}.");
    eased.messages.insert(systems, Message::system(text));
    eased
}

/// How many messages at the beginning are the system's. What is inserted after them leaves a cached prefix as it is.
fn leading_systems(messages: &[Message]) -> usize {
    messages.iter().take_while(|message| message.role == MessageRole::System).count()
}

/// Rewrites a request for a protocol.
fn request_in_protocol(request: &GenerateRequest, protocol: AnswerProtocol) -> GenerateRequest {
    if request.tools.is_empty() || protocol == AnswerProtocol::Tools {
        return request.clone();
    }
    let mut sent = request.clone();
    let tools = std::mem::take(&mut sent.tools);
    sent.tool_choice = ToolChoice::Auto;
    let instructions = if protocol == AnswerProtocol::Json {
        sent.messages = json_protocol::messages_as_steps(&request.messages);
        sent.output_schema = Some(json_protocol::step_schema(&tools, &request.tool_choice));
        json_protocol::json_instructions(&tools, &request.tool_choice)
    } else {
        sent.messages = text_protocol::messages_as_text(&request.messages);
        sent.stop.push(text_protocol::STOP.to_owned());
        text_protocol::text_instructions(&tools)
    };
    let systems = leading_systems(&sent.messages);
    sent.messages.insert(systems, Message::system(instructions));
    sent
}
