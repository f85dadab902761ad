//! Decodes what a plan shares with other runs and whom it tells: pools of the machine, and notifications.

use std::collections::BTreeSet;

use super::decoder::{FieldNames, PlanFileDecoder};
use super::run_settings::decode_shell;
use super::value_tree::{TreeEntry, TreeValue, ValuePath, ValueTree};
use planwright_model::{NotifyCause, Plan, PlanNotification};

/// The fields of a pool.
pub(super) const POOL_FIELDS: &[FieldNames] = &[("capacity", &[]), ("scope", &[])];
/// The fields of `notify`.
pub(super) const NOTIFY_FIELDS: &[FieldNames] = &[("on", &[]), ("cmd", &[])];

/// Who shares a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoolScope {
    Plan,
    Machine,
}

const SCOPES: &[(&str, PoolScope)] = &[("plan", PoolScope::Plan), ("machine", PoolScope::Machine)];
const CAUSES: &[(&str, NotifyCause)] = &[
    ("end", NotifyCause::End),
    ("failed", NotifyCause::Failed),
    ("question", NotifyCause::Question),
];

/// Decodes `[pools]`. A pool is a resource; those of the machine are shared by all runs of one store.
pub(super) fn decode_pools(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
    plan: &mut Plan,
) {
    for entry in decoder.read_table(tree, path).unwrap_or_default() {
        let path = ValuePath::Field(&path, &entry.key);
        if plan.resources.contains_key(&entry.key) {
            let fix = "Declare it once, under [pools] or under [resources].";
            decoder.report_bad_value(
                &entry.tree,
                path,
                "is declared under [resources] as well",
                fix,
            );
            continue;
        }
        // An invalid pool is reported once; treating it as unlimited avoids follow-up errors.
        let (capacity, scope) =
            decode_pool(decoder, entry, path).unwrap_or((u32::MAX, PoolScope::Plan));
        plan.resources.insert(entry.key.clone(), capacity);
        if scope == PoolScope::Machine {
            plan.machine_pools.insert(entry.key.clone());
        }
    }
}

fn decode_pool(
    decoder: &mut PlanFileDecoder<'_>,
    entry: &TreeEntry,
    path: ValuePath<'_>,
) -> Option<(u32, PoolScope)> {
    let bounds = 1..=1000;
    if !matches!(entry.tree.value, TreeValue::Table(_)) {
        let capacity = decoder.read_integer(&entry.tree, path, bounds)?;
        return Some((capacity as u32, PoolScope::Plan));
    }
    let fields = decoder.read_fields(&entry.tree, path, POOL_FIELDS)?;
    let Some(capacity) = fields.get("capacity") else {
        decoder.report_bad_value(&entry.tree, path, "lacks `capacity`", "Add capacity = 1.");
        return None;
    };
    let own = ValuePath::Field(&path, "capacity");
    let capacity = decoder.read_integer(&capacity.tree, own, bounds)?;
    let scope = match fields.get("scope") {
        Some(entry) => {
            decoder.read_choice(&entry.tree, ValuePath::Field(&path, "scope"), SCOPES)?
        }
        None => PoolScope::Plan,
    };
    Some((capacity as u32, scope))
}

/// Decodes whom a run tells about what.
pub(super) fn decode_notify(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<PlanNotification> {
    let fields = decoder.read_fields(tree, path, NOTIFY_FIELDS)?;
    let Some(command) = fields.get("cmd") else {
        let fix = "Add cmd = [\"notify-send\", \"planwright\"].";
        decoder.report_bad_value(tree, path, "lacks `cmd`", fix);
        return None;
    };
    let command = decode_shell(decoder, &command.tree, ValuePath::Field(&path, "cmd"))?;
    let mut on = BTreeSet::new();
    match fields.get("on") {
        None => on.extend(CAUSES.iter().map(|(_, cause)| *cause)),
        Some(entry) => {
            let own = ValuePath::Field(&path, "on");
            for (index, item) in decoder.read_list(&entry.tree, own)?.iter().enumerate() {
                on.insert(decoder.read_choice(item, ValuePath::Item(&own, index), CAUSES)?);
            }
            if on.is_empty() {
                let fix = "Write at least one of \"end\", \"failed\" and \"question\".";
                decoder.report_bad_value(&entry.tree, own, "is empty", fix);
                return None;
            }
        }
    }
    Some(PlanNotification { on, command })
}
