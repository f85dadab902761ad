//! Pools that all runs of one machine share, by locks on files: whoever ends, however it ends, gives back what it had.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

/// The pools below a directory.
#[derive(Clone, Debug)]
pub struct MachinePools {
    root: PathBuf,
}

/// Units of a pool. They are free again when it is dropped.
#[derive(Debug)]
pub struct PoolLease {
    _slots: Vec<File>,
}

impl MachinePools {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Takes units of a pool, all or none.
    pub fn try_take(&self, name: &str, capacity: u32, units: u32) -> io::Result<Option<PoolLease>> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
        let readable: String = name.chars().map(plain).take(40).collect();
        let hash = format!("{:x}", Sha256::digest(name.as_bytes()));
        let directory = self.root.join(format!("{readable}-{}", &hash[..8]));
        fs::create_dir_all(&directory)?;
        let mut slots = Vec::new();
        for slot in 0..capacity {
            if slots.len() as u32 == units {
                break;
            }
            let path = directory.join(slot.to_string());
            let file = File::options().create(true).truncate(false).write(true).open(path)?;
            match file.try_lock() {
                Ok(()) => slots.push(file),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok((slots.len() as u32 == units).then_some(PoolLease { _slots: slots }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_taken_by_one_at_a_time_and_come_back() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (MachinePools::new(root.path()), MachinePools::new(root.path()));
        let two = first.try_take("gpu / a", 3, 2).unwrap().unwrap();
        assert!(second.try_take("gpu / a", 3, 2).unwrap().is_none(), "only one is left");
        let one = second.try_take("gpu / a", 3, 1).unwrap();
        assert!(one.is_some() && first.try_take("gpu / a", 3, 1).unwrap().is_none());
        assert!(first.try_take("other", 1, 1).unwrap().is_some());
        drop(two);
        assert!(second.try_take("gpu / a", 3, 2).unwrap().is_some());
    }
}
