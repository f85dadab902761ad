//! What the nodes of a blueprint weigh and how they are linked, before anything is in minutes.

use planwright_model::{Dependency, LagBasis, LinkKind, TaskId};

use planwright_plan::sizing;

/// How much of its parent a node gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Weight {
    Share(u32),
    Minutes(u32),
}

/// How long a link waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Lag {
    None,
    /// Of the predecessor's minutes.
    Percent(u32),
    /// On the clock.
    Elapsed(i32),
}

/// A link whose lag is not yet in minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Tie {
    pub(in super::super) from: TaskId,
    pub(in super::super) to: TaskId,
    pub(in super::super) kind: LinkKind,
    pub(in super::super) lag: Lag,
    pub(in super::super) why: String,
}

impl Tie {
    /// A plain finish-to-start link.
    pub(in super::super) fn chain(from: &TaskId, to: &TaskId) -> Self {
        Self {
            from: from.clone(),
            to: to.clone(),
            kind: LinkKind::FS,
            lag: Lag::None,
            why: String::new(),
        }
    }

    /// The link with its lag in minutes, a share being cut to a multiple of 15.
    pub(in super::super) fn dependency(&self, predecessor_minutes: u32) -> Dependency {
        let link = Dependency::new(self.from.clone(), self.to.clone(), self.kind);
        let link = match self.lag {
            Lag::None => link,
            Lag::Percent(percent) => {
                let minutes = u64::from(predecessor_minutes) * u64::from(percent) / 100;
                let minutes = sizing::cut(u32::try_from(minutes).unwrap_or(u32::MAX));
                let most = Dependency::MAX_LAG_MINUTES;
                link.with_lag(i32::try_from(minutes).unwrap_or(most).min(most))
            }
            Lag::Elapsed(minutes) => {
                Dependency { lag_basis: LagBasis::Elapsed, ..link.with_lag(minutes) }
            }
        };
        Dependency { rationale: self.why.clone(), ..link }
    }
}
