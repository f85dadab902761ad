//! Sizes and gaps for each zoom and direction.

/// How much of a node is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Zoom {
    /// Framed boxes.
    #[default]
    Boxes,
    /// One unframed row for each node.
    Chips,
    /// One cell for each node.
    Dots,
}

/// The direction of the edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FlowDirection {
    /// Left to right.
    #[default]
    Right,
    /// Top to bottom.
    Down,
}

/// The size of a box, frame included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoxSize {
    /// Columns.
    pub w: u16,
    /// Rows.
    pub h: u16,
}

impl BoxSize {
    /// The usual size at a zoom level.
    pub(crate) fn for_zoom(zoom: Zoom) -> Self {
        match zoom {
            Zoom::Boxes => Self { w: 18, h: 4 },
            Zoom::Chips => Self { w: 12, h: 1 },
            Zoom::Dots => Self { w: 1, h: 1 },
        }
    }
}

/// The size of a box relative to the flow: `along` is its depth, and its line runs `before` cells from its first edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoxExtent {
    pub(super) along: i32,
    pub(super) before: i32,
    pub(super) after: i32,
}

/// The distances of one zoom and direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawingMetrics {
    pub(super) zoom: Zoom,
    pub(super) flow: FlowDirection,
    /// Free cells between two boxes of a layer.
    pub(super) gap: i32,
    /// Free cells beside a line that passes a layer.
    pub(super) line_gap: i32,
    /// The minimum number of cells between two layers.
    pub(super) channel: i32,
    /// Cells of a channel before its first trunk.
    pub(super) lead: i32,
    /// Cells of a channel after its last trunk, the arrow included.
    pub(super) tail: i32,
    /// From one trunk to the next.
    pub(super) pitch: i32,
}

impl DrawingMetrics {
    pub(super) fn new(zoom: Zoom, flow: FlowDirection) -> Self {
        let (gap, line_gap, channel, lead, tail, pitch) = match (flow, zoom) {
            (FlowDirection::Right, Zoom::Boxes) => (1, 0, 5, 1, 2, 2),
            (FlowDirection::Right, Zoom::Chips) => (1, 0, 6, 1, 2, 2),
            (FlowDirection::Right, Zoom::Dots) => (0, 0, 3, 1, 1, 1),
            (FlowDirection::Down, Zoom::Boxes | Zoom::Chips) => (2, 1, 3, 1, 1, 1),
            (FlowDirection::Down, Zoom::Dots) => (1, 1, 2, 1, 1, 1),
        };
        Self { zoom, flow, gap, line_gap, channel, lead, tail, pitch }
    }

    pub(super) fn box_extent(&self, size: BoxSize) -> BoxExtent {
        let (w, h) = (i32::from(size.w.max(1)), i32::from(size.h.max(1)));
        match self.flow {
            FlowDirection::Right => {
                let before = i32::from(h > 2);
                BoxExtent { along: w, before, after: h - 1 - before }
            }
            FlowDirection::Down => {
                let before = (w - 1) / 2;
                BoxExtent { along: h, before, after: w - 1 - before }
            }
        }
    }

    /// Returns how far beside its main line a box accepts further edges, if it can.
    pub(super) fn second_entry_offset(&self, extent: BoxExtent) -> Option<i32> {
        match (self.flow, self.zoom) {
            (_, Zoom::Dots) => None,
            (FlowDirection::Right, Zoom::Boxes) => (extent.after >= 2).then_some(1),
            (FlowDirection::Right, Zoom::Chips) => Some(1),
            (FlowDirection::Down, _) => (extent.after >= 3).then_some((extent.after / 2).max(2)),
        }
    }

    /// Returns whether the second entry is reached from below the box rather than from the side.
    pub(super) fn enters_from_below(&self) -> bool {
        self.flow == FlowDirection::Right && self.zoom == Zoom::Chips
    }

    pub(super) fn has_arrows(&self) -> bool {
        self.zoom != Zoom::Dots
    }

    /// Returns the size of a channel with `count` trunk columns, and the position of the first.
    pub(super) fn channel_metrics(&self, count: i32) -> ChannelMetrics {
        const ROOMY: i32 = 8;
        let pitch = if count > ROOMY { 1 } else { self.pitch };
        let needed = self.lead + (count - 1).max(0) * pitch + 1 + self.tail;
        let width = needed.max(self.channel);
        // A single trunk is centered, so that its fork has space on both sides.
        let first = if count <= 1 { (width - self.tail) / 2 } else { self.lead };
        ChannelMetrics { width, first, pitch }
    }
}

/// The measures of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChannelMetrics {
    pub(super) width: i32,
    pub(super) first: i32,
    pub(super) pitch: i32,
}
