//! What a replay needs beside the panes of a run.

use super::SizeClass;

/// Rows of the scrub bar.
pub(super) fn scrub_rows(class: SizeClass) -> u16 {
    match class {
        SizeClass::Wide | SizeClass::Full => 6,
        SizeClass::Tabs => 2,
        SizeClass::Small | SizeClass::TooSmall => 1,
    }
}
