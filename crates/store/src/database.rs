//! Opens the database file: permissions, the check before anything is modified, and the settings of each connection.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::database_creation;
use super::error::{SqliteResultExt, StoreError};
use super::schema::{self, APPLICATION_ID, VERSION, query_number, retry_while_busy};

const FILE: &str = "planwright.db";
const LOCKS: &str = "locks";
pub(super) const OPENING: &str = "opening the database";

/// Earlier `SQLite` versions can corrupt a WAL database when two connections write or checkpoint at once.
const OLDEST_SQLITE: i32 = 3_051_003;

/// How long `SQLite` itself waits for a lock; longer waits are implemented here.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The paths of a store.
#[derive(Clone, Debug)]
pub(super) struct StorePaths {
    pub(super) dir: PathBuf,
    pub(super) database: PathBuf,
    pub(super) locks: PathBuf,
}

impl StorePaths {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), database: dir.join(FILE), locks: dir.join(LOCKS) }
    }

    /// Where the output of attempts is kept.
    pub(super) fn output_spools(&self) -> planwright_spool::SpoolDirectory {
        planwright_spool::SpoolDirectory::in_data_dir(&self.dir)
    }

    /// The write-ahead log that `SQLite` keeps next to the database.
    pub(super) fn wal_path(&self) -> PathBuf {
        let mut name = self.database.clone().into_os_string();
        name.push("-wal");
        name.into()
    }
}

/// Creates missing files, rejects a database that is not ours, and returns the writer's connection.
pub(super) fn open_for_writing(paths: &StorePaths) -> Result<Connection, StoreError> {
    require_sqlite()?;
    has_data_dir(&paths.dir)?;
    create_dir(&paths.dir)?;
    require_mode(&paths.dir, 0o700, "written")?;
    let created = database_creation::create_missing_database(paths)?;
    require_mode(&paths.database, 0o600, "read and written")?;
    if !created {
        inspect_database(paths)?;
    }
    create_dir(&paths.locks)?;
    let connection = open_connection(&paths.database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    retry_while_busy(schema::LOCK_WAIT_LIMIT, || configure_writer(&connection, &paths.database))?;
    schema::migrate_database(&connection, &paths.database)?;
    Ok(connection)
}

/// Returns a connection that cannot modify anything.
pub(super) fn open_for_reading(paths: &StorePaths) -> Result<Connection, StoreError> {
    require_sqlite()?;
    if !has_data_dir(&paths.dir)? || !paths.database.try_exists().unwrap_or(true) {
        database_creation::database_exists(&paths.database)?;
        database_creation::refuse_orphan_log(paths)?;
        return Err(StoreError::Missing { dir: paths.dir.clone() });
    }
    require_mode(&paths.database, 0o400, "read")?;
    let missing = || StoreError::Missing { dir: paths.dir.clone() };
    let (connection, found) = inspect_database(paths)?;
    match found {
        VERSION => set_query_only(connection, paths),
        0 => Err(missing()),
        found => Err(StoreError::Older { path: paths.database.clone(), found, known: VERSION }),
    }
}

/// An additional read-only connection to a store that has been inspected.
pub(super) fn reading_connection(paths: &StorePaths) -> Result<Connection, StoreError> {
    set_query_only(open_connection(&paths.database, OpenFlags::SQLITE_OPEN_READ_ONLY)?, paths)
}

fn set_query_only(connection: Connection, paths: &StorePaths) -> Result<Connection, StoreError> {
    connection.pragma_update(None, "query_only", true).during(OPENING, &paths.database)?;
    Ok(connection)
}

fn require_sqlite() -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(StoreError::OldSqlite { found: rusqlite::version() });
    }
    Ok(())
}

/// Whether there is a data directory. One that cannot be read is an error: it may contain sessions.
fn has_data_dir(dir: &Path) -> Result<bool, StoreError> {
    match fs::metadata(dir) {
        Ok(found) if found.is_dir() => require_mode(dir, 0o500, "read").map(|()| true),
        Ok(_) => Err(StoreError::NotADirectory { path: dir.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let file = dir.ancestors().find(|above| above.is_file()).unwrap_or(dir);
            Err(StoreError::NotADirectory { path: file.to_owned() })
        }
        Err(source) => {
            Err(StoreError::Unreachable { path: dir.to_owned(), source: Arc::new(source) })
        }
    }
}

fn create_dir(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|source| {
        StoreError::CannotCreate { path: path.to_owned(), source: Arc::new(source) }
    })
}

/// Respects the owner's permission bits even where the kernel does not enforce them, as for root.
fn require_mode(path: &Path, bits: u32, wanted: &'static str) -> Result<(), StoreError> {
    let metadata =
        fs::metadata(path).map_err(|error| StoreError::from_io("looking at", path, error))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & bits == bits {
        return Ok(());
    }
    Err(StoreError::NotPermitted { path: path.to_owned(), wanted, mode })
}

/// Decides from the file alone, then through a read-only connection, whether we may use the database. Returns that
/// connection with the version it sees.
fn inspect_database(paths: &StorePaths) -> Result<(Connection, i64), StoreError> {
    let database = &paths.database;
    let header = SqliteHeader::read(paths)?;
    check_identity(database, header.application_id, header.version)?;
    match inspect_read_only(database) {
        Err(StoreError::ReadOnlyFiles { .. }) => {
            recover_database(database)?;
            inspect_read_only(database)
        }
        looked => looked,
    }
}

/// A process that was killed while creating the file left a rollback journal next to it, which has to be rolled back
/// before anyone can read; a read-only connection cannot do that.
fn recover_database(database: &Path) -> Result<(), StoreError> {
    let connection = open_connection(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    retry_while_busy(schema::LOCK_WAIT_LIMIT, || {
        query_number(&connection, database, "SELECT count(*) FROM sqlite_schema").map(drop)
    })
}

/// Inspects the database through a read-only connection.
fn inspect_read_only(database: &Path) -> Result<(Connection, i64), StoreError> {
    // The header in the file may be older than the content of the write-ahead log.
    let connection = open_connection(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let version = retry_while_busy(schema::LOCK_WAIT_LIMIT, || {
        // One snapshot for all three queries: another process may be creating the tables right now.
        let snapshot = connection.unchecked_transaction().during(OPENING, database)?;
        let application_id = query_number(&snapshot, database, "PRAGMA application_id")?;
        let version = schema::schema_version(&snapshot, database)?;
        check_identity(database, application_id, version)?;
        // Counting reads the entire schema, so that damage to it is detected here.
        let tables = query_number(&snapshot, database, "SELECT count(*) FROM sqlite_schema")?;
        if application_id == 0 && tables > 0 {
            return Err(StoreError::NotOurs { path: database.to_owned() });
        }
        Ok(version)
    })?;
    Ok((connection, version))
}

/// An application id of zero is a file whose first transaction has not been committed yet.
fn check_identity(database: &Path, application_id: i64, version: i64) -> Result<(), StoreError> {
    if application_id != APPLICATION_ID && (application_id, version) != (0, 0) {
        return Err(StoreError::NotOurs { path: database.to_owned() });
    }
    if version > VERSION {
        let path = database.to_owned();
        return Err(StoreError::Newer { path, found: version, known: VERSION });
    }
    Ok(())
}

/// The part of `SQLite`'s file header that identifies the owner of the file.
struct SqliteHeader {
    application_id: i64,
    version: i64,
}

impl SqliteHeader {
    const LENGTH: usize = 100;
    const MAGIC: &[u8] = b"SQLite format 3\0";

    /// Reads the header without `SQLite`, which would create files next to the database. A database is created under
    /// another name, so an empty file is one that lost its content.
    fn read(paths: &StorePaths) -> Result<Self, StoreError> {
        let path = &paths.database;
        let failed = |error| StoreError::from_io("reading", path, error);
        let mut bytes = [0; Self::LENGTH];
        let file = open_and_keep(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length == 0 {
            return Err(StoreError::Emptied { path: path.clone() });
        }
        let read = file.read_exact_at(&mut bytes, 0);
        if length < Self::LENGTH as u64 || !bytes.starts_with(Self::MAGIC) {
            return Err(StoreError::damaged(path, "it does not begin as a database does"));
        }
        read.map_err(failed)?;
        if Self::expected_length(&bytes) > length && is_missing_or_empty(&paths.wal_path()) {
            return Err(StoreError::damaged(path, "its end is missing"));
        }
        Ok(Self {
            application_id: read_be_u32(&bytes, 68).into(),
            version: read_be_u32(&bytes, 60).into(),
        })
    }

    /// The file size according to the header, or zero if the header does not contain it.
    fn expected_length(bytes: &[u8]) -> u64 {
        let page = match u64::from(bytes[16]) << 8 | u64::from(bytes[17]) {
            1 => 65_536,
            size => size,
        };
        let counted = read_be_u32(bytes, 24) == read_be_u32(bytes, 92);
        if counted { page * u64::from(read_be_u32(bytes, 28)) } else { 0 }
    }
}

/// How many files stay open after their headers were read; a process uses one store, tests a few.
const MAX_KEPT_OPEN: usize = 8;

/// Opens a file and keeps it open. Closing any descriptor of a file releases all locks this process has on it,
/// including those of its other connections, whose log another process would then delete while they write to it.
fn open_and_keep(path: &Path) -> io::Result<Arc<File>> {
    static OPEN: Mutex<VecDeque<Arc<File>>> = Mutex::new(VecDeque::new());
    let target = fs::metadata(path)?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same_file = |file: &&Arc<File>| {
        file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (target.dev(), target.ino()))
    };
    if let Some(file) = open.iter().find(is_same_file) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    open.push_back(Arc::clone(&file));
    if open.len() > MAX_KEPT_OPEN {
        open.pop_front();
    }
    Ok(file)
}

fn read_be_u32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

pub(super) fn is_missing_or_empty(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.len() == 0)
}

pub(super) fn open_connection(
    database: &Path,
    access: OpenFlags,
) -> Result<Connection, StoreError> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags).during(OPENING, database)?;
    connection.busy_timeout(BUSY_TIMEOUT).during(OPENING, database)?;
    connection.set_prepared_statement_cache_capacity(48);
    // Without this flag, a statement is planned again whenever its parameters are bound to other values.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .during(OPENING, database)?;
    Ok(connection)
}

/// Settings of the writing connection. The first is stored in the file, and setting it again would write to it.
fn configure_writer(connection: &Connection, database: &Path) -> Result<(), StoreError> {
    if query_number(connection, database, "PRAGMA application_id")? == 0 {
        connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL").during(OPENING, database)?;
    }
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA wal_autocheckpoint = 250;
             PRAGMA journal_size_limit = 16777216;
             PRAGMA cache_size = -4096;
             PRAGMA temp_store = MEMORY;",
        )
        .during(OPENING, database)
}
