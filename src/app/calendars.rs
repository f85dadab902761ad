//! The person's calendar files. They are read when they are needed, and again when they change or an hour later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};

use super::App;
use crate::config;
use crate::console::CliProblem;
use planwright_engine::planner::CalendarSource;
use planwright_files::{self as files, FileLimit};
use planwright_model::FixedEvent;
use planwright_plan::export;

/// How far ahead events are read.
const DAYS_AHEAD: i64 = 366 * 2;
/// After this time a file is read again although it looks the same: repeating events reach further ahead then.
const REREAD_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// When a file was written, and its length.
type FileStamp = (Option<SystemTime>, u64);

/// What a file had in it when it was last read.
#[derive(Clone, Debug)]
struct ReadCalendar {
    stamp: FileStamp,
    read_at: Timestamp,
    events: Vec<FixedEvent>,
}

/// What is known of all files. One for the program: home, settings and planning look at the same files.
static READ: Mutex<BTreeMap<PathBuf, ReadCalendar>> = Mutex::new(BTreeMap::new());

/// Calendar files to plan around.
#[derive(Clone, Debug, Default)]
pub(crate) struct CalendarFiles {
    paths: Vec<PathBuf>,
}

/// One calendar file, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CalendarSummary {
    pub name: String,
    pub read_at: Timestamp,
    pub events: usize,
}

impl App {
    /// The calendar files of the settings, and one that was named for now.
    pub(crate) fn calendar_files(&self, named: Option<&Path>) -> CalendarFiles {
        let mut paths = self.settings.me.calendar_paths(self.config_dir());
        paths.extend(named.map(Path::to_owned));
        CalendarFiles { paths }
    }
}

impl CalendarFiles {
    /// Reads what changed. The first file that cannot be used is named, with what to do.
    pub(crate) fn refresh(&self) -> Result<Vec<CalendarSummary>, CliProblem> {
        let mut read = known_files();
        let mut found = Vec::new();
        for path in &self.paths {
            let calendar = refresh_file(&mut read, path)?;
            let name =
                path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
            found.push(CalendarSummary {
                name,
                read_at: calendar.read_at,
                events: calendar.events.len(),
            });
        }
        Ok(found)
    }
}

impl CalendarSource for CalendarFiles {
    /// What is in the files now. One that cannot be read any more keeps what it had.
    fn current_events(&self) -> Arc<[FixedEvent]> {
        let mut read = known_files();
        let mut events: Vec<FixedEvent> = Vec::new();
        for path in &self.paths {
            if let Err(problem) = refresh_file(&mut read, path) {
                tracing::warn!(%problem, "a calendar cannot be read any more");
            }
            events.extend(read.get(path).into_iter().flat_map(|known| known.events.clone()));
        }
        events.sort_by(|a, b| (a.start, a.end, &a.title).cmp(&(b.start, b.end, &b.title)));
        events.into()
    }
}

fn known_files() -> MutexGuard<'static, BTreeMap<PathBuf, ReadCalendar>> {
    READ.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refresh_file<'a>(
    read: &'a mut BTreeMap<PathBuf, ReadCalendar>,
    path: &Path,
) -> Result<&'a ReadCalendar, CliProblem> {
    let now = Timestamp::now();
    let stamp = file_stamp(path);
    let current = |known: &ReadCalendar| {
        Some(known.stamp) == stamp && known.read_at.duration_until(now) < REREAD_AFTER
    };
    if !read.get(path).is_some_and(current) {
        let calendar = read_calendar(path, now, stamp.unwrap_or_default())?;
        read.insert(path.to_owned(), calendar);
    }
    read.get(path).ok_or_else(|| CliProblem::failed("a calendar that was read is gone"))
}

fn file_stamp(path: &Path) -> Option<FileStamp> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok(), about.len()))
}

fn read_calendar(
    path: &Path,
    now: Timestamp,
    stamp: FileStamp,
) -> Result<ReadCalendar, CliProblem> {
    let problem = |why: String| {
        let shown = planwright_text::clean_line(&path.display().to_string()).into_owned();
        CliProblem::usage(format!("could not read the calendar {shown}: {why}")).with_remedy(
            "name an .ics file that can be read, with --calendar or in the settings, or leave it out",
        )
    };
    let text =
        files::read_text(path, FileLimit::CALENDAR).map_err(|error| problem(error.to_string()))?;
    if !text.to_ascii_uppercase().contains("BEGIN:VCALENDAR") {
        return Err(problem("it is not a calendar file, it has no BEGIN:VCALENDAR".to_owned()));
    }
    let zone = config::time_zone();
    let far = now.saturating_add(SignedDuration::from_hours(24 * DAYS_AHEAD)).unwrap_or(now);
    let found = export::read_ical(&text, zone.iana_name().unwrap_or("UTC"), now, far)
        .map_err(|error| problem(error.to_string()))?;
    Ok(ReadCalendar { stamp, read_at: now, events: found.events })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(day: &str) -> String {
        format!(
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:{day}\nDTSTART:{day}T090000Z\nDTEND:{day}T100000Z\nSUMMARY:Dentist\nEND:VEVENT\nEND:VCALENDAR\n"
        )
    }

    #[test]
    fn a_file_that_changes_is_read_again_and_garbage_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("work.ics");
        let soon = Timestamp::now().saturating_add(SignedDuration::from_hours(72)).unwrap();
        let later = soon.saturating_add(SignedDuration::from_hours(24)).unwrap();
        let day = |at: Timestamp| at.strftime("%Y%m%d").to_string();
        std::fs::write(&path, event(&day(soon))).unwrap();
        let files = CalendarFiles { paths: vec![path.clone()] };
        let first = files.refresh().unwrap();
        assert_eq!((first[0].name.as_str(), first[0].events), ("work.ics", 1));
        assert_eq!(files.refresh().unwrap(), first, "nothing changed, nothing is read");

        let both = event(&day(soon)) + &event(&day(later));
        std::fs::write(&path, both).unwrap();
        assert_eq!(files.current_events().len(), 2);

        std::fs::write(&path, "no calendar at all, only words").unwrap();
        let problem = files.refresh().unwrap_err().to_string();
        assert!(problem.contains("work.ics: it is not a calendar file"), "{problem}");
        assert_eq!(files.current_events().len(), 2, "what was known still counts");
        let missing = CalendarFiles { paths: vec![dir.path().join("none.ics")] };
        assert!(missing.refresh().is_err() && missing.current_events().is_empty());
    }
}
