//! A model together with how to talk to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::checking::{self, Wrong};
use super::types::{JsonAnswer, Manner, Note, Protocol, ProtocolChoice, Reply};
use super::{detect, in_json, in_text};
use crate::cost::{self, Cost, Estimate, Ledger, Pricing, Spender, tokens};
use crate::notebook::{self, MemoryNotebook, ModelNotes, Notebook};
use crate::{
    Capability, DeltaSink, GenerateRequest, Generated, LanguageModel, Message, ModelError,
    ToolChoice,
};
use planwright_model::Category;

/// The note about figures of a provider that are too large to be true.
pub const USAGE_CLAMPED: &str = "usage_clamped";

/// A model, the protocol it is spoken to in, what it costs, and the books its calls go into.
#[derive(Debug)]
pub struct Dialogue {
    model: Arc<dyn LanguageModel>,
    choice: ProtocolChoice,
    manner: Manner,
    pricing: Pricing,
    ledger: Arc<Ledger>,
    spender: Spender,
    notebook: Arc<dyn Notebook>,
    notes: Mutex<ModelNotes>,
    /// Held while abilities are found out, so that calls side by side pay for that once.
    finding_out: tokio::sync::Mutex<()>,
    /// Whether it was noted already that the provider reports impossible figures.
    noted_usage: AtomicBool,
}

/// What finding out a model's abilities came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundOut {
    pub capability: Capability,
    /// Nothing if it was known after all.
    pub cost: Cost,
}

impl Dialogue {
    /// A dialogue in the best protocol the model speaks, whose calls cost nothing.
    pub fn new(model: Arc<dyn LanguageModel>) -> Self {
        Self {
            model,
            choice: ProtocolChoice::Auto,
            manner: Manner::default(),
            pricing: Pricing::Free,
            ledger: Ledger::new(),
            spender: Spender::default(),
            notebook: Arc::new(MemoryNotebook::default()),
            notes: Mutex::default(),
            finding_out: tokio::sync::Mutex::default(),
            noted_usage: AtomicBool::new(false),
        }
    }

    pub fn protocol(mut self, choice: ProtocolChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Asks in the manner of a role.
    pub fn asked_as(mut self, manner: Manner) -> Self {
        self.manner = manner;
        self
    }

    /// Counts calls at these prices in these books, which may refuse them.
    pub fn priced(mut self, pricing: Pricing, ledger: Arc<Ledger>) -> Self {
        (self.pricing, self.ledger) = (pricing, ledger);
        self
    }

    /// Says what the calls are for.
    pub fn spent_by(mut self, spender: Spender) -> Self {
        self.spender = spender;
        self
    }

    /// Keeps what is found out about the model.
    pub fn noting(mut self, notebook: Arc<dyn Notebook>) -> Self {
        let notes = notebook.recall(&notebook::key(self.model.info())).unwrap_or_default();
        (self.notebook, self.notes) = (notebook, Mutex::new(notes));
        self
    }

    pub fn model(&self) -> &Arc<dyn LanguageModel> {
        &self.model
    }

    pub fn pricing(&self) -> Pricing {
        self.pricing
    }

    /// What is known about the model so far.
    pub fn notes(&self) -> ModelNotes {
        *self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a request could cost at most.
    pub fn estimate(&self, request: &GenerateRequest) -> Estimate {
        Estimate::of(&self.filled(request), &self.pricing, &self.notes().calibration)
    }

    /// What failed attempts cost.
    pub fn cost_of(&self, error: &ModelError) -> Cost {
        Cost::of_failure(error.usage, &self.pricing)
    }

    /// Asks and gives back text and calls, each of which fits its tool.
    pub async fn reply(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<Reply, ModelError> {
        let mut notes = Vec::new();
        let mut total: Option<Cost> = None;
        let mut protocol = self.choose(request, cancel, &mut total).await?;
        let mut asked = in_protocol(request, protocol);
        let mut again = false;
        loop {
            let generated = match self.ask(&asked, deltas, cancel, &mut total).await {
                Err(error) if protocol == Protocol::Tools && refuses_tools(&error, request) => {
                    // Found out the hard way; from now on it is known.
                    protocol = Protocol::Json;
                    asked = in_protocol(request, protocol);
                    self.learn(|notes| {
                        notes.capability = Some(Capability {
                            tools: false,
                            ..notes.capability.unwrap_or(Capability::FULL)
                        });
                    });
                    notes.push(Note::new("protocol_changed", error.message));
                    continue;
                }
                other => other?,
            };
            self.note_usage(total, &mut notes);
            match checking::reply(&generated, request, protocol, &mut notes) {
                Ok((text, calls)) => {
                    return Ok(Reply {
                        text,
                        calls,
                        notes,
                        cost: total.unwrap_or(Cost::NONE),
                        finish: generated.finish,
                        model: generated.model,
                        protocol,
                    });
                }
                Err(wrong) if again => return Err(self.invalid(&wrong, total)),
                Err(wrong) => {
                    again = true;
                    notes.push(Note::new("asked_again", wrong.violations.join("; ")));
                    asked.messages.extend(wrong.ask_again());
                }
            }
        }
    }

    /// Asks for a value of the shape that `output_schema` names.
    pub async fn ask_json(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<JsonAnswer, ModelError> {
        let Some(output) = request.output_schema.clone() else {
            let what = "JSON was asked for without saying of which shape";
            let info = self.model.info();
            return Err(ModelError::new(
                &info.provider,
                "no_schema",
                Category::Critical,
                what,
                "set output_schema",
            ));
        };
        let mut asked = request.clone();
        if self.choice == ProtocolChoice::Text {
            asked.output_schema = None;
            let words = format!(
                "Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{}",
                output.schema
            );
            asked.messages.push(Message::user(words));
        }
        let (mut notes, mut total, mut again) = (Vec::new(), None, false);
        loop {
            let generated = self.ask(&asked, deltas, cancel, &mut total).await?;
            self.note_usage(total, &mut notes);
            match checking::json(&generated, &output.schema, &mut notes) {
                Ok(value) => {
                    return Ok(JsonAnswer {
                        value,
                        notes,
                        cost: total.unwrap_or(Cost::NONE),
                        model: generated.model,
                        raw: generated.text,
                    });
                }
                Err(wrong) if again => return Err(self.invalid(&wrong, total)),
                Err(wrong) => {
                    again = true;
                    notes.push(Note::new("asked_again", wrong.violations.join("; ")));
                    asked.messages.extend(wrong.ask_again());
                }
            }
        }
    }

    /// What finding out the model's abilities could cost at most, if this request cannot be made without knowing them.
    pub fn must_find_out(&self, request: &GenerateRequest) -> Option<Estimate> {
        let needed = !request.tools.is_empty() && self.choice.fixed().is_none();
        (needed && self.known().is_none()).then(|| {
            let (one, two) = detect::requests();
            let (one, two) = (self.estimate(&one), self.estimate(&two));
            Estimate {
                input_tokens: one.input_tokens + two.input_tokens,
                output_tokens: one.output_tokens + two.output_tokens,
                cost: one.cost.zip(two.cost).map(|(one, two)| one.saturating_add(two)),
            }
        })
    }

    /// Finds out what the model can do, once, and remembers it.
    pub async fn find_out(&self, cancel: &CancellationToken) -> Result<FoundOut, ModelError> {
        let _alone = self.finding_out.lock().await;
        if let Some(capability) = self.known() {
            return Ok(FoundOut { capability, cost: Cost::NONE });
        }
        let mut total = None;
        let capability = detect::capability(self, cancel, &mut total).await?;
        self.learn(|notes| notes.capability = Some(capability));
        Ok(FoundOut { capability, cost: total.unwrap_or(Cost::NONE) })
    }

    /// What is known of the model's abilities. What was learned from a refusal goes before what the table of providers
    /// says; what another dialogue found out meanwhile counts as well.
    pub fn known(&self) -> Option<Capability> {
        if let Some(known) = self.notes().capability.or(self.model.info().capability) {
            return Some(known);
        }
        let noted = self.notebook.recall(&notebook::key(self.model.info()))?.capability?;
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).capability = Some(noted);
        Some(noted)
    }

    async fn choose(
        &self,
        request: &GenerateRequest,
        cancel: &CancellationToken,
        total: &mut Option<Cost>,
    ) -> Result<Protocol, ModelError> {
        if request.tools.is_empty() {
            return Ok(Protocol::Tools);
        }
        if let Some(fixed) = self.choice.fixed() {
            return Ok(fixed);
        }
        if let Some(known) = self.known() {
            return Ok(best(known));
        }
        let found = self.find_out(cancel).await?;
        *total = Some(found.cost);
        Ok(best(found.capability))
    }

    /// One paid call: reserved, made, booked, learned from.
    pub(super) async fn ask(
        &self,
        request: &GenerateRequest,
        deltas: DeltaSink<'_>,
        cancel: &CancellationToken,
        total: &mut Option<Cost>,
    ) -> Result<Generated, ModelError> {
        let request = &self.filled(request);
        let estimate = self.estimate(request);
        let reservation = self.ledger.reserve(&estimate, self.spender).map_err(|hit| {
            let usage = total.map(|before| before.usage).unwrap_or_default();
            ModelError { usage, ..hit.error(&self.model.info().provider) }
        })?;
        let result = self.model.generate(request, deltas, cancel).await;
        let cost = match &result {
            Ok(generated) => Cost::of(request, generated, &self.pricing, &self.notes().calibration),
            Err(error) => self.cost_of(error),
        };
        reservation.book(&cost);
        let sum = total.map_or(cost, |before: Cost| before.plus(cost));
        *total = Some(sum);
        match result {
            Ok(generated) => {
                if let Some(reported) = generated.usage.input {
                    self.learn(|notes| {
                        notes.calibration.learn(tokens::of_request(request), reported);
                    });
                }
                Ok(generated)
            }
            // Whoever reports the error must know of everything that was paid.
            Err(error) => Err(ModelError { usage: sum.usage, ..error }),
        }
    }

    /// Notes once that figures of the provider were lowered; every call would say the same.
    fn note_usage(&self, total: Option<Cost>, notes: &mut Vec<Note>) {
        if total.is_some_and(|cost| cost.clamped) && !self.noted_usage.swap(true, Ordering::Relaxed)
        {
            let provider = &self.model.info().provider;
            let detail = format!(
                "{provider} reported more tokens than the call can have used; the most it can have used is booked instead"
            );
            notes.push(Note::new(USAGE_CLAMPED, detail));
        }
    }

    /// The request with what it left open. A paid answer has a limit to its length, or its estimate would mean nothing.
    fn filled(&self, request: &GenerateRequest) -> GenerateRequest {
        let Manner { temperature, max_output_tokens, length_is_set } = self.manner;
        let asked = request.max_output_tokens;
        let usual = (self.pricing != Pricing::Free).then_some(cost::USUAL_OUTPUT_TOKENS);
        let length = if length_is_set { max_output_tokens } else { asked.or(max_output_tokens) };
        GenerateRequest {
            temperature: request.temperature.or(temperature),
            max_output_tokens: length.or(usual),
            ..request.clone()
        }
    }

    fn invalid(&self, wrong: &Wrong, total: Option<Cost>) -> ModelError {
        let info = self.model.info();
        let message = format!(
            "{} ({}) gave no usable answer, asked twice: {}",
            info.model,
            info.provider,
            wrong.violations.join("; ")
        );
        let next = "try again, use another model or protocol, or go on with the offline planner";
        let mut error =
            ModelError::new(&info.provider, "invalid_output", Category::Recoverable, message, next);
        error.raw = Some(wrong.raw.clone());
        error.usage = total.map(|cost| cost.usage).unwrap_or_default();
        error
    }

    fn learn(&self, lesson: impl FnOnce(&mut ModelNotes)) {
        let (before, after) = {
            let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
            let before = *notes;
            lesson(&mut notes);
            (before, *notes)
        };
        // Every call moves the calibration a little; the file is written while that still matters.
        let early = after.calibration.samples <= 8 || after.calibration.samples.is_multiple_of(16);
        if before.capability != after.capability || (before != after && early) {
            self.notebook.remember(&notebook::key(self.model.info()), after);
        }
    }
}

fn best(capability: Capability) -> Protocol {
    if capability.tools {
        Protocol::Tools
    } else if capability.json == crate::JsonSupport::None {
        Protocol::Text
    } else {
        Protocol::Json
    }
}

/// Whether a refusal means that the server or model knows no tools.
fn refuses_tools(error: &ModelError, request: &GenerateRequest) -> bool {
    !request.tools.is_empty()
        && error.code == "bad_request"
        && error.message.to_ascii_lowercase().contains("tool")
}

/// The same request in the words of a protocol.
fn in_protocol(request: &GenerateRequest, protocol: Protocol) -> GenerateRequest {
    if request.tools.is_empty() || protocol == Protocol::Tools {
        return request.clone();
    }
    let mut asked = request.clone();
    let tools = std::mem::take(&mut asked.tools);
    asked.messages = in_text::retold(&request.messages);
    asked.tool_choice = ToolChoice::Auto;
    let instructions = if protocol == Protocol::Json {
        asked.output_schema = Some(in_json::schema(&tools, &request.tool_choice));
        in_json::instructions(&tools)
    } else {
        asked.stop.push(in_text::STOP.to_owned());
        in_text::instructions(&tools)
    };
    // After the stable prefix, which must stay the same for providers that keep it.
    let systems = asked.messages.iter().take_while(|m| m.role == crate::Role::System).count();
    asked.messages.insert(systems, Message::system(instructions));
    asked
}
