//! How two nodes become equal: one asks, the other answers from one snapshot.
//!
//! The asker says what it has seen. Where it has seen all that the other has purged, a *delta* is enough: the records
//! with a write that it lacks. Otherwise only a *full* sync is safe, since the tombstones that would tell it of a
//! deletion are gone: then absence speaks. An answer is taken up as a whole and in one transaction, whatever order
//! its parts arrive in: the sender's vector is a claim about all its records, and a rename is two of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::naming::Name;

use super::history::Outcome;
use super::oplog::Horizons;
use super::record::{Named, Record};
use super::replica::Replica;
use super::rules::Rule;
use super::vector::{Dot, Seen, Vector};
use super::wire;

/// Asks a peer for what this node lacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyncRequest {
    /// Drawn for this request: parts of another session are not taken.
    pub session: u64,
    /// All that the asker has seen.
    pub seen: Seen,
    /// What the asker has purged: who is below this must sync fully from it, and not the other way round alone.
    pub floor: Vector,
    /// Writes whose outcome the asker does not know: news of these bring no new write, so the vector can't show them.
    pub unsettled: Vec<Unsettled>,
}

/// A write of which it is not known what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unsettled {
    /// Its name.
    #[serde(with = "wire::name")]
    pub name: Name,
    /// The write.
    #[serde(with = "wire::numbered")]
    pub dot: Dot,
}

/// One part of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyncPart {
    /// The request's session.
    pub session: u64,
    /// Drawn for this answer: a request that arrived twice was answered from two snapshots, which must not be mixed.
    pub answer: u64,
    /// Which part this is, from 0.
    pub index: u32,
    /// How many there are.
    pub total: u32,
    /// Whether a name that is in no part is one that the sender lacks.
    pub full: bool,
    /// Records of the sender.
    pub records: Vec<Named>,
    /// What the sender claims with the answer as a whole: in the first part.
    pub claim: Option<Arc<Claim>>,
}

/// What a sender had seen and purged when it took the snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// All that it had seen.
    pub seen: Seen,
    /// What it had purged.
    pub floor: Vector,
    /// Which operation ids it had forgotten.
    pub horizons: Horizons,
}

/// An answer that is coming in.
#[derive(Debug)]
pub struct Pull {
    session: u64,
    parts: BTreeMap<(u64, u32), SyncPart>,
    taken: u32,
}

/// A part is closed when it has grown to so many bytes: well below a frame's limit, though a record follows the last.
const PART_BYTES: usize = 512 * 1024;

/// Who lacks more than this part of all writes lacks much.
const MUCH: u64 = 8;

/// What taking a part led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The part is not of this session, or was there already.
    Ignored,
    /// Parts are missing.
    Waiting,
    /// The whole answer was taken up.
    Complete {
        /// It was a full one.
        full: bool,
    },
}

impl Replica {
    /// Begins a pull from some peer: the request to send, and what will gather the answer.
    pub fn begin_pull(&mut self) -> (SyncRequest, Pull) {
        let session = self.draw();
        let unsettled = self.index.unsettled.iter().map(|(&dot, name)| Unsettled { name: name.clone(), dot }).collect();
        let request = SyncRequest { session, seen: self.seen.clone(), floor: self.floor.clone(), unsettled };
        (request, Pull { session, parts: BTreeMap::new(), taken: 0 })
    }

    /// Answers a peer from the current state.
    pub fn answer_pull(&mut self, request: &SyncRequest) -> Vec<SyncPart> {
        self.answer_pull_in(request, PART_BYTES)
    }

    /// As [`answer_pull`](Self::answer_pull), with parts of about so many bytes.
    pub fn answer_pull_in(&mut self, request: &SyncRequest, part_bytes: usize) -> Vec<SyncPart> {
        let answer = self.draw();
        let full = !self.may_send_delta(&request.seen);
        let records = if full { self.all_records() } else { self.records_beyond(request) };
        let claim = Claim { seen: self.seen.clone(), floor: self.floor.clone(), horizons: self.horizons.clone() };
        let mut claim = Some(Arc::new(claim));
        let parts = in_parts(records, part_bytes);
        let total = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let part =
            |(index, records)| SyncPart { session: request.session, answer, index, total, full, records, claim: claim.take() };
        (0..).zip(parts).map(part).collect()
    }

    /// Takes a part of an answer; the last one to arrive applies them all.
    pub fn take_part(&mut self, now: Duration, pull: &mut Pull, part: SyncPart) -> Progress {
        // Without the rule all answers count as one.
        let answer = if self.rules.hold(Rule::AnswersNotMixed) { part.answer } else { 0 };
        let key = (answer, part.index);
        if part.session != pull.session || part.index < pull.taken || pull.parts.contains_key(&key) {
            return Progress::Ignored;
        }
        let (total, full) = (part.total, part.full);
        if let Some(claim) = part.claim.as_ref().filter(|_| !self.rules.hold(Rule::VectorAfterRecords)) {
            self.join_claim(claim);
        }
        pull.parts.insert(key, part);
        if !self.rules.hold(Rule::FullSyncAtomic) {
            return self.take_in_pieces(now, pull, answer);
        }
        if pull.parts.range((answer, 0)..=(answer, u32::MAX)).count() < total as usize {
            return Progress::Waiting;
        }
        let parts: Vec<SyncPart> = std::mem::take(&mut pull.parts)
            .into_values()
            .filter(|part| part.answer == answer || !self.rules.hold(Rule::AnswersNotMixed))
            .collect();
        pull.taken = total;
        self.apply(now, &parts);
        Progress::Complete { full }
    }

    /// Whether a peer with that floor would have to send everything: until it did, this node serves nobody, since
    /// it may still show what was deleted.
    pub fn is_below(&self, floor: &Vector) -> bool {
        !self.seen.vector().includes(floor)
    }

    fn apply(&mut self, now: Duration, parts: &[SyncPart]) {
        let Some((full, claim)) = parts.iter().find_map(|part| Some((part.full, part.claim.as_ref()?))) else { return };
        let must_be_full = self.is_below(&claim.floor) && self.rules.hold(Rule::DeltaWithinFloor);
        debug_assert!(full || !must_be_full, "invariant 5: a delta from a peer whose floor this node is below");
        let sender = full.then_some(&claim.seen);
        let mut named = BTreeSet::new();
        for Named { name, record } in parts.iter().flat_map(|part| &part.records) {
            self.merge(now, name, record, sender);
            if full {
                named.insert(name);
            }
        }
        if full {
            let absent: Vec<Name> = self.records.keys().filter(|name| !named.contains(name)).cloned().collect();
            for name in absent {
                self.merge(now, &name, &Record::default(), sender);
            }
        }
        self.join_claim(claim);
        debug_assert!(
            !full || self.floor.includes(&claim.floor) || !self.rules.hold(Rule::FloorTakenOver),
            "invariant 7: the floor of a full sync was not taken over"
        );
        debug_assert!(!self.is_below(&claim.floor), "invariant 10: still below a floor after a sync");
    }

    /// The claim holds once all records are applied.
    fn join_claim(&mut self, claim: &Claim) {
        self.seen.join(&claim.seen);
        if self.rules.hold(Rule::FloorTakenOver) {
            self.floor.join(&claim.floor);
        }
        self.horizons.join(&claim.horizons);
        self.touch();
    }

    fn may_send_delta(&self, peer: &Seen) -> bool {
        peer.vector().includes(&self.floor) || !self.rules.hold(Rule::DeltaWithinFloor)
    }

    fn all_records(&self) -> Vec<Named> {
        self.records.iter().map(|(name, record)| Named { name: name.clone(), record: Arc::clone(record) }).collect()
    }

    /// The records with a write that the peer has not seen, and those whose outcome it asks for.
    fn records_beyond(&self, request: &SyncRequest) -> Vec<Named> {
        let settled = |name: &Name, dot: Dot| {
            self.records.get(name).and_then(|r| r.history.get(dot)).is_some_and(|event| event.outcome != Outcome::Pending)
        };
        let news = request.unsettled.iter().filter(|event| settled(&event.name, event.dot)).map(|event| &event.name);
        let mut names: BTreeSet<&Name> = news.collect();
        let mut beginnings = Vec::new();
        let mut lacking = 0_u64;
        for last in self.seen.vector().iter().chain(self.seen.beyond()) {
            let known = request.seen.vector().get(last.actor);
            if known < last.sequence {
                lacking += last.sequence - known;
                beginnings.push(Dot { actor: last.actor, sequence: known.saturating_add(1) });
            }
        }
        // Of who lacks much, all are looked at, in their order: to look each up takes many times as long, and a node
        // does nothing else meanwhile.
        if lacking > self.records.len() as u64 / MUCH {
            let is_lacking = |record: &Record| record.dots().any(|dot| !request.seen.has(dot));
            let wanted = self.records.iter().filter(|(name, record)| is_lacking(record) || names.contains(name));
            return wanted.map(|(name, record)| Named { name: name.clone(), record: Arc::clone(record) }).collect();
        }
        for first_lacking in beginnings {
            let lacking = self.index.by_dot.from(first_lacking).filter(|(dot, _)| !request.seen.has(*dot));
            names.extend(lacking.map(|(_, name)| name));
        }
        let record = |name: &Name| Some(Named { name: name.clone(), record: Arc::clone(self.records.get(name)?) });
        names.into_iter().filter_map(record).collect()
    }

    /// What a sync must not be: taken up part by part, as the parts come. See [`Rule::FullSyncAtomic`].
    fn take_in_pieces(&mut self, now: Duration, pull: &mut Pull, answer: u64) -> Progress {
        let Some(claim) = pull.parts.get(&(answer, 0)).and_then(|part| part.claim.clone()) else { return Progress::Waiting };
        while let Some(part) = pull.parts.get(&(answer, pull.taken)) {
            let sender = part.full.then_some(&claim.seen);
            for Named { name, record } in &part.records {
                self.merge(now, name, record, sender);
            }
            pull.taken += 1;
            if pull.taken == part.total {
                let full = part.full;
                let parts: Vec<SyncPart> = std::mem::take(&mut pull.parts).into_values().collect();
                self.apply(now, &parts);
                return Progress::Complete { full };
            }
        }
        Progress::Waiting
    }
}

/// Records in parts of about so many bytes; one part at least.
fn in_parts(records: Vec<Named>, part_bytes: usize) -> Vec<Vec<Named>> {
    let (mut parts, mut last, mut size) = (Vec::new(), Vec::new(), 0);
    for named in records {
        size += named.name.as_str().len() + named.record.weight();
        last.push(named);
        if size >= part_bytes {
            parts.push(std::mem::take(&mut last));
            size = 0;
        }
    }
    if !last.is_empty() || parts.is_empty() {
        parts.push(last);
    }
    parts
}
