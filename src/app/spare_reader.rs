//! The spare reader of this process: there is one for all sessions that it works on.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use planwright_tools::process::SpareReader;

static IS_ALLOWED: AtomicBool = AtomicBool::new(false);
static SPARE_READER: OnceLock<Option<SpareReader>> = OnceLock::new();

/// Lets commands have a spare reader. Only the program itself may do this, since its process is this program once more: a
/// test that was started again would run all tests.
pub(crate) fn allow_spare_reader() {
    IS_ALLOWED.store(true, Ordering::Relaxed);
}

/// Who reads on what commands print when this process is killed.
pub(super) fn spare_reader() -> Option<SpareReader> {
    let is_allowed = IS_ALLOWED.load(Ordering::Relaxed);
    if is_allowed { SPARE_READER.get_or_init(SpareReader::new).clone() } else { None }
}
