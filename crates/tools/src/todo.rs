//! The agent's own to-do list, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    #[default]
    Pending,
    InProgress,
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub id: u32,
    pub text: String,
    pub status: TodoStatus,
    /// The plan node it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

/// A list in which at most one item is in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoList {
    pub items: Vec<TodoItem>,
    /// Never reused.
    next_id: u32,
}

/// The most items a list may have.
pub const MOST_ITEMS: usize = 200;

impl TodoList {
    /// Adds an item and returns its number.
    pub fn add(&mut self, text: &str, node: Option<String>) -> Result<u32, String> {
        if text.trim().is_empty() {
            return Err("an item needs a text".to_owned());
        }
        if self.items.len() >= MOST_ITEMS {
            return Err(format!("the list is full: it has {MOST_ITEMS} items"));
        }
        self.next_id += 1;
        let text = text.trim().to_owned();
        self.items.push(TodoItem { id: self.next_id, text, status: TodoStatus::Pending, node });
        Ok(self.next_id)
    }

    /// Changes an item. A second one in progress is rejected.
    pub fn update(
        &mut self,
        id: u32,
        text: Option<&str>,
        status: Option<TodoStatus>,
        node: Option<String>,
    ) -> Result<(), String> {
        let busy = self
            .items
            .iter()
            .find(|item| item.status == TodoStatus::InProgress && item.id != id)
            .map(|item| item.id);
        if let (Some(TodoStatus::InProgress), Some(busy)) = (status, busy) {
            return Err(format!("item {busy} is in progress; complete it or put it back first"));
        }
        let item = self
            .items
            .iter_mut()
            .find(|item| item.id == id)
            .ok_or_else(|| format!("there is no item {id}"))?;
        if let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) {
            text.clone_into(&mut item.text);
        }
        item.status = status.unwrap_or(item.status);
        if node.is_some() {
            item.node = node;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn at_most_one_item_is_ever_in_progress(steps in prop::collection::vec((0u32..6, 0u8..4), 0..40)) {
            let mut list = TodoList::default();
            for (id, act) in steps {
                let _ = match act {
                    0 => list.add("x", None).map(|_| ()),
                    1 => list.update(id, None, Some(TodoStatus::InProgress), None),
                    2 => list.update(id, None, Some(TodoStatus::Done), None),
                    _ => list.update(id, Some("y"), None, None),
                };
                let busy = list.items.iter().filter(|item| item.status == TodoStatus::InProgress);
                prop_assert!(busy.count() <= 1);
            }
        }
    }

    #[test]
    fn numbers_are_never_reused_and_errors_are_reported() {
        let mut list = TodoList::default();
        assert_eq!(list.add("one", None), Ok(1));
        assert_eq!(list.add(" ", None).unwrap_err(), "an item needs a text");
        assert_eq!(list.add("two", Some("p1.t1".into())), Ok(2));
        list.update(1, None, Some(TodoStatus::InProgress), None).unwrap();
        assert!(
            list.update(2, None, Some(TodoStatus::InProgress), None)
                .unwrap_err()
                .contains("item 1")
        );
        assert_eq!(list.update(9, None, None, None).unwrap_err(), "there is no item 9");
    }
}
