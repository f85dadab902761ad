//! The links of an instance, before shares of a predecessor become minutes.

use planwright_model::{LagBasis, LinkKind, NodeDependency, TaskId};

use super::super::blueprint::{BlueprintLink, CalendarSpan};
use planwright_plan::sizing;

/// The waiting time of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum InstanceLag {
    None,
    /// Percent of the predecessor's minutes.
    Percent(u32),
    /// Elapsed minutes, and those of them that no plan is too short for.
    Elapsed {
        minutes: i32,
        least: i32,
    },
}

/// Whether waiting times hold, or may be cut to half because there is far less time than the kind takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitPolicy {
    Keep,
    Halve,
    /// There are days for what takes months: whoever is asked today is asked for an answer tomorrow.
    Press,
}

/// A link whose lag is not yet in minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct InstanceLink {
    pub(in super::super) from: TaskId,
    pub(in super::super) to: TaskId,
    pub(in super::super) kind: LinkKind,
    pub(in super::super) lag: InstanceLag,
    pub(in super::super) why: String,
}

impl InstanceLink {
    /// Creates a plain finish-to-start link.
    pub(in super::super) fn finish_to_start(from: &TaskId, to: &TaskId) -> Self {
        Self {
            from: from.clone(),
            to: to.clone(),
            kind: LinkKind::FS,
            lag: InstanceLag::None,
            why: String::new(),
        }
    }

    /// Creates a link as a file describes it.
    pub(super) fn from_file(
        from: &TaskId,
        to: &TaskId,
        link: &BlueprintLink,
        waits: WaitPolicy,
    ) -> Self {
        let lag = match (link.lag, link.percent) {
            (Some(_), _) => InstanceLag::from_file(link, waits),
            (None, 0) => InstanceLag::None,
            (None, percent) => InstanceLag::Percent(percent),
        };
        Self { from: from.clone(), to: to.clone(), kind: link.kind, lag, why: link.why.clone() }
    }

    /// Converts the link to one with its lag in minutes; `scale` shortens waiting times in a short plan.
    pub(in super::super) fn to_dependency(
        &self,
        predecessor_minutes: u32,
        scale: f64,
    ) -> NodeDependency {
        let link = NodeDependency::new(self.from.clone(), self.to.clone(), self.kind);
        let most = NodeDependency::MAX_LAG_MINUTES;
        let link = match self.lag {
            InstanceLag::None => link,
            InstanceLag::Percent(percent) => {
                let minutes = u64::from(predecessor_minutes) * u64::from(percent) / 100;
                let minutes =
                    sizing::round_down_to_unit(u32::try_from(minutes).unwrap_or(u32::MAX));
                link.with_lag(i32::try_from(minutes).unwrap_or(most).min(most))
            }
            InstanceLag::Elapsed { minutes, least } => {
                // A night stays a night; only waits of days give way.
                let shortened = if minutes <= DAY { minutes } else { scale_lag(minutes, scale) };
                let shortened = shortened.max(least);
                let lag = shortened.clamp(-most, most);
                NodeDependency { lag_basis: LagBasis::Elapsed, ..link.with_lag(lag) }
            }
        };
        NodeDependency { rationale: self.why.clone(), ..link }
    }
}

const DAY: i32 = 24 * 60;

impl InstanceLag {
    /// A wait of so many minutes that never gives way.
    pub(super) fn exactly(minutes: i32) -> Self {
        Self::Elapsed { minutes, least: minutes }
    }

    /// What the file states as the least stays. An overlap of two parts is only a habit.
    fn from_file(link: &BlueprintLink, waits: WaitPolicy) -> Self {
        let in_minutes = |span: CalendarSpan| i32::try_from(span.in_minutes()).unwrap_or(i32::MAX);
        let minutes = link.lag.map_or(0, in_minutes);
        let usual = match (link.kind, waits) {
            (LinkKind::FS, WaitPolicy::Keep) => minutes,
            // Somebody who answers within two weeks answers within one when asked.
            (LinkKind::FS, WaitPolicy::Halve) => minutes.min(DAY.max(minutes / 2 / DAY * DAY)),
            (LinkKind::FS, WaitPolicy::Press) => minutes.min(DAY / 2),
            _ => 0,
        };
        Self::Elapsed { minutes, least: link.least.map_or(usual, in_minutes) }
    }
}

/// Scales a wait to whole days, at least one.
fn scale_lag(minutes: i32, scale: f64) -> i32 {
    let days = (f64::from(minutes) * scale.clamp(0.0, 1.0) / f64::from(DAY)).floor();
    (days as i32).max(1) * DAY
}

/// Joins the predecessors of a node that is gone with its successors.
pub(in super::super) fn bridge_links(links: Vec<InstanceLink>, gone: &TaskId) -> Vec<InstanceLink> {
    let (touching, mut kept): (Vec<InstanceLink>, Vec<InstanceLink>) =
        links.into_iter().partition(|link| link.from == *gone || link.to == *gone);
    for before in touching.iter().filter(|link| link.to == *gone) {
        for after in touching.iter().filter(|link| link.from == *gone) {
            kept.push(InstanceLink { from: before.from.clone(), ..after.clone() });
        }
    }
    kept
}
