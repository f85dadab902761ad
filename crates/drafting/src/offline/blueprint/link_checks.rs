//! Checks of the links in a blueprint: keys that are used twice or do not exist, and parts that wait for each other.

use std::collections::BTreeMap;

use toml::Spanned;

use planwright_model::LinkKind;

use super::checks::{CheckResult, fault_at};
use super::{Blueprint, BlueprintGroup, BlueprintLink, BlueprintTask};

/// A part that links can refer to, with the tasks in it.
struct LinkedPart<'a> {
    title: &'a Spanned<String>,
    after: Option<&'a [BlueprintLink]>,
    leaves: Vec<usize>,
}

/// Everything that is linked in a file.
#[derive(Default)]
struct LinkTable<'a> {
    keys: BTreeMap<&'a str, usize>,
    parts: Vec<LinkedPart<'a>>,
    titles: Vec<&'a Spanned<String>>,
    /// Pairs of parts in their listed order.
    chains: Vec<(usize, usize)>,
}

pub(super) fn check_links(file: &Blueprint) -> CheckResult {
    let mut table = LinkTable::default();
    table.add_tasks(&file.tasks)?;
    table.add_groups(&file.phases)?;
    table.add_groups(&file.cycles)?;
    let mut needs: Vec<Vec<usize>> = vec![Vec::new(); table.titles.len()];
    for part in &table.parts {
        for link in part.after.unwrap_or_default() {
            let Some(from) = table.keys.get(link.on.as_str()) else {
                return Err(unknown_key(part.title, &link.on, table.keys.keys().copied()));
            };
            if link.kind == LinkKind::FS || link.kind == LinkKind::SS {
                add_pairs(&mut needs, &table.parts[*from], part);
            }
        }
    }
    for (from, to) in &table.chains {
        add_pairs(&mut needs, &table.parts[*from], &table.parts[*to]);
    }
    match find_cycle(&needs) {
        Some(cycle) => {
            let names: Vec<String> =
                cycle.iter().map(|leaf| format!("\"{}\"", table.titles[*leaf].get_ref())).collect();
            let first = table.titles[cycle[0]];
            Err(fault_at(
                first,
                format!("these tasks wait for each other: {}", names.join(", ")),
                "remove one of their names from after",
            ))
        }
        None => Ok(()),
    }
}

fn unknown_key<'a>(
    title: &Spanned<String>,
    key: &str,
    known: impl Iterator<Item = &'a str>,
) -> super::checks::TemplateFault {
    let message =
        format!("\"{}\" comes after \"{key}\", which no part has as its key", title.get_ref());
    let remedy = match planwright_text::nearest_name(key, known) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("add key = \"{key}\" to a task or phase, or correct the name"),
    };
    fault_at(title, message, remedy)
}

fn add_pairs(needs: &mut [Vec<usize>], from: &LinkedPart<'_>, to: &LinkedPart<'_>) {
    for after in &to.leaves {
        needs[*after].extend(from.leaves.iter().filter(|before| *before != after));
    }
}

impl<'a> LinkTable<'a> {
    fn add_part(
        &mut self,
        key: Option<&'a Spanned<String>>,
        part: LinkedPart<'a>,
    ) -> Result<usize, super::checks::TemplateFault> {
        let place = self.parts.len();
        self.parts.push(part);
        if let Some(key) = key
            && self.keys.insert(key.get_ref().as_str(), place).is_some()
        {
            return Err(fault_at(
                key,
                format!("the key \"{}\" is used twice", key.get_ref()),
                "give each part a key of its own",
            ));
        }
        Ok(place)
    }

    fn add_tasks(
        &mut self,
        tasks: &'a [BlueprintTask],
    ) -> Result<Vec<usize>, super::checks::TemplateFault> {
        let mut leaves = Vec::new();
        let mut last: Option<usize> = None;
        for task in tasks {
            let leaf = self.titles.len();
            self.titles.push(&task.title);
            leaves.push(leaf);
            let part =
                LinkedPart { title: &task.title, after: task.after.as_deref(), leaves: vec![leaf] };
            let place = self.add_part(task.key.as_ref(), part)?;
            if task.every.is_some() {
                continue;
            }
            if let Some(before) = last.filter(|_| task.after.is_none()) {
                self.chains.push((before, place));
            }
            last = Some(place);
        }
        Ok(leaves)
    }

    fn add_groups(
        &mut self,
        groups: &'a [BlueprintGroup],
    ) -> Result<Vec<usize>, super::checks::TemplateFault> {
        let mut all = Vec::new();
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        for group in groups {
            let mut leaves = self.add_groups(&group.phases)?;
            leaves.extend(self.add_groups(&group.sub_goals)?);
            leaves.extend(self.add_tasks(&group.tasks)?);
            all.extend(leaves.iter().copied());
            let part = LinkedPart { title: &group.title, after: group.after.as_deref(), leaves };
            let place = self.add_part(group.key.as_ref(), part)?;
            let stream = group.stream.as_deref().unwrap_or_default();
            let before = last.insert(stream, place);
            if let Some(before) = before.filter(|_| group.after.is_none() && group.every.is_none())
            {
                self.chains.push((before, place));
            }
        }
        Ok(all)
    }
}

/// Returns the leaves of a loop, if there is one. Depth first with an explicit stack, so that a long file cannot
/// exhaust the real one.
fn find_cycle(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut done = vec![false; needs.len()];
    for start in 0..needs.len() {
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((leaf, next)) = path.last_mut() {
            if done[*leaf] {
                path.pop();
                continue;
            }
            let Some(before) = needs[*leaf].get(*next).copied() else {
                done[*leaf] = true;
                path.pop();
                continue;
            };
            *next += 1;
            if let Some(place) = path.iter().position(|(on_path, _)| *on_path == before) {
                return Some(path[place..].iter().map(|(leaf, _)| *leaf).collect());
            }
            path.push((before, 0));
        }
    }
    None
}
