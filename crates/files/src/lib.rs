//! Reads files that a person or a project names: regular files only, up to a given size, and without blocking.
//!
//! A path may lead to anything: an endless device, a pipe without a writer, a file that does not fit into memory. All
//! code that reads a path from a command line, a config directory or a project uses this module. Errors are
//! [`io::Error`]s whose text describes what is wrong with the file; the caller adds its name.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The size limit for one kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimit {
    /// What the file is, with its article.
    pub what: &'static str,
    /// The maximum size in bytes.
    pub bytes: u64,
}

impl FileLimit {
    pub const CONFIG: Self = Self { what: "a config file", bytes: 1 << 20 };
    pub const THEME: Self = Self { what: "a theme", bytes: 256 << 10 };
    pub const PROMPT: Self = Self { what: "a prompt", bytes: 1 << 20 };
    /// Task types, recipes, planning templates and topic packs.
    pub const TEMPLATE: Self = Self { what: "a template", bytes: 4 << 20 };
    pub const CALENDAR: Self = Self { what: "a calendar", bytes: 32 << 20 };
    pub const RECORDING: Self = Self { what: "a recording", bytes: 256 << 20 };
    /// Text written by the person's editor.
    pub const EDITED: Self = Self { what: "edited text", bytes: 16 << 20 };
    pub const ANSWERS: Self = Self { what: "the list of answers", bytes: 4 << 20 };
    pub const TIME_ZONE: Self = Self { what: "a time zone", bytes: 1 << 20 };
    /// Data learned about models.
    pub const MODEL_NOTES: Self = Self { what: "the notes on models", bytes: 16 << 20 };
}

/// Reads a text file.
pub fn read_text(path: &Path, limit: FileLimit) -> io::Result<String> {
    decode_utf8(read_bytes(path, limit)?)
}

/// Reads a file.
pub fn read_bytes(path: &Path, limit: FileLimit) -> io::Result<Vec<u8>> {
    read_opened(&open_regular(path)?, limit)
}

/// Reads a text file of a project, named relative to the project's directory. The project may come from somebody else,
/// so a link in it must not lead outside.
pub fn read_project_text(root: &Path, name: &str, limit: FileLimit) -> io::Result<String> {
    let path = root.join(name);
    let inside = path.canonicalize().map_err(|error| name_dangling_link(&path, error))?;
    if !inside.starts_with(root.canonicalize()?) {
        return Err(unsuitable_error("it is a link that leads out of the project".into()));
    }
    decode_utf8(read_opened(&open_regular(&inside)?, limit)?)
}

/// Opens a regular file for reading. Anything else is refused, without opening it if its type is known beforehand.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let metadata = std::fs::metadata(path).map_err(|error| name_dangling_link(path, error))?;
    require_regular(&metadata)?;
    // The file may have been replaced by a pipe in the meantime: opening one must not block until somebody writes to
    // it.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let opened = file.metadata()?;
    require_regular(&opened)?;
    if (opened.dev(), opened.ino()) != (metadata.dev(), metadata.ino()) {
        return Err(unsuitable_error("it was replaced while it was being opened".into()));
    }
    Ok(file)
}

/// Reads a stream, such as standard input, to its end.
pub fn read_stream(stream: impl Read, limit: FileLimit) -> io::Result<String> {
    let mut bytes = Vec::new();
    stream.take(limit.bytes + 1).read_to_end(&mut bytes)?;
    require_size(bytes.len() as u64, limit)?;
    decode_utf8(bytes)
}

fn read_opened(file: &File, limit: FileLimit) -> io::Result<Vec<u8>> {
    require_size(file.metadata()?.len(), limit)?;
    let mut bytes = Vec::new();
    // The size of some files is not known before they are read.
    file.take(limit.bytes + 1).read_to_end(&mut bytes)?;
    require_size(bytes.len() as u64, limit)?;
    Ok(bytes)
}

fn require_size(bytes: u64, limit: FileLimit) -> io::Result<()> {
    if bytes <= limit.bytes {
        return Ok(());
    }
    let (what, most) = (limit.what, planwright_text::units::format_bytes(limit.bytes));
    Err(io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("it is larger than the {most} that {what} may have"),
    ))
}

fn require_regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory, not a file"));
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(unsuitable_error(format!("it is {what}, not a regular file")))
}

/// Distinguishes a dangling link from a missing file.
fn name_dangling_link(path: &Path, error: io::Error) -> io::Error {
    let is_link = || path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if error.kind() == io::ErrorKind::NotFound && is_link() {
        return unsuitable_error("it is a link that leads nowhere".into());
    }
    error
}

fn decode_utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn unsuitable_error(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Paths that lead to something other than a file of acceptable size.
    fn hostile(dir: &Path) -> Vec<(std::path::PathBuf, &'static str)> {
        let at = |name: &str| dir.join(name);
        let _listener = UnixListener::bind(at("socket")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
        std::fs::create_dir(at("directory")).unwrap();
        std::fs::write(at("large"), [b'#'; 2_000]).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        symlink("fifo", at("linked-fifo")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        vec![
            ("/dev/zero".into(), "device"),
            (at("zero"), "device"),
            (at("fifo"), "pipe"),
            (at("linked-fifo"), "pipe"),
            (at("directory"), "directory"),
            (at("socket"), "socket"),
            (at("large"), "larger than"),
            (at("dangling"), "leads nowhere"),
            (at("loop"), "symbolic links"),
        ]
    }

    #[test]
    fn reads_only_regular_files_up_to_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let limit = FileLimit { what: "a test", bytes: 1_000 };
        for (path, expected) in hostile(dir.path()) {
            let error = read_text(&path, limit).unwrap_err();
            assert!(error.to_string().contains(expected), "{}: {error}", path.display());
            assert_ne!(error.kind(), io::ErrorKind::NotFound, "{}", path.display());
        }
        let missing = read_text(&dir.path().join("missing"), limit).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        std::fs::write(dir.path().join("good"), "fine").unwrap();
        symlink("good", dir.path().join("linked")).unwrap();
        assert_eq!(read_text(&dir.path().join("linked"), limit).unwrap(), "fine");
        std::fs::write(dir.path().join("good"), [0xff]).unwrap();
        assert!(read_text(&dir.path().join("linked"), limit).is_err());
        // A file that does not report its size.
        assert!(
            read_text(Path::new("/proc/self/status"), FileLimit { bytes: 10, ..limit }).is_err()
        );
    }

    #[test]
    fn refuses_a_link_that_leaves_its_project() {
        let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let limit = FileLimit::CONFIG;
        let read = |name: &str| read_project_text(project.path(), name, limit);
        std::fs::write(outside.path().join("config.toml"), "theirs").unwrap();
        symlink(outside.path().join("config.toml"), project.path().join("linked.toml")).unwrap();
        symlink(outside.path(), project.path().join("directory")).unwrap();
        for name in ["linked.toml", "directory/config.toml"] {
            assert!(read(name).unwrap_err().to_string().contains("leads out of"), "{name}");
        }
        std::fs::write(project.path().join("own.toml"), "ours").unwrap();
        symlink("own.toml", project.path().join("inner.toml")).unwrap();
        assert_eq!(read("inner.toml").unwrap(), "ours");
        assert_eq!(read("missing.toml").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn reads_an_endless_stream_up_to_the_limit() {
        let error = read_stream(io::repeat(b'x'), FileLimit { what: "a test", bytes: 9 });
        assert!(error.unwrap_err().to_string().contains("larger than"));
        assert_eq!(read_stream(&b"yes\n"[..], FileLimit::ANSWERS).unwrap(), "yes\n");
    }
}
