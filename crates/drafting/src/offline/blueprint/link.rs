//! The weights and links of blueprint nodes, before anything is converted to minutes.

use planwright_model::{LagBasis, LinkKind, NodeDependency, TaskId};

use planwright_plan::sizing;

/// The node's share of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum BlueprintWeight {
    Share(u32),
    Minutes(u32),
}

/// The waiting time of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum BlueprintLag {
    None,
    /// Percent of the predecessor's minutes.
    Percent(u32),
    /// Elapsed time.
    Elapsed(i32),
}

/// A link whose lag is not yet in minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct BlueprintLink {
    pub(in super::super) from: TaskId,
    pub(in super::super) to: TaskId,
    pub(in super::super) kind: LinkKind,
    pub(in super::super) lag: BlueprintLag,
    pub(in super::super) why: String,
}

impl BlueprintLink {
    /// Creates a plain finish-to-start link.
    pub(in super::super) fn finish_to_start(from: &TaskId, to: &TaskId) -> Self {
        Self {
            from: from.clone(),
            to: to.clone(),
            kind: LinkKind::FS,
            lag: BlueprintLag::None,
            why: String::new(),
        }
    }

    /// Converts the link to one with its lag in minutes; a share is rounded down to a multiple of 15.
    pub(in super::super) fn to_dependency(&self, predecessor_minutes: u32) -> NodeDependency {
        let link = NodeDependency::new(self.from.clone(), self.to.clone(), self.kind);
        let link = match self.lag {
            BlueprintLag::None => link,
            BlueprintLag::Percent(percent) => {
                let minutes = u64::from(predecessor_minutes) * u64::from(percent) / 100;
                let minutes =
                    sizing::round_down_to_unit(u32::try_from(minutes).unwrap_or(u32::MAX));
                let most = NodeDependency::MAX_LAG_MINUTES;
                link.with_lag(i32::try_from(minutes).unwrap_or(most).min(most))
            }
            BlueprintLag::Elapsed(minutes) => {
                NodeDependency { lag_basis: LagBasis::Elapsed, ..link.with_lag(minutes) }
            }
        };
        NodeDependency { rationale: self.why.clone(), ..link }
    }
}
