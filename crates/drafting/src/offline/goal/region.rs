//! What a country changes about the calendar: seasons by the half of the world, and holidays by custom.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

use planwright_model::PlanCalendar;
use planwright_schedule::calendar::easter_sunday;

/// The half of the world, which decides the seasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CalendarHemisphere {
    #[default]
    Northern,
    Southern,
}

/// Which Thanksgiving is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThanksgivingCustom {
    #[default]
    American,
    Canadian,
}

/// Whose Easter and Christmas are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ChurchCalendar {
    #[default]
    Western,
    /// Easter of the Orthodox churches, Christmas on 25 December.
    OrthodoxEaster,
    /// Easter and Christmas of the Orthodox churches that keep the Julian calendar.
    Julian,
}

/// Where a person lives, as far as dates depend on it. The default is northern and western.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CalendarRegion {
    pub hemisphere: CalendarHemisphere,
    thanksgiving: ThanksgivingCustom,
    church: ChurchCalendar,
}

/// Countries whose seasons are those of the southern half, by their ISO codes.
const SOUTHERN: [&str; 16] = [
    "AR", "AU", "BO", "BR", "BW", "CL", "FJ", "LS", "MG", "MZ", "NA", "NZ", "PE", "PY", "UY", "ZA",
];
/// Zones of those countries that do not start with a name of their own.
const SOUTHERN_ZONES: [&str; 18] = [
    "America/Argentina/",
    "America/Asuncion",
    "America/Buenos_Aires",
    "America/La_Paz",
    "America/Lima",
    "America/Montevideo",
    "America/Punta_Arenas",
    "America/Santiago",
    "America/Sao_Paulo",
    "Africa/Gaborone",
    "Africa/Harare",
    "Africa/Johannesburg",
    "Africa/Maputo",
    "Africa/Windhoek",
    "Antarctica/",
    "Australia/",
    "Indian/Antananarivo",
    "Pacific/Auckland",
];

impl CalendarRegion {
    /// What is assumed of somebody who did not say where they live.
    pub const NORTHERN: Self = Self {
        hemisphere: CalendarHemisphere::Northern,
        thanksgiving: ThanksgivingCustom::American,
        church: ChurchCalendar::Western,
    };

    /// Returns the region of a plan: that of the person's country, or else of their time zone.
    pub fn from_calendar(calendar: &PlanCalendar) -> Self {
        match &calendar.country {
            Some(code) => Self::from_country(code),
            None => Self::from_time_zone(&calendar.tz),
        }
    }

    /// Returns the region of a country, by its two-letter code.
    pub fn from_country(code: &str) -> Self {
        let code = code.trim().to_ascii_uppercase();
        let hemisphere = if SOUTHERN.contains(&code.as_str()) {
            CalendarHemisphere::Southern
        } else {
            CalendarHemisphere::Northern
        };
        let thanksgiving = match code.as_str() {
            "CA" => ThanksgivingCustom::Canadian,
            _ => ThanksgivingCustom::American,
        };
        let church = match code.as_str() {
            "RU" | "RS" | "BY" | "ME" | "GE" => ChurchCalendar::Julian,
            "GR" | "CY" | "RO" | "BG" | "MK" | "UA" | "MD" => ChurchCalendar::OrthodoxEaster,
            _ => ChurchCalendar::Western,
        };
        Self { hemisphere, thanksgiving, church }
    }

    /// Returns the region of a time zone, as far as its name tells.
    pub fn from_time_zone(zone: &str) -> Self {
        let hemisphere = if SOUTHERN_ZONES.iter().any(|known| zone.starts_with(known)) {
            CalendarHemisphere::Southern
        } else {
            CalendarHemisphere::Northern
        };
        Self { hemisphere, ..Self::default() }
    }

    /// Returns what a season was taken to mean.
    pub(super) fn season_words(self) -> &'static str {
        match self.hemisphere {
            CalendarHemisphere::Northern => "the seasons of the northern half of the world",
            CalendarHemisphere::Southern => "the seasons of the southern half of the world",
        }
    }

    /// Returns the next day of a holiday.
    pub(super) fn next_holiday(self, holiday: NamedHoliday, today: Date) -> Option<Date> {
        let of_year = |year: i16| match holiday {
            NamedHoliday::Christmas if self.church == ChurchCalendar::Julian => {
                Date::new(year, 1, 7).ok()
            }
            NamedHoliday::Christmas => Date::new(year, 12, 25).ok(),
            NamedHoliday::ChristmasEve if self.church == ChurchCalendar::Julian => {
                Date::new(year, 1, 6).ok()
            }
            NamedHoliday::ChristmasEve => Date::new(year, 12, 24).ok(),
            NamedHoliday::NewYearsEve => Date::new(year, 12, 31).ok(),
            NamedHoliday::ValentinesDay => Date::new(year, 2, 14).ok(),
            NamedHoliday::Halloween => Date::new(year, 10, 31).ok(),
            NamedHoliday::Easter if self.church == ChurchCalendar::Western => easter_sunday(year),
            NamedHoliday::Easter => orthodox_easter(year),
            NamedHoliday::Thanksgiving => self.thanksgiving_of(year),
            NamedHoliday::NewYearsDay => Date::new(year, 1, 1).ok(),
            NamedHoliday::BoxingDay => Date::new(year, 12, 26).ok(),
            NamedHoliday::BlackFriday => {
                nth_weekday(year, 11, 4, Weekday::Thursday)?.tomorrow().ok()
            }
            NamedHoliday::MothersDay => nth_weekday(year, 5, 2, Weekday::Sunday),
            NamedHoliday::FathersDay => nth_weekday(year, 6, 3, Weekday::Sunday),
            NamedHoliday::LaborDay => nth_weekday(year, 9, 1, Weekday::Monday),
            NamedHoliday::MemorialDay => nth_weekday(year, 5, -1, Weekday::Monday),
            NamedHoliday::StPatricksDay => Date::new(year, 3, 17).ok(),
        };
        of_year(today.year()).filter(|day| *day >= today).or_else(|| of_year(today.year() + 1))
    }

    fn thanksgiving_of(self, year: i16) -> Option<Date> {
        match self.thanksgiving {
            ThanksgivingCustom::American => nth_weekday(year, 11, 4, Weekday::Thursday),
            ThanksgivingCustom::Canadian => nth_weekday(year, 10, 2, Weekday::Monday),
        }
    }
}

fn nth_weekday(year: i16, month: i8, nth: i8, day: Weekday) -> Option<Date> {
    Date::new(year, month, 1).ok()?.nth_weekday_of_month(nth, day).ok()
}

/// A holiday that goals name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedHoliday {
    Christmas,
    ChristmasEve,
    NewYearsEve,
    ValentinesDay,
    Halloween,
    Easter,
    Thanksgiving,
    NewYearsDay,
    BoxingDay,
    BlackFriday,
    MothersDay,
    FathersDay,
    LaborDay,
    MemorialDay,
    StPatricksDay,
}

/// A quarter of the year that people call by its weather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum YearSeason {
    Spring,
    Summer,
    Autumn,
    Winter,
}

impl YearSeason {
    pub(super) fn from_name(text: &str) -> Option<Self> {
        Some(match text {
            "spring" => Self::Spring,
            "summer" => Self::Summer,
            "autumn" | "fall" => Self::Autumn,
            "winter" => Self::Winter,
            _ => return None,
        })
    }

    /// Returns the month on whose first day the season starts.
    fn first_month(self, hemisphere: CalendarHemisphere) -> i8 {
        let northern = match self {
            Self::Spring => 3,
            Self::Summer => 6,
            Self::Autumn => 9,
            Self::Winter => 12,
        };
        match hemisphere {
            CalendarHemisphere::Northern => northern,
            CalendarHemisphere::Southern => (northern + 5) % 12 + 1,
        }
    }

    /// Returns the last day before the season starts next.
    pub(super) fn next_eve(self, today: Date, region: CalendarRegion) -> Option<Date> {
        let month = self.first_month(region.hemisphere);
        let after = today.tomorrow().ok()?;
        let first = Date::new(after.year(), month, 1).ok()?;
        let first = if first >= after { first } else { first.checked_add(1.year()).ok()? };
        first.yesterday().ok()
    }

    /// Returns the days of the season that starts next.
    pub(super) fn coming_days(self, today: Date, region: CalendarRegion) -> Option<(Date, Date)> {
        let first = self.next_eve(today, region)?.tomorrow().ok()?;
        Some((first, first.checked_add(2.months()).ok()?.last_of_month()))
    }

    /// Returns the days that are left of the season that is on, or those of the next one if it is nearly over.
    pub(super) fn next_days(self, today: Date, region: CalendarRegion) -> Option<(Date, Date)> {
        let month = self.first_month(region.hemisphere);
        let of_year = |year: i16| {
            let first = Date::new(year, month, 1).ok()?;
            Some((first, first.checked_add(2.months()).ok()?.last_of_month()))
        };
        let year = today.year();
        let (first, last) = [year - 1, year, year + 1]
            .into_iter()
            .filter_map(of_year)
            .find(|(_, last)| last.checked_sub(NEARLY_OVER.days()).is_ok_and(|end| end >= today))?;
        Some((first.max(today), last))
    }
}

/// A season of which fewer days are left is not the one that somebody plans for.
const NEARLY_OVER: i32 = 21;

/// Returns the Orthodox Easter Sunday, by the Julian computus as Meeus gives it; the calendars are 13 days apart from
/// 1900 to 2099.
fn orthodox_easter(year: i16) -> Option<Date> {
    let number = i32::from(year);
    let moon = (19 * (number % 19) + 15) % 30;
    let to_sunday = (2 * (number % 4) + 4 * (number % 7) - moon + 34) % 7;
    let month = (moon + to_sunday + 114) / 31;
    let day = (moon + to_sunday + 114) % 31 + 1;
    let julian = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    julian.checked_add(13.days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn easter_depends_on_the_church() {
        assert_eq!(easter_sunday(2025), Some(date(2025, 4, 20)));
        assert_eq!(easter_sunday(2026), Some(date(2026, 4, 5)));
        assert_eq!(easter_sunday(2027), Some(date(2027, 3, 28)));
        assert_eq!(orthodox_easter(2026), Some(date(2026, 4, 12)));
        assert_eq!(orthodox_easter(2027), Some(date(2027, 5, 2)));
    }

    #[test]
    fn seasons_depend_on_the_half_of_the_world() {
        let today = date(2026, 11, 17);
        let north = CalendarRegion::default();
        let south = CalendarRegion::from_country("au");
        assert_eq!(YearSeason::Summer.next_eve(today, north), Some(date(2027, 5, 31)));
        assert_eq!(YearSeason::Summer.next_eve(today, south), Some(date(2026, 11, 30)));
        assert_eq!(
            YearSeason::Autumn.next_days(today, north),
            Some((date(2027, 9, 1), date(2027, 11, 30))),
            "two weeks are left of this one"
        );
        assert_eq!(
            YearSeason::Autumn.next_days(date(2026, 10, 5), north),
            Some((date(2026, 10, 5), date(2026, 11, 30))),
            "the season that is on"
        );
        assert_eq!(
            YearSeason::Winter.next_days(date(2027, 1, 5), north),
            Some((date(2027, 1, 5), date(2027, 2, 28)))
        );
        assert_eq!(
            CalendarRegion::from_time_zone("Australia/Sydney").hemisphere,
            CalendarHemisphere::Southern
        );
        assert_eq!(
            CalendarRegion::from_time_zone("Europe/Berlin").hemisphere,
            CalendarHemisphere::Northern
        );
    }

    #[test]
    fn holidays_follow_the_country() {
        let today = date(2026, 11, 17);
        let day =
            |code: &str, holiday| CalendarRegion::from_country(code).next_holiday(holiday, today);
        assert_eq!(day("US", NamedHoliday::Thanksgiving), Some(date(2026, 11, 26)));
        assert_eq!(day("CA", NamedHoliday::Thanksgiving), Some(date(2027, 10, 11)));
        assert_eq!(day("DE", NamedHoliday::Christmas), Some(date(2026, 12, 25)));
        assert_eq!(day("RS", NamedHoliday::Christmas), Some(date(2027, 1, 7)));
        assert_eq!(day("GR", NamedHoliday::Easter), Some(date(2027, 5, 2)));
    }
}
