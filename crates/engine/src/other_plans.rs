//! The person's other plans, as a session looks at them and acts on them.

use futures_util::future::BoxFuture;

use planwright_model::SessionId;
use planwright_model::event::Command;
use planwright_schedule::OtherBlock;

/// The other approved plans of the same person.
pub trait OtherPlans: std::fmt::Debug + Send + Sync {
    /// Their blocks as they are now, each named by its session and its id there. None where they cannot be read.
    fn current_blocks(&self) -> Option<Vec<OtherBlock>>;

    /// Has one of them decide on a command; what became of it is in its journal.
    fn send(&self, session: &SessionId, command: Command);

    /// Waits for what was sent.
    fn close(&self) -> BoxFuture<'_, ()>;
}
