//! Language models behind one trait: adapters for what people have, protocols that work with weak models, cost.
//!
//! [`LanguageModel`] is one exchange with one model, raw: whoever calls it gets a complete [`Generated`] or a
//! [`ModelError`] with a next step. [`protocol`] stands on top and turns answers of any shape into checked tool calls
//! and JSON. Deltas are for the eyes only: nothing may act on a part of an answer, so that a broken stream can always
//! be asked again. Keys never leave this module except on the wire to the host they belong to.

mod anthropic;
pub mod cost;
mod error;
mod generated;
pub mod keys;
mod message;
mod model;
mod names;
pub mod notebook;
pub mod offline;
pub mod ollama;
mod openai;
pub mod protocol;
pub mod provider;
pub mod recorded;
mod request;
pub mod settings;
pub mod transport;

pub use error::ModelError;
pub use generated::{Delta, Finish, Generated, RawCall, Usage};
pub use message::{Message, Part, Role, ToolCall};
pub use model::{Capability, DeltaSink, JsonSupport, LanguageModel, ModelInfo, ignore_deltas};
pub use request::{GenerateRequest, OutputSchema, ToolChoice, ToolSpec};
