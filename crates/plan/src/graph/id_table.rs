//! Maps ids to indices, hashing each once. The table is built for one pass over a graph and compares short ids without
//! following their pointers.

/// Ids of at most this many bytes are stored entirely in a signature, so that equal signatures mean equal ids.
const EXACT: usize = 16;
const SEED_HEAD: u64 = 0x9e37_79b9_7f4a_7c15;
const SEED_TAIL: u64 = 0xd6e8_feb8_6659_fd93;

/// The first and the last eight bytes of an id, its length, and a hash of all of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdSignature {
    head: u64,
    tail: u64,
    len: usize,
    hash: u64,
}

impl IdSignature {
    #[inline]
    pub(super) fn from_id(id: &str) -> Self {
        let bytes = id.as_bytes();
        let (head, tail) = head_and_tail(bytes);
        let mut hash = fold_product(head ^ SEED_HEAD, tail ^ SEED_TAIL ^ bytes.len() as u64);
        if bytes.len() > EXACT {
            let (middle, _) = bytes[8..].as_chunks();
            for chunk in middle {
                hash = fold_product(hash ^ u64::from_le_bytes(*chunk), SEED_HEAD);
            }
        }
        Self { head, tail, len: bytes.len(), hash }
    }

    /// Returns whether this id is at most the other, if the signatures determine it.
    #[inline]
    fn rises_to(self, other: Self) -> Option<bool> {
        let comparable = self.len == other.len && (8..=EXACT).contains(&self.len);
        let words = |signature: Self| (signature.head.swap_bytes(), signature.tail.swap_bytes());
        comparable.then(|| words(self) <= words(other))
    }
}

#[inline]
fn head_and_tail(bytes: &[u8]) -> (u64, u64) {
    if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u64::from_le_bytes(*head), u64::from_le_bytes(*tail));
    }
    if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into());
    }
    (bytes.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte)), 0)
}

/// Multiplies to 128 bits and folds the halves, which mixes every input bit into every output bit.
#[inline]
fn fold_product(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// The part of an id that the table stores.
#[derive(Clone, Copy, Debug)]
struct StoredIdPart {
    head: u64,
    tail: u64,
    len: usize,
}

impl StoredIdPart {
    /// Compares without a branch for each part.
    #[inline]
    fn matches_signature(self, other: IdSignature) -> bool {
        (self.head ^ other.head) | (self.tail ^ other.tail) | (self.len ^ other.len) as u64 == 0
    }
}

/// An open-addressing table from ids to indices. It is kept mostly empty, so that few lookups take a second step, and
/// compares signatures; the caller provides ids that are too long for one.
#[derive(Debug)]
pub(super) struct IdTable {
    /// Indices plus one; zero is free.
    slots: Vec<u32>,
    mask: usize,
    kept: Vec<StoredIdPart>,
    last: IdSignature,
    rising: bool,
}

impl IdTable {
    pub(super) fn with_capacity(ids: usize) -> Self {
        let slots = (ids * 6).next_power_of_two().max(4);
        Self {
            slots: vec![0; slots],
            mask: slots - 1,
            kept: Vec::with_capacity(ids),
            last: IdSignature::default(),
            rising: true,
        }
    }

    /// Assigns `id` the next index. Of equal ids the first keeps its index.
    #[inline]
    pub(super) fn push<'a>(
        &mut self,
        id: &str,
        signature: IdSignature,
        id_at: impl Fn(usize) -> &'a str,
    ) {
        let found = self.probe(id, signature, &id_at);
        if self.rising {
            let count = self.kept.len();
            let known = self.last.rises_to(signature);
            self.rising = known.unwrap_or_else(|| count == 0 || id_at(count - 1) <= id);
            self.last = signature;
        }
        let IdSignature { head, tail, len, .. } = signature;
        self.kept.push(StoredIdPart { head, tail, len });
        if let Err(free) = found {
            self.slots[free] = self.kept.len() as u32;
        }
    }

    /// Returns whether no id is smaller than the one before it.
    pub(super) fn ids_rise(&self) -> bool {
        self.rising
    }

    #[inline]
    pub(super) fn get<'a>(
        &self,
        id: &str,
        signature: IdSignature,
        id_at: impl Fn(usize) -> &'a str,
    ) -> Option<u32> {
        self.probe(id, signature, id_at).ok()
    }

    /// Returns the index of an id, or the free slot where it would go.
    #[expect(clippy::inline_always, reason = "a call for each link costs a tenth of all resolving")]
    #[inline(always)]
    fn probe<'a>(
        &self,
        id: &str,
        signature: IdSignature,
        id_at: impl Fn(usize) -> &'a str,
    ) -> Result<u32, usize> {
        let mut at = signature.hash as usize & self.mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            let index = slot - 1;
            let same = self.kept[index as usize].matches_signature(signature);
            if same && (signature.len <= EXACT || id_at(index as usize) == id) {
                return Ok(index);
            }
            at = (at + 1) & self.mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_id_is_found_at_its_first_index(ids in prop::collection::vec("[ab]{0,24}", 0..60), other in "[ab]{0,24}") {
            let id_at = |index: usize| ids[index].as_str();
            let mut table = IdTable::with_capacity(ids.len());
            for id in &ids {
                table.push(id, IdSignature::from_id(id), id_at);
            }
            prop_assert_eq!(table.ids_rise(), ids.is_sorted());
            for id in ids.iter().chain([&other]) {
                let first = ids.iter().position(|known| known == id).map(|index| index as u32);
                prop_assert_eq!(table.get(id, IdSignature::from_id(id), id_at), first);
            }
        }
    }
}
