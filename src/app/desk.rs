//! What screens ask of the program beside the commands to their session: marks, forks, comparisons.

use std::path::PathBuf;
use std::sync::Arc;

use super::{App, forks, history};
use planwright_model::{Seq, SessionId};
use planwright_state::replay::compare::{Comparison, compare};
use planwright_state::replay::fork::ForkPlan;
use planwright_store::{OpenMode, Store};
use planwright_text::Redactor;
use planwright_tui::{Bookmark, CompareView, Desk};

/// Answers screens from the store. It is opened for each wish, so that looking at a saved run keeps nothing open.
#[derive(Debug)]
struct StoreDesk {
    dir: PathBuf,
    redactor: Redactor,
    /// Where comparisons are written to.
    here: PathBuf,
}

impl App {
    /// Who answers the wishes of screens.
    pub fn desk(&self) -> anyhow::Result<Arc<dyn Desk>> {
        Ok(Arc::new(StoreDesk {
            dir: self.dir()?.to_path_buf(),
            redactor: self.redactor(),
            here: std::env::current_dir().unwrap_or_default(),
        }))
    }
}

impl StoreDesk {
    /// Does something with the store and says in one line what went wrong.
    fn with<T>(
        &self,
        mode: OpenMode,
        act: impl FnOnce(&Store) -> anyhow::Result<T>,
    ) -> Result<T, String> {
        let store = Store::open(&self.dir, mode).map_err(|error| error.to_string())?;
        let done = act(&store);
        store.close();
        done.map_err(|error| error.to_string())
    }
}

impl Desk for StoreDesk {
    fn bookmark(&self, session: &SessionId, at: Seq, note: Option<&str>) -> Result<(), String> {
        let note = note.map(|note| self.redactor.redact(note).into_owned());
        self.with(OpenMode::ReadWrite, |store| {
            Ok(store.set_bookmark(session, at, note.as_deref())?)
        })
    }

    fn plan_fork(&self, session: &SessionId, at: Seq) -> Result<ForkPlan, String> {
        self.with(OpenMode::ReadOnly, |store| {
            Ok(forks::plan_fork(store, session, Some(at), None)?.plan)
        })
    }

    fn fork(&self, session: &SessionId, at: Seq) -> Result<SessionId, String> {
        self.with(OpenMode::ReadWrite, |store| {
            let fork = forks::plan_fork(store, session, Some(at), None)?;
            forks::create_fork(store, &fork)
        })
    }

    fn compare(&self, session: &SessionId, with: &str) -> Result<CompareView, String> {
        self.with(OpenMode::ReadOnly, |store| {
            let other = super::find(store, with)?;
            comparison(store, session, &other)
        })
    }

    fn keep(&self, comparison: &Comparison) -> Result<String, String> {
        let name =
            format!("compare-{}-{}.md", comparison.a.session.short(), comparison.b.session.short());
        let text = planwright_store::exchange::comparison::markdown(comparison);
        std::fs::write(self.here.join(&name), text)
            .map(|()| format!("written to {name}"))
            .map_err(|error| format!("{name} could not be written: {error}"))
    }
}

/// Two sessions, read and compared.
pub fn comparison(store: &Store, a: &SessionId, b: &SessionId) -> anyhow::Result<CompareView> {
    let (mut left, mut right) = (history(store, a)?, history(store, b)?);
    let comparison = compare((a, &mut left), (b, &mut right))?;
    Ok(CompareView { comparison, a: left, b: right })
}

/// The marks of a session, as a screen takes them.
pub fn bookmarks(store: &Store, id: &SessionId) -> anyhow::Result<Vec<Bookmark>> {
    let marks = store.bookmarks(id)?;
    Ok(marks.into_iter().map(|mark| Bookmark { seq: mark.seq, note: mark.note }).collect())
}
