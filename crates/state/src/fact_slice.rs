//! Facts: what was said and what became of it, folded from its events.

use serde::{Deserialize, Serialize};

use planwright_model::event::FactEvent;
use planwright_model::{Fact, FactReading, FactSource, FactStatus};

/// Everything that was said, in the order in which it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FactSlice {
    list: Vec<Fact>,
}

impl FactSlice {
    /// All facts, withdrawn ones included.
    pub fn all(&self) -> &[Fact] {
        &self.list
    }

    /// The facts that plans have to respect.
    pub fn active(&self) -> impl Iterator<Item = &Fact> {
        self.list.iter().filter(|fact| fact.is_active())
    }

    pub fn find(&self, id: u32) -> Option<&Fact> {
        self.list.iter().find(|fact| fact.id == id)
    }

    /// The number of the next fact.
    pub fn next_id(&self) -> u32 {
        self.list.iter().map(|fact| fact.id).max().unwrap_or(0).saturating_add(1)
    }

    /// The active fact that keeps a whole text of this source.
    pub fn find_whole(&self, source: &FactSource) -> Option<&Fact> {
        self.active().find(|fact| fact.source == *source && fact.part_of.is_none())
    }

    /// The active facts that a later statement takes the place of.
    pub fn replaced_by<'a>(&'a self, reading: &'a FactReading) -> impl Iterator<Item = &'a Fact> {
        self.active().filter(move |fact| {
            fact.reading.as_ref().is_some_and(|earlier| reading.replaces(earlier))
        })
    }

    /// Folds one event.
    pub fn apply(&mut self, event: &FactEvent) -> bool {
        match event {
            FactEvent::Recorded { fact } => {
                let fresh = self.find(fact.id).is_none();
                if fresh {
                    self.list.push(fact.clone());
                }
                fresh
            }
            FactEvent::Corrected { id, text, reading, .. } => self.change_active(*id, |fact| {
                fact.text.clone_from(text);
                fact.reading.clone_from(reading);
            }),
            FactEvent::Withdrawn { id, replaced_by, .. } => self.withdraw(*id, *replaced_by),
        }
    }

    /// Withdraws a fact with everything that was said within it. What they had replaced applies again.
    fn withdraw(&mut self, id: u32, replaced_by: Option<u32>) -> bool {
        if !self.find(id).is_some_and(Fact::is_active) {
            return false;
        }
        let gone: Vec<u32> = self
            .active()
            .filter(|fact| fact.id == id || fact.part_of == Some(id))
            .map(|fact| fact.id)
            .collect();
        for fact in &mut self.list {
            if gone.contains(&fact.id) {
                fact.status = FactStatus::Withdrawn;
                fact.replaced_by = replaced_by;
            } else if fact.replaced_by.is_some_and(|later| gone.contains(&later)) {
                fact.status = FactStatus::Active;
                fact.replaced_by = None;
            }
        }
        true
    }

    /// The goal has other words now, because a fact within it has.
    pub(super) fn set_goal(&mut self, goal: &str) {
        let whole = self.find_whole(&FactSource::Goal).map(|fact| fact.id);
        if let Some(fact) = self.list.iter_mut().find(|fact| Some(fact.id) == whole) {
            goal.clone_into(&mut fact.text);
        }
    }

    fn change_active(&mut self, id: u32, change: impl FnOnce(&mut Fact)) -> bool {
        let found = self.list.iter_mut().find(|fact| fact.id == id && fact.is_active());
        found.map(change).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::Actor;

    fn fact(id: u32, text: &str, part_of: Option<u32>, reading: Option<FactReading>) -> FactEvent {
        let fact = Fact { part_of, reading, ..Fact::new(id, FactSource::Goal, text) };
        FactEvent::Recorded { fact }
    }

    fn active(slice: &FactSlice) -> Vec<(u32, &str)> {
        slice.active().map(|fact| (fact.id, fact.text.as_str())).collect()
    }

    #[test]
    fn facts_are_recorded_corrected_and_withdrawn_with_their_parts() {
        let mut slice = FactSlice::default();
        let guests = |amount| FactReading::Count { noun: "guest".into(), amount };
        assert!(slice.apply(&fact(1, "wedding for 80 guests", None, None)));
        assert!(slice.apply(&fact(2, "for 80 guests", Some(1), Some(guests(80)))));
        assert!(!slice.apply(&fact(2, "again", None, None)), "a number is used once");
        assert_eq!(slice.replaced_by(&guests(100)).count(), 1);
        let (text, by) = ("100 guests".to_owned(), Actor::Person);
        let reading = Some(guests(100));
        assert!(slice.apply(&FactEvent::Corrected { id: 2, text, reading, by }));
        assert_eq!(active(&slice), [(1, "wedding for 80 guests"), (2, "100 guests")]);
        assert_eq!(slice.find_whole(&FactSource::Goal).map(|fact| fact.id), Some(1));
        assert!(slice.apply(&FactEvent::Withdrawn { id: 1, by, replaced_by: None }));
        assert_eq!((active(&slice), slice.next_id()), (Vec::new(), 3));
        assert!(!slice.apply(&FactEvent::Withdrawn { id: 2, by, replaced_by: None }));
    }

    #[test]
    fn what_was_replaced_applies_again_once_the_later_words_are_withdrawn() {
        let mut slice = FactSlice::default();
        let until = |month| FactReading::Deadline { on: jiff::civil::date(2027, month, 1) };
        let by = Actor::Person;
        slice.apply(&fact(1, "by June", None, Some(until(6))));
        slice.apply(&fact(2, "by July", None, Some(until(7))));
        slice.apply(&FactEvent::Withdrawn { id: 1, by, replaced_by: Some(2) });
        assert_eq!(active(&slice), [(2, "by July")]);
        slice.apply(&FactEvent::Withdrawn { id: 2, by, replaced_by: None });
        assert_eq!(active(&slice), [(1, "by June")]);
    }
}
