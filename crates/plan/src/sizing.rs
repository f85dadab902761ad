//! The total work of a plan and how it is distributed.

/// The unit in which effort is distributed, in minutes.
pub const EFFORT_UNIT_MINUTES: u32 = 15;
/// The unit of a training session, in minutes.
const TRAINING_UNIT: u32 = 5;
/// The shortest training session, in units.
const LEAST_SESSION_UNITS: u32 = 3;
/// The most weeks of rest before the day.
const MAX_TAPER: u16 = 3;
/// The share of the peak with which a training begins.
const FIRST_SHARE: f64 = 0.45;
/// The longest training that is drafted week by week.
pub const MAX_TRAINING_WEEKS: u16 = 52;
/// The maximum length of a study session, in minutes.
const MAX_SESSION_MINUTES: u32 = 90;

/// The origin of a plan's hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoursOrigin {
    /// Stated by the person: they are used in full.
    Stated,
    /// From the template: only the target share of them is planned.
    Assumed,
}

/// E = H·W·u, rounded down to a multiple of 15 minutes. The horizon is in days, so that a deadline is used exactly.
pub fn planned_effort(
    days: u32,
    weekly_minutes: u32,
    hours: HoursOrigin,
    target_utilization: f64,
) -> u32 {
    let share = match hours {
        HoursOrigin::Stated => 1000,
        HoursOrigin::Assumed => (target_utilization.clamp(0.0, 1.0) * 1000.0).round() as u64,
    };
    let minutes = u64::from(days) * u64::from(weekly_minutes) * share / 7000;
    round_down_to_unit(u32::try_from(minutes).unwrap_or(u32::MAX))
}

/// Rounds down to a multiple of 15 minutes.
pub fn round_down_to_unit(minutes: u32) -> u32 {
    minutes - minutes % EFFORT_UNIT_MINUTES
}

/// Distributes `total` units by weight with the largest remainders; each part gets at least its minimum. Ties go to the
/// earlier part. If the minimums alone exceed `total`, each part gets its minimum.
pub fn apportion_units(total: u32, parts: &[WeightedPart]) -> Vec<u32> {
    let weight: u64 = parts.iter().map(|part| u64::from(part.weight)).sum();
    if weight == 0 {
        return parts.iter().map(|part| part.floor).collect();
    }
    let exact = |part: &WeightedPart| u64::from(total) * u64::from(part.weight);
    let mut shares: Vec<u32> = parts.iter().map(|part| (exact(part) / weight) as u32).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(exact(&parts[index]) % weight));
    let left = total - shares.iter().sum::<u32>();
    for &index in order.iter().take(left as usize) {
        shares[index] += 1;
    }
    lift_to_floors(&mut shares, parts);
    shares
}

/// A part to which units are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedPart {
    pub weight: u32,
    pub floor: u32,
}

fn lift_to_floors(shares: &mut [u32], parts: &[WeightedPart]) {
    for index in 0..parts.len() {
        while shares[index] < parts[index].floor {
            shares[index] += 1;
            let spare = |at: &usize| shares[*at].saturating_sub(parts[*at].floor);
            // The last of the largest parts gives one up, since ties favor the earlier part.
            if let Some(giver) =
                (0..parts.len()).filter(|at| *at != index && spare(at) > 0).max_by_key(spare)
            {
                shares[giver] -= 1;
            }
        }
    }
}

/// Returns the number of sessions per week, and their length: ceil(W/90) of W/n, rounded to 15 minutes.
pub fn weekly_sessions(weekly_minutes: u32) -> (u32, u32) {
    let count = weekly_minutes.div_ceil(MAX_SESSION_MINUTES).max(1);
    let each = (f64::from(weekly_minutes) / f64::from(count) / f64::from(EFFORT_UNIT_MINUTES))
        .round() as u32
        * EFFORT_UNIT_MINUTES;
    (count, each.max(EFFORT_UNIT_MINUTES))
}

/// Weeks of each training phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainingWeeks {
    pub base: u16,
    pub build: u16,
    pub peak: u16,
    pub taper: u16,
}

impl TrainingWeeks {
    pub fn from_total(weeks: u16) -> Self {
        let weeks = weeks.clamp(2, MAX_TRAINING_WEEKS);
        let part = |share: f64| (share * f64::from(weeks)).round() as u16;
        let (taper, peak, build) = (part(0.125).min(MAX_TAPER), part(0.1875), part(0.3125));
        Self { base: weeks - taper - peak - build, build, peak, taper }
    }

    /// Base, build, peak, taper.
    pub fn to_array(self) -> [u16; 4] {
        [self.base, self.build, self.peak, self.taper]
    }
}

/// Minutes of each training week: growing by a tenth, or less if there are many weeks, every fourth week 0.8 of the previous one (never the last before
/// the taper), then falling evenly from 0.75 to 0.50 of the peak; scaled so that the peak week has `peak` minutes.
pub fn training_loads(weeks: TrainingWeeks, peak: u32) -> Vec<u32> {
    let before = usize::from(weeks.base + weeks.build + weeks.peak);
    let mut loads: Vec<f64> = Vec::with_capacity(before + usize::from(weeks.taper));
    let steps = (2..=before).filter(|week| week % 4 != 0 || *week == before).count();
    let growth = FIRST_SHARE.recip().powf(1.0 / steps.max(1) as f64).min(1.1);
    let mut steady = 1.0;
    for week in 1..=before {
        let recovers = week % 4 == 0 && week != before;
        let load = match loads.last() {
            None => steady,
            Some(last) if recovers => 0.8 * last,
            Some(_) => {
                steady *= growth;
                steady
            }
        };
        loads.push(load);
    }
    let top = loads.iter().copied().fold(1.0, f64::max);
    let taper = usize::from(weeks.taper);
    for week in 0..taper {
        let fall = if taper == 1 { 1.0 } else { week as f64 / (taper - 1) as f64 };
        loads.push(top * (0.75 - 0.25 * fall));
    }
    let unit = f64::from(TRAINING_UNIT);
    let round = |load: f64| ((load / top * f64::from(peak) / unit).round() * unit) as u32;
    loads.into_iter().map(|load| round(load).max(TRAINING_UNIT)).collect()
}

/// Distributes a training week among its sessions. A light week has fewer of them: the smallest ones get no minutes.
pub fn training_week(load: u32, weights: &[u32]) -> Vec<u32> {
    let units = load / TRAINING_UNIT;
    let kept = weights.len().min((units / LEAST_SESSION_UNITS).max(1) as usize);
    let floor = LEAST_SESSION_UNITS.min(units);
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&place| (std::cmp::Reverse(weights[place]), place));
    order.truncate(kept);
    order.sort_unstable();
    let parts: Vec<WeightedPart> =
        order.iter().map(|&place| WeightedPart { weight: weights[place], floor }).collect();
    let mut minutes = vec![0; weights.len()];
    for (place, share) in order.into_iter().zip(apportion_units(units, &parts)) {
        minutes[place] = share * TRAINING_UNIT;
    }
    minutes
}

/// Scales the minutes of a routine, to full minutes and at least one: steps of five would hide the scaling.
pub fn scale_routine(minutes: u32, percent: u32) -> u32 {
    let scaled = (u64::from(minutes) * u64::from(percent) + 50) / 100;
    u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(weights: &[u32]) -> Vec<WeightedPart> {
        weights.iter().map(|weight| WeightedPart { weight: *weight, floor: 1 }).collect()
    }

    fn minutes(total: u32, weights: &[u32]) -> Vec<u32> {
        apportion_units(total / EFFORT_UNIT_MINUTES, &parts(weights))
            .into_iter()
            .map(|units| units * EFFORT_UNIT_MINUTES)
            .collect()
    }

    #[test]
    fn example_17_sizes_the_newsletter() {
        let effort = planned_effort(6 * 7, 600, HoursOrigin::Assumed, 0.8);
        assert_eq!(effort, 2880);
        assert_eq!(minutes(effort, &[15, 35, 25, 15, 10]), [435, 1005, 720, 435, 285]);
    }

    #[test]
    fn example_18_sizes_learning_rust() {
        let effort = planned_effort(12 * 7, 300, HoursOrigin::Stated, 0.8);
        assert_eq!(effort, 3600);
        assert_eq!(minutes(effort, &[30, 35, 25, 10]), [1080, 1260, 900, 360]);
        assert_eq!(weekly_sessions(300), (4, 75));
    }

    #[test]
    fn example_18_loads_the_marathon() {
        let weeks = TrainingWeeks::from_total(16);
        assert_eq!(weeks.to_array(), [6, 5, 3, 2]);
        assert_eq!(
            training_loads(weeks, 300),
            [135, 145, 160, 125, 170, 185, 200, 160, 220, 235, 255, 205, 275, 300, 225, 150]
        );
    }

    #[test]
    fn a_training_week_is_distributed_completely() {
        assert_eq!(training_week(300, &[350, 200, 100, 175, 175]), [105, 60, 30, 55, 50]);
        assert_eq!(training_week(5, &[350, 200, 100]), [5, 0, 0]);
        // The long session stays, the short ones go.
        assert_eq!(training_week(40, &[100, 200, 350]), [0, 15, 25]);
    }

    #[test]
    fn a_single_taper_week_is_half_the_peak() {
        let loads = training_loads(TrainingWeeks::from_total(8), 200);
        assert_eq!(loads.last(), Some(&100));
        assert_eq!(TrainingWeeks::from_total(8).taper, 1);
    }

    #[test]
    fn routines_are_scaled_to_full_minutes() {
        assert_eq!(
            [scale_routine(10, 75), scale_routine(5, 75), scale_routine(20, 125)],
            [8, 4, 25]
        );
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_total_and_keep_their_minimums(
            weights in prop::collection::vec(1u32..1000, 1..40), more in 0u32..5000,
        ) {
            let total = weights.len() as u32 + more;
            let shares = apportion_units(total, &parts(&weights));
            prop_assert_eq!(shares.iter().sum::<u32>(), total);
            prop_assert!(shares.iter().all(|share| *share > 0));
        }

        #[test]
        fn training_grows_by_no_more_than_a_tenth(weeks in 0u16..80, peak in 30u32..2000) {
            let weeks = TrainingWeeks::from_total(weeks);
            let loads = training_loads(weeks, peak);
            let before = usize::from(weeks.base + weeks.build + weeks.peak);
            prop_assert!(loads.iter().all(|load| *load > 0));
            let mut steady = loads[0];
            for (index, load) in loads[..before].iter().enumerate().skip(1) {
                if (index + 1) % 4 == 0 && index + 1 != before { continue; }
                // Rounding both weeks to 5 may add one step on either side.
                prop_assert!(f64::from(*load) <= f64::from(steady) * 1.1 + 6.0);
                steady = *load;
            }
        }
    }
}
