//! What is in the person's calendars, as it is when a schedule is made.

use std::fmt;
use std::sync::Arc;

use planwright_model::FixedEvent;

/// Whoever knows the person's calendars. Asked whenever a schedule is made, so that a file that changed is read again.
pub trait CalendarSource: fmt::Debug + Send + Sync {
    fn current_events(&self) -> Arc<[FixedEvent]>;
}

/// Events that do not change.
#[derive(Clone, Debug, Default)]
pub struct KnownEvents(pub Vec<FixedEvent>);

impl CalendarSource for KnownEvents {
    fn current_events(&self) -> Arc<[FixedEvent]> {
        self.0.clone().into()
    }
}
