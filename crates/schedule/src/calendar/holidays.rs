//! Public holidays of a country, computed by rule: those of the whole country or, where the law leaves them to regions,
//! of most of them. Regional days are the person's own days off.

use std::collections::BTreeSet;

use jiff::civil::{Date, Weekday, date};

use super::zone::plus_days;

/// A country whose public holidays are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HolidayCountry {
    Germany,
    Austria,
    Switzerland,
    UnitedStates,
    UnitedKingdom,
    France,
    Spain,
    Italy,
    Netherlands,
    Poland,
    Canada,
    Australia,
    Japan,
}

/// A day of every year.
#[derive(Clone, Copy, Debug)]
enum HolidayRule {
    /// A month and a day.
    Fixed(i8, i8),
    /// Days after Easter Sunday.
    Easter(i64),
    /// The nth weekday of a month; the last one if negative.
    Nth(i8, Weekday, i8),
    /// The last Monday before a day of a month.
    MondayBefore(i8, i8),
    /// A fixed day from a year on.
    Since(i16, i8, i8),
    /// A fixed day in years that can be divided by five.
    EveryFifthYear(i8, i8),
    /// King's Day: 27 April, or the day before if that is a Sunday.
    KingsDay,
    SpringEquinox,
    AutumnEquinox,
}

/// What happens if a holiday is on a weekend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WeekendRule {
    Lost,
    /// Saturday moves to Friday, Sunday to Monday.
    Nearest,
    /// The next weekday that is not a holiday itself is off.
    NextWeekday,
    /// A Sunday moves to the next day that is not a holiday; a day between two holidays is one.
    Japanese,
}

const GOOD_FRIDAY: HolidayRule = HolidayRule::Easter(-2);
const EASTER_MONDAY: HolidayRule = HolidayRule::Easter(1);
const ASCENSION: HolidayRule = HolidayRule::Easter(39);
const WHIT_MONDAY: HolidayRule = HolidayRule::Easter(50);
const CORPUS_CHRISTI: HolidayRule = HolidayRule::Easter(60);
const NEW_YEAR: HolidayRule = HolidayRule::Fixed(1, 1);
const EPIPHANY: HolidayRule = HolidayRule::Fixed(1, 6);
const LABOR_DAY: HolidayRule = HolidayRule::Fixed(5, 1);
const ASSUMPTION_DAY: HolidayRule = HolidayRule::Fixed(8, 15);
const ALL_SAINTS: HolidayRule = HolidayRule::Fixed(11, 1);
const IMMACULATE: HolidayRule = HolidayRule::Fixed(12, 8);
const CHRISTMAS: HolidayRule = HolidayRule::Fixed(12, 25);
const BOXING_DAY: HolidayRule = HolidayRule::Fixed(12, 26);

impl HolidayCountry {
    pub const ALL: [Self; 13] = [
        Self::Germany,
        Self::Austria,
        Self::Switzerland,
        Self::UnitedStates,
        Self::UnitedKingdom,
        Self::France,
        Self::Spain,
        Self::Italy,
        Self::Netherlands,
        Self::Poland,
        Self::Canada,
        Self::Australia,
        Self::Japan,
    ];

    /// Its code of two letters.
    pub fn code(self) -> &'static str {
        match self {
            Self::Germany => "DE",
            Self::Austria => "AT",
            Self::Switzerland => "CH",
            Self::UnitedStates => "US",
            Self::UnitedKingdom => "GB",
            Self::France => "FR",
            Self::Spain => "ES",
            Self::Italy => "IT",
            Self::Netherlands => "NL",
            Self::Poland => "PL",
            Self::Canada => "CA",
            Self::Australia => "AU",
            Self::Japan => "JP",
        }
    }

    /// Its name after "in".
    pub fn name(self) -> &'static str {
        match self {
            Self::Germany => "Germany",
            Self::Austria => "Austria",
            Self::Switzerland => "Switzerland",
            Self::UnitedStates => "the United States",
            Self::UnitedKingdom => "the United Kingdom",
            Self::France => "France",
            Self::Spain => "Spain",
            Self::Italy => "Italy",
            Self::Netherlands => "the Netherlands",
            Self::Poland => "Poland",
            Self::Canada => "Canada",
            Self::Australia => "Australia",
            Self::Japan => "Japan",
        }
    }

    /// Reads a code or a name.
    pub fn parse(text: &str) -> Option<Self> {
        let wanted = text.trim().to_lowercase();
        let wanted = wanted.strip_prefix("the ").unwrap_or(&wanted);
        let known = |country: &Self| {
            let name = country.name().to_lowercase();
            name.strip_prefix("the ").unwrap_or(&name) == wanted
                || country.code().to_lowercase() == wanted
        };
        let short = match wanted {
            "uk" | "england" | "wales" | "britain" | "great britain" => Some(Self::UnitedKingdom),
            "usa" | "america" | "united states of america" => Some(Self::UnitedStates),
            "holland" => Some(Self::Netherlands),
            _ => None,
        };
        short.or_else(|| Self::ALL.into_iter().find(known))
    }

    /// Returns the holidays of a year, sorted. A holiday of 1 January that is observed the day before is among those of
    /// its own year.
    pub fn holidays(self, year: i16) -> BTreeSet<Date> {
        let (rules, weekend) = self.rules();
        let days: Vec<Date> = rules.iter().filter_map(|rule| rule.date_in(year)).collect();
        observe_days(&days, weekend)
    }

    fn rules(self) -> (Vec<HolidayRule>, WeekendRule) {
        use HolidayRule::Fixed;
        let (rules, weekend): (&[HolidayRule], _) = match self {
            Self::Germany => (
                &[GOOD_FRIDAY, EASTER_MONDAY, LABOR_DAY, ASCENSION, WHIT_MONDAY, Fixed(10, 3)],
                WeekendRule::Lost,
            ),
            Self::Austria => (
                &[
                    EPIPHANY,
                    EASTER_MONDAY,
                    LABOR_DAY,
                    ASCENSION,
                    WHIT_MONDAY,
                    CORPUS_CHRISTI,
                    ASSUMPTION_DAY,
                    Fixed(10, 26),
                    ALL_SAINTS,
                    IMMACULATE,
                ],
                WeekendRule::Lost,
            ),
            Self::Switzerland => (
                &[GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, WHIT_MONDAY, Fixed(8, 1)],
                WeekendRule::Lost,
            ),
            Self::France => (
                &[
                    EASTER_MONDAY,
                    LABOR_DAY,
                    Fixed(5, 8),
                    ASCENSION,
                    WHIT_MONDAY,
                    Fixed(7, 14),
                    ASSUMPTION_DAY,
                    ALL_SAINTS,
                    Fixed(11, 11),
                ],
                WeekendRule::Lost,
            ),
            Self::Spain => (
                &[
                    EPIPHANY,
                    GOOD_FRIDAY,
                    LABOR_DAY,
                    ASSUMPTION_DAY,
                    Fixed(10, 12),
                    ALL_SAINTS,
                    Fixed(12, 6),
                    IMMACULATE,
                ],
                WeekendRule::Lost,
            ),
            Self::Italy => (
                &[
                    EPIPHANY,
                    EASTER_MONDAY,
                    Fixed(4, 25),
                    LABOR_DAY,
                    Fixed(6, 2),
                    ASSUMPTION_DAY,
                    HolidayRule::Since(2026, 10, 4),
                    ALL_SAINTS,
                    IMMACULATE,
                ],
                WeekendRule::Lost,
            ),
            Self::Netherlands => (
                &[
                    EASTER_MONDAY,
                    HolidayRule::KingsDay,
                    HolidayRule::EveryFifthYear(5, 5),
                    ASCENSION,
                    WHIT_MONDAY,
                ],
                WeekendRule::Lost,
            ),
            Self::Poland => (
                &[
                    EPIPHANY,
                    EASTER_MONDAY,
                    LABOR_DAY,
                    Fixed(5, 3),
                    CORPUS_CHRISTI,
                    ASSUMPTION_DAY,
                    ALL_SAINTS,
                    Fixed(11, 11),
                    HolidayRule::Since(2025, 12, 24),
                ],
                WeekendRule::Lost,
            ),
            _ => return self.rules_overseas(),
        };
        let mut rules = rules.to_vec();
        rules.extend([NEW_YEAR, CHRISTMAS]);
        let second_day = !matches!(self, Self::France | Self::Spain);
        rules.extend(second_day.then_some(BOXING_DAY));
        (rules, weekend)
    }

    /// The rules of the countries that make up for a holiday on a weekend.
    fn rules_overseas(self) -> (Vec<HolidayRule>, WeekendRule) {
        use HolidayRule::{Fixed, Nth};
        use Weekday::{Monday, Thursday};
        match self {
            Self::UnitedStates => (
                vec![
                    NEW_YEAR,
                    Nth(1, Monday, 3),
                    Nth(2, Monday, 3),
                    Nth(5, Monday, -1),
                    Fixed(6, 19),
                    Fixed(7, 4),
                    Nth(9, Monday, 1),
                    Nth(10, Monday, 2),
                    Fixed(11, 11),
                    Nth(11, Thursday, 4),
                    CHRISTMAS,
                ],
                WeekendRule::Nearest,
            ),
            Self::Canada => (
                vec![
                    NEW_YEAR,
                    GOOD_FRIDAY,
                    HolidayRule::MondayBefore(5, 25),
                    Fixed(7, 1),
                    Nth(9, Monday, 1),
                    Fixed(9, 30),
                    Nth(10, Monday, 2),
                    Fixed(11, 11),
                    CHRISTMAS,
                    BOXING_DAY,
                ],
                WeekendRule::NextWeekday,
            ),
            Self::Australia => (
                vec![
                    NEW_YEAR,
                    Fixed(1, 26),
                    GOOD_FRIDAY,
                    EASTER_MONDAY,
                    Fixed(4, 25),
                    CHRISTMAS,
                    BOXING_DAY,
                ],
                WeekendRule::NextWeekday,
            ),
            Self::Japan => (
                vec![
                    NEW_YEAR,
                    Nth(1, Monday, 2),
                    Fixed(2, 11),
                    Fixed(2, 23),
                    HolidayRule::SpringEquinox,
                    Fixed(4, 29),
                    Fixed(5, 3),
                    Fixed(5, 4),
                    Fixed(5, 5),
                    Nth(7, Monday, 3),
                    Fixed(8, 11),
                    Nth(9, Monday, 3),
                    HolidayRule::AutumnEquinox,
                    Nth(10, Monday, 2),
                    Fixed(11, 3),
                    Fixed(11, 23),
                ],
                WeekendRule::Japanese,
            ),
            // England and Wales.
            _ => (
                vec![
                    NEW_YEAR,
                    GOOD_FRIDAY,
                    EASTER_MONDAY,
                    Nth(5, Monday, 1),
                    Nth(5, Monday, -1),
                    Nth(8, Monday, -1),
                    CHRISTMAS,
                    BOXING_DAY,
                ],
                WeekendRule::NextWeekday,
            ),
        }
    }
}

impl HolidayRule {
    fn date_in(self, year: i16) -> Option<Date> {
        let on = |month, day| Date::new(year, month, day).ok();
        match self {
            Self::Fixed(month, day) => on(month, day),
            Self::Easter(days) => Some(plus_days(easter_sunday(year)?, days)),
            Self::Nth(month, weekday, nth) => on(month, 1)?.nth_weekday_of_month(nth, weekday).ok(),
            Self::MondayBefore(month, day) => on(month, day)?.nth_weekday(-1, Weekday::Monday).ok(),
            Self::Since(first, month, day) => on(month, day).filter(|_| year >= first),
            Self::EveryFifthYear(month, day) => on(month, day).filter(|_| year % 5 == 0),
            Self::KingsDay => on(4, 27).map(|day| match day.weekday() {
                Weekday::Sunday => plus_days(day, -1),
                _ => day,
            }),
            Self::SpringEquinox => on(3, equinox_day(20.8431, year)?),
            Self::AutumnEquinox => on(9, equinox_day(23.2488, year)?),
        }
    }
}

/// The day of an equinox in Japan, by the usual approximation; it holds from 1980 to 2099.
fn equinox_day(first: f64, year: i16) -> Option<i8> {
    let years = f64::from(year) - 1980.0;
    (1980..2100)
        .contains(&year)
        .then(|| (first + 0.242_194 * years - (years / 4.0).floor()).floor() as i8)
}

/// Easter Sunday in the Gregorian calendar: the anonymous algorithm, as Meeus has it.
#[expect(clippy::many_single_char_names, reason = "the letters of the published algorithm")]
pub fn easter_sunday(year: i16) -> Option<Date> {
    let y = i32::from(year);
    let (a, b, c) = (y % 19, y / 100, y % 100);
    let (d, e) = (b / 4, b % 4);
    let g = (8 * b + 13) / 25;
    let h = (19 * a + b - d - g + 15) % 30;
    let (i, k) = (c / 4, c % 4);
    let l = (32 + 2 * e + 2 * i - h - k) % 7;
    let m = (a + 11 * h + 22 * l) / 451;
    let (month, day) = ((h + l - 7 * m + 114) / 31, (h + l - 7 * m + 114) % 31 + 1);
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn is_weekend(day: Date) -> bool {
    matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday)
}

/// Returns the days with those that make up for weekends.
fn observe_days(days: &[Date], weekend: WeekendRule) -> BTreeSet<Date> {
    let mut observed: BTreeSet<Date> = days.iter().copied().collect();
    for &day in days {
        match (weekend, day.weekday()) {
            (WeekendRule::Nearest, Weekday::Saturday) => {
                observed.insert(plus_days(day, -1));
            }
            (WeekendRule::Nearest, Weekday::Sunday) => {
                observed.insert(plus_days(day, 1));
            }
            (WeekendRule::NextWeekday, Weekday::Saturday | Weekday::Sunday)
            | (WeekendRule::Japanese, Weekday::Sunday) => {
                let mut next = plus_days(day, 1);
                while observed.contains(&next) || is_weekend(next) {
                    next = plus_days(next, 1);
                }
                observed.insert(next);
            }
            _ => {}
        }
    }
    if weekend == WeekendRule::Japanese {
        let between = |day: &Date| {
            let middle = plus_days(*day, 1);
            (observed.contains(&plus_days(*day, 2)) && !is_weekend(middle)).then_some(middle)
        };
        let between: Vec<Date> = days.iter().filter_map(between).collect();
        observed.extend(between);
    }
    observed
}

/// Returns the holidays of a country from the year of a date on, for so many years.
pub fn public_holidays(country: HolidayCountry, from: Date, years: i16) -> BTreeSet<Date> {
    let last = from.year().saturating_add(years);
    let days = (from.year()..=last).flat_map(|year| country.holidays(year));
    days.filter(|day| *day >= from && *day < date(last.min(9999), 1, 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn month_days(country: HolidayCountry, year: i16) -> Vec<String> {
        country.holidays(year).iter().map(|day| day.strftime("%m-%d").to_string()).collect()
    }

    #[test]
    fn easter_is_where_the_almanac_has_it() {
        let known = [(2000, 4, 23), (2024, 3, 31), (2025, 4, 20), (2026, 4, 5), (2027, 3, 28)];
        for (year, month, day) in known.into_iter().chain([(2038, 4, 25), (2285, 3, 22)]) {
            assert_eq!(easter_sunday(year), Some(date(year, month, day)));
        }
    }

    #[test]
    fn european_holidays_include_the_moveable_feasts() {
        assert_eq!(
            month_days(HolidayCountry::Germany, 2026),
            ["01-01", "04-03", "04-06", "05-01", "05-14", "05-25", "10-03", "12-25", "12-26"]
        );
        assert_eq!(
            month_days(HolidayCountry::Austria, 2026),
            [
                "01-01", "01-06", "04-06", "05-01", "05-14", "05-25", "06-04", "08-15", "10-26",
                "11-01", "12-08", "12-25", "12-26"
            ]
        );
        assert_eq!(
            month_days(HolidayCountry::France, 2027),
            [
                "01-01", "03-29", "05-01", "05-06", "05-08", "05-17", "07-14", "08-15", "11-01",
                "11-11", "12-25"
            ]
        );
        assert_eq!(
            month_days(HolidayCountry::Netherlands, 2025),
            ["01-01", "04-21", "04-26", "05-05", "05-29", "06-09", "12-25", "12-26"]
        );
        assert!(month_days(HolidayCountry::Poland, 2026).contains(&"12-24".to_owned()));
        assert!(month_days(HolidayCountry::Italy, 2026).contains(&"10-04".to_owned()));
        assert!(!month_days(HolidayCountry::Italy, 2025).contains(&"10-04".to_owned()));
        assert_eq!(month_days(HolidayCountry::Spain, 2026).len(), 10);
        assert_eq!(month_days(HolidayCountry::Switzerland, 2026).len(), 8);
    }

    #[test]
    fn a_holiday_on_a_weekend_is_made_up_for() {
        // Independence Day 2026 is a Saturday, New Year 2028 as well.
        let american = HolidayCountry::UnitedStates.holidays(2026);
        assert!(american.contains(&date(2026, 7, 3)) && american.contains(&date(2026, 11, 26)));
        assert!(HolidayCountry::UnitedStates.holidays(2028).contains(&date(2027, 12, 31)));
        // Christmas 2027 is a Saturday, Boxing Day a Sunday.
        let british = HolidayCountry::UnitedKingdom.holidays(2027);
        assert!(british.contains(&date(2027, 12, 27)) && british.contains(&date(2027, 12, 28)));
        assert!(HolidayCountry::UnitedKingdom.holidays(2026).contains(&date(2026, 12, 28)));
        assert!(HolidayCountry::Canada.holidays(2026).contains(&date(2026, 5, 18)));
        assert!(HolidayCountry::Australia.holidays(2026).contains(&date(2026, 1, 26)));
    }

    #[test]
    fn japan_has_equinoxes_substitutes_and_days_in_between() {
        assert_eq!(
            month_days(HolidayCountry::Japan, 2026),
            [
                "01-01", "01-12", "02-11", "02-23", "03-20", "04-29", "05-03", "05-04", "05-05",
                "05-06", "07-20", "08-11", "09-21", "09-22", "09-23", "10-12", "11-03", "11-23"
            ]
        );
        assert!(HolidayCountry::Japan.holidays(2024).contains(&date(2024, 2, 12)));
    }

    #[test]
    fn countries_are_read_by_code_and_by_name() {
        for country in HolidayCountry::ALL {
            assert_eq!(HolidayCountry::parse(country.code()), Some(country));
            assert_eq!(HolidayCountry::parse(country.name()), Some(country));
            for year in [1583, 1979, 2026, 2100, 9999] {
                assert!(country.holidays(year).len() >= 7, "{country:?} {year}");
            }
        }
        assert_eq!(HolidayCountry::parse(" uk "), Some(HolidayCountry::UnitedKingdom));
        assert_eq!(HolidayCountry::parse("Atlantis"), None);
    }

    #[test]
    fn holidays_are_listed_from_a_day_on() {
        let days = public_holidays(HolidayCountry::Germany, date(2026, 11, 17), 2);
        assert_eq!(days.first(), Some(&date(2026, 12, 25)));
        assert_eq!(days.last(), Some(&date(2027, 12, 26)));
    }
}
