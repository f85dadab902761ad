//! The times of the week at which a task is best done, as a soft preference.

use jiff::civil::{Time, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LocalTimeInterval, Weekday, WeeklyHours};

/// When a task is best done. The scheduler follows it where the person's hours allow, and never fails because of it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PreferredTime {
    Mornings,
    Evenings,
    Weekends,
    EveningsAndWeekends,
    OfficeHours,
    /// Working days and Saturdays, until the evening.
    ShopHours,
}

impl PreferredTime {
    pub const ALL: [Self; 6] = [
        Self::Mornings,
        Self::Evenings,
        Self::Weekends,
        Self::EveningsAndWeekends,
        Self::OfficeHours,
        Self::ShopHours,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mornings => "mornings",
            Self::Evenings => "evenings",
            Self::Weekends => "weekends",
            Self::EveningsAndWeekends => "evenings_and_weekends",
            Self::OfficeHours => "office_hours",
            Self::ShopHours => "shop_hours",
        }
    }

    /// As displayed.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Mornings => "mornings",
            Self::Evenings => "evenings",
            Self::Weekends => "weekends",
            Self::EveningsAndWeekends => "evenings and weekends",
            Self::OfficeHours => "office hours",
            Self::ShopHours => "shop hours",
        }
    }

    /// The local times that it means, for each day of the week.
    pub fn weekly_hours(self) -> WeeklyHours {
        let midnight = Time::midnight();
        let [morning, evening, office, shop] = [
            LocalTimeInterval::new(time(5, 0, 0, 0), time(12, 0, 0, 0)),
            LocalTimeInterval::new(time(17, 0, 0, 0), midnight),
            LocalTimeInterval::new(time(9, 0, 0, 0), time(17, 0, 0, 0)),
            LocalTimeInterval::new(time(9, 0, 0, 0), time(20, 0, 0, 0)),
        ];
        let hours_on = |weekend: bool| match self {
            Self::Mornings => Some(morning),
            Self::Weekends | Self::EveningsAndWeekends if weekend => {
                Some(LocalTimeInterval::new(midnight, midnight))
            }
            Self::Evenings | Self::EveningsAndWeekends => Some(evening),
            Self::OfficeHours if !weekend => Some(office),
            Self::Weekends | Self::OfficeHours => None,
            Self::ShopHours => Some(shop),
        };
        let days = Weekday::ALL.into_iter().filter_map(|day| {
            let weekend = matches!(day, Weekday::Sat | Weekday::Sun);
            let closed = self == Self::ShopHours && day == Weekday::Sun;
            hours_on(weekend).filter(|_| !closed).map(|hours| (day, vec![hours]))
        });
        days.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preference_has_a_name_and_hours() {
        for time in PreferredTime::ALL {
            let json = serde_json::to_string(&time).unwrap();
            assert_eq!(json, format!("\"{}\"", time.as_str()));
            let hours = time.weekly_hours();
            assert!(hours.values().flatten().all(|span| span.duration_minutes() > 0), "{time:?}");
        }
        let days = |time: PreferredTime| time.weekly_hours().into_keys().collect::<Vec<_>>();
        assert_eq!(days(PreferredTime::Weekends), [Weekday::Sat, Weekday::Sun]);
        assert_eq!(days(PreferredTime::OfficeHours), Weekday::ALL[..5]);
        assert_eq!(days(PreferredTime::EveningsAndWeekends), Weekday::ALL);
    }
}
