//! Log files of bounded size: one that grows, and a few older ones beside it. Rotation by time, as the usual appender
//! has it, bounds the number of files but not their size.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The most bytes in one file.
pub(crate) const LOG_FILE_LIMIT: u64 = 2 * 1024 * 1024;

/// How many files there are at most, the newest included.
pub(crate) const LOG_FILE_COUNT: usize = 5;

/// A file that is appended to, by several processes perhaps, and moved aside when it is full.
#[derive(Debug)]
pub(super) struct RotatingLogFile {
    path: PathBuf,
    file: File,
    limit: u64,
    count: usize,
}

impl RotatingLogFile {
    /// Opens the newest file, making it and its directory for the owner alone.
    pub(super) fn open(path: &Path, limit: u64, count: usize) -> io::Result<Self> {
        if let Some(dir) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        Ok(Self { path: path.to_owned(), file: open_for_append(path)?, limit, count })
    }

    /// Appends a line in one write, so that lines of several processes do not mix. A line too long for any file is cut.
    pub(super) fn append_line(&mut self, line: &str) -> io::Result<()> {
        let room = usize::try_from(self.limit).unwrap_or(usize::MAX).saturating_sub(1);
        let mut bytes = line.as_bytes()[..line.floor_char_boundary(room)].to_vec();
        bytes.push(b'\n');
        let added = bytes.len() as u64;
        // The length is asked for anew each time: another process may have written, or moved this very file aside.
        if self.file.metadata()?.len() + added > self.limit {
            self.rotate(added)?;
        }
        self.file.write_all(&bytes)
    }

    /// Goes on in a file with room. If another process has moved the full one aside already, that file is there. Two that
    /// do so in the same moment leave a short file behind, which costs some history and no bound.
    fn rotate(&mut self, added: u64) -> io::Result<()> {
        let is_full = fs::metadata(&self.path).is_ok_and(|found| found.len() + added > self.limit);
        if is_full {
            for number in (1..self.count).rev() {
                let (from, to) = (numbered(&self.path, number - 1), numbered(&self.path, number));
                match fs::rename(from, to) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        self.file = open_for_append(&self.path)?;
        Ok(())
    }
}

/// A link in place of the file is refused, and a file that others could read is closed to them.
fn open_for_append(path: &Path) -> io::Result<File> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// The newest file is number 0.
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 0 { path.to_owned() } else { path.with_extension(format!("log.{number}")) }
}

/// The files there are, oldest first.
pub(crate) fn log_files(path: &Path) -> Vec<PathBuf> {
    let all = (0..LOG_FILE_COUNT).rev().map(|number| numbered(path, number));
    all.filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(path: &Path) -> Vec<u64> {
        log_files(path).iter().map(|path| fs::metadata(path).unwrap().len()).collect()
    }

    #[test]
    fn files_stay_within_their_bounds_and_the_last_lines_survive() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/planwright.log");
        let mut log = RotatingLogFile::open(&path, 100, 3).unwrap();
        for number in 0..1000 {
            log.append_line(&format!("line {number:04}")).unwrap();
        }
        log.append_line(&"ü".repeat(400)).unwrap();
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 3);
        assert_eq!(sizes(&path), [100, 100, 99], "the long line is cut at a character");
        let last = fs::read_to_string(dir.path().join("logs/planwright.log.1")).unwrap();
        assert!(last.ends_with("line 0999\n"), "{last}");
    }

    #[test]
    fn two_writers_share_the_files_and_their_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("planwright.log");
        let open = || RotatingLogFile::open(&path, 100, 4).unwrap();
        let (mut one, mut two) = (open(), open());
        for number in 0..20 {
            one.append_line(&format!("one  {number:04}")).unwrap();
            two.append_line(&format!("two  {number:04}")).unwrap();
        }
        assert_eq!(sizes(&path), [100; 4]);
        let all: String =
            log_files(&path).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        assert_eq!(all.lines().count(), 40, "no line is lost and none is torn");
    }

    #[test]
    fn files_are_for_the_owner_alone_and_links_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = dir.path().join("logs/planwright.log");
        RotatingLogFile::open(&path, 100, 3).unwrap();
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        RotatingLogFile::open(&path, 100, 3).unwrap();
        assert_eq!(mode(&path), 0o600);
        let (link, target) = (dir.path().join("link.log"), dir.path().join("elsewhere"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(RotatingLogFile::open(&link, 100, 3).is_err());
        assert!(!target.exists());
    }
}
