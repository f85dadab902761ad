use super::*;

fn luminance(color: Color) -> f64 {
    let Color::Rgb(red, green, blue) = color else { panic!("{color:?} is no true colour") };
    let part = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)
}

fn contrast(one: Color, two: Color) -> f64 {
    let (one, two) = (luminance(one), luminance(two));
    (one.max(two) + 0.05) / (one.min(two) + 0.05)
}

#[test]
fn every_built_in_theme_can_be_read_and_names_every_role() {
    for name in Theme::BUILT_IN {
        let theme = Theme::built_in(name).unwrap();
        for role in ThemeRole::ALL {
            let named = Theme::built_in_text(name).unwrap().contains(role.name());
            assert!(named, "{name} leaves out {}", role.name());
        }
        assert_eq!(theme.name, name);
    }
    assert_eq!(Theme::built_in("nosuch"), None);
}

#[test]
fn text_can_be_read_against_the_background_it_was_chosen_for() {
    for name in ["dark", "light", "colorblind"] {
        let theme = Theme::built_in(name).unwrap();
        let background = theme.background.unwrap();
        for role in ThemeRole::ALL.iter().filter(|role| role.is_text()) {
            let entry = theme.entries[*role as usize];
            let text = entry.fg.unwrap();
            let behind = entry.bg.unwrap_or(background);
            let ratio = contrast(text, behind);
            assert!(ratio >= 4.5, "{name} {} has a contrast of {ratio:.2}", role.name());
        }
    }
}

/// What terminals usually show for the 16 colors.
fn usual_rgb(color: Color) -> Color {
    let (red, green, blue) = match color {
        Color::Rgb(..) => return color,
        Color::Black => (0, 0, 0),
        Color::Red => (205, 0, 0),
        Color::Green => (0, 205, 0),
        Color::Yellow => (205, 205, 0),
        Color::Blue => (0, 0, 238),
        Color::Magenta => (205, 0, 205),
        Color::Cyan => (0, 205, 205),
        Color::Gray => (229, 229, 229),
        Color::DarkGray => (127, 127, 127),
        Color::LightRed => (255, 0, 0),
        Color::LightGreen => (0, 255, 0),
        Color::LightYellow => (255, 255, 0),
        Color::LightBlue => (92, 92, 255),
        Color::LightMagenta => (255, 0, 255),
        Color::LightCyan => (0, 255, 255),
        Color::White => (255, 255, 255),
        other => panic!("{other:?} is not one of the 16 colors"),
    };
    Color::Rgb(red, green, blue)
}

#[test]
fn a_selection_can_be_read_in_every_theme_at_every_depth() {
    for name in Theme::BUILT_IN {
        let theme = Theme::built_in(name).unwrap();
        for depth in [ColorDepth::True, ColorDepth::Sixteen, ColorDepth::None] {
            let palette = theme.palette(depth);
            let selection = palette.style(ThemeRole::Selection);
            match (selection.fg, selection.bg) {
                (Some(fg), Some(bg)) => {
                    let ratio = contrast(usual_rgb(fg), usual_rgb(bg));
                    assert!(ratio >= 4.5, "{name} at {depth:?} has a contrast of {ratio:.2}");
                }
                (None, None) => assert!(selection.add_modifier.contains(Modifier::REVERSED)),
                one => panic!("{name} at {depth:?} sets only one color of a selection: {one:?}"),
            }
            for role in ThemeRole::ALL {
                let style = palette.style(*role);
                assert!(style.fg.is_none() || style.fg != style.bg, "{name} {}", role.name());
            }
        }
    }
}

#[test]
fn every_role_inside_a_selection_takes_its_foreground() {
    use ratatui::layout::Rect;
    for name in Theme::BUILT_IN {
        for depth in [ColorDepth::True, ColorDepth::Sixteen] {
            let palette = Theme::built_in(name).unwrap().palette(depth);
            let selection = palette.style(ThemeRole::Selection);
            let Some(bg) = selection.bg else { continue };
            let mut buf = Buffer::empty(Rect::new(0, 0, 1, ThemeRole::ALL.len() as u16));
            buf.set_style(buf.area, selection);
            for (row, role) in (0..).zip(ThemeRole::ALL) {
                buf.set_string(0, row, "x", palette.style(*role));
            }
            palette.settle_selection(&mut buf);
            for cell in buf.content.iter().filter(|cell| cell.bg == bg) {
                assert_eq!(Some(cell.fg), selection.fg, "{name} at {depth:?}");
            }
        }
    }
}

#[test]
fn without_colours_every_theme_is_made_of_attributes() {
    for name in Theme::BUILT_IN {
        let palette = Theme::built_in(name).unwrap().palette(ColorDepth::None);
        for role in ThemeRole::ALL {
            let style = palette.style(*role);
            assert_eq!((style.fg, style.bg), (None, None), "{name} {}", role.name());
        }
    }
}

#[test]
fn sixteen_colours_use_the_stand_ins() {
    let palette = Theme::default().palette(ColorDepth::Sixteen);
    assert_eq!(palette.style(ThemeRole::Running).fg, Some(Color::LightBlue));
    for role in ThemeRole::ALL {
        let style = palette.style(*role);
        for color in [style.fg, style.bg].into_iter().flatten() {
            assert!(!matches!(color, Color::Rgb(..)), "{} has no stand-in", role.name());
        }
    }
}

#[test]
fn a_theme_file_changes_only_what_it_names() {
    let theme = Theme::parse("mine", "[roles]\nwarn = { fg = \"#ffffff\", bold = true }").unwrap();
    let (mine, dark) =
        (theme.palette(ColorDepth::True), Theme::default().palette(ColorDepth::True));
    assert_eq!(mine.style(ThemeRole::Warn).fg, Some(Color::Rgb(255, 255, 255)));
    assert_eq!(mine.style(ThemeRole::Text), dark.style(ThemeRole::Text));
}

#[test]
fn mistakes_in_a_theme_file_are_named_with_the_nearest_name() {
    let error = |text: &str| Theme::parse("mine", text).unwrap_err().to_string();
    assert_eq!(
        error("[roles]\n\"status.runing\" = {}"),
        "theme mine names an unknown role \"status.runing\", did you mean \"status.running\""
    );
    assert_eq!(
        error("[roles]\ntext = { bolt = true }"),
        "theme mine names an unknown field \"bolt\", did you mean \"bold\""
    );
    assert_eq!(
        error("[roles]\ntext = { fg = \"gren\" }"),
        "theme mine names an unknown colour \"gren\", did you mean \"green\""
    );
    assert_eq!(error("[roles]\ntext = 3"), "theme mine cannot be read: text must be a table");
    assert!(error("[roles").starts_with("theme mine cannot be read: "));
}
