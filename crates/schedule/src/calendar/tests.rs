use jiff::civil::{Date, DateTime, date, datetime};
use jiff::{Timestamp, Zoned};
use proptest::prelude::*;

use super::*;
use planwright_model::{LagBasis, LinkKind};

const BERLIN: &str = "Europe/Berlin";

/// The calendar of the examples, from Monday 2026-06-01 00:00 on.
fn office() -> WorkCalendar {
    WorkCalendar::new(WorkHours::office_hours(BERLIN), local(datetime(2026, 6, 1, 0, 0, 0, 0)))
        .unwrap()
}

fn local(at: DateTime) -> Timestamp {
    resolve_local(at, &find_zone(BERLIN).unwrap())
}

fn june(day: i8, hour: i8) -> Timestamp {
    local(datetime(2026, 6, day, hour, 0, 0, 0))
}

fn start_of(bound: LinkBound, minutes: u64) -> Timestamp {
    office().start_at(bound.earliest_start(minutes)).unwrap()
}

#[test]
fn example_1_a_start_after_friday_evening_is_monday_morning() {
    let calendar = office();
    let bound = calendar.link_bound(
        LinkKind::FS,
        0,
        LagBasis::Working,
        calendar.work_span(june(5, 16), june(5, 17)),
    );
    assert_eq!(start_of(bound, 60), june(8, 9));
}

#[test]
fn example_2_working_and_elapsed_lags() {
    let calendar = office();
    let from = calendar.work_span(june(5, 16), june(5, 17));
    assert_eq!(
        start_of(calendar.link_bound(LinkKind::FS, 480, LagBasis::Working, from), 60),
        june(9, 9)
    );
    assert_eq!(
        start_of(calendar.link_bound(LinkKind::FS, 1440, LagBasis::Elapsed, from), 60),
        june(8, 9)
    );
}

#[test]
fn example_3_start_to_start_and_a_lead() {
    let calendar = office();
    let from = calendar.work_span(june(8, 9), june(8, 12));
    assert_eq!(
        start_of(calendar.link_bound(LinkKind::SS, 240, LagBasis::Working, from), 60),
        june(8, 13)
    );
    assert_eq!(
        start_of(calendar.link_bound(LinkKind::FS, -60, LagBasis::Working, from), 60),
        june(8, 11)
    );
}

#[test]
fn example_4_finish_to_finish_pushes_the_start() {
    let calendar = office();
    let bound = calendar.link_bound(
        LinkKind::FF,
        60,
        LagBasis::Working,
        calendar.work_span(june(9, 9), june(9, 12)),
    );
    let LinkBound::Finish(finish) = bound else { panic!("not a finish: {bound:?}") };
    assert_eq!(calendar.finish_at(finish), Some(june(9, 13)));
    assert_eq!(start_of(bound, 120), june(9, 11));
}

#[test]
fn example_5_start_to_finish_allows_the_evening_before() {
    let calendar = office();
    let bound = calendar.link_bound(
        LinkKind::SF,
        0,
        LagBasis::Working,
        calendar.work_span(june(10, 9), june(10, 12)),
    );
    assert!(bound.is_met_by(calendar.work_span(june(9, 13), june(9, 17))));
    assert!(!bound.is_met_by(calendar.work_span(june(9, 12), june(9, 16))));
}

#[test]
fn example_6_skipped_and_repeated_local_times() {
    let skipped = local(datetime(2026, 3, 29, 2, 30, 0, 0));
    assert_eq!(skipped.to_string(), "2026-03-29T01:30:00Z");
    let shown: Zoned = skipped.to_zoned(find_zone(BERLIN).unwrap());
    assert_eq!(shown.to_string(), "2026-03-29T03:30:00+02:00[Europe/Berlin]");
    assert_eq!(local(datetime(2026, 10, 25, 2, 30, 0, 0)).to_string(), "2026-10-25T00:30:00Z");
}

#[test]
fn example_7_a_weekly_hour_is_kept_across_a_clock_change() {
    let rule = RecurrenceRule {
        every: RecurrenceInterval::Weeks(1),
        days: Vec::new(),
        count: None,
        from: None,
        until: None,
    };
    let zone = find_zone("America/New_York").unwrap();
    let dates = rule.dates_between(date(2026, 3, 6), date(2026, 3, 13));
    let nine = |date: &Date| resolve_local(date.at(9, 0, 0, 0), &zone);
    let times: Vec<Timestamp> = dates.iter().map(nine).collect();
    let shown: Vec<String> = times.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["2026-03-06T14:00:00Z", "2026-03-13T13:00:00Z"]);
    assert!(times.iter().all(|at| zone.to_datetime(*at).hour() == 9));
}

#[test]
fn an_interval_across_a_jump_is_shorter_or_longer_by_it() {
    let mut hours = WorkHours::office_hours(BERLIN);
    hours.working.iter_mut().for_each(|day| *day = vec![HourRange::new(0, 6 * 60)]);
    let from = |month, day| local(datetime(2026, month, day, 12, 0, 0, 0));
    let calendar = WorkCalendar::new(hours, from(3, 27)).unwrap();
    let night = |month, day| calendar.working_between(from(month, day), from(month, day + 1));
    assert_eq!((night(3, 27), night(3, 28), night(10, 24)), (360, 300, 420));
}

#[test]
fn days_off_and_extra_days_change_single_dates() {
    let mut hours = WorkHours::office_hours(BERLIN);
    hours.days_off.insert(date(2026, 6, 2));
    hours.extra_working.insert(date(2026, 6, 2), vec![HourRange::new(600, 660)]);
    hours
        .extra_working
        .insert(date(2026, 6, 6), vec![HourRange::new(540, 600), HourRange::new(570, 630)]);
    let calendar = WorkCalendar::new(hours, june(1, 0)).unwrap();
    let of = |day| calendar.working_between(june(day, 0), june(day + 1, 0));
    assert_eq!((of(1), of(2), of(6), of(7)), (480, 60, 90, 0));
}

#[test]
fn an_unknown_zone_is_reported_with_a_suggestion() {
    let error = find_zone("Europe/Berln").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no time zone \"Europe/Berln\"; did you mean Europe/Berlin?"
    );
    assert!(find_zone("nowhere at all").unwrap_err().to_string().contains("such as Europe/Berlin"));
}

#[test]
fn a_missing_date_means_the_last_day_of_the_month() {
    let rule = RecurrenceRule {
        every: RecurrenceInterval::Months(1),
        days: vec![RecurrenceRuleDay::Date(31)],
        count: Some(3),
        from: None,
        until: None,
    };
    let dates = rule.dates_between(date(2026, 1, 15), date(2027, 1, 1));
    assert_eq!(dates, [date(2026, 1, 31), date(2026, 2, 28), date(2026, 3, 31)]);
    let rule = RecurrenceRule {
        every: RecurrenceInterval::Months(12),
        days: Vec::new(),
        count: Some(2),
        from: None,
        until: None,
    };
    assert_eq!(
        rule.dates_between(date(2024, 2, 29), Date::MAX),
        [date(2024, 2, 29), date(2025, 2, 28)]
    );
}

#[test]
fn intervals_weekdays_and_until_are_kept() {
    let weekdays = vec![RecurrenceRuleDay::Each(0), RecurrenceRuleDay::Each(3)];
    let rule = RecurrenceRule {
        every: RecurrenceInterval::Weeks(2),
        days: weekdays,
        count: None,
        from: None,
        until: Some(date(2026, 6, 18)),
    };
    let dates = rule.dates_between(date(2026, 6, 2), date(2026, 12, 31));
    assert_eq!(dates, [date(2026, 6, 4), date(2026, 6, 15), date(2026, 6, 18)]);
    let last_friday = RecurrenceRule {
        every: RecurrenceInterval::Months(3),
        days: vec![RecurrenceRuleDay::Nth(-1, 4)],
        count: Some(2),
        from: None,
        until: None,
    };
    assert_eq!(
        last_friday.dates_between(date(2026, 6, 1), Date::MAX),
        [date(2026, 6, 26), date(2026, 9, 25)]
    );
}

#[test]
fn a_calendar_without_hours_has_no_start() {
    let mut hours = WorkHours::office_hours(BERLIN);
    hours.working = Default::default();
    let calendar = WorkCalendar::new(hours, june(1, 0)).unwrap();
    assert_eq!((calendar.start_at(0), calendar.finish_at(0)), (None, Some(june(1, 0))));
    assert_eq!((calendar.total_minutes(), calendar.working_minutes(Timestamp::MAX)), (0, 0));
}

fn any_hours() -> impl Strategy<Value = WorkHours> {
    let day = prop::collection::vec((0u16..1500, 0u16..1500), 0..3);
    let zones = prop::sample::select(vec![
        BERLIN,
        "America/New_York",
        "Asia/Kathmandu",
        "Pacific/Apia",
        "UTC",
    ]);
    (zones, prop::collection::vec(day, 7)).prop_map(|(tz, days)| {
        let mut hours = WorkHours::office_hours(tz);
        for (slot, day) in hours.working.iter_mut().zip(days) {
            *slot = day.into_iter().map(|(from, to)| HourRange::new(from, to)).collect();
        }
        hours
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn working_minutes_and_instants_convert_both_ways(
        hours in any_hours(), start in 0i64..2_000_000_000, asked in 0u64..4_000_000,
    ) {
        let start = Timestamp::from_second(start).unwrap();
        let calendar = WorkCalendar::new(hours, start).unwrap();
        if let (Some(begin), Some(finish)) = (calendar.start_at(asked), calendar.finish_at(asked)) {
            prop_assert_eq!(calendar.working_minutes(begin), asked);
            prop_assert_eq!(calendar.working_minutes(finish), asked);
            prop_assert!(finish <= begin);
            prop_assert_eq!(calendar.working_minutes(instant_of(minute_of(begin) + 1)), asked + 1);
            prop_assert!(asked == 0 || calendar.working_minutes(instant_of(minute_of(finish) - 1)) == asked - 1);
        } else {
            prop_assert!(asked >= calendar.total_minutes());
        }
        let sum: u64 = calendar.work_pieces(asked / 2, asked).map(|(_, _, length)| length).sum();
        prop_assert_eq!(sum, asked.min(calendar.total_minutes()) - (asked / 2).min(calendar.total_minutes()));
    }

    #[test]
    fn no_rule_panics_or_leaves_its_range(
        kind in 0u8..3, step in any::<u32>(), days in prop::collection::vec(any::<(u8, i8, i8)>(), 0..4),
        count in any::<Option<u32>>(), year in -9999i16..=9999, span in 0i64..5000,
    ) {
        let every = match kind { 0 => RecurrenceInterval::Days(step), 1 => RecurrenceInterval::Weeks(step), _ => RecurrenceInterval::Months(step) };
        let days = days.into_iter().map(|(kind, a, b)| match kind % 3 {
            0 => RecurrenceRuleDay::Each(a),
            1 => RecurrenceRuleDay::Nth(a, b),
            _ => RecurrenceRuleDay::Date(a),
        }).collect();
        let first = date(year, 5, 31);
        let last = plus_days(first, span);
        let dates = RecurrenceRule { every, days, count, from: None, until: None }.dates_between(first, last);
        prop_assert!(dates.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(dates.iter().all(|date| (first..=last).contains(date)));
    }
}
