//! Recorded models: a recorder of real exchanges, and a model that plays a recording back for tests and bug reports.

mod cassette;
mod recorded_model;
mod recording_model;

pub use cassette::{Cassette, CassetteEntry, ExchangeOutcome};
pub use recorded_model::RecordedModel;
pub use recording_model::RecordingModel;
