//! Schedules that the scheduler produces from valid roadmaps break no rule.

use proptest::prelude::*;

use super::fixture::*;
use crate::grammar::{PlanArtifacts, validate_schedule};
use planwright_model::{LagBasis, LinkKind, NodeDependency, Severity, Violation};
use planwright_schedule::{ScheduleRequest, schedule_roadmap};

fn with_own_schedule(mut plan: PlanArtifacts, iterations: u64) -> PlanArtifacts {
    let roadmap = plan.roadmap.as_ref().unwrap();
    let request = ScheduleRequest { iterations, ..ScheduleRequest::new(roadmap, plan.context()) };
    let made = schedule_roadmap(&request).unwrap();
    plan.schedule = Some(made);
    plan
}

fn faults(plan: &PlanArtifacts) -> Vec<Violation> {
    let found = validate_schedule(plan).into_iter();
    found.filter(|violation| violation.severity == Severity::Repairable).collect()
}

#[test]
fn schedules_of_all_patterns_break_no_rule() {
    for plan in [project(), arc(), routine(), hybrid(), transformation()] {
        let plan = with_own_schedule(with_roadmap(plan), 50);
        assert_eq!(faults(&plan), [], "{:#?}", plan.schedule);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn schedules_with_any_links_break_no_rule(
        minutes in prop::collection::vec(1..400_u32, 4),
        lags in prop::collection::vec(-60..600_i32, 4),
        kinds in prop::collection::vec(0..4_usize, 4),
        elapsed in any::<bool>(),
    ) {
        let mut plan = with_roadmap(project());
        for (id, minutes) in ["p1.t1", "p1.t2", "p2.t1", "p2.t2"].iter().zip(&minutes) {
            road_node(&mut plan, id).estimate_minutes = Some(*minutes);
        }
        let roadmap = plan.roadmap.as_mut().unwrap();
        let ends = [("p1.t1", "p1.t2"), ("p1.t2", "p2.t1"), ("p2.t1", "p2.t2"), ("p1", "p2")];
        let all = [LinkKind::FS, LinkKind::SS, LinkKind::FF, LinkKind::SF];
        for ((&(from, to), lag), kind) in ends.iter().zip(&lags).zip(&kinds) {
            let mut link = NodeDependency::new(from, to, all[*kind]).with_lag(*lag);
            link.lag_basis = if elapsed { LagBasis::Elapsed } else { LagBasis::Working };
            roadmap.dependencies.push(link);
        }
        let plan = with_own_schedule(plan, 20);
        prop_assert_eq!(faults(&plan), vec![], "{:#?}", plan.schedule);
    }
}
