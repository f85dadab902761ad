//! Adapter for Anthropic's Messages API.

mod decode;
mod request;

use std::sync::Arc;

use super::tool_names::ToolNameMap;
use super::transport::{
    AnswerDecoder, FailedAttempt, ProviderEndpoint, StreamFraming, WireRequest,
};
use super::wire_format::{RequestShape, WireFormat, open_in_format, refusal_text, switch_off};
use super::{
    GenerateRequest, LanguageModel, ModelError, ModelFacts, ModelInfo, ThinkingControl,
    ThinkingSupport,
};

/// The API version sent with every request.
pub(crate) const VERSION: &str = "2023-06-01";

/// The tool that carries an answer constrained to a schema.
const ANSWER_TOOL: &str = "give_answer";

/// What a model of this interface accepts: known from the table, corrected by refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnthropicDialect {
    /// Newer models reject the temperature parameter.
    temperature: bool,
    /// Models that think cannot be forced to call a tool; the prompt asks them to instead.
    forced: bool,
    /// `None` where the model is not asked to think.
    control: Option<ThinkingControl>,
    /// The text of thoughts is returned only where this is asked for.
    display: bool,
    effort: bool,
}

impl AnthropicDialect {
    fn from_facts(facts: &ModelFacts) -> Self {
        let thinks = facts.thinking != ThinkingSupport::None;
        Self {
            temperature: true,
            forced: facts.thinking != ThinkingSupport::Always,
            control: thinks.then_some(facts.control),
            display: true,
            effort: !facts.efforts.is_empty(),
        }
    }

    /// Adjusts to a refusal. Returns `true` if the next attempt differs.
    fn adjust_to_refusal(&mut self, message: &str, request: &GenerateRequest) -> bool {
        let message = message.to_ascii_lowercase();
        if request.temperature.is_some() && message.contains("temperature") {
            return switch_off(&mut self.temperature);
        }
        if message.contains("tool_choice") {
            return switch_off(&mut self.forced);
        }
        if message.contains("display") && switch_off(&mut self.display) {
            return true;
        }
        if message.contains("effort") || message.contains("output_config") {
            return switch_off(&mut self.effort);
        }
        // Each generation of models accepts another form; the last resort is not to ask for thinking.
        if message.contains("thinking") || message.contains("budget_tokens") {
            let before = self.control;
            self.control = match before {
                Some(ThinkingControl::Adaptive) => Some(ThinkingControl::Budget),
                Some(ThinkingControl::Budget | ThinkingControl::Level) | None => None,
            };
            return before.is_some();
        }
        false
    }
}

#[derive(Debug)]
struct AnthropicFormat;

pub(crate) fn open_model(
    info: ModelInfo,
    endpoint: ProviderEndpoint,
    stream: bool,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let dialect = AnthropicDialect::from_facts(&info.facts);
    open_in_format(AnthropicFormat, dialect, info, endpoint, stream)
}

impl WireFormat for AnthropicFormat {
    type Dialect = AnthropicDialect;

    fn build_request(
        &self,
        shape: &RequestShape<'_, AnthropicDialect>,
        request: &GenerateRequest,
    ) -> WireRequest {
        WireRequest {
            path: "/v1/messages".into(),
            body: request::build_body(shape, request),
            framing: shape.streamed.then_some(StreamFraming::Events),
        }
    }

    fn new_decoder(
        &self,
        model: &str,
        names: ToolNameMap,
        request: &GenerateRequest,
    ) -> Box<dyn AnswerDecoder> {
        let schema_tool = request.output_schema.is_some().then_some(ANSWER_TOOL);
        Box::new(decode::AnthropicDecoder::new(model, names, schema_tool))
    }

    fn adjust_to_refusal(
        dialect: &mut AnthropicDialect,
        broken: &FailedAttempt,
        request: &GenerateRequest,
    ) -> bool {
        refusal_text(broken).is_some_and(|message| dialect.adjust_to_refusal(&message, request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, ModelTable};

    #[test]
    fn refused_forms_of_thinking_are_given_up_one_by_one() {
        let facts = ModelTable::built_in().find_facts("claude-opus-4-6").unwrap();
        let mut dialect = AnthropicDialect::from_facts(facts);
        let mut request = GenerateRequest::new(vec![Message::user("x")]);
        request.temperature = Some(0.2);
        assert_eq!(dialect.control, Some(ThinkingControl::Adaptive));
        for (message, changed) in [
            ("thinking.display: unknown value", true),
            ("output_config.effort is not supported", true),
            ("adaptive thinking is not supported on this model", true),
            ("thinking.budget_tokens is not supported", true),
            ("thinking is odd", false),
            ("tool_choice forces tool use, which is not supported with thinking", true),
            ("`temperature` may only be set to 1", true),
            ("messages: too many", false),
        ] {
            assert_eq!(dialect.adjust_to_refusal(message, &request), changed, "{message}");
        }
        let given_up = AnthropicDialect {
            temperature: false,
            forced: false,
            control: None,
            display: false,
            effort: false,
        };
        assert_eq!(dialect, given_up);
    }
}
