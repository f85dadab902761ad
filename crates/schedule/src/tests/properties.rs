use std::collections::BTreeSet;

use proptest::prelude::*;

use super::verify::verify;
use super::*;
use planwright_model::{LagBasis, LocalTimeInterval, Recurrence, Weekday, WeeklyHours};

#[derive(Clone, Debug)]
struct Case {
    context: PlanContext,
    roadmap: Roadmap,
    events: Vec<FixedEvent>,
    locked: Vec<ScheduledBlock>,
}

impl Case {
    fn request(&self) -> ScheduleRequest<'_> {
        ScheduleRequest {
            events: &self.events,
            locked: &self.locked,
            iterations: 12,
            ..ScheduleRequest::new(&self.roadmap, &self.context)
        }
    }
}

fn any_context() -> impl Strategy<Value = PlanContext> {
    let caps = (prop::option::of(60u32..1500), 30u32..500, 1u16..4);
    let blocks = (1u32..90, 20u32..200, 0u32..40);
    let ends = (prop::option::of(0i64..60), prop::option::of(1u16..8), any::<bool>());
    (caps, blocks, ends).prop_map(|(caps, blocks, ends)| {
        let mut context = context(date(2026, 3, 23));
        context.constraints.weekly_minutes = caps.0;
        context.constraints.max_daily_minutes = caps.1;
        context.constraints.max_parallel_phases = caps.2;
        let prefs = &mut context.user_prefs;
        (prefs.min_block_minutes, prefs.max_block_minutes, prefs.break_minutes) = blocks;
        // A minimum that the caps allow, so that the independent check need not model how it is relaxed.
        prefs.min_block_minutes =
            prefs.min_block_minutes.min(caps.1).min(caps.0.unwrap_or(u32::MAX));
        context.constraints.deadline =
            ends.0.map(|days| moment("2026-03-27T17:00:00").plus_minutes(days * 1440));
        context.constraints.horizon_weeks = ends.1;
        if ends.2 {
            let morning = LocalTimeInterval::new(
                jiff::civil::time(9, 0, 0, 0),
                jiff::civil::time(12, 0, 0, 0),
            );
            context.user_prefs.preferred_windows =
                WeeklyHours::from([(Weekday::Tue, vec![morning])]);
        }
        context
    })
}

fn any_link(kind: u8, lag: i32, elapsed: bool) -> impl Fn(String, String) -> NodeDependency {
    let kind = [LinkKind::FS, LinkKind::SS, LinkKind::FF, LinkKind::SF][usize::from(kind % 4)];
    move |from, to| NodeDependency {
        lag_basis: if elapsed { LagBasis::Elapsed } else { LagBasis::Working },
        ..NodeDependency::new(from, to, kind).with_lag(lag)
    }
}

fn any_case(shared: bool) -> impl Strategy<Value = Case> {
    let phases = prop::collection::vec(prop::collection::vec(0u32..400, 1..4), 1..4);
    let links =
        prop::collection::vec((any::<[u8; 4]>(), any::<u8>(), -300i32..3000, any::<bool>()), 0..5);
    let events = prop::collection::vec((0i64..30_000, 1i64..600), 0..5);
    let locks = prop::collection::vec((0u8..4, 0i64..20_000, 10i64..60), 0..2);
    (any_context(), phases, links, events, locks).prop_map(
        move |(context, phases, links, events, locks)| {
            let slices: Vec<&[u32]> = phases.iter().map(Vec::as_slice).collect();
            let mut roadmap = roadmap(&context, &slices);
            for ([a, b, c, d], kind, lag, elapsed) in links {
                let name = |p: usize, t: u8| match usize::from(t) % (phases[p].len() + 1) {
                    0 => format!("p{p}"),
                    t => format!("p{p}.t{}", t - 1),
                };
                let (from, to) = (usize::from(a) % phases.len(), usize::from(b) % phases.len());
                // Forward only: a cycle has its own test.
                if from < to {
                    roadmap
                        .dependencies
                        .push(any_link(kind, lag, elapsed)(name(from, c), name(to, d)));
                }
            }
            if shared {
                roadmap.resources = [("desk".to_owned(), 2), ("van".to_owned(), 1)].into();
                for (index, node) in roadmap.nodes.iter_mut().enumerate() {
                    let (name, units) = [("desk", 1), ("desk", 2), ("van", 1)][index % 3];
                    node.resources = [(name.to_owned(), units)].into();
                }
            }
            let monday = moment("2026-03-23T09:00:00");
            let events = events.into_iter().map(|(from, length)| FixedEvent {
                title: "busy".into(),
                start: monday.plus_minutes(from),
                end: monday.plus_minutes(from + length),
            });
            let mut end = 0;
            let locked = locks.into_iter().filter(|_| !shared).map(|(task, gap, minutes)| {
                let start = monday.plus_minutes(end + gap);
                end += gap + minutes;
                let mut block = ScheduledBlock::new(
                    format!("p0.t{}", task % 2),
                    "locked",
                    start,
                    monday.plus_minutes(end),
                    BERLIN,
                );
                block.id = format!("lock{end}");
                block.locked = true;
                block
            });
            let locked =
                locked.filter(|block| roadmap.find_node(&block.plan_node_id).is_some()).collect();
            Case { context, roadmap, events: events.collect(), locked }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_schedule_never_breaks_a_link_a_cap_the_calendar_or_a_lock(case in any_case(false)) {
        let found = schedule_roadmap(&case.request()).unwrap();
        prop_assert_eq!(verify(&case.request(), &found), Ok(()));
        prop_assert_eq!(schedule_roadmap(&case.request()).unwrap(), found);
    }

    #[test]
    fn no_work_is_on_a_day_off_or_lost_however_it_is_spread(
        mut case in any_case(false),
        off in prop::collection::btree_set(0i64..60, 0..20),
        preferred in prop::collection::vec(0usize..6, 12),
        shared in prop::option::of(60u32..900),
    ) {
        let first = case.context.constraints.start;
        case.context.calendar.days_off =
            off.into_iter().map(|day| crate::calendar::plus_days(first, day)).collect();
        case.context.constraints.all_plans_weekly_minutes = shared;
        for (node, time) in case.roadmap.nodes.iter_mut().zip(preferred) {
            node.preferred_time = planwright_model::PreferredTime::ALL.get(time).copied();
        }
        let found = schedule_roadmap(&case.request()).unwrap();
        prop_assert_eq!(verify(&case.request(), &found), Ok(()));
        let off = &case.context.calendar.days_off;
        let placed = found.blocks.iter().filter(|block| !block.locked);
        prop_assert!(placed.clone().all(|block| !off.contains(&block.start.local_date())));
        let locked: BTreeSet<_> = case.locked.iter().map(|block| &block.plan_node_id).collect();
        for node in case.roadmap.nodes.iter().filter(|node| !locked.contains(&node.id)) {
            let minutes = found.blocks_for_node(&node.id).map(|block| block.estimated_minutes);
            let unplaced = found.unplaced.iter().filter(|left| left.plan_node_id == node.id);
            let all: u32 = minutes.sum::<u32>() + unplaced.map(|left| left.minutes).sum::<u32>();
            prop_assert_eq!(all, node.work_minutes(), "{}", node.id);
        }
        let weekly = case.context.constraints.weekly_minutes.into_iter().chain(shared).min();
        for row in found.capacity.iter().filter(|_| case.locked.is_empty()) {
            prop_assert!(row.planned_minutes <= weekly.unwrap_or(u32::MAX), "{}", row.week);
        }
        prop_assert_eq!(schedule_roadmap(&case.request()).unwrap(), found);
    }

    #[test]
    fn a_schedule_with_resources_respects_their_capacity(case in any_case(true)) {
        let found = schedule_roadmap(&case.request()).unwrap();
        prop_assert_eq!(verify(&case.request(), &found), Ok(()));
        prop_assert_eq!(schedule_roadmap(&case.request()).unwrap(), found);
    }

    #[test]
    fn no_node_content_causes_a_panic(
        mut case in any_case(false), parents in prop::collection::vec(any::<u8>(), 0..8),
        recurrences in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u16>(), any::<Option<u32>>()), 0..3),
        pairs in prop::collection::vec(any::<(u8, u8, i32)>(), 0..6),
    ) {
        let ids: Vec<_> = case.roadmap.nodes.iter().map(|node| node.id.clone()).collect();
        let pick = |at: u8| ids[usize::from(at) % ids.len()].clone();
        for (node, parent) in case.roadmap.nodes.iter_mut().skip(2).zip(parents) {
            node.parent_id = Some(pick(parent));
        }
        for (at, freq, interval, count) in recurrences {
            use planwright_model::RecurrenceFrequency::{Daily, Monthly, Quarterly, Weekly, Yearly};
            let freq = [Daily, Weekly, Monthly, Quarterly, Yearly][usize::from(freq % 5)];
            let index = usize::from(at) % case.roadmap.nodes.len();
            let at_local = (interval % 2 == 0).then(|| jiff::civil::time((interval % 24) as i8, 30, 0, 0));
            case.roadmap.nodes[index].recurrence = Some(Recurrence { interval, at_local, count, ..Recurrence::every(freq) });
        }
        for (from, to, lag) in pairs {
            case.roadmap.dependencies.push(NodeDependency::finish_to_start(pick(from), pick(to)).with_lag(lag));
        }
        let request = ScheduleRequest { iterations: 2, ..case.request() };
        let found = schedule_roadmap(&request).unwrap();
        prop_assert!(found.blocks.iter().all(|block| block.start < block.end));
        critical_path(&case.roadmap);
        leaf_timings(&case.roadmap, &case.context).unwrap();
    }
}
