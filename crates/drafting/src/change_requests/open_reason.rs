//! Why a clause stays open although its form is known.

use std::fmt;

/// Why a clause stays open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenReason {
    /// No task or phase is called that.
    NoMatch { words: String },
    /// Several are.
    Several { words: String, titles: Vec<String> },
    /// "this" or "it", and no row is marked.
    NothingMarked,
    /// What it asks for is how it is already.
    AlreadySo(String),
    /// Another reason, as a sentence part.
    Because(String),
}

impl OpenReason {
    pub(super) fn because(text: impl Into<String>) -> Self {
        Self::Because(text.into())
    }
}

/// How many titles are named.
const NAMED_TITLES: usize = 4;

impl fmt::Display for OpenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMatch { words } => write!(f, "no task matches \"{words}\""),
            Self::Several { words, titles } => {
                write!(f, "\"{words}\" matches {} tasks: ", titles.len())?;
                let named: Vec<String> =
                    titles.iter().take(NAMED_TITLES).map(|title| format!("\"{title}\"")).collect();
                match titles.len().saturating_sub(NAMED_TITLES) {
                    0 => write!(f, "{}", named.join(", ")),
                    more => write!(f, "{} and {more} more", named.join(", ")),
                }
            }
            Self::NothingMarked => write!(f, "say which task is meant"),
            Self::AlreadySo(text) => write!(f, "no change: {text}"),
            Self::Because(text) => write!(f, "{text}"),
        }
    }
}

/// What a parser makes of a clause: `None` if the clause is about something else, an error if its form is known and
/// something in it is not.
pub(super) type ClauseReading<T> = Option<Result<T, OpenReason>>;

/// Returns the first reading that succeeds, or else the first reason.
pub(super) fn first_reading<T>(
    readings: impl IntoIterator<Item = ClauseReading<T>>,
) -> ClauseReading<T> {
    let mut reason = None;
    for reading in readings.into_iter().flatten() {
        match reading {
            Ok(read) => return Some(Ok(read)),
            Err(why) => {
                reason.get_or_insert(why);
            }
        }
    }
    reason.map(Err)
}
