//! Properties of drawings, and pictures of small graphs.

use super::glyphs::{Arm, Arms};
use super::{Arrow, Cell, Drawing, Flow, Marks, Role, Segment, Size, Viewport, Zoom};
use crate::{Graph, layout, relayout};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const KINDS: [(Zoom, Flow); 6] = [
    (Zoom::Boxes, Flow::Right),
    (Zoom::Chips, Flow::Right),
    (Zoom::Dots, Flow::Right),
    (Zoom::Boxes, Flow::Down),
    (Zoom::Chips, Flow::Down),
    (Zoom::Dots, Flow::Down),
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

fn whole(drawing: &Drawing) -> Viewport {
    Viewport { x: 0, y: 0, w: drawing.width, h: drawing.height }
}

/// A drawing as text, with names in the boxes.
fn picture(drawing: &Drawing, marks: &Marks<'_>, names: &[&str]) -> String {
    let mut grid = vec![vec![' '; drawing.width as usize]; drawing.height as usize];
    for cell in drawing.cells_in(whole(drawing), marks) {
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

fn sizes(names: &[&str], zoom: Zoom) -> Vec<Size> {
    let chip = |name: &&str| Size { w: name.len() as u16 + 4, h: 1 };
    names.iter().map(|name| if zoom == Zoom::Chips { chip(name) } else { Size::of(zoom) }).collect()
}

fn release(zoom: Zoom, flow: Flow, selected: Option<u32>) -> String {
    let graph = Graph::new(11, LINKS).prefer_straight(0..4);
    let drawing = Drawing::new(&layout(&graph), &sizes(&TASKS, zoom), zoom, flow);
    let critical = [true; 5];
    let marks = Marks {
        selected,
        critical_nodes: &critical,
        critical_edges: &critical[..4],
        ..Marks::default()
    };
    picture(&drawing, &marks, &TASKS)
}

#[test]
fn the_release_plan_in_boxes() {
    insta::assert_snapshot!(release(Zoom::Boxes, Flow::Right, Some(2)));
}

#[test]
fn the_release_plan_in_chips() {
    insta::assert_snapshot!(release(Zoom::Chips, Flow::Right, None));
}

#[test]
fn the_release_plan_in_dots() {
    insta::assert_snapshot!(release(Zoom::Dots, Flow::Right, None));
}

#[test]
fn the_release_plan_downwards() {
    insta::assert_snapshot!(release(Zoom::Boxes, Flow::Down, Some(8)));
}

#[test]
fn the_release_plan_in_ascii() {
    let text: String =
        release(Zoom::Boxes, Flow::Right, Some(2)).chars().map(super::ascii).collect();
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn swapped_and_shared_targets() {
    let names = ["a", "b", "c", "u", "v", "w"];
    let edges = (0..3).flat_map(|from| (3..6).map(move |to| (from, to)));
    let drawing = Drawing::new(
        &layout(&Graph::new(6, edges)),
        &sizes(&names, Zoom::Boxes),
        Zoom::Boxes,
        Flow::Right,
    );
    insta::assert_snapshot!(picture(&drawing, &Marks::default(), &names));
}

/// The cells of each edge.
fn cells_of_edges(drawing: &Drawing) -> BTreeMap<u32, BTreeSet<(i32, i32)>> {
    let mut cells: BTreeMap<u32, BTreeSet<(i32, i32)>> = BTreeMap::new();
    for line in drawing.rows.iter().flatten() {
        cells.entry(line.edge).or_default().extend((line.from..=line.to).map(|x| (x, line.at)));
    }
    for line in drawing.columns.iter().flatten() {
        cells.entry(line.edge).or_default().extend((line.from..=line.to).map(|y| (line.at, y)));
    }
    cells
}

/// The node of each cell that a box covers.
fn owners(drawing: &Drawing) -> BTreeMap<(i32, i32), u32> {
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
fn check_paths(drawing: &Drawing, drawn: &BTreeSet<u32>, zoom: Zoom) {
    let owner = owners(drawing);
    let all_cells = cells_of_edges(drawing);
    let arrows: BTreeMap<u32, &Arrow> =
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

/// Checks that lines lie over each other only if they share an end, and that nobody turns on a crossing.
fn check_sharing(drawing: &Drawing) {
    let mut across: BTreeMap<(i32, i32), Vec<&Segment>> = BTreeMap::new();
    let mut down: BTreeMap<(i32, i32), Vec<&Segment>> = BTreeMap::new();
    for line in drawing.rows.iter().flatten() {
        (line.from..=line.to).for_each(|x| across.entry((x, line.at)).or_default().push(line));
    }
    for line in drawing.columns.iter().flatten() {
        (line.from..=line.to).for_each(|y| down.entry((line.at, y)).or_default().push(line));
    }
    // In a dot one edge ends and another begins.
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
    for cell in drawing.cells_in(whole(drawing), &Marks::default()) {
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

/// Whether the same edge goes on from the end of `line` in the same direction.
fn continues(lines: &[&Segment], line: &Segment, at: i32) -> bool {
    lines.iter().any(|other| {
        other.edge == line.edge && (other.from < at) != (line.from < at) && *other != line
    })
}

/// Checks that arms meet arms: a line goes on in the next cell, or ends at a box or an arrow.
fn lint(drawing: &Drawing, marks: &Marks<'_>, framed: bool) {
    let cells: BTreeMap<(i32, i32), Cell> =
        drawing.cells_in(whole(drawing), marks).map(|cell| ((cell.x, cell.y), cell)).collect();
    let owner = owners(drawing);
    let boxed = |at: (i32, i32)| !framed && owner.contains_key(&at);
    let selected = |cell: &Cell| marks.selected.is_some_and(|node| cell.role == Role::Frame(node));
    for (&(x, y), cell) in &cells {
        assert_ne!(cell.glyph, ' ', "no empty glyph at {x},{y}");
        let arms = Arms::of(cell.glyph);
        let sides = [
            (Arm::Up, Arm::Down, (x, y - 1)),
            (Arm::Right, Arm::Left, (x + 1, y)),
            (Arm::Down, Arm::Up, (x, y + 1)),
            (Arm::Left, Arm::Right, (x - 1, y)),
        ];
        for (arm, facing, at) in sides {
            let near = cells.get(&at);
            let loose =
                boxed(at) || near.is_some_and(|near| "►▲▼".contains(near.glyph) || selected(near));
            if arms == Arms::default() || loose {
                continue;
            }
            let theirs = near.map_or(0, |near| Arms::of(near.glyph).get(facing));
            assert_eq!(
                arms.get(arm),
                theirs,
                "{} at {x},{y} does not fit its neighbour at {at:?}",
                cell.glyph
            );
        }
    }
}

fn check(graph: &Graph, zoom: Zoom, flow: Flow, sizes: &[Size]) {
    let placed = layout(graph);
    let drawing = Drawing::new(&placed, sizes, zoom, flow);
    check_drawing(&placed, &drawing, zoom);
}

fn check_drawing(placed: &crate::Layout, drawing: &Drawing, zoom: Zoom) {
    let drawn = placed
        .edges
        .iter()
        .enumerate()
        .filter(|(_, route)| route.drawn)
        .map(|(edge, _)| edge as u32)
        .collect();
    check_paths(drawing, &drawn, zoom);
    check_sharing(drawing);
    lint(drawing, &Marks::default(), zoom == Zoom::Boxes);
    let critical: Vec<bool> = (0..placed.edges.len()).map(|edge| edge % 3 == 0).collect();
    let marks = Marks {
        selected: Some(0),
        critical_nodes: &critical,
        critical_edges: &critical,
        lit_edges: &[],
    };
    lint(drawing, &marks, zoom == Zoom::Boxes);
}

fn dag() -> impl Strategy<Value = Graph> {
    (2_u32..30).prop_flat_map(|nodes| {
        let edge = (0..nodes - 1).prop_flat_map(move |source| (Just(source), source + 1..nodes));
        prop::collection::vec(edge, 0..60).prop_map(move |edges| Graph::new(nodes, edges))
    })
}

proptest! {
    // Each case lays out a whole graph, which is slow without optimisation.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn lines_are_whole_apart_and_outside_boxes(graph in dag(), kind in 0..KINDS.len()) {
        let (zoom, flow) = KINDS[kind];
        check(&graph, zoom, flow, &[]);
    }

    #[test]
    fn boxes_of_any_size_fit(graph in dag(), kind in 0..KINDS.len(), sizes in prop::collection::vec((3_u16..24, 3_u16..7), 30)) {
        let (zoom, flow) = KINDS[kind];
        let size = |&(w, h): &(u16, u16)| match zoom {
            Zoom::Boxes => Size { w, h },
            Zoom::Chips => Size { w, h: 1 },
            Zoom::Dots => Size::of(zoom),
        };
        let sizes: Vec<Size> = sizes.iter().map(size).collect();
        check(&graph, zoom, flow, &sizes);
    }

    #[test]
    fn a_changed_plan_is_drawn_as_well(graph in dag(), source in any::<prop::sample::Index>(), kind in 0..KINDS.len()) {
        let (zoom, flow) = KINDS[kind];
        let before = layout(&graph);
        let source = source.index(graph.nodes() as usize) as u32;
        let larger = Graph::new(graph.nodes() + 1, graph.edges().iter().copied().chain([(source, graph.nodes())]));
        let was: Vec<Option<u32>> = (0..graph.nodes()).map(Some).chain([None]).collect();
        let placed = relayout(&before, &larger, &was);
        check_drawing(&placed, &Drawing::new(&placed, &[], zoom, flow), zoom);
    }

    #[test]
    fn a_viewport_shows_its_part_of_the_whole(graph in dag(), kind in 0..KINDS.len(), x in -5..60, y in -5..60, w in 0..50, h in 0..30) {
        let (zoom, flow) = KINDS[kind];
        let drawing = Drawing::new(&layout(&graph), &[], zoom, flow);
        let view = Viewport { x, y, w, h };
        let marks = Marks { selected: Some(1), ..Marks::default() };
        let inside = |cell: &Cell| (x..x + w).contains(&cell.x) && (y..y + h).contains(&cell.y);
        let expected: Vec<Cell> = drawing.cells_in(whole(&drawing), &marks).filter(inside).collect();
        let found: Vec<Cell> = drawing.cells_in(view, &marks).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn marks_move_nothing(graph in dag(), node in any::<prop::sample::Index>()) {
        let drawing = Drawing::new(&layout(&graph), &[], Zoom::Boxes, Flow::Right);
        let selected = Some(node.index(graph.nodes() as usize) as u32);
        let places = |marks: &Marks<'_>| -> Vec<(i32, i32)> {
            drawing.cells_in(whole(&drawing), marks).map(|cell| (cell.x, cell.y)).collect()
        };
        prop_assert_eq!(places(&Marks::default()), places(&Marks { selected, ..Marks::default() }));
    }
}

#[test]
fn extreme_graphs_are_drawn() {
    let chain = Graph::new(1_000, (0..999).map(|node| (node, node + 1)));
    let dense = Graph::new(14, (0..14).flat_map(|a| (a + 1..14).map(move |b| (a, b))));
    let repeated = Graph::new(2, [(0, 1), (0, 1), (0, 1), (1, 1)]);
    for graph in [Graph::default(), Graph::new(1, []), Graph::new(30, []), chain, dense, repeated] {
        for (zoom, flow) in KINDS {
            check(&graph, zoom, flow, &[]);
        }
    }
}

#[test]
fn edges_of_the_selected_node_are_lit_and_win() {
    let drawing =
        Drawing::new(&layout(&Graph::new(3, [(0, 1), (0, 2)])), &[], Zoom::Boxes, Flow::Right);
    let marks = Marks { selected: Some(2), ..Marks::default() };
    let fork = drawing
        .cells_in(whole(&drawing), &marks)
        .find(|cell| "┬┴".contains(cell.glyph))
        .expect("a fork");
    assert_eq!(fork.role, Role::Lit);
}

#[test]
fn a_click_finds_the_node_under_it() {
    let drawing = Drawing::new(&layout(&Graph::new(11, LINKS)), &[], Zoom::Boxes, Flow::Right);
    let owner = owners(&drawing);
    for y in 0..drawing.height {
        for x in 0..drawing.width {
            assert_eq!(drawing.node_at(x, y), owner.get(&(x, y)).copied());
        }
    }
}

#[test]
fn a_minimap_holds_every_node_once() {
    let drawing = Drawing::new(&layout(&Graph::new(11, LINKS)), &[], Zoom::Boxes, Flow::Right);
    let cells = drawing.minimap(16, 4, Viewport { x: 0, y: 0, w: 40, h: 6 });
    let mut nodes: Vec<u32> = cells.iter().flat_map(|cell| cell.nodes.clone()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, (0..11).collect::<Vec<_>>());
    assert!(cells.iter().any(|cell| cell.in_view) && cells.iter().any(|cell| !cell.in_view));
    assert!(drawing.minimap(0, 4, Viewport::default()).is_empty());
}
