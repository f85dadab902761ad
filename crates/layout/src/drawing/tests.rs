//! Properties of drawings, and snapshots of small graphs.

use super::line_glyphs::{LineArm, LineArms};
use super::{
    BoxSize, CellRole, DrawingCell, DrawingMarks, DrawnSizes, EdgeArrow, EdgeSegment,
    FlowDirection, GraphDrawing, PlacedBox, Viewport, Zoom,
};
use crate::relayout_graph;
use crate::{LayoutGraph, layout_graph};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const KINDS: [(Zoom, FlowDirection); 6] = [
    (Zoom::Boxes, FlowDirection::Right),
    (Zoom::Chips, FlowDirection::Right),
    (Zoom::Dots, FlowDirection::Right),
    (Zoom::Boxes, FlowDirection::Down),
    (Zoom::Chips, FlowDirection::Down),
    (Zoom::Dots, FlowDirection::Down),
];

/// The eleven tasks of the release plan, the critical path first.
const TASKS: [&str; 11] = [
    "audit", "api", "port", "tests", "publish", "docs", "announce", "bench", "fuzz", "corpus",
    "keys",
];
const LINKS: [(u32, u32); 12] = [
    (0, 1),
    (1, 2),
    (2, 3),
    (3, 4),
    (1, 5),
    (7, 2),
    (7, 8),
    (8, 9),
    (2, 6),
    (5, 6),
    (6, 4),
    (10, 4),
];

fn full_view(drawing: &GraphDrawing) -> Viewport {
    Viewport { x: 0, y: 0, w: drawing.width, h: drawing.height }
}

/// Renders a drawing as text, with names in the boxes.
fn picture(drawing: &GraphDrawing, marks: &DrawingMarks<'_>, names: &[&str]) -> String {
    let mut grid = vec![vec![' '; drawing.width as usize]; drawing.height as usize];
    for cell in drawing.cells_in(full_view(drawing), marks) {
        grid[cell.y as usize][cell.x as usize] = cell.glyph;
    }
    for at in &drawing.boxes {
        let text = match (at.w, at.h) {
            (1, _) => "•".to_owned(),
            _ => format!("· {}", names[at.node as usize]),
        };
        let (x, y) =
            if at.h > 1 { (at.x + 2, at.y + 1) } else { (at.x + i32::from(at.w > 1), at.y) };
        for (offset, glyph) in text.chars().enumerate() {
            grid[y as usize][x as usize + offset] = glyph;
        }
    }
    let lines = grid.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn sizes(names: &[&str], zoom: Zoom) -> Vec<BoxSize> {
    let chip = |name: &&str| BoxSize { w: name.len() as u16 + 4, h: 1 };
    names
        .iter()
        .map(|name| if zoom == Zoom::Chips { chip(name) } else { BoxSize::for_zoom(zoom) })
        .collect()
}

fn release(zoom: Zoom, flow: FlowDirection, selected: Option<u32>) -> String {
    let graph = LayoutGraph::new(11, LINKS).prefer_straight(0..4);
    let drawing = GraphDrawing::new(&layout_graph(&graph), &sizes(&TASKS, zoom), zoom, flow);
    let critical = [true; 5];
    let marks = DrawingMarks {
        selected,
        critical_nodes: &critical,
        critical_edges: &critical[..4],
        ..DrawingMarks::default()
    };
    picture(&drawing, &marks, &TASKS)
}

#[test]
fn the_release_plan_in_boxes() {
    insta::assert_snapshot!(release(Zoom::Boxes, FlowDirection::Right, Some(2)));
}

#[test]
fn the_release_plan_in_chips() {
    insta::assert_snapshot!(release(Zoom::Chips, FlowDirection::Right, None));
}

#[test]
fn the_release_plan_in_dots() {
    insta::assert_snapshot!(release(Zoom::Dots, FlowDirection::Right, None));
}

#[test]
fn the_release_plan_downwards() {
    insta::assert_snapshot!(release(Zoom::Boxes, FlowDirection::Down, Some(8)));
}

#[test]
fn the_release_plan_folded() {
    let graph = LayoutGraph::new(11, LINKS).prefer_straight(0..4);
    let placed = layout_graph(&graph);
    let critical = [true; 5];
    let marks = DrawingMarks {
        critical_nodes: &critical,
        critical_edges: &critical[..4],
        ..DrawingMarks::default()
    };
    for (name, zoom, columns) in [("boxes", Zoom::Boxes, 80), ("chips", Zoom::Chips, 48)] {
        let drawing = GraphDrawing::folded(&placed, &sizes(&TASKS, zoom), zoom, columns).unwrap();
        insta::assert_snapshot!(format!("folded_{name}"), picture(&drawing, &marks, &TASKS));
    }
    assert!(GraphDrawing::folded(&placed, DrawnSizes::default(), Zoom::Boxes, 12).is_none());
}

#[test]
fn the_release_plan_in_ascii() {
    let text: String = release(Zoom::Boxes, FlowDirection::Right, Some(2))
        .chars()
        .map(super::ascii_glyph)
        .collect();
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn swapped_and_shared_targets() {
    let names = ["a", "b", "c", "u", "v", "w"];
    let edges = (0..3).flat_map(|from| (3..6).map(move |to| (from, to)));
    let drawing = GraphDrawing::new(
        &layout_graph(&LayoutGraph::new(6, edges)),
        &sizes(&names, Zoom::Boxes),
        Zoom::Boxes,
        FlowDirection::Right,
    );
    insta::assert_snapshot!(picture(&drawing, &DrawingMarks::default(), &names));
}

/// Returns the cells of each edge.
fn cells_of_edges(drawing: &GraphDrawing) -> BTreeMap<u32, BTreeSet<(i32, i32)>> {
    let mut cells: BTreeMap<u32, BTreeSet<(i32, i32)>> = BTreeMap::new();
    for line in drawing.rows.iter().flatten() {
        cells.entry(line.edge).or_default().extend((line.from..=line.to).map(|x| (x, line.at)));
    }
    for line in drawing.columns.iter().flatten() {
        cells.entry(line.edge).or_default().extend((line.from..=line.to).map(|y| (line.at, y)));
    }
    cells
}

/// Returns the node of each cell that a box covers.
fn owners(drawing: &GraphDrawing) -> BTreeMap<(i32, i32), u32> {
    let mut owners = BTreeMap::new();
    for at in &drawing.boxes {
        for y in at.y..at.y + at.h {
            for x in at.x..at.x + at.w {
                assert_eq!(owners.insert((x, y), at.node), None, "boxes do not overlap");
            }
        }
    }
    owners
}

/// Checks that every edge is one connected line from its source to its target, and enters no other box.
fn check_paths(drawing: &GraphDrawing, drawn: &BTreeSet<u32>, zoom: Zoom) {
    let owner = owners(drawing);
    let all_cells = cells_of_edges(drawing);
    let arrows: BTreeMap<u32, &EdgeArrow> =
        drawing.arrows.iter().map(|arrow| (arrow.edge, arrow)).collect();
    for &edge in drawn {
        let (source, target) = drawing.ends[edge as usize];
        let cells = &all_cells[&edge];
        let inside: Vec<u32> = cells.iter().filter_map(|cell| owner.get(cell).copied()).collect();
        let expected = if zoom == Zoom::Dots { vec![source, target] } else { vec![source] };
        let (mut inside, mut expected) = (inside, expected);
        inside.sort_unstable();
        expected.sort_unstable();
        assert_eq!(inside, expected, "edge {edge} touches only its own boxes");
        let first = *cells
            .iter()
            .find(|cell| owner.get(cell) == Some(&source))
            .expect("the edge starts at its box");
        let reached = flood(cells, first);
        assert_eq!(reached.len(), cells.len(), "edge {edge} is connected");
        if zoom != Zoom::Dots {
            let arrow = arrows[&edge];
            assert!(cells.contains(&(arrow.x, arrow.y)));
            let ahead = match arrow.glyph {
                '►' => (arrow.x + 1, arrow.y),
                '▼' => (arrow.x, arrow.y + 1),
                _ => (arrow.x, arrow.y - 1),
            };
            assert_eq!(
                owner.get(&ahead),
                Some(&target),
                "the arrow of edge {edge} points at its target"
            );
        }
    }
}

fn flood(cells: &BTreeSet<(i32, i32)>, first: (i32, i32)) -> BTreeSet<(i32, i32)> {
    let mut seen = BTreeSet::from([first]);
    let mut open = vec![first];
    while let Some((x, y)) = open.pop() {
        for next in [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)] {
            if cells.contains(&next) && seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Checks that lines overlap only if they share an end, and that no line turns on a crossing.
fn check_sharing(drawing: &GraphDrawing) {
    let mut across: BTreeMap<(i32, i32), Vec<&EdgeSegment>> = BTreeMap::new();
    let mut down: BTreeMap<(i32, i32), Vec<&EdgeSegment>> = BTreeMap::new();
    for line in drawing.rows.iter().flatten() {
        (line.from..=line.to).for_each(|x| across.entry((x, line.at)).or_default().push(line));
    }
    for line in drawing.columns.iter().flatten() {
        (line.from..=line.to).for_each(|y| down.entry((line.at, y)).or_default().push(line));
    }
    // In a dot one edge ends and another starts.
    let owner = owners(drawing);
    let open = |at: &(i32, i32)| !owner.contains_key(at);
    for (_, lines) in across.iter().chain(&down).filter(|entry| open(entry.0)) {
        for (index, a) in lines.iter().enumerate() {
            for b in &lines[index + 1..] {
                let ((s1, t1), (s2, t2)) =
                    (drawing.ends[a.edge as usize], drawing.ends[b.edge as usize]);
                assert!(
                    s1 == s2 || t1 == t2,
                    "edges {} and {} share a line but no end",
                    a.edge,
                    b.edge
                );
            }
        }
    }
    let mut cells = BTreeMap::new();
    for cell in drawing.cells_in(full_view(drawing), &DrawingMarks::default()) {
        cells.insert((cell.x, cell.y), cell.glyph);
    }
    for (at, glyph) in cells.iter().filter(|entry| *entry.1 == '┼') {
        for line in &across[at] {
            assert!(
                line.from < at.0 && at.0 < line.to || continues(&across[at], line, at.0),
                "{glyph} at {at:?} is a join"
            );
        }
        for line in &down[at] {
            assert!(
                line.from < at.1 && at.1 < line.to || continues(&down[at], line, at.1),
                "{glyph} at {at:?} is a join"
            );
        }
    }
}

/// Returns whether the same edge continues from the end of `line` in the same direction.
fn continues(lines: &[&EdgeSegment], line: &EdgeSegment, at: i32) -> bool {
    lines.iter().any(|other| {
        other.edge == line.edge && (other.from < at) != (line.from < at) && *other != line
    })
}

/// Checks that arms meet arms: a line continues in the next cell, or ends at a box or an arrow.
fn lint(drawing: &GraphDrawing, marks: &DrawingMarks<'_>, framed: bool) {
    let cells: BTreeMap<(i32, i32), DrawingCell> =
        drawing.cells_in(full_view(drawing), marks).map(|cell| ((cell.x, cell.y), cell)).collect();
    let owner = owners(drawing);
    let boxed = |at: (i32, i32)| !framed && owner.contains_key(&at);
    let selected =
        |cell: &DrawingCell| marks.selected.is_some_and(|node| cell.role == CellRole::Frame(node));
    for (&(x, y), cell) in &cells {
        assert_ne!(cell.glyph, ' ', "no empty glyph at {x},{y}");
        let arms = LineArms::of(cell.glyph);
        let sides = [
            (LineArm::Up, LineArm::Down, (x, y - 1)),
            (LineArm::Right, LineArm::Left, (x + 1, y)),
            (LineArm::Down, LineArm::Up, (x, y + 1)),
            (LineArm::Left, LineArm::Right, (x - 1, y)),
        ];
        for (arm, facing, at) in sides {
            let near = cells.get(&at);
            let loose =
                boxed(at) || near.is_some_and(|near| "►▲▼".contains(near.glyph) || selected(near));
            if arms == LineArms::default() || loose {
                continue;
            }
            let theirs = near.map_or(0, |near| LineArms::of(near.glyph).get(facing));
            assert_eq!(
                arms.get(arm),
                theirs,
                "{} at {x},{y} does not fit its neighbour at {at:?}",
                cell.glyph
            );
        }
    }
}

fn check(graph: &LayoutGraph, zoom: Zoom, flow: FlowDirection, sizes: &[BoxSize]) {
    let placed = layout_graph(graph);
    let drawing = GraphDrawing::new(&placed, sizes, zoom, flow);
    check_drawing(&placed, &drawing, zoom);
}

fn check_drawing(placed: &crate::Layout, drawing: &GraphDrawing, zoom: Zoom) {
    let drawn = placed
        .edges
        .iter()
        .enumerate()
        .filter(|(_, route)| route.drawn)
        .map(|(edge, _)| edge as u32)
        .collect();
    check_paths(drawing, &drawn, zoom);
    check_sharing(drawing);
    lint(drawing, &DrawingMarks::default(), zoom == Zoom::Boxes);
    let critical: Vec<bool> = (0..placed.edges.len()).map(|edge| edge % 3 == 0).collect();
    let marks = DrawingMarks {
        selected: Some(0),
        critical_nodes: &critical,
        critical_edges: &critical,
        lit_edges: &[],
    };
    lint(drawing, &marks, zoom == Zoom::Boxes);
}

/// Checks the drawing in rows of `columns` cells, which may be too few for any.
fn check_folded(graph: &LayoutGraph, zoom: Zoom, sizes: &[BoxSize], columns: i32) {
    let placed = layout_graph(graph);
    if let Some(drawing) = GraphDrawing::folded(&placed, sizes, zoom, columns) {
        assert!(drawing.width <= columns);
        check_drawing(&placed, &drawing, zoom);
    }
}

fn dag() -> impl Strategy<Value = LayoutGraph> {
    (2_u32..30).prop_flat_map(|nodes| {
        let edge = (0..nodes - 1).prop_flat_map(move |source| (Just(source), source + 1..nodes));
        prop::collection::vec(edge, 0..60).prop_map(move |edges| LayoutGraph::new(nodes, edges))
    })
}

proptest! {
    // Each case lays out an entire graph, which is slow without optimization.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn lines_are_connected_separate_and_outside_boxes(graph in dag(), kind in 0..KINDS.len()) {
        let (zoom, flow) = KINDS[kind];
        check(&graph, zoom, flow, &[]);
    }

    #[test]
    fn boxes_of_any_size_fit(graph in dag(), kind in 0..KINDS.len(), sizes in prop::collection::vec((3_u16..24, 3_u16..7), 30)) {
        let (zoom, flow) = KINDS[kind];
        let size = |&(w, h): &(u16, u16)| match zoom {
            Zoom::Boxes => BoxSize { w, h },
            Zoom::Chips => BoxSize { w, h: 1 },
            Zoom::Dots => BoxSize::for_zoom(zoom),
        };
        let sizes: Vec<BoxSize> = sizes.iter().map(size).collect();
        check(&graph, zoom, flow, &sizes);
    }

    #[test]
    fn a_graph_folds_into_rows(graph in dag(), columns in 20..120, chips: bool) {
        let zoom = if chips { Zoom::Chips } else { Zoom::Boxes };
        check_folded(&graph, zoom, &[], columns);
    }

    #[test]
    fn a_changed_plan_can_be_drawn(graph in dag(), source in any::<prop::sample::Index>(), kind in 0..KINDS.len()) {
        let (zoom, flow) = KINDS[kind];
        let before = layout_graph(&graph);
        let source = source.index(graph.node_count() as usize) as u32;
        let larger = LayoutGraph::new(graph.node_count() + 1, graph.edges().iter().copied().chain([(source, graph.node_count())]));
        let was: Vec<Option<u32>> = (0..graph.node_count()).map(Some).chain([None]).collect();
        let placed = relayout_graph(&before, &larger, &was);
        check_drawing(&placed, &GraphDrawing::new(&placed, DrawnSizes::default(), zoom, flow), zoom);
    }

    #[test]
    fn a_viewport_shows_its_part_of_the_drawing(graph in dag(), kind in 0..KINDS.len(), x in -5..60, y in -5..60, w in 0..50, h in 0..30) {
        let (zoom, flow) = KINDS[kind];
        let drawing = GraphDrawing::new(&layout_graph(&graph), DrawnSizes::default(), zoom, flow);
        let view = Viewport { x, y, w, h };
        let marks = DrawingMarks { selected: Some(1), ..DrawingMarks::default() };
        let inside = |cell: &DrawingCell| (x..x + w).contains(&cell.x) && (y..y + h).contains(&cell.y);
        let expected: Vec<DrawingCell> = drawing.cells_in(full_view(&drawing), &marks).filter(inside).collect();
        let found: Vec<DrawingCell> = drawing.cells_in(view, &marks).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn marks_do_not_move_anything(graph in dag(), node in any::<prop::sample::Index>()) {
        let drawing = GraphDrawing::new(&layout_graph(&graph), DrawnSizes::default(), Zoom::Boxes, FlowDirection::Right);
        let selected = Some(node.index(graph.node_count() as usize) as u32);
        let places = |marks: &DrawingMarks<'_>| -> Vec<(i32, i32)> {
            drawing.cells_in(full_view(&drawing), marks).map(|cell| (cell.x, cell.y)).collect()
        };
        prop_assert_eq!(places(&DrawingMarks::default()), places(&DrawingMarks { selected, ..DrawingMarks::default() }));
    }
}

#[test]
fn extreme_graphs_are_drawn() {
    let chain = LayoutGraph::new(1_000, (0..999).map(|node| (node, node + 1)));
    let dense = LayoutGraph::new(14, (0..14).flat_map(|a| (a + 1..14).map(move |b| (a, b))));
    let repeated = LayoutGraph::new(2, [(0, 1), (0, 1), (0, 1), (1, 1)]);
    for graph in [
        LayoutGraph::default(),
        LayoutGraph::new(1, []),
        LayoutGraph::new(30, []),
        chain,
        dense,
        repeated,
    ] {
        for (zoom, flow) in KINDS {
            check(&graph, zoom, flow, &[]);
        }
    }
}

#[test]
fn edges_of_the_selected_node_are_highlighted_and_win() {
    let drawing = GraphDrawing::new(
        &layout_graph(&LayoutGraph::new(3, [(0, 1), (0, 2)])),
        DrawnSizes::default(),
        Zoom::Boxes,
        FlowDirection::Right,
    );
    let marks = DrawingMarks { selected: Some(2), ..DrawingMarks::default() };
    let fork = drawing
        .cells_in(full_view(&drawing), &marks)
        .find(|cell| "┬┴".contains(cell.glyph))
        .expect("a fork");
    assert_eq!(fork.role, CellRole::Lit);
}

#[test]
fn a_click_finds_the_node_under_it() {
    let drawing = GraphDrawing::new(
        &layout_graph(&LayoutGraph::new(11, LINKS)),
        DrawnSizes::default(),
        Zoom::Boxes,
        FlowDirection::Right,
    );
    let owner = owners(&drawing);
    for y in 0..drawing.height {
        for x in 0..drawing.width {
            assert_eq!(drawing.node_at(x, y), owner.get(&(x, y)).copied());
        }
    }
}

#[test]
fn a_minimap_contains_every_node_once() {
    let drawing = GraphDrawing::new(
        &layout_graph(&LayoutGraph::new(11, LINKS)),
        DrawnSizes::default(),
        Zoom::Boxes,
        FlowDirection::Right,
    );
    let cells = drawing.minimap_cells(16, 4, Viewport { x: 0, y: 0, w: 40, h: 6 });
    let mut nodes: Vec<u32> = cells.iter().flat_map(|cell| cell.nodes.clone()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, (0..11).collect::<Vec<_>>());
    assert!(cells.iter().any(|cell| cell.in_view) && cells.iter().any(|cell| !cell.in_view));
    assert!(drawing.minimap_cells(0, 4, Viewport::default()).is_empty());
}

#[test]
fn a_named_edge_has_room_for_its_name() {
    let layout = crate::layout_graph(&crate::LayoutGraph::new(3, [(0, 1), (1, 2)]));
    let names = [0, 12];
    for flow in [FlowDirection::Right, FlowDirection::Down] {
        let sizes = DrawnSizes { boxes: &[], names: &names };
        let named = GraphDrawing::new(&layout, sizes, Zoom::Boxes, flow);
        let plain = GraphDrawing::new(&layout, DrawnSizes::default(), Zoom::Boxes, flow);
        assert_eq!(named.names.len(), 1, "{flow:?}");
        let name = named.names[0];
        assert_eq!((name.edge, name.w), (1, 12));
        let covers = |found: &PlacedBox| {
            (found.y..found.y + found.h).contains(&name.y)
                && name.x < found.x + found.w
                && found.x < name.x + name.w
        };
        assert!(!named.boxes.iter().any(covers), "{flow:?}");
        assert!(named.width >= plain.width && plain.names.is_empty());
    }
}
