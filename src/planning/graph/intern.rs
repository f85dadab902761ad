//! Ids to indices, hashed once. The table is built for one pass over a graph and compares short ids without
//! following their pointers.

/// Ids of at most this many bytes are held whole in a signature, so that equal signatures mean equal ids.
const EXACT: usize = 16;
const SEED_HEAD: u64 = 0x9e37_79b9_7f4a_7c15;
const SEED_TAIL: u64 = 0xd6e8_feb8_6659_fd93;

/// The first and the last eight bytes of an id and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature {
    head: u64,
    tail: u64,
    len: usize,
}

impl Signature {
    #[inline]
    pub(super) fn of(bytes: &[u8]) -> Self {
        let len = bytes.len();
        if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
            return Self { head: u64::from_le_bytes(*head), tail: u64::from_le_bytes(*tail), len };
        }
        if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
            return Self { head: head.into(), tail: tail.into(), len };
        }
        let head = bytes.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
        Self { head, tail: 0, len }
    }

    #[inline]
    fn hash(self, bytes: &[u8]) -> u64 {
        let mut hash = fold(self.head ^ SEED_HEAD, self.tail ^ SEED_TAIL ^ self.len as u64);
        if self.len > EXACT {
            let (middle, _) = bytes[8..].as_chunks();
            for chunk in middle {
                hash = fold(hash ^ u64::from_le_bytes(*chunk), SEED_HEAD);
            }
        }
        hash
    }
}

/// Multiplies to 128 bits and folds the halves, which mixes every input bit into every output bit.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// An open-addressing table from ids to indices. It stores no ids: the caller lends them when a long one is compared.
#[derive(Debug)]
pub(super) struct IdTable {
    /// The upper half of the hash above, the index plus one below; zero is free.
    slots: Vec<u64>,
    mask: usize,
    signatures: Vec<Signature>,
}

impl IdTable {
    pub(super) fn with_capacity(ids: usize) -> Self {
        let slots = (ids * 2).next_power_of_two().max(4);
        Self { slots: vec![0; slots], mask: slots - 1, signatures: Vec::with_capacity(ids) }
    }

    /// Gives `id` the next index. Of equal ids the first keeps its place in the table.
    #[inline]
    pub(super) fn push<'a>(&mut self, id: &str, id_at: impl Fn(usize) -> &'a str) {
        let signature = Signature::of(id.as_bytes());
        let hash = signature.hash(id.as_bytes());
        self.signatures.push(signature);
        if let Err(free) = self.probe(id, signature, hash, id_at) {
            self.slots[free] = (hash & TAG) | self.signatures.len() as u64;
        }
    }

    #[inline]
    pub(super) fn get<'a>(&self, id: &str, id_at: impl Fn(usize) -> &'a str) -> Option<u32> {
        let signature = Signature::of(id.as_bytes());
        self.probe(id, signature, signature.hash(id.as_bytes()), id_at).ok()
    }

    /// The index of an id, or the free slot where it would go.
    #[inline]
    fn probe<'a>(
        &self,
        id: &str,
        signature: Signature,
        hash: u64,
        id_at: impl Fn(usize) -> &'a str,
    ) -> Result<u32, usize> {
        let mut at = hash as usize & self.mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if slot & TAG == hash & TAG {
                let index = (slot as u32 - 1) as usize;
                let same = self.signatures[index] == signature
                    && (signature.len <= EXACT || id_at(index) == id);
                if same {
                    return Ok(index as u32);
                }
            }
            at = (at + 1) & self.mask;
        }
    }
}

const TAG: u64 = 0xffff_ffff_0000_0000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(ids: &[String]) -> IdTable {
        let mut table = IdTable::with_capacity(ids.len());
        for id in ids {
            table.push(id, |index| ids[index].as_str());
        }
        table
    }

    proptest! {
        #[test]
        fn every_id_is_found_at_its_first_place(ids in prop::collection::vec("[ab]{0,24}", 0..60), other in "[ab]{0,24}") {
            let table = table(&ids);
            for id in ids.iter().chain([&other]) {
                let first = ids.iter().position(|known| known == id).map(|index| index as u32);
                prop_assert_eq!(table.get(id, |index| ids[index].as_str()), first);
            }
        }
    }
}
