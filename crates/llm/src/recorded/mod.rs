//! Models on tape: a recording of real exchanges, and a model that plays one back for tests and bug reports.

mod cassette;
mod play;
mod record;

pub use cassette::{Cassette, Entry, Outcome};
pub use play::Recorded;
pub use record::Recording;
