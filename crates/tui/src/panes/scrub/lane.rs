//! What the bar shows of a run in each of its cells, worked out once for each new event and each width.

use super::track::ScrubTrack;
use planwright_model::Seq;
use planwright_state::timeline::{LandmarkKind, Timeline, TimelineActivity};

/// The bar of a run.
#[derive(Clone, Debug)]
pub(crate) struct ScrubLane {
    pub(crate) track: ScrubTrack,
    /// How many tasks ran at once, cell by cell; folds in words.
    pub(super) glyphs: String,
    /// The most important landmark of each cell that has one.
    pub(super) marks: Vec<(u16, LandmarkKind)>,
}

impl ScrubLane {
    fn from_timeline(timeline: &Timeline, width: u16) -> Option<Self> {
        let track = ScrubTrack::from_timeline(timeline, width)?;
        let glyphs = activity_glyphs(&track, timeline);
        let marks = landmark_cells(&track, timeline);
        Some(Self { track, glyphs, marks })
    }
}

/// The lane and what it was made from.
#[derive(Debug, Default)]
pub(crate) struct LaneCache {
    known: Option<(Seq, u16)>,
    lane: Option<ScrubLane>,
}

impl LaneCache {
    /// Takes in what is new, if anything is.
    pub(crate) fn update(&mut self, timeline: &Timeline, width: u16) {
        let key = (timeline.head_seq(), width);
        if self.known != Some(key) {
            self.known = Some(key);
            self.lane = ScrubLane::from_timeline(timeline, width);
        }
    }

    pub(crate) fn lane(&self) -> Option<&ScrubLane> {
        self.lane.as_ref()
    }
}

/// The most tasks at once in each cell.
fn activity_glyphs(track: &ScrubTrack, timeline: &Timeline) -> String {
    let mut glyphs = String::new();
    for segment in &track.segments {
        if let Some(label) = &segment.fold {
            glyphs.push_str(label);
            continue;
        }
        for cell in segment.first..segment.first + segment.cells {
            let busiest = timeline.busiest_activity(track.cell_start(cell), track.cell_end(cell));
            glyphs.push(match busiest {
                TimelineActivity::Waiting => ' ',
                TimelineActivity::Planning => '░',
                TimelineActivity::Tasks(1) => '▒',
                TimelineActivity::Tasks(2) => '▓',
                TimelineActivity::Tasks(_) => '█',
            });
        }
    }
    glyphs
}

fn landmark_cells(track: &ScrubTrack, timeline: &Timeline) -> Vec<(u16, LandmarkKind)> {
    let mut cells: Vec<Option<LandmarkKind>> = vec![None; usize::from(track.width)];
    for landmark in timeline.landmarks() {
        let cell = &mut cells[usize::from(track.cell_at(landmark.at))];
        *cell = (*cell).max(Some(landmark.kind));
    }
    (0..).zip(cells).filter_map(|(cell, kind)| Some((cell, kind?))).collect()
}
