//! The time zone of this machine, found without a walk through all there are.
//!
//! The library lists every zone before it looks one up. A program that shows a screen at once has the name of its zone,
//! and reads that one file; whatever is unusual is left to the library.

use std::path::Path;
use std::sync::{OnceLock, PoisonError, RwLock};

use jiff::tz::TimeZone;
use planwright_files::FileLimit;

const ZONES: &str = "/usr/share/zoneinfo";
const LOCAL: &str = "/etc/localtime";

/// The zone of the person's settings, if they have one.
static OWN_ZONE: RwLock<Option<TimeZone>> = RwLock::new(None);

/// The time zone that `TZ`, the settings or the system name; the last is read once.
pub(crate) fn time_zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let own = OWN_ZONE.read().unwrap_or_else(PoisonError::into_inner).clone();
    own.unwrap_or_else(|| ZONE.get_or_init(named_zone).clone())
}

/// Uses the zone of the settings, unless `TZ` names one: the environment goes before a file.
pub(crate) fn use_time_zone(name: Option<&str>) {
    let named = name.filter(|_| std::env::var_os("TZ").is_none_or(|zone| zone.is_empty()));
    let zone = named.and_then(|name| TimeZone::get(name).ok());
    *OWN_ZONE.write().unwrap_or_else(PoisonError::into_inner) = zone;
}

fn named_zone() -> TimeZone {
    let set = std::env::var_os("TZ");
    let named = match &set {
        Some(name) => name.to_str().map(str::to_owned),
        None => linked_zone(Path::new(LOCAL)),
    };
    let usual = named.filter(|_| std::env::var_os("TZDIR").is_none());
    usual.and_then(|name| read_zone(Path::new(ZONES), &name)).unwrap_or_else(TimeZone::system)
}

/// The name of the zone that a link leads to. Many systems have a file there instead.
fn linked_zone(path: &Path) -> Option<String> {
    let target = std::fs::read_link(path).ok()?;
    let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
    Some(name.to_owned())
}

/// Reads one zone. `None` for what is no plain name, such as `:/etc/localtime` or `CET-1CEST`, and for what is not there.
fn read_zone(zones: &Path, name: &str) -> Option<TimeZone> {
    if name == "UTC" {
        return Some(TimeZone::UTC);
    }
    let plain = |part: &str| part.starts_with(|first: char| first.is_ascii_alphabetic());
    if !name.split('/').all(plain) {
        return None;
    }
    let bytes = planwright_files::read_bytes(&zones.join(name), FileLimit::TIME_ZONE).ok()?;
    TimeZone::tzif(name, &bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_zone_that_the_library_finds() {
        assert_eq!(time_zone().iana_name(), TimeZone::system().iana_name());
        let moment = jiff::Timestamp::UNIX_EPOCH;
        assert_eq!(time_zone().to_offset(moment), TimeZone::system().to_offset(moment));
    }

    #[test]
    fn a_zone_has_its_name_and_its_rules() {
        let dir = tempfile::tempdir().unwrap();
        let zones = dir.path().join("zoneinfo");
        std::fs::create_dir_all(zones.join("Europe")).unwrap();
        // The least a file can say: version 1, one kind of time, an hour ahead, called CET.
        let mut bytes = b"TZif".to_vec();
        bytes.extend([0; 16]);
        for count in [0u32, 0, 0, 0, 1, 4] {
            bytes.extend(count.to_be_bytes());
        }
        bytes.extend(3600i32.to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(b"CET\0");
        std::fs::write(zones.join("Europe/Berlin"), bytes).unwrap();
        let link = dir.path().join("localtime");
        std::os::unix::fs::symlink(zones.join("Europe/Berlin"), &link).unwrap();

        let name = linked_zone(&link).unwrap();
        assert_eq!(name, "Europe/Berlin");
        let zone = read_zone(&zones, &name).unwrap();
        assert_eq!(zone.iana_name(), Some("Europe/Berlin"));
        assert_eq!(zone.to_offset(jiff::Timestamp::UNIX_EPOCH).seconds(), 3600);
    }

    #[test]
    fn what_is_unusual_is_left_to_the_library() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("passwd"), "no zone").unwrap();
        for name in ["", "passwd", "../passwd", ":UTC", "/etc/localtime", "CET-1CEST", "Nowhere"] {
            assert!(read_zone(dir.path(), name).is_none(), "{name}");
        }
        assert_eq!(read_zone(dir.path(), "UTC"), Some(TimeZone::UTC));
    }
}
